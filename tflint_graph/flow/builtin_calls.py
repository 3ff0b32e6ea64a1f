"""Builtins (as AutoGraph converts them), and the few library calls whose result the tables cannot say: wrappers, specs, static tests."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import libcst as cst

from tflint_graph.flow import operators as ops
from tflint_graph.flow.array_calls import ARRAY_MAKERS, joined_tensors, made_array, parted, picked
from tflint_graph.flow.lattice import any_element, is_nest, join
from tflint_graph.flow.results import dtype_argument, dtype_of, shape_argument, structured
from tflint_graph.flow.values import ANY_DIM, MISSING, PYTHON, UNKNOWN, Kind, Value
from tflint_graph.index.model import FunctionId

if TYPE_CHECKING:
    from tflint_graph.flow.calls import Bound, Calls

_CONTAINER_BUILTINS = {"list", "tuple", "set", "dict", "frozenset", "sorted", "reversed"}
_WRAPPERS_KEEPING = frozenset({
    "tensorflow.autograph.experimental.do_not_convert", "tensorflow.recompute_grad", "tensorflow.autograph.to_graph", "functools.wraps", "functools.lru_cache",
    "functools.cache", "tensorflow.Module.with_name_scope", "tensorflow.custom_gradient", "numpy.vectorize",
})  # fmt: skip
_SPECS = {"tensorflow.TensorSpec": None, "tensorflow.RaggedTensorSpec": "ragged", "tensorflow.SparseTensorSpec": "sparse"}


def special_call(self: Calls, callee: Value, dotted: str, bound: Bound, node: cst.CSTNode) -> Value | None:
    """Calls that need more than a table row; None for all others."""
    args = bound.args
    if dotted == "functools.partial":
        if args and args[0].kind is Kind.FUNCTION:
            return replace(args[0], args=(*args[0].args, *args[1:]), kwargs=(*args[0].kwargs, *bound.kwargs.items()), origin=args[0].origin)
        return UNKNOWN
    if dotted == "tensorflow.function":
        function = args[0] if args else bound.kwargs.get("func")
        if function is None:
            return Value(Kind.FUNCTION, ref="tensorflow.function", kwargs=tuple(bound.kwargs.items()))
        signature = bound.kwargs.get("input_signature") or (args[1] if len(args) > 1 else None)
        if signature is not None and isinstance(function.ref, FunctionId):
            self.signatures[function.ref] = signature
        return replace(function, traced=True) if function.kind is Kind.FUNCTION else UNKNOWN
    if dotted in _WRAPPERS_KEEPING:
        if args and args[0].kind is Kind.FUNCTION and not args[0].traced:
            return args[0] if dotted not in ("numpy.vectorize", "tensorflow.custom_gradient") else UNKNOWN
        return None if dotted.startswith("functools") else UNKNOWN
    if dotted in ("tensorflow.is_tensor", "tensorflow.is_symbolic_tensor") and args:
        if args[0].kind in (Kind.TENSOR, Kind.VARIABLE):
            return ops.constant(dotted == "tensorflow.is_tensor" or args[0].is_symbolic)
        return ops.FALSE if args[0].is_python and args[0].pytype is not None else ops.BOOL
    if dotted == "tensorflow.executing_eagerly":
        return ops.constant(self.scope.eager)
    if dotted == "tensorflow.inside_function":
        return ops.constant(not self.scope.eager)
    if dotted in _SPECS:
        shape = shape_argument(args[0] if args else bound.kwargs.get("shape"))
        dtype = dtype_argument(args[1] if len(args) > 1 else bound.kwargs.get("dtype"))
        if dtype is None and len(args) < 2 and "dtype" not in bound.kwargs:
            dtype = "float32"
        const: Any = _SPECS[dotted]
        return Value(Kind.PYTHON, pytype="TensorSpec", dtype=dtype, shape=shape, const=MISSING if const is None else const)
    if dotted in ("tensorflow.constant", "tensorflow.convert_to_tensor", "tensorflow.Variable", "tensorflow.ragged.constant"):
        return _constant_call(self, dotted, bound, node)
    if dotted == "tensorflow.range":
        return _tf_range(self, bound, node)
    if dotted in ("tensor.get_shape", "variable.get_shape"):
        receiver = callee.bound
        return None if receiver is None else Value(Kind.PYTHON, pytype="TensorShape", shape=receiver.shape, why=receiver.why)
    if dotted in ("tensorflow.concat", "tensorflow.stack"):
        return joined_tensors(self, dotted, bound, node)
    if dotted in ("tensorflow.boolean_mask", "tensorflow.where"):
        return picked(self, dotted, bound, node)
    if dotted in ("tensorflow.unstack", "tensorflow.split"):
        return parted(self, dotted, bound, node)
    if dotted in ARRAY_MAKERS:
        return made_array(dotted, bound, node)
    if dotted == "types.SimpleNamespace":
        return Value(Kind.INSTANCE, ref=dotted, items=tuple(bound.kwargs.items()) if not bound.has_star else None, origin=node)
    if dotted == "collections.OrderedDict":
        return replace(_container("dict", bound, node), pytype="OrderedDict")
    if dotted in ("copy.copy", "copy.deepcopy") and args:
        return replace(args[0], origin=node) if args[0].is_container or args[0].kind is Kind.INSTANCE else args[0]
    if dotted == "functools.reduce" and len(args) > 1 and args[1].elements:
        folded = [*args[2:3], *args[1].elements]
        return functools.reduce(lambda a, b: self.call_function(args[0], [a, b], node), folded)
    if dotted == "tensorflow.nest.flatten" and args:
        leaves = flattened(args[0])
        return Value(Kind.PYTHON, pytype="list", elements=tuple(leaves), origin=node) if leaves is not None else None
    if dotted == "collections.namedtuple":
        names = _field_names(args[1]) if len(args) > 1 else None
        return Value(Kind.CLASS, ref=dotted, const=names) if names is not None else UNKNOWN
    if dotted in ("tensorflow.io.FixedLenFeature", "tensorflow.io.VarLenFeature"):
        return _feature(dotted, bound)
    if dotted in ("tensorflow.io.parse_single_example", "tensorflow.io.parse_example"):
        return _parsed_example(self, dotted, bound, node)
    if dotted == "tensorflow.TensorShape":
        return Value(Kind.PYTHON, pytype="TensorShape", shape=shape_argument(args[0]) if args else None)
    if dotted in ("tensorflow.get_static_value", "tensorflow.get_static_shape"):
        return UNKNOWN
    return None


def _constant_call(self: Calls, dotted: str, bound: Bound, node: cst.CSTNode) -> Value | None:
    """tf.constant and friends: dtype and shape come from the Python value."""
    args = bound.args
    value = args[0] if args else bound.kwargs.get("value", bound.kwargs.get("initial_value"))
    if value is None or bound.has_star:
        return None
    named = bound.kwargs.get("dtype")
    if named is None and len(args) > 1 and dotted != "tensorflow.Variable":
        named = args[1]
    dtype = dtype_argument(named) if named is not None and not named.is_none else dtype_of(value)
    shape = shape_argument(bound.kwargs["shape"]) if "shape" in bound.kwargs else ops.operand_shape(value)
    if value.kind is Kind.PYTHON and value.pytype in ("str", "bytes"):
        shape = () if "shape" not in bound.kwargs else shape
    why = self.reason(f"result of {dotted.replace('tensorflow', 'tf', 1)}", node)
    if dotted == "tensorflow.Variable":
        return Value(Kind.VARIABLE, dtype=dtype, shape=shape, origin=node, why=why)
    ragged = "ragged" if dotted == "tensorflow.ragged.constant" else value.ragged if value.is_tensor else None
    return Value(Kind.TENSOR, dtype=dtype, shape=None if ragged else shape, ragged=ragged, eager=self.scope.eager, why=why)


def flattened(v: Value) -> list[Value] | None:
    """The leaves of a structure in TensorFlow's order (dicts by sorted key); None when its structure is not known."""
    if v.kind is Kind.PYTHON and v.pytype in ("list", "tuple", "namedtuple", "dict", "OrderedDict", "defaultdict"):
        if v.elements is not None:
            members = list(v.elements)
        elif v.items is not None and all(isinstance(k, str) for k, _ in v.items):
            members = [member for _, member in sorted(v.items, key=lambda item: str(item[0]))]
        else:
            return None
        found: list[Value] = []
        for member in members:
            below = flattened(member)
            if below is None:
                return None
            found += below
        return found
    return [v] if v.kind is not Kind.UNKNOWN else None


def _field_names(v: Value) -> tuple[str, ...] | None:
    """The field names given to collections.namedtuple: a string or a sequence of strings."""
    if isinstance(v.const, str):
        return tuple(v.const.replace(",", " ").split())
    if v.elements is not None and all(isinstance(e.const, str) for e in v.elements):
        return tuple(str(e.const) for e in v.elements)
    return None


def _feature(dotted: str, bound: Bound) -> Value:
    """A feature of a tf.train.Example, with the tensor that parsing makes of it."""
    args = bound.args
    if dotted.endswith("VarLenFeature"):
        dtype = dtype_argument(args[0] if args else bound.kwargs.get("dtype"))
        return Value(Kind.PYTHON, pytype="TensorSpec", dtype=dtype, const="sparse")
    dtype = dtype_argument(args[1] if len(args) > 1 else bound.kwargs.get("dtype"))
    return Value(Kind.PYTHON, pytype="TensorSpec", dtype=dtype, shape=shape_argument(args[0] if args else bound.kwargs.get("shape")))


def _parsed_example(self: Calls, dotted: str, bound: Bound, node: cst.CSTNode) -> Value | None:
    """The dict of tensors that parsing with a literal dict of features gives."""
    features = bound.args[1] if len(bound.args) > 1 else bound.kwargs.get("features")
    if features is None or features.items is None:
        return None
    single = dotted.endswith("parse_single_example")
    why = self.reason(f"result of {dotted.replace('tensorflow', 'tf', 1)}", node)
    items: list[tuple[Any, Value]] = []
    for key, feature in features.items:
        if feature.pytype != "TensorSpec":
            items.append((key, UNKNOWN))
            continue
        tensor = structured(feature, why)
        items.append((key, tensor if single or tensor.shape is None else replace(tensor, shape=(ANY_DIM, *tensor.shape))))
    return Value(Kind.PYTHON, pytype="dict", items=tuple(items), origin=node)


def _tf_range(self: Calls, bound: Bound, node: cst.CSTNode) -> Value:
    """tf.range: its dtype is that of the widest argument, int32 for Python ints."""
    named = bound.kwargs.get("dtype")
    limits = [*bound.args[:3], *(v for k, v in bound.kwargs.items() if k in ("start", "limit", "delta"))]
    found = {dtype_of(v) for v in limits}
    dtype = dtype_argument(named) if named is not None else None
    if named is None and found:
        for wide in ("float64", "float32", "int64", "int32"):
            if wide in found:
                dtype = wide
                break
        if None in found:
            dtype = None
    length = limits[0].const if len(limits) == 1 and isinstance(limits[0].const, int) else ANY_DIM
    return Value(Kind.TENSOR, dtype=dtype, shape=(length,), eager=self.scope.eager, why=self.reason("result of tf.range", node))


def builtin_call(self: Calls, name: str, bound: Bound, node: cst.CSTNode) -> Value:
    """A builtin, in the context at hand: in converted code some of them become TensorFlow operations."""
    args = bound.args
    first = args[0] if args else None
    staged = first is not None and (first.is_staged or is_nest(first)) and not self.scope.eager
    if first is not None and staged and self.scope.converted:
        converted = _converted_builtin(self, name, args, node)
        if converted is not None:
            return converted
    if name in ("isinstance", "hasattr", "callable", "issubclass"):
        return _static_test(self, name, args)
    if name == "getattr" and len(args) >= 2 and isinstance(args[1].const, str):
        found = self.attribute_of(args[0], args[1].const, node)
        return found if len(args) == 2 or not found.is_unknown else UNKNOWN
    if name == "len":
        return _length(first)
    if name == "range":
        return _range(self, args, node)
    if "key" in bound.kwargs and name in ("sorted", "min", "max") and args:
        members = args if len(args) > 1 else [ops.element_of(args[0])]
        self.call_function(bound.kwargs["key"], [functools.reduce(join, members)], node)
    if name in _CONTAINER_BUILTINS:
        return _container(name, bound, node)
    if name in ("enumerate", "zip", "map", "filter", "iter", "next"):
        return _iteration(self, name, bound, node)
    if name in ("int", "float", "str", "bool", "bytes", "complex", "repr", "abs", "round", "min", "max", "sum", "any", "all", "pow", "divmod"):
        return _scalar(self, name, args)
    if name == "print":
        return Value(Kind.PYTHON, pytype="NoneType", const=None)
    if name in ("type",):
        return UNKNOWN if first is None or first.kind is not Kind.INSTANCE else Value(Kind.CLASS, ref=first.ref)
    if name in ("id", "hash", "ord"):
        return ops.INT
    if name == "object":
        return Value(Kind.PYTHON, pytype="object", origin=node)
    if name.endswith(("Error", "Exception", "Warning", "Iteration")):
        return Value(Kind.PYTHON, pytype="exception")
    return UNKNOWN


def _converted_builtin(self: Calls, name: str, args: list[Value], node: cst.CSTNode) -> Value | None:
    """Builtins that AutoGraph replaces for a tensor argument (tensorflow.python.autograph.operators.py_builtins)."""
    first = args[0]
    if name == "len":
        if first.shape and isinstance(first.shape[0], int):
            return ops.constant(first.shape[0])
        if first.shape and first.shape[0] is None:
            return Value(Kind.TENSOR, dtype="int32", shape=(), why=self.reason("`len` of a tensor with an unknown first dimension", node, first.why))
        return UNKNOWN
    if name == "int":
        return Value(Kind.TENSOR, dtype="int32", shape=first.shape, why=self.reason("`int` of a tensor is a cast", node, first.why))
    if name == "float":
        return Value(Kind.TENSOR, dtype="float32", shape=first.shape, why=self.reason("`float` of a tensor is a cast", node, first.why))
    if name == "abs":
        return Value(Kind.TENSOR, dtype=first.dtype, shape=first.shape, why=first.why)
    if name == "sorted":
        return Value(Kind.TENSOR, dtype=first.dtype, shape=first.shape, why=first.why)
    return None


def _static_test(self: Calls, name: str, args: list[Value]) -> Value:
    """isinstance and hasattr, where the answer is certain while tracing."""
    if not args:
        return ops.BOOL
    first = args[0]
    if name == "hasattr" and len(args) > 1 and args[1].const == "numpy" and (first.is_symbolic or first.kind is Kind.VARIABLE):
        return ops.constant(first.kind is Kind.VARIABLE)
    if name == "isinstance" and len(args) == 2:
        wanted = args[1].elements if args[1].elements is not None else (args[1],)
        names = [self.world.dotted(w) for w in wanted]
        answers = [_is_instance(first, w) for w in names]
        if any(a is True for a in answers):
            return ops.TRUE
        if answers and all(a is False for a in answers):
            return ops.FALSE
    return ops.BOOL


_PYTHON_CLASSES = {
    "builtins.int": {"int", "bool"}, "builtins.float": {"float"}, "builtins.str": {"str"}, "builtins.bool": {"bool"}, "builtins.list": {"list"},
    "builtins.tuple": {"tuple", "namedtuple"}, "builtins.dict": {"dict", "defaultdict", "OrderedDict", "Counter"}, "builtins.set": {"set"},
    "builtins.bytes": {"bytes"}, "numpy.ndarray": {"ndarray"},
}  # fmt: skip


def _is_instance(v: Value, name: str | None) -> bool | None:
    if name is None or v.kind in (Kind.UNKNOWN, Kind.INSTANCE, Kind.UNBOUND):
        return None
    if name.endswith(".EagerTensor") and v.kind in (Kind.TENSOR, Kind.VARIABLE):
        return v.eager
    if name in _PYTHON_CLASSES:
        if v.kind is Kind.PYTHON:
            return v.pytype in _PYTHON_CLASSES[name] if v.pytype is not None and v.pytype not in ("object",) else None
        return False
    if name == "tensorflow.Tensor":
        return v.kind is Kind.TENSOR and v.ragged is None if v.kind is not Kind.VARIABLE else False
    if name == "tensorflow.Variable":
        return v.kind is Kind.VARIABLE
    if name == "tensorflow.RaggedTensor":
        return v.ragged == "ragged" if v.kind is not Kind.TENSOR or v.ragged is not None else None
    if name == "tensorflow.data.Dataset":
        return v.kind is Kind.DATASET
    if v.kind in (Kind.TENSOR, Kind.VARIABLE) and name.startswith(("builtins.", "numpy.")):
        return False
    return None


def _length(v: Value | None) -> Value:
    if v is None:
        return ops.INT
    if v.kind is Kind.PYTHON:
        if v.elements is not None:
            return ops.constant(len(v.elements))
        if v.items is not None:
            return ops.constant(len(v.items))
        if v.pytype == "TensorShape":
            return ops.constant(len(v.shape)) if v.shape is not None else ops.INT
        if isinstance(v.const, (str, bytes)):
            return ops.constant(len(v.const))
        return ops.INT
    if v.kind is Kind.TENSOR:
        return ops.constant(v.shape[0]) if v.shape and isinstance(v.shape[0], int) else ops.INT
    return UNKNOWN if v.kind is not Kind.DATASET else Value(Kind.TENSOR, dtype="int64", shape=())


def _range(self: Calls, args: list[Value], node: cst.CSTNode) -> Value:
    staged = [a for a in args if a.is_staged]
    if staged and self.scope.converted:
        why = self.reason("`range` of a tensor becomes tf.range", node, staged[0].why)
        return Value(Kind.TENSOR, dtype=staged[0].dtype, shape=(ANY_DIM,), why=why)
    if any(is_nest(a) for a in args) and self.scope.converted:
        return UNKNOWN
    if any(a.is_unknown for a in args) and not self.scope.eager:
        return UNKNOWN  # a tensor bound would make this a tf.range
    if args and all(isinstance(a.const, int) for a in args):
        return Value(
            Kind.PYTHON, pytype="range", const=len(range(*(int(a.const) for a in args))) if len(args) < 3 or args[2].const != 0 else MISSING, origin=node
        )
    return Value(Kind.PYTHON, pytype="range", origin=node)


def _container(name: str, bound: Bound, node: cst.CSTNode) -> Value:
    pytype = {"sorted": "list", "reversed": "list", "frozenset": "set"}.get(name, name)
    if name == "dict":
        if not bound.args and not bound.has_star:
            return Value(Kind.PYTHON, pytype="dict", items=tuple(bound.kwargs.items()), origin=node)
        first = bound.args[0] if bound.args else None
        if first is not None and first.items is not None and not bound.has_star:
            merged = {**dict(first.items), **bound.kwargs}
            return Value(Kind.PYTHON, pytype="dict", items=tuple(merged.items()), origin=node)
        return Value(Kind.PYTHON, pytype="dict", element=any_element(first) if first is not None and first.is_python else None, origin=node)
    if not bound.args:
        return Value(Kind.PYTHON, pytype=pytype, elements=(), origin=node)
    first = bound.args[0]
    if first.kind is Kind.PYTHON and first.pytype == "TensorShape" and first.shape is not None:
        return Value(Kind.PYTHON, pytype=pytype, elements=ops.shape_elements(first.shape), origin=node)
    if first.kind is Kind.PYTHON and first.elements is not None:
        elements = first.elements if name in ("list", "tuple") else first.elements[::-1] if name == "reversed" else None
        return Value(Kind.PYTHON, pytype=pytype, elements=elements, element=None if elements is not None else any_element(first), origin=node)
    if first.is_unknown and name in ("sorted",):
        return UNKNOWN
    element = ops.element_of(first)
    return Value(Kind.PYTHON, pytype=pytype, element=None if element.is_unknown and not is_nest(element) else element, origin=node)


def _iteration(self: Calls, name: str, bound: Bound, node: cst.CSTNode) -> Value:
    args = bound.args
    if not args:
        return UNKNOWN
    first = args[0]
    if name == "iter":
        if first.kind in (Kind.DATASET, Kind.ITERATOR):
            return Value(Kind.ITERATOR, element=first.element, why=first.why)
        return first if first.is_python else UNKNOWN
    if name == "next":
        return ops.element_of(first) if first.kind in (Kind.ITERATOR, Kind.PYTHON) else UNKNOWN
    if name == "enumerate":
        if first.kind in (Kind.DATASET, Kind.ITERATOR) and self.scope.converted:
            index = Value(Kind.TENSOR, dtype="int64", shape=())
            return Value(Kind.DATASET, element=Value(Kind.PYTHON, pytype="tuple", elements=(index, ops.element_of(first))), why=first.why)
        return _python_iterable(first, lambda e: Value(Kind.PYTHON, pytype="tuple", elements=(ops.INT, e)), node)
    if name == "zip":
        if all(a.kind is Kind.DATASET for a in args) and self.scope.converted:
            return Value(Kind.DATASET, element=Value(Kind.PYTHON, pytype="tuple", elements=tuple(ops.element_of(a) for a in args)), why=first.why)
        if any(a.kind is Kind.UNKNOWN or a.is_staged or a.kind in (Kind.DATASET, Kind.ITERATOR) for a in args) and not self.scope.eager:
            return Value(Kind.UNKNOWN) if any(a.kind is Kind.UNKNOWN for a in args) else PYTHON
        lengths = [len(a.elements) for a in args if a.elements is not None]
        if len(lengths) == len(args) and lengths:
            rows = tuple(Value(Kind.PYTHON, pytype="tuple", elements=row) for row in zip(*(a.elements or () for a in args), strict=False))
            return Value(Kind.PYTHON, pytype="list", elements=rows, origin=node)
        return Value(Kind.PYTHON, pytype="generator", element=Value(Kind.PYTHON, pytype="tuple", elements=tuple(ops.element_of(a) for a in args)), origin=node)
    # map and filter
    source = args[1] if len(args) > 1 else UNKNOWN
    result = self.call_function(first, [ops.element_of(a) for a in args[1:]], node) if first.kind is Kind.FUNCTION else UNKNOWN
    if source.kind is Kind.DATASET and self.scope.converted:
        return Value(Kind.DATASET, element=result if name == "map" else source.element)
    if source.is_unknown and not self.scope.eager:
        return UNKNOWN
    return Value(Kind.PYTHON, pytype="generator", element=result if name == "map" else ops.element_of(source), origin=node)


def _python_iterable(source: Value, wrap: Any, node: cst.CSTNode) -> Value:
    if source.kind is Kind.PYTHON:
        if source.elements is not None:
            return Value(Kind.PYTHON, pytype="list", elements=tuple(wrap(e) for e in source.elements), origin=node)
        return Value(Kind.PYTHON, pytype="generator", element=wrap(ops.element_of(source)), origin=node)
    if source.is_unknown:
        return Value(Kind.UNKNOWN, elements=None)
    return Value(Kind.PYTHON, pytype="generator", element=wrap(ops.element_of(source)), origin=node)


def _scalar(self: Calls, name: str, args: list[Value]) -> Value:
    if not args:
        return {"int": ops.constant(0), "float": ops.constant(0.0), "str": ops.constant(""), "bool": ops.FALSE}.get(name, UNKNOWN)
    first = args[0]
    if name in ("min", "max", "sum", "any", "all"):
        return _aggregate(self, name, args)
    if first.is_unknown:
        if name in ("str", "repr"):
            return ops.STR
        if name == "bool":
            return ops.BOOL
        return (
            UNKNOWN if not self.scope.eager else Value(Kind.PYTHON, pytype=name if name in ("int", "float") else None) if name in ("int", "float") else UNKNOWN
        )
    if name in ("str", "repr"):
        return ops.STR
    if name == "bool":
        known = ops.truth(first)
        return ops.constant(known) if known is not None else ops.BOOL
    if name in ("int", "float") and first.is_python:
        if first.has_const and first.pytype in ops.NUMBERS and not isinstance(first.const, complex):
            try:
                return ops.constant(int(first.const) if name == "int" else float(first.const))
            except (OverflowError, ValueError):
                return Value(Kind.PYTHON, pytype=name)
        return Value(Kind.PYTHON, pytype=name)
    if name in ("int", "float") and self.scope.eager:
        return Value(Kind.PYTHON, pytype=name)
    if name == "abs" and first.is_python:
        return replace(first, const=abs(first.const)) if first.has_const and first.pytype in ("int", "float") else first
    if name == "pow" and len(args) == 2:
        return ops.binary(cst.Multiply(), first, args[1], eager=self.scope.eager) if ops.is_tensorlike(first) else PYTHON
    if name == "round":
        return first if first.is_tensor else ops.INT if len(args) == 1 and first.is_python else PYTHON
    return UNKNOWN


def _aggregate(self: Calls, name: str, args: list[Value]) -> Value:
    """sum, min, max, any and all."""
    if name == "sum":
        element = any_element(args[0]) if args[0].is_python else None
        if element is not None and ops.is_tensorlike(element):
            return Value(Kind.TENSOR, dtype=element.dtype, shape=element.shape, eager=element.eager, why=element.why)
        if args[0].is_python and element is not None and element.is_python:
            return Value(Kind.PYTHON, pytype=element.pytype if element.pytype in ("int", "float") else None)
        return UNKNOWN
    members = args if len(args) > 1 else [e] if (e := any_element(args[0]) if args[0].is_python else None) is not None else []
    if members and all(m.is_python for m in members):
        if name in ("any", "all"):
            return ops.BOOL
        if all(isinstance(m.const, (int, float)) for m in members) and len(args) > 1:
            return ops.constant(min(m.const for m in members) if name == "min" else max(m.const for m in members))
        joined = members[0]
        for m in members[1:]:
            joined = join(joined, m)
        return Value(Kind.PYTHON, pytype=joined.pytype)
    if self.scope.eager and members and any(m.is_tensor for m in members):
        return Value(Kind.TENSOR, eager=True) if name in ("min", "max") else ops.BOOL
    if name in ("any", "all") and args[0].kind is Kind.DATASET and self.scope.converted:
        return Value(Kind.TENSOR, dtype="bool", shape=())
    return UNKNOWN
