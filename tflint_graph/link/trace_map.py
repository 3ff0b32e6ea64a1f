"""Who traces what: joins a project's indexes into the TraceMap."""

from __future__ import annotations

from tflint_graph.collector import paused_collector
from tflint_graph.index.model import FunctionId
from tflint_graph.link.call_sites import CallSiteTable
from tflint_graph.link.contexts import Spread
from tflint_graph.link.edges import Edges
from tflint_graph.link.model import CallSites, Traced
from tflint_graph.link.project import Project
from tflint_graph.link.roots import Roots


class TraceMap:
    """Every function that TensorFlow traces, how it gets there, and who calls each function."""

    traced: dict[FunctionId, Traced]

    def __init__(self, project: Project, traced: dict[FunctionId, Traced], edges: Edges) -> None:
        self.traced = traced
        self._call_sites = CallSiteTable(project, traced, edges)

    def mark_eager_calls(self) -> None:
        """Fill in `reached_eagerly`, which takes all call sites."""
        self._call_sites.mark_eager_calls()

    def call_sites(self, function: FunctionId) -> CallSites:
        """All calls of a function found in the project, by the region that holds them."""
        return self._call_sites.of(function)


def link(project: Project) -> TraceMap:
    """Find every root, then everything the roots reach."""
    edges = Edges(project)
    with paused_collector():
        roots = Roots(project, edges)
        spread = Spread(project, edges)
        trace_map = TraceMap(project, spread.run(list(roots.find())), edges)
        trace_map.mark_eager_calls()
    project.rest()
    return trace_map
