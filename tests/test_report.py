"""What a run prints."""

from __future__ import annotations

import json

import pytest

from tflint_graph.findings import Because, Edit, FileError, Finding, Fix, Report, Severity, Span, Summary, TraceStep
from tflint_graph.report.github import workflow_commands
from tflint_graph.report.machine import as_json
from tflint_graph.report.text import concise, full, statistics
from tflint_graph.report.wording import closing_line

FINDING = Finding(
    code="TFG121",
    name="return-in-tensor-loop",
    severity=Severity.ERROR,
    message="`return` in a loop over 100% of `x`,\nwhich is a tensor.",
    path="pkg/train.py",
    span=Span(12, 9, 12, 17),
    function="step",
    traced_by=(TraceStep("pkg/train.py", 3, "@tf.function"), TraceStep("pkg/train.py", 8, "called by train")),
    because=(Because("pkg/train.py", 10, "`x` is a tensor: result of tf.range"),),
    fix=Fix("Return after the loop", False, (Edit(Span(12, 9, 12, 17), "break"),)),
)
WARNING = Finding("TFG105", "walrus", Severity.WARNING, "`:=` in `f`.", "a.py", Span(1, 1, 4, 2), "f")
INFO = Finding("TFG199", "hint", Severity.INFO, "A hint.", "a:b,c.py", Span(2, 3, 2, 4), "")


def report(*findings: Finding, errors: tuple[FileError, ...] = (), files: int = 3, relevant: int = 2, traced: int = 5) -> Report:
    return Report(list(findings), list(errors), Summary(files, relevant, traced))


def test_text_is_one_line_for_each_finding() -> None:
    assert concise(report(FINDING, WARNING)) == (
        "pkg/train.py:12:9: TFG121 `return` in a loop over 100% of `x`, which is a tensor.\n"
        "a.py:1:1: TFG105 `:=` in `f`.\n"
        "1 error, 1 warning; 3 files, 5 functions that TensorFlow traces\n"
    )


def test_full_text_adds_the_reasons() -> None:
    assert full(report(FINDING)).splitlines()[1:-1] == [
        "    error return-in-tensor-loop, in step",
        "    traced: @tf.function (pkg/train.py:3)",
        "    traced: called by train (pkg/train.py:8)",
        "    because: `x` is a tensor: result of tf.range (pkg/train.py:10)",
        "    fix (unsafe): Return after the loop",
    ]


@pytest.mark.parametrize(
    ("made", "line"),
    [
        (report(), "No findings; 3 files, 5 functions that TensorFlow traces"),
        (report(INFO, traced=1, files=1), "1 info; 1 file, 1 function that TensorFlow traces"),
        (report(traced=0), "No findings; 3 files: nothing is traced, no function in them reaches tf.function, tf.data or Keras"),
        (report(traced=0, files=1, relevant=1), "No findings; 1 file: nothing is traced, no function in it reaches tf.function, tf.data or Keras"),
        (report(traced=0, relevant=0), "No findings; 3 files: nothing is traced, no file mentions TensorFlow or Keras"),
        (report(files=0, relevant=0, traced=0), "No findings; no Python files"),
        (report(errors=(FileError("a.py", 1, "x"),)), "No findings; 3 files, 5 functions that TensorFlow traces; 1 problem on the way (see above)"),
    ],
)
def test_the_last_line_says_what_was_looked_at(made: Report, line: str) -> None:
    assert closing_line(made) == line


def test_json() -> None:
    data = json.loads(as_json(report(FINDING, WARNING, errors=(FileError("b.py", 7, "invalid syntax"),))))
    assert list(data) == ["version", "findings", "errors", "summary"]
    assert data["version"] == 1
    assert data["findings"][0] == {
        "code": "TFG121",
        "name": "return-in-tensor-loop",
        "severity": "error",
        "message": "`return` in a loop over 100% of `x`,\nwhich is a tensor.",
        "path": "pkg/train.py",
        "line": 12,
        "column": 9,
        "end_line": 12,
        "end_column": 17,
        "function": "step",
        "traced_by": [{"path": "pkg/train.py", "line": 3, "how": "@tf.function"}, {"path": "pkg/train.py", "line": 8, "how": "called by train"}],
        "because": [{"path": "pkg/train.py", "line": 10, "text": "`x` is a tensor: result of tf.range"}],
        "fix": {"title": "Return after the loop", "safe": False, "edits": [{"line": 12, "column": 9, "end_line": 12, "end_column": 17, "text": "break"}]},
    }
    assert data["findings"][1]["fix"] is None
    assert data["errors"] == [{"path": "b.py", "line": 7, "reason": "invalid syntax"}]
    assert data["summary"] == {"error": 1, "warning": 1, "info": 0, "files": 3, "relevant_files": 2, "traced_functions": 5}


def test_github_commands_are_escaped() -> None:
    lines = workflow_commands(report(FINDING, WARNING, INFO, errors=(FileError("b.py", 7, "50%\nbroken"),))).splitlines()
    assert lines[0] == (
        "::error file=pkg/train.py,line=12,endLine=12,col=9,endColumn=17,title=TFG121 return-in-tensor-loop"
        "::pkg/train.py:12:9: TFG121 `return` in a loop over 100%25 of `x`,%0Awhich is a tensor."
    )
    assert lines[1].startswith("::warning file=a.py,line=1,endLine=4,title=TFG105 walrus::")
    assert lines[2].startswith("::notice file=a%3Ab%2Cc.py,line=2,endLine=2,col=3,endColumn=4,title=TFG199 hint::")
    assert lines[3] == "::error file=b.py,title=tflint-graph,line=7::50%25%0Abroken"
    assert len(lines) == 5


def test_statistics() -> None:
    made = report(WARNING, FINDING, FINDING)
    assert json.loads(as_json(made, statistics=True))["statistics"] == [
        {"code": "TFG121", "name": "return-in-tensor-loop", "severity": "error", "count": 2},
        {"code": "TFG105", "name": "walrus", "severity": "warning", "count": 1},
    ]
    assert statistics(made).splitlines()[:2] == ["2  TFG121  error    return-in-tensor-loop", "1  TFG105  warning  walrus"]
