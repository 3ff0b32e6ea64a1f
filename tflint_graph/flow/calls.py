"""Abstract evaluation of calls: library functions, methods of known values, functions and classes of the project, callbacks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import libcst as cst

from tflint_graph.flow import operators as ops
from tflint_graph.flow.builtin_calls import builtin_call, special_call
from tflint_graph.flow.callbacks import call_with_callbacks
from tflint_graph.flow.container_calls import container_call
from tflint_graph.flow.dataset_calls import dataset_call
from tflint_graph.flow.expressions import Expressions
from tflint_graph.flow.facts import CallFacts
from tflint_graph.flow.lattice import is_nest, join, nest
from tflint_graph.flow.names import symbol_of
from tflint_graph.flow.results import Arguments, result_of, shown, structured
from tflint_graph.flow.values import UNKNOWN, Kind, Reason, Value
from tflint_graph.index.model import ClassId, FunctionId
from tflint_graph.knowledge.api import is_subclass, lookup, method
from tflint_graph.knowledge.takers import takers
from tflint_graph.link.model import Context

_KERAS_CALLABLES = ("keras.layers.Layer", "keras.losses.Loss", "keras.metrics.Metric")
_TENSOR_MODULES = ("tensorflow.raw_ops.", "tensorflow.experimental.numpy.")  # not in the tables: tensors, or tuples of them
_METHOD_TABLES = {
    Kind.TENSOR: "tensor", Kind.VARIABLE: "variable", Kind.DATASET: "dataset", Kind.ITERATOR: "iterator", Kind.TENSORARRAY: "tensorarray",
}  # fmt: skip


@dataclass(slots=True)
class Bound:
    """A call's arguments after evaluation. `extra` is the join of what `*args` hands over, None without a star."""

    args: list[Value] = field(default_factory=list)
    kwargs: dict[str, Value] = field(default_factory=dict)
    star: Value | None = None
    double_star: bool = False

    @property
    def has_star(self) -> bool:
        return self.star is not None or self.double_star


class Calls(Expressions):
    """Adds calls to the evaluator. Functions of the region itself are run in place (`run_local`); others are summarised by the Analysis.

    `signatures` collects the `input_signature` of calls `tf.function(f, input_signature=...)`.
    """

    signatures: dict[FunctionId, Value]

    def run_local(self, node: cst.CSTNode, function: FunctionId | None, bound: Bound, receiver: Value | None) -> Value | None:
        """Run a def or lambda of this region with these arguments; None if it cannot be run here (too deep, recursion)."""
        raise NotImplementedError

    def _call(self, node: cst.Call) -> Value:
        callee = self.eval(node.func)
        bound = self._arguments(node)
        result = self._super_call(node, callee) or self.apply(callee, bound, node)
        if self.recorder is not None:
            self.recorder.calls[id(node)] = self._facts(callee, bound, result)
        return result

    def _arguments(self, node: cst.Call) -> Bound:
        bound = Bound()
        for arg in node.args:
            value = self.eval(arg.value)
            if arg.star == "*":
                if value.elements is not None and bound.star is None:
                    bound.args.extend(value.elements)
                else:
                    element = ops.element_of(value)
                    bound.star = element if bound.star is None else join(bound.star, element)
            elif arg.star == "**":
                if value.items is not None and all(isinstance(k, str) for k, _ in value.items):
                    bound.kwargs.update((str(k), v) for k, v in value.items)
                else:
                    bound.double_star = True
            elif arg.keyword is not None:
                bound.kwargs[arg.keyword.value] = value
            elif bound.star is None:
                bound.args.append(value)
        return bound

    def _facts(self, callee: Value, bound: Bound, result: Value) -> CallFacts:
        project = callee.ref if isinstance(callee.ref, FunctionId) else None
        receiver = callee.bound
        return CallFacts(callee, self.world.dotted(callee), project, receiver, tuple(bound.args), dict(bound.kwargs), bound.has_star, result)

    def _super_call(self, node: cst.Call, callee: Value) -> Value | None:
        if callee.ref == "builtins.super" and not node.args and self.scope.owner is not None:
            return Value(Kind.INSTANCE, ref=self.scope.owner, pytype="super")
        return None

    # -- dispatch --------------------------------------------------------------------------------------------------------------------------------------------

    def apply(self, callee: Value, bound: Bound, node: cst.CSTNode) -> Value:
        """The value of calling `callee`; effects on containers and captured names take place."""
        if callee.args or callee.kwargs:
            bound = Bound([*callee.args, *bound.args], {**dict(callee.kwargs), **bound.kwargs}, bound.star, bound.double_star)
        kind = callee.kind
        if kind is Kind.CLASS and isinstance(callee.const, tuple) and not bound.has_star:
            given = dict(zip(callee.const, bound.args, strict=False)) | bound.kwargs
            return named_tuple(callee.const, [given.get(name, UNKNOWN) for name in callee.const], node)
        if kind is Kind.FUNCTION:
            if isinstance(callee.ref, FunctionId):
                return self._project_call(callee, callee.ref, bound, node)
            if isinstance(callee.ref, str):
                return self._library_call(callee, callee.ref, bound, node)
            if callee.origin is not None:
                return self.run_local(callee.origin, None, bound, callee.bound) or UNKNOWN
        elif kind is Kind.CLASS:
            if isinstance(callee.ref, ClassId):
                return self._construct(callee, callee.ref, bound, node)
            if isinstance(callee.ref, str):
                return self._library_call(callee, callee.ref, bound, node)
        elif kind is Kind.INSTANCE:
            return self._call_instance(callee, bound, node)
        elif kind is Kind.UNKNOWN and isinstance(callee.ref, str):
            return self._library_call(callee, callee.ref, bound, node)
        return UNKNOWN

    def _as_specified(self, bound: Bound, node: cst.CSTNode) -> Bound:
        """Arguments of get_concrete_function: a spec stands for the tensor it describes."""
        why = self.reason("a tf.TensorSpec given to get_concrete_function", node)

        def value(v: Value) -> Value:
            return structured(v, why) if v.pytype == "TensorSpec" else v

        return Bound([value(v) for v in bound.args], {k: value(v) for k, v in bound.kwargs.items()}, bound.star, bound.double_star)

    # -- the project's own functions -------------------------------------------------------------------------------------------------------------------------

    def _project_call(self, callee: Value, function: FunctionId, bound: Bound, node: cst.CSTNode) -> Value:
        analysis = self.world.analysis
        values = analysis.bind(function, bound, callee.bound, self.defaults_of(function))
        self.note_call(function, node, values)
        if callee.pytype == "decorated" or analysis.hides_result(function):
            return UNKNOWN
        local = self.region.function_nodes.get(function.qualname) if function.path == self.region.function.path else None
        if local is not None and local is not self.region.top:
            result = self.run_local(local, function, bound, callee.bound)
        else:
            result = analysis.summary(function, values, self.scope.context)
        if result is None:
            return UNKNOWN
        if analysis.gives_gradient_too(function):
            result = result.elements[0] if result.elements is not None and len(result.elements) == 2 else UNKNOWN
        return self._through_tf_function(callee, function, result, node)

    def _through_tf_function(self, callee: Value, function: FunctionId, result: Value, node: cst.CSTNode) -> Value:
        """A tf.function gives back tensors for numbers; in eager code its results are eager tensors."""
        if not (callee.traced or self.world.analysis.is_tf_function(function)):
            return result
        reason = Reason(f"result of the tf.function `{function.qualname.rpartition('.')[2]}`", self.region.function.path, self.line(node))
        return outer_result(result, eager=self.scope.eager, reason=reason)

    def defaults_of(self, function: FunctionId) -> Mapping[str, Value]:
        """The values that the parameters' defaults had when a def of this region ran."""
        raise NotImplementedError

    def note_call(self, function: FunctionId, node: cst.CSTNode, values: dict[str, Value]) -> None:
        """Remember with what a project function is called here: evidence for its parameters."""
        raise NotImplementedError

    def _construct(self, callee: Value, cls: ClassId, bound: Bound, node: cst.CSTNode) -> Value:
        instance = Value(Kind.INSTANCE, ref=cls, origin=node)
        init = self.world.project.method(cls, "__init__")
        if init is not None:
            self.note_call(init, node, self.world.analysis.bind(init, bound, instance))
            return instance
        if self.world.library_base(cls, "tensorflow.Variable") is not None:
            return UNKNOWN
        fields = self.world.analysis.constructor_fields(cls)
        if fields is None or bound.has_star:
            return instance
        given = dict(zip([f.name for f in fields.fields], bound.args, strict=False)) | bound.kwargs
        values = tuple((f.name, given.get(f.name, UNKNOWN)) for f in fields.fields)
        if fields.is_tuple:
            return named_tuple(tuple(name for name, _ in values), [value for _, value in values], node)
        return replace(instance, items=values)

    def _call_instance(self, callee: Value, bound: Bound, node: cst.CSTNode) -> Value:
        if isinstance(callee.ref, ClassId):
            cls = callee.ref
            keras = self.world.library_base(cls, *_KERAS_CALLABLES)
            method_name = "call" if keras is not None else "__call__"
            found = self.world.project.method(cls, "__call__") or self.world.project.method(cls, method_name)
            if found is None:
                return nest(Value(Kind.TENSOR)) if keras is not None and bound.args and bound.args[0].contains_tensor() else UNKNOWN
            return self._project_call(Value(Kind.FUNCTION, ref=found, bound=callee, traced=self.world.analysis.is_tf_function(found)), found, bound, node)
        if isinstance(callee.ref, str):
            return self._call_library_instance(callee.ref, bound, node)
        return UNKNOWN

    def _call_library_instance(self, ref: str, bound: Bound, node: cst.CSTNode) -> Value:
        if is_subclass(ref, "keras.Sequential") and bound.args and (bound.args[0].is_tensor or is_nest(bound.args[0])):
            return self.eagerly(Value(Kind.TENSOR, why=self.reason("output of keras.Sequential", node)))
        api = method(ref, "__call__")
        why = self.reason(f"output of {shown(ref)}", node)
        if api is not None:
            return self.eagerly(result_of(api, Arguments(api, bound.args, bound.kwargs), eager=self.scope.eager, why=why))
        return UNKNOWN

    def special_method(self, instance: Value, name: str, args: list[Value], node: cst.CSTNode) -> Value:
        assert isinstance(instance.ref, ClassId)
        found = self.world.project.method(instance.ref, name)
        if found is None:
            return UNKNOWN
        return self._project_call(Value(Kind.FUNCTION, ref=found, bound=instance), found, Bound(list(args)), node)

    # -- libraries -------------------------------------------------------------------------------------------------------------------------------------------

    def _library_call(self, callee: Value, dotted: str, bound: Bound, node: cst.CSTNode) -> Value:
        special = special_call(self, callee, dotted, bound, node)
        if special is not None:
            return special
        if dotted.startswith("builtins."):
            return builtin_call(self, dotted[9:], bound, node)
        receiver = callee.bound
        if dotted in ("function.get_concrete_function", "function.python_function") and receiver is not None and isinstance(receiver.ref, FunctionId):
            return self._project_call(receiver, receiver.ref, self._as_specified(bound, node), node)
        if dotted.startswith(("dataset.", "tensorflow.data.")):
            found = dataset_call(self, dotted, receiver, bound, node)
            if found is not None:
                return found
        rows = takers(dotted)
        if rows:
            found = call_with_callbacks(self, dotted, rows, receiver, bound, node)
            if found is not None:
                return found
        if receiver is not None and receiver.kind is Kind.PYTHON:
            changed = container_call(self, dotted, receiver, bound, node)
            if changed is not None:
                return changed
        return self._table_call(dotted, receiver, bound, node)

    def _table_call(self, dotted: str, receiver: Value | None, bound: Bound, node: cst.CSTNode) -> Value:
        why = self.reason(f"result of {shown(dotted)}", node)
        if receiver is not None and (table := self._method_table(receiver)) is not None:
            api = method(table, dotted.rpartition(".")[2])
        else:
            api = lookup(dotted)
        if api is None and dotted.startswith(_TENSOR_MODULES):
            return nest(Value(Kind.TENSOR, eager=self.scope.eager, why=why))
        if api is None or (bound.star is not None and not api.params):
            return UNKNOWN
        if not bound.has_star:
            api = api.given(len(bound.args), bound.kwargs)
        result = result_of(api, Arguments(api, bound.args, bound.kwargs, receiver), eager=self.scope.eager, why=why)
        if api.ragged == "maybe":
            result = nest(replace(result, ragged=None))
        if result.is_tensor and result.ragged is None and any(v.is_tensor and v.ragged for v in (*bound.args, *([receiver] if receiver is not None else []))):
            result = replace(result, shape=None)
        if result.kind in (Kind.INSTANCE, Kind.TENSORARRAY, Kind.VARIABLE) or result.is_container:
            result = replace(result, origin=node)
        return result

    @staticmethod
    def _method_table(receiver: Value) -> str | None:
        if receiver.kind in _METHOD_TABLES:
            return receiver.ragged or _METHOD_TABLES[receiver.kind] if receiver.kind is Kind.TENSOR else _METHOD_TABLES[receiver.kind]
        if is_nest(receiver):
            return "tensor"
        if receiver.kind is Kind.PYTHON:
            return receiver.pytype
        if receiver.kind is Kind.INSTANCE and isinstance(receiver.ref, str):
            return receiver.ref
        return None

    def eagerly(self, value: Value) -> Value:
        """Mark a tensor as eager when this code runs eagerly."""
        return replace(value, eager=True) if self.scope.eager and value.kind is Kind.TENSOR else value

    # -- effects ---------------------------------------------------------------------------------------------------------------------------------------------

    def rebind_receiver(self, node: cst.CSTNode, value: Value) -> None:
        """A method changed the container it was called on: store what is now known under the receiver's own spelling."""
        if not isinstance(node, cst.Call) or not isinstance(node.func, cst.Attribute):
            return
        symbol = symbol_of(node.func.value)
        if symbol is None:
            return
        scope = self.scope
        while scope is not None:
            if scope.vars is not None and symbol in scope.vars:
                scope.vars[symbol] = value if scope is self.scope else join(scope.vars[symbol], value)
                self.forget_below(scope.vars, symbol)
                return
            if scope.parent is None:
                return
            scope = scope.parent

    def call_in_graph(self, function: Value, args: Sequence[Value], node: cst.CSTNode) -> Value:
        """Call a callback that TensorFlow traces and converts, even when the taker is called from eager code."""
        saved = self.scope.context
        if saved is Context.EAGER:
            self.scope.context = Context.CONVERTED
        try:
            return self.call_function(function, args, node)
        finally:
            self.scope.context = saved

    def call_function(self, function: Value, args: Sequence[Value], node: cst.CSTNode, kwargs: Mapping[str, Value] | None = None) -> Value:
        """Call a function value as a library would call a callback."""
        return self.apply(function, Bound(list(args), dict(kwargs or {})), node)


def named_tuple(names: tuple[str, ...], values: list[Value], node: cst.CSTNode) -> Value:
    """An instance of a namedtuple class."""
    return Value(Kind.PYTHON, pytype="namedtuple", const=names, elements=tuple(values), origin=node)


def outer_result(result: Value, *, eager: bool, reason: Reason) -> Value:
    """What a tf.function's caller sees of a returned value."""
    if result.kind is Kind.PYTHON:
        if result.elements is not None:
            return replace(result, elements=tuple(outer_result(v, eager=eager, reason=reason) for v in result.elements))
        if result.items is not None:
            return replace(result, items=tuple((k, outer_result(v, eager=eager, reason=reason)) for k, v in result.items))
        if result.pytype in ("int", "float", "bool", "str", "npscalar", "ndarray"):
            return Value(Kind.TENSOR, dtype=ops_dtype(result), shape=() if result.pytype != "ndarray" else result.shape, eager=eager, why=reason)
    if result.kind in (Kind.TENSOR, Kind.VARIABLE):
        return Value(Kind.TENSOR, dtype=result.dtype, shape=result.shape, ragged=result.ragged, eager=eager, why=reason)
    if result.kind is Kind.UNKNOWN and not is_nest(result):
        return nest(Value(Kind.TENSOR, eager=eager, why=reason))
    return result


def ops_dtype(value: Value) -> str | None:
    return {"int": "int32", "float": "float32", "bool": "bool", "str": "string"}.get(value.pytype or "", value.dtype)
