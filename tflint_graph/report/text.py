"""Findings for people: one line each, or with the chain of reasons below each."""

from __future__ import annotations

from tflint_graph.findings import Finding, Report
from tflint_graph.report.wording import closing_line, frequencies


def concise(report: Report) -> str:
    """`path:line:column: code message`, one finding a line, and the closing line."""
    return "\n".join([*(_line(finding) for finding in report.findings), closing_line(report)]) + "\n"


def full(report: Report) -> str:
    """As `concise`, with who traces the function, why, and the fix, on indented lines."""
    parts: list[str] = []
    for finding in report.findings:
        parts.append(_line(finding))
        parts.extend(f"    {line}" for line in _reasons(finding))
    return "\n".join([*parts, closing_line(report)]) + "\n"


def statistics(report: Report) -> str:
    """How often each rule fired, most frequent first, and the closing line."""
    counts = frequencies(report)
    width = len(str(max((number for number, *_ in counts), default=0)))
    rows = [f"{number:>{width}}  {code}  {severity:7}  {name}" for number, code, severity, name in counts]
    return "\n".join([*rows, closing_line(report)]) + "\n"


def _line(finding: Finding) -> str:
    message = " ".join(finding.message.split())
    return f"{finding.path}:{finding.span.line}:{finding.span.column}: {finding.code} {message}"


def _reasons(finding: Finding) -> list[str]:
    lines = [f"{finding.severity.value} {finding.name}, in {finding.function}" if finding.function else f"{finding.severity.value} {finding.name}"]
    lines += [f"traced: {step.how} ({step.path}:{step.line})" for step in finding.traced_by]
    lines += [f"because: {reason.text} ({reason.path}:{reason.line})" for reason in finding.because]
    if finding.fix is not None:
        lines.append(f"fix ({'safe' if finding.fix.safe else 'unsafe'}): {finding.fix.title}")
    return lines
