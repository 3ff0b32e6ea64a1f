"""An `async def` in, or as, a function that TensorFlow should convert.

## What it does

Reports coroutine functions nested in a converted function, coroutine functions handed to `tf.function` or a Dataset method, and coroutine functions with
control flow on tensors that traced code runs.

## Why it is a problem

AutoGraph does not know `async def`. A nested one makes a later pass of the conversion fail (`Cause: name node, y, outside of any statement?`), and the
whole outermost function runs as plain Python: control flow on tensors then raises `OperatorNotAllowedInGraphError`. A coroutine function that converted
code calls is not converted either (`Cause: Unknown node type <gast.gast.AsyncFunctionDef object>`).

A coroutine function under `tf.function` always fails, because it returns a coroutine object: `TypeError: To be compatible with tf.function, Python
functions must return zero or more Tensors or ExtensionTypes or None values`.

## Fix safety

There is no automatic fix. Use a plain `def`; await outside the traced function and pass the result in.

## References

- `tensorflow/python/autograph/pyct/static_analysis/reaching_definitions.py`
- `tensorflow/python/autograph/pyct/transpiler.py`
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tflint_graph.rule_api import TRACED, Claim, Facts, Rule, Severity, Stopper
from tflint_graph.rules.conversion._stopped import condition, header, stopped

RULE = Rule(
    code="TFG103",
    name="nested-async-def",
    severity=Severity.ERROR,
    since="0.1.0",
    contexts=TRACED,
    triggers=frozenset({"AsyncFunctionDef", "Await", "Return"}),
)

BAD = """
import tensorflow as tf


@tf.function
async def predict(features: tf.Tensor):
    return tf.reduce_mean(features)


predict(tf.ones([4]))
"""

GOOD = """
import tensorflow as tf


@tf.function
def predict(features: tf.Tensor):
    return tf.reduce_mean(features)


async def serve(features):
    return predict(features)
"""

# Who calls the function and cannot use a coroutine object as its result.
_NEEDS_TENSORS = frozenset({"root", "dataset", "elements"})


def check(node: Stopper | cst.FunctionDef, facts: Facts) -> Iterator[Claim]:
    if isinstance(node, Stopper):
        yield from stopped(node, facts, "A nested `async def`", "Use a plain `def`, or move the coroutine out of the converted function.")
        return
    function = facts.function(node)
    if node.asynchronous is None or function is None or function is not facts.outermost(node):
        return
    if function.is_root or function.roles & _NEEDS_TENSORS:
        message = (
            f"`{function.display}` is a coroutine function, and TensorFlow cannot return a coroutine object from a traced function (TensorFlow: TypeError). "
            "Use a plain `def`, and await outside of it."
        )
        yield Claim(node.name, message)
        return
    flow = facts.tensor_flow_in(function)
    if flow is not None:
        message = (
            f"AutoGraph does not convert coroutine functions: `{header(flow, facts)}` in `{function.display}` runs as plain Python and fails "
            "(TensorFlow: OperatorNotAllowedInGraphError). Use a plain `def` for what TensorFlow traces."
        )
        yield Claim(node.name, message, because=(facts.value(condition(flow)),))
