"""Values that outlive their region: without tree nodes, and as hashable keys."""

from __future__ import annotations

from dataclasses import replace

from tflint_graph.flow.values import MISSING, Kind, Value
from tflint_graph.index.model import ClassId, FunctionId

_DEPTH = 4


def portable(value: Value, depth: int = 0) -> Value:
    """The value without links into a syntax tree. Local functions of a region, which mean nothing outside it, keep only their FunctionId."""
    if (
        value.origin is None
        and value.elements is None
        and value.items is None
        and value.element is None
        and value.bound is None
        and not value.args
        and not value.kwargs
    ):
        return value
    if depth > _DEPTH:
        return Value(value.kind if value.kind is not Kind.FUNCTION else Kind.UNKNOWN, pytype=value.pytype)
    below = depth + 1
    return replace(
        value,
        origin=None,
        elements=None if value.elements is None else tuple(portable(v, below) for v in value.elements),
        items=None if value.items is None else tuple((k, portable(v, below)) for k, v in value.items),
        element=None if value.element is None else portable(value.element, below),
        bound=None if value.bound is None else portable(value.bound, below),
        args=tuple(portable(v, below) for v in value.args),
        kwargs=tuple((k, portable(v, below)) for k, v in value.kwargs),
    )


def value_key(value: Value, depth: int = 0) -> object:
    """A hashable key: equal for values that say the same."""
    if depth > _DEPTH:
        return value.kind
    const: object = MISSING
    if value.const is not MISSING:
        const = (type(value.const).__name__, repr(value.const))
    below = depth + 1
    ref = value.ref if isinstance(value.ref, (str, FunctionId, ClassId, tuple)) else id(value.ref) if value.ref is not None else None
    return (
        value.kind, value.pytype, const, value.dtype, value.shape,
        None if value.elements is None else tuple(value_key(v, below) for v in value.elements),
        None if value.element is None else value_key(value.element, below),
        None if value.items is None else tuple((repr(k), value_key(v, below)) for k, v in value.items),
        ref, value.eager, value.ragged, value.traced, value.maybe_unbound,
        None if value.bound is None else value_key(value.bound, below),
        tuple(value_key(v, below) for v in value.args), tuple((k, value_key(v, below)) for k, v in value.kwargs),
    )  # fmt: skip
