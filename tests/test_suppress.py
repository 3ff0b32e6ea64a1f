"""`# noqa` means what it means to flake8."""

from __future__ import annotations

import textwrap

import pytest

from tflint_graph.findings import Finding, Severity, Span
from tflint_graph.suppress import unsuppressed


def finding(line: int, code: str = "TFG121") -> Finding:
    return Finding(code, "name", Severity.ERROR, "message", "a.py", Span(line, 1, line, 2), "f")


def kept(text: str, *lines: int) -> list[int]:
    return [each.span.line for each in unsuppressed([finding(line) for line in lines], textwrap.dedent(text))]


@pytest.mark.parametrize(
    ("comment", "suppressed"),
    [
        ("# noqa", True),
        ("# NOQA", True),
        ("# a word first # noqa", True),
        ("# noqa: TFG121", True),
        ("# noqa:TFG121", True),
        ("# noqa: tfg121", True),
        ("# noqa: E501,TFG121", True),
        ("# noqa: E501 TFG121", True),
        ("# noqa: E501, TFG121", True),
        ("# noqa: TFG121 because it is eager", True),
        ("# noqa: TFG1", True),
        ("# noqa: TFG122", False),
        ("# noqa: E501", False),
        ("# nothing", False),
        ("#noqa", False),  # flake8 wants the blank
    ],
)
def test_comments(comment: str, suppressed: bool) -> None:
    assert (kept(f"x = 1  {comment}\n", 1) == []) is suppressed


def test_a_comment_holds_for_its_whole_statement() -> None:
    text = '''\
    a = f(
        1,
    )  # noqa: TFG121
    b = """
    text
    """  # noqa
    c = 1
    '''
    assert kept(text, 1, 2, 4, 7) == [7]


def test_a_comment_on_its_own_line_suppresses_nothing_below() -> None:
    assert kept("# noqa\nx = 1\n", 2) == [2]


def test_compound_statements_end_at_their_colon() -> None:
    assert kept("if x:  # noqa\n    y = 1\n", 1, 2) == [2]


def test_whole_files() -> None:
    assert kept("x = 1\n# flake8: noqa\n", 1) == []
    assert kept("# flake8: noqa: TFG121\nx = 1\n", 2) == []
    assert kept("# flake8: noqa: TFG122\nx = 1\n", 2) == [2]
    assert kept("x = 1  # flake8: noqa\n", 1) == [1]


def test_a_file_that_cannot_be_tokenized_is_read_by_line() -> None:
    assert kept("x = (  # noqa\ny = 1\n", 1, 2) == [2]
