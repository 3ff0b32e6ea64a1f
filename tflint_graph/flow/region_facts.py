"""Facts about one interpreted region, in the form in which rules ask for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from tflint_graph.flow.analysis import Analysis
from tflint_graph.flow.facts import BranchFacts, CallFacts, Facts, Frame, FunctionFacts, LoopFacts, ReturnFacts, Staging
from tflint_graph.flow.recorder import Recorder
from tflint_graph.flow.statements import Interpreter
from tflint_graph.flow.values import UNKNOWN, Kind, Value
from tflint_graph.index.model import FunctionId
from tflint_graph.link.model import IN_GRAPH, Context
from tflint_graph.source.walk import children, walk

_CONTROL = (cst.If, cst.While, cst.For, cst.IfExp, cst.BooleanOperation, cst.UnaryOperation)
_WORDS = {Kind.TENSOR: "a tensor", Kind.VARIABLE: "a variable", Kind.DATASET: "a dataset", Kind.ITERATOR: "a dataset iterator"}


class RegionFacts(Facts):
    """Facts of the region that an Interpreter has run with recording on."""

    def __init__(self, analysis: Analysis, interpreter: Interpreter) -> None:
        self.analysis = analysis
        self.region = interpreter.region
        self.path = self.region.function.path
        self.module = self.region.tree
        assert interpreter.recorder is not None
        self._facts: Recorder = interpreter.recorder
        self._interpreter = interpreter
        self._functions: dict[int, FunctionFacts] = {}
        self._owners: dict[int, FunctionFacts] = {}
        self._spellings: dict[int, cst.CSTNode] | None = None
        self._collect_functions()

    # -- functions -------------------------------------------------------------------------------------------------------------------------------------------

    def _collect_functions(self) -> None:
        names = self.region.names_of_functions
        for node in self.region.function_nodes.values():
            self._functions[id(node)] = self._function_facts(node, FunctionId(self.path, names[id(node)]))
        self._map_owners()
        for node in self.region.function_nodes.values():
            own = self._functions[id(node)]
            if own.contexts:
                continue
            outer = self._outer_function(node)
            while outer is not None and not outer.contexts:
                outer = self._outer_function(outer.node)
            if outer is not None:
                own.contexts, own.unconverted, own.certain = outer.contexts, outer.unconverted, outer.certain
                own.steps, own.unconverted_steps = outer.steps, outer.unconverted_steps
                own.roles = frozenset({"nested"})
                own.autograph_options, own.keras = outer.autograph_options, outer.keras

    def _map_owners(self) -> None:
        """For every node the innermost def or lambda around it: nodes come in source order, parents first."""
        parents, functions, owners = self.region.parents, self._functions, self._owners
        for node in self.region.nodes:
            parent = parents.get(id(node))
            if parent is not None:
                owner = functions.get(id(parent)) or owners.get(id(parent))
                if owner is not None:
                    owners[id(node)] = owner

    def _outer_function(self, node: cst.CSTNode) -> FunctionFacts | None:
        return self._owners.get(id(node))

    def _function_facts(self, node: cst.CSTNode, function: FunctionId) -> FunctionFacts:
        analysis, interpreter = self.analysis, self._interpreter
        traced = analysis.trace_map.traced.get(function)
        index = analysis.project.function(function)
        ways = traced.ways if traced is not None else []
        contexts = frozenset(w.context for w in ways if w.context is not Context.EAGER)
        chosen = (
            next((w for w in ways if w.context is Context.CONVERTED and w.certain), None)
            or next((w for w in ways if w.certain), None)
            or (ways[0] if ways else None)
        )
        unconverted = next((w.unconverted for w in ways if w.context is Context.TRACED and w.certain), None) or next(
            (w.unconverted for w in ways if w.unconverted), None
        )
        certain = analysis.certainly_traced(function) if ways else True
        if certain is None:
            contexts, ways = frozenset(), []
        eager_only = bool(ways) and not contexts
        returns = [ReturnFacts(n, v) for n, v in interpreter.nested_returns.get(id(node), []) if isinstance(n, cst.Return)]
        return FunctionFacts(
            node=node,
            function=function,
            display=function.qualname.replace("<locals>.", ""),
            contexts=frozenset({Context.EAGER}) if eager_only else contexts,
            unconverted=unconverted,
            roles=frozenset(w.role for w in ways),
            certain=certain is not False,
            steps=chosen.steps if chosen is not None else (),
            unconverted_steps=next((w.steps for w in ways if w.context is Context.TRACED), ()),
            params=interpreter.nested_params.get(id(node), {}),
            stoppers=index.stoppers if index is not None else (),
            is_root=any(w.role == "root" for w in ways),
            is_generator=index.is_generator if index is not None else False,
            autograph_options=self._autograph_options(node),
            keras=analysis.keras_version(function),
            decorators=analysis.decorator_names(function),
            returns=returns,
            falls_through=interpreter.nested_ends.get(id(node), True),
            returned=interpreter.nested_results.get(id(node)),
        )

    def _autograph_options(self, node: cst.CSTNode) -> frozenset[str]:
        """The feature names in `experimental_autograph_options` of a def's decorators."""
        found: set[str] = set()
        for decorator in node.decorators if isinstance(node, cst.FunctionDef) else ():
            if isinstance(decorator.decorator, cst.Call):
                for arg in decorator.decorator.args:
                    if arg.keyword is not None and arg.keyword.value == "experimental_autograph_options":
                        found.update(n.attr.value for n in walk(arg.value) if isinstance(n, cst.Attribute))
        return frozenset(found)

    # -- plain look-ups --------------------------------------------------------------------------------------------------------------------------------------

    def value(self, node: cst.CSTNode) -> Value:
        return self._facts.values.get(id(node), UNKNOWN)

    def staging(self, node: cst.CSTNode) -> Staging:
        return self._facts.stagings.get(id(node), Staging.UNKNOWN)

    def branch(self, node: cst.If) -> BranchFacts | None:
        return self._facts.branches.get(id(node))

    def loop(self, node: cst.For | cst.While) -> LoopFacts | None:
        return self._facts.loops.get(id(node))

    def call(self, node: cst.Call) -> CallFacts | None:
        return self._facts.calls.get(id(node))

    def parent(self, node: cst.CSTNode) -> cst.CSTNode | None:
        return self.region.parent(node)

    def ancestors(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        current = self.region.parent(node)
        while current is not None:
            yield current
            current = self.region.parent(current)

    def statement(self, node: cst.CSTNode) -> cst.CSTNode:
        return self.region.statement(node)

    def line(self, node: cst.CSTNode) -> int:
        return self.region.line(node)

    def functions(self) -> Sequence[FunctionFacts]:
        return list(self._functions.values())

    def function(self, node: cst.CSTNode) -> FunctionFacts | None:
        found = self._functions.get(id(node))
        return found if found is not None else self._outer_function(node)

    def outermost(self, node: cst.CSTNode) -> FunctionFacts | None:
        found = self.function(node)
        while found is not None and "nested" in found.roles:
            outer = self._outer_function(found.node)
            if outer is None:
                break
            found = outer
        return found

    # -- frames ----------------------------------------------------------------------------------------------------------------------------------------------

    def frames(self, node: cst.CSTNode, *, beyond_function: bool = False) -> Sequence[Frame]:
        found: list[Frame] = []
        child = node
        for ancestor in self.ancestors(node):
            found.extend(self._frames_at(ancestor, child))
            if isinstance(ancestor, (cst.FunctionDef, cst.Lambda)) and not beyond_function and ancestor is not node:
                break
            child = ancestor
        return found

    def _frames_at(self, ancestor: cst.CSTNode, child: cst.CSTNode) -> Iterator[Frame]:
        """The frames that a child of `ancestor` stands in because of `ancestor`."""
        match ancestor:
            case cst.IndentedBlock() | cst.Module():
                yield from self._after_jumps(ancestor, child)
            case cst.If():
                if child is ancestor.body:
                    yield Frame(ancestor, "if", self._flow_staging(ancestor))
                elif child is ancestor.orelse:
                    yield Frame(ancestor, "else", self._flow_staging(ancestor))
            case cst.For() | cst.While():
                if child is ancestor.body:
                    yield Frame(ancestor, "for" if isinstance(ancestor, cst.For) else "while", self._flow_staging(ancestor))
                elif child is ancestor.orelse:
                    yield Frame(ancestor, "loop-else", Staging.PYTHON)
            case cst.With():
                if child is ancestor.body:
                    yield Frame(ancestor, "with", Staging.PYTHON)
            case cst.Try() | cst.TryStar():
                part = "try" if child is ancestor.body else "try-else" if child is ancestor.orelse else "finally" if child is ancestor.finalbody else None
                if part is not None:
                    yield Frame(ancestor, part, Staging.PYTHON)
            case cst.ExceptHandler() | cst.ExceptStarHandler():
                yield Frame(ancestor, "except", Staging.PYTHON)
            case cst.FunctionDef():
                yield Frame(ancestor, "def", Staging.PYTHON)
            case cst.Lambda():
                yield Frame(ancestor, "lambda", Staging.PYTHON)
            case cst.ClassDef():
                yield Frame(ancestor, "class", Staging.PYTHON)
            case cst.IfExp():
                yield Frame(ancestor, "ternary-test" if child is ancestor.test else "ternary", self.staging(ancestor))
            case cst.ListComp() | cst.SetComp() | cst.DictComp() | cst.GeneratorExp():
                yield Frame(ancestor, "comprehension", Staging.PYTHON)

    def _flow_staging(self, node: cst.If | cst.For | cst.While) -> Staging:
        facts = self.function(node)
        staging = self.staging(node)
        if staging in (Staging.TENSOR, Staging.DATASET) and facts is not None and not facts.contexts & IN_GRAPH:
            return Staging.PYTHON  # eager code decides on the tensor's value
        return staging

    def _after_jumps(self, block: cst.IndentedBlock | cst.Module, child: cst.CSTNode) -> Iterator[Frame]:
        """Statements behind `if tensor: continue` (or break, or return) run under that condition: AutoGraph moves them into its other branch."""
        for statement in block.body:
            if statement is child:
                return
            if isinstance(statement, cst.If) and self.staging(statement) is Staging.TENSOR and _may_jump(statement):
                yield Frame(statement, "else", self._flow_staging(statement))

    def tensor_flow_in(self, function: FunctionFacts) -> cst.CSTNode | None:
        for node in walk(function.node):
            if (
                isinstance(node, _CONTROL)
                and self.staging(node) is Staging.TENSOR
                and not (isinstance(node, cst.UnaryOperation) and not isinstance(node.operator, cst.Not))
            ):
                return node
            if isinstance(node, cst.For) and self.staging(node) is Staging.DATASET:
                return node
        return None

    # -- origins ---------------------------------------------------------------------------------------------------------------------------------------------

    def made_inside(self, value: Value, frame: Frame) -> bool:
        return value.origin is not None and self._is_below(value.origin, frame)

    def may_be_made_inside(self, value: Value, frame: Frame) -> bool:
        if value.origin is not None:
            return self._is_below(value.origin, frame)
        return value.kind in (Kind.UNKNOWN, Kind.PYTHON, Kind.INSTANCE)

    def _is_below(self, node: cst.CSTNode, frame: Frame) -> bool:
        child = node
        for ancestor in self.ancestors(node):
            if ancestor is frame.node:
                return any(f.part == frame.part for f in self._frames_at(ancestor, child))
            child = ancestor
        return False

    def described(self, value: Value) -> str:
        """How the region spells a value, and what it is, as the beginning of a reason: "`loss` is a tensor: ", or "" where neither is known."""
        word = _WORDS.get(value.kind)
        if word is None:
            return ""
        if self._spellings is None:
            self._spellings = {}
            for node in self.region.nodes:
                found = self._facts.values.get(id(node))
                if found is not None and type(node) in (cst.Name, cst.Attribute) and found.kind in _WORDS:
                    self._spellings.setdefault(id(found), node)
        node_of_value = self._spellings.get(id(value))
        return f"`{self.source(node_of_value)}` is {word}: " if node_of_value is not None else f"{word}: "

    def changes(self, method: FunctionId) -> frozenset[str]:
        return self.analysis.attributes_changed(method)

    def reads_of(self, name: str, within: cst.CSTNode) -> Sequence[cst.Name]:
        found: list[cst.Name] = []
        stack: list[tuple[cst.CSTNode, bool]] = [(within, True)]
        while stack:
            node, load = stack.pop()
            if isinstance(node, cst.Name):
                if load and node.value == name:
                    found.append(node)
                continue
            for child in children(node):
                stored = (
                    (isinstance(node, (cst.AssignTarget, cst.AnnAssign, cst.For, cst.CompFor, cst.NamedExpr)) and child is node.target)
                    or (isinstance(node, cst.Attribute) and child is node.attr)
                    or (
                        isinstance(node, (cst.Arg, cst.Param, cst.FunctionDef, cst.ClassDef, cst.AsName))
                        and child in (getattr(node, "keyword", None), getattr(node, "name", None))
                    )
                )
                stack.append((child, load and not stored if not isinstance(child, (cst.Attribute, cst.Subscript)) else True))
        return found


def _may_jump(node: cst.If) -> bool:
    """Whether an `if` holds a return, or a break or continue of the loop around it."""
    stack: list[tuple[cst.CSTNode, bool]] = [(node, False)]
    while stack:
        current, in_loop = stack.pop()
        if isinstance(current, cst.Return) or (isinstance(current, (cst.Break, cst.Continue)) and not in_loop):
            return True
        if isinstance(current, (cst.FunctionDef, cst.Lambda, cst.ClassDef, cst.BaseExpression)):
            continue
        below = in_loop or isinstance(current, (cst.For, cst.While))
        stack.extend((child, below) for child in children(current))
    return False
