"""Which Keras a project uses, from its pins and from what is installed. None means that neither decides.

TensorFlow 2.16 is the first release whose `tf.keras` is Keras 3 (release notes of TensorFlow 2.16). `tf_keras` is Keras 2 under another name: a project that
depends on it may switch `tf.keras` back, so nothing then follows from the version of TensorFlow alone.
"""

from __future__ import annotations

import ast
import glob
import os
import re
from collections.abc import Iterable, Iterator

from tflint_graph.config import ConfigError, read_toml

_FIRST_KERAS_3 = {"tensorflow": (2, 16), "keras": (3, 0)}
_REQUIREMENT = re.compile(
    r"\s*(?P<name>tensorflow(?:[-_](?:cpu|gpu|macos|intel|rocm))?|keras|tf[-_]keras)(?![\w.-])"
    r"\s*(?:\[[^\]]*\])?\s*\(?(?P<specifiers>[^;#)]*)\)?\s*(?P<marker>;)?",
    re.IGNORECASE,
)
_SPECIFIER = re.compile(r"(?P<op>===|==|~=|!=|<=|>=|<|>|\^|~|=)\s*v?(?P<version>\d+(?:\.\d+)*)")
_INSTALLED = ("tensorflow", "tensorflow-cpu", "tensorflow-gpu", "tensorflow-intel", "tensorflow-macos")


def keras_of_project(root: str, *, isolated: bool) -> int | None:
    """2 or 3 where the pins of the project in `root` decide, else where the installed distributions do (`isolated` leaves these out)."""
    pinned, hinted = pinned_keras(requirements(root))
    if pinned is not None:
        return pinned
    return None if hinted or isolated else installed_keras()


def pinned_keras(lines: Iterable[str]) -> tuple[int | None, bool]:
    """What requirements ("tensorflow>=2.16,<2.18") decide, and whether `tf_keras` is among them. Requirements that contradict each other decide nothing."""
    decided: set[int] = set()
    hinted = False
    for line in lines:
        match = _REQUIREMENT.match(line)
        if match is None:
            continue
        name = re.split(r"[-_]", match["name"].lower())[0]
        if name == "tf":
            hinted = True
        elif not match["marker"]:  # under an environment marker it holds only sometimes
            verdict = _verdict(match["specifiers"], _FIRST_KERAS_3[name])
            if verdict is not None:
                decided.add(verdict)
    if hinted:
        decided.discard(3)
    return (decided.pop() if len(decided) == 1 else None), hinted


def _verdict(specifiers: str, first: tuple[int, int]) -> int | None:
    """2 where every version that the specifiers allow comes before `first`, 3 where none does."""
    for match in _SPECIFIER.finditer(specifiers):
        numbers = [int(part) for part in match["version"].split(".")]
        version = (numbers[0], numbers[1] if len(numbers) > 1 else 0)
        match match["op"]:
            case "==" | "===" | "=" | "~":
                return 3 if version >= first else 2
            case "~=":
                if version >= first:
                    return 3
                if len(numbers) > 2 or version[0] < first[0]:
                    return 2
            case "^":
                if version >= first:
                    return 3
                if version[0] < first[0]:
                    return 2
            case ">=" | ">" if version >= first:
                return 3
            case "<" if _trimmed(numbers) <= _trimmed(first):
                return 2
            case "<=" if version < first:
                return 2
    return None


def _trimmed(numbers: Iterable[int]) -> tuple[int, ...]:
    """A version without trailing zeros, so that 2.16 and 2.16.0 compare equal."""
    parts = list(numbers)
    while parts and not parts[-1]:
        parts.pop()
    return tuple(parts)


def installed_keras() -> int | None:
    """What the distributions next to this one decide."""
    from importlib import metadata

    def version(name: str) -> tuple[int, int] | None:
        try:
            found = re.match(r"(\d+)\.(\d+)", metadata.version(name))
        except metadata.PackageNotFoundError:
            return None
        return (int(found[1]), int(found[2])) if found else None

    for name in _INSTALLED:
        tensorflow = version(name)
        if tensorflow is not None:
            return 3 if tensorflow >= _FIRST_KERAS_3["tensorflow"] else 2
    keras = version("keras")
    return None if keras is None else 3 if keras >= _FIRST_KERAS_3["keras"] else 2


def requirements(root: str) -> Iterator[str]:
    """Every line in the project's own metadata that may be a requirement. Files that cannot be read say nothing."""
    yield from _from_pyproject(os.path.join(root, "pyproject.toml"))
    plain = ["setup.cfg", "requirements*.txt", "requirements/*.txt", "environment*.yml", "environment*.yaml", "Pipfile"]
    for pattern in plain:
        for path in sorted(glob.glob(os.path.join(glob.escape(root), pattern))):
            for line in _text(path).splitlines():
                cleaned = re.sub(r"^[\s\-\"']+", "", line)
                yield re.sub(r"[\"']", "", cleaned.split(" #")[0]) if not cleaned.startswith("#") else ""
    try:
        tree = ast.parse(_text(os.path.join(root, "setup.py")))
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def _from_pyproject(path: str) -> Iterator[str]:
    if not os.path.isfile(path) or ("keras" not in (text := _text(path)) and "tensorflow" not in text):
        return
    try:
        data = read_toml(path)
    except ConfigError:
        return
    project = data.get("project", {})
    groups = [project.get("dependencies", []), *project.get("optional-dependencies", {}).values(), *data.get("dependency-groups", {}).values()]
    for group in groups:
        yield from (line for line in group if isinstance(line, str))
    poetry = data.get("tool", {}).get("poetry", {})
    tables = [poetry.get("dependencies", {}), *(group.get("dependencies", {}) for group in poetry.get("group", {}).values())]
    for table in tables:
        for name, wanted in table.items():
            version = wanted.get("version", "") if isinstance(wanted, dict) else wanted
            if isinstance(version, str):
                yield f"{name} {version if not version[:1].isdigit() else '==' + version}"


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""
