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
        return f"{files}: nothing is traced, no function in {'it' if summary.files == 1 else 'them'} reaches tf.function, tf.data or Keras"
    return f"{files}, {counted(summary.traced, 'function')} that TensorFlow traces"


def closing_line(report: Report) -> str:
    """What was found and what was looked at, so that silence is not mistaken for success."""
    by_severity = Counter(finding.severity for finding in report.findings)
    found = [counted(by_severity[severity], severity.value) for severity in Severity if by_severity[severity]]
    return f"{', '.join(found) or 'No findings'}; {looked_at(report)}{problems(report)}"


def problems(report: Report) -> str:
    """The end of the closing line where something could not be read or run; empty otherwise."""
    return f"; {counted(len(report.errors), 'problem')} on the way (see above)" if report.errors else ""


def frequencies(report: Report) -> list[tuple[int, str, str, str]]:
    """How often each rule fired, most frequent first: number, code, severity and name."""
    counts = Counter((finding.code, finding.severity.value, finding.name) for finding in report.findings)
    return [(number, *rule) for rule, number in sorted(counts.items(), key=lambda item: (-item[1], item[0]))]
