"""An `if` as the first statement of a `try ... else` clause in a function that TensorFlow should convert.

## What it does

Reports an `if` that is the first statement of the `else` clause of a `try` statement in a converted function.

## Why it is a problem

AutoGraph's control-flow analysis stumbles over this one shape (an internal assertion fails, so the warning names no cause) and gives up on the whole
outermost function, which runs as plain Python: any `if`, loop or conditional expression on a tensor in it then raises `OperatorNotAllowedInGraphError`.
The `if` itself may well test a plain Python value. An `if` that comes second, or any other statement first, is converted without trouble.

## Fix safety

There is no automatic fix. Move the code of the `else` clause after the `try` statement, or put the `if` behind another statement of the clause.

## References

- `tensorflow/python/autograph/pyct/cfg.py`
"""

from __future__ import annotations

from collections.abc import Iterator

from tflint_graph.rule_api import TRACED, Claim, Facts, Rule, Severity, Stopper
from tflint_graph.rules.conversion._stopped import stopped

RULE = Rule(
    code="TFG108",
    name="try-else-starts-with-if",
    severity=Severity.ERROR,
    since="0.1.0",
    contexts=TRACED,
    triggers=frozenset({"Try"}),
)

BAD = """
import tensorflow as tf

SCALES = {"small": 0.5}


@tf.function
def rescale(x: tf.Tensor, size: str):
    try:
        scale = SCALES[size]
    except KeyError:
        scale = 1.0
    else:
        if scale < 1.0:
            x = x - 1.0
    if tf.reduce_sum(x) > 0.0:
        x = x * scale
    return x


rescale(tf.constant([2.0, 3.0]), "small")
"""

GOOD = """
import tensorflow as tf

SCALES = {"small": 0.5}


@tf.function
def rescale(x: tf.Tensor, size: str):
    try:
        scale = SCALES[size]
    except KeyError:
        scale = 1.0
    if scale < 1.0:
        x = x - 1.0
    if tf.reduce_sum(x) > 0.0:
        x = x * scale
    return x


rescale(tf.constant([2.0, 3.0]), "small")
"""


def check(node: Stopper, facts: Facts) -> Iterator[Claim]:
    yield from stopped(node, facts, "An `if` that opens the `else` clause of a `try`", "Move the clause's code after the `try` statement.")
