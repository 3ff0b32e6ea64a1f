"""Bytes to text, and positions between the two.

Python's tokenizer ends a line at ``\\n``, ``\\r\\n`` or ``\\r`` and nowhere else. `str.splitlines` also breaks at form feeds, U+2028 and others, so it is
never used on source. The standard library's syntax tree counts columns in UTF-8 bytes; everything this package hands on counts characters, from 1.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize

from tflint_graph.collector import paused_collector

LINE_END = re.compile("\r\n|\r|\n")
BOM = b"\xef\xbb\xbf"


class SourceError(Exception):
    """A file that is not Python source. `line` is 1-based, 0 where no line applies; `reason` is what a person should read."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line = line
        self.reason = reason


def declared_encoding(data: bytes) -> str:
    """The encoding that the byte order mark or the coding comment names; UTF-8 without either. Raises SourceError for an unknown one."""
    if b"coding" not in data[:400] and not data.startswith(BOM):
        return "utf-8"
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    except SyntaxError as error:
        raise SourceError(1, f"SyntaxError: {error.msg}") from None
    return encoding


def decode(data: bytes) -> str:
    """The text of a source file, without its byte order mark. Raises SourceError with the line of the first byte that cannot be decoded."""
    encoding = declared_encoding(data)
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        line = len(re.findall(rb"\r\n|\r|\n", data[: error.start])) + 1
        raise SourceError(line, f"the file is not {encoding}: cannot decode byte 0x{data[error.start]:02x}") from None
    return text.removeprefix("\ufeff")


def split_lines(text: str) -> list[str]:
    """The lines of a text without their ends, as Python's tokenizer counts them."""
    return LINE_END.split(text)


def count_lines(data: bytes) -> int:
    """The number of lines in a file."""
    ends = data.count(b"\n") if b"\r" not in data else data.count(b"\n") + data.count(b"\r") - data.count(b"\r\n")
    return ends + (0 if not data or data.endswith((b"\n", b"\r")) else 1)


def parse(data: bytes) -> ast.Module:
    """The syntax tree of a source file. Raises SourceError for what Python could not read."""
    if b"\0" in data:
        raise SourceError(data[: data.index(b"\0")].count(b"\n") + 1, "the file contains null bytes")
    if not data.isascii():
        decode(data)  # the parser skips over comments without looking at their bytes
    try:
        with paused_collector():
            return ast.parse(data)
    except SyntaxError as error:
        decode(data)  # raises the better error where the declared encoding is to blame
        raise SourceError(error.lineno or 0, f"SyntaxError: {error.msg}") from None
    except ValueError as error:
        raise SourceError(0, str(error)) from None
    except (RecursionError, MemoryError):
        raise SourceError(0, "the code is nested too deeply to be parsed") from None


class Columns:
    """Converts the syntax tree's 0-based UTF-8 columns into 1-based character columns. Lines are decoded only when one is asked for and not ASCII."""

    __slots__ = ("_ascii", "_data", "_lines")

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._ascii = data.isascii()
        self._lines: list[str] | None = None

    def column(self, line: int, utf8_column: int) -> int:
        """The character column of a byte column in a line (1-based)."""
        if self._ascii or utf8_column == 0:
            return utf8_column + 1
        if self._lines is None:
            self._lines = split_lines(decode(self._data))
        if line > len(self._lines):
            return utf8_column + 1
        return character_column(self._lines[line - 1], utf8_column)


def character_column(line: str, utf8_column: int) -> int:
    """The 1-based character column of a 0-based UTF-8 column in a line."""
    if line.isascii():
        return utf8_column + 1
    return len(line.encode("utf-8", "surrogatepass")[:utf8_column].decode("utf-8", "ignore")) + 1
