"""Shapes and dtypes of joined tensors and of arrays made from scratch, where they follow from literals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tflint_graph.flow.operators import operand_shape
from tflint_graph.flow.results import Arguments, dtype_argument, dtype_of, shape_argument, shown
from tflint_graph.flow.values import ANY_DIM, Dim, Kind, Shape, Value
from tflint_graph.knowledge.api import lookup

if TYPE_CHECKING:
    from tflint_graph.flow.calls import Bound, Calls

# NumPy's own defaults: float64 for arrays made of nothing, int64 for whole numbers (on 64-bit systems, NumPy 2 everywhere).
ARRAY_MAKERS = frozenset(
    {"numpy.zeros", "numpy.ones", "numpy.empty", "numpy.array", "numpy.asarray", "numpy.arange", "numpy.linspace", "numpy.eye", "numpy.full"}
)
_FLOAT64 = frozenset({"numpy.zeros", "numpy.ones", "numpy.empty", "numpy.linspace", "numpy.eye"})
_OF_SHAPE = frozenset({"numpy.zeros", "numpy.ones", "numpy.empty", "numpy.full"})
_NUMPY_DTYPE = {"int32": "int64", "float32": "float64"}


def joined_tensors(self: Calls, dotted: str, bound: Bound, node: cst.CSTNode) -> Value | None:
    """tf.concat and tf.stack of a list whose members are known; None when nothing is."""
    api = lookup(dotted)
    values = bound.args[0] if bound.args else bound.kwargs.get("values")
    if api is None or values is None or not values.is_python or not values.elements or any(v.ragged for v in values.elements):
        return None
    axis = Arguments(api, bound.args, bound.kwargs).named("axis")
    at = axis.const if axis is not None and isinstance(axis.const, int) else 0 if axis is None else None
    shapes = [operand_shape(v) for v in values.elements]
    known = [s for s in shapes if s is not None]
    shape: Shape | None = None
    if at is not None and len(known) == len(shapes) and len({len(s) for s in known}) == 1:
        shape = _concatenated(known, at) if dotted == "tensorflow.concat" else _stacked(known, at)
    tensors = [v for v in values.elements if v.is_staged]
    dtypes = {v.dtype for v in tensors} if tensors else {dtype_of(v) for v in values.elements}
    dtype = dtypes.pop() if len(dtypes) == 1 else None
    return Value(Kind.TENSOR, dtype=dtype, shape=shape, eager=self.scope.eager, why=self.reason(f"result of {shown(dotted)}", node))


def picked(self: Calls, dotted: str, bound: Bound, node: cst.CSTNode) -> Value | None:
    """tf.boolean_mask and tf.where of one argument: as many rows as the data say, so the first dimension is unknown to TensorFlow too."""
    api = lookup(dotted)
    if api is None or len(bound.args) + len(bound.kwargs) > 2 or bound.has_star:
        return None
    why = self.reason(f"result of {shown(dotted)}", node)
    first = bound.args[0] if bound.args else None
    if first is None or first.ragged or not first.is_staged or self.scope.eager:
        return None
    if dotted == "tensorflow.where":
        rank = len(first.shape) if first.shape is not None else ANY_DIM
        return Value(Kind.TENSOR, dtype="int64", shape=(None, rank), why=why) if len(bound.args) == 1 and not bound.kwargs else None
    mask = bound.args[1] if len(bound.args) > 1 else bound.kwargs.get("mask")
    shape = operand_shape(mask) if mask is not None else None
    if shape is None or first.shape is None or not 0 < len(shape) <= len(first.shape):
        return None
    return Value(Kind.TENSOR, dtype=first.dtype, shape=(None, *first.shape[len(shape) :]), why=why)


def parted(self: Calls, dotted: str, bound: Bound, node: cst.CSTNode) -> Value | None:
    """tf.unstack and tf.split where the number of parts is known; None when it is not."""
    api = lookup(dotted)
    value = bound.args[0] if bound.args else bound.kwargs.get("value")
    if api is None or value is None or not value.is_staged or value.ragged:
        return None
    arguments = Arguments(api, bound.args, bound.kwargs)
    axis = arguments.named("axis")
    at = axis.const if axis is not None and isinstance(axis.const, int) else 0 if axis is None else None
    number = arguments.named("num" if dotted == "tensorflow.unstack" else "num_or_size_splits")
    shape = value.shape
    count = (
        number.const
        if number is not None and isinstance(number.const, int)
        else len(number.elements)
        if number is not None and number.elements is not None
        else None
    )
    inner: Shape | None = None
    if shape is not None and at is not None and -len(shape) <= at < len(shape):
        at %= len(shape)
        if dotted == "tensorflow.unstack":
            size = shape[at]
            count = count if count is not None else size if isinstance(size, int) else None
            inner = shape[:at] + shape[at + 1 :]
        else:
            inner = (*shape[:at], ANY_DIM, *shape[at + 1 :])
    if count is None or not 0 <= count <= 64:
        return None
    why = self.reason(f"part of {shown(dotted)}", node, value.why)
    part = Value(Kind.TENSOR, dtype=value.dtype, shape=inner, eager=self.scope.eager, why=why)
    return Value(Kind.PYTHON, pytype="list", elements=(part,) * count, origin=node)


def _concatenated(shapes: list[Shape], axis: int) -> Shape | None:
    rank = len(shapes[0])
    if rank == 0 or not -rank <= axis < rank:
        return None
    axis %= rank
    sizes: list[Dim] = [s[axis] for s in shapes]
    total: Dim = (
        sum(s for s in sizes if isinstance(s, int))
        if all(isinstance(s, int) for s in sizes)
        else None
        if all(s is None or isinstance(s, int) for s in sizes)
        else ANY_DIM
    )
    return tuple(total if k == axis else _agreed([s[k] for s in shapes]) for k in range(rank))


def _stacked(shapes: list[Shape], axis: int) -> Shape | None:
    rank = len(shapes[0]) + 1
    if not -rank <= axis < rank:
        return None
    common = [_agreed([s[k] for s in shapes]) for k in range(rank - 1)]
    common.insert(axis % rank, len(shapes))
    return tuple(common)


def _agreed(dims: list[Dim]) -> Dim:
    known = [d for d in dims if isinstance(d, int)]
    return known[0] if known else dims[0] if all(d is dims[0] for d in dims) else ANY_DIM


def made_array(dotted: str, bound: Bound, node: cst.CSTNode) -> Value | None:
    """An ndarray with the dtype and shape that its maker gives it; None for arrays of tensors (an error of its own)."""
    first = bound.args[0] if bound.args else bound.kwargs.get("shape", bound.kwargs.get("object"))
    if first is None or first.contains_tensor() or first.is_unknown:
        return None
    named = bound.kwargs.get("dtype")
    if named is None and dotted in ("numpy.zeros", "numpy.ones", "numpy.empty", "numpy.array", "numpy.asarray") and len(bound.args) > 1:
        named = bound.args[1]
    dtype: str | None
    if named is not None:
        dtype = {"float": "float64", "int": "int64"}.get(str(named.ref).removeprefix("builtins."), dtype_argument(named))
    elif dotted in _FLOAT64:
        dtype = "float64"
    else:
        source = bound.args[1] if dotted == "numpy.full" and len(bound.args) > 1 else first
        found = dtype_of(source)
        dtype = found if source.pytype in ("ndarray", "npscalar") else _NUMPY_DTYPE.get(found or "", found if found == "bool" else None)
    shape = (
        shape_argument(first)
        if dotted in _OF_SHAPE
        else (ANY_DIM,)
        if dotted in ("numpy.arange", "numpy.linspace")
        else None
        if dotted == "numpy.eye"
        else operand_shape(first)
    )
    return Value(Kind.PYTHON, pytype="ndarray", dtype=dtype, shape=shape, origin=node)
