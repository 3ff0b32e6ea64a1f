"""Python iterates over a tensor: a comprehension, an unpacking, a star, `list()` or `tuple()`.

## What it does

Reports, in code that TensorFlow traces, places where Python itself takes a tensor or a variable apart:

- a comprehension or generator expression over a tensor, or over `range(t)` and `tf.range(n)`;
- unpacking: `a, b = t`, `h, w = tf.shape(image)`, `first, *rest = t`, and loop targets such as `for a, b in [t, u]`;
- `f(*t)`, `[*t]`, `yield from t`, `list(t)`, `tuple(t)`, `values.extend(t)`.

A plain `for v in t` is fine: AutoGraph turns it into a graph loop. Unpacking `t.shape`, `tf.unstack(t)`, `tf.split(...)` or `tf.math.top_k(...)` is fine too,
since these are Python lists and tuples, and so is a comprehension over a Python range whose elements are tensors.

## Why it is a problem

AutoGraph rewrites `for` statements only. Everywhere else Python calls `Tensor.__iter__`, and a tensor of a graph has no elements yet:

    OperatorNotAllowedInGraphError: Iterating over a symbolic `tf.Tensor` is not allowed.

The class is a TypeError. The same happens with a variable, and with an eager tensor made outside the function. Python does not learn the length of a ragged
tensor either: it asks for one row after the other, and TensorFlow answers `ValueError: slice index 2 of dimension 0 out of bounds`.

## Fix safety

There is no automatic fix. `tf.unstack(t)` gives a Python list where the length is known while tracing; otherwise use a `for` loop with a `tf.TensorArray`, or
`tf.map_fn`. Most comprehensions over a tensor are better written as one operation on the whole tensor.

## References

- `tensorflow/python/framework/tensor.py` (`Tensor.__iter__`)
- https://github.com/tensorflow/tensorflow/blob/master/tensorflow/python/autograph/g3doc/reference/limitations.md
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tflint_graph.rule_api import TRACED, Claim, Facts, Rule, Severity, Value
from tflint_graph.rules.conversion._graph_values import has_no_python_elements, is_handled, runs_eagerly

RULE = Rule(
    code="TFG140",
    name="python-iteration-over-tensor",
    severity=Severity.ERROR,
    since="0.1.0",
    contexts=TRACED,
    triggers=frozenset({
        "ListComp", "SetComp", "DictComp", "GeneratorExp", "Assign", "For", "Starred", "List", "YieldFrom",
        "call:list", "call:tuple", "call:set", "call:frozenset", "call:deque", "call:extend", "call:join",
    }),
)  # fmt: skip

BAD = """
import tensorflow as tf


@tf.function
def aspect_ratio(image: tf.Tensor):
    height, width, _ = tf.shape(image)
    return width / height


aspect_ratio(tf.ones([4, 6, 3]))
"""

GOOD = """
import tensorflow as tf


@tf.function
def aspect_ratio(image: tf.Tensor):
    height, width, _ = tf.unstack(tf.shape(image))
    return width / height


aspect_ratio(tf.ones([4, 6, 3]))
"""

_TAKERS = {f"builtins.{name}" for name in ("list", "tuple", "set", "frozenset")} | {"collections.deque", "list.extend", "deque.extend", "str.join"}
_OPERATION = "Use one operation on the whole tensor, a `for` loop with a tf.TensorArray, or tf.map_fn."

Suspect = cst.CompFor | cst.For | cst.Assign | cst.StarredElement | cst.Arg | cst.From | cst.Call


def check(node: Suspect, facts: Facts) -> Iterator[Claim]:
    found = _found(node, facts)
    if found is None or runs_eagerly(node, facts) or is_handled(node, facts, "OperatorNotAllowedInGraphError"):
        return
    place, message, value = found
    if value.ragged == "ragged":
        message = message.replace("OperatorNotAllowedInGraphError", "ValueError: slice index out of bounds")
    yield Claim(place, message, because=(value,))


def _found(node: Suspect, facts: Facts) -> tuple[cst.CSTNode, str, Value] | None:
    match node:
        case cst.CompFor(iter=source):
            value = facts.value(source)
            if has_no_python_elements(value):
                return source, f"A comprehension cannot iterate over {_named(source, facts)} {_ERROR}. {_OPERATION}", value
            return _unpacked(node.target, facts.value(node.target), facts)
        case cst.For(iter=source):
            value = facts.value(source)
            return _unpacked(node.target, facts.value(node.target), facts, row=value.is_staged)
        case cst.Assign(targets=targets, value=source):
            value = facts.value(source)
            for target in targets:
                found = _unpacked(target.target, value, facts, source)
                if found is not None:
                    return node, found[1], found[2]
        case cst.StarredElement(value=source) if not isinstance(facts.parent(facts.parent(node) or node), (cst.AssignTarget, cst.For, cst.CompFor)):
            return _taken(node, source, f"`*{facts.source(source)}`", facts)
        case cst.Arg(star="*", value=source):
            return _taken(node, source, f"`*{facts.source(source)}`", facts)
        case cst.From(item=source):
            return _taken(node, source, f"`yield from {facts.source(source)}`", facts)
        case cst.Call(args=[cst.Arg(star="", value=source)]):
            call = facts.call(node)
            if call is not None and call.dotted in _TAKERS and not is_python_range(source):
                return _taken(node, source, f"`{facts.source(node)}`", facts)
    return None


_LONG = 20  # characters; a longer expression is named once in a message
_ERROR = "(TensorFlow: OperatorNotAllowedInGraphError)"


def _named(source: cst.BaseExpression, facts: Facts) -> str:
    name = facts.source(source)
    return f"`{name}`, which is a tensor here" if is_python_range(source) else f"the tensor `{name}`"


def is_python_range(node: cst.BaseExpression) -> bool:
    """`range(...)`, which becomes a tensor where a bound is one."""
    return isinstance(node, cst.Call) and isinstance(node.func, cst.Name) and node.func.value == "range"


def _iterated(source: cst.BaseExpression, facts: Facts) -> str:
    """As `_named`, after a quotation that holds the expression."""
    return _named(source, facts) if isinstance(source, (cst.Name, cst.Attribute)) or is_python_range(source) else "a tensor"


def _is_long(source: cst.BaseExpression, facts: Facts) -> bool:
    return len(str(facts.source(source))) > _LONG


def _unstacked(source: cst.BaseExpression, facts: Facts) -> str:
    return "Use tf.unstack on it." if _is_long(source, facts) else f"Use `tf.unstack({facts.source(source)})`."


def _taken(node: cst.CSTNode, source: cst.BaseExpression, what: str, facts: Facts) -> tuple[cst.CSTNode, str, Value] | None:
    value = facts.value(source)
    if not has_no_python_elements(value):
        return None
    return node, f"{what} iterates over {_iterated(source, facts)} {_ERROR}. {_unstack(source, value, facts)}", value


def _unstack(source: cst.BaseExpression, value: Value, facts: Facts) -> str:
    if value.shape and isinstance(value.shape[0], int):
        return _unstacked(source, facts)
    return "Use tf.unstack where the length is known while tracing, or one operation on the whole tensor."


def _unpacked(
    target: cst.BaseExpression, value: Value | None, facts: Facts, source: cst.BaseExpression | None = None, *, row: bool = False
) -> tuple[cst.CSTNode, str, Value] | None:
    """The tuple of names that a tensor is unpacked into, somewhere in an assignment or loop target."""
    if value is None or not isinstance(target, (cst.Tuple, cst.List)):
        return None
    if has_no_python_elements(value):
        what = f"the tensor `{facts.source(source)}`" if source is not None else "a row of the tensor" if row else "a tensor"
        names = facts.source(target)
        return target, f"Unpacking {what} into `{names}` iterates over it {_ERROR}. {_advice(source, value, facts, row=row)}", value
    parts = value.elements if value.is_python else None
    if parts is None or len(parts) != len(target.elements):
        return None
    for element, part in zip(target.elements, parts, strict=True):
        if not isinstance(element, cst.StarredElement):
            found = _unpacked(element.value, part, facts)
            if found is not None:
                return found
    return None


def _advice(source: cst.BaseExpression | None, value: Value, facts: Facts, *, row: bool) -> str:
    if source is not None:
        return _unstacked(source, facts)
    return "Bind one name and index it, or unpack `tf.unstack(...)` of it inside the loop." if row else "Unpack `tf.unstack(...)` of it."
