"""An annotation that names something only the enclosing function or class knows, on a function that TensorFlow should convert.

## What it does

Reports a parameter or return annotation of a converted function that reads a name bound only in an enclosing function or class (typically `from typing
import Tuple` inside a factory) when the function's body does not read that name.

## Why it is a problem

AutoGraph writes the `def` anew, annotations included, and runs it in the scope of the original function's closure. A name that only the annotation uses is
not part of that closure, so the generated code fails with a `NameError`; TensorFlow warns that it could not transform the function and runs it as plain
Python: any `if`, loop or conditional expression on a tensor in it then raises `OperatorNotAllowedInGraphError`.

## Fix safety

There is no automatic fix. Import the name at module level, or write the annotation as a string.

## References

- `tensorflow/python/autograph/pyct/transpiler.py`
"""

from __future__ import annotations

from collections.abc import Iterator

from tflint_graph.rule_api import TRACED, Claim, Facts, Rule, Severity, Stopper
from tflint_graph.rules.conversion._stopped import stopped

RULE = Rule(
    code="TFG113",
    name="annotation-from-enclosing-scope",
    severity=Severity.ERROR,
    since="0.1.0",
    contexts=TRACED,
    triggers=frozenset({"FunctionDef"}),
)

BAD = """
import tensorflow as tf


def make_step():
    from typing import Tuple

    @tf.function
    def step(x: tf.Tensor) -> Tuple[tf.Tensor, tf.Tensor]:
        while tf.reduce_sum(x) > 1.0:
            x = x / 2.0
        return x, tf.reduce_sum(x)

    return step


make_step()(tf.constant([3.0, 4.0]))
"""

GOOD = """
from typing import Tuple

import tensorflow as tf


def make_step():
    @tf.function
    def step(x: tf.Tensor) -> Tuple[tf.Tensor, tf.Tensor]:
        while tf.reduce_sum(x) > 1.0:
            x = x / 2.0
        return x, tf.reduce_sum(x)

    return step


make_step()(tf.constant([3.0, 4.0]))
"""


def check(node: Stopper, facts: Facts) -> Iterator[Claim]:
    name = f"`{node.detail}`" if node.detail else "a name"
    yield from stopped(
        node, facts, f"An annotation that reads {name} from the enclosing scope", "Import it at module level, or write the annotation as a string."
    )
