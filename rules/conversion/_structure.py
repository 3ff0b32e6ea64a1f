"""When two values cannot be the same output of a graph conditional or loop: shared by the rules about types in staged code.

TensorFlow turns Python numbers, strings and NumPy values into tensors of a fixed dtype at such a place, and compares the nested structure, then the dtype of
each leaf (`tensorflow.python.autograph.operators.control_flow`: `_verify_tf_cond_vars`, `verify_tf_loop_vars`). A conditional does not compare shapes, a loop
does.
"""

from __future__ import annotations

from typing import Final

from tflint_graph.rule_api import ANY_DIM, Kind, Value

_PYTHON_DTYPES: Final = {"bool": "bool", "int": "int32", "float": "float32", "complex": "complex128", "str": "string", "bytes": "string"}
_SEQUENCES: Final = ("list", "tuple")
_INT32: Final = range(-(2**31), 2**31)


def staged_dtype(value: Value) -> str | None:
    """The dtype of the tensor that TensorFlow makes of a value; None if unknown or no tensor."""
    if value.kind in (Kind.TENSOR, Kind.VARIABLE):
        return value.dtype
    if not value.is_python:
        return None
    if value.pytype == "int" and value.has_const and value.const not in _INT32:
        return "int64"
    if value.pytype in ("ndarray", "npscalar"):
        return value.dtype
    return _PYTHON_DTYPES.get(value.pytype or "")


def is_leaf(value: Value) -> bool:
    """Certainly one tensor in the eyes of TensorFlow: no list, tuple or dict, no None."""
    return value.kind in (Kind.TENSOR, Kind.VARIABLE) or (value.is_python and (value.pytype in _PYTHON_DTYPES or value.pytype in ("ndarray", "npscalar")))


def difference(one: Value, other: Value) -> tuple[str, str] | None:
    """What sets two values apart, in words for each ("int32", "float32"); None where they may be outputs of the same branch or loop."""
    if one.maybe_unbound or other.maybe_unbound:
        return None
    if is_leaf(one) and is_leaf(other):
        return _leaves(one, other)
    if _structure(one) is None or _structure(other) is None:
        return None
    if _structure(one) != _structure(other):
        return _words(one), _words(other)
    return _parts(one, other)


def _leaves(one: Value, other: Value) -> tuple[str, str] | None:
    if one.ragged is not None and other.ragged is not None and one.ragged != other.ragged:
        return f"a {one.ragged} tensor", f"a {other.ragged} tensor"
    for ragged, dense in ((one, other), (other, one)):
        if ragged.ragged is not None and dense.ragged is None and (dense.is_python or dense.shape is not None):
            words = f"a {ragged.ragged} tensor", "a dense tensor"
            return words if ragged is one else (words[1], words[0])
    left, right = staged_dtype(one), staged_dtype(other)
    return (left, right) if left is not None and right is not None and left != right else None


def _structure(value: Value) -> str | None:
    """The kind of node a value is in a nested structure; None if unknown."""
    if is_leaf(value):
        return "leaf"
    if value.kind is Kind.TENSORARRAY:
        return "TensorArray"
    return value.pytype if value.is_python and value.pytype in ("list", "tuple", "dict") else None


def _words(value: Value) -> str:
    if is_leaf(value):
        return f"a tensor of dtype {staged_dtype(value)}" if staged_dtype(value) else "a tensor"
    if value.kind is Kind.TENSORARRAY:
        return "a TensorArray"
    return f"a {value.pytype}" if value.elements is None else f"a {value.pytype} of length {len(value.elements)}"


def _parts(one: Value, other: Value) -> tuple[str, str] | None:
    if one.pytype in _SEQUENCES:
        if one.elements is None or other.elements is None:
            return None
        if len(one.elements) != len(other.elements):
            return _words(one), _words(other)
        pairs = list(zip(one.elements, other.elements, strict=True))
    else:
        if one.items is None or other.items is None:
            return None  # also two TensorArrays
        left, right = dict(one.items), dict(other.items)
        if left.keys() != right.keys():
            return _keys(left), _keys(right)
        pairs = [(left[key], right[key]) for key in left]
    for ours, theirs in pairs:
        found = difference(ours, theirs)
        if found is not None:
            return f"a {one.pytype} holding {found[0]}", f"a {one.pytype} holding {found[1]}"
    return None


def _keys(items: dict[object, Value]) -> str:
    return f"a dict with the keys {', '.join(repr(key) for key in items)}" if items else "an empty dict"


def shape_grows(entry: Value, after: Value) -> tuple[str, str] | None:
    """The shapes before a loop and after one iteration, if TensorFlow refuses the second: it must be at least as specific as the first."""
    before, later = _shape(entry), _shape(after)
    if before is None or later is None or ANY_DIM in later:
        return None
    changed = len(before) != len(later) or any(ours is not ANY_DIM and ours is not None and ours != theirs for ours, theirs in zip(before, later, strict=True))
    return (_render(before), _render(later)) if changed else None


def _shape(value: Value) -> tuple[object, ...] | None:
    if value.is_python and value.pytype in _PYTHON_DTYPES:
        return ()
    return value.shape if value.ragged is None and is_leaf(value) else None


def _render(shape: tuple[object, ...]) -> str:
    dims = ", ".join("?" if dim is ANY_DIM else str(dim) for dim in shape)
    return f"({dims},)" if len(shape) == 1 else f"({dims})"


def none_inside(value: Value) -> bool:
    """None, or a list, tuple or dict that certainly holds None."""
    if value.is_none:
        return True
    parts = value.elements or tuple(part for _, part in value.items or ())
    return value.is_python and any(none_inside(part) for part in parts)
