"""A `raise` in a branch or loop body that a tensor decides: it is raised at the first trace, whatever the data.

## What it does

Reports `raise` (and `assert False`) that stands directly in a branch of an `if` on a tensor, or in the body of a loop over a tensor or dataset, with no test
on a Python value in between. The code after `if t: return x` counts as the `else` branch of that `if`, so a final `raise` there is reported too.

A `raise` under a test that Python decides while tracing (a static shape, a dtype, a flag) is right and not reported, and neither is one that a handler in the
same branch may catch.

## Why it is a problem

TensorFlow traces both branches of a conditional, and the body of a loop, to put them into the graph. A `raise` in there is no operation: it is simply executed
by Python while tracing, and ends the trace with the user's own exception. The same program is right when it runs eagerly.

## Fix safety

There is no automatic fix. `tf.debugging.assert_*` and `tf.debugging.Assert` are operations and check when the graph runs; they raise
`tf.errors.InvalidArgumentError` instead of the user's exception.

## References

- `tensorflow/python/autograph/operators/control_flow.py` (`_tf_if_stmt`, `_tf_while_stmt`)
- https://www.tensorflow.org/api_docs/python/tf/debugging
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tflint_graph.flow.lowering import StagedRaise, converted, lower
from tflint_graph.rule_api import CONVERTED, Claim, Facts, Rule, Severity
from tflint_graph.rules.conversion._stopped import condition, header

RULE = Rule(
    code="TFG120",
    name="raise-under-tensor-test",
    severity=Severity.ERROR,
    since="0.1.0",
    contexts=CONVERTED,
    triggers=frozenset({"Raise", "Assert"}),
)

BAD = """
import tensorflow as tf


@tf.function
def safe_log(x: tf.Tensor):
    if tf.reduce_any(x <= 0.0):
        raise ValueError("log of a number that is not positive")
    return tf.math.log(x)


safe_log(tf.constant([1.0, 2.0]))
"""

GOOD = """
import tensorflow as tf


@tf.function
def safe_log(x: tf.Tensor):
    tf.debugging.assert_positive(x, "log of a number that is not positive")
    return tf.math.log(x)


safe_log(tf.constant([1.0, 2.0]))
"""


def check(node: cst.FunctionDef, facts: Facts) -> Iterator[Claim]:
    if not converted(node, facts):
        return
    for found in lower(node, facts).raises:
        yield Claim(found.node, _message(found, facts), because=(facts.value(condition(found.under)),))


def _message(found: StagedRaise, facts: Facts) -> str:
    where = f"`{header(found.under, facts)}`"
    if isinstance(found.under, cst.If):
        place = f"on one path of {where}, which a tensor decides"
        traced = "TensorFlow runs both paths once to build the graph"
    else:
        place = f"in the body of {where}, which becomes a loop of the graph"
        traced = "TensorFlow runs the body once to build the graph"
    return (
        f"`{facts.source(found.node)}` stands {place}. {traced}, so the error is raised at the first call, whatever the data. "
        "Use tf.debugging.assert_* or tf.debugging.Assert."
    )
