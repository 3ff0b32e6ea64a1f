"""From a row of the knowledge tables to an abstract value: what a call with these arguments returns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tflint_graph.flow.lattice import TENSORABLE, any_element, broadcast, nest
from tflint_graph.flow.operators import element_of, operand_shape
from tflint_graph.flow.values import ANY_DIM, NONE, UNKNOWN, Dim, Kind, Reason, Shape, Value
from tflint_graph.knowledge.api import Api

_TENSOR_KINDS = {"tensor": Kind.TENSOR, "variable": Kind.VARIABLE, "dataset": Kind.DATASET, "iterator": Kind.ITERATOR, "tensorarray": Kind.TENSORARRAY}


# Operations that return a named tuple: the names of their outputs (tensorflow.python.ops.gen_nn_ops, gen_array_ops, gen_linalg_ops).
_OUTPUT_NAMES: dict[str, tuple[str, ...]] = {
    "tensorflow.math.top_k": ("values", "indices"),
    "tensorflow.nn.top_k": ("values", "indices"),
    "tensorflow.unique": ("y", "idx"),
    "tensorflow.unique_with_counts": ("y", "idx", "count"),
    "tensorflow.linalg.qr": ("q", "r"),
}


class Arguments:
    """A call's arguments bound to a row's parameters."""

    def __init__(self, api: Api, args: Sequence[Value], kwargs: Mapping[str, Value], receiver: Value | None = None) -> None:
        self.api, self.args, self.kwargs, self.receiver = api, args, kwargs, receiver

    def at(self, position: int) -> Value | None:
        if position < len(self.args):
            return self.args[position]
        if position < len(self.api.params):
            return self.kwargs.get(self.api.params[position])
        return None

    def named(self, name: str) -> Value | None:
        if name in self.kwargs:
            return self.kwargs[name]
        position = self.api.position(name)
        return self.args[position] if position is not None and position < len(self.args) else None


def shown(dotted: str) -> str:
    """A canonical name as a person writes it: tf.reduce_sum, np.sum, len."""
    for prefix, short in (("tensorflow.", "tf."), ("numpy.", "np."), ("builtins.", ""), ("keras.", "keras.")):
        if dotted.startswith(prefix):
            return short + dotted[len(prefix) :]
    return dotted


def result_of(api: Api, arguments: Arguments, *, eager: bool, why: Reason | None) -> Value:
    """The value that a call of `api` returns."""
    if api.returns == "same":
        same = arguments.receiver if api.like == -1 else arguments.at(api.like)
        if same is None:
            return UNKNOWN
        if api.ops and same.kind is Kind.PYTHON and same.pytype in TENSORABLE:
            return Value(Kind.TENSOR, dtype=TENSORABLE[same.pytype], shape=(), eager=eager, why=why)
        if api.ops and same.kind in (Kind.VARIABLE,):
            return Value(Kind.TENSOR, dtype=same.dtype, shape=same.shape, eager=eager, why=why)
        return same
    return _shaped(api, arguments, eager, why)


def _shaped(api: Api, arguments: Arguments, eager: bool, why: Reason | None) -> Value:
    kind = _TENSOR_KINDS.get(api.returns)
    if kind is not None:
        if kind in (Kind.DATASET, Kind.ITERATOR):
            return Value(kind, why=why)
        made_eagerly = eager and kind is Kind.TENSOR
        return Value(
            kind,
            dtype=_agreed_dtype(api.agree, arguments) if api.agree else _dtype(api.dtype, arguments),
            shape=_shape(api.shape, arguments),
            eager=made_eagerly,
            ragged=api.ragged,
            why=why,
        )
    match api.returns:
        case "python":
            pytype = api.pytype if api.pytype is not None and "|" not in api.pytype else None
            if pytype == "ndarray":
                return Value(Kind.PYTHON, pytype="ndarray", dtype=_dtype(api.dtype, arguments), shape=_shape(api.shape, arguments))
            return Value(Kind.PYTHON, pytype=pytype)
        case "none":
            return NONE
        case "list" | "tuple":
            if api.parts is not None:
                parts = tuple(_shaped(p, arguments, eager, why) for p in api.parts)
                names = _OUTPUT_NAMES.get(api.name)
                if names is not None and len(names) == len(parts):
                    return Value(Kind.PYTHON, pytype="namedtuple", const=names, elements=parts, why=why)
                return Value(Kind.PYTHON, pytype=api.returns, elements=parts, why=why)
            element = _shaped(api.element, arguments, eager, why) if api.element is not None else None
            return Value(Kind.PYTHON, pytype=api.returns, element=element, why=why)
        case "dict":
            element = _shaped(api.element, arguments, eager, why) if api.element is not None else None
            return Value(Kind.PYTHON, pytype="dict", element=element, why=why)
        case "instance":
            return Value(Kind.INSTANCE, ref=api.ref, why=why)
    return UNKNOWN


def _agreed_dtype(positions: Sequence[int], arguments: Arguments) -> str | None:
    """Parameters that share one dtype: that of the first tensor among them, since Python numbers take it on."""
    values = [v for at in positions if (v := arguments.at(at)) is not None]
    tensors = [v for v in values if v.kind in (Kind.TENSOR, Kind.VARIABLE)]
    if tensors:
        return next((v.dtype for v in tensors if v.dtype is not None), None)
    if any(v.kind is Kind.UNKNOWN for v in values):
        return None
    found = {dtype_of(v) for v in values}
    return found.pop() if len(found) == 1 else "float32" if found == {"int32", "float32"} else None


def dtype_of(v: Value | None) -> str | None:
    """The dtype a value has as a tensor."""
    if v is None:
        return None
    if v.kind in (Kind.TENSOR, Kind.VARIABLE):
        return v.dtype
    if v.kind is Kind.PYTHON:
        if v.pytype in TENSORABLE:
            return TENSORABLE[v.pytype]
        if v.pytype in ("ndarray", "npscalar"):
            return v.dtype
        if v.pytype in ("list", "tuple"):
            member = any_element(v)
            if v.elements and any(dtype_of(e) in ("float32", "float64") and e.is_python for e in v.elements):
                return "float32"
            return dtype_of(member)
    return None


def dtype_argument(v: Value | None) -> str | None:
    """The dtype that a `dtype=` argument names."""
    if v is None or v.kind is Kind.UNKNOWN:
        return None
    if v.kind is Kind.PYTHON and v.pytype == "DType":
        return v.dtype
    if v.kind is Kind.PYTHON and v.pytype == "str" and isinstance(v.const, str):
        return v.const
    if v.kind in (Kind.CLASS, Kind.FUNCTION) and isinstance(v.ref, str):
        name = v.ref.rpartition(".")[2]
        if v.ref.startswith("numpy."):
            return {"bool_": "bool", "float_": "float64", "int_": "int64"}.get(name, name)
        return {"float": "float32", "int": "int32", "bool": "bool", "str": "string"}.get(name) if v.ref.startswith("builtins.") else None
    return None


def _dtype(rule: str | None, arguments: Arguments) -> str | None:
    if rule is None or rule == "":
        return None
    if rule == "like:self":
        return dtype_of(arguments.receiver)
    if rule.startswith("like:"):
        return dtype_of(arguments.at(int(rule[5:])))
    if rule.startswith("param:"):
        _, name, default = rule.split(":", 2)
        given = arguments.named(name)
        if given is None or given.is_none:
            return _dtype(default, arguments)
        return dtype_argument(given)
    if rule.startswith("agree:"):
        return _agreed_dtype([int(at) for at in rule.split(":")[1:]], arguments)
    return rule if ":" not in rule else None


def shape_argument(v: Value | None) -> Shape | None:
    """The shape that a `shape=` argument names."""
    if v is None:
        return None
    if v.kind is Kind.PYTHON:
        if v.pytype == "TensorShape":
            return v.shape
        if isinstance(v.const, int) and v.pytype == "int":
            return (_dim(v),)
        if v.elements is not None:
            return tuple(_dim(e) for e in v.elements)
    return None


def _dim(v: Value) -> Dim:
    if isinstance(v.const, int) and v.pytype == "int":
        return v.const if v.const >= 0 else ANY_DIM
    if v.is_none:
        return None
    return ANY_DIM


def _shape(rule: str | None, arguments: Arguments) -> Shape | None:
    if not rule:
        return None
    if rule == "scalar":
        return ()
    if rule == "vector":
        return (ANY_DIM,)
    if rule == "like:self":
        return operand_shape(arguments.receiver) if arguments.receiver is not None else None
    if rule.startswith("like:"):
        found = arguments.at(int(rule[5:]))
        return operand_shape(found) if found is not None else None
    if rule.startswith("value:"):
        return shape_argument(arguments.at(int(rule[6:])))
    if rule == "broadcast":
        shape: Shape | None = ()
        for value in (*((arguments.receiver,) if arguments.receiver is not None else ()), *arguments.args[:3], *arguments.kwargs.values()):
            if value.kind in (Kind.TENSOR, Kind.VARIABLE, Kind.UNKNOWN, Kind.PYTHON) and not value.is_none:
                if value.kind is Kind.PYTHON and value.pytype in ("str", "DType"):
                    continue
                shape = broadcast(shape, operand_shape(value))
        return shape
    if rule == "reduce":
        return _reduced(arguments)
    return None


def _reduced(arguments: Arguments) -> Shape | None:
    subject = arguments.at(0) if arguments.receiver is None else arguments.receiver
    axis = arguments.named("axis")
    keep = arguments.named("keepdims")
    if keep is not None and keep.const is not False:
        return None
    if axis is None or axis.is_none:
        return ()
    shape = operand_shape(subject) if subject is not None else None
    if shape is None:
        return None
    axes = [axis] if isinstance(axis.const, int) else list(axis.elements or ())
    if not axes or not all(isinstance(a.const, int) for a in axes):
        return None
    dropped = {int(a.const) % len(shape) for a in axes} if shape else set()
    return tuple(d for k, d in enumerate(shape) if k not in dropped)


def structured(spec: Value, reason: Reason | None) -> Value:
    """The value that a TensorSpec (or a structure of specs) stands for."""
    if spec.kind is Kind.PYTHON and spec.pytype == "TensorSpec":
        return Value(Kind.TENSOR, dtype=spec.dtype, shape=spec.shape, ragged=spec.const if isinstance(spec.const, str) else None, why=reason)
    if spec.elements is not None:
        return Value(Kind.PYTHON, pytype="tuple", elements=tuple(structured(e, reason) for e in spec.elements))
    if spec.items is not None:
        return Value(Kind.PYTHON, pytype="dict", items=tuple((k, structured(v, reason)) for k, v in spec.items))
    return nest(Value(Kind.TENSOR, why=reason))


def leaf_rows(v: Value) -> Value:
    """The element that `Dataset.from_tensor_slices` makes of a structure: each leaf loses its first dimension."""
    if v.kind is Kind.PYTHON and v.pytype == "tuple" and v.elements is not None:
        return Value(Kind.PYTHON, pytype="tuple", elements=tuple(leaf_rows(e) for e in v.elements))
    if v.kind is Kind.PYTHON and v.items is not None:
        return Value(Kind.PYTHON, pytype="dict", items=tuple((k, leaf_rows(e)) for k, e in v.items))
    if v.kind is Kind.PYTHON and v.pytype == "dict":
        return Value(Kind.PYTHON, pytype="dict", element=Value(Kind.TENSOR))
    return as_tensor(element_of(v) if v.kind in (Kind.TENSOR, Kind.VARIABLE) else _row(v))


def _row(v: Value) -> Value:
    shape = operand_shape(v)
    if v.kind is Kind.PYTHON and v.pytype in ("list", "ndarray", "range"):
        return Value(Kind.TENSOR, dtype=dtype_of(v), shape=shape[1:] if shape else None)
    if v.kind is Kind.PYTHON:
        return Value(Kind.TENSOR)
    return nest(Value(Kind.TENSOR))


def as_tensor(v: Value) -> Value:
    """A Python number, string, array or list as tf.convert_to_tensor makes it; tensors lose `eager`."""
    if v.kind is Kind.TENSOR:
        return v if not v.eager else Value(Kind.TENSOR, dtype=v.dtype, shape=v.shape, ragged=v.ragged, why=v.why)
    if v.kind is Kind.VARIABLE:
        return Value(Kind.TENSOR, dtype=v.dtype, shape=v.shape, why=v.why)
    if v.kind is Kind.PYTHON and (v.pytype in TENSORABLE or v.pytype in ("ndarray", "npscalar", "list")):
        return Value(Kind.TENSOR, dtype=dtype_of(v), shape=operand_shape(v), why=v.why)
    return v


def structure_of_tensors(v: Value) -> Value:
    """A structure as Dataset elements and callback results carry it: every leaf a tensor."""
    if v.kind is Kind.PYTHON and v.pytype in ("tuple",) and v.elements is not None:
        return Value(Kind.PYTHON, pytype="tuple", elements=tuple(structure_of_tensors(e) for e in v.elements))
    if v.kind is Kind.PYTHON and v.items is not None:
        return Value(Kind.PYTHON, pytype="dict", items=tuple((k, structure_of_tensors(e)) for k, e in v.items))
    if v.kind is Kind.UNKNOWN:
        return v if v.element is not None else nest(Value(Kind.TENSOR))
    return as_tensor(v)


def spread(element: Value | None) -> list[Value]:
    """A dataset's element as a callback gets it: a tuple is spread over the parameters."""
    if element is None:
        return [nest(Value(Kind.TENSOR))]
    if element.kind is Kind.PYTHON and element.pytype in ("tuple", "namedtuple") and element.elements is not None:
        return list(element.elements)
    return [element]


def batched(v: Value, size: Dim) -> Value:
    """The element of a batched dataset."""
    if v.kind is Kind.PYTHON and v.elements is not None:
        return Value(Kind.PYTHON, pytype=v.pytype, elements=tuple(batched(e, size) for e in v.elements))
    if v.kind is Kind.PYTHON and v.items is not None:
        return Value(Kind.PYTHON, pytype="dict", items=tuple((k, batched(e, size)) for k, e in v.items))
    if v.kind is Kind.TENSOR:
        return Value(Kind.TENSOR, dtype=v.dtype, shape=None if v.shape is None else (size, *v.shape), ragged=v.ragged, why=v.why)
    return v
