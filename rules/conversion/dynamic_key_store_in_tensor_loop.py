"""An item of a Python container is stored in a tensor loop or branch under a key that AutoGraph cannot follow.

## What it does

Reports, in converted code, `c[k] = value` and `c[k] += value` inside a loop over a tensor or a branch on one, where

- `c` is a Python list or dict from outside that is read afterwards, and
- `k` changes inside the block (`for k in range(2): c[k] = ...`), is computed (`c[k + 1]`, `c[-1]`, `c["a" + s]`), or is a slice.

A literal key (`c[0]`, `c["a"]`) or a name that the block does not bind (`c[key]`) is fine: AutoGraph makes `c[key]` a part of the state of the loop. So are
stores into a container that the same iteration made.

## Why it is a problem

What AutoGraph does not recognise as state is stored by Python, once, while TensorFlow traces the body. The container then holds a tensor that exists only
inside the loop, and the next use fails:

    InaccessibleTensorError: <tf.Tensor 'while/add:0' shape=() dtype=int32> is out of scope and cannot be used here.

In a branch on a tensor the store happens whichever way the graph goes.

## Fix safety

There is no automatic fix. Build a new container in each iteration (`c = [f(v) for v in c]`), use one name or literal key per item, or keep the items in one
tensor and use tf.tensor_scatter_nd_update, or in a tf.TensorArray.

## References

- `tensorflow/python/autograph/converters/control_flow.py`, `tensorflow/python/autograph/pyct/qual_names.py`
- https://github.com/tensorflow/tensorflow/blob/master/tensorflow/python/autograph/g3doc/reference/limitations.md
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tflint_graph.rule_api import CONVERTED, Claim, Facts, Frame, Rule, Severity, Value
from tflint_graph.rules.conversion._container_state import changed_items, is_bound_in, is_mutable_container, names_in, outlives, staged_frames
from tflint_graph.rules.conversion._graph_values import is_handled

RULE = Rule(
    code="TFG156",
    name="dynamic-key-store-in-tensor-loop",
    severity=Severity.ERROR,
    since="0.1.0",
    contexts=CONVERTED,
    triggers=frozenset({"Subscript"}),
)

BAD = """
import tensorflow as tf


@tf.function
def accumulate(rows: tf.Tensor):
    totals = [tf.constant(0.0), tf.constant(0.0)]
    for row in rows:
        for k in range(2):
            totals[k] = totals[k] + row[k]
    return totals


accumulate(tf.ones([3, 2]))
"""

GOOD = """
import tensorflow as tf


@tf.function
def accumulate(rows: tf.Tensor):
    totals = [tf.constant(0.0), tf.constant(0.0)]
    for row in rows:
        totals = [total + row[k] for k, total in enumerate(totals)]
    return totals


accumulate(tf.ones([3, 2]))
"""


def check(node: cst.Assign | cst.AugAssign, facts: Facts) -> Iterator[Claim]:
    for item in changed_items(node):
        if not is_mutable_container(facts.value(item.value)) or not _matters(node, facts):
            continue
        for frame in staged_frames(node, facts):
            key = _unfollowed(item, frame, facts) if not frame.is_function else None
            if key is not None and outlives(item.value, frame, facts) and not is_handled(node, facts, "ValueError"):
                yield _claim(node, item, key, frame, facts)
                break


def _matters(node: cst.Assign | cst.AugAssign, facts: Facts) -> bool:
    """The stored value depends on the iteration: a tensor, or an update of what was there."""
    return isinstance(node, cst.AugAssign) or facts.value(node.value).contains_tensor()


def _unfollowed(item: cst.Subscript, frame: Frame, facts: Facts) -> str | None:
    """Why AutoGraph does not see `c[k]` as state of the frame's statement; None if it does."""
    if len(item.slice) != 1 or not isinstance(item.slice[0].slice, cst.Index):
        return "a slice or several keys"
    key = item.slice[0].slice.value
    if not isinstance(key, (cst.Name, cst.Attribute, cst.SimpleString, cst.Integer, cst.Float)):
        return f"the computed key `{facts.source(key)}`"
    for name in sorted(names_in(item)):
        if is_bound_in(name, frame, facts):
            return f"`{name}`, which changes inside"
    return None


def _claim(node: cst.Assign | cst.AugAssign, item: cst.Subscript, key: str, frame: Frame, facts: Facts) -> Claim:
    kind = "loop" if frame.is_loop else "branch"
    value = facts.value(node.value)
    because: tuple[Value, ...] = (facts.value(frame.node.iter),) if isinstance(frame.node, cst.For) else ()
    leaks = value.contains_tensor() or frame.is_loop
    effect = "TensorFlow: InaccessibleTensorError where it is read later" if leaks else "it happens whichever way the graph goes"
    message = (
        f"`{facts.source(item)}` is stored while TensorFlow traces the {kind}, not when it runs, since AutoGraph cannot follow {key} ({effect}). "
        f"Build a new container instead, or use a tf.TensorArray or tf.tensor_scatter_nd_update."
    )
    return Claim(node, message, because=(value, *because) if value.why is not None else because)
