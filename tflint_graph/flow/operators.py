"""Values of operators on abstract values: arithmetic, comparison, indexing."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import libcst as cst

from tflint_graph.flow.lattice import any_element, broadcast, is_nest, nest
from tflint_graph.flow.values import ANY_DIM, MISSING, NONE, PYTHON, UNKNOWN, Dim, Kind, Shape, Value

BOOL = Value(Kind.PYTHON, pytype="bool")
INT = Value(Kind.PYTHON, pytype="int")
FLOAT = Value(Kind.PYTHON, pytype="float")
STR = Value(Kind.PYTHON, pytype="str")
TRUE = Value(Kind.PYTHON, pytype="bool", const=True)
FALSE = Value(Kind.PYTHON, pytype="bool", const=False)
TENSOR = Value(Kind.TENSOR)

NUMBERS = frozenset({"int", "float", "bool", "complex"})
INTEGRAL = frozenset({"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"})

_ARITHMETIC: dict[type, Callable[[Any, Any], Any]] = {
    cst.Add: operator.add, cst.Subtract: operator.sub, cst.Multiply: operator.mul, cst.Divide: operator.truediv, cst.FloorDivide: operator.floordiv,
    cst.Modulo: operator.mod,
    cst.AddAssign: operator.add, cst.SubtractAssign: operator.sub, cst.MultiplyAssign: operator.mul, cst.DivideAssign: operator.truediv,
    cst.FloorDivideAssign: operator.floordiv, cst.ModuloAssign: operator.mod,
}  # fmt: skip
DUNDERS: dict[type, str] = {
    cst.Add: "__add__", cst.Subtract: "__sub__", cst.Multiply: "__mul__", cst.Divide: "__truediv__", cst.FloorDivide: "__floordiv__", cst.Modulo: "__mod__",
    cst.MatrixMultiply: "__matmul__", cst.Power: "__pow__", cst.BitAnd: "__and__", cst.BitOr: "__or__",
}  # fmt: skip
_DIVIDE = (cst.Divide, cst.DivideAssign)
_MATMUL = (cst.MatrixMultiply, cst.MatrixMultiplyAssign)
_ADD = (cst.Add, cst.AddAssign)
_MULTIPLY = (cst.Multiply, cst.MultiplyAssign)
_MODULO = (cst.Modulo, cst.ModuloAssign)
_COMPARISONS: dict[type, Callable[[Any, Any], Any]] = {
    cst.Equal: operator.eq, cst.NotEqual: operator.ne, cst.LessThan: operator.lt, cst.LessThanEqual: operator.le,
    cst.GreaterThan: operator.gt, cst.GreaterThanEqual: operator.ge,
}  # fmt: skip


def constant(value: Any) -> Value:
    """The value of a Python constant."""
    if value is None:
        return NONE
    return Value(Kind.PYTHON, pytype=type(value).__name__, const=value)


def truth(v: Value) -> bool | None:
    """Whether a value is certainly true or certainly false as a Python condition; None when it is not known."""
    if v.const is not MISSING:
        return bool(v.const)
    if v.kind is Kind.PYTHON:
        if v.pytype in ("list", "tuple", "set", "dict") and (v.elements is not None or v.items is not None):
            return bool(v.elements if v.elements is not None else v.items)
        return None
    if v.kind in (Kind.FUNCTION, Kind.CLASS, Kind.MODULE, Kind.DATASET, Kind.TENSORARRAY):
        return True if v.kind is not Kind.DATASET else None
    return None


def is_tensorlike(v: Value) -> bool:
    """An operand that makes an arithmetic result a tensor."""
    return v.kind is Kind.TENSOR or v.kind is Kind.VARIABLE or is_nest(v)


def binary(op: cst.CSTNode, a: Value, b: Value, *, eager: bool) -> Value:
    """`a op b`."""
    kind = type(op)
    if is_tensorlike(a) or is_tensorlike(b):
        return _tensor_binary(kind, a, b, eager=eager)
    if a.kind is Kind.PYTHON and b.kind is Kind.PYTHON:
        return _python_binary(kind, a, b)
    return UNKNOWN


def _tensor_binary(kind: type, a: Value, b: Value, *, eager: bool) -> Value:
    if kind in _MODULO and a.kind is Kind.PYTHON and a.pytype in ("str", "bytes"):
        return STR
    if (is_nest(a) and b.is_container) or (is_nest(b) and a.is_container):
        return UNKNOWN  # two lists, joined
    if (kind in _ADD and (is_nest(a) or is_nest(b)) and not (a.is_staged or b.is_staged or a.pytype in NUMBERS or b.pytype in NUMBERS)) or (
        kind in _MULTIPLY and ((is_nest(a) and b.pytype == "int") or (is_nest(b) and a.pytype == "int"))
    ):
        return a if is_nest(a) else b  # lists may be joined and repeated
    if (a.kind is Kind.PYTHON and a.pytype in ("TensorShape",)) or (b.kind is Kind.PYTHON and b.pytype in ("TensorShape",)):
        return UNKNOWN
    if (a.kind in (Kind.INSTANCE, Kind.FUNCTION) and not is_tensorlike(a)) or (b.kind in (Kind.INSTANCE, Kind.FUNCTION) and not is_tensorlike(b)):
        return UNKNOWN
    dtype = binary_dtype(kind, a, b)
    shape = None if kind in _MATMUL else broadcast(operand_shape(a), operand_shape(b))
    symbolic = [v for v in (a, b) if is_tensorlike(v)]
    eager = eager and all(v.eager or v.kind is Kind.VARIABLE for v in symbolic) and not any(is_nest(v) for v in symbolic)
    ragged = a.ragged if a.kind is Kind.TENSOR and a.ragged else b.ragged if b.kind is Kind.TENSOR else None
    why = next((v.why for v in symbolic if v.why is not None), None)
    return Value(Kind.TENSOR, dtype=dtype, shape=shape, eager=eager, ragged=ragged, why=why)


def operand_shape(v: Value) -> Shape | None:
    """The shape an operand brings to an elementwise operation."""
    if v.kind in (Kind.TENSOR, Kind.VARIABLE):
        return v.shape
    if v.kind is Kind.PYTHON:
        if v.pytype in NUMBERS or v.pytype == "npscalar":
            return ()
        if v.pytype == "ndarray":
            return v.shape
        if v.elements is not None and v.pytype in ("list", "tuple"):
            inner = operand_shape(v.elements[0]) if v.elements else ()
            return None if inner is None else (len(v.elements), *inner)
    return None


def binary_dtype(kind: type, a: Value, b: Value) -> str | None:
    """The dtype of an arithmetic result: TensorFlow converts a Python operand to the tensor's dtype and promotes nothing."""
    left = a.dtype if a.kind in (Kind.TENSOR, Kind.VARIABLE) else None
    right = b.dtype if b.kind in (Kind.TENSOR, Kind.VARIABLE) else None
    dtype = left or right
    if left is not None and right is not None and left != right:
        return None
    if is_tensorlike(a) and is_tensorlike(b) and (left is None or right is None):
        dtype = left or right  # both must agree, or the operation fails
        if is_nest(a) or is_nest(b):
            dtype = None
    if dtype is not None and kind in _DIVIDE and dtype in INTEGRAL:
        return "float64" if dtype in ("int32", "int64", "uint32", "uint64") else "float32"
    return dtype


def _python_binary(kind: type, a: Value, b: Value) -> Value:
    fold = _ARITHMETIC.get(kind)
    if kind is cst.Power and isinstance(a.const, int) and isinstance(b.const, int) and abs(a.const) <= 1024 and 0 <= b.const <= 64:
        return constant(a.const**b.const)
    if fold is not None and a.const is not MISSING and b.const is not MISSING and a.pytype in NUMBERS and b.pytype in NUMBERS:
        try:
            return constant(fold(a.const, b.const))
        except (ArithmeticError, TypeError, ValueError):
            return UNKNOWN
    if a.pytype in NUMBERS and b.pytype in NUMBERS:
        if "complex" in (a.pytype, b.pytype):
            return Value(Kind.PYTHON, pytype="complex")
        return FLOAT if kind in _DIVIDE or "float" in (a.pytype, b.pytype) else INT
    if "ndarray" in (a.pytype, b.pytype) or "npscalar" in (a.pytype, b.pytype):
        other = b if a.pytype in ("ndarray", "npscalar") else a
        if other.contains_tensor():
            return TENSOR
        return Value(Kind.PYTHON, pytype="ndarray" if "ndarray" in (a.pytype, b.pytype) else "npscalar")
    if a.pytype == "str" and kind in (*_ADD, *_MODULO, *_MULTIPLY):
        if kind in _ADD and a.has_const and b.has_const and b.pytype == "str":
            return constant(a.const + b.const)
        return STR
    if kind in _ADD and a.pytype == b.pytype and a.pytype in ("list", "tuple"):
        if a.elements is not None and b.elements is not None:
            return Value(Kind.PYTHON, pytype=a.pytype, elements=a.elements + b.elements)
        left, right = any_element(a), any_element(b)
        return Value(Kind.PYTHON, pytype=a.pytype, element=left if left is not None and left is right else None)
    if kind in _MULTIPLY and "list" in (a.pytype, b.pytype):
        items, count = (a, b) if a.pytype == "list" else (b, a)
        if items.elements is not None and isinstance(count.const, int) and 0 <= count.const * len(items.elements) <= 64:
            return Value(Kind.PYTHON, pytype="list", elements=items.elements * count.const)
        return Value(Kind.PYTHON, pytype="list", element=any_element(items))
    if kind in _ADD and "TensorShape" in (a.pytype, b.pytype):
        front, back = _dims(a), _dims(b)
        return Value(Kind.PYTHON, pytype="TensorShape", shape=front + back if front is not None and back is not None else None, why=a.why or b.why)
    return PYTHON


def _dims(v: Value) -> Shape | None:
    """The dimensions that a TensorShape, or a list of numbers, stands for."""
    if v.pytype == "TensorShape":
        return v.shape
    if v.elements is None:
        return None
    return tuple(e.const if isinstance(e.const, int) else None if e.is_none else ANY_DIM for e in v.elements)


def unary(op: cst.CSTNode, v: Value) -> Value:
    """`-v`, `+v`, `~v` (`not` is decided by the interpreter)."""
    if is_tensorlike(v):
        return Value(Kind.TENSOR, dtype=v.dtype, shape=v.shape if not is_nest(v) else None, eager=v.eager, ragged=v.ragged, why=v.why)
    if v.kind is Kind.PYTHON:
        if v.has_const and v.pytype in ("int", "float", "bool"):
            if isinstance(op, cst.Minus):
                return constant(-v.const)
            if isinstance(op, cst.Plus):
                return constant(+v.const)
        return Value(Kind.PYTHON, pytype=v.pytype if v.pytype != "bool" else "int", dtype=v.dtype, shape=v.shape)
    return UNKNOWN


def never_none(v: Value) -> bool:
    """Certainly not None."""
    if v.kind is Kind.PYTHON:
        return v.pytype is not None and v.pytype != "NoneType"
    return v.kind not in (Kind.UNKNOWN, Kind.UNBOUND) or is_nest(v)


def compare(op: cst.CSTNode, a: Value, b: Value, *, eager: bool) -> Value:
    """`a op b` for one comparison operator."""
    if isinstance(op, (cst.Is, cst.IsNot)):
        return _identity(isinstance(op, cst.IsNot), a, b)
    if isinstance(op, (cst.In, cst.NotIn)):
        return BOOL if not (a.is_unknown or b.is_unknown) else UNKNOWN if b.kind in (Kind.UNKNOWN, Kind.INSTANCE) else BOOL
    fold = _COMPARISONS.get(type(op))
    if isinstance(op, (cst.Equal, cst.NotEqual)) and (a.is_none or b.is_none) and (never_none(a) or never_none(b)) and not (a.is_none and b.is_none):
        return FALSE if isinstance(op, cst.Equal) else TRUE
    if is_tensorlike(a) or is_tensorlike(b):
        if isinstance(op, (cst.Equal, cst.NotEqual)) and _may_be_structure(a, b):
            return UNKNOWN
        for v in (a, b):
            if v.kind in (Kind.INSTANCE, Kind.FUNCTION, Kind.CLASS, Kind.MODULE) or (
                v.kind is Kind.PYTHON and v.pytype in ("DType", "TensorShape", "dict", "set")
            ):
                return BOOL
            if v.kind is Kind.PYTHON and v.pytype == "str" and any(o.kind is Kind.TENSOR and o.dtype not in (None, "string") for o in (a, b)):
                return BOOL
        eager = eager and all(v.eager for v in (a, b) if v.kind is Kind.TENSOR) and not is_nest(a) and not is_nest(b)
        why = next((v.why for v in (a, b) if is_tensorlike(v) and v.why is not None), None)
        return Value(Kind.TENSOR, dtype="bool", shape=broadcast(operand_shape(a), operand_shape(b)), eager=eager, why=why)
    if a.kind is Kind.PYTHON and b.kind is Kind.PYTHON:
        if fold is not None and a.const is not MISSING and b.const is not MISSING:
            try:
                return constant(bool(fold(a.const, b.const)))
            except TypeError:
                return BOOL
        if "ndarray" in (a.pytype, b.pytype):
            return Value(Kind.PYTHON, pytype="ndarray", dtype="bool")
        return BOOL
    if (a.kind in (Kind.PYTHON,) and a.pytype in ("DType", "TensorShape")) or (b.kind in (Kind.PYTHON,) and b.pytype in ("DType", "TensorShape")):
        return BOOL
    return UNKNOWN


def _may_be_structure(a: Value, b: Value) -> bool:
    """A comparison for equality in which the structure of tensors may be a plain Python value: a key, a list, a dict."""
    return any(is_nest(left) and not right.is_staged and not (right.kind is Kind.PYTHON and right.pytype in NUMBERS) for left, right in ((a, b), (b, a)))


def _identity(negated: bool, a: Value, b: Value) -> Value:
    for left, right in ((a, b), (b, a)):
        if right.is_none:
            if left.is_none:
                return FALSE if negated else TRUE
            if never_none(left) and not left.maybe_unbound:
                return TRUE if negated else FALSE
    if a.const is not MISSING and b.const is not MISSING and a.pytype == b.pytype == "bool":
        return constant((a.const is b.const) is not negated)
    return BOOL


def element_of(v: Value) -> Value:
    """What a loop over `v` yields."""
    if v.kind is Kind.TENSOR or v.kind is Kind.VARIABLE:
        shape = v.shape[1:] if v.shape else None
        return Value(Kind.TENSOR, dtype=v.dtype, shape=shape, eager=v.eager, why=v.why)
    if v.kind in (Kind.DATASET, Kind.ITERATOR):
        return v.element if v.element is not None else nest(Value(Kind.TENSOR, why=v.why))
    if is_nest(v):
        return UNKNOWN  # a dict yields its keys
    if v.kind is Kind.PYTHON:
        if v.pytype == "range":
            return INT
        if v.pytype in ("dict", "OrderedDict", "defaultdict", "Counter"):
            return STR if v.items and all(isinstance(k, str) for k, _ in v.items) else UNKNOWN
        if v.pytype in ("str",):
            return STR
        if v.pytype == "TensorShape":
            return dimension(ANY_DIM)
        if v.pytype == "ndarray":
            if v.shape is not None and len(v.shape) == 1:
                return Value(Kind.PYTHON, pytype="npscalar", dtype=v.dtype)
            return Value(Kind.PYTHON, dtype=v.dtype)
        found = any_element(v)
        return found if found is not None else UNKNOWN
    return UNKNOWN


def dimension(dim: Dim) -> Value:
    """The Python value of one entry of a static shape."""
    if dim is None:
        return replace(NONE, dtype="unknown-dimension")
    if dim is ANY_DIM:
        return Value(Kind.PYTHON, pytype=None)
    return constant(dim)


def shape_elements(shape: Shape | None) -> tuple[Value, ...] | None:
    return None if shape is None else tuple(dimension(d) for d in shape)


def subscript(base: Value, items: Sequence[cst.BaseSlice], indices: Sequence[Value | None]) -> Value:
    """`base[...]`; `indices` holds the value of each plain index and None for a slice."""
    if base.kind is Kind.TENSOR or base.kind is Kind.VARIABLE:
        shape = _index_shape(base.shape, items, indices) if base.ragged is None else None
        return Value(Kind.TENSOR, dtype=base.dtype, shape=shape, eager=base.eager and not any(v is not None and v.is_symbolic for v in indices), why=base.why)
    if is_nest(base):
        return base
    if base.kind is not Kind.PYTHON:
        return UNKNOWN
    single = indices[0] if len(indices) == 1 else None
    if base.pytype in ("ndarray", "npscalar"):
        return Value(Kind.PYTHON, dtype=base.dtype) if all(v is None or v.is_python for v in indices) else UNKNOWN
    if base.pytype == "TensorShape":
        return _shape_item(base, items, single)
    if base.pytype == "str":
        return STR
    if base.items is not None and single is not None and single.const is not MISSING:
        for key, value in base.items:
            if key == single.const:
                return value
        return UNKNOWN
    if base.elements is not None:
        if single is not None and isinstance(single.const, int) and -len(base.elements) <= single.const < len(base.elements):
            return base.elements[single.const]
        if single is None and len(items) == 1 and isinstance(items[0], cst.Slice):
            picked = _constant_slice(items[0])
            if picked is not None:
                return replace(base, elements=base.elements[picked], why=base.why)
            found = any_element(base)
            return Value(Kind.PYTHON, pytype=base.pytype, element=found)
    if single is None and base.pytype in ("list", "tuple"):
        return Value(Kind.PYTHON, pytype=base.pytype, element=any_element(base))
    found = any_element(base)
    return found if found is not None else UNKNOWN


def _constant_slice(node: cst.Slice) -> slice | None:
    bounds: list[int | None] = []
    for part in (node.lower, node.upper, node.step):
        number = literal_int(part)
        if part is not None and number is None:
            return None
        bounds.append(number)
    return slice(*bounds)


def literal_int(node: cst.CSTNode | None) -> int | None:
    """The int that a literal (or its negation) spells."""
    if isinstance(node, cst.Integer):
        return node.evaluated_value
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Minus) and isinstance(node.expression, cst.Integer):
        return -node.expression.evaluated_value
    return None


def _shape_item(base: Value, items: Sequence[cst.BaseSlice], single: Value | None) -> Value:
    if len(items) == 1 and isinstance(items[0], cst.Slice):
        picked = _constant_slice(items[0])
        shape = base.shape[picked] if picked is not None and base.shape is not None else None
        return Value(Kind.PYTHON, pytype="TensorShape", shape=shape)
    if base.shape is not None and single is not None and isinstance(single.const, int) and -len(base.shape) <= single.const < len(base.shape):
        return replace(dimension(base.shape[single.const]), why=base.why)
    return PYTHON


def _index_shape(shape: Shape | None, items: Sequence[cst.BaseSlice], indices: Sequence[Value | None]) -> Shape | None:
    if shape is None:
        return None
    out: list[Dim] = []
    position = 0
    for item, index in zip(items, indices, strict=True):
        if isinstance(item, cst.Slice):
            if position >= len(shape):
                return None
            out.append(shape[position] if item.lower is None and item.upper is None and item.step is None else _sliced(shape[position], item))
            position += 1
        elif index is None:
            return None
        elif index.is_none:
            out.append(1)
        elif isinstance(item, cst.Index) and isinstance(item.value, cst.Ellipsis):
            rest = len(items) - 1 - next(k for k, i in enumerate(items) if i is item)
            take = len(shape) - position - rest
            if take < 0:
                return None
            out.extend(shape[position : position + take])
            position += take
        elif (index.kind is Kind.PYTHON and index.pytype in ("int", "npscalar")) or (index.is_tensor and index.shape == () and index.dtype != "bool"):
            if position >= len(shape):
                return None
            position += 1
        else:
            return None
    out.extend(shape[position:])
    return tuple(out)


def _sliced(dim: Dim, item: cst.Slice) -> Dim:
    picked = _constant_slice(item)
    if dim is None:
        return None
    if picked is None or not isinstance(dim, int):
        return ANY_DIM
    return len(range(*picked.indices(dim)))
