"""The values of parameters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import libcst as cst

from tflint_graph.flow import operators as ops
from tflint_graph.flow.calls import Bound
from tflint_graph.flow.declarations import Declarations
from tflint_graph.flow.lattice import is_nest, join, nest
from tflint_graph.flow.results import as_tensor, structured
from tflint_graph.flow.statements import Interpreter
from tflint_graph.flow.values import NONE, UNKNOWN, Kind, Reason, Value
from tflint_graph.index.model import MODULE_SCOPE, FunctionId, FunctionIndex, Parameter, Symbol
from tflint_graph.link.model import IN_GRAPH, Tracing, Unconverted
from tflint_graph.link.project import Project
from tflint_graph.link.trace_map import TraceMap

_HANDED_OVER = frozenset({"dataset", "elements", "strategy", "callback"})


class Parameters(Declarations):
    """What parameters are: from signatures, annotations, the role of the function, and every call in the project."""

    def __init__(self, project: Project, trace_map: TraceMap) -> None:
        super().__init__(project, trace_map)
        self._params: dict[FunctionId, dict[str, Value]] = {}
        self._certainty: dict[FunctionId, bool | None] = {}
        self._traced_regions = {project.region_of(function) for function, traced in trace_map.traced.items() if traced.contexts() & IN_GRAPH}

    def params(self, function: FunctionId) -> dict[str, Value]:
        """The values of a function's parameters: signature, annotations, role, and every call in the project."""
        found = self._params.get(function)
        if found is not None:
            return found
        if function in self._open_params:
            self._cut(("params", function))
            return self.declared(function)
        saved = self._ask()
        self._open_params.add(function)
        try:
            found = self._find_params(function)
        finally:
            self._open_params.discard(function)
            whole = self._answer(("params", function), saved, outermost=self._caller_depth == 0 and self._summary_depth == 0)
        if whole:
            self._params[function] = found
        return found

    def _find_params(self, function: FunctionId) -> dict[str, Value]:
        index = self.project.function(function)
        if index is None:
            return {}
        values = self.declared(function)
        open_questions = any(v.kind is not Kind.INSTANCE for v in values.values())
        called, certain = self._from_calls(function) if open_questions else (None, False)
        for name, value in (called or {}).items():
            if certain or (value.is_tensor and name in values and values[name].is_tensor):
                values[name] = value
        self._apply_roles(function, index, values, called is not None and certain)
        region = self.region(function) if self.project.region_of(function) == function else None
        signature = None
        if region is not None and isinstance(region.top, cst.FunctionDef) and self.is_tf_function(function):
            interpreter = Interpreter(self.world, region, recording=False)
            interpreter.enter_decorators()
            signature = interpreter.signature_in(region.top) or self._signature_of_wrapping(function)
        return self.as_traced(function, values, signature)

    def _from_calls(self, function: FunctionId, *, besides: FunctionId | None = None) -> tuple[dict[str, Value] | None, bool]:
        """The join over all calls in the project (leaving out one region), and whether all calls were seen. None without any call."""
        sites = self.trace_map.call_sites(function)
        if not sites.complete:
            return None, False  # calls that are not seen could hand over anything
        callers = dict(sites.callers)
        handing_over = self.handed_over_in(function)
        for region in handing_over:
            callers.setdefault(region, 1)
        # What eager code hands to a helper describes the helper's eager runs. A root is traced whoever calls it.
        traced_only = function in self.trace_map.traced and not self.is_tf_function(function)
        joined: dict[str, Value] | None = None
        complete = True
        for caller, count in callers.items():
            if caller == besides or (traced_only and caller not in self._traced_regions and caller not in handing_over):
                continue
            outcome = self.outcome(caller)
            calls = outcome.outgoing.get(function, []) if outcome is not None else []
            if len(calls) < count:
                complete = False
            for values, eager in calls:
                if traced_only and eager:
                    continue
                joined = dict(values) if joined is None else {k: join(joined[k], v) if k in joined else v for k, v in values.items()}
            if not complete or (joined is not None and all(v.is_unknown and not is_nest(v) for v in joined.values())):
                return joined, complete  # nothing is left to learn
        return joined, complete

    def _signature_of_wrapping(self, function: FunctionId) -> Value | None:
        """The `input_signature` of a call `tf.function(f, input_signature=...)`."""
        traced = self.trace_map.traced.get(function)
        for way in traced.ways if traced is not None else ():
            if way.role == "root" and way.steps and way.steps[-1].how.startswith("tf.function("):
                region = self._region_at(way.steps[-1].path, way.steps[-1].line)
                outcome = self.outcome(region) if region is not None else None
                if outcome is not None and function in outcome.signatures:
                    return outcome.signatures[function]
        return None

    def certainly_traced(self, function: FunctionId) -> bool | None:
        """Whether TensorFlow certainly traces a function: by the links alone, or because the analysis sees the likely call in code that is certainly traced.

        None when the links are likenesses and none of the callers they name makes the call: then nothing speaks for it.
        """
        if function not in self._certainty:
            self._certainty[function] = None  # a caller that only this function leads to
            self._certainty[function] = self._find_certainty(function)
        return self._certainty[function]

    def _find_certainty(self, function: FunctionId) -> bool | None:
        traced = self.trace_map.traced.get(function)
        if traced is None or any(way.certain for way in traced.ways):
            return True
        likely = False
        for way in traced.ways:
            if way.role != "callee" or not way.steps:
                return False
            step = way.steps[-1]
            region = self._region_at(step.path, step.line)
            outcome = self.outcome(region) if region is not None else None
            if outcome is None or region is None:
                likely = True
            elif any(not eager for _, eager in outcome.outgoing.get(function, ())):
                caller = self.certainly_traced(region) if region in self.trace_map.traced else False
                if caller:
                    return True
                likely = likely or caller is False
            elif any(self._fills_in(function, callee) for callee in outcome.outgoing):
                likely = likely or (region in self.trace_map.traced and self.certainly_traced(region) is not None)
        return False if likely else None

    def _fills_in(self, function: FunctionId, called: FunctionId) -> bool:
        """Whether a method is an override of a called method that does nothing but raise: some subclass's override runs instead."""
        base, index = self.owner_class(called), self.project.function(called)
        owner = self.owner_class(function)
        if base is None or owner is None or index is None or called.qualname.rpartition(".")[2] != function.qualname.rpartition(".")[2]:
            return False
        return "Raise" in index.kinds and "Return" not in index.kinds and base in self.project.bases(owner)

    def handed_over_in(self, function: FunctionId) -> list[FunctionId]:
        """The regions that hand the function to a library as a callback."""
        traced = self.trace_map.traced.get(function)
        found: dict[FunctionId, None] = {}
        for way in traced.ways if traced is not None else ():
            if (way.role in _HANDED_OVER or way.unconverted is Unconverted.SPECIAL_METHOD) and way.steps:
                step = way.steps[-1]
                region = self._region_at(step.path, step.line)
                if region is not None:
                    found[region] = None
        return list(found)

    def _region_at(self, path: str, line: int) -> FunctionId | None:
        """The outermost function around a line of a file, or the module."""
        index = self.project.files.get(path)
        if index is None:
            return None
        for entry in index.functions.values():
            if not entry.is_lambda and entry.qualname != MODULE_SCOPE and entry.first_line <= line <= entry.end_line:
                return self.project.region_of(FunctionId(path, entry.qualname))
        return FunctionId(path, MODULE_SCOPE)

    def _apply_roles(self, function: FunctionId, index: FunctionIndex, values: dict[str, Value], known: bool) -> None:
        """Callbacks of datasets and loops, and Keras methods, get tensors (or structures of tensors) whoever calls them."""
        traced = self.trace_map.traced.get(function)
        if traced is None:
            return
        roles = {way.role for way in traced.ways if way.certain}
        positional = [p for p in index.params if p.kind == "positional"]
        if self.owner_class(function) is not None and "builtins.staticmethod" not in self.decorator_names(function):
            positional = positional[1:]
        why: Reason | None = None
        for role in ("dataset", "elements"):
            if role in roles and not known:
                for parameter in positional:
                    if not parameter.has_default and values[parameter.name].is_unknown:
                        why = why or Reason(_role_text(traced.ways, role), function.path, index.line)
                        values[parameter.name] = nest(Value(Kind.TENSOR, why=why))
        if "keras" in roles:
            self._apply_keras(function, index, values, positional)

    def _apply_keras(self, function: FunctionId, index: FunctionIndex, values: dict[str, Value], positional: Sequence[Parameter]) -> None:
        why = Reason(f"Keras calls `{index.name}` with tensors", function.path, index.line)
        method = index.name
        count = {"call": 1, "train_step": 1, "test_step": 1, "predict_step": 1, "__call__": 1, "update_state": 2, "compute_loss": 0}.get(method, 2)
        if self.owner_class(function) is None:
            count = 2  # a loss or metric function
        if method == "call" and self.owner_class(function) is not None:
            owner = self.owner_class(function)
            if owner is not None and self.world.library_base(owner, "keras.losses.Loss") is not None:
                count = 2
        if method == "compute_loss":
            for parameter in positional[:3]:
                values[parameter.name] = nest(Value(Kind.TENSOR, why=why))
        for parameter in positional[:count]:
            if method == "call" and parameter.annotation is not None and values[parameter.name].is_tensor:
                values[parameter.name] = nest(values[parameter.name])  # the annotation does not bind Keras, which passes tuples and dicts on
            if values[parameter.name].is_unknown and not parameter.has_default:
                tensor = Value(Kind.TENSOR, why=why)
                single = method == "__call__" or self.owner_class(function) is None
                values[parameter.name] = tensor if single else nest(tensor)

    def as_traced(self, function: FunctionId, values: dict[str, Value], signature: Value | None) -> dict[str, Value]:
        """Parameters as a tf.function's body sees them: signature entries, arrays and NumPy scalars as tensors, no eager tensors."""
        traced = self.trace_map.traced.get(function)
        if traced is None:
            return values
        root = self.is_tf_function(function)
        out: dict[str, Value] = {}
        for name, value in values.items():
            if (root and value.kind is Kind.PYTHON and value.pytype in ("ndarray", "npscalar")) or (value.kind is Kind.TENSOR and value.eager):
                value = as_tensor(value)
            elif root and value.kind is Kind.PYTHON and value.elements is not None:
                value = _inner_tensors(value)
            out[name] = value
        if root and signature is not None and signature.elements is not None:
            self._apply_signature(function, out, signature)
        return out

    def _apply_signature(self, function: FunctionId, values: dict[str, Value], signature: Value) -> None:
        index = self.project.function(function)
        if index is None or signature.elements is None:
            return
        names = [p.name for p in index.params if p.kind == "positional"]
        if self.owner_class(function) is not None and names:
            names = names[1:]
        for name, spec in zip(names, signature.elements, strict=False):
            why = Reason(f"`{name}` is in `input_signature`", function.path, index.first_line)
            found = structured(spec, why)
            values[name] = found

    def outside_params(self, function: FunctionId, *, called: bool) -> dict[str, Value] | None:
        """Parameters of a nested def as seen from outside its region; None when its region has shown everything already."""
        sites = self.trace_map.call_sites(function)
        region = self.project.region_of(function)
        outside = any(caller != region for caller in (*sites.callers, *self.handed_over_in(function)))
        if called and not outside:
            return None
        values, certain = self._from_calls(function, besides=region) if outside else (None, False)
        declared = self.declared(function)
        index = self.project.function(function)
        for name, value in (values or {}).items():
            if certain:
                declared[name] = value
        if index is not None:
            self._apply_roles(function, index, declared, certain)
        return declared

    def bind(self, function: FunctionId, bound: Bound, receiver: Value | None, defaults: Mapping[str, Value] | None = None) -> dict[str, Value]:
        """A call's arguments by parameter name; defaults fill in, what is not known is UNKNOWN."""
        index = self.project.function(function)
        if index is None:
            return {}
        values: dict[str, Value] = {}
        rest = list(bound.args)
        if receiver is not None:
            rest.insert(0, receiver)
        kwargs = dict(bound.kwargs)
        for parameter in index.params:
            name = parameter.name
            if parameter.kind == "args":
                values[name] = Value(Kind.PYTHON, pytype="tuple", elements=tuple(rest) if bound.star is None else None, element=bound.star)
                rest = []
            elif parameter.kind == "kwargs":
                values[name] = Value(Kind.PYTHON, pytype="dict", items=tuple(kwargs.items()) if not bound.double_star else None)
            elif parameter.kind == "positional" and rest:
                values[name] = rest.pop(0)
            elif name in kwargs:
                values[name] = kwargs.pop(name)
            elif bound.star is not None and parameter.kind == "positional":
                values[name] = bound.star if not parameter.has_default else UNKNOWN
            elif bound.double_star:
                values[name] = UNKNOWN
            elif parameter.has_default:
                values[name] = defaults[name] if defaults is not None and name in defaults else default_value(parameter.default)
            else:
                values[name] = UNKNOWN
        return values


def default_value(symbol: Symbol) -> Value:
    if symbol is not None and symbol[0] == "const":
        return ops.constant(symbol[1]) if symbol[1] is not None else NONE
    if symbol is not None and symbol[0] == "seq":
        return Value(Kind.PYTHON, pytype=symbol[1], elements=tuple(default_value(item) for item in symbol[2]))
    return UNKNOWN


def _inner_tensors(value: Value) -> Value:
    """Arrays and NumPy scalars inside an argument's structure become tensors."""
    if value.elements is None:
        return value
    converted: list[Value] = []
    for member in value.elements:
        if (member.kind is Kind.PYTHON and member.pytype in ("ndarray", "npscalar")) or (member.kind is Kind.TENSOR and member.eager):
            member = as_tensor(member)
        elif member.kind is Kind.PYTHON and member.elements is not None:
            member = _inner_tensors(member)
        converted.append(member)
    return replace(value, elements=tuple(converted))


def _role_text(ways: Iterable[Tracing], role: str) -> str:
    for way in ways:
        if way.role == role and way.steps:
            return f"handed to TensorFlow: {way.steps[-1].how}"
    return "handed to TensorFlow"
