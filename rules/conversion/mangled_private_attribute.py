"""An attribute with two leading underscores in a function that TensorFlow should convert.

## What it does

Reports reading or writing an attribute whose name starts with two underscores and does not end with two, on any object, in a converted function.

## Why it is a problem

Python mangles such names with the name of the class; code that AutoGraph generates stands outside of the class. AutoGraph therefore refuses the whole
function (`Cause: mangled names are not yet supported`) and runs it as plain Python: any `if`, loop or conditional expression on a tensor in it then raises
`OperatorNotAllowedInGraphError`. Without control flow on tensors the result is right, and TensorFlow warns that it could not transform the function.

Dunder attributes (`x.__class__`), plain names with two underscores and the mangled name written out (`self._Model__scale`) are no problem.

## Fix safety

There is no automatic fix: renaming an attribute touches the whole project. Use one leading underscore, or read the attribute in a property or a helper
method of the class.

## References

- `tensorflow/python/autograph/core/unsupported_features_checker.py`
"""

from __future__ import annotations

from collections.abc import Iterator

from tflint_graph.rule_api import TRACED, Claim, Facts, Rule, Severity, Stopper
from tflint_graph.rules.conversion._stopped import stopped

RULE = Rule(
    code="TFG106",
    name="mangled-private-attribute",
    severity=Severity.ERROR,
    since="0.1.0",
    contexts=TRACED,
    triggers=frozenset({"Attribute"}),
)

BAD = """
import tensorflow as tf


class Clipper(tf.Module):
    def __init__(self):
        super().__init__()
        self.__limit = 1.0

    @tf.function
    def clip(self, x: tf.Tensor):
        if tf.norm(x) > self.__limit:
            x = x / tf.norm(x)
        return x


clipper = Clipper()
clipper.clip(tf.constant([3.0, 4.0]))
"""

GOOD = """
import tensorflow as tf


class Clipper(tf.Module):
    def __init__(self):
        super().__init__()
        self._limit = 1.0

    @tf.function
    def clip(self, x: tf.Tensor):
        if tf.norm(x) > self._limit:
            x = x / tf.norm(x)
        return x


clipper = Clipper()
clipper.clip(tf.constant([3.0, 4.0]))
"""


def check(node: Stopper, facts: Facts) -> Iterator[Claim]:
    name = node.detail or "the attribute"
    construct = f"The private attribute `{node.detail}`" if node.detail else "A private attribute with two leading underscores"
    instead = f"Name it with one underscore (`{name[1:]}`)." if name.startswith("__") else "Name it with one underscore."
    yield from stopped(node, facts, construct, instead)
