"""Which classes define a method or write an attribute, over all files: small enough to keep while the indexes themselves come and go."""

from __future__ import annotations

from collections.abc import Iterable

from tflint_graph.index.model import ClassId, FileIndex


class ClassTable:
    """Filled with one file after the other."""

    def __init__(self, indexes: Iterable[FileIndex] = ()) -> None:
        self.classes: list[ClassId] = []
        self._definers: dict[str, set[ClassId]] = {}
        self._writers: dict[str, set[ClassId]] = {}
        for index in indexes:
            self.add(index)

    def add(self, index: FileIndex) -> None:
        """Note the classes of a file."""
        for qualname, entry in index.classes.items():
            cls = ClassId(index.path, qualname)
            self.classes.append(cls)
            for name in entry.methods:
                self._definers.setdefault(name, set()).add(cls)
            for name in (*entry.attributes, *entry.bindings):
                self._writers.setdefault(name, set()).add(cls)

    def defines(self, cls: ClassId, method: str) -> bool:
        """The class itself has the method."""
        return cls in self._definers.get(method, ())

    def definers(self, method: str, among: Iterable[ClassId]) -> list[ClassId]:
        """Those of some classes that have a method of their own."""
        found = self._definers.get(method)
        return [cls for cls in among if cls in found] if found else []

    def writers(self, attribute: str, among: Iterable[ClassId]) -> list[ClassId]:
        """Those of some classes that assign an attribute, in a method or in the class body."""
        found = self._writers.get(attribute)
        return [cls for cls in among if cls in found] if found else []
