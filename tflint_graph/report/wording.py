"""The sentence that says what was looked at."""

from __future__ import annotations

from collections import Counter

from tflint_graph.findings import Report, Severity


def counted(number: int, noun: str) -> str:
    """ "1 error", "2 errors"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def looked_at(report: Report) -> str:
    """What was looked at, and plainly so where nothing in it concerns TensorFlow."""
    summary = report.summary
    if not summary.files:
        return "no Python files"
    files = counted(summary.files, "file")
    if report.errors and not summary.traced:
        return f"{files}: nothing is traced in what could be read"
    if not summary.relevant:
        return f"{files}: nothing is traced, no file mentions TensorFlow or Keras"
    if not summary.traced:
        return f"{files}: nothing is traced, no function in them reaches tf.function, tf.data or Keras"
    return f"{files}, {counted(summary.traced, 'function')} that TensorFlow traces"


def closing_line(report: Report) -> str:
    """What was found and what was looked at, so that silence is not mistaken for success."""
    by_severity = Counter(finding.severity for finding in report.findings)
    found = [counted(by_severity[severity], severity.value) for severity in Severity if by_severity[severity]]
    parts = [", ".join(found) or "No findings", looked_at(report)]
    if report.errors:
        parts.append(f"{counted(len(report.errors), 'problem')} on the way (see above)")
    return "; ".join(parts)
