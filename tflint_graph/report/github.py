"""GitHub workflow commands: findings appear as annotations on the lines of a pull request.

The escapes are those of "Workflow commands for GitHub Actions": `%`, carriage return and newline everywhere, `:` and `,` in properties too.
"""

from __future__ import annotations

from tflint_graph.findings import FileError, Finding, Report, Severity
from tflint_graph.report.wording import closing_line

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def workflow_commands(report: Report) -> str:
    """One workflow command for each finding and problem, and the closing line."""
    lines = [_command(finding) for finding in report.findings]
    lines += [_problem(error) for error in report.errors]
    return "\n".join([*lines, closing_line(report)]) + "\n"


def _command(finding: Finding) -> str:
    span = finding.span
    properties = {"file": finding.path.replace("\\", "/"), "line": str(span.line), "endLine": str(span.end_line)}
    if span.line == span.end_line:  # GitHub refuses columns on annotations of several lines
        properties |= {"col": str(span.column), "endColumn": str(span.end_column)}
    properties["title"] = f"{finding.code} {finding.name}"
    return f"::{_COMMANDS[finding.severity]} {_joined(properties)}::{_data(f'{finding.path}:{span.line}:{span.column}: {finding.code} {finding.message}')}"


def _problem(error: FileError) -> str:
    properties = {"file": error.path.replace("\\", "/"), "title": "tflint-graph"}
    if error.line:
        properties["line"] = str(error.line)
    return f"::error {_joined(properties)}::{_data(error.reason)}"


def _joined(properties: dict[str, str]) -> str:
    return ",".join(f"{name}={_property(value)}" for name, value in properties.items())


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
