"""The results of calls, without inlining."""

from __future__ import annotations

import libcst as cst

from tflint_graph.flow.attributes import Attributes
from tflint_graph.flow.portable import portable, value_key
from tflint_graph.flow.questions import DEPTH, MAX_SUMMARY_DEPTH
from tflint_graph.flow.statements import Interpreter
from tflint_graph.flow.values import UNKNOWN, Kind, Value
from tflint_graph.index.model import MODULE_SCOPE, FunctionId, FunctionIndex
from tflint_graph.link.model import Context
from tflint_graph.link.project import Project
from tflint_graph.link.trace_map import TraceMap
from tflint_graph.source.region import parse_statement
from tflint_graph.source.walk import walk

MAX_EAGER_SUMMARIES = 1  # the same in code that TensorFlow does not trace, where only the arguments of traced functions matter
MAX_SUMMARY_LINES = 150  # a longer function is summarised as unknown


class Summaries(Attributes):
    """What functions of other regions return for given arguments."""

    def __init__(self, project: Project, trace_map: TraceMap) -> None:
        super().__init__(project, trace_map)
        self._summaries: dict[tuple[object, ...], Value] = {}

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
        region = parse_statement(function.path, text, line)
        if region is None:
            return None
        lambdas = [node for node in walk(region.tree) if isinstance(node, cst.Lambda)]
        if len(lambdas) != 1:
            return None
        interpreter = Interpreter(self.world, region, recording=False)
        self._summarising.add(function)
        try:
            return portable(interpreter.run_top(lambdas[0], context, dict(values), None))
        finally:
            self._summarising.discard(function)

    def property_value(self, function: FunctionId, base: Value) -> Value:
        index = self.project.function(function)
        if index is None or not index.params:
            return UNKNOWN
        found = self.summary(function, {index.params[0].name: base}, Context.TRACED)
        return found if found is not None else UNKNOWN
