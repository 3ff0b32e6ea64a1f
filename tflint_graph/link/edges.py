"""Whom a function's body calls, or hands to something that calls it: the arrows along which tracing spreads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tflint_graph.index.model import MODULE_SCOPE, ClassId, FunctionId, FunctionIndex, Symbol
from tflint_graph.index.symbols import spelled
from tflint_graph.index.takers import DATASET_METHODS, FUNCTIONS, STRATEGY_METHODS, Taker, Treatment
from tflint_graph.link.keras import LAYER, MODEL, keras_class
from tflint_graph.link.meanings import Meaning, is_property, taker_name
from tflint_graph.link.project import Project

CALL, CONSTRUCTOR, SPECIAL, CALLBACK, ELEMENTS, EAGER, STRATEGY, KERAS, NESTED, ALONE = (
    "call", "constructor", "special", "callback", "elements", "eager", "strategy", "keras", "nested", "alone",
)  # fmt: skip

# Which special methods a kind of statement or expression calls on an instance.
_SPECIAL = {
    "With": ("__enter__", "__exit__"),
    "Subscript": ("__getitem__", "__setitem__"),
    "For": ("__iter__", "__next__"),
    "Compare": ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__contains__"),
    "BinOp": (
        "__add__", "__radd__", "__sub__", "__rsub__", "__mul__", "__rmul__", "__truediv__", "__rtruediv__", "__matmul__", "__rmatmul__", "__pow__",
        "__floordiv__",
        "__mod__", "__and__", "__or__",
    ),
    "UnaryOp": ("__neg__", "__invert__"),
    "If": ("__bool__",),
}  # fmt: skip
_CONSTRUCTORS = ("__init__", "__new__", "__post_init__")


class Edge(NamedTuple):
    """From a function's body to `target`. `relation` is one of the constants above; `via` as in Meaning; `phrase` names the taker."""

    relation: str
    target: FunctionId
    line: int
    via: frozenset[str] = frozenset()
    phrase: str = ""
    certain: bool = True
    cls: ClassId | None = None


class Edges:
    """The edges of a project's functions, worked out once per function."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self._edges: dict[FunctionId, tuple[Edge, ...]] = {}
        self._nested: dict[str, dict[str, list[str]]] = {}
        self.property_names: set[str] = set()
        # The names of all properties of the project, noted while looking for roots.

    def of(self, function: FunctionId) -> tuple[Edge, ...]:
        """All edges out of a function's own body."""
        found = self._edges.get(function)
        if found is None:
            found = self._edges[function] = tuple(dict.fromkeys(self._compute(function)))
        return found

    def _compute(self, function: FunctionId) -> Iterator[Edge]:
        entry = self.project.function(function)
        if entry is None:
            return
        edges: list[Edge] = []
        instances: dict[ClassId, int] = {}
        for call in entry.calls:
            edges += self._call(function, call.symbol, instances)
        edges += self._properties(function, entry, instances)
        for cls, line in instances.items():
            edges += self._special_methods(cls, entry, line)
        yield from edges
        called = {e.target for e in edges if e.relation in (CALL, CALLBACK)}
        alone = {e.target for e in edges if e.relation in (EAGER, ALONE, ELEMENTS, STRATEGY)}
        for nested in self.nested(function):
            inner = self.project.function(nested)
            if nested in called or inner is None:
                continue
            if nested not in alone and not self._has_its_own_context(nested):
                yield Edge(NESTED, nested, inner.line)

    def nested(self, function: FunctionId) -> list[FunctionId]:
        """The defs and lambdas directly inside a function, those in classes inside it included."""
        by_scope = self._nested.get(function.path)
        if by_scope is None:
            by_scope = {}
            index = self.project.files[function.path]
            for entry in index.functions.values():
                scope = entry.scope
                while scope in index.classes:
                    scope = index.classes[scope].scope
                if entry.qualname != MODULE_SCOPE:
                    by_scope.setdefault(scope, []).append(entry.qualname)
            self._nested[function.path] = by_scope
        return [FunctionId(function.path, qualname) for qualname in by_scope.get(function.qualname, ())]

    def _has_its_own_context(self, function: FunctionId) -> bool:
        return bool(self.project.evaluator.definition(function)[0].via & {"traced", "unconverted", "hidden"})

    # Calls

    def _call(self, caller: FunctionId, symbol: Symbol, instances: dict[ClassId, int]) -> list[Edge]:
        _, callee, args, kwargs, line = symbol
        if callee is None:
            return []
        path, scope = caller
        last = callee[2] if callee[0] == "attr" else callee[1] if callee[0] == "name" else None
        edges: list[Edge] = []
        meanings = self.project.evaluator.value(path, scope, callee)
        functions = sum(m.kind == "function" for m in meanings)
        for meaning in meanings:
            kind = meaning.kind
            if kind == "function":
                # Which of several functions is meant depends on values: the flow analysis has to see the call.
                edges += self._function_call(meaning, line, certain=functions == 1)
            elif kind == "class":
                instances.setdefault(meaning.target, line)
                edges += self._construction(meaning, line)
            elif kind == "instance":
                edges += self._instance_call(meaning.target, line)
            elif kind in ("api", "builtin"):
                taker = FUNCTIONS.get(taker_name(meaning.target) if kind == "api" else meaning.target)
                if taker is not None:
                    edges += self._taken(caller, taker, args, kwargs, line)
                elif last in STRATEGY_METHODS and "istribut" in meaning.target:
                    edges += self._strategy_run(caller, args, kwargs, line, certain=True)
            elif kind == "method":
                taker = DATASET_METHODS.get(meaning.target)
                if taker is not None:
                    edges += self._taken(caller, taker, args, kwargs, line)
            elif kind in ("unknown", "member") and last in STRATEGY_METHODS:
                receiver = spelled(callee[1]) if callee[0] == "attr" else None
                if receiver is not None and "strategy" in receiver.lower():
                    edges += self._strategy_run(caller, args, kwargs, line, certain=True)
        return edges

    def _function_call(self, meaning: Meaning, line: int, *, certain: bool = True) -> list[Edge]:
        targets = [meaning.target]
        entry = self.project.function(meaning.target)
        if entry is None:
            return []
        overrides = self.project.overrides(meaning.bound, entry.name) if meaning.bound is not None and entry.class_qualname is not None else []
        targets += overrides
        # Which override runs depends on the object; only the sole one of a method that does nothing itself is sure to.
        sole = len(overrides) == 1 and "Raise" in entry.kinds and "Return" not in entry.kinds
        edges: list[Edge] = []
        for target in dict.fromkeys(targets):
            via = meaning.via if target == meaning.target else self.project.evaluator.definition(target)[0].via
            sure = certain and (target == meaning.target or sole)
            edges.append(Edge(CALL, target, line, via, certain=sure))
            edges += [Edge(CALL, wrapper, line, certain=sure) for wrapper in self.wrappers(target)]
        return edges

    def wrappers(self, function: FunctionId) -> list[FunctionId]:
        """The functions that the project's own decorators put in a function's place."""
        entry = self.project.function(function)
        evaluator = self.project.evaluator
        found: list[FunctionId] = []
        for decorator in entry.decorators if entry is not None else ():
            if decorator is None or (decorator[0] == "name" and decorator[1] in ("staticmethod", "classmethod", "property")):
                continue
            for meaning in evaluator.value(function.path, entry.scope if entry is not None else MODULE_SCOPE, decorator):
                if meaning.kind == "function":
                    for result in evaluator.call_result(meaning, (Meaning("function", function),), {}, 1):
                        if result.kind == "function" and result.target != function and not result.via & {"traced"}:
                            found.append(result.target)
                        elif result.kind == "instance" and (call := self.project.method(result.target, "__call__")) is not None:
                            found.append(call)
                elif meaning.kind == "class" and (call := self.project.method(meaning.target, "__call__")) is not None:
                    found.append(call)
        return list(dict.fromkeys(found))

    def _construction(self, meaning: Meaning, line: int) -> list[Edge]:
        found = []
        for name in _CONSTRUCTORS:
            method = self.project.method(meaning.target, name)
            if method is not None:
                found.append(Edge(CONSTRUCTOR, method, line))
        return found

    def _instance_call(self, cls: ClassId, line: int) -> list[Edge]:
        method = self.project.method(cls, "__call__")
        if method is not None:
            return self._function_call(Meaning("function", method, cls, self.project.evaluator.definition(method)[0].via), line)
        method = self.project.method(cls, "call")
        if method is not None:
            kind = keras_class(self.project, cls)
            if kind is not None and kind.family in (LAYER, MODEL):
                via = self.project.evaluator.definition(method)[0].via
                return [Edge(KERAS, method, line, via, certain=kind.certain, cls=cls)]
        return []

    def _taken(self, caller: FunctionId, taker: Taker, args: tuple[Symbol, ...], kwargs: tuple[tuple[str | None, Symbol], ...], line: int) -> list[Edge]:
        relation = {
            Treatment.CALLBACK: CALLBACK,
            Treatment.ELEMENTS: ELEMENTS,
            Treatment.EAGER: EAGER,
            Treatment.DATASET: ALONE,
            Treatment.ROOT: ALONE,
        }.get(taker.treatment)
        if relation is None:
            return []
        edges = []
        for symbol in handed_functions(taker, args, kwargs):
            for meaning in self.functions_in(caller, symbol):
                if meaning.kind == "function":
                    if relation == CALLBACK and meaning.via & {"traced"}:
                        continue
                    edges.append(Edge(relation, meaning.target, line, meaning.via, taker.phrase))
                elif meaning.kind == "instance" and (call := self.project.method(meaning.target, "__call__")) is not None:
                    edges.append(Edge(relation, call, line, frozenset(), taker.phrase))
        return edges

    def functions_in(self, caller: FunctionId, symbol: Symbol, depth: int = 0) -> Iterator[Meaning]:
        """The functions and instances an argument can stand for; displays of functions are opened."""
        for meaning in self.project.evaluator.value(caller.path, caller.qualname, symbol):
            if meaning.kind == "seq":
                path, scope, items = meaning.target
                for item in items if depth < 3 else ():  # a list may hold itself
                    if item is not None and item[0] in ("name", "attr", "lambda", "seq", "call"):
                        yield from self.functions_in(FunctionId(path, scope), item, depth + 1)
            elif meaning.kind in ("function", "instance"):
                yield meaning

    def _strategy_run(
        self, caller: FunctionId, args: tuple[Symbol, ...], kwargs: tuple[tuple[str | None, Symbol], ...], line: int, *, certain: bool
    ) -> list[Edge]:
        symbol = args[0] if args else next((v for k, v in kwargs if k == "fn"), None)
        return [
            Edge(STRATEGY, m.target, line, m.via, "strategy.run", certain)
            for m in self.functions_in(caller, symbol)
            if m.kind == "function" and "traced" not in m.via
        ]

    # Methods that are called without a call

    def _properties(self, function: FunctionId, entry: FunctionIndex, instances: dict[ClassId, int]) -> Iterator[Edge]:
        """Properties that the body reads: of a name that is an instance, or of an object made in the body."""
        evaluator = self.project.evaluator
        for base, name, line in self._reads(entry):
            if name not in self.property_names:
                continue
            meanings = evaluator.value(function.path, function.qualname, base)
            classes = [m.target for m in meanings if m.kind == "instance"] if base is not None else list(instances)
            for cls in classes:
                method = self.project.method(cls, name)
                getter = self.project.function(method) if method is not None else None
                if method is not None and getter is not None and is_property(getter):
                    yield Edge(SPECIAL, method, line)

    def _reads(self, entry: FunctionIndex) -> Iterator[tuple[Symbol, str, int]]:
        """The attributes a body reads: base, name and (nearly) the line."""
        for read in entry.escapes:
            base, dot, name = read.rpartition(".")
            if dot:
                yield (("name", base) if base else None), name, entry.line
        for symbols in (*entry.bindings.values(), entry.returns):
            for symbol in symbols:
                yield from _attributes_in(symbol, entry.line)
        for call in entry.calls:
            callee = call.symbol[1]
            for symbol in (*call.symbol[2], *[v for _, v in call.symbol[3]], callee[1] if callee is not None and callee[0] == "attr" else None):
                yield from _attributes_in(symbol, call.line)

    def _special_methods(self, cls: ClassId, entry: FunctionIndex, line: int) -> Iterator[Edge]:
        for kind, names in _SPECIAL.items():
            if kind in entry.kinds:
                for name in names:
                    method = self.project.method(cls, name)
                    if method is not None:
                        yield Edge(SPECIAL, method, line, certain=False)


def _attributes_in(symbol: Symbol, line: int) -> Iterator[tuple[Symbol, str, int]]:
    """The attribute that a symbol reads, or those that the items of a display read."""
    if symbol is None:
        return
    if symbol[0] == "attr":
        yield symbol[1], symbol[2], line
    elif symbol[0] in ("seq", "either"):
        for item in symbol[-1]:
            yield from _attributes_in(item, line)


def handed_functions(taker: Taker, args: tuple[Symbol, ...], kwargs: tuple[tuple[str | None, Symbol], ...]) -> list[Symbol]:
    """The arguments of a call that a taker takes as functions."""
    if any(a is not None and a[0] == "star" for a in args):
        return [v for k, v in kwargs if k in taker.keywords]
    return [args[k] for k in taker.positions if k < len(args)] + [v for k, v in kwargs if k in taker.keywords]
