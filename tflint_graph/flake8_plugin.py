"""The linter as a flake8 plugin: the findings of `tflint-graph check` for the same file.

flake8 asks file by file, in several processes; each process opens a project once and keeps it. Importing this module imports neither LibCST nor TensorFlow, and
a project in which nothing is traced never does.
"""

from __future__ import annotations

import argparse
import ast
import io
import os
import tokenize
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar

from tflint_graph import __version__

if TYPE_CHECKING:
    from tflint_graph.analyse import Session

PROBLEM = "TFG000"  # a rule that failed, a configuration that cannot be used
_STDIN_NAMES = ("-", "stdin", "(none)")


class Plugin:
    """What flake8 makes for each file."""

    name = "tflint-graph"
    version = __version__
    selected: ClassVar[tuple[str, ...]] = ()
    stdin_name: ClassVar[str] = ""
    session: ClassVar[dict[str, Session]] = {}

    def __init__(self, tree: ast.AST, filename: str, lines: Sequence[str]) -> None:
        self.filename = filename
        self.lines = lines

    @classmethod
    def parse_options(cls, options: argparse.Namespace) -> None:
        """flake8's own selection switches rules on that are off by default here, by full code or prefix. Called once at the start of each run."""
        given = (getattr(options, name, None) or () for name in ("select", "extend_select"))
        cls.selected = tuple(code for codes in given for code in codes if code.startswith("TFG") and len(code) > 3)
        cls.stdin_name = getattr(options, "stdin_display_name", "") or ""
        cls.session.clear()

    def run(self) -> Iterator[tuple[int, int, str, type[Plugin]]]:
        """The findings as flake8 wants them: 1-based line, 0-based column, "CODE message"."""
        text = "".join(self.lines)
        if not _can_matter(text):
            return
        for line, column, message in self._findings(text):
            yield line, column, message, type(self)

    def _findings(self, text: str) -> Iterator[tuple[int, int, str]]:
        from tflint_graph.analyse import STDIN, Options, Session, analyse
        from tflint_graph.config import ConfigError
        from tflint_graph.rulebook import rulebook
        from tflint_graph.selection import Selection

        path = self.filename
        if path in _STDIN_NAMES or (path == self.stdin_name and not os.path.exists(path)):
            path = STDIN if self.stdin_name in ("", *_STDIN_NAMES) else self.stdin_name
        overrides = {} if path != STDIN and _is_on_disk(path, text) else {path: _encoded(text)}
        codes = tuple(code for code in self.selected if any(known.startswith(code) for known in rulebook()))
        options = Options(selection=Selection(extend_select=codes), noqa=False)  # flake8 applies its own comments
        session = self.session.setdefault(os.getcwd(), Session())
        try:
            report = analyse([path], overrides=overrides, options=options, session=session)
        except ConfigError as error:
            yield 1, 0, f"{PROBLEM} {error}"
            return
        for finding in report.findings:
            yield finding.span.line, finding.span.column - 1, f"{finding.code} {' '.join(finding.message.split())}"
        for problem in report.errors:
            yield 1, 0, f"{PROBLEM} {problem.path}:{problem.line}: {' '.join(problem.reason.split())}"


def _can_matter(text: str) -> bool:
    """False for a file in which TensorFlow can trace nothing: one without functions that does not mention TensorFlow or Keras either."""
    return "def " in text or "lambda" in text or "tensorflow" in text or "keras" in text


def _is_on_disk(path: str, text: str) -> bool:
    """True where the file holds just what flake8 was given (newlines aside): then the project's own index of it serves."""
    try:
        with tokenize.open(path) as file:
            return file.read().removeprefix("\ufeff") == text.replace("\r\n", "\n").replace("\r", "\n")
    except (OSError, SyntaxError, UnicodeDecodeError):
        return False


def _encoded(text: str) -> bytes:
    """The bytes of a text, in the encoding that it declares."""
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(text.encode("utf-8", "replace")).readline)
        return text.encode(encoding)
    except (SyntaxError, UnicodeEncodeError):
        return text.encode("utf-8", "replace")
