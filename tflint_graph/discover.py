"""From paths on a command line to the files to look at, and the project each belongs to.

Folders are walked with the usual excludes and `.gitignore` files (nested ones too); a path that is named itself is always taken.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tflint_graph.config import Config
from tflint_graph.findings import FileError

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

PROJECT_MARKERS = ("pyproject.toml", "setup.cfg", "setup.py", ".git")
DEFAULT_EXCLUDES = frozenset({
    ".bzr", ".direnv", ".eggs", ".git", ".hg", ".ipynb_checkpoints", ".mypy_cache", ".nox", ".pants.d", ".pyenv", ".pytest_cache", ".pytype", ".ruff_cache",
    ".svn", ".tflint_graph_cache", ".tox", ".venv", ".vscode", "__pycache__", "__pypackages__", "_build", "buck-out", "build", "dist", "node_modules",
    "site-packages", "venv",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Root:
    """The folder of a project. `marked` is False where no marker file was found: then it is the common folder of the given paths."""

    folder: str
    marked: bool


@dataclass(slots=True)
class Discovery:
    """What the given paths stand for: absolute paths of files, in order, each once; what was left out and why; paths that do not exist."""

    files: list[str] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)
    errors: list[FileError] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Patterns:
    """One ignore file (or the configured patterns), the folder it is relative to, and the weaker ones above it."""

    spec: GitIgnoreSpec
    base: str
    name: str
    above: _Patterns | None = None

    def verdict(self, path: str, is_folder: bool) -> str:
        """The name of the ignore file that leaves the path out; empty where none does. The deepest file that says something decides, as in git."""
        level: _Patterns | None = self
        while level is not None:
            relative = os.path.relpath(path, level.base).replace(os.sep, "/")
            result = level.spec.check_file(relative + "/" if is_folder else relative)
            if result.include is not None:
                return level.name if result.include else ""
            level = level.above
        return ""


def project_root(path: str) -> Root | None:
    """The nearest folder at or above `path` (a file's folder, for a file) with a project marker."""
    folder = path if os.path.isdir(path) else os.path.dirname(path)
    while True:
        parent = os.path.dirname(folder)
        if any(os.path.exists(os.path.join(folder, marker)) for marker in PROJECT_MARKERS):
            return Root(folder, marked=True)
        if parent == folder:
            return None
        folder = parent


def common_folder(paths: Sequence[str]) -> str:
    """The innermost folder that holds all given paths."""
    folders = [path if os.path.isdir(path) else os.path.dirname(path) for path in paths]
    try:
        return os.path.commonpath(folders)
    except ValueError:  # Windows: different drives
        return folders[0]


def above_packages(folder: str) -> str:
    """The folder from which the modules in `folder` are imported: the first one upwards that is no package."""
    while os.path.isfile(os.path.join(folder, "__init__.py")) and os.path.dirname(folder) != folder:
        folder = os.path.dirname(folder)
    return folder


def discover(paths: Sequence[str], config_for: Callable[[str], Config]) -> Discovery:
    """The Python files that `paths` (files and folders, absolute) stand for; `config_for` gives the settings that hold in a folder."""
    found = Discovery()
    seen: set[str] = set()
    for path in paths:
        if os.path.isdir(path):
            config = config_for(path)
            files: Iterable[str] = walk(path, config, found.skipped, found.errors)
        elif path.endswith(".ipynb") and os.path.exists(path):
            found.errors.append(FileError(path, 0, "notebooks are not read"))
            continue
        elif os.path.exists(path) or os.path.islink(path):
            files = (path,)
        else:
            found.errors.append(FileError(path, 0, "no such file or folder"))
            continue
        for file in files:
            if file not in seen:
                seen.add(file)
                found.files.append(file)
    return found


def walk(
    folder: str, config: Config, skipped: dict[str, str] | None = None, errors: list[FileError] | None = None, *, packages_only: bool = False
) -> Iterator[str]:
    """The `.py` files below a folder, sorted within each folder. What is left out goes into `skipped` with the reason, a folder that cannot be listed into
    `errors`.

    Links to folders are not followed. A folder that is ignored or excluded is read when it is the one given; then only ignore files below it count.
    With `packages_only`, of the folders below only packages (those with an `__init__.py`) are entered.
    """
    left_out = skipped if skipped is not None else {}
    excludes = DEFAULT_EXCLUDES if config.exclude is None else frozenset()
    configured = (config.exclude or ()) + config.extend_exclude
    own = _Patterns(_spec(configured), config.folder, f"excluded by {os.path.basename(config.path)}") if configured else None
    if own is not None and own.verdict(folder, is_folder=True):
        own = None
    stack: list[tuple[str, _Patterns | None]] = [(folder, _patterns_above(folder))]
    while stack:
        current, patterns = stack.pop()
        patterns = _with_ignore_file(current, os.path.join(current, ".gitignore"), patterns)
        try:
            with os.scandir(current) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError as error:
            left_out[current] = f"cannot be listed: {error.strerror or error}"
            if errors is not None:
                errors.append(FileError(current, 0, left_out[current]))
            continue
        folders: list[tuple[str, _Patterns | None]] = []
        for entry in entries:
            try:
                is_folder = entry.is_dir(follow_symlinks=False)
                is_file = not is_folder and entry.name.endswith(".py") and entry.is_file()
            except OSError as error:  # a link that leads to itself
                left_out[entry.path] = f"cannot be read: {error.strerror or error}"
                continue
            if not is_folder and not entry.name.endswith(".py"):
                continue
            if is_folder and entry.name in excludes:
                if entry.name[:1] in "._":  # nobody misses what is in .git or __pycache__
                    continue
                reason = "excluded by default"
            else:
                reason = (own.verdict(entry.path, is_folder) if own else "") or (patterns.verdict(entry.path, is_folder) if patterns else "")
            if reason:
                left_out[entry.path] = reason
            elif is_folder and not (packages_only and not os.path.isfile(os.path.join(entry.path, "__init__.py"))):
                folders.append((entry.path, patterns))
            elif is_file:
                yield entry.path
        stack.extend(reversed(folders))


def matches(pattern: str, path: str, base: str) -> bool:
    """True where a pattern in the style of `.gitignore`, relative to `base`, names the file."""
    return _spec((pattern,)).match_file(os.path.relpath(path, base).replace(os.sep, "/"))


def _spec(lines: Iterable[str]) -> GitIgnoreSpec:
    from pathspec import GitIgnoreSpec  # imported late: most projects linted from an editor never need it

    return GitIgnoreSpec.from_lines(lines)


def _with_ignore_file(folder: str, path: str, above: _Patterns | None) -> _Patterns | None:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            lines = file.read().splitlines()
    except OSError:
        return above
    return _Patterns(_spec(lines), folder, f"ignored by {os.path.basename(path)}", above)


def _patterns_above(folder: str) -> _Patterns | None:
    """The ignore files between the top of the git repository and `folder`; none of them when they leave out `folder` itself, or outside a repository."""
    chain = []
    current = folder
    while not os.path.exists(os.path.join(current, ".git")):
        parent = os.path.dirname(current)
        if parent == current:
            return None
        current = parent
        chain.append(current)
    top = current
    patterns = _with_ignore_file(top, os.path.join(top, ".git", "info", "exclude"), None)
    for place in reversed(chain):
        patterns = _with_ignore_file(place, os.path.join(place, ".gitignore"), patterns)
    inner = folder
    while patterns is not None and inner != top:
        if patterns.verdict(inner, is_folder=True):
            return None
        inner = os.path.dirname(inner)
    return patterns
