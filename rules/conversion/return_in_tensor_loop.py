"""A `return` in a loop over a tensor or a dataset that some iterations do not reach.

## What it does

Reports `return` in a `for` over a tensor (also `tf.range`) or a `while` that a tensor decides, unless every iteration returns; any `return` in a loop over a
`tf.data` dataset, iterator or ragged tensor; and a `return` in such a loop that gives None, a string or an object.

Where a Python value decides whether the loop returns, TensorFlow refuses when the value is false. If that is known, the finding is an error, otherwise a
warning.

## Why it is a problem

AutoGraph turns the return value into a variable of the graph loop. Such a variable needs a value before the first iteration, and there is none:

    NotImplementedError: a return statement cannot be placed inside this TensorFlow loop; this may happen if a return statement depends on a static Python
    condition such as a hyperparameter
    ValueError: the return value from a TensorFlow loop may only be a Tensor, int, float, bool or a list, tuple or dict thereof

For loops over tensors TensorFlow first tries to find out by tracing one iteration what the value will be. That works when every path through the body
returns, and fails when an `if` on a tensor, a `continue` or a `break` lets some iterations go on.

## Fix safety

There is no automatic fix. Keep the result in a variable that is defined before the loop, with the right dtype, and leave the loop by `break`, which is
supported in all these loops. In place of a bare `return`, `break` is enough where nothing follows the loop; what follows goes under a flag.

## References

- `tensorflow/python/autograph/converters/return_statements.py`
- `tensorflow/python/autograph/operators/control_flow.py` (`verify_loop_init_vars`, `_try_handling_undefineds`)
- `tensorflow/python/data/ops/dataset_autograph.py`
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tflint_graph.flow.lowering import Exit, LoopReturn, converted, lower
from tflint_graph.rule_api import CONVERTED, NONE, Claim, Facts, Kind, Rule, Severity, Staging
from tflint_graph.rules.conversion._stopped import condition, header

RULE = Rule(
    code="TFG121",
    name="return-in-tensor-loop",
    severity=Severity.ERROR,
    since="0.1.0",
    contexts=CONVERTED,
    triggers=frozenset({"Return"}),
)

BAD = """
import tensorflow as tf


@tf.function
def first_above(values: tf.Tensor, limit: tf.Tensor):
    for value in values:
        if value > limit:
            return value
    return tf.constant(-1.0)


first_above(tf.constant([0.5, 2.0, 3.0]), tf.constant(1.0))
"""

GOOD = """
import tensorflow as tf


@tf.function
def first_above(values: tf.Tensor, limit: tf.Tensor):
    found = tf.constant(-1.0)
    for value in values:
        if value > limit:
            found = value
            break
    return found


first_above(tf.constant([0.5, 2.0, 3.0]), tf.constant(1.0))
"""

_NO_PLACEHOLDER = ("str", "bytes", "object", "set", "TensorShape", "DType")


def check(node: cst.FunctionDef, facts: Facts) -> Iterator[Claim]:
    if not converted(node, facts):
        return
    reported: list[cst.Return] = []
    for loop in sorted(lower(node, facts).loops, key=lambda found: len(found.outer)):
        severity = _severity(loop, facts)
        if severity is not None and not any(one in reported for one in loop.returns or [loop.guilty]):
            reported += [loop.guilty, *loop.returns]
            yield Claim(loop.guilty, _message(loop, facts), because=(facts.value(condition(loop.node)),), severity=severity)


def _severity(loop: LoopReturn, facts: Facts) -> Severity | None:
    """None where TensorFlow accepts the loop, or where another rule or nobody knows."""
    if loop.staging is Staging.DATASET:
        return Severity.ERROR
    if loop.staging is not Staging.TENSOR:
        return None
    if Exit.FAULT in loop.exit or loop.exit is Exit.FALLS or _in_python_loop(loop, facts):
        return Severity.ERROR
    if loop.exit is Exit.RETURNS:
        return Severity.ERROR if any(_unsupported(one, loop, facts) for one in loop.returns) else None
    return Severity.WARNING if loop.exit & Exit.RETURNS else None


def _in_python_loop(loop: LoopReturn, facts: Facts) -> bool:
    """A `for` that Python unrolls inside the tensor's loop asks after each turn whether the function has returned, and that is a tensor by then."""
    for frame in facts.frames(loop.guilty):
        if frame.node is loop.node:
            return False
        if frame.part == "for" and frame.staging is Staging.PYTHON:
            return True
    return False


def _unsupported(node: cst.Return, loop: LoopReturn, facts: Facts) -> bool:
    """None, or an object for which TensorFlow cannot make up a first value. A string is a tensor once a graph conditional has returned it."""
    value = facts.value(node.value) if node.value is not None else NONE
    if value.is_none:
        return True
    for frame in facts.frames(node):
        if frame.node is loop.node:
            break
        if frame.is_branch and frame.staging is Staging.TENSOR:
            return False
    return (value.is_python and value.pytype in _NO_PLACEHOLDER) or value.kind in (Kind.FUNCTION, Kind.CLASS, Kind.MODULE)


def _message(loop: LoopReturn, facts: Facts) -> str:
    what = f"`{facts.source(loop.guilty)}` stands in the loop `{header(loop.node, facts)}`"
    instead = _instead(loop, facts)
    if loop.staging is Staging.DATASET:
        return f"{what}, and a loop over a dataset or iterator cannot return (TensorFlow: NotImplementedError). {instead}"
    if Exit.FAULT in loop.exit:
        return f"{what}, which a tensor decides, and not every iteration returns (TensorFlow: NotImplementedError). {instead}"
    if _in_python_loop(loop, facts):
        why = "and in a Python loop inside of it, which a tensor cannot end"
        return f"{what}, which a tensor decides, {why} (TensorFlow: ValueError or NotImplementedError). {instead}"
    if loop.exit is Exit.RETURNS:
        error = "NotImplementedError" if _is_bare(loop.guilty, facts) else "ValueError"
        return f"{what}, which a tensor decides, and a graph loop can only return tensors and numbers (TensorFlow: {error}). {instead}"
    when = " that is false while tracing, so the loop" if loop.exit is Exit.FALLS else ": where that is false while tracing, the loop"
    return f"{what}, which a tensor decides, and under a Python test{when} has no value to return (TensorFlow: ValueError or NotImplementedError). {instead}"


def _is_bare(node: cst.Return, facts: Facts) -> bool:
    return node.value is None or facts.value(node.value).is_none


def _instead(loop: LoopReturn, facts: Facts) -> str:
    if not all(_is_bare(one, facts) for one in loop.returns or [loop.guilty]):
        return "Keep the result in a variable defined before the loop and `break`."
    return "Use `break`, and put the code after the loop under a flag." if _goes_on(loop.guilty, facts) else "Use `break`."


def _goes_on(node: cst.Return, facts: Facts) -> bool:
    """Whether the function has anything to do after the innermost loop around the return: a statement that follows, or another turn of an outer loop."""
    inner: cst.CSTNode = node
    in_loop = True
    for outer in facts.ancestors(node):
        if isinstance(outer, cst.FunctionDef):
            return False
        if isinstance(outer, (cst.For, cst.While)):
            if not in_loop:
                return True
            in_loop = False
        elif not in_loop and isinstance(outer, cst.IndentedBlock) and outer.body[-1] is not inner:
            return True
        inner = outer
    return False
