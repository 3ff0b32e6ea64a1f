"""A value that is None on one path of a tensor's test and something else on the other.

## What it does

Reports

- an `if` that a tensor decides, when a name that is read later is None at the end of a branch (often `best = None` before it, and the tensor in one branch);
- a conditional expression with a tensor test and None, or a call that returns nothing, in an arm;
- an `if` on a tensor with `return None` on a path, or None inside the returned tuple;
- a loop over a tensor that rebinds a name that is None before it, unless every iteration rebinds it; a loop over a dataset, iterator or ragged tensor in any
  case.

`x is None` is a Python test and fine, and so is None for a name that is not read later.

## Why it is a problem

The outputs of a graph conditional or loop are tensors; None cannot be one.

    ValueError: 'best' is None at the end of the else branch.
    ValueError: 'best' is not allowed to be None before the loop

In these messages `retval_` is the function's return value, and a conditional expression is named by its test.

## Fix safety

There is no automatic fix. Use a tensor of the right dtype and shape that cannot be mistaken for a result (`tf.constant(-1)`, `float("inf")`), with a flag
beside it where no such value exists. Create variables before the `if`. A conditional expression whose arms are calls that return nothing is an `if`/`else`
statement.

## References

- `tensorflow/python/autograph/operators/control_flow.py` (`verify_single_cond_var`, `verify_loop_init_vars`)
- `tensorflow/python/autograph/operators/conditional_expressions.py`
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tflint_graph.flow.lowering import Split, converted, in_graph_loop, lower
from tflint_graph.rule_api import CONVERTED, NONE, Claim, Facts, Kind, LoopFacts, NameFlow, Rule, Severity, Staging, Value
from tflint_graph.rules.conversion._iterations import bound_before, skipped, tensor_tests
from tflint_graph.rules.conversion._stopped import condition, header
from tflint_graph.rules.conversion._structure import none_inside
from tflint_graph.source.blocks import Loop

RULE = Rule(
    code="TFG125",
    name="none-versus-tensor",
    severity=Severity.ERROR,
    since="0.1.0",
    contexts=CONVERTED,
    triggers=frozenset({"If", "For", "While", "IfExp"}),
)

BAD = """
import tensorflow as tf


@tf.function
def last_peak(signal: tf.Tensor):
    peak = None
    if tf.reduce_max(signal) > 1.0:
        peak = tf.reduce_max(signal)
    return peak


last_peak(tf.constant([0.5, 2.0]))
"""

GOOD = """
import tensorflow as tf


@tf.function
def last_peak(signal: tf.Tensor):
    peak = tf.constant(float("nan"))
    if tf.reduce_max(signal) > 1.0:
        peak = tf.reduce_max(signal)
    return peak


last_peak(tf.constant([0.5, 2.0]))
"""

_INSTEAD = "Use a tensor of the right dtype in place of None."


def check(node: cst.If | cst.For | cst.While | cst.IfExp | cst.FunctionDef, facts: Facts) -> Iterator[Claim]:
    if not converted(node, facts):
        return
    match node:
        case cst.If():
            yield from _branch(node, facts)
        case cst.IfExp():
            yield from _ternary(node, facts)
        case cst.FunctionDef():
            for split in lower(node, facts).splits:
                yield from _returned(split, facts)
        case cst.For() | cst.While():
            yield from _loop(node, facts)


def _branch(node: cst.If, facts: Facts) -> Iterator[Claim]:
    branch = facts.branch(node)
    if branch is None or branch.staging is not Staging.TENSOR or branch.body_ends or branch.orelse_ends:
        return
    for name in branch.names.values():
        if name.name == "return" or not (name.read_after or "." in name.name or "[" in name.name):
            continue
        path = _none_path(name.body, name.orelse)
        if path and not _loop_reports(node, name, facts):
            message = (
                f"`{name.name}` is None {path}: `if {facts.source(node.test)}` is decided by a tensor, and neither branch can yield None (TensorFlow: "
                f"ValueError). {_INSTEAD}"
            )
            yield Claim(node, message, because=(branch.test,))
            return


def _none_path(body: Value, orelse: Value) -> str:
    """In words, the path on which a value is or holds None; "" if TensorFlow accepts the two, or nobody knows."""
    if Kind.UNBOUND in (body.kind, orelse.kind):
        return ""
    if none_inside(orelse):
        return "whatever the test" if none_inside(body) else "when the test is false"
    return "when the test is true" if none_inside(body) else ""


def _loop_reports(node: cst.If, name: NameFlow, facts: Facts) -> bool:
    """True if the loop around is reported for the same name: None before it."""
    for frame in facts.frames(node):
        if isinstance(frame.node, (cst.For, cst.While)):
            loop = facts.loop(frame.node)
            flow = loop.names.get(name.name) if loop is not None else None
            if loop is not None and flow is not None and _stays_none(frame.node, loop, flow, facts):
                return True
    return False


def _ternary(node: cst.IfExp, facts: Facts) -> Iterator[Claim]:
    if facts.staging(node) is not Staging.TENSOR:
        return
    path = _none_path(facts.value(node.body), facts.value(node.orelse))
    if path:
        message = (
            f"`{facts.source(node)}` is None {path}: the test is a tensor, and neither arm can yield None (TensorFlow: ValueError). {_for_arms(node, facts)}"
        )
        yield Claim(node, message, because=(facts.value(node.test),))


def _for_arms(node: cst.IfExp, facts: Facts) -> str:
    """What to write instead of a conditional expression; as a statement it is there for what its arms do."""
    if not isinstance(facts.parent(node), cst.Expr):
        return _INSTEAD
    both = all(isinstance(arm, cst.Call) and facts.value(arm).is_none for arm in (node.body, node.orelse))
    return "Both calls return nothing. Write an `if`/`else` statement." if both else "Write an `if` statement."


def _returned(split: Split, facts: Facts) -> Iterator[Claim]:
    if split.one_sided or not split.body.returns or not split.orelse.returns or in_graph_loop(split, facts):
        return
    body = [NONE if one.value is None else facts.value(one.value) for one in split.body.returns]
    orelse = [NONE if one.value is None else facts.value(one.value) for one in split.orelse.returns]
    if not all(_none_path(ours, theirs) for ours in body for theirs in orelse):
        return
    path = _none_path(body[0], orelse[0]).replace("the test", f"`{facts.source(split.node.test)}`")
    silent = all(one.value is None for one in split.returns())
    instead = "Do not return inside of it: put the work under the test." if silent else "Return a tensor on both paths."
    message = f"The function returns None {path}: that test is a tensor, and neither path of the `if` can return None (TensorFlow: ValueError). {instead}"
    yield Claim(split.node, message, because=(facts.value(split.node.test),))


def _loop(node: Loop, facts: Facts) -> Iterator[Claim]:
    loop = facts.loop(node)
    if loop is None or loop.staging not in (Staging.TENSOR, Staging.DATASET):
        return
    for name in loop.names.values():
        if _stays_none(node, loop, name, facts) or (not name.before.is_none and none_inside(name.before) and (name.read_after or name.carried)):
            is_ = "is" if name.before.is_none else "holds"
            message = (
                f"`{name.name}` {is_} None before the loop `{header(node, facts)}`, which becomes a loop of the graph (TensorFlow: ValueError). {_INSTEAD}"
            )
        elif name.body.is_none and not name.before.is_none and name.before.kind is not Kind.UNBOUND and name.read_after:
            message = (
                f"`{name.name}` is None after an iteration of `{header(node, facts)}`, which becomes a loop of the graph (TensorFlow: ValueError). {_INSTEAD}"
            )
        else:
            continue
        yield Claim(node, message, because=(facts.value(condition(node)),))
        return


def _stays_none(node: Loop, loop: LoopFacts, name: NameFlow, facts: Facts) -> bool:
    """None before the loop, rebound in it, and TensorFlow cannot find out by what."""
    if not name.before.is_none or not name.assigned_in_body or not (name.read_after or name.carried):
        return False
    if loop.staging is Staging.DATASET or loop.iterable.ragged is not None:
        return True
    if loop.staging is not Staging.TENSOR or not name.read_after:
        return False
    return any(_left_alone(node, test, name, facts) for test in tensor_tests(node, facts)) or skipped(node, name, facts)


def _left_alone(node: Loop, test: cst.If, name: NameFlow, facts: Facts) -> bool:
    """True if only one branch of the test rebinds the name, and nothing in the loop did before: the other branch leaves None."""
    branch = facts.branch(test)
    flow = branch.names.get(name.name) if branch is not None else None
    if branch is None or flow is None or not flow.read_after or branch.body_ends or branch.orelse_ends:
        return False
    if _none_path(flow.body, flow.orelse):
        return True
    return flow.assigned_in_body != flow.assigned_in_orelse and not bound_before(node, name.name, facts.line(test), facts)
