"""`[tool.tflint-graph]` of `pyproject.toml`.

An unknown key or a value of the wrong type is an error with file and line: a misspelt key that is silently ignored would look like a clean run.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

TABLE = "tflint-graph"


class ConfigError(Exception):
    """A configuration that cannot be used. `line` is 1-based, 0 where no line is known."""

    def __init__(self, path: str, line: int, reason: str) -> None:
        super().__init__(f"{path}:{line}: {reason}" if line else f"{path}: {reason}")
        self.path = path
        self.line = line
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Config:
    """The settings of one project; `path` is the file they come from, empty without one.

    `select` and `exclude` are None where the file does not set them (the defaults apply). Patterns are those of `.gitignore`, relative to the folder of `path`.
    """

    path: str = ""
    select: tuple[str, ...] | None = None
    ignore: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    extend_ignore: tuple[str, ...] = ()
    exclude: tuple[str, ...] | None = None
    extend_exclude: tuple[str, ...] = ()
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    keras_version: int | None = None

    @property
    def folder(self) -> str:
        return os.path.dirname(self.path)


def find_config(folder: str) -> Config:
    """The settings for a project in `folder`: of the nearest `pyproject.toml`, there or above, that has a `[tool.tflint-graph]` table.

    Raises ConfigError where that file cannot be read or holds something that is no setting.
    """
    while True:
        path = os.path.join(folder, "pyproject.toml")
        if os.path.isfile(path):
            found = read_config(path)
            if found is not None:
                return found
        parent = os.path.dirname(folder)
        if parent == folder:
            return Config()
        folder = parent


def read_config(path: str) -> Config | None:
    """The settings in one `pyproject.toml`, None where it has no `[tool.tflint-graph]`. Raises ConfigError."""
    try:
        with open(path, "rb") as file:
            raw = file.read()
        text = raw.decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(path, 0, f"cannot be read: {error}") from None
    if not re.search("tflint[-_]graph", text, re.IGNORECASE):
        return None
    tools = _parse(path, text).get("tool")
    if not isinstance(tools, dict):
        return None
    for name in tools:
        if name != TABLE and name.replace("_", "-").lower() == TABLE:
            raise ConfigError(path, _line_of_table(text, name), f"[tool.{name}] is not read; did you mean [tool.{TABLE}]?")
    table = tools.get(TABLE)
    if table is None:
        return None
    if not isinstance(table, dict):
        raise ConfigError(path, _line_of(text, TABLE), f"tool.{TABLE} must be a table")
    config = Config(path=path)
    for key, value in table.items():
        reader = _READERS.get(key)
        if reader is None:
            known = ", ".join(sorted(_READERS))
            raise ConfigError(path, _line_of(text, key), f"unknown key `{key}` in [tool.{TABLE}]; known keys: {known}")
        try:
            config = replace(config, **{key.replace("-", "_"): reader(value)})  # type: ignore[arg-type]
        except ValueError as error:
            raise ConfigError(path, _line_of(text, key), f"`{key}` in [tool.{TABLE}] {error}") from None
    return config


def line_of_setting(path: str, text: str) -> int:
    """The first line of a file that holds `text` in quotes: where a setting that turned out wrong stands. 0 where none does."""
    try:
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
    except (OSError, UnicodeDecodeError):
        return 0
    return next((number for number, line in enumerate(lines, 1) if re.search(rf"""["']{re.escape(text)}["']""", line, re.IGNORECASE)), 0)


def read_toml(path: str) -> dict[str, Any]:
    """A whole TOML file. Raises ConfigError."""
    try:
        with open(path, "rb") as file:
            return _parse(path, file.read().decode("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(path, 0, f"cannot be read: {error}") from None


def _parse(path: str, text: str) -> dict[str, Any]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        parsed: dict[str, Any] = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        where = re.search(r"at line (\d+)", str(error))
        raise ConfigError(path, int(where.group(1)) if where else 0, f"is not valid TOML: {error}") from None
    return parsed


def _line_of_table(text: str, name: str) -> int:
    """The line of the first header of a tool's table (or of a table below it); 0 where it cannot be found."""
    header = re.compile(rf"""\s*\[+\s*tool\s*\.\s*["']?{re.escape(name)}["']?\s*[.\]]""")
    return next((number for number, line in enumerate(text.splitlines(), 1) if header.match(line)), 0)


def _line_of(text: str, key: str) -> int:
    """The line that sets a key of our table (in a sub-table's header too); 0 where it cannot be found."""
    inside = False
    pattern = re.compile(rf"""\s*["']?{re.escape(key)}["']?\s*[.=]""")
    for number, line in enumerate(text.splitlines(), 1):
        header = re.match(r"\s*\[+([^\]]*)\]", line)
        if header:
            name = header.group(1).replace('"', "").replace(" ", "")
            inside = name == f"tool.{TABLE}"
            if name == f"tool.{TABLE}.{key}" or (key == TABLE and inside):
                return number
        elif inside and pattern.match(line):
            return number
    return 0


def _strings(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValueError("must be a list of strings")
    return tuple(value)


def _per_file_ignores(value: object) -> tuple[tuple[str, tuple[str, ...]], ...]:
    if not isinstance(value, dict):
        raise ValueError("must be a table of pattern = [codes]")
    return tuple((pattern, _strings(codes)) for pattern, codes in value.items())


def _keras_version(value: object) -> int | None:
    if value == "auto":
        return None
    if isinstance(value, bool) or str(value) not in ("2", "3"):
        raise ValueError('must be "auto", 2 or 3')
    return int(str(value))


_READERS: dict[str, Callable[[object], object]] = {
    "select": _strings,
    "ignore": _strings,
    "extend-select": _strings,
    "extend-ignore": _strings,
    "exclude": _strings,
    "extend-exclude": _strings,
    "per-file-ignores": _per_file_ignores,
    "keras-version": _keras_version,
}
