"""Which files of a project can hand objects to each other: those connected by imports, in whatever direction."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tflint_graph.index.model import FileIndex
from tflint_graph.link.modules import Modules


class Components:
    """Connected components of the import graph. Two programs that merely lie in one folder are two components: an object made in one never reaches the
    other."""

    def __init__(self, modules: Modules, indexes: Iterable[FileIndex] = ()) -> None:
        self._modules = modules
        self._parent: dict[str, str] = {}
        self._indexed: set[str] = set()
        for index in indexes:
            self.add(index)

    def add(self, index: FileIndex) -> None:
        """Note the imports of a file."""
        path = index.path
        self._indexed.add(path)
        self._parent.setdefault(path, path)
        for dotted in _imports(index):
            target = self._modules.find(dotted, path) or self._modules.find(dotted.rpartition(".")[0], path)
            if target is not None and target != path:
                self._parent.setdefault(target, target)
                self._parent[self.of(path)] = self.of(target)

    def of(self, path: str) -> str:
        """One file that stands for the component of an indexed file."""
        while self._parent[path] != path:
            self._parent[path] = self._parent[self._parent[path]]
            path = self._parent[path]
        return path

    def connected(self, a: str, b: str) -> bool:
        """Whether the two files are one component; a file that was not indexed is connected to everything."""
        return a == b or a not in self._indexed or b not in self._indexed or self.of(a) == self.of(b)


def _imports(index: FileIndex) -> Iterator[str]:
    yield from index.imports.values()
    yield from index.star_imports
    for function in index.functions.values():
        for symbols in function.bindings.values():
            for symbol in symbols:
                if symbol is not None and symbol[0] == "import":
                    yield symbol[1]
