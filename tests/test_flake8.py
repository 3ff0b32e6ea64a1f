"""The flake8 plugin gives the findings of `tflint-graph check`, in every way flake8 runs it."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tflint_graph.flake8_plugin import Plugin

ROOT = Path(__file__).resolve().parent.parent
pytest.importorskip("flake8")
# Asked from another folder: the metadata that a build leaves in a checkout is no installation.
_VERSION = subprocess.run([sys.executable, "-m", "flake8", "--version"], cwd=Path(__file__).parent, capture_output=True, text=True)
INSTALLED = "tflint-graph" in _VERSION.stdout

HELPER = """\
def describe(loss):
    print("loss", loss.numpy())
    return loss
"""
MAIN = """\
import tensorflow as tf
from helper import describe


@tf.function
def step(x):
    return describe(tf.reduce_sum(x))


@tf.function
def first_above(limit):
    for value in tf.range(10):
        if value > limit:
            return value
    return tf.constant(-1)


step(tf.ones([2]))
first_above(tf.constant(3))
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project of three files, with flake8 set up for the plugin; installed or not."""
    config = "[flake8]\nselect = TFG\nmax-line-length = 200\n"
    if not INSTALLED:
        config += f"[flake8:local-plugins]\nextension =\n    TFG = tflint_graph.flake8_plugin:Plugin\npaths =\n    {ROOT}\n"
    (tmp_path / "setup.cfg").write_text(config, encoding="utf-8")
    (tmp_path / "main.py").write_text(MAIN, encoding="utf-8")
    (tmp_path / "helper.py").write_text(HELPER, encoding="utf-8")
    (tmp_path / "plain.py").write_text("x = 1\n", encoding="utf-8")
    return tmp_path


def flake8(project: Path, *arguments: str, stdin: str = "") -> list[str]:
    done = subprocess.run([sys.executable, "-m", "flake8", *arguments], cwd=project, capture_output=True, text=True, input=stdin, timeout=120)
    assert not done.stderr, done.stderr
    return sorted(line.removeprefix("./") for line in done.stdout.splitlines())


def check(project: Path, *arguments: str, stdin: str = "") -> list[str]:
    """The findings of `tflint-graph check` as flake8 prints them."""
    command = [sys.executable, "-m", "tflint_graph", "check", "--output-format", "json", *arguments]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, input=stdin, env={**os.environ, "PYTHONPATH": str(ROOT)}, timeout=120)
    findings = json.loads(done.stdout)["findings"]
    return sorted(f"{each['path']}:{each['line']}:{each['column']}: {each['code']} {' '.join(each['message'].split())}" for each in findings)


def codes(lines: list[str]) -> list[tuple[str, str]]:
    return [(line.split(":")[0], re.findall(r"TFG\d+", line)[0]) for line in lines]


def test_the_same_findings_as_check(project: Path) -> None:
    found = flake8(project, "--jobs=1")
    assert codes(found) == [("helper.py", "TFG150"), ("main.py", "TFG121")]
    assert found == check(project)
    assert flake8(project, "--jobs=1", "helper.py") == [line for line in found if line.startswith("helper.py")] == check(project, "helper.py")


def test_worker_processes(project: Path) -> None:
    assert flake8(project, "--jobs=3") == flake8(project, "--jobs=1")


def test_stdin_and_unsaved_text(project: Path) -> None:
    assert codes(flake8(project, "-", stdin=MAIN)) == [("stdin", "TFG121")]
    changed = HELPER.replace("    print", "\n    print")
    assert flake8(project, "--stdin-display-name=helper.py", "-", stdin=changed) == check(project, "-", "--stdin-filename", "helper.py", stdin=changed)
    assert [line.split(":")[1] for line in flake8(project, "--stdin-display-name=helper.py", "-", stdin=changed)] == ["3"]


def test_comments_and_selection_are_those_of_flake8(project: Path) -> None:
    (project / "helper.py").write_text(HELPER.replace("numpy())", "numpy())  # noqa: TFG150"), encoding="utf-8")
    assert codes(flake8(project)) == [("main.py", "TFG121")]
    assert codes(flake8(project, "--disable-noqa")) == [("helper.py", "TFG150"), ("main.py", "TFG121")]
    assert flake8(project, "--extend-ignore=TFG12") == []
    assert flake8(project, "--select=E9") == []


def test_newlines_and_encodings_change_nothing(project: Path) -> None:
    (project / "helper.py").write_bytes(b"\xef\xbb\xbf" + HELPER.replace("\n", "\r\n").encode())
    (project / "main.py").write_bytes(b"# coding: latin-1\n# \xe9\n" + MAIN.encode("latin-1"))
    assert flake8(project) == check(project)
    assert codes(flake8(project)) == [("helper.py", "TFG150"), ("main.py", "TFG121")]


def test_configuration_is_read(project: Path) -> None:
    (project / "pyproject.toml").write_text("[tool.tflint-graph]\nignore = ['TFG12']\n", encoding="utf-8")
    assert codes(flake8(project)) == [("helper.py", "TFG150")]
    (project / "pyproject.toml").write_text("[tool.tflint-graph]\nignoer = ['TFG12']\n", encoding="utf-8")
    assert any("TFG000" in line and "unknown key `ignoer`" in line for line in flake8(project))


def test_importing_the_plugin_is_cheap() -> None:
    program = "import sys\nimport tflint_graph.flake8_plugin\nassert not {'libcst', 'tensorflow', 'keras', 'rich', 'pathspec'} & set(sys.modules)\n"
    subprocess.run([sys.executable, "-c", program], check=True, cwd=ROOT)


def test_files_that_trace_nothing_never_import_libcst(project: Path) -> None:
    (project / "main.py").write_text("def main():\n    return 1\n", encoding="utf-8")
    (project / "helper.py").unlink()
    program = (
        "import ast, sys\n"
        "from tflint_graph.flake8_plugin import Plugin\n"
        "text = open('main.py').read()\n"
        "assert list(Plugin(ast.parse(text), 'main.py', text.splitlines(True)).run()) == []\n"
        "assert 'libcst' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, cwd=project, env={**os.environ, "PYTHONPATH": str(ROOT)})


def test_the_plugin_yields_what_flake8_wants(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)
    ((line, column, message, kind),) = Plugin(ast.parse(MAIN), "main.py", MAIN.splitlines(keepends=True)).run()
    assert (line, column, message[:7], kind) == (14, 12, "TFG121 ", Plugin)
