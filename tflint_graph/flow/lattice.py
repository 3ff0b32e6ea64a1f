"""Joining abstract values, and what TensorFlow's graph control flow makes of Python values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tflint_graph.flow.values import ANY_DIM, MISSING, UNBOUND, UNKNOWN, Dim, Kind, Reason, Shape, Value

State = dict[str, Value]

TENSORABLE = {"int": "int32", "float": "float32", "bool": "bool", "str": "string", "bytes": "string", "complex": "complex128"}


def join(a: Value, b: Value) -> Value:
    """The most precise value that covers both: certain only where both agree."""
    if a is b:
        return a
    if a.kind is Kind.UNBOUND or b.kind is Kind.UNBOUND:
        other = b if a.kind is Kind.UNBOUND else a
        if other.kind is Kind.UNBOUND:
            return a
        return other if other.maybe_unbound else replace(other, maybe_unbound=True)
    unbound = a.maybe_unbound or b.maybe_unbound
    if a.kind is not b.kind:
        if is_nest(a) and b.kind is Kind.TENSOR:
            return a
        if is_nest(b) and a.kind is Kind.TENSOR:
            return b
        return Value(Kind.UNKNOWN, maybe_unbound=unbound)
    kind = a.kind
    if kind is Kind.UNKNOWN:
        if is_nest(a) and is_nest(b):
            return a
        return Value(Kind.UNKNOWN, maybe_unbound=unbound)
    if kind is Kind.PYTHON:
        return _join_python(a, b, unbound)
    if kind in (Kind.TENSOR, Kind.VARIABLE, Kind.TENSORARRAY):
        dtype = a.dtype if a.dtype == b.dtype else None
        shape = join_shapes(a.shape, b.shape)
        return Value(
            kind, dtype=dtype, shape=shape, eager=a.eager and b.eager, ragged=a.ragged if a.ragged == b.ragged else None, maybe_unbound=unbound,
            origin=a.origin if a.origin is b.origin else None, why=a.why or b.why, pytype=a.pytype if a.pytype == b.pytype else None,
        )  # fmt: skip
    if kind in (Kind.DATASET, Kind.ITERATOR):
        element = join(a.element, b.element) if a.element is not None and b.element is not None else None
        return Value(kind, element=element, maybe_unbound=unbound, why=a.why or b.why)
    if kind is Kind.INSTANCE and a.ref == b.ref and a.items is not b.items:
        a = replace(a, items=_join_fields(a.items, b.items))
    if a.ref == b.ref and a.traced == b.traced and (a.bound is b.bound or kind is not Kind.FUNCTION):
        return replace(a, maybe_unbound=unbound, origin=a.origin if a.origin is b.origin else None)
    return Value(Kind.UNKNOWN, maybe_unbound=unbound)


def _join_python(a: Value, b: Value, unbound: bool) -> Value:
    if a.pytype != b.pytype:
        return (
            Value(Kind.PYTHON, maybe_unbound=unbound, why=a.why or b.why)
            if "NoneType" not in (a.pytype, b.pytype)
            else Value(Kind.UNKNOWN, maybe_unbound=unbound)
        )
    const = a.const if a.const is not MISSING and b.const is not MISSING and type(a.const) is type(b.const) and a.const == b.const else MISSING
    elements = element = items = None
    if a.elements is not None and b.elements is not None and len(a.elements) == len(b.elements):
        elements = tuple(join(x, y) for x, y in zip(a.elements, b.elements, strict=True))
    elif (left := any_element(a)) is not None and (right := any_element(b)) is not None:
        element = join(left, right)
    elif _is_empty(a):
        element = any_element(b)
    elif _is_empty(b):
        element = any_element(a)
    if a.items is not None and b.items is not None and [k for k, _ in a.items] == [k for k, _ in b.items]:
        items = tuple((k, join(x, y)) for (k, x), (_, y) in zip(a.items, b.items, strict=True))
    return Value(
        Kind.PYTHON, pytype=a.pytype, const=const, dtype=a.dtype if a.dtype == b.dtype else None, shape=join_shapes(a.shape, b.shape), elements=elements,
        element=element, items=items, maybe_unbound=unbound, origin=a.origin if a.origin is b.origin else None, why=a.why or b.why,
    )  # fmt: skip


def _join_fields(a: tuple[tuple[Any, Value], ...] | None, b: tuple[tuple[Any, Value], ...] | None) -> tuple[tuple[Any, Value], ...] | None:
    if a is None or b is None or [k for k, _ in a] != [k for k, _ in b]:
        return None
    return tuple((k, join(x, y)) for (k, x), (_, y) in zip(a, b, strict=True))


def _is_empty(v: Value) -> bool:
    return v.elements == () or v.items == ()


def any_element(v: Value) -> Value | None:
    """The join of everything a container holds; None when unknown."""
    if v.element is not None:
        return v.element
    members = v.elements if v.elements is not None else tuple(x for _, x in v.items) if v.items is not None else None
    if not members:
        return None
    found = members[0]
    for other in members[1:]:
        found = join(found, other)
    return found


def join_shapes(a: Shape | None, b: Shape | None) -> Shape | None:
    if a is None or b is None or len(a) != len(b):
        return None
    return tuple(x if x is y or x == y else ANY_DIM for x, y in zip(a, b, strict=True))


def same(a: Value, b: Value) -> bool:
    """Whether two values say the same (reasons aside): the test for a loop's fixpoint."""
    if a is b:
        return True
    if (
        a.kind is not b.kind or a.pytype != b.pytype or a.dtype != b.dtype or a.shape != b.shape or a.ref != b.ref or a.eager != b.eager
        or a.maybe_unbound != b.maybe_unbound
        or type(a.const) is not type(b.const) or a.const != b.const or a.origin is not b.origin or a.traced != b.traced
    ):  # fmt: skip
        return False
    if (a.elements is None) != (b.elements is None) or (a.element is None) != (b.element is None) or (a.items is None) != (b.items is None):
        return False
    if a.elements is not None and b.elements is not None:
        if len(a.elements) != len(b.elements) or not all(same(x, y) for x, y in zip(a.elements, b.elements, strict=True)):
            return False
    if a.items is not None and b.items is not None:
        if len(a.items) != len(b.items) or not all(k == m and same(x, y) for (k, x), (m, y) in zip(a.items, b.items, strict=True)):
            return False
    return a.element is None or b.element is None or same(a.element, b.element)


def join_states(a: State | None, b: State | None) -> State | None:
    """Join two states at a meeting point; None is an unreachable state."""
    if a is None:
        return b
    if b is None:
        return a
    out: State = {}
    for name, value in a.items():
        other = b.get(name)
        out[name] = value if other is value else join(value, other if other is not None else UNBOUND if "." not in name and "[" not in name else UNKNOWN)
    for name, value in b.items():
        if name not in a:
            if "." not in name and "[" not in name:
                out[name] = join(value, UNBOUND)
            else:
                out[name] = UNKNOWN
    return out


def same_states(a: Mapping[str, Value], b: Mapping[str, Value]) -> bool:
    if len(a) != len(b):
        return False
    for name, value in a.items():
        other = b.get(name)
        if other is None or not same(value, other):
            return False
    return True


def nest(tensor: Value) -> Value:
    """A tensor or a structure (tuple, dict, dataclass) of tensors: which of the two is not known."""
    return Value(Kind.UNKNOWN, element=tensor, why=tensor.why)


def is_nest(v: Value) -> bool:
    return v.kind is Kind.UNKNOWN and v.element is not None


def staged(value: Value, reason: Reason | None) -> Value:
    """What a value is after graph control flow has carried it: Python numbers and strings become tensors, containers keep their structure."""
    if value.kind is Kind.PYTHON:
        if value.pytype in TENSORABLE:
            return Value(Kind.TENSOR, dtype=TENSORABLE[value.pytype], shape=(), why=reason)
        if value.pytype in ("npscalar", "ndarray"):
            return Value(Kind.TENSOR, dtype=value.dtype, shape=value.shape, why=reason)
        if value.elements is not None:
            const = value.const if value.pytype == "namedtuple" else MISSING
            return replace(value, elements=tuple(staged(v, reason) for v in value.elements), const=const)
        if value.items is not None:
            return replace(value, items=tuple((k, staged(v, reason)) for k, v in value.items), const=MISSING)
        return value
    if value.kind is Kind.TENSOR and value.eager:
        return replace(value, eager=False)
    return value


def branch_join(a: Value, b: Value, reason: Reason | None) -> Value:
    """The value of a name after a graph conditional whose branches give `a` and `b`."""
    if a.kind is Kind.UNBOUND or b.kind is Kind.UNBOUND:
        return join(a, b)
    left, right = staged(a, reason), staged(b, reason)
    joined = join(left, right)
    if joined.kind is Kind.UNKNOWN and {left.kind, right.kind} & {Kind.TENSOR} and not (left.is_none or right.is_none):
        # A conditional that traces returns tensors wherever one branch does; an unknown partner cannot change that.
        other = right if left.kind is Kind.TENSOR else left
        if other.kind is Kind.UNKNOWN and not is_nest(other):
            return Value(Kind.UNKNOWN, maybe_unbound=a.maybe_unbound or b.maybe_unbound)
    return joined


def broadcast(a: Shape | None, b: Shape | None) -> Shape | None:
    """The shape of an elementwise operation; None when unknown."""
    if a is None or b is None:
        return None
    if len(a) < len(b):
        a, b = b, a
    out: list[Dim] = list(a)
    shift = len(a) - len(b)
    for k, dim in enumerate(b):
        other = out[shift + k]
        if other == dim and other is not ANY_DIM:
            continue
        if dim == 1:
            continue
        if other == 1:
            out[shift + k] = dim
        elif isinstance(other, int) and not isinstance(dim, int):
            continue
        elif isinstance(dim, int) and not isinstance(other, int):
            out[shift + k] = dim
        else:
            out[shift + k] = ANY_DIM
    return tuple(out)
