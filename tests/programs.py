"""The fixture programs: what their comments say TensorFlow and the linter do with them. The format is described in fixtures/README.md."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"
OUTCOMES = ("raises", "clean", "warns", "differs", "hangs", "traces")

_HEADER = re.compile(r"#\s*(runtime|keras|project|limit):\s*(.*?)\s*$")
_EXPECT = re.compile(r"#\s*expect:\s*([^#]*)")
_CODE = re.compile(r"(TFG\d{3})(?:\[(error|warning|info)\])?$")


class FormatError(ValueError):
    """A fixture whose comments do not follow fixtures/README.md."""


@dataclass(frozen=True, slots=True, order=True)
class Expected:
    """One finding that the linter must report. `path` is relative to the program's folder; an empty `severity` stands for the rule's own."""

    path: str
    line: int
    code: str
    severity: str = ""


@dataclass(frozen=True, slots=True)
class Program:
    """One fixture: a file, or a folder with main.py and other modules.

    `outcome` is one of OUTCOMES. `argument` is what follows it: "Class: text" for `raises`, a text for `warns`, a number for `hangs` (seconds) and `traces`.
    `limit` is the time in seconds after which a run counts as stuck.
    """

    main: Path
    name: str
    outcome: str
    argument: str
    keras: int = 3
    project: str = ""
    limit: float = 60.0
    expected: tuple[Expected, ...] = field(default=())

    @property
    def is_clean(self) -> bool:
        """A clean twin: the linter must give no error and no warning on it."""
        return _stem(self.main).startswith("clean_")

    @property
    def root(self) -> Path:
        """The folder of a program of several files, otherwise the file."""
        return self.main.parent if self.main.name == "main.py" else self.main

    @property
    def files(self) -> list[Path]:
        return sorted(self.root.rglob("*.py")) if self.root.is_dir() else [self.main]


def _stem(main: Path) -> str:
    return main.parent.name if main.name == "main.py" else main.stem


def find(paths: Sequence[Path] = ()) -> list[Program]:
    """All programs at or below `paths` (files or folders; default: the folders of the rules), sorted by name. Raises FormatError for a malformed one."""
    mains: set[Path] = set()
    for path in paths or sorted(FIXTURES.glob("TFG[0-9][0-9][0-9]")):
        mains.update(_mains(path.resolve()))
    return [read(main) for main in sorted(mains)]


def _mains(path: Path) -> Iterator[Path]:
    if path.is_file():
        yield path.parent / "main.py" if (path.parent / "main.py").exists() else path
    elif (path / "main.py").exists():
        yield path / "main.py"
    else:
        for child in path.iterdir():
            if child.is_dir() or child.suffix == ".py":
                yield from _mains(child)


def read(main: Path) -> Program:
    """The program whose entry file is `main`."""
    header = _header(main)
    outcome, _, argument = header.get("runtime", "").partition(" ")
    if outcome not in OUTCOMES:
        raise FormatError(f"{main}: the first lines must hold '# runtime: ...' with one of {', '.join(OUTCOMES)}")
    if outcome in ("hangs", "traces") and not argument.strip().isdigit():
        raise FormatError(f"{main}: '# runtime: {outcome}' needs a number")
    if outcome in ("raises", "warns") and not argument.strip():
        raise FormatError(f"{main}: '# runtime: {outcome}' needs what TensorFlow says")
    name = "/".join((*main.parts[-3:-2], main.parent.name)) if main.name == "main.py" else f"{main.parent.name}/{main.stem}"
    program = Program(
        main=main,
        name=name,
        outcome=outcome,
        argument=argument.strip(),
        keras=int(header.get("keras", "3")),
        project=header.get("project", ""),
        limit=float(header.get("limit", "60")),
    )
    folder = program.root if program.root.is_dir() else main.parent
    expected = tuple(sorted(item for file in program.files for item in _expected(file, file.relative_to(folder).as_posix())))
    if program.is_clean and expected:
        raise FormatError(f"{main}: a clean program carries no '# expect:'")
    if not program.is_clean and not expected:
        raise FormatError(f"{main}: a faulty program needs '# expect: CODE' on the lines to report")
    return Program(main, name, program.outcome, program.argument, program.keras, program.project, program.limit, expected)


def _header(main: Path) -> dict[str, str]:
    """The comments before the first line of code."""
    header: dict[str, str] = {}
    for line in main.read_text("utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            break
        if match := _HEADER.match(line):
            header[match[1]] = match[2]
    return header


def _expected(file: Path, relative: str) -> Iterator[Expected]:
    for number, line in enumerate(file.read_text("utf-8").splitlines(), 1):
        match = _EXPECT.search(line)
        if match is None:
            continue
        for item in match[1].split(","):
            code = _CODE.match(item.strip())
            if code is None:
                raise FormatError(f"{file}:{number}: cannot read '# expect: {item.strip()}'")
            yield Expected(relative, number, code[1], code[2] or "")
