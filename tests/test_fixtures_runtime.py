"""Every fixture does under the real TensorFlow what its first lines say, and so do the examples on the rules' pages."""

from __future__ import annotations

from pathlib import Path

import proof
import pytest
from programs import Program, find

from tflint_graph import rulebook
from tflint_graph.findings import Severity

PROGRAMS = find()
BAD = [code for code, entry in rulebook.rulebook().items() if entry.rule.severity is Severity.ERROR]
GOOD = list(rulebook.rulebook())


def example(code: str, which: str) -> Program:
    """A rule's example as a program that is not written yet: BAD must fail, GOOD must run."""
    name = f"{code}_{which}"
    return Program(Path(name + ".py"), name, *(("clean", "") if which == "good" else ("raises", "Exception")), limit=20.0)


@pytest.fixture(scope="session")
def verdicts(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, proof.Verdict]:
    """All verdicts of the selected programs by name, made in one go: TensorFlow is imported once."""
    if reason := proof.missing():
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("examples")
    selected = []
    for item in request.session.items:
        parameters = item.callspec.params if hasattr(item, "callspec") else {}
        if "program" in parameters:
            selected.append(parameters["program"])
        elif "which" in parameters:
            selected.append(_written(example(parameters["code"], parameters["which"]), parameters["code"], folder))
    return {verdict.program.name: verdict for verdict in proof.prove(selected)}


def _written(program: Program, code: str, folder: Path) -> Program:
    page = rulebook.page(code)
    main = folder / program.main
    main.write_text(page.good if program.outcome == "clean" else page.bad, encoding="utf-8")
    return Program(main, program.name, program.outcome, program.argument, limit=program.limit)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_tensorflow_does_what_the_fixture_says(program: Program, verdicts: dict[str, proof.Verdict]) -> None:
    verdict = verdicts[program.name]
    assert not verdict.problem, "\n".join(proof.show(verdict, verbose=True))


@pytest.mark.parametrize(("code", "which"), [*((code, "bad") for code in BAD), *((code, "good") for code in GOOD)])
def test_tensorflow_agrees_with_the_example(code: str, which: str, verdicts: dict[str, proof.Verdict]) -> None:
    """The bad example of an error fails or never ends; the good one runs."""
    verdict = verdicts[example(code, which).name]
    hangs = which == "bad" and verdict.runs["graph"].status == "timeout"
    assert hangs or not verdict.problem, "\n".join(proof.show(verdict, verbose=True))
