"""Who calls a function, and whether that is everybody.

One sweep over all files resolves the calls whose name could mean one of the functions asked about. A function is *complete* when every use of it was such a
call or a registered way of tracing: it is never read as a value, and no call on something unknown bears its name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tflint_graph.index.model import MODULE_SCOPE, ClassId, FileIndex, FunctionId, FunctionIndex, Symbol
from tflint_graph.index.symbols import dotted_symbol
from tflint_graph.index.takers import DATASET_METHODS, DATASET_TRANSFORMATIONS, FUNCTIONS, STRATEGY_METHODS, Treatment
from tflint_graph.knowledge.api import canonical
from tflint_graph.link.edges import Edges
from tflint_graph.link.factories import Factories
from tflint_graph.link.meanings import Meaning, taker_name
from tflint_graph.link.model import CallSites, Context, Traced
from tflint_graph.link.project import Project

# Decorators of libraries after which a function is still called only by those who name it.
_HARMLESS = frozenset(
    "property staticmethod classmethod abstractmethod abstractproperty cached_property function defun do_not_convert custom_gradient recompute_grad "
    "lru_cache cache "
    "wraps deprecated deprecated_args deprecated_arg_values override final overload configurable no_type_check contextmanager jit experimental tf_export "
    "keras_export dispatch_for_api add_dispatch_support no_automatic_dependency_tracking default name_scope singledispatch decorator setter typechecked".split()
)


class CallSiteTable:
    """The call sites of all traced functions, worked out on the first question."""

    def __init__(self, project: Project, traced: Mapping[FunctionId, Traced], edges: Edges) -> None:
        self.project = project
        self.evaluator = project.evaluator
        self._traced = traced
        self._edges = edges
        self._asked: set[FunctionId] = set()
        self._sweeps = 0
        self._callers: dict[FunctionId, dict[FunctionId, int]] = {}
        self._open: set[FunctionId] = set()
        self.called_eagerly: set[FunctionId] = set()
        self._by_name: dict[str, list[FunctionId]] = {}

    def of(self, function: FunctionId) -> CallSites:
        """The call sites of a traced function, or of one that calls a traced function; nothing is known of others."""
        if self._sweeps == 0:
            self._first_sweep()
        if function not in self._asked and self._sweeps == 1:
            # Those that call traced functions are asked about too. One sweep for all of them: it costs the same for one.
            self._sweep({caller for sites in self._callers.values() for caller in sites if caller.qualname != MODULE_SCOPE} - self._asked)
        if function not in self._asked:
            return CallSites({}, False)
        complete = self.project.complete and function not in self._open
        return CallSites(self._callers.get(function, {}), complete)

    def _first_sweep(self) -> None:
        """The traced functions, and the constructors of the objects whose methods are traced."""
        owners = {ClassId(f.path, entry.class_qualname) for f in self._traced if (entry := self.project.function(f)) is not None and entry.class_qualname}
        makers = {init for cls in owners if (init := self.project.method(cls, "__init__")) is not None}
        self._sweep({*self._traced, *makers})

    def mark_eager_calls(self) -> None:
        """Note on every traced function whether eager code of the project calls it too."""
        if self._traced and self._sweeps == 0:
            self._first_sweep()
        for function, traced in self._traced.items():
            traced.reached_eagerly = traced.reached_eagerly or function in self.called_eagerly

    def _sweep(self, wanted: set[FunctionId]) -> None:
        self._wanted = wanted
        self._asked |= wanted
        self._sweeps += 1
        self._by_name = {}
        self._opened: set[tuple[str, str]] = set()
        for function in wanted:
            entry = self.project.function(function)
            if entry is None:
                continue
            if not entry.is_lambda:
                self._by_name.setdefault(entry.name, []).append(function)
            for decorator in entry.decorators:
                if not self._is_harmless(function, entry, decorator):
                    self._open.add(function)
        self._names = set(self._by_name)
        self._factories = Factories(self.project, wanted)
        self._find_aliases()
        self._names |= self._factories.names | _classes_with(wanted, (".__init__",))
        for path in self.project.files:
            self._sweep_file(self.project.files[path])
        self._open.update(list(self._factories.lost(self._open)))

    def _is_harmless(self, function: FunctionId, entry: FunctionIndex, decorator: Symbol) -> bool:
        last = _last(decorator)
        if last in _HARMLESS:
            return True
        if decorator is None:
            return False
        if decorator[0] == "call" and last == "partial" and decorator[2]:
            return self._is_harmless(function, entry, decorator[2][0])
        meanings = self.evaluator.value(function.path, entry.scope, decorator[1] if decorator[0] == "call" else decorator)
        return all(m.kind in ("function", "class") or (m.kind == "api" and canonical(m.target).rpartition(".")[2] in _HARMLESS) for m in meanings)

    # Other names

    def _find_aliases(self) -> None:
        """Names and attributes that are bound to one of the functions: `g = f`, `self.step = tf.function(self._step)`, `step = make_step()`."""
        factories = self._factories.names | _classes_with(self._wanted, (".__call__", ".call"))
        found: set[str] = set()
        for path in self.project.files:
            index = self.project.files[path]
            for entry in index.functions.values():
                for name, symbols in entry.bindings.items():
                    if name not in self._names and name not in found and self._binds(path, entry.qualname, symbols, factories):
                        found.add(name)
            for cls in index.classes.values():
                for name, sites in cls.attributes.items():
                    if name not in self._names and name not in found and any(self._binds(path, scope, (symbol,), factories) for scope, symbol in sites):
                        found.add(name)
        self._names |= found

    def _binds(self, path: str, scope: str, symbols: Iterable[Symbol], factories: set[str]) -> bool:
        for symbol in symbols:
            if symbol is None or symbol[0] in ("param", "const", "import", "def", "class", "loop", "with"):
                if symbol is not None and symbol[0] == "import" and symbol[1].rpartition(".")[2] in self._names:
                    return True
                continue
            if not self._mentions(symbol, factories):
                continue
            value = symbol[1] if symbol[0] == "item" else symbol
            if symbol[0] == "item" or any(self._is_wanted(m) for m in self.evaluator.value(path, scope, value)):
                return True
        return False

    def _is_wanted(self, meaning: Meaning) -> bool:
        """One of the functions asked about, or an object whose call is one."""
        if meaning.kind == "instance":
            return any(self.project.method(meaning.target, name) in self._wanted for name in ("__call__", "call"))
        return meaning.kind == "function" and meaning.target in self._wanted

    def _mentions(self, symbol: Symbol, factories: set[str]) -> bool:
        if symbol is None:
            return False
        kind = symbol[0]
        if kind in ("name", "attr"):
            return symbol[-1] in self._names
        if kind == "lambda":
            return True
        if kind == "call":
            return _last(symbol[1]) in factories or any(self._mentions(a, factories) for a in symbol[2][:1])
        if kind == "either":
            return any(self._mentions(item, factories) for item in symbol[1])
        return kind == "item" and self._mentions(symbol[1], factories)

    # Uses

    def _sweep_file(self, index: FileIndex) -> None:
        self._factories.read(index)
        for entry in index.functions.values():
            scope = FunctionId(index.path, entry.qualname)
            if self._names.isdisjoint(entry.called_names) and entry.qualname != MODULE_SCOPE:
                calls_matter = False
            else:
                calls_matter = True
            for call in entry.calls:
                symbol = call.symbol
                last = _last_name(symbol[1])
                if last in ("get_concrete_function", "python_function") and symbol[1] is not None and symbol[1][0] == "attr":
                    self._count(scope, symbol[1][1], _last_name(symbol[1][1]))
                elif last in self._names and calls_matter:
                    self._count(scope, symbol[1], last)
                elif last is None:
                    self._count(scope, symbol[1], None)
                elif last == "getattr":
                    self._getattr(scope, symbol)
                for argument in (*symbol[2], *[v for _, v in symbol[3]]):
                    if argument is not None and self._is_use(argument):
                        self._handed(scope, symbol, argument)
            for read in entry.escapes:
                self._escape(scope, read)
            for symbol in entry.returns:
                if symbol[0] in ("name", "attr", "lambda", "seq", "call", "either"):
                    self._returned(scope, entry, symbol)
            for param in entry.params:
                if param.default is not None and self._is_use(param.default):
                    self._leak(FunctionId(index.path, entry.scope), param.default)

    def _is_use(self, symbol: Symbol) -> bool:
        kind = symbol[0]
        if kind in ("name", "attr"):
            return symbol[-1] in self._names
        if kind == "either" or kind == "seq":
            return any(item is not None and self._is_use(item) for item in symbol[-1])
        return bool(kind == "call" and symbol[2] and any(a is not None and a[0] != "call" and self._is_use(a) for a in symbol[2]))

    def _count(self, scope: FunctionId, callee: Symbol, last: str | None) -> None:
        meanings = self.evaluator.value(scope.path, scope.qualname, callee)
        unresolved = callee is not None and callee[0] == "attr"
        for meaning in meanings:
            if meaning.kind == "function":
                unresolved = False
                for target in self._targets(meaning):
                    if "traced" not in meaning.via and not self._runs_in_graph(scope):
                        self.called_eagerly.add(target)
                    if target in self._wanted:
                        callers = self._callers.setdefault(target, {})
                        region = self.project.region_of(scope)
                        callers[region] = callers.get(region, 0) + 1
            elif meaning.kind in ("instance", "class"):
                unresolved = False
                names = ("__call__", "call") if meaning.kind == "instance" else ("__init__",)
                called = next((found for name in names if (found := self.project.method(meaning.target, name)) is not None), None)
                if called is not None and called in self._wanted:
                    callers = self._callers.setdefault(called, {})
                    region = self.project.region_of(scope)
                    callers[region] = callers.get(region, 0) + 1
            elif meaning.kind in ("api", "method", "result", "module", "dataset"):
                unresolved = False
        if unresolved and last is not None:
            self._open_by_name(last, scope.path)

    def _runs_in_graph(self, scope: FunctionId) -> bool:
        traced = self._traced.get(scope)
        return traced is not None and any(way.context is not Context.EAGER for way in traced.ways)

    def _targets(self, meaning: Meaning) -> list[FunctionId]:
        """A method called on an object may be the override of a subclass."""
        targets = [meaning.target]
        if meaning.bound is not None:
            targets += self.project.overrides(meaning.bound, meaning.target.qualname.rpartition(".")[2])
        return list(dict.fromkeys(targets))

    def _is_method(self, function: FunctionId) -> bool:
        entry = self.project.function(function)
        return entry is not None and entry.class_qualname is not None

    def _getattr(self, scope: FunctionId, symbol: Symbol) -> None:
        args = symbol[2]
        if len(args) < 2:
            return
        if args[1] is not None and args[1][0] == "const":
            self._open_by_name(str(args[1][1]), scope.path)
            return
        for meaning in self.evaluator.value(scope.path, scope.qualname, args[0]) if args[0] is not None else ():
            if meaning.kind in ("instance", "class"):
                self._open_class(meaning.target)
            elif meaning.kind == "module":
                self._open.update(f for f in self._wanted if f.path == meaning.target)

    def _open_class(self, cls: ClassId) -> None:
        family = [c for c in self.project.bases(cls) if isinstance(c, ClassId)]
        for member in [*family, *self.project.subclasses(cls)]:
            entry = self.project.class_index(member)
            if entry is not None:
                self._open.update(FunctionId(member.path, qualname) for qualname in entry.methods.values())

    def _open_by_name(self, name: str, path: str) -> None:
        """An object that is not known is asked for `name` in the file: it may be of any class that can get there."""
        if name not in self._by_name:
            return
        key = (name, self.project.components.of(path))
        if key in self._opened:
            return
        self._opened.add(key)
        for function in self._by_name.get(name, ()):
            if self._is_method(function) and self.project.components.connected(function.path, path):
                self._open.add(function)

    def _escape(self, scope: FunctionId, read: str) -> None:
        base, dot, name = read.rpartition(".")
        if name not in self._names:
            return
        if not dot:
            self._leak(scope, ("name", name))
        elif base:
            self._leak(scope, dotted_symbol(read))
        else:
            self._open_by_name(name, scope.path)

    def _leak(self, scope: FunctionId, symbol: Symbol, depth: int = 0) -> None:
        """The value of an expression goes where it is not followed."""
        meanings = self.evaluator.value(scope.path, scope.qualname, symbol)
        known = False
        for meaning in meanings:
            if meaning.kind == "function":
                known = True
                self._open.update(self._targets(meaning))
            elif meaning.kind == "seq":
                path, inner, items = meaning.target
                for item in items if depth < 3 else ():  # a list may hold itself
                    if item is not None:
                        self._leak(FunctionId(path, inner), item, depth + 1)
        if not known and symbol[0] == "attr" and all(m.kind in ("unknown", "member") for m in meanings):
            self._open_by_name(symbol[2], scope.path)

    def _handed(self, scope: FunctionId, symbol: Symbol, argument: Symbol) -> None:
        """A function is an argument of a call: fine where the taker is known to trace it, or to make another name for it."""
        callee = symbol[1]
        if callee is None or not self._is_registered(scope, callee, argument):
            self._leak(scope, argument)

    def _is_registered(self, scope: FunctionId, callee: Symbol, argument: Symbol) -> bool:
        in_graph = scope in self._traced
        if callee[0] == "attr" and callee[2] in STRATEGY_METHODS and self._has_role(scope, argument, "strategy"):
            return True
        if callee[0] == "attr" and (callee[2] in DATASET_METHODS or callee[2] == "compile") and self._has_role(scope, argument, "dataset", "keras"):
            return True
        for meaning in self.evaluator.value(scope.path, scope.qualname, callee):
            if meaning.kind not in ("api", "builtin"):
                continue
            dotted = taker_name(meaning.target) if meaning.kind == "api" else meaning.target
            taker = FUNCTIONS.get(dotted) or DATASET_TRANSFORMATIONS.get(dotted)
            if taker is None:
                continue
            if taker.treatment in (Treatment.CALLBACK, Treatment.ELEMENTS):
                return in_graph
            return taker.treatment is not Treatment.EAGER
        return False

    def _has_role(self, scope: FunctionId, argument: Symbol, *roles: str) -> bool:
        functions = [m.target for m in self.evaluator.value(scope.path, scope.qualname, argument) if m.kind == "function"]
        return bool(functions) and all(f in self._traced and any(way.role in roles for way in self._traced[f].ways) for f in functions)

    def _returned(self, scope: FunctionId, entry: FunctionIndex, symbol: Symbol) -> None:
        """A function that is given back is followed through the names bound to the call."""
        if symbol[0] == "seq":
            for item in symbol[2]:
                if item is not None and item[0] in ("name", "attr", "lambda", "either"):
                    self._returned(scope, entry, item)
            return
        if not (self._is_use(symbol) or symbol[0] == "lambda"):
            return
        for meaning in self.evaluator.value(scope.path, scope.qualname, symbol):
            if meaning.kind == "function" and not self._factories.gives_back(scope, meaning.target):
                self._open.add(meaning.target)


def _classes_with(functions: Iterable[FunctionId], endings: tuple[str, ...]) -> set[str]:
    """The names of the classes that own the functions with these endings."""
    return {f.qualname.rpartition(".")[0].rpartition(".")[2] for f in functions if f.qualname.endswith(endings)}


def _last(symbol: Symbol) -> str | None:
    """The last name of a callee or decorator, through calls."""
    while symbol is not None and symbol[0] == "call":
        symbol = symbol[1]
    return _last_name(symbol)


def _last_name(symbol: Symbol) -> str | None:
    if symbol is None or symbol[0] not in ("name", "attr"):
        return None
    return str(symbol[-1])
