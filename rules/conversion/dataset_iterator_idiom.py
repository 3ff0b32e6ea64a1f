"""A way to use a dataset iterator that works eagerly only: `as_numpy_iterator`, `except StopIteration`, `next(it, default)`.

## What it does

Reports, in code that TensorFlow traces,

- `dataset.as_numpy_iterator()`;
- `except StopIteration` or `except tf.errors.OutOfRangeError` around `next(it)` of a dataset iterator;
- `next(it, default)` of a dataset iterator.

`next(it)` and `for x in it` on an iterator that the function gets as an argument are fine.

## Why it is a problem

`as_numpy_iterator` refuses to work while a graph is built:

    RuntimeError: `tf.data.Dataset.as_numpy_iterator()` is only supported in eager mode.

`next(it)` adds an operation to the graph and returns a tensor; the end of the data shows only when the graph runs. So neither exception can be caught in the
function, and the default is never used: the program stops with `OutOfRangeError: End of sequence`. Inside `while True` the trace does not even end.

## Fix safety

There is no automatic fix. Loop over the dataset with `for`, or test `it.get_next_as_optional().has_value()`.

## References

- `tensorflow/python/data/ops/dataset_ops.py` (`DatasetV2.as_numpy_iterator`)
- `tensorflow/python/data/ops/iterator_ops.py` (`OwnedIterator.__next__`)
- https://www.tensorflow.org/api_docs/python/tf/experimental/Optional
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tflint_graph.rule_api import TRACED, Claim, Facts, Kind, Rule, Severity, Value
from tflint_graph.rules.conversion._graph_values import handled_names, runs_eagerly

RULE = Rule(
    code="TFG143",
    name="dataset-iterator-idiom",
    severity=Severity.ERROR,
    since="0.1.0",
    contexts=TRACED,
    triggers=frozenset({"call:as_numpy_iterator", "call:next", "call:get_next", "call:__next__"}),
    supersedes=frozenset({"TFG206"}),
)

BAD = """
import tensorflow as tf


@tf.function
def total(dataset: tf.data.Dataset):
    result = tf.constant(0, tf.int64)
    for value in dataset.as_numpy_iterator():
        result += value
    return result


total(tf.data.Dataset.range(3))
"""

GOOD = """
import tensorflow as tf


@tf.function
def total(dataset: tf.data.Dataset):
    result = tf.constant(0, tf.int64)
    for value in dataset:
        result += value
    return result


total(tf.data.Dataset.range(3))
"""

_ENDS = ("StopIteration", "OutOfRangeError")
_OPTIONAL = "Loop over it with `for`, or use get_next_as_optional() and has_value()."


def check(node: cst.Call | cst.Try, facts: Facts) -> Iterator[Claim]:
    if runs_eagerly(node, facts):
        return
    if isinstance(node, cst.Try):
        yield from _handlers(node, facts)
        return
    call = facts.call(node)
    if call is None:
        return
    text = facts.source(node)
    if call.dotted == "dataset.as_numpy_iterator":
        message = f"`{text}` works in eager mode only (TensorFlow: RuntimeError). Loop over the dataset itself."
        yield Claim(node, message, because=(call.receiver,) if call.receiver is not None else ())
    elif call.dotted == "builtins.next" and len(call.args) == 2 and call.args[0].kind is Kind.ITERATOR:
        message = f"`{text}` never uses its default: while tracing nobody knows whether the data has ended, and the graph stops with OutOfRangeError"
        yield Claim(node, f"{message}. {_OPTIONAL}", because=(call.args[0],))


def _handlers(node: cst.Try, facts: Facts) -> Iterator[Claim]:
    """The handlers for the end of the data around a `next()` of a dataset iterator."""
    taken = _taken(node.body, facts)
    if taken is None:
        return
    for handler in node.handlers:
        name = next((n for n in handled_names(handler.type) if n in _ENDS), None) if handler.type is not None else None
        if name is not None and handler.type is not None:
            endless = any(frame.part == "while" and _is_forever(frame.node) for frame in facts.frames(node))
            effect = "the trace never ends" if endless else "the graph stops with OutOfRangeError when it runs"
            what = f"`except {facts.source(handler.type)}` cannot see the end of the dataset iterator"
            message = f"{what}: `next()` adds an operation while tracing and returns, and {effect}"
            yield Claim(handler, f"{message}. {_OPTIONAL}", because=(taken,))
            return


def _is_forever(node: cst.CSTNode) -> bool:
    match node:
        case cst.While(test=cst.Name(value="True") | cst.Integer(value="1")):
            return True
    return False


def _taken(node: cst.CSTNode, facts: Facts) -> Value | None:
    """The dataset iterator that a block asks for its next element."""
    if isinstance(node, (cst.FunctionDef, cst.Lambda, cst.ClassDef)):
        return None
    if isinstance(node, cst.Call):
        call = facts.call(node)
        if call is not None:
            value = call.args[0] if call.dotted == "builtins.next" and len(call.args) == 1 else call.receiver if call.dotted in _METHODS else None
            if value is not None and value.kind is Kind.ITERATOR:
                return value
    return next((found for child in node.children if (found := _taken(child, facts)) is not None), None)


_METHODS = ("iterator.next", "iterator.get_next", "iterator.__next__")
