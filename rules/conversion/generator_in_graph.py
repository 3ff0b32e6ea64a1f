"""`yield` inside a function that TensorFlow should convert.

## What it does

Reports `yield` and `yield from` in functions and lambdas nested in a converted function, and functions handed to `tf.function` or a Dataset method that
are themselves generators.

## Why it is a problem

A `yield` anywhere in a function makes AutoGraph give up on all of it (`Cause: generators are not supported`) and run it as plain Python: control flow on
tensors in the same function then raises `OperatorNotAllowedInGraphError`, also where it stands outside the nested generator. Without such control flow
only the conversion is lost, which is a warning.

A generator that is itself decorated with `tf.function` always fails: calling it returns a generator object, and TensorFlow raises `TypeError: To be
compatible with tf.function, Python functions must return zero or more Tensors or ExtensionTypes or None values`. `Dataset.map` raises `TypeError:
Unsupported return value from function passed to Dataset.map()`.

A generator at module level (a `contextlib.contextmanager`, too) that converted code calls is run as it is, which does no harm as long as it does not test
tensors itself.

## Fix safety

There is no automatic fix. Move a nested generator to module level; from a decorated function return a list of tensors or `TensorArray.stack()`.

## References

- `tensorflow/python/autograph/core/unsupported_features_checker.py`
- `tensorflow/python/eager/polymorphic_function/tracing_compilation.py` and `tensorflow/python/framework/func_graph.py` (return values)
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tflint_graph.rule_api import TRACED, Claim, Facts, Rule, Severity, Stopper
from tflint_graph.rules.conversion._stopped import stopped

RULE = Rule(
    code="TFG102",
    name="generator-in-graph",
    severity=Severity.ERROR,
    since="0.1.0",
    contexts=TRACED,
    triggers=frozenset({"Yield", "YieldFrom"}),
)

BAD = """
import tensorflow as tf


@tf.function
def smooth(signal: tf.Tensor):
    def windows():
        for start in range(0, 6, 2):
            yield signal[start : start + 2]

    total = tf.add_n([tf.reduce_sum(window) for window in windows()])
    if total > 1.0:
        total = total / 3.0
    return total


smooth(tf.ones([6]))
"""

GOOD = """
import tensorflow as tf


def windows(signal):
    for start in range(0, 6, 2):
        yield signal[start : start + 2]


@tf.function
def smooth(signal: tf.Tensor):
    total = tf.add_n([tf.reduce_sum(window) for window in windows(signal)])
    if total > 1.0:
        total = total / 3.0
    return total


smooth(tf.ones([6]))
"""

# Who calls the function and cannot use a generator object as its result.
_NEEDS_TENSORS = frozenset({"root", "dataset", "elements"})


def check(node: Stopper | cst.Yield, facts: Facts) -> Iterator[Claim]:
    if isinstance(node, Stopper):
        yield from stopped(node, facts, "A `yield` in a nested function", "Move the generator out of the converted function, or build a list.")
        return
    function = facts.function(node)
    if function is None or not (function.is_root or function.roles & _NEEDS_TENSORS) or _is_later(node, facts):
        return
    message = (
        f"`{function.display}` is a generator, and TensorFlow cannot return a generator object from a traced function (TensorFlow: TypeError). "
        "Return the tensors in a list, or collect them in a tf.TensorArray and return its stack()."
    )
    yield Claim(node, message)


def _is_later(node: cst.Yield, facts: Facts) -> bool:
    """True for every `yield` of a function but the first: the fault is that there is one."""
    function = facts.function(node)
    if function is None:
        return False
    waiting: list[cst.CSTNode] = [function.node]
    while waiting:
        part = waiting.pop()
        if isinstance(part, cst.Yield):
            return part is not node
        if part is function.node or not isinstance(part, (cst.FunctionDef, cst.Lambda, cst.ClassDef)):
            waiting.extend(reversed(part.children))
    return False
