"""What calls give back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tflint_graph.index.model import MODULE_SCOPE, ClassId, FunctionId, Symbol
from tflint_graph.index.takers import FUNCTIONS, KEEPS, Treatment
from tflint_graph.link.datasets import DATASET_RESULTS, is_dataset_api, is_dataset_like
from tflint_graph.link.meanings import DEEPEST, NOTHING, UNKNOWN, Environment, Meaning, Meanings, is_static, taker_name

if TYPE_CHECKING:
    from tflint_graph.link.evaluator import Evaluator

TRACED = frozenset({"traced"})
PYTHON = frozenset({"traced", "python"})
# What a taker adds to `Meaning.via`.
VIA = {
    Treatment.UNCONVERTED: frozenset({"unconverted"}),
    Treatment.HIDDEN: frozenset({"hidden"}),
    Treatment.PASSES: frozenset({"partial"}),
    Treatment.CALLBACK: frozenset({"callback"}),
}


class Results:
    """Evaluates calls."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator

    def of(self, path: str, scope: str, symbol: Symbol, env: Environment | None, depth: int) -> Meanings:
        """What a ("call", ...) symbol gives."""
        _, callee, args, kwargs, _ = symbol
        if callee is None:
            return NOTHING
        if callee == ("name", "super"):
            cls = self._enclosing_class(path, scope)
            return (Meaning("super", cls),) if cls is not None else NOTHING
        callees = self.evaluator.value(path, scope, callee, env, depth + 1)
        if callees == NOTHING:
            return NOTHING
        found: list[Meaning] = []
        for meaning in callees:
            if meaning.kind == "api" or meaning.kind == "builtin":
                result = self._api_call(path, scope, meaning, args, kwargs, env, depth)
            elif meaning.kind == "function":
                given = tuple(self._argument(path, scope, a, env, depth) for a in args)
                named = {k: self._argument(path, scope, a, env, depth) for k, a in kwargs if k is not None}
                result = self.of_function(meaning, given, named, depth + 1)
            elif meaning.kind == "class":
                result = (Meaning("instance", meaning.target),)
            elif meaning.kind == "instance":
                call = self.evaluator.project.method(meaning.target, "__call__")
                result = self.of_function(Meaning("function", call, meaning.target), (), {}, depth + 1) if call is not None else NOTHING
            elif meaning.kind == "method":
                result = (Meaning("dataset", None, certain=meaning.certain),) if meaning.target in DATASET_RESULTS else NOTHING
            else:
                result = NOTHING
            found += [m for m in result if m not in found]
        return tuple(found) or NOTHING

    def _argument(self, path: str, scope: str, symbol: Symbol, env: Environment | None, depth: int) -> Meaning:
        """One argument as a single meaning; only what is worth handing into the callee."""
        if symbol is None or symbol[0] in ("const", "seq", "sub"):
            return UNKNOWN
        meanings = [m for m in self.evaluator.value(path, scope, symbol, env, depth + 1) if m.kind in ("function", "class", "instance", "api", "dataset")]
        return meanings[0] if len(meanings) == 1 else UNKNOWN

    def _api_call(self, path: str, scope: str, callee: Meaning, args: tuple[Symbol, ...], kwargs: Any, env: Environment | None, depth: int) -> Meanings:
        dotted = taker_name(callee.target) if callee.kind == "api" else callee.target
        taker = FUNCTIONS.get(dotted)
        if taker is not None:
            return self._taker_call(path, scope, callee, dotted, args, kwargs, env, depth)
        if callee.kind == "builtin":
            return NOTHING
        if is_dataset_api(dotted):
            return (Meaning("dataset", None),)
        if is_dataset_like(dotted):
            return (Meaning("dataset", None, certain=False),)
        return (Meaning("result", callee.target),)

    def _taker_call(
        self, path: str, scope: str, callee: Meaning, dotted: str, args: tuple[Symbol, ...], kwargs: Any, env: Environment | None, depth: int
    ) -> Meanings:
        taker = FUNCTIONS[dotted]
        python = any(k == "autograph" and v == ("const", False) for k, v in kwargs) or "python" in callee.via
        function = args[taker.positions[0]] if taker.positions and taker.positions[0] < len(args) else next((v for k, v in kwargs if k in taker.keywords), None)
        if function is None or function[0] == "const":  # lru_cache(None)
            if taker.treatment is Treatment.ROOT:  # tf.function(input_signature=...) waits for its function
                return (Meaning("api", callee.target, None, PYTHON if python else TRACED),)
            if taker.treatment in (Treatment.UNCONVERTED, Treatment.HIDDEN):
                return (Meaning("api", callee.target),)
            return NOTHING
        meanings = self.evaluator.value(path, scope, function, env, depth + 1)
        if taker.treatment is Treatment.ROOT:
            via = PYTHON if python else TRACED
            return tuple(m._replace(via=m.via | via) if m.kind in ("function", "instance", "class", "member") else m for m in meanings)
        if dotted == "functools.partial":
            if python:
                return tuple(m._replace(via=m.via | {"python"}) if m.kind == "api" else m for m in meanings)
            return tuple(m._replace(via=m.via | {"partial"}) if m.kind == "function" else m for m in meanings)
        if taker.treatment in VIA and taker.treatment is not Treatment.CALLBACK:
            return tuple(m._replace(via=m.via | VIA[taker.treatment]) if m.kind == "function" else m for m in meanings)
        if dotted in KEEPS:
            return tuple(m._replace(via=m.via | {"callback"}) if m.kind == "function" else m for m in meanings)
        return (Meaning("result", callee.target),)

    def of_function(self, callee: Meaning, args: tuple[Meaning, ...], kwargs: dict[str, Meaning], depth: int) -> Meanings:
        """What calling a project function gives back, as far as its return statements tell."""
        function: FunctionId = callee.target
        if not self.evaluator.active:
            self.evaluator.restart()
        key = ("result", function)
        if depth > DEEPEST or key in self.evaluator.active:
            return NOTHING
        entry = self.evaluator.project.function(function)
        if entry is None or entry.is_generator or entry.is_async or not entry.returns:
            return NOTHING
        env: Environment | None = None
        params = list(entry.params)
        if callee.bound is not None and params and not is_static(entry):
            params = params[1:]
        for param, given in zip([p for p in params if p.kind == "positional"], args):
            if given.kind != "unknown":
                env = {} if env is None else env
                env[(function.path, function.qualname, param.name)] = (given,)
        for param in params:
            given_by_name = kwargs.get(param.name)
            if given_by_name is not None and given_by_name.kind != "unknown":
                env = {} if env is None else env
                env[(function.path, function.qualname, param.name)] = (given_by_name,)
        self.evaluator.active.add(key)
        try:
            found: list[Meaning] = []
            for symbol in entry.returns:
                found += [m for m in self.evaluator.value(function.path, function.qualname, symbol, env, depth + 1) if m not in found]
            return tuple(found) or NOTHING
        finally:
            self.evaluator.active.discard(key)

    def _enclosing_class(self, path: str, scope: str) -> ClassId | None:
        index = self.evaluator.project.files[path]
        while scope != MODULE_SCOPE:
            entry = index.functions.get(scope)
            if entry is None:
                return None
            if entry.class_qualname is not None:
                return ClassId(path, entry.class_qualname)
            scope = entry.scope
        return None
