"""What decorators make of a function."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tflint_graph.index.model import FunctionId, FunctionIndex, Symbol
from tflint_graph.index.takers import FUNCTIONS, KEEPS, Treatment
from tflint_graph.link.meanings import DEEPEST, NOTHING, Meaning, Meanings, taker_name
from tflint_graph.link.memory import remember
from tflint_graph.link.results import PYTHON, TRACED, VIA

if TYPE_CHECKING:
    from tflint_graph.link.evaluator import Evaluator


class Decorators:
    """Reads the decorators of functions."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self._known: dict[FunctionId, Meanings] = {}

    def forget(self) -> None:
        """Drop what was remembered."""
        self._known.clear()

    def definition(self, function: FunctionId, depth: int = 0) -> Meanings:
        """What the name of a def means once its decorators have been applied."""
        known = self._known.get(function)
        if known is not None:
            return known
        entry = self.evaluator.project.function(function)
        if entry is None:
            return NOTHING
        via: set[str] = set()
        for decorator in entry.decorators:
            via |= self.effect(function, entry, decorator, depth)
        found = (Meaning("function", function, None, frozenset(via)),)
        if not self.evaluator.active:
            remember(self._known, function, found)
        return found

    def effect(self, function: FunctionId, entry: FunctionIndex, decorator: Symbol, depth: int = 0) -> set[str]:
        """What one decorator adds to `Meaning.via`."""
        if decorator is None or depth > DEEPEST:
            return set()
        effects: set[str] = set()
        key = ("decorator", function, decorator)
        if key in self.evaluator.active:
            return set()
        if not self.evaluator.active:
            self.evaluator.restart()
        self.evaluator.active.add(key)
        try:
            for meaning in self.evaluator.value(function.path, entry.scope, decorator, None, depth + 1):
                if meaning.kind == "api":
                    taker = FUNCTIONS.get(taker_name(meaning.target))
                    if taker is None:
                        continue
                    if taker.treatment is Treatment.ROOT:
                        effects |= PYTHON if "python" in meaning.via or _has_autograph_false(decorator) else TRACED
                    elif taker.treatment in VIA and (taker.treatment is not Treatment.CALLBACK or taker_name(meaning.target) in KEEPS):
                        effects |= VIA[taker.treatment]
                elif meaning.kind == "function":
                    if "hidden" in meaning.via and self._is_wrapt(meaning.target):
                        effects.add("hidden")
                    given = Meaning("function", function)
                    for result in self.evaluator.call_result(meaning, (given,), {}, depth + 1):
                        if result.kind == "function" and result.target == function:
                            effects |= result.via
                        elif result.kind == "api" and "traced" in result.via:
                            effects |= TRACED
                        elif result.kind == "function" and "traced" in result.via:
                            effects |= {"traced-wrapper"}
        finally:
            self.evaluator.active.discard(key)
        return effects

    def _is_wrapt(self, decorator: FunctionId) -> bool:
        """A decorator made by `wrapt.decorator`."""
        entry = self.evaluator.project.function(decorator)
        return entry is not None and any(d is not None and d[0] in ("attr", "name") and d[-1] == "decorator" for d in entry.decorators)


def _has_autograph_false(decorator: Symbol) -> bool:
    return decorator[0] == "call" and any(k == "autograph" and v == ("const", False) for k, v in decorator[3])
