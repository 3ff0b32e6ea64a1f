"""An `assert` on a tensor.

## What it does

Reports `assert` with a tensor test in code that TensorFlow traces. Asserts on static shapes, ranks, dtypes, types and flags are Python tests and fine, and so
is any assert in a function whose `experimental_autograph_options` name `Feature.ASSERT_STATEMENTS` or `Feature.ALL`.

## Why it is a problem

AutoGraph can convert `assert`, but that feature is off by default. Python then asks the tensor for its truth value, which it does not have while tracing:

    OperatorNotAllowedInGraphError: Using a symbolic `tf.Tensor` as a Python `bool` is not allowed.

## Fix safety

There is no automatic fix. `tf.debugging.Assert(test, [message])` and `tf.debugging.assert_*` check when the graph runs and raise
`tf.errors.InvalidArgumentError` instead of AssertionError.

## References

- `tensorflow/python/autograph/converters/asserts.py`
- `tensorflow/python/autograph/impl/api.py` (`transform_ast`)
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tflint_graph.rule_api import TRACED, Claim, Facts, Kind, Rule, Severity, Value

RULE = Rule(
    code="TFG130",
    name="assert-on-tensor",
    severity=Severity.ERROR,
    since="0.1.0",
    contexts=TRACED,
    triggers=frozenset({"Assert"}),
    supersedes=frozenset({"TFG110", "TFG111"}),
)

BAD = """
import tensorflow as tf


@tf.function
def safe_sqrt(x: tf.Tensor):
    assert tf.reduce_all(x >= 0.0), "negative input"
    return tf.sqrt(x)


safe_sqrt(tf.constant([4.0, 9.0]))
"""

GOOD = """
import tensorflow as tf


@tf.function
def safe_sqrt(x: tf.Tensor):
    tf.debugging.assert_non_negative(x, "negative input")
    return tf.sqrt(x)


safe_sqrt(tf.constant([4.0, 9.0]))
"""

_CONVERTED_BY = frozenset({"ASSERT_STATEMENTS", "ALL"})


def check(node: cst.Assert, facts: Facts) -> Iterator[Claim]:
    function, outermost = facts.function(node), facts.outermost(node)
    if function is None or (function.converted and outermost is not None and outermost.autograph_options & _CONVERTED_BY):
        return
    test = facts.value(node.test)
    if not _asks(test):
        return
    message = (
        f"`assert {facts.source(node.test)}` asks a tensor for its truth value while tracing (TensorFlow: OperatorNotAllowedInGraphError). "
        "Use `tf.debugging.Assert(test, [message])` or a tf.debugging.assert_* function."
    )
    yield Claim(node, message, because=(test,))


def _asks(test: Value) -> bool:
    return test.is_symbolic or test.kind is Kind.VARIABLE
