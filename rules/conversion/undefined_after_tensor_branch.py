"""A name that only one branch of an `if` on a tensor, or only some iterations of a graph loop, define, and that is read after.

## What it does

Reports

- an `if` that a tensor decides, when one branch binds a name that the other leaves unbound and the name is read later. An attribute (`self.y`) or an item
  (`d["y"]`) need not be read: it is state of an object that lives on;
- a loop over a tensor whose body binds a name only under such an `if`, or only after a `break` or `continue` under one, and the name is read after the loop;
- a loop over a `tf.data` dataset, iterator or ragged tensor when a name that the body (or the loop's target) binds for the first time is read after the loop;
- a loop over a tensor with a branch that reads what the iteration before has bound, when nothing binds it before the loop;
- a loop over a tensor that binds a string, NumPy array, TensorArray, function or object for the first time, and it is read after the loop.

Tensors and numbers that every iteration of a loop over a tensor binds, and its loop variable, are fine: TensorFlow starts them at zero and checks at run time
that the loop runs at least once. A name that is not read later is fine everywhere.

## Why it is a problem

What a graph conditional or loop computes must exist on every path: TensorFlow traces both branches, and the values before a loop are the result if it does
not run.

    ValueError: 'y' must also be initialized in the else branch
    ValueError: 'y' must be defined before the loop

## Fix safety

There is no automatic fix, since only the author knows the default. Bind the name before the `if` or loop, with the dtype and shape that it will have.

## References

- `tensorflow/python/autograph/operators/control_flow.py` (`_verify_tf_cond_branch_vars`, `verify_loop_init_vars`, `_placeholder_value`)
- `tensorflow/python/data/ops/dataset_autograph.py`
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from tflint_graph.rule_api import CONVERTED, Claim, Facts, Kind, NameFlow, Rule, Severity, Staging, Value
from tflint_graph.rules.conversion._iterations import bound_before, bound_in, skipped, tensor_tests
from tflint_graph.rules.conversion._stopped import condition, header
from tflint_graph.source.blocks import Loop

RULE = Rule(
    code="TFG124",
    name="undefined-after-tensor-branch",
    severity=Severity.ERROR,
    since="0.1.0",
    contexts=CONVERTED,
    triggers=frozenset({"If", "For", "While"}),
)

BAD = """
import tensorflow as tf


@tf.function
def loss_with_penalty(error: tf.Tensor):
    if tf.reduce_max(error) > 10.0:
        penalty = tf.reduce_sum(error)
    return tf.reduce_mean(error) + penalty


loss_with_penalty(tf.constant([1.0, 20.0]))
"""

GOOD = """
import tensorflow as tf


@tf.function
def loss_with_penalty(error: tf.Tensor):
    penalty = tf.constant(0.0)
    if tf.reduce_max(error) > 10.0:
        penalty = tf.reduce_sum(error)
    return tf.reduce_mean(error) + penalty


loss_with_penalty(tf.constant([1.0, 20.0]))
"""

_NO_PLACEHOLDER = ("str", "bytes", "ndarray", "npscalar", "DType", "TensorShape", "object", "set")
_OBJECTS = (Kind.INSTANCE, Kind.TENSORARRAY, Kind.FUNCTION, Kind.CLASS, Kind.MODULE, Kind.DATASET, Kind.ITERATOR)


def check(node: cst.If | cst.For | cst.While, facts: Facts) -> Iterator[Claim]:
    if isinstance(node, cst.If):
        yield from _branch(node, facts)
    else:
        yield from _loop(node, facts)


def _unbound(value: Value) -> bool:
    return value.kind is Kind.UNBOUND


def _branch(node: cst.If, facts: Facts) -> Iterator[Claim]:
    branch = facts.branch(node)
    if branch is None or branch.staging is not Staging.TENSOR or branch.body_ends or branch.orelse_ends:
        return
    for name in branch.names.values():
        if _unbound(name.body) == _unbound(name.orelse) or name.name == "return" or _of_a_global(name.name, node, facts):
            continue
        if not (name.read_after or _is_state(name.name)) or _reported_at_loop(node, name.name, facts):
            continue
        missing = "when the test is false" if _unbound(name.orelse) else "when it is true"
        message = (
            f"`{name.name}` is not defined {missing}: `if {facts.source(node.test)}` is decided by a tensor, and both its branches must define "
            f"{'it' if _is_state(name.name) else 'what is read later'} (TensorFlow: ValueError). Give `{name.name}` a value before the `if`."
        )
        yield Claim(node, message, because=(branch.test,))
        return


def _is_state(name: str) -> bool:
    return "." in name or "[" in name


def _of_a_global(name: str, node: cst.CSTNode, facts: Facts) -> bool:
    """True for an attribute or item of an object that the function does not own: anyone may have set it."""
    if not _is_state(name):
        return False
    root = re.split(r"[.\[]", name, maxsplit=1)[0]
    for frame in facts.frames(node, beyond_function=True):
        function = facts.function(frame.node) if frame.is_function else None
        if function is not None and (root in function.params or bound_in(function.node, root)):
            return False
    return True


def _reported_at_loop(node: cst.If, name: str, facts: Facts) -> bool:
    """True if the loop around has the same fault: the name leaves the loop."""
    return any(isinstance(frame.node, (cst.For, cst.While)) and _some_iterations(frame.node, name, facts) for frame in facts.frames(node))


def _loop(node: Loop, facts: Facts) -> Iterator[Claim]:
    loop = facts.loop(node)
    if loop is None or loop.staging not in (Staging.TENSOR, Staging.DATASET):
        return
    for name in loop.names.values():
        if not _unbound(name.before) or not (name.read_after or name.carried or _is_state(name.name)) or _of_a_global(name.name, node, facts):
            continue
        why = _why(node, name, facts)
        if why:
            message = (
                f"`{name.name}` has no value before the loop `{header(node, facts)}`{why} (TensorFlow: ValueError). Give it a value of the same type before "
                f"the loop."
            )
            yield Claim(node, message, because=(facts.value(condition(node)),))
            return


def _why(node: Loop, name: NameFlow, facts: Facts) -> str:
    """Why TensorFlow cannot define the name itself, or "" where it can."""
    loop = facts.loop(node)
    if loop is not None and (name.read_after or _is_state(name.name)) and (loop.staging is Staging.DATASET or loop.iterable.ragged is not None):
        return ", which runs over a dataset or iterator, and it is read after the loop" if loop.iterable.ragged is None else ", and it is read after the loop"
    if _read_too_early(node, name, facts):
        return ", and a branch that a tensor decides reads it before it is set"
    if _some_iterations(node, name.name, facts):
        return ", and some iterations do not set it"
    if not name.read_after:
        return ""
    if name.body.kind in _OBJECTS or (name.body.is_python and name.body.pytype in _NO_PLACEHOLDER):
        return ", is no tensor or number, and is read after the loop"
    return ""


def _some_iterations(node: Loop, name: str, facts: Facts) -> bool:
    """True if a tensor decides whether an iteration binds a name that is unbound before the loop and read after it."""
    loop = facts.loop(node)
    flow = loop.names.get(name) if loop is not None else None
    if loop is None or flow is None or loop.staging is not Staging.TENSOR or not _unbound(flow.before) or not (flow.read_after or _is_state(name)):
        return False
    return any(_binds_on_one_path(test, name, facts) for test in tensor_tests(node, facts)) or skipped(node, flow, facts)


def _read_too_early(node: Loop, name: NameFlow, facts: Facts) -> bool:
    """True if a branch that a tensor decides reads the name of the iteration before: the first iteration traces that branch too."""
    if not name.carried or not name.name.isidentifier():
        return False
    for read in facts.reads_of(name.name, node.body):
        staged = False
        for frame in facts.frames(read):
            if frame.node is node:
                break
            staged = staged or (frame.is_branch and frame.staging is Staging.TENSOR)
        if staged and not bound_before(node, name.name, facts.line(read), facts):
            return True
    return False


def _binds_on_one_path(test: cst.If, name: str, facts: Facts) -> bool:
    branch = facts.branch(test)
    flow = branch.names.get(name) if branch is not None else None
    return flow is not None and _unbound(flow.body) != _unbound(flow.orelse)
