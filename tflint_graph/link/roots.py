"""Where tracing starts: tf.function in every spelling, Dataset callbacks, Keras methods. One pass over all files finds the places, a second one reads them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from tflint_graph.findings import TraceStep
from tflint_graph.index.model import MODULE_SCOPE, Call, ClassId, FileIndex, FunctionId, FunctionIndex, Symbol
from tflint_graph.index.symbols import spelled
from tflint_graph.index.takers import DATASET_METHODS, DATASET_TRANSFORMATIONS, FUNCTIONS, Taker, Treatment
from tflint_graph.link.datasets import DATASET_RESULTS
from tflint_graph.link.edges import Edges, handed_functions
from tflint_graph.link.keras import ALL_METHODS, CONVERTED_BY_KERAS_2, METHODS, MODEL, api_family, keras_class
from tflint_graph.link.meanings import Meaning, is_class_method, is_property, is_static, taker_name
from tflint_graph.link.model import Context, Tracing, Unconverted
from tflint_graph.link.project import Project

_ROOT_NAMES = frozenset(name.rpartition(".")[2] for name, taker in FUNCTIONS.items() if taker.treatment is Treatment.ROOT)
_PLACES = (
    _ROOT_NAMES
    | frozenset(DATASET_METHODS)
    | frozenset(name.rpartition(".")[2] for name in DATASET_TRANSFORMATIONS)
    | {"apply", "compile", "Lambda", "vectorized_map"}
)
_PLAIN_DECORATORS = frozenset({"property", "staticmethod", "classmethod", "abstractmethod", "setter", "overload", "contextmanager", "dataclass", "wraps"})
_PARALLEL = frozenset({"num_parallel_calls", "cycle_length", "block_length", "deterministic"})
_CHAINED = frozenset("batch prefetch shuffle repeat padded_batch from_tensor_slices from_generator list_files with_options unbatch".split())


class Root(NamedTuple):
    """A function and the way in which TensorFlow comes to trace it."""

    function: FunctionId
    way: Tracing


class Roots:
    """Finds all roots of a project."""

    def __init__(self, project: Project, edges: Edges) -> None:
        self.project = project
        self.edges = edges
        self.evaluator = project.evaluator
        self._places: list[tuple[FunctionId, Call]] = []
        self._decorated: list[FunctionId] = []
        self._classes: list[ClassId] = []
        self._aliases: dict[str, list[FunctionId]] = {}

    def find(self) -> Iterator[Root]:
        """Every root, in the order of the files."""
        for path in self.project.files:
            self._survey(self.project.files[path])
        aliases = {name for name, scopes in self._aliases.items() if any(self._is_tf_function(scope, name) for scope in scopes)}
        if aliases:
            for path in self.project.files:
                self._survey_aliases(self.project.files[path], aliases)
        self.evaluator.forget()
        for function in self._decorated:
            yield from map(self._as_configured, self._decorated_root(function))
        for scope, call in self._places:
            yield from map(self._as_configured, self._called_root(scope, call))
        for cls in self._classes:
            yield from self._keras_methods(cls)

    def _as_configured(self, root: Root) -> Root:
        """After tf.config.run_functions_eagerly(True) in its own file a tf.function is never traced; Dataset callbacks still are."""
        if root.way.role == "root" and self.project.files[root.function.path].runs_eagerly:
            return root._replace(way=replace(root.way, context=Context.EAGER, unconverted=None))
        return root

    # The survey: where to look, and which functions are passed to which parameters

    def _survey(self, index: FileIndex) -> None:
        path = index.path
        functions = {entry.name for entry in index.functions.values() if not entry.is_lambda}
        candidates = functions | set(index.imports)
        for entry in index.functions.values():
            scope = FunctionId(path, entry.qualname)
            if entry.decorators and is_property(entry):
                self.edges.property_names.add(entry.name)
            if entry.decorators and any(_last(d) not in _PLAIN_DECORATORS for d in entry.decorators):
                self._decorated.append(scope)
                self._decorator_arguments(scope, entry)
            for call in entry.calls:
                symbol = call.symbol
                last = _last(symbol[1])
                if last in _PLACES or (last == "partial" and symbol[1][0] == "call" and _may_be_tf_function(symbol[1])):
                    self._places.append((scope, call))
                if last == "apply":
                    self._dataset_argument(scope, symbol)
                elif _hands_a_function(symbol, candidates) or _hands_a_dataset(symbol, entry):
                    self._arguments(scope, symbol)
            for name, symbols in entry.bindings.items():
                for symbol in symbols:
                    if symbol is not None and symbol[0] in ("attr", "name", "either", "call") and name not in _ROOT_NAMES and _may_be_tf_function(symbol):
                        self._aliases.setdefault(name, []).append(scope)
        for qualname, cls in index.classes.items():
            if not ALL_METHODS.isdisjoint(cls.methods):
                self._classes.append(ClassId(path, qualname))

    def _is_tf_function(self, scope: FunctionId, name: str) -> bool:
        """The name really is tf.function under another name."""
        for meaning in self.evaluator.name(scope.path, scope.qualname, name):
            taker = FUNCTIONS.get(taker_name(meaning.target)) if meaning.kind == "api" else None
            if taker is not None and taker.treatment is Treatment.ROOT:
                return True
        return False

    def _survey_aliases(self, index: FileIndex, aliases: set[str]) -> None:
        for entry in index.functions.values():
            if aliases.isdisjoint(entry.called_names) and entry.qualname != MODULE_SCOPE:
                continue
            for call in entry.calls:
                if _last(call.symbol[1]) in aliases:
                    self._places.append((FunctionId(index.path, entry.qualname), call))

    def _decorator_arguments(self, function: FunctionId, entry: FunctionIndex) -> None:
        for decorator in entry.decorators:
            if decorator is None or _last(decorator) in _PLAIN_DECORATORS:
                continue
            for meaning in self.evaluator.value(function.path, entry.scope, decorator):
                if meaning.kind == "function":
                    self._bind(meaning, (Meaning("function", function),), {})
                elif meaning.kind == "class":
                    self._bind_constructor(meaning.target, (Meaning("function", function),), {})

    def _arguments(self, scope: FunctionId, symbol: Symbol) -> None:
        """Note which functions a call hands to the parameters of a project function or constructor."""
        _, callee, args, kwargs, _ = symbol
        if callee is None:
            return
        for meaning in self.evaluator.value(scope.path, scope.qualname, callee):
            if meaning.kind in ("function", "class", "super", "instance"):
                given = tuple(self._function_argument(scope, a) for a in args)
                named = {k: self._function_argument(scope, a) for k, a in kwargs if k is not None}
                if meaning.kind == "function":
                    self._bind(meaning, given, named)
                elif meaning.kind == "class":
                    self._bind_constructor(meaning.target, given, named)
                elif meaning.kind == "instance" and (call := self.project.method(meaning.target, "__call__")) is not None:
                    self._bind(Meaning("function", call, meaning.target), given, named)

    def _function_argument(self, scope: FunctionId, symbol: Symbol) -> Meaning | None:
        if symbol is None or symbol[0] not in ("name", "attr", "lambda", "call", "seq"):
            return None
        found = [m for m in self.evaluator.value(scope.path, scope.qualname, symbol) if m.kind in ("function", "class", "instance", "dataset", "seq")]
        return found[0] if len(found) == 1 else None

    def _bind_constructor(self, cls: ClassId, args: tuple[Meaning | None, ...], kwargs: dict[str, Meaning | None]) -> None:
        method = self.project.method(cls, "__init__")
        if method is not None:
            self._bind(Meaning("function", method, cls), args, kwargs)

    def _bind(self, callee: Meaning, args: tuple[Meaning | None, ...], kwargs: dict[str, Meaning | None]) -> None:
        entry = self.project.function(callee.target)
        if entry is None:
            return
        params = [p for p in entry.params if p.kind == "positional"]
        if entry.class_qualname is not None and not is_static(entry) and (callee.bound is not None or is_class_method(entry)):
            params = params[1:]
        pairs = [(p.name, a) for p, a in zip(params, args)]
        names = {p.name for p in entry.params}
        pairs += [(k, a) for k, a in kwargs.items() if k in names]
        for name, given in pairs:
            if given is not None:
                found = self.evaluator.arguments.setdefault((callee.target, name), [])
                if given not in found:
                    found.append(given)

    def _dataset_argument(self, scope: FunctionId, symbol: Symbol) -> None:
        """`ds.apply(f)` calls f with the dataset, outside of any graph."""
        _, callee, args, _, _ = symbol
        if callee[0] != "attr" or len(args) != 1:
            return
        if any(m.kind == "dataset" for m in self.evaluator.value(scope.path, scope.qualname, callee[1])):
            for meaning in self.edges.functions_in(scope, args[0]):
                if meaning.kind == "function":
                    self._bind(meaning, (Meaning("dataset", None),), {})

    # Decorators

    def _decorated_root(self, function: FunctionId) -> Iterator[Root]:
        entry = self.project.function(function)
        if entry is None:
            return
        below: set[str] = set()
        for k in range(len(entry.decorators) - 1, -1, -1):
            decorator = entry.decorators[k]
            effect = self.evaluator.decorators.effect(function, entry, decorator)
            if "traced" in effect:
                line = decorator[4] if decorator[0] == "call" else entry.first_line + k
                step = TraceStep(function.path, line, f"@{_decorator_name(decorator)}")
                yield Root(function, _root_way(step, below, python="python" in effect))
                return
            below |= effect

    # Calls

    def _called_root(self, scope: FunctionId, call: Call) -> Iterator[Root]:
        _, callee, args, kwargs, line = call.symbol
        last = _last(callee)
        if callee[0] == "attr" and (last in DATASET_METHODS or last == "compile"):
            if last == "compile":
                yield from self._compiled(scope, call)
                return
            receiver = self.evaluator.value(scope.path, scope.qualname, callee[1])
            certain = self._is_dataset(receiver, callee, args, kwargs)
            if certain is not None:
                if last == "from_generator":
                    return
                yield from self._handed(scope, DATASET_METHODS[last or ""], args, kwargs, line, certain)
                return
        for meaning in self.evaluator.value(scope.path, scope.qualname, callee):
            if meaning.kind != "api":
                continue
            dotted = taker_name(meaning.target)
            taker = FUNCTIONS.get(dotted) or DATASET_TRANSFORMATIONS.get(dotted)
            if taker is None:
                continue
            if taker.treatment is Treatment.ROOT:
                python = "python" in meaning.via or any(k == "autograph" and v == ("const", False) for k, v in kwargs)
                yield from self._handed(scope, taker, args, kwargs, line, True, python=python)
            elif taker.treatment in (Treatment.DATASET, Treatment.LOSS) or dotted == "tensorflow.vectorized_map":
                yield from self._handed(scope, taker, args, kwargs, line, True)

    def _is_dataset(
        self, receiver: tuple[Meaning, ...], callee: Symbol, args: tuple[Symbol, ...], kwargs: tuple[tuple[str | None, Symbol], ...]
    ) -> bool | None:
        """True when the receiver certainly is a dataset, False when it looks like one, None otherwise."""
        datasets = [m.certain for m in receiver if m.kind == "dataset"]
        if datasets:
            return any(datasets)
        if any(m.kind in ("api", "class", "module", "function", "const", "seq") for m in receiver) or not any(m.kind == "unknown" for m in receiver):
            api = [m for m in receiver if m.kind == "api" or m.kind == "result"]
            if not api:
                return None
        if any(k in _PARALLEL for k, _ in kwargs) or any("AUTOTUNE" in (spelled(a) or "") for a in args):
            return True
        symbol = callee[1]
        chained = False
        while symbol is not None and symbol[0] in ("call", "attr", "sub"):
            if symbol[0] == "attr" and symbol[2] in _CHAINED:
                chained = True
            if symbol[0] == "attr" and _is_dataset_name(symbol[2]):
                return False
            symbol = symbol[1]
        if symbol is not None and symbol[0] == "name" and _is_dataset_name(symbol[1]):
            return False
        return False if chained else None

    def _handed(
        self,
        scope: FunctionId,
        taker: Taker,
        args: tuple[Symbol, ...],
        kwargs: tuple[tuple[str | None, Symbol], ...],
        line: int,
        certain: bool,
        *,
        python: bool = False,
    ) -> Iterator[Root]:
        for symbol in handed_functions(taker, args, kwargs):
            for meaning in self.edges.functions_in(scope, symbol):
                function: FunctionId | None = meaning.target if meaning.kind == "function" else self.project.method(meaning.target, "__call__")
                if function is None or ("traced" in meaning.via and taker.treatment is not Treatment.DATASET):
                    continue
                entry = self.project.function(function)
                name = entry.name if entry is not None else function.qualname
                if taker.treatment is Treatment.ROOT:
                    text = "tf.function(lambda)" if entry is not None and entry.is_lambda else f"tf.function({name})"
                    yield Root(function, _root_way(TraceStep(scope.path, line, text), set(meaning.via), python=python))
                elif taker.treatment is Treatment.DATASET:
                    step = TraceStep(scope.path, line, f"{taker.phrase} callback")
                    yield Root(function, _way(step, "dataset", set(meaning.via), certain))
                elif taker.treatment is Treatment.LOSS:
                    step = TraceStep(scope.path, line, taker.phrase)
                    yield Root(function, self._keras_way(step, self.project.keras_at(scope.path), certain, converts=taker.phrase != "Lambda layer"))
                else:
                    step = TraceStep(scope.path, line, f"{taker.phrase} callback")
                    yield Root(function, Tracing(Context.TRACED, "callback", (step,), Unconverted.CALLBACK, certain))

    # Keras

    def _keras_methods(self, cls: ClassId) -> Iterator[Root]:
        kind = keras_class(self.project, cls)
        if kind is None:
            return
        entry = self.project.class_index(cls)
        for name in sorted(METHODS[kind.family]):
            qualname = entry.methods.get(name) if entry is not None else None
            if qualname is None:
                continue
            function = FunctionId(cls.path, qualname)
            found = self.project.function(function)
            via = self.evaluator.definition(function)[0].via
            if found is None or "traced" in via:
                continue
            step = TraceStep(cls.path, found.line, f"Keras calls {cls.qualname}.{name}")
            way = self._keras_way(step, kind.version, kind.certain, converts=name in CONVERTED_BY_KERAS_2)
            if "unconverted" in via:
                way = Tracing(Context.TRACED, "keras", (step,), Unconverted.DO_NOT_CONVERT, kind.certain)
            yield Root(function, way)

    def _keras_way(self, step: TraceStep, version: int | None, certain: bool, *, converts: bool = True) -> Tracing:
        if version == 2 and converts:
            return Tracing(Context.CONVERTED, "keras", (step,), None, certain)
        if version == 2:
            return Tracing(Context.TRACED, "keras", (step,), Unconverted.KERAS_2, certain)
        return Tracing(Context.TRACED, "keras", (step,), Unconverted.KERAS_3, certain)

    def _compiled(self, scope: FunctionId, call: Call) -> Iterator[Root]:
        """`model.compile(optimizer, loss, metrics)`: the functions among loss and metrics."""
        _, callee, args, kwargs, line = call.symbol
        receiver = self.evaluator.value(scope.path, scope.qualname, callee[1])
        certain = False
        for meaning in receiver:
            if meaning.kind == "result" and api_family(meaning.target) == MODEL:
                certain = True
            elif meaning.kind in ("instance", "super"):
                kind = keras_class(self.project, meaning.target)
                certain = certain or (kind is not None and kind.family == MODEL)
        if not certain and not any(m.kind in ("unknown", "result", "member") for m in receiver):
            return
        taker = Taker(Treatment.LOSS, "Model.compile", (1, 2), ("loss", "metrics", "weighted_metrics"))
        if not certain and not any(k in ("loss", "optimizer", "metrics") for k, _ in kwargs):
            return
        for symbol in handed_functions(taker, args, kwargs):
            for meaning in self.edges.functions_in(scope, symbol):
                if meaning.kind == "function" and "traced" not in meaning.via:
                    yield Root(
                        meaning.target, self._keras_way(TraceStep(scope.path, line, "handed to Model.compile"), self.project.keras_at(scope.path), certain)
                    )


def _last(symbol: Symbol) -> str | None:
    """The last name of a callee or decorator."""
    if symbol is None:
        return None
    if symbol[0] == "call":
        return _last(symbol[1])
    if symbol[0] == "attr":
        return str(symbol[2])
    return str(symbol[1]) if symbol[0] == "name" else None


def _hands_a_function(symbol: Symbol, candidates: set[str]) -> bool:
    """The call has an argument that may be a function of the project."""
    for argument in (*symbol[2], *[v for _, v in symbol[3]]):
        if argument is None:
            continue
        kind = argument[0]
        if kind == "lambda" or (kind == "name" and argument[1] in candidates) or (kind == "attr" and argument[2] in candidates):
            return True
        if kind == "seq" and any(i is not None and (i[0] == "lambda" or (i[0] == "name" and i[1] in candidates)) for i in argument[2]):
            return True
        if kind == "call" and argument[1] is not None and _last(argument[1]) in ("partial", "function"):
            return True
    return False


def _hands_a_dataset(symbol: Symbol, entry: FunctionIndex) -> bool:
    """The call has an argument that may be a dataset: a dataset method's result, or a local name bound to one."""
    for argument in (*symbol[2], *[v for _, v in symbol[3]]):
        if argument is None:
            continue
        if argument[0] == "call" and _last(argument[1]) in DATASET_RESULTS:
            return True
        if argument[0] == "name" and any(s is not None and s[0] == "call" and _last(s[1]) in DATASET_RESULTS for s in entry.bindings.get(argument[1], ())):
            return True
    return False


def _may_be_tf_function(symbol: Symbol) -> bool:
    """A binding that may give tf.function another name."""
    if symbol is None:
        return False
    if symbol[0] == "either":
        return any(_may_be_tf_function(item) for item in symbol[1])
    if symbol[0] == "call":
        if _last(symbol[1]) == "partial" and symbol[2]:
            return _last(symbol[2][0]) in _ROOT_NAMES
        return _last(symbol[1]) in _ROOT_NAMES and not symbol[2]
    return symbol[0] in ("name", "attr") and _last(symbol) in _ROOT_NAMES


def _is_dataset_name(name: str) -> bool:
    return name in ("ds", "dataset") or name.endswith(("_ds", "_dataset")) or name.startswith(("ds_", "dataset_"))


def _decorator_name(decorator: Symbol) -> str:
    if decorator[0] == "call":
        called = spelled(decorator[1]) or "decorator"
        if called.rpartition(".")[2] == "partial" and decorator[2]:
            return spelled(decorator[2][0]) or called
        return called
    return spelled(decorator) or "decorator"


def _root_way(step: TraceStep, via: set[str], *, python: bool) -> Tracing:
    if python:
        return Tracing(Context.TRACED, "root", (step,), Unconverted.AUTOGRAPH_FALSE)
    return _way(step, "root", via, True)


def _way(step: TraceStep, role: str, via: set[str], certain: bool) -> Tracing:
    """Converted, unless something between the taker and the function keeps AutoGraph out. `via` holds what is nearer to the function than the taker."""
    if "unconverted" in via:
        return Tracing(Context.TRACED, role, (step,), Unconverted.DO_NOT_CONVERT, certain)
    if "hidden" in via:
        return Tracing(Context.TRACED, role, (step,), Unconverted.WRAPPED, certain)
    return Tracing(Context.CONVERTED, role, (step,), None, certain)
