"""From the paths of a project to its Project: gate, index, name."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from tflint_graph.collector import paused_collector
from tflint_graph.findings import FileError
from tflint_graph.index.build import build_index
from tflint_graph.index.gate import imported_modules, mentions_tensorflow
from tflint_graph.index.model import FileIndex
from tflint_graph.index.pack import FORMAT, PackedIndexes, pack, unpack
from tflint_graph.link.classes import ClassTable
from tflint_graph.link.components import Components
from tflint_graph.link.keras_evidence import mentions_keras_version
from tflint_graph.link.model import MANY_FILES
from tflint_graph.link.modules import Modules
from tflint_graph.link.project import Project
from tflint_graph.source.text import SourceError

# Gives the packed index for a key, making (and keeping) it with the function when it has none.
Cached = Callable[[str, Callable[[], bytes]], bytes]

HOT_BYTES = 5_000_000  # of packed indexes kept as objects too, which take twelve times as much
HOT_BYTES_OF_MANY = 3_000_000  # the same in a project that fills the memory otherwise


@dataclass(slots=True)
class Counts:
    """What was looked at: `files` were read, `relevant` mention TensorFlow or Keras. `skipped` maps a path to the reason it was left out."""

    files: int = 0
    relevant: int = 0
    skipped: dict[str, str] = field(default_factory=dict)


class Loaded(NamedTuple):
    """A project, the files that could not be read, and what was looked at."""

    project: Project
    errors: list[FileError]
    counts: Counts


def load_project(
    root: str, paths: Sequence[str], read: Callable[[str], bytes], *, complete: bool, keras: int | None = None, cached: Cached | None = None
) -> Loaded:
    """Read and index the files of a project.

    `paths` are all its Python files, `read` gives a file's bytes (OSError makes a FileError). `keras` is a version decided outside of the code; what the
    code says
    comes first. `cached` keeps packed indexes between runs. Files that neither mention TensorFlow nor import or are imported by files that do stay unread.
    """
    errors: list[FileError] = []
    counts = Counts()
    modules = Modules(root, paths)
    classes = ClassTable()
    components = Components(modules)
    files = PackedIndexes(hot_bytes=HOT_BYTES if len(paths) < MANY_FILES else HOT_BYTES_OF_MANY)
    telling: list[str] = []
    with paused_collector():
        for path in _gate(paths, read, modules, errors, counts):
            try:
                data = read(path)
                index, packed = _indexed(path, modules.name(path), data, cached)
                files.add(path, packed)
                classes.add(index)
                components.add(index)
                if mentions_keras_version(data):
                    telling.append(path)
            except OSError as error:
                errors.append(FileError(path, 0, f"cannot be read: {error.strerror or error}"))
            except SourceError as error:
                errors.append(FileError(path, error.line, error.reason))
    project = Project(root, files, complete=complete, keras=keras, read=read, telling=telling, modules=modules, classes=classes, components=components)
    return Loaded(project, errors, counts)


def _indexed(path: str, module: str, data: bytes, cached: Cached | None) -> tuple[FileIndex, bytes]:
    made: list[FileIndex] = []

    def make() -> bytes:
        made.append(build_index(path, module, data))
        return pack(made[0])

    packed = cached(index_key(path, module, data), make) if cached is not None else make()
    return made[0] if made else unpack(packed), packed


def index_key(path: str, module: str, data: bytes) -> str:
    """Under which an index is kept: its format, the file's content, path and module."""
    digest = hashlib.blake2b(data, digest_size=16)
    digest.update(f"\0{path}\0{module}\0{FORMAT}".encode())
    return digest.hexdigest()


def _gate(paths: Sequence[str], read: Callable[[str], bytes], modules: Modules, errors: list[FileError], counts: Counts) -> list[str]:
    """The files worth indexing: those that mention TensorFlow, what these import from the project, and those that import them."""
    relevant: dict[str, None] = {}
    imports: dict[str, list[str]] = {}
    for path in paths:
        try:
            data = read(path)
        except OSError as error:
            errors.append(FileError(path, 0, f"cannot be read: {error.strerror or error}"))
            continue
        counts.files += 1
        if mentions_tensorflow(data):
            relevant[path] = None
        imports[path] = _project_imports(path, data, modules)
    counts.relevant = len(relevant)
    chosen = dict(relevant)
    frontier = list(relevant)
    while frontier:  # what they import, and what that imports
        for imported in imports.get(frontier.pop(), ()):
            if imported not in chosen and imported in imports:
                chosen[imported] = None
                frontier.append(imported)
    importers: dict[str, list[str]] = {}
    for path, imported_files in imports.items():
        for imported in imported_files:
            importers.setdefault(imported, []).append(path)
    reaching = set(relevant)
    frontier = list(relevant)
    while frontier:  # who calls them, through whatever hands their names on
        for importer in importers.get(frontier.pop(), ()):
            if importer not in chosen or importer not in reaching:
                chosen[importer] = None
                reaching.add(importer)
                frontier.append(importer)
    for path in paths:
        if path in imports and path not in chosen:
            counts.skipped[path] = "does not mention TensorFlow"
    return [path for path in paths if path in chosen]


def _project_imports(path: str, data: bytes, modules: Modules) -> list[str]:
    """The project files that a file imports, by its import statements' bytes."""
    found: list[str] = []
    package: str | None = None
    for dotted in imported_modules(data):
        if dotted.startswith("."):
            if package is None:
                name = modules.name(path)
                package = name if modules.is_package(path) else name.rpartition(".")[0]
            stripped = dotted.lstrip(".")
            base = package
            for _ in range(len(dotted) - len(stripped) - 1):
                base = base.rpartition(".")[0]
            dotted = f"{base}.{stripped}".strip(".")
        target = modules.find(dotted, path)
        if target is not None and target != path:
            found.append(target)
    return found
