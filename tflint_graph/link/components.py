"""Which files of a project can hand objects to each other: those connected by imports, in whatever direction."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tflint_graph.index.model import FileIndex
from tflint_graph.link.modules import Modules


class Components:
    """Connected components of the import graph. Two programs that merely lie in one folder are two components: an object made in one never reaches the other."""

    def __init__(self, files: Mapping[str, FileIndex], modules: Modules) -> None:
        self._parent: dict[str, str] = {path: path for path in files}
        for path in files:
            for dotted in _imports(files[path]):
                target = modules.find(dotted, path) or modules.find(dotted.rpartition(".")[0], path)
                if target is not None and target in self._parent:
                    self._parent[self.of(path)] = self.of(target)

    def of(self, path: str) -> str:
        """One file that stands for the component of an indexed file."""
        while self._parent[path] != path:
            self._parent[path] = self._parent[self._parent[path]]
            path = self._parent[path]
        return path

    def connected(self, a: str, b: str) -> bool:
        """Whether the two files are one component; a file that was not indexed is connected to everything."""
        return a == b or a not in self._parent or b not in self._parent or self.of(a) == self.of(b)


def _imports(index: FileIndex) -> Iterator[str]:
    yield from index.imports.values()
    yield from index.star_imports
    for function in index.functions.values():
        for symbols in function.bindings.values():
            for symbol in symbols:
                if symbol is not None and symbol[0] == "import":
                    yield symbol[1]
