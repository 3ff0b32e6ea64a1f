"""An item of a tensor, variable or TensorArray is assigned or deleted.

## What it does

Reports, in code that TensorFlow traces, `t[i] = v`, `t[1:] += v`, `del t[i]` and `t[mask] = v`, where `t` is a tensor, a `tf.Variable` or a `tf.TensorArray`,
also as a loop target or inside a tuple of targets.

`variable[i].assign(v)` is fine, and so is storing a tensor in a Python list or dict.

## Why it is a problem

Tensors cannot be changed, and the classes have no `__setitem__`; this fails eagerly too:

    TypeError: 'SymbolicTensor' object does not support item assignment
    TypeError: 'ResourceVariable' object does not support item assignment
    TypeError: 'TensorArray' object does not support item assignment

## Fix safety

There is no automatic fix. `t = tf.tensor_scatter_nd_update(t, [[i]], [v])` makes a tensor with one item changed, `tf.where(mask, v, t)` one with some changed;
`ta = ta.write(i, v)` writes to a TensorArray.

## References

- `tensorflow/python/framework/tensor.py`, `tensorflow/python/ops/tensor_array_ops.py`
- https://www.tensorflow.org/api_docs/python/tf/tensor_scatter_nd_update
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tflint_graph.rule_api import TRACED, Claim, Facts, Kind, Rule, Severity
from tflint_graph.rules.conversion._container_state import changed_items
from tflint_graph.rules.conversion._graph_values import is_handled

RULE = Rule(
    code="TFG155",
    name="tensor-item-assignment",
    severity=Severity.ERROR,
    since="0.1.0",
    contexts=TRACED,
    triggers=frozenset({"Subscript"}),
    supersedes=frozenset({"TFG156", "TFG157", "TFG203"}),
)

BAD = """
import tensorflow as tf


@tf.function
def mask_first(tokens: tf.Tensor):
    tokens[0] = 0
    return tokens


mask_first(tf.constant([4, 5, 6]))
"""

GOOD = """
import tensorflow as tf


@tf.function
def mask_first(tokens: tf.Tensor):
    return tf.tensor_scatter_nd_update(tokens, [[0]], [0])


mask_first(tf.constant([4, 5, 6]))
"""


def check(node: cst.Assign | cst.AnnAssign | cst.AugAssign | cst.For | cst.Del, facts: Facts) -> Iterator[Claim]:
    for item in changed_items(node):
        value = facts.value(item.value)
        base, text = facts.source(item.value), f"{'del ' if isinstance(node, cst.Del) else ''}{facts.source(item)}"
        match value.kind:
            case Kind.TENSOR:
                what = f"The {value.ragged + ' ' if value.ragged else ''}tensor `{base}` cannot be changed"
                advice = f"Make a new one: `{base} = tf.tensor_scatter_nd_update({base}, ...)`, or tf.where with a mask."
            case Kind.VARIABLE:
                what, advice = f"The variable `{base}` has no item assignment", f"Use `{facts.source(item)}.assign(...)`."
            case Kind.TENSORARRAY:
                what, advice = f"The TensorArray `{base}` has no item assignment", f"Use `{base} = {base}.write(...)`."
            case _:
                continue
        if not is_handled(node, facts, "TypeError"):
            yield Claim(item, f"{what}: `{text}` fails (TensorFlow: TypeError), eagerly too. {advice}", because=(value,))
