"""The linter reports exactly what the markers in the fixtures say, and its own examples are what they claim to be."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from programs import FIXTURES, Expected, Program, find

from tflint_graph import rulebook
from tflint_graph.analyse import Options, analyse
from tflint_graph.findings import Finding, Report, Severity
from tflint_graph.selection import Selection

BOOK = rulebook.rulebook()
# The answer must not depend on this repository's configuration or on what is installed.
OPTIONS = Options(isolated=True, use_cache=False)


def lint(files: list[Path], project: Path, options: Options = OPTIONS) -> Report:
    """Check copies of the files that stand in a project of their own."""
    (project / "pyproject.toml").write_text("[project]\nname = 'fixture'\n", encoding="utf-8")
    return analyse([str(project / file) for file in files], options=options)


def lint_program(program: Program, project: Path, options: Options = OPTIONS) -> Report:
    if program.root.is_dir():
        shutil.copytree(program.root, project, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        shutil.copy(program.main, project)
    folder = program.root if program.root.is_dir() else program.main.parent
    return lint([file.relative_to(folder) for file in program.files], project, options)


def lint_text(text: str, project: Path, options: Options = OPTIONS) -> Report:
    (project / "example.py").write_text(text, encoding="utf-8")
    return lint([Path("example.py")], project, options)


def alone(code: str) -> Options:
    """Only one rule runs, so that its own triggers decide which functions are looked at."""
    return replace(OPTIONS, selection=Selection(select=(code,)))


def seen(finding: Finding, project: Path) -> Expected:
    """A finding in the terms of a marker: the severity is spelled out where it is not the rule's own."""
    own = BOOK[finding.code].rule.severity
    return Expected(_relative(finding, project), finding.span.line, finding.code, "" if finding.severity is own else finding.severity.value)


def _relative(finding: Finding, project: Path) -> str:
    path = Path(finding.path)
    return path.resolve().relative_to(project.resolve()).as_posix()


def in_words(report: Report) -> str:
    lines = [f"{finding.path}:{finding.span.line}: {finding.code} [{finding.severity.value}] {finding.message}" for finding in report.findings]
    return "\n".join(lines + [f"{error.path}:{error.line}: {error.reason}" for error in report.errors])


def loud(report: Report) -> list[Finding]:
    return [finding for finding in report.findings if finding.severity is not Severity.INFO]


@pytest.mark.parametrize("program", find(), ids=lambda program: program.name)
def test_findings_are_the_marked_ones(program: Program, tmp_path: Path) -> None:
    report = lint_program(program, tmp_path)
    assert not report.errors, in_words(report)
    # A marker may spell out the rule's own severity.
    wanted = {
        Expected(e.path, e.line, e.code, "" if e.code in BOOK and e.severity == BOOK[e.code].rule.severity.value else e.severity) for e in program.expected
    }
    infos = [finding for finding in report.findings if finding.severity is Severity.INFO]
    found = {seen(finding, tmp_path) for finding in loud(report)} | ({seen(finding, tmp_path) for finding in infos} & wanted)
    assert found == wanted, in_words(report)


@pytest.mark.parametrize("code", BOOK)
def test_the_rule_alone_finds_the_marked_lines(code: str, tmp_path: Path) -> None:
    for number, program in enumerate(find([FIXTURES / code])):
        project = tmp_path / str(number)
        project.mkdir()
        report = lint_program(program, project, alone(code))
        wanted = {(expected.path, expected.line) for expected in program.expected if expected.code == code}
        # There may be more: what another rule supersedes.
        assert wanted <= {(_relative(finding, project), finding.span.line) for finding in report.findings}, f"{program.name}: a trigger is missing"


@pytest.mark.parametrize("code", BOOK)
def test_the_rule_alone_finds_its_bad_example(code: str, tmp_path: Path) -> None:
    report = lint_text(rulebook.page(code).bad, tmp_path, alone(code))
    assert {finding.code for finding in report.findings} == {code}, f"a trigger is missing: {in_words(report)}"


@pytest.mark.parametrize("code", BOOK)
def test_bad_example_is_reported(code: str, tmp_path: Path) -> None:
    report = lint_text(rulebook.page(code).bad, tmp_path)
    assert code in {finding.code for finding in report.findings}, in_words(report)


@pytest.mark.parametrize("code", BOOK)
def test_good_example_is_clean(code: str, tmp_path: Path) -> None:
    report = lint_text(rulebook.page(code).good, tmp_path)
    assert not loud(report), in_words(report)
    assert not report.errors, in_words(report)
