"""Bytes to text, lines and columns."""

from __future__ import annotations

import pytest

from tflint_graph.source.text import Columns, SourceError, character_column, count_lines, decode, split_lines


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"x = 1\n", "x = 1\n"),
        (b"\xef\xbb\xbfx = 1\n", "x = 1\n"),
        ("# coding: latin-1\nx = 'ä'\n".encode("latin-1"), "# coding: latin-1\nx = 'ä'\n"),
        ("x = 'ä'\n".encode(), "x = 'ä'\n"),
    ],
)
def test_decode(data: bytes, text: str) -> None:
    assert decode(data) == text


def test_decode_errors_name_the_line() -> None:
    with pytest.raises(SourceError) as caught:
        decode(b"a\r\nb\rc\xff\n")
    assert caught.value.line == 3


def test_lines_end_where_python_ends_them() -> None:
    text = "a\fb\nc\u2028d\r\ne\rf\x0bg"
    assert split_lines(text) == ["a\fb", "c\u2028d", "e", "f\x0bg"]


@pytest.mark.parametrize(("data", "count"), [(b"", 0), (b"a", 1), (b"a\n", 1), (b"a\nb", 2), (b"a\r\nb\r\n", 2), (b"a\rb", 2)])
def test_count_lines(data: bytes, count: int) -> None:
    assert count_lines(data) == count


def test_columns() -> None:
    assert character_column("äx = 1", 2) == 2
    assert Columns("äx = 1\ny\n".encode()).column(1, 2) == 2
    assert Columns(b"x = 1\n").column(1, 4) == 5
