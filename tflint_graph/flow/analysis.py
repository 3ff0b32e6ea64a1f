"""The analysis of a whole project: regions on demand, what they call, what their functions return, what parameters are."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import libcst as cst

from tflint_graph.flow import operators as ops
from tflint_graph.flow.calls import Bound
from tflint_graph.flow.lattice import is_nest, join, nest
from tflint_graph.flow.portable import portable, value_key
from tflint_graph.flow.results import as_tensor, structured
from tflint_graph.flow.statements import Interpreter
from tflint_graph.flow.values import NONE, UNBOUND, UNKNOWN, Kind, Reason, Value
from tflint_graph.flow.world import World
from tflint_graph.index.model import MODULE_SCOPE, ClassId, FunctionId, FunctionIndex, Parameter, Symbol
from tflint_graph.knowledge.api import canonical, lookup
from tflint_graph.link.keras import keras_class
from tflint_graph.link.model import Context, Unconverted
from tflint_graph.link.project import Project
from tflint_graph.link.trace_map import TraceMap
from tflint_graph.source.region import Region, RegionError, parse_region
from tflint_graph.source.text import decode, split_lines
from tflint_graph.source.walk import walk

MAX_CALLER_DEPTH = 4  # how far callers of callers are followed to learn a parameter
MAX_EAGER_CALLERS = 2  # how far through code that TensorFlow does not trace
MAX_SUMMARY_DEPTH = 4  # how far callees of callees are summarised
MAX_EAGER_SUMMARIES = 1  # the same in code that TensorFlow does not trace, where only the arguments of traced functions matter
MAX_SUMMARY_LINES = 150  # a longer function is summarised as unknown
KEPT_REGIONS = 1500  # parsed regions kept for summaries, some 75 KB each
KEPT_REGIONS_OF_MANY = 200  # the same in a project whose indexes fill the memory already
MANY_FILES = 3000
KEPT_INTERPRETERS = 100  # regions interpreted as callers of others and not yet checked themselves
MAX_MODULE_LINES = 3000  # a longer module's own statements are not analysed

_HANDED_OVER = frozenset({"dataset", "elements", "strategy", "callback"})

DEPTH = "depth"
_IN_GRAPH = {Context.CONVERTED, Context.TRACED}

HARMLESS_DECORATORS = frozenset({
    "builtins.staticmethod", "builtins.classmethod", "builtins.property", "functools.wraps", "tensorflow.function", "abc.abstractmethod",
    "typing.override", "typing.overload",
    "tensorflow.autograph.experimental.do_not_convert", "tensorflow.Module.with_name_scope", "keras.saving.register_keras_serializable", "typing.final",
    "keras.utils.register_keras_serializable", "tensorflow.autograph.do_not_convert", "tensorflow.autograph.to_graph", "functools.lru_cache", "functools.cache",
    "functools.cached_property", "tensorflow.recompute_grad", "tensorflow.custom_gradient", "tensorflow.compat.v1.flags",
    "tensorflow.python.util.tf_export.tf_export",
})  # fmt: skip


@dataclass(slots=True)
class Outcome:
    """What remains of a region's analysis: the calls of project functions in it (bound arguments, and whether the call runs
    eagerly), the attributes it stores on `self`,
    and the input signatures it wraps functions with."""

    outgoing: dict[FunctionId, list[tuple[dict[str, Value], bool]]] = field(default_factory=dict)
    attribute_writes: dict[str, Value] = field(default_factory=dict)
    signatures: dict[FunctionId, Value] = field(default_factory=dict)


def _outcome_of(interpreter: Interpreter) -> Outcome:
    """What other regions may ask of an interpreted one, without its tree."""
    eager = interpreter.eager_calls
    outgoing = {
        callee: [({k: portable(v) for k, v in values.items()}, node in eager) for node, values in sites.items()]
        for callee, sites in interpreter.outgoing.items()
    }
    signatures = {function: portable(value) for function, value in interpreter.signatures.items()}
    return Outcome(outgoing, {k: portable(v) for k, v in interpreter.attribute_writes.items()}, signatures)


class Field(NamedTuple):
    """A field of a dataclass or named tuple, and the class that declares it."""

    name: str
    annotation: Symbol
    owner: ClassId


class Fields(NamedTuple):
    """All fields of a class in the order of its generated constructor."""

    fields: tuple[Field, ...]
    is_tuple: bool


class Analysis:
    """Runs the interpreter over the regions of one project and answers what crosses regions."""

    harmless_decorators = HARMLESS_DECORATORS

    def __init__(self, project: Project, trace_map: TraceMap) -> None:
        self.project = project
        self.trace_map = trace_map
        self.world = World(project, self)
        self._traced_regions = {project.region_of(function) for function, traced in trace_map.traced.items() if traced.contexts() & _IN_GRAPH}
        self._kept_regions = KEPT_REGIONS if len(project.files) < MANY_FILES else KEPT_REGIONS_OF_MANY
        self._regions: OrderedDict[FunctionId, Region | None] = OrderedDict()
        self._lines: OrderedDict[str, list[str]] = OrderedDict()
        self._outcomes: dict[FunctionId, Outcome | None] = {}
        self._params: dict[FunctionId, dict[str, Value]] = {}
        self._summaries: dict[tuple[object, ...], Value] = {}
        self._decorators: dict[FunctionId, frozenset[str]] = {}
        self._writes: dict[FunctionId, dict[str, Value]] = {}
        self._fresh: OrderedDict[FunctionId, Interpreter] = OrderedDict()
        self._caller_depth = 0
        self._eager_depth = 0
        self._summary_depth = 0
        self._summarising: set[FunctionId] = set()
        self._open: set[FunctionId] = set()
        self._open_params: set[FunctionId] = set()
        self._open_writes: set[FunctionId] = set()
        self._cut_on: set[object] = set()  # the open questions, or DEPTH, that cut short the question being answered

    # -- regions ---------------------------------------------------------------------------------------------------------------------------------------------

    def region(self, function: FunctionId) -> Region | None:
        """The parsed region of an outermost function; None when LibCST cannot parse it."""
        if function in self._regions:
            self._regions.move_to_end(function)
            return self._regions[function]
        index = self.project.files.get(function.path)
        region: Region | None = None
        if index is not None and (function.qualname == MODULE_SCOPE or function.qualname in index.functions):
            try:
                region = parse_region(index, self.lines(function.path), function)
            except (RegionError, OSError, UnicodeError, SyntaxError):
                region = None
        self._regions[function] = region
        if len(self._regions) > self._kept_regions:
            self._regions.popitem(last=False)
        return region

    def lines(self, path: str) -> list[str]:
        """The lines of a file, each with one newline at its end."""
        found = self._lines.get(path)
        if found is None:
            found = [line + "\n" for line in split_lines(decode(self.project.source(path)))]
            self._lines[path] = found
            if len(self._lines) > 16:
                self._lines.popitem(last=False)
        return found

    def interpret(self, function: FunctionId, *, recording: bool) -> Interpreter | None:
        """Run a region with the parameters that its callers give it."""
        fresh = self._fresh.pop(function, None)
        if fresh is not None:
            return fresh
        region = self.region(function)
        if region is None:
            return None
        interpreter = Interpreter(self.world, region, recording=recording)
        saved = self._ask()
        self._open.add(function)
        try:
            if function.qualname == MODULE_SCOPE:
                interpreter.run_module()
            else:
                assert region.top is not None
                params = dict(self.params(function))
                context = self.own_context(function) or Context.EAGER
                interpreter.run_top(region.top, context, params, self.owner_class(function))
            interpreter.finish()
        finally:
            self._open.discard(function)
            whole = self._answer(("outcome", function), saved, outermost=self._caller_depth <= 1 and self._summary_depth == 0)
        if whole:
            self._outcomes[function] = _outcome_of(interpreter)
        return interpreter

    def _ask(self) -> set[object]:
        """Start a question: what cuts it short is collected from here on. Gives what `_answer` needs."""
        saved, self._cut_on = self._cut_on, set()
        return saved

    def _answer(self, question: object, saved: set[object], *, outermost: bool) -> bool:
        """End a question. True when its answer is the same from wherever it is asked, and may be kept: no question that is still open cut it short, and no
        depth limit, unless it had the whole depth to itself (`outermost`)."""
        cut = self._cut_on
        cut.discard(question)
        if outermost:
            cut.discard(DEPTH)
        self._cut_on = saved | cut
        return not cut

    def _cut(self, question: object) -> None:
        self._cut_on.add(question)

    def outcome(self, function: FunctionId) -> Outcome | None:
        """What a region calls, and with what; None while it is being analysed, when it is too far away, or unparsable."""
        if function in self._outcomes:
            return self._outcomes[function]
        eager = self.own_context(function) is None
        if function in self._open:
            self._cut(("outcome", function))
            return None
        if self._caller_depth >= MAX_CALLER_DEPTH or (eager and self._eager_depth >= MAX_EAGER_CALLERS):
            self._cut(DEPTH)
            return None
        if function.qualname == MODULE_SCOPE and self.project.files[function.path].lines > MAX_MODULE_LINES:
            self._outcomes[function] = None
            return None
        self._caller_depth += 1
        self._eager_depth += eager
        try:
            interpreter = self.interpret(function, recording=not eager)
        finally:
            self._caller_depth -= 1
            self._eager_depth -= eager
        if interpreter is None:
            self._outcomes[function] = None
            return None
        if function not in self._outcomes:
            return _outcome_of(interpreter)
        if not eager:
            self._fresh[function] = interpreter
            if len(self._fresh) > KEPT_INTERPRETERS:
                self._fresh.popitem(last=False)
        return self._outcomes[function]

    # -- parameters ------------------------------------------------------------------------------------------------------------------------------------------

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
        traced = self.trace_map.traced.get(function)
        if traced is None or any(way.certain for way in traced.ways):
            return True
        seen = False
        for way in traced.ways:
            if way.role != "callee" or not way.steps:
                return False
            step = way.steps[-1]
            region = self._region_at(step.path, step.line)
            outcome = self.outcome(region) if region is not None else None
            if outcome is None or region is None:
                seen = True
            elif any(not eager for _, eager in outcome.outgoing.get(function, ())):
                caller = self.trace_map.traced.get(region)
                if caller is not None and any(w.certain for w in caller.ways):
                    return True
                seen = True
        return False if seen else None

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

    def declared(self, function: FunctionId) -> dict[str, Value]:
        """What a function's own text says of its parameters: the object of a method, tensor annotations."""
        index = self.project.function(function)
        values: dict[str, Value] = {}
        if index is None:
            return values
        owner = self.owner_class(function)
        for k, parameter in enumerate(index.params):
            value = UNKNOWN
            if k == 0 and owner is not None and "builtins.staticmethod" not in self.decorator_names(function):
                kind = Kind.CLASS if "builtins.classmethod" in self.decorator_names(function) else Kind.INSTANCE
                value = Value(kind, ref=owner)
            elif parameter.kind == "args":
                value = Value(Kind.PYTHON, pytype="tuple")
            elif parameter.kind == "kwargs":
                value = Value(Kind.PYTHON, pytype="dict")
            elif parameter.annotation is not None:
                value = self._annotated(function, index, parameter)
            values[parameter.name] = value
        return values

    def _annotated(self, function: FunctionId, index: FunctionIndex, parameter: Parameter) -> Value:
        return self._annotated_value(function.path, index.scope, parameter.annotation, f"`{parameter.name}`", index.line)

    def _annotated_value(self, path: str, scope: str, annotation: Symbol, what: str, line: int) -> Value:
        """The value that an annotation promises: a tensor, variable, dataset, an object of the project, a named tuple of such; UNKNOWN otherwise."""
        entity = self.project.resolve(path, scope, annotation)
        if entity is None:
            return UNKNOWN
        if entity.kind == "api" and isinstance(entity.target, str):
            name = canonical(entity.target)
            why = Reason(f"{what} is annotated {name.replace('tensorflow', 'tf', 1)}", path, line)
            if name in ("tensorflow.Tensor", "tensorflow.RaggedTensor", "tensorflow.SparseTensor"):
                ragged = {"tensorflow.RaggedTensor": "ragged", "tensorflow.SparseTensor": "sparse"}.get(name)
                return Value(Kind.TENSOR, ragged=ragged, why=why)
            if name == "tensorflow.Variable":
                return Value(Kind.VARIABLE, why=why)
            if name == "tensorflow.data.Dataset":
                return Value(Kind.DATASET, why=why)
        if entity.kind == "class" and isinstance(entity.target, ClassId):
            fields = self.constructor_fields(entity.target)
            if fields is None or not fields.is_tuple:
                return Value(Kind.INSTANCE, ref=entity.target)
            values = tuple(self._annotated_value(f.owner.path, MODULE_SCOPE, f.annotation, f"`{f.name}`", line) for f in fields.fields)
            return Value(Kind.PYTHON, pytype="namedtuple", const=tuple(f.name for f in fields.fields), elements=values)
        return UNKNOWN

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
                values[name] = defaults[name] if defaults is not None and name in defaults else _default(parameter.default)
            else:
                values[name] = UNKNOWN
        return values

    # -- functions -------------------------------------------------------------------------------------------------------------------------------------------

    def summary(self, function: FunctionId, values: dict[str, Value], context: Context) -> Value | None:
        """What a function of another region returns for these arguments."""
        index = self.project.function(function)
        if index is None or index.is_async:
            return None
        if index.is_generator:
            return Value(Kind.PYTHON, pytype="generator")
        if index.is_lambda and self.project.region_of(function).qualname == MODULE_SCOPE:
            return self._lambda_summary(function, index, values, context)
        if self.project.region_of(function) != function or index.end_line - index.line > MAX_SUMMARY_LINES:
            return None
        limit = MAX_EAGER_SUMMARIES if context is Context.EAGER else MAX_SUMMARY_DEPTH
        if function in self._summarising:
            self._cut(("summary", function))
            return None
        if self._summary_depth >= limit:
            self._cut(DEPTH)
            return None
        own = self.own_context(function)
        if context is Context.EAGER and own is not None and self.is_tf_function(function):
            context = own
        values = self.as_traced(function, values, None) if self.is_tf_function(function) else values
        key = (function, context is Context.EAGER, *((k, value_key(v)) for k, v in sorted(values.items())))
        found = self._summaries.get(key) or self._summaries.get((self._summary_depth, *key))
        if found is not None:
            return found
        region = self.region(function)
        if region is None or region.top is None:
            return None
        interpreter = Interpreter(self.world, region, recording=False)
        saved = self._ask()
        self._summarising.add(function)
        self._summary_depth += 1
        try:
            value = interpreter.run_top(region.top, context, {**self.declared_objects(function), **values}, self.owner_class(function))
        finally:
            self._summary_depth -= 1
            self._summarising.discard(function)
            only_depth = self._cut_on <= {DEPTH, ("summary", function)}
            whole = self._answer(("summary", function), saved, outermost=False)
        found = portable(value)
        if whole:
            self._summaries[key] = found
        elif only_depth:
            self._summaries[(self._summary_depth, *key)] = found  # from here, and from everywhere at this depth
        return found

    def _lambda_summary(self, function: FunctionId, index: FunctionIndex, values: dict[str, Value], context: Context) -> Value | None:
        """What a lambda of the module's own statements returns: its statement is parsed on its own."""
        if function in self._summarising:
            self._cut(("summary", function))
            return None
        for assignments in self.project.files[function.path].assignments.values():
            for assignment in assignments:
                if assignment.line <= index.line <= assignment.end_line and assignment.end_line - assignment.line < 40:
                    text = "".join(self.lines(function.path)[assignment.line - 1 : assignment.end_line])
                    return self._run_lambda(function, text, assignment.line, values, context)
        return None

    def _run_lambda(self, function: FunctionId, text: str, line: int, values: dict[str, Value], context: Context) -> Value | None:
        try:
            tree = cst.parse_module(text)
        except cst.ParserSyntaxError:
            return None
        lambdas = [node for node in walk(tree) if isinstance(node, cst.Lambda)]
        if len(lambdas) != 1:
            return None
        interpreter = Interpreter(self.world, Region(FunctionId(function.path, MODULE_SCOPE), tree, line - 1, None), recording=False)
        self._summarising.add(function)
        try:
            return portable(interpreter.run_top(lambdas[0], context, dict(values), None))
        finally:
            self._summarising.discard(function)

    def declared_objects(self, function: FunctionId) -> dict[str, Value]:
        return {k: v for k, v in self.declared(function).items() if not v.is_unknown}

    def property_value(self, function: FunctionId, base: Value) -> Value:
        index = self.project.function(function)
        if index is None or not index.params:
            return UNKNOWN
        found = self.summary(function, {index.params[0].name: base}, Context.TRACED)
        return found if found is not None else UNKNOWN

    def is_tf_function(self, function: FunctionId) -> bool:
        """Whether the function itself is handed to tf.function."""
        traced = self.trace_map.traced.get(function)
        return traced is not None and any(way.role == "root" for way in traced.ways)

    def own_context(self, function: FunctionId) -> Context | None:
        """In which context TensorFlow runs the function's body; None when nothing is known to trace it."""
        traced = self.trace_map.traced.get(function)
        if traced is None:
            return None
        contexts = traced.contexts()
        for context in (Context.CONVERTED, Context.TRACED):
            if context in contexts:
                return context
        return None

    def owner_class(self, function: FunctionId) -> ClassId | None:
        index = self.project.function(function)
        return ClassId(function.path, index.class_qualname) if index is not None and index.class_qualname is not None else None

    def keras_version(self, function: FunctionId) -> int | None:
        """The Keras that calls a function, where something certain decides it."""
        owner = self.owner_class(function)
        kind = keras_class(self.project, owner) if owner is not None else None
        return kind.version if kind is not None else self.project.keras_at(function.path)

    def is_generator(self, function: FunctionId) -> bool:
        index = self.project.function(function)
        return index is not None and index.is_generator

    def decorator_names(self, function: FunctionId) -> frozenset[str]:
        """Canonical names of a function's decorators; project decorators as "project"; unknown ones as "unknown"."""
        found = self._decorators.get(function)
        if found is None:
            index = self.project.function(function)
            names: set[str] = set()
            for symbol in index.decorators if index is not None else ():
                names.add(self._decorator_name(function.path, index.scope if index is not None else MODULE_SCOPE, symbol))
            found = self._decorators[function] = frozenset(names)
        return found

    def _decorator_name(self, path: str, scope: str, symbol: Symbol) -> str:
        if symbol is None:
            return "unknown"
        if symbol[0] == "call":
            inner = self.project.resolve(path, scope, symbol[1])
            if inner is not None and inner.kind == "api" and inner.target == "functools.partial" and symbol[2]:
                return self._decorator_name(path, scope, symbol[2][0])
            symbol = symbol[1]
        if symbol is not None and symbol[0] == "attr" and symbol[2] in ("setter", "getter", "deleter"):
            return "builtins.property"
        entity = self.project.resolve(path, scope, symbol)
        if entity is None:
            return (
                f"builtins.{symbol[1]}"
                if symbol is not None and symbol[0] == "name" and symbol[1] in ("staticmethod", "classmethod", "property")
                else "unknown"
            )
        return canonical(entity.target) if entity.kind == "api" and isinstance(entity.target, str) else "project"

    def gives_gradient_too(self, function: FunctionId) -> bool:
        """Whether the function's own result is (result, gradient function), of which callers see the first."""
        return "tensorflow.custom_gradient" in self.decorator_names(function)

    def hides_result(self, function: FunctionId) -> bool:
        """Whether a decorator that we do not know stands between a caller and the function's own result."""
        return bool(self.decorator_names(function) - self.harmless_decorators) and not self.is_tf_function(function)

    # -- classes ---------------------------------------------------------------------------------------------------------------------------------------------

    def attribute(self, cls: ClassId, name: str, find: Callable[[], Value]) -> tuple[Value, bool]:
        """The answer of `find` to what an attribute is, and whether it may be kept."""
        saved = self._ask()
        value = find()
        return value, self._answer(("attribute", cls, name), saved, outermost=True)

    def stored_attribute(self, cls: ClassId, name: str) -> Value:
        """The join of everything that the methods of a class and its relatives store under an attribute of `self`."""
        joined: Value | None = None
        seen: set[FunctionId] = set()
        sites = self.project.attribute(cls, name)
        told = [self._told_by_symbol(method, symbol) for method, symbol in sites]
        if all(value is not None for value in told):
            values = [value for value in told if value is not None]
        else:
            values = []
            for method, symbol in sites:
                if method not in seen:
                    seen.add(method)
                    known = self.project.function(method) is not None
                    values.append(self._method_writes(method).get(name, UNKNOWN) if known else _default(symbol) if symbol is not None else UNKNOWN)
        for value in values:
            joined = value if joined is None else join(joined, value)
        if joined is None or joined.is_none:
            return UNKNOWN
        return _variable_constant(joined)

    def _told_by_symbol(self, method: FunctionId, symbol: Symbol) -> Value | None:
        """What the linker's symbol alone says of a stored value: an object of a known class. None where the method has to be run."""
        if symbol is None or symbol[0] != "call" or self.project.function(method) is None:
            return None
        entity = self.project.resolve(method.path, method.qualname, symbol[1])
        if entity is None or entity.kind != "api":
            return None
        value = self.world.entity_value(entity)
        api = lookup(value.ref) if value.kind is Kind.CLASS and isinstance(value.ref, str) else None
        return Value(Kind.INSTANCE, ref=api.ref) if api is not None and api.returns == "instance" else None

    def attributes_changed(self, method: FunctionId, depth: int = 3) -> frozenset[str]:
        """The attributes of its object that a method assigns, itself or through methods it calls on the object, `depth` calls deep."""
        owner, index = self.owner_class(method), self.project.function(method)
        cls = self.project.class_index(owner) if owner is not None else None
        if owner is None or cls is None or index is None or not index.params:
            return frozenset()
        found = {name for name, sites in cls.attributes.items() if any(scope == method.qualname for scope, _ in sites)}
        receiver = ("name", index.params[0].name)
        for call in index.calls if depth else ():
            callee = call.symbol[1]
            if callee is not None and callee[0] == "attr" and callee[1] == receiver:
                other = self.project.method(owner, callee[2])
                if other is not None and other != method:
                    found |= self.attributes_changed(other, depth - 1)
        return frozenset(found)

    def _method_writes(self, method: FunctionId) -> dict[str, Value]:
        found = self._writes.get(method)
        if found is not None:
            return found
        if method in self._open_writes:
            self._cut(("writes", method))
            return {}
        saved = self._ask()
        depths = self._caller_depth, self._eager_depth, self._summary_depth
        # The same depth is left from wherever this is asked, so that the answer is the same.
        self._caller_depth, self._eager_depth, self._summary_depth = MAX_CALLER_DEPTH - 1, MAX_EAGER_CALLERS - 1, MAX_SUMMARY_DEPTH - 1
        self._open_writes.add(method)
        outcome = self._outcomes.get(method)
        try:
            found = outcome.attribute_writes if outcome is not None else self._run_for_writes(method)
        finally:
            self._open_writes.discard(method)
            self._caller_depth, self._eager_depth, self._summary_depth = depths
            whole = self._answer(("writes", method), saved, outermost=True)
        if whole:
            self._writes[method] = found
        return found

    def _run_for_writes(self, method: FunctionId) -> dict[str, Value]:
        region = self.region(method) if self.project.region_of(method) == method else None
        if region is None or region.top is None:
            return {}
        interpreter = Interpreter(self.world, region, recording=False)
        params = self.params(method) if method.qualname.endswith(".__init__") else self.declared(method)
        interpreter.run_top(region.top, self.own_context(method) or Context.EAGER, dict(params), self.owner_class(method))
        return {k: portable(v) for k, v in interpreter.attribute_writes.items()}

    def attribute_before(self, cls: ClassId, name: str, function: FunctionId | None) -> Value:
        """What `self.name` is at the start of a method: UNBOUND only if no other method, base or class body can have set it."""
        entry = self.project.class_index(cls)
        if self.project.method(cls, name) is not None or entry is None or entry.decorators:
            return UNKNOWN
        writers = {method for method, _ in self.project.attribute(cls, name)}
        others = writers - ({function} if function is not None else set())
        if not others and self.project.bases_known(cls):
            bases = [b for b in self.project.bases(cls) if isinstance(b, str)]
            if all(canonical(b) in ("builtins.object", "object", "tensorflow.Module") for b in bases) and not self._stored_from_outside(cls, name):
                return UNBOUND
        elsewhere = [symbol for method, symbol in self.project.attribute(cls, name) if method != function]
        if self._stored_from_outside(cls, name):
            return UNKNOWN
        if elsewhere and all(symbol == ("const", None) for symbol in elsewhere):
            return NONE
        return self.world.instance_attribute(Value(Kind.INSTANCE, ref=cls), name)

    def _stored_from_outside(self, cls: ClassId, name: str) -> bool:
        """Whether code other than the class's own methods may set the attribute: `obj.name = ...`, setattr and the like, in a file that can get an instance."""
        project = self.project
        for path in project.files:
            stores = project.files[path].foreign_stores
            if stores and (name in stores or "*" in stores) and project.components.connected(path, cls.path):
                return True
        return False

    def local_class(self, region: FunctionId, name: str, line: int) -> ClassId | None:
        """The ClassId of a class statement inside a region."""
        index = self.project.files.get(region.path)
        if index is None:
            return None
        candidates = [c for c in index.classes.values() if c.name == name]
        exact = [c for c in candidates if c.line == line]
        if exact or len(candidates) == 1:
            return ClassId(region.path, (exact or candidates)[0].qualname)
        return None

    def constructor_fields(self, cls: ClassId) -> Fields | None:
        """The fields that the generated constructor of a dataclass or typing.NamedTuple takes; None for classes with a constructor of their own."""
        is_tuple = False
        found: list[Field] = []
        for base in reversed(self.project.bases(cls)):
            index = self.project.class_index(base) if isinstance(base, ClassId) else None
            if isinstance(base, str) and base.endswith("typing.NamedTuple"):
                is_tuple = True
            if index is None or not isinstance(base, ClassId):
                continue
            if not is_tuple and not any(self._decorator_name(base.path, index.scope, d).endswith("dataclasses.dataclass") for d in index.decorators):
                continue
            for name, annotation, _ in index.fields:
                found = [f for f in found if f.name != name] + [Field(name, annotation, base)]
        return Fields(tuple(found), is_tuple) if found else None

    def annotated_field(self, cls: ClassId, name: str) -> Value:
        """A field of a dataclass whose annotation says that it is a tensor; UNKNOWN otherwise."""
        fields = self.constructor_fields(cls)
        for each in fields.fields if fields is not None else ():
            if each.name == name:
                index = self.project.class_index(each.owner)
                line = index.line if index is not None else 1
                return self._annotated_value(each.owner.path, MODULE_SCOPE, each.annotation, f"`{name}`", line)
        return UNKNOWN

    # -- module level ----------------------------------------------------------------------------------------------------------------------------------------

    def is_plain_global(self, path: str, name: str) -> bool:
        """A module-level name that is bound by assignment (or a loop), not by an import, def or class."""
        index = self.project.files[path]
        return name not in index.imports and name not in index.classes and name not in index.functions

    def module_level_value(self, path: str, name: str) -> Value:
        """The value of a module-level assignment, evaluated on its own."""
        index = self.project.files.get(path)
        assignments = index.assignments.get(name, ()) if index is not None else ()
        if not 1 <= len(assignments) <= 3 or index is None:
            return UNKNOWN
        joined: Value | None = None
        lines = self.lines(path)
        for assignment in assignments:
            if assignment.end_line - assignment.line > 40:
                return UNKNOWN
            text = "".join(lines[assignment.line - 1 : assignment.end_line])
            value = self._evaluate_statement(path, name, text, assignment.line)
            joined = value if joined is None else join(joined, value)
        if joined is None or joined.is_none:
            return UNKNOWN
        return joined if name.isupper() and len(assignments) == 1 else _variable_constant(joined)

    def _evaluate_statement(self, path: str, name: str, text: str, line: int) -> Value:
        if text[:1] in (" ", "\t"):
            return UNKNOWN
        try:
            tree = cst.parse_module(text)
        except cst.ParserSyntaxError:
            return UNKNOWN
        region = Region(FunctionId(path, MODULE_SCOPE), tree, line - 1, None)
        interpreter = Interpreter(self.world, region, recording=False)
        return portable(interpreter.evaluate_assignment(tree, name))

    def imported_value(self, function: FunctionId, name: str) -> Value:
        """The value of a name that an import statement inside a function binds."""
        entity = self.project.resolve(function.path, function.qualname, ("name", name))
        return self.world.entity_value(entity) if entity is not None else UNKNOWN


def _default(symbol: Symbol) -> Value:
    if symbol is not None and symbol[0] == "const":
        return ops.constant(symbol[1]) if symbol[1] is not None else NONE
    if symbol is not None and symbol[0] == "seq":
        return Value(Kind.PYTHON, pytype=symbol[1], elements=tuple(_default(item) for item in symbol[2]))
    return UNKNOWN


def _variable_constant(value: Value) -> Value:
    """A value that other code may change: its type stays, the constant goes."""
    if value.has_const and value.pytype in ("int", "float", "bool", "str", "bytes"):
        return Value(Kind.PYTHON, pytype=value.pytype, why=value.why)
    if value.is_container and value.pytype not in ("tuple", "namedtuple"):
        return Value(Kind.PYTHON, pytype=value.pytype, element=value.element, elements=None, items=None) if not value.elements and not value.items else value
    return value


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


def _role_text(ways: Iterable[object], role: str) -> str:
    for way in ways:
        if getattr(way, "role", None) == role and way.steps:  # type: ignore[attr-defined]
            return f"handed to TensorFlow: {way.steps[-1].how}"  # type: ignore[attr-defined]
    return "handed to TensorFlow"
