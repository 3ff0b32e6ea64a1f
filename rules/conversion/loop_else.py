"""A `for` or `while` with an `else` clause in a function that TensorFlow should convert.

## What it does

Reports `for ... else` and `while ... else` in functions that `tf.function`, a Dataset method or other converted code hands to AutoGraph, nested functions
and classes included.

## Why it is a problem

AutoGraph checks a function before it converts it and refuses loops with an `else` clause. It then prints

    WARNING:tensorflow:AutoGraph could not transform <function f at 0x...> and will run it as-is.
    Cause: for/else statement not yet supported

and runs the *whole* function as plain Python, not only the loop. Any `if`, `while`, conditional expression, `and`, `or` or `not` on a tensor in it then
raises `OperatorNotAllowedInGraphError: Using a symbolic tf.Tensor as a Python bool is not allowed`, a `for` over a tensor raises the same class, and a
`for` over a dataset is unrolled without end. With such control flow in the function this is an error, otherwise a warning.

A helper function is converted on its own: a loop with `else` in a helper stops only that helper.

## Fix safety

There is no automatic fix. Set a flag before the loop, change it where the loop breaks, and test it after the loop; or move the search to a helper without
control flow on tensors.

## References

- `tensorflow/python/autograph/core/unsupported_features_checker.py`
- [AutoGraph limitations](https://github.com/tensorflow/tensorflow/blob/master/tensorflow/python/autograph/g3doc/reference/limitations.md)
"""

from __future__ import annotations

from collections.abc import Iterator

from tflint_graph.rule_api import TRACED, Claim, Facts, Rule, Severity, Stopper
from tflint_graph.rules.conversion._stopped import stopped

RULE = Rule(
    code="TFG101",
    name="loop-else",
    severity=Severity.ERROR,
    since="0.1.0",
    contexts=TRACED,
    triggers=frozenset({"For", "While"}),
)

BAD = """
import tensorflow as tf


@tf.function
def scale_to_block(signal: tf.Tensor, width: int):
    for size in (7, 5, 3):
        if width % size == 0:
            break
    else:
        size = 1
    if tf.reduce_max(signal) > 1.0:
        signal = signal / tf.reduce_max(signal)
    return signal * size


scale_to_block(tf.constant([0.5, 4.0]), 9)
"""

GOOD = """
import tensorflow as tf


@tf.function
def scale_to_block(signal: tf.Tensor, width: int):
    block = 1
    for size in (7, 5, 3):
        if width % size == 0:
            block = size
            break
    if tf.reduce_max(signal) > 1.0:
        signal = signal / tf.reduce_max(signal)
    return signal * block


scale_to_block(tf.constant([0.5, 4.0]), 9)
"""


def check(node: Stopper, facts: Facts) -> Iterator[Claim]:
    loop = node.detail if node.detail in ("for", "while") else "loop"
    yield from stopped(
        node, facts, f"The `else` clause of this {loop if loop == 'loop' else f'`{loop}` loop'}", "Use a flag variable and test it after the loop."
    )
