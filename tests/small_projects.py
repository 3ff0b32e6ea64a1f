"""Projects of a few lines for the tests of indexing and linking."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

from tflint_graph.index.build import build_index
from tflint_graph.index.model import FileIndex, FunctionId
from tflint_graph.link.loading import Loaded, load_project
from tflint_graph.link.model import CallSites, Context, Tracing, Unconverted
from tflint_graph.link.project import Project
from tflint_graph.link.trace_map import TraceMap, link


@dataclass
class Linked:
    """A linked project whose paths are short: "main.py" stands for "/p/main.py"."""

    project: Project
    trace_map: TraceMap
    loaded: Loaded

    def ways(self, qualname: str, path: str = "main.py") -> list[Tracing]:
        traced = self.trace_map.traced.get(FunctionId(f"/p/{path}", qualname))
        return traced.ways if traced is not None else []

    def way(self, qualname: str, path: str = "main.py") -> Tracing:
        ways = self.ways(qualname, path)
        assert len(ways) == 1, ways
        return ways[0]

    def contexts(self, qualname: str, path: str = "main.py") -> set[Context]:
        return {way.context for way in self.ways(qualname, path)}

    def reasons(self, qualname: str, path: str = "main.py") -> set[Unconverted | None]:
        return {way.unconverted for way in self.ways(qualname, path)}

    def traced(self) -> set[str]:
        return {function.qualname for function in self.trace_map.traced}

    def sites(self, qualname: str, path: str = "main.py") -> CallSites:
        return self.trace_map.call_sites(FunctionId(f"/p/{path}", qualname))

    def callers(self, qualname: str, path: str = "main.py") -> dict[str, int]:
        return {caller.qualname: count for caller, count in self.sites(qualname, path).callers.items()}


def linked(main: str = "", *, complete: bool = True, keras: int | None = None, **files: str) -> Linked:
    """Link a project. Keyword "pkg__util" stands for the file "pkg/util.py", "pkg____init__" for "pkg/__init__.py"."""
    sources = {"/p/main.py": main} if main else {}
    for name, text in files.items():
        path = name.replace("____init__", "/__init__").replace("__", "/") if "____init__" not in name else name.replace("____init__", "/__init__")
        sources[f"/p/{path}.py"] = text
    data = {path: textwrap.dedent(text).encode() for path, text in sources.items()}
    loaded = load_project("/p", list(data), data.__getitem__, complete=complete, keras=keras)
    return Linked(loaded.project, link(loaded.project), loaded)


def indexed(text: str, path: str = "pkg/module.py", module: str = "pkg.module") -> FileIndex:
    """The index of one file."""
    return build_index(path, module, textwrap.dedent(text).encode())
