"""`tf.autograph.experimental.set_loop_options` that is not the first statement of a loop.

## What it does

Reports a call of `tf.autograph.experimental.set_loop_options` in a converted function that stands outside of any loop, or in a loop after an assignment or
an expression statement, or alone in a block other than the loop's own body.

## Why it is a problem

The call is a directive: AutoGraph removes it (a block that held nothing else would be left empty) and attaches its arguments to the loop whose body it
opens. Anywhere else the conversion of the whole function fails (`Cause: "set_loop_options" must be the first statement in the loop block`), the function
runs as plain Python, and the loop that the options were meant for raises `OperatorNotAllowedInGraphError`.

## Fix safety

Moving the call to the top of the loop's body is safe: it does nothing when it runs.

## References

- `tensorflow/python/autograph/converters/directives.py`
- [tf.autograph.experimental.set_loop_options](https://www.tensorflow.org/api_docs/python/tf/autograph/experimental/set_loop_options)
"""

from __future__ import annotations

from collections.abc import Iterator

from tflint_graph.rule_api import TRACED, Claim, Facts, Rule, Severity, Stopper
from tflint_graph.rules.conversion._stopped import stopped

RULE = Rule(
    code="TFG107",
    name="loop-options-not-first",
    severity=Severity.ERROR,
    since="0.1.0",
    contexts=TRACED,
    triggers=frozenset({"call:set_loop_options"}),
)

BAD = """
import tensorflow as tf


@tf.function
def repeat(x: tf.Tensor, n: tf.Tensor):
    rows = x
    for _ in tf.range(n):
        rows = tf.concat([rows, x], axis=0)
        tf.autograph.experimental.set_loop_options(shape_invariants=[(rows, tf.TensorShape([None]))])
    return rows


repeat(tf.constant([1.0]), tf.constant(3))
"""

GOOD = """
import tensorflow as tf


@tf.function
def repeat(x: tf.Tensor, n: tf.Tensor):
    rows = x
    for _ in tf.range(n):
        tf.autograph.experimental.set_loop_options(shape_invariants=[(rows, tf.TensorShape([None]))])
        rows = tf.concat([rows, x], axis=0)
    return rows


repeat(tf.constant([1.0]), tf.constant(3))
"""


def check(node: Stopper, facts: Facts) -> Iterator[Claim]:
    yield from stopped(node, facts, "`set_loop_options` that is not the first statement of a loop", "Make it the first statement in the body of its loop.")
