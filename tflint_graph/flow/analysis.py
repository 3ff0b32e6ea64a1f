"""The analysis of a whole project: regions on demand, what they call, what their functions return, what parameters are."""

from __future__ import annotations

from collections import OrderedDict

from tflint_graph.flow.attributes import variable_constant
from tflint_graph.flow.lattice import join
from tflint_graph.flow.portable import portable
from tflint_graph.flow.questions import DEPTH, MAX_CALLER_DEPTH, MAX_EAGER_CALLERS, Outcome
from tflint_graph.flow.statements import Interpreter
from tflint_graph.flow.summaries import Summaries
from tflint_graph.flow.values import UNKNOWN, Value
from tflint_graph.flow.world import World
from tflint_graph.index.model import MODULE_SCOPE, FunctionId
from tflint_graph.link.model import MANY_FILES, Context
from tflint_graph.link.project import Project
from tflint_graph.link.trace_map import TraceMap
from tflint_graph.source.region import Region, RegionError, parse_region, parse_statement
from tflint_graph.source.text import decode, split_lines

KEPT_REGIONS = 1500  # parsed regions kept for summaries, some 75 KB each
KEPT_REGIONS_OF_MANY = 200  # the same in a project whose indexes fill the memory already
KEPT_INTERPRETERS = 100  # regions interpreted as callers of others and not yet checked themselves
MAX_MODULE_LINES = 3000  # a longer module's own statements are not analysed


class Analysis(Summaries):
    """Runs the interpreter over the regions of one project and answers what crosses regions."""

    def __init__(self, project: Project, trace_map: TraceMap) -> None:
        super().__init__(project, trace_map)
        self.world = World(project, self)
        self._kept_regions = KEPT_REGIONS if len(project.files) < MANY_FILES else KEPT_REGIONS_OF_MANY
        self._regions: OrderedDict[FunctionId, Region | None] = OrderedDict()
        self._lines: OrderedDict[str, list[str]] = OrderedDict()
        self._fresh: OrderedDict[FunctionId, Interpreter] = OrderedDict()

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
        return joined if name.isupper() and len(assignments) == 1 else variable_constant(joined)

    def _evaluate_statement(self, path: str, name: str, text: str, line: int) -> Value:
        if text[:1] in (" ", "\t"):
            return UNKNOWN
        region = parse_statement(path, text, line)
        if region is None:
            return UNKNOWN
        return portable(Interpreter(self.world, region, recording=False).evaluate_assignment(region.tree, name))

    def imported_value(self, function: FunctionId, name: str) -> Value:
        """The value of a name that an import statement inside a function binds."""
        entity = self.project.resolve(function.path, function.qualname, ("name", name))
        return self.world.entity_value(entity) if entity is not None else UNKNOWN


def _outcome_of(interpreter: Interpreter) -> Outcome:
    """What other regions may ask of an interpreted one, without its tree."""
    eager = interpreter.eager_calls
    outgoing = {
        callee: [({k: portable(v) for k, v in values.items()}, node in eager) for node, values in sites.items()]
        for callee, sites in interpreter.outgoing.items()
    }
    signatures = {function: portable(value) for function, value in interpreter.signatures.items()}
    return Outcome(outgoing, {k: portable(v) for k, v in interpreter.attribute_writes.items()}, signatures)
