"""Findings for programs: one JSON object. Lines and columns are 1-based, end columns exclusive."""

from __future__ import annotations

import json
from collections import Counter

from tflint_graph.findings import Finding, Fix, Report, Severity
from tflint_graph.report.wording import frequencies

FORMAT_VERSION = 1


def as_json(report: Report, *, statistics: bool = False) -> str:
    """The whole report as one JSON object, `{"version", "findings", "errors", "summary"}`; `statistics` adds how often each rule fired."""
    by_severity = Counter(finding.severity for finding in report.findings)
    data: dict[str, object] = {
        "version": FORMAT_VERSION,
        "findings": [_finding(finding) for finding in report.findings],
        "errors": [{"path": error.path, "line": error.line, "reason": error.reason} for error in report.errors],
        "summary": {
            **{severity.value: by_severity[severity] for severity in Severity},
            "files": report.summary.files,
            "relevant_files": report.summary.relevant,
            "traced_functions": report.summary.traced,
        },
    }
    if statistics:
        data["statistics"] = [{"code": code, "name": name, "severity": severity, "count": number} for number, code, severity, name in frequencies(report)]
    return json.dumps(data, indent=2, ensure_ascii=True) + "\n"


def _finding(finding: Finding) -> dict[str, object]:
    return {
        "code": finding.code,
        "name": finding.name,
        "severity": finding.severity.value,
        "message": finding.message,
        "path": finding.path,
        "line": finding.span.line,
        "column": finding.span.column,
        "end_line": finding.span.end_line,
        "end_column": finding.span.end_column,
        "function": finding.function,
        "traced_by": [{"path": step.path, "line": step.line, "how": step.how} for step in finding.traced_by],
        "because": [{"path": reason.path, "line": reason.line, "text": reason.text} for reason in finding.because],
        "fix": None if finding.fix is None else _fix(finding.fix),
    }


def _fix(fix: Fix) -> dict[str, object]:
    edits = [
        {"line": edit.span.line, "column": edit.span.column, "end_line": edit.span.end_line, "end_column": edit.span.end_column, "text": edit.text}
        for edit in fix.edits
    ]
    return {"title": fix.title, "safe": fix.safe, "edits": edits}
