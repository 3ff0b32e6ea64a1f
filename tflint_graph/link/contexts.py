"""How tracing spreads from the roots: who reaches whom, and whether AutoGraph converts what is reached.

Measured on TensorFlow 2.21: conversion is recursive from converted code; what runs unconverted runs everything it calls unconverted; constructors, special
methods,
properties, generators and wrapped functions are called as they are; callback takers do not convert a function from outside of the function being converted.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from tflint_graph.findings import TraceStep
from tflint_graph.index.model import FunctionId, FunctionIndex
from tflint_graph.link.edges import CALL, CALLBACK, CONSTRUCTOR, EAGER, ELEMENTS, KERAS, NESTED, SPECIAL, STRATEGY, Edge, Edges
from tflint_graph.link.keras import keras_class
from tflint_graph.link.model import Context, Traced, Tracing, Unconverted
from tflint_graph.link.project import Project
from tflint_graph.link.roots import Root

# Reasons that hold for everything below as well; the others only say why the caller was not converted.
_LASTING = frozenset({Unconverted.AUTOGRAPH_FALSE, Unconverted.DO_NOT_CONVERT, Unconverted.KERAS_3, Unconverted.STOPPED})
_LONGEST_CHAIN = 12


class Spread:
    """Follows the edges from the roots, breadth first, so that the chain kept for a function is a shortest one."""

    def __init__(self, project: Project, edges: Edges) -> None:
        self.project = project
        self.edges = edges
        self.traced: dict[FunctionId, Traced] = {}
        self.called_eagerly: set[FunctionId] = set()
        self._queue: deque[tuple[FunctionId, Tracing]] = deque()

    def run(self, roots: Iterable[Root]) -> dict[FunctionId, Traced]:
        """All traced functions."""
        uncertain: list[Root] = []
        for root in roots:
            if root.way.certain:
                self._reach(root.function, root.way, inherits=False)
            else:
                uncertain.append(root)
        self._drain()
        for root in uncertain:
            self._reach(root.function, root.way, inherits=False)
        self._drain()
        for function in self.called_eagerly:
            if function in self.traced:
                self.traced[function].reached_eagerly = True
        return self.traced

    def _drain(self) -> None:
        while self._queue:
            function, way = self._queue.popleft()
            if way.context is Context.EAGER:
                self.called_eagerly.update(edge.target for edge in self.edges.of(function) if edge.relation == CALL)
                continue
            for edge in self.edges.of(function):
                following = self._follow(function, way, edge)
                if following is not None:
                    self._reach(edge.target, following, inherits=edge.relation == NESTED)

    def _reach(self, function: FunctionId, way: Tracing, *, inherits: bool) -> None:
        entry = self.project.function(function)
        if entry is None:
            return
        if not inherits:
            way = _settle(entry, way)
        traced = self.traced.get(function)
        if traced is None:
            traced = self.traced[function] = Traced(function)
        for known in traced.ways:
            if (known.context, known.role, known.unconverted) == (way.context, way.role, way.unconverted):
                if known.certain or not way.certain:
                    return
                traced.ways.remove(known)
                break
        traced.ways.append(way)
        if len(way.steps) < _LONGEST_CHAIN:
            self._queue.append((function, way))

    def _follow(self, caller: FunctionId, way: Tracing, edge: Edge) -> Tracing | None:
        """The way in which `edge.target` is reached from a caller that runs as `way` says; None where it is not traced there."""
        relation = edge.relation
        certain = way.certain and edge.certain
        if relation == NESTED:
            return Tracing(way.context, "callee", way.steps, way.unconverted, certain)
        if relation in (CALL, CALLBACK, CONSTRUCTOR, SPECIAL, ELEMENTS, STRATEGY, KERAS, EAGER):
            steps = (*way.steps, self._step(caller, edge))
        else:
            return None
        if "traced" in edge.via:
            return None  # a tf.function of its own
        if relation == EAGER:
            if self.project.region_of(edge.target) != self.project.region_of(caller):
                return None
            return Tracing(Context.EAGER, "callback", steps, None, certain)
        role = {ELEMENTS: "elements", STRATEGY: "strategy", CALLBACK: "callback", KERAS: "keras"}.get(relation, "callee")
        if way.context is Context.TRACED:
            lasting = way.unconverted if way.unconverted in _LASTING else Unconverted.CALLER
            reason = Unconverted.DO_NOT_CONVERT if "unconverted" in edge.via else Unconverted.CONSTRUCTOR if relation == CONSTRUCTOR else lasting
            return Tracing(Context.TRACED, role, steps, reason, certain)
        why = self._reason(caller, edge)
        return Tracing(Context.TRACED if why is not None else Context.CONVERTED, role, steps, why, certain)

    def _reason(self, caller: FunctionId, edge: Edge) -> Unconverted | None:
        """Why AutoGraph leaves the target of an edge out of converted code alone; None where it converts it."""
        if "unconverted" in edge.via:
            return Unconverted.DO_NOT_CONVERT
        if "hidden" in edge.via:
            return Unconverted.WRAPPED
        if "callback" in edge.via:
            return Unconverted.CALLBACK
        entry = self.project.function(edge.target)
        inside = self._is_inside(edge.target, caller)
        if edge.relation == KERAS:
            kind = keras_class(self.project, edge.cls) if edge.cls is not None else None
            return None if kind is not None and kind.version == 2 else Unconverted.KERAS_3
        if inside:
            return Unconverted.CALLBACK if edge.relation == CALLBACK and entry is not None and entry.decorators else None
        if edge.relation == CONSTRUCTOR:
            return Unconverted.CONSTRUCTOR
        if edge.relation == SPECIAL:
            return Unconverted.SPECIAL_METHOD
        if edge.relation == CALLBACK:
            return Unconverted.CALLBACK
        return None

    def _is_inside(self, function: FunctionId, caller: FunctionId) -> bool:
        """The function's text lies in the outermost function that is being converted together with the caller."""
        if function.path != caller.path:
            return False
        region = self.project.region_of(caller).qualname
        return function.qualname.startswith(region + ".<locals>.")

    def _step(self, caller: FunctionId, edge: Edge) -> TraceStep:
        entry = self.project.function(caller)
        name = "a lambda" if entry is None or entry.is_lambda else entry.name
        how = f"{edge.phrase} callback in {name}" if edge.phrase else f"called by {name}"
        return TraceStep(caller.path, edge.line, how)


def _settle(entry: FunctionIndex, way: Tracing) -> Tracing:
    """What the function itself changes: constructs that stop the conversion, generators."""
    if way.context is not Context.CONVERTED:
        return way
    if entry.is_generator:
        return Tracing(Context.TRACED, way.role, way.steps, Unconverted.GENERATOR, way.certain)
    if effective_stoppers(entry, way.role) or entry.is_async:
        return Tracing(Context.TRACED, way.role, way.steps, Unconverted.STOPPED, way.certain)
    if entry.name.startswith("__") and entry.name.endswith("__") and entry.class_qualname is not None and way.role == "callee" and entry.name != "__call__":
        reason = Unconverted.CONSTRUCTOR if entry.name in ("__init__", "__new__", "__post_init__") else Unconverted.SPECIAL_METHOD
        return Tracing(Context.TRACED, way.role, way.steps, reason, way.certain)
    return way


def effective_stoppers(entry: FunctionIndex, role: str) -> bool:
    """Whether a construct in the function stops its conversion. Equal lambdas on one line matter only where a lambda is converted on its own."""
    return any(stopper.code != "TFG109" or role in ("root", "dataset") for stopper in entry.stoppers)
