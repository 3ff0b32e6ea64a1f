"""What TensorFlow traces, as `tflint-graph traced` prints it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from tflint_graph.analyse import shown
from tflint_graph.findings import Report
from tflint_graph.link.model import Traced, Tracing
from tflint_graph.report.wording import looked_at, problems

FORMAT_VERSION = 1


def as_text(traced: Sequence[tuple[Traced, int]], report: Report) -> str:
    """Each traced function with its line, its contexts, and below it every way that leads there."""
    return "\n".join([*lines(traced), looked_at(report) + problems(report)]) + "\n"


def lines(traced: Sequence[tuple[Traced, int]]) -> Iterator[str]:
    """The lines of `as_text` without the closing one."""
    for function, line in traced:
        several = sorted({way.context.value for way in function.ways})
        contexts = " and ".join(several)
        eager = ", also called from eager code" if function.reached_eagerly else ""
        yield f"{shown(function.function.path)}:{line}: {function.function.qualname}: {contexts}{eager}"
        for way in function.ways:
            yield f"    {_way(way, with_context=len(several) > 1)}"


def as_json(traced: Sequence[tuple[Traced, int]], report: Report) -> str:
    """One JSON object, `{"version", "functions", "errors", "summary"}`."""
    functions = [
        {
            "path": shown(function.function.path),
            "line": line,
            "function": function.function.qualname,
            "contexts": sorted({way.context.value for way in function.ways}),
            "reached_eagerly": function.reached_eagerly,
            "ways": [
                {
                    "context": way.context.value,
                    "role": way.role,
                    "certain": way.certain,
                    "not_converted_because": way.unconverted.value if way.unconverted is not None else None,
                    "steps": [{"path": shown(step.path), "line": step.line, "how": step.how} for step in way.steps],
                }
                for way in function.ways
            ],
        }
        for function, line in traced
    ]
    data = {
        "version": FORMAT_VERSION,
        "functions": functions,
        "errors": [{"path": error.path, "line": error.line, "reason": error.reason} for error in report.errors],
        "summary": {"files": report.summary.files, "relevant_files": report.summary.relevant, "traced_functions": report.summary.traced},
    }
    return json.dumps(data, indent=2) + "\n"


def _way(way: Tracing, *, with_context: bool) -> str:
    """The chain and what is to be said about it; the context only where the function has several."""
    chain = " > ".join(f"{step.how} ({shown(step.path)}:{step.line})" for step in way.steps)
    notes = [way.context.value] if with_context else []
    if way.unconverted is not None:
        notes.append(way.unconverted.value)
    if not way.certain:
        notes.append("likely, not certain")
    return f"{chain}  [{'; '.join(notes)}]" if notes else chain
