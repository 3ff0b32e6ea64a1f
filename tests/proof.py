"""Proves fixtures: runs each program under the real TensorFlow and compares what happens with what its first lines claim.

    python tests/proof.py fixtures/TFG121           prove the programs of one rule
    python tests/proof.py -v fixtures/TFG121/x.py   and show what TensorFlow printed

TensorFlow is imported in a child process (proof_server.py). It may be installed for another interpreter: set TFLINT_GRAPH_TF_PYTHON to its path.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from programs import Program, find

SERVER = Path(__file__).with_name("proof_server.py")
INTERPRETER_VARIABLE = "TFLINT_GRAPH_TF_PYTHON"


@dataclass(frozen=True, slots=True)
class Run:
    """What one run did. `status` is "ok", "raised", "timeout" or "died"; `classes` are the exception's class and its parents."""

    status: str
    seconds: float
    results: list[Any] = field(default_factory=list)
    classes: tuple[str, ...] = ()
    message: str = ""
    trace: str = ""
    log: str = ""
    traces: int = 0

    def in_words(self) -> str:
        if self.status == "raised":
            return f"raises {self.classes[0]}: {_one_line(self.message)[:300]}"
        if self.status == "timeout":
            return f"is still running after {self.seconds:.0f} s"
        if self.status == "died":
            return f"ends without an answer ({self.message})"
        return f"gives {json.dumps(self.results)[:300]}"


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether TensorFlow did what the header claims; `problem` says what it did instead (empty: it did)."""

    program: Program
    problem: str
    runs: dict[str, Run]
    notes: tuple[str, ...] = ()


def interpreter() -> str:
    """The Python that runs the programs."""
    return os.environ.get(INTERPRETER_VARIABLE) or sys.executable


def missing() -> str:
    """Why nothing can be proved here; empty if TensorFlow is at hand."""
    if not hasattr(os, "fork"):
        return "fixtures are proved by forking, which this system cannot"
    probe = "import importlib.util, sys; sys.exit(importlib.util.find_spec('tensorflow') is None)"
    if subprocess.run([interpreter(), "-c", probe], check=False).returncode:
        return f"TensorFlow is not installed for {interpreter()} (set {INTERPRETER_VARIABLE} to a Python that has it)"
    return ""


def modes(program: Program) -> tuple[str, ...]:
    """The runs that decide about a program."""
    return ("graph", "eager") if program.outcome in ("clean", "warns", "differs") else ("graph",)


def prove(programs: Sequence[Program], workers: int = 2) -> Iterator[Verdict]:
    """Run the programs; yields each verdict as soon as it stands. Raises RuntimeError when TensorFlow cannot be started."""
    for keras in sorted({program.keras for program in programs}, reverse=True):
        # Keras is chosen when TensorFlow is imported, so each version has a server of its own.
        group = {program.main.as_posix(): program for program in programs if program.keras == keras}
        runs: dict[str, dict[str, Run]] = {key: {} for key in group}
        for key, mode, run in _answers(group, keras, workers):
            runs[key][mode] = run
            if len(runs[key]) == len(modes(group[key])):
                yield judge(group[key], runs[key])


def _answers(group: dict[str, Program], keras: int, workers: int) -> Iterator[tuple[str, str, Run]]:
    jobs = [
        {"key": key, "main": key, "mode": mode, "limit": _limit(program, mode), "calls": 1 if program.outcome == "traces" else 2}
        for key, program in group.items()
        for mode in modes(program)
    ]
    environment = {**os.environ, "TF_USE_LEGACY_KERAS": "1" if keras == 2 else "0"}
    with subprocess.Popen(
        [interpreter(), "-B", str(SERVER)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        assert server.stderr is not None
        server.stdin.write(json.dumps({"jobs": jobs, "workers": workers}) + "\n")
        server.stdin.close()
        answered = 0
        for line in server.stdout:
            data = json.loads(line)
            data["classes"] = tuple(data.get("classes", ()))
            answered += 1
            yield data.pop("key"), data.pop("mode"), Run(**data)
        if answered < len(jobs):
            raise RuntimeError(f"TensorFlow could not be started by {interpreter()}:\n{server.stderr.read()}")


def _limit(program: Program, mode: str) -> float:
    return float(program.argument) if program.outcome == "hangs" and mode == "graph" else program.limit


def judge(program: Program, runs: dict[str, Run]) -> Verdict:
    """Compare what happened with the header."""
    graph = runs["graph"]
    notes = ("AutoGraph warns",) if program.outcome == "clean" and "could not transform" in graph.log else ()
    return Verdict(program, _problem(program, graph, runs.get("eager")), runs, notes)


def _problem(program: Program, graph: Run, eager: Run | None) -> str:
    if program.outcome == "raises":
        return "" if _raised_as_claimed(program, graph) else f"should raise {program.argument}, but {graph.in_words()}"
    if program.outcome == "hangs":
        return "" if graph.status == "timeout" else f"should hang, but {graph.in_words()}"
    if graph.status != "ok":
        return f"should run, but {graph.in_words()}"
    if program.outcome == "traces":
        return "" if graph.traces == int(program.argument) else f"should trace {program.argument} times, but traces {graph.traces} times"
    assert eager is not None
    if eager.status != "ok":
        return f"should run eagerly, but {eager.in_words()}"
    same = alike(graph.results, eager.results)
    if program.outcome == "differs":
        return f"should differ from eager, but both give {json.dumps(graph.results)[:300]}" if same else ""
    if not same:
        return f"the graph {graph.in_words()}, but eager {eager.in_words()}"
    if program.outcome == "warns" and _one_line(program.argument) not in _one_line(graph.log):
        return f"should warn '{program.argument}', but TensorFlow printed: {_one_line(graph.log)[-300:]!r}"
    return ""


def _raised_as_claimed(program: Program, run: Run) -> bool:
    name, _, text = program.argument.partition(":")
    return run.status == "raised" and name.strip() in run.classes and _one_line(text) in _one_line(run.message)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def alike(left: Any, right: Any) -> bool:
    """Equal up to float rounding; True equals 1, NaN equals NaN."""
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(alike(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(alike(a, b) for a, b in zip(left, right))
    if isinstance(left, (int, float)) and isinstance(right, (int, float)):
        return math.isclose(left, right, rel_tol=1e-4, abs_tol=1e-5) or (math.isnan(left) and math.isnan(right))
    return bool(left == right)


def show(verdict: Verdict, verbose: bool) -> Iterable[str]:
    """The lines that report a verdict."""
    claim = " ".join(part for part in (verdict.program.outcome, verdict.program.argument) if part)
    seconds = sum(run.seconds for run in verdict.runs.values())
    if verdict.problem:
        yield f"FAILED {verdict.program.name}: {verdict.problem}"
    else:
        yield f"proved {verdict.program.name}: {claim} ({seconds:.1f} s){''.join(f' [{note}]' for note in verdict.notes)}"
    for mode, run in verdict.runs.items():
        if verbose:
            yield f"  {mode}: {run.in_words()}"
        if verbose or (verdict.problem and run.status != "ok"):
            yield from (f"    {line}" for text in (run.log, run.trace) for line in text.splitlines()[-40:])


def main() -> int:
    parser = argparse.ArgumentParser(description="Run fixture programs under TensorFlow and compare with their '# runtime:' line.")
    parser.add_argument("paths", nargs="*", type=Path, help="fixture files or folders (default: all)")
    parser.add_argument("-v", "--verbose", action="store_true", help="show results and what TensorFlow printed")
    parser.add_argument("-j", "--workers", type=int, default=2, help="programs to run at a time (default: 2)")
    arguments = parser.parse_args()
    if reason := missing():
        print(reason, file=sys.stderr)
        return 2
    programs = find(arguments.paths)
    failures = 0
    for verdict in prove(programs, arguments.workers):
        failures += bool(verdict.problem)
        print("\n".join(show(verdict, arguments.verbose)), flush=True)
    print(f"{len(programs) - failures} of {len(programs)} programs proved")
    return 1 if failures or not programs else 0


if __name__ == "__main__":
    sys.exit(main())
