"""A `match` statement in a function that TensorFlow should convert.

## What it does

Reports `match` anywhere in a converted function, nested functions included, whatever it matches on.

## Why it is a problem

AutoGraph has no control-flow graph for `match`. The conversion of the whole outermost function fails (`Cause: name node, x, outside of any statement?`),
and the function runs as plain Python: any `if`, loop or conditional expression on a tensor in it then raises `OperatorNotAllowedInGraphError`. A `case`
guard or a literal pattern compared with a tensor raises the same class. Without control flow on tensors the result is right, and TensorFlow warns that it
could not transform the function.

## Fix safety

There is no automatic fix. Write an `if`/`elif` chain, or move a match on plain Python values to a helper function without control flow on tensors.

## References

- `tensorflow/python/autograph/pyct/cfg.py` and `tensorflow/python/autograph/pyct/static_analysis/reaching_definitions.py`
"""

from __future__ import annotations

from collections.abc import Iterator

from tflint_graph.rule_api import TRACED, Claim, Facts, Rule, Severity, Stopper
from tflint_graph.rules.conversion._stopped import stopped

RULE = Rule(
    code="TFG104",
    name="match-statement",
    severity=Severity.ERROR,
    since="0.1.0",
    contexts=TRACED,
    triggers=frozenset({"Match"}),
)

BAD = """
import tensorflow as tf


@tf.function
def activate(x: tf.Tensor, kind: str):
    match kind:
        case "relu":
            x = tf.nn.relu(x)
        case _:
            x = tf.tanh(x)
    if tf.reduce_max(x) > 1.0:
        x = x / tf.reduce_max(x)
    return x


activate(tf.constant([-1.0, 4.0]), "relu")
"""

GOOD = """
import tensorflow as tf


@tf.function
def activate(x: tf.Tensor, kind: str):
    if kind == "relu":
        x = tf.nn.relu(x)
    else:
        x = tf.tanh(x)
    if tf.reduce_max(x) > 1.0:
        x = x / tf.reduce_max(x)
    return x


activate(tf.constant([-1.0, 4.0]), "relu")
"""


def check(node: Stopper, facts: Facts) -> Iterator[Claim]:
    yield from stopped(node, facts, "A `match` statement", "Write it as an `if`/`elif` chain, or move it to a helper function without control flow on tensors.")
