"""Which file an import means, decided from the paths of the project alone."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from tflint_graph.index.symbols import FOREIGN

_NEVER = frozenset(sys.stdlib_module_names) | {"tensorflow"}

_REMEMBERED = 40_000  # answers before the memory of them starts anew


def normalised(path: str) -> str:
    """The path with forward slashes and without a leading "./"."""
    path = path.replace("\\", "/")
    while path.startswith("./"):
        path = path[2:]
    return path


class Modules:
    """The modules of a project. Any folder may be the root: packages are found by their `__init__.py`, folders without one are searched too."""

    def __init__(self, root: str, paths: Iterable[str]) -> None:
        self._root = normalised(root).rstrip("/")
        if self._root == ".":
            self._root = ""
        self._by_last: dict[str, list[tuple[str, str]]] = {}
        self._packages: set[str] = set()
        self._found: dict[tuple[str, str], str | None] = {}
        paths = list(paths)
        for path in paths:
            folder, _, file = normalised(path).rpartition("/")
            if file.partition(".")[0] == "__init__":
                self._packages.add(folder)
        for path in paths:
            stem = _stem(path)
            self._by_last.setdefault(stem.rpartition("/")[2], []).append((stem, path))
        self._roots = {self._root, _join(self._root, "src"), _join(self._root, "lib")} | {
            _parent(p) for p in self._packages if _parent(p) not in self._packages
        }

    def name(self, path: str) -> str:
        """The dotted name of a file's module, from its topmost package; for a file in no package, from the project's root."""
        stem = _stem(path)
        top = _parent(stem)
        while top in self._packages and top != self._root:
            top = _parent(top)
        relative = stem[len(top) :].strip("/")
        if "/" not in relative and top not in self._packages:
            for base in (_join(self._root, "src"), self._root):
                if stem.startswith(base + "/" if base else "") and base != top:
                    longer = stem[len(base) :].strip("/").split("/")
                    if all(part.isidentifier() for part in longer):
                        return ".".join(longer)
        return relative.replace("/", ".")

    def find(self, dotted: str, importer: str) -> str | None:
        """The path of the module that `dotted` means in the file `importer`; None when it is none of the project's."""
        folder = _parent(normalised(importer))
        key = (dotted, folder)
        if key not in self._found:
            if len(self._found) > _REMEMBERED:
                self._found.clear()
            self._found[key] = self._find(dotted, folder)
        return self._found[key]

    def _find(self, dotted: str, folder: str) -> str | None:
        top = dotted.partition(".")[0]
        if top in _NEVER or not dotted:
            return None
        tail = dotted.replace(".", "/")
        candidates: list[tuple[int, int, str]] = []
        for stem, path in self._by_last.get(tail.rpartition("/")[2], ()):
            if stem != tail and not stem.endswith("/" + tail):
                continue
            base = stem[: len(stem) - len(tail)].rstrip("/")
            if top in FOREIGN and not (folder + "/").startswith(_join(base, top) + "/"):
                continue
            if base in self._roots or (base not in self._packages and _is_within(folder, base)):
                candidates.append((_shared(base, folder), -len(base), path))
            elif base == folder:
                candidates.append((-1, 0, path))  # a script that is run in its own folder, though that is a package
        return max(candidates)[2] if candidates else None

    def is_package(self, path: str) -> bool:
        return normalised(path).rpartition("/")[2].partition(".")[0] == "__init__"


def _stem(path: str) -> str:
    stem = normalised(path)
    folder, slash, file = stem.rpartition("/")
    name = file.partition(".")[0]
    return folder if name == "__init__" else folder + slash + name


def _parent(path: str) -> str:
    return path.rpartition("/")[0]


def _join(base: str, name: str) -> str:
    return f"{base}/{name}" if base else name


def _is_within(folder: str, base: str) -> bool:
    return not base or folder == base or folder.startswith(base + "/")


def _shared(a: str, b: str) -> int:
    """How many leading parts two folders share."""
    count = 0
    for x, y in zip(a.split("/"), b.split("/")):
        if x != y:
            break
        count += 1
    return count
