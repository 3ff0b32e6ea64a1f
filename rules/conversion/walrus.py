"""An assignment expression (`:=`) in a function that TensorFlow should convert.

## What it does

Reports `:=` in a converted function: in tests, call arguments, comprehensions and nested functions, on plain Python values too.

## Why it is a problem

AutoGraph's analysis does not know assignment expressions. The conversion of the whole outermost function fails (`Cause: (<gast.gast.NamedExpr object at
0x...>, (y := ...))`), and the function runs as plain Python: any `if`, loop or conditional expression on a tensor in it then raises
`OperatorNotAllowedInGraphError`. Without control flow on tensors the result is right, and TensorFlow warns that it could not transform the function.

Assignment expressions that AutoGraph copies without looking into them are no problem: one that is the whole test of an `if`, the whole iterable of a `for`
or the whole body of a lambda, and those in a decorator or a default value of the traced function itself.

## Fix safety

There is no automatic fix yet. Write a plain assignment before the statement; where the `:=` is evaluated only on some paths (the second operand of `and`,
a `while` test), the assignment belongs where the value is used.

## References

- `tensorflow/python/autograph/pyct/static_analysis/activity.py`
- `tensorflow/python/autograph/pyct/common_transformers/anf.py`
"""

from __future__ import annotations

from collections.abc import Iterator

from tflint_graph.rule_api import TRACED, Claim, Facts, Rule, Severity, Stopper
from tflint_graph.rules.conversion._stopped import stopped

RULE = Rule(
    code="TFG105",
    name="walrus",
    severity=Severity.ERROR,
    since="0.1.0",
    contexts=TRACED,
    triggers=frozenset({"NamedExpr"}),
)

BAD = """
import tensorflow as tf


@tf.function
def normalise(x: tf.Tensor):
    if (peak := tf.reduce_max(x)) > 1.0:
        x = x / peak
    return x


normalise(tf.constant([0.5, 4.0]))
"""

GOOD = """
import tensorflow as tf


@tf.function
def normalise(x: tf.Tensor):
    peak = tf.reduce_max(x)
    if peak > 1.0:
        x = x / peak
    return x


normalise(tf.constant([0.5, 4.0]))
"""


def check(node: Stopper, facts: Facts) -> Iterator[Claim]:
    construct = f"`{node.detail} := ...`" if node.detail else "`:=`"
    yield from stopped(node, facts, construct, "Write a plain assignment before the statement.")
