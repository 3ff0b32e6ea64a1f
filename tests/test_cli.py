"""The command line, from the outside: output, exit codes, bad input."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tflint_graph import cli, rulebook
from tflint_graph.analyse import shown
from tflint_graph.link.model import Context

ROOT = Path(__file__).resolve().parent.parent

RETURNS = """\
import tensorflow as tf


@tf.function
def first_above(limit):
    for value in tf.range(10):
        if value > limit:
            return value
    return tf.constant(-1)


first_above(tf.constant(3))
"""
RETURNS_AT = "8:13: TFG121"
WALRUS = """\
import tensorflow as tf


@tf.function
def double(x):
    return [y := 2 * x, y]
"""
CLEAN = """\
import tensorflow as tf


@tf.function
def double(x):
    return 2 * x
"""
PLAIN = "def double(x):\n    return 2 * x\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project that is the current folder."""
    (tmp_path / "pyproject.toml").write_text("", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of a command."""
    capsys.readouterr()
    try:
        code = cli.main(list(arguments))
    except SystemExit as left:
        code = int(left.code or 0)
    out, err = capsys.readouterr()
    return code, out, err


def test_findings_exit_with_1_and_say_what_was_looked_at(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(project, a=RETURNS, b=PLAIN)
    code, out, err = run(capsys, "check")
    assert (code, err) == (1, "")
    lines = out.splitlines()
    assert lines[0].startswith(f"a.py:{RETURNS_AT} ")
    assert lines[-1] == "1 error; 2 files, 1 function that TensorFlow traces"


def test_a_clean_project_exits_with_0(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(project, a=CLEAN)
    assert run(capsys, "check", ".") == (0, "No findings; 1 file, 1 function that TensorFlow traces\n", "")


def test_silence_is_explained(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "check")[:2] == (0, "No findings; no Python files\n")
    write(project, a=PLAIN)
    assert run(capsys, "check")[:2] == (0, "No findings; 1 file: nothing is traced, no file mentions TensorFlow or Keras\n")
    write(project, a="import tensorflow as tf\nprint(tf.__version__)\n")
    code, out, _ = run(capsys, "check")
    assert code == 0
    assert out.startswith("No findings; 1 file: nothing is traced")


def test_warnings_exit_with_1_and_exit_zero_turns_that_into_0(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(project, a=WALRUS)
    code, out, _ = run(capsys, "check")
    assert (code, out.splitlines()[-1]) == (1, "1 warning; 1 file, 1 function that TensorFlow traces")
    assert run(capsys, "check", "--exit-zero")[0] == 0


def test_full_output_adds_reasons(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(project, a=RETURNS)
    _, out, _ = run(capsys, "check", "--output-format", "full")
    assert "    traced: @tf.function (a.py:4)\n" in out
    assert "    because: " in out


def test_json_output(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(project, a=RETURNS, broken="def f(:\n")
    code, out, _ = run(capsys, "check", "--output-format", "json", "a.py", "broken.py")
    data = json.loads(out)
    assert code == 2 or not data["errors"]
    (finding,) = data["findings"]
    assert {name: finding[name] for name in ("code", "severity", "path", "line", "column", "function")} == {
        "code": "TFG121",
        "severity": "error",
        "path": "a.py",
        "line": 8,
        "column": 13,
        "function": "first_above",
    }
    assert finding["traced_by"][0] == {"path": "a.py", "line": 4, "how": "@tf.function"}


def test_github_output(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(project, a=RETURNS)
    code, out, _ = run(capsys, "check", "--output-format", "github")
    assert code == 1
    assert out.startswith("::error file=a.py,line=8,endLine=8,col=13,")


def test_statistics(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(project, a=RETURNS, b=RETURNS, c=WALRUS)
    _, out, _ = run(capsys, "check", "--statistics")
    assert [line.split()[:3] for line in out.splitlines()[:-1]] == [["2", "TFG121", "error"], ["1", "TFG105", "warning"]]


def test_statistics_in_json_and_for_github(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(project, a=RETURNS)
    data = json.loads(run(capsys, "check", "--statistics", "--output-format", "json")[1])
    assert data["statistics"] == [{"code": "TFG121", "name": "return-in-tensor-loop", "severity": "error", "count": 1}]
    assert "statistics" not in json.loads(run(capsys, "check", "--output-format", "json")[1])
    code, out, err = run(capsys, "check", "--statistics", "--output-format", "github")
    assert (code, out, err) == (2, "", "tflint-graph: --statistics cannot be combined with --output-format github\n")


def test_selection(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(project, a=RETURNS, b=WALRUS)
    assert "TFG121" not in run(capsys, "check", "--ignore", "TFG12,TFG13")[1]
    assert "TFG105" not in run(capsys, "check", "--select", "tfg12")[1]
    assert "TFG121" in run(capsys, "check", "--select", "TFG10", "--extend-select", "TFG121")[1]
    assert "TFG121" not in run(capsys, "check", "--extend-ignore", "TFG121")[1]
    code, _, err = run(capsys, "check", "--select", "TFG999")
    assert code == 2
    assert "`TFG999` names no rule" in err
    code, _, err = run(capsys, "check", "--ignore", "return-in-tensor-loop")
    assert code == 2
    assert "`return-in-tensor-loop` is the name of a rule; a code or a prefix of codes is wanted here: TFG121" in err


def test_noqa(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    marked = RETURNS.replace("            return value\n", "            return value  # noqa: TFG121\n")
    write(project, a=marked)
    assert run(capsys, "check")[0] == 0
    write(project, a=marked.replace("TFG121", "TFG122"))
    assert run(capsys, "check")[0] == 1


def test_configuration(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(project, a=RETURNS, b=WALRUS)
    (project / "pyproject.toml").write_text("[tool.tflint-graph]\nignore = ['TFG105']\nper-file-ignores = { 'a.py' = ['TFG12'] }\n", encoding="utf-8")
    assert run(capsys, "check")[0] == 0
    assert run(capsys, "check", "--isolated")[0] == 1
    assert "TFG105" in run(capsys, "check", "--select", "TFG1")[1]
    (project / "pyproject.toml").write_text("[tool.tflint-graph]\nignoer = []\n", encoding="utf-8")
    code, out, err = run(capsys, "check")
    assert (code, out) == (2, "")
    assert f"{project / 'pyproject.toml'}:2: unknown key `ignoer`" in err
    (project / "pyproject.toml").write_text("[tool.tflint-graph]\nignore = [\n  'TFG777',\n]\n", encoding="utf-8")
    code, _, err = run(capsys, "check")
    assert code == 2
    assert "pyproject.toml:3: `TFG777` names no rule" in err


def test_excludes_and_explicit_files(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "build").mkdir()
    write(project / "build", a=RETURNS)
    assert run(capsys, "check")[0] == 0
    assert run(capsys, "check", os.path.join("build", "a.py"))[0] == 1
    assert run(capsys, "check", "build")[0] == 1
    code, _, err = run(capsys, "check", "--verbose")
    assert code == 0
    assert "skipped build: excluded by default" in err


def test_verbose_says_what_is_traced(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(project, a=CLEAN)
    _, _, err = run(capsys, "check", "--verbose")
    assert "a.py:5: double: converted" in err


def test_stdin(project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def feed(text: str) -> None:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))

    feed(RETURNS)
    code, out, _ = run(capsys, "check", "-")
    assert code == 1
    assert out.startswith(f"<stdin>:{RETURNS_AT}")
    write(project, a=CLEAN)
    feed(RETURNS)
    code, out, _ = run(capsys, "check", "-", "--stdin-filename", "a.py")
    assert code == 1
    assert out.startswith(f"a.py:{RETURNS_AT}")
    feed(RETURNS)
    assert run(capsys, "check", "-", "--stdin-filename", "not_saved_yet.py")[1].startswith("not_saved_yet.py:8")
    assert run(capsys, "check", "a.py", "-")[0] == 2
    assert run(capsys, "check", "--stdin-filename", "a.py")[0] == 2


@pytest.mark.parametrize(
    ("name", "content", "line", "reason"),
    [
        ("syntax.py", b"import tensorflow as tf\n\n\ndef f(:\n", 4, ""),
        ("encoding.py", b"import tensorflow as tf\nx = '\xff'\n", 2, ""),
        ("cookie.py", b"# coding: klingon\nimport tensorflow as tf\n", 0, "klingon"),
        ("zero.py", b"import tensorflow as tf\nx = '\0'\n", 0, "null"),
    ],
)
def test_bad_files_are_named_and_the_others_stand(project: Path, capsys: pytest.CaptureFixture[str], name: str, content: bytes, line: int, reason: str) -> None:
    write(project, good=RETURNS)
    (project / name).write_bytes(content)
    code, out, err = run(capsys, "check")
    assert code == 2
    assert f"good.py:{RETURNS_AT}" in out
    (told,) = err.splitlines()
    assert told.startswith(f"{name}:{line}: " if line else f"{name}")
    assert reason in told
    code, out, _ = run(capsys, "check", "--exit-zero", "--output-format", "json")
    assert code == 2
    (error,) = json.loads(out)["errors"]
    assert error["path"] == name
    assert not line or error["line"] == line


def test_paths_that_do_not_exist(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(project, good=RETURNS)
    code, out, err = run(capsys, "check", "missing.py", "good.py", "nowhere/")
    assert code == 2
    assert err.splitlines() == ["missing.py: no such file or folder", "nowhere: no such file or folder"]
    assert f"good.py:{RETURNS_AT}" in out


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="needs a user without all rights")
def test_an_unreadable_file(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(project, good=RETURNS, secret=RETURNS)
    (project / "secret.py").chmod(0)
    code, out, err = run(capsys, "check")
    assert code == 2
    assert err.startswith("secret.py: ")
    assert "good.py" in out


@pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")
def test_a_file_that_vanished(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(project, good=RETURNS)
    (project / "gone.py").symlink_to(project / "nothing.py")
    code, out, err = run(capsys, "check", "gone.py", "good.py")
    assert code == 2
    assert err.startswith("gone.py: ")
    assert "good.py" in out


@pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")
def test_a_link_to_itself_does_no_harm(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(project, good=CLEAN)
    (project / "loop.py").symlink_to("loop.py")
    assert run(capsys, "check", "good.py")[0] == 0
    code, _, err = run(capsys, "check", "loop.py")
    assert code == 2
    assert err.startswith("loop.py: ")


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="needs a user without all rights")
def test_an_unreadable_folder(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(project, good=CLEAN)
    (project / "locked").mkdir(mode=0)
    for paths in ((), ("locked",)):
        code, _, err = run(capsys, "check", *paths)
        assert code == 2
        assert err.startswith("locked: cannot be listed")


def test_a_notebook(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "a.ipynb").write_text("{}", encoding="utf-8")
    code, out, err = run(capsys, "check", "a.ipynb")
    assert (code, err) == (2, "a.ipynb: notebooks are not read\n")
    assert out == "No findings; no Python files; 1 problem on the way (see above)\n"


def test_a_fault_of_the_linter_is_one_line_and_exits_with_2(project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError("a mistake\nin the linter")

    write(project, good=CLEAN)
    monkeypatch.setattr("tflint_graph.analyse.analyse", fail)
    code, _, err = run(capsys, "check")
    assert code == 2
    (line,) = err.splitlines()
    assert line.startswith("tflint-graph: internal error: ZeroDivisionError: a mistake in the linter (")
    assert "Traceback" in run(capsys, "check", "--verbose")[2]


def test_a_rule_that_crashes_is_named_and_does_not_stop_the_run(project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    import libcst as cst

    from tflint_graph.rule_api import Facts

    write(project, a=RETURNS)
    original = rulebook.load_checks

    def with_a_broken_one(codes: frozenset[str], errors: object = None) -> list[rulebook.RuleCheck]:
        def check(node: cst.Return, facts: Facts) -> Iterator[object]:
            raise ZeroDivisionError("a mistake in the rule")
            yield

        checks = original(codes)
        broken = next(each.rule for each in checks if each.rule.code == "TFG122")
        return [*(each for each in checks if each.rule is not broken), rulebook.RuleCheck(broken, check, (cst.Return,))]

    monkeypatch.setattr(rulebook, "load_checks", with_a_broken_one)
    monkeypatch.setattr("tflint_graph.engine.load_checks", with_a_broken_one, raising=False)
    code, out, err = run(capsys, "check")
    assert code == 2
    assert f"a.py:{RETURNS_AT}" in out
    assert "TFG122" in err
    assert "a mistake in the rule" in err
    assert err.startswith("a.py:")


def test_traced(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(
        project,
        a="from b import helper\nimport tensorflow as tf\n\n\n@tf.function\ndef step(x):\n    return helper(x)\n",
        b="def helper(x):\n    return x + 1\n",
    )
    code, out, _ = run(capsys, "traced")
    assert code == 0
    lines = out.splitlines()
    assert lines[0] == "a.py:6: step: converted"
    assert "b.py:1: helper: converted" in lines
    assert lines[-1] == "2 files, 2 functions that TensorFlow traces"
    data = json.loads(run(capsys, "traced", "--output-format", "json", "b.py")[1])
    (function,) = data["functions"]
    assert (function["path"], function["line"], function["function"], function["contexts"]) == ("b.py", 1, "helper", ["converted"])
    assert function["ways"][0]["steps"][0] == {"path": "a.py", "line": 5, "how": "@tf.function"}


def test_traced_says_a_context_once_and_counts_problems(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(project, a=CLEAN, broken="import tensorflow as tf\ndef f(:\n")
    code, out, _ = run(capsys, "traced")
    assert code == 2
    assert out.splitlines() == [
        "a.py:5: double: converted",
        "    @tf.function (a.py:4)",
        "2 files, 1 function that TensorFlow traces; 1 problem on the way (see above)",
    ]
    write(project, a=CLEAN.replace("@tf.function", "@tf.function(autograph=False)"))
    assert run(capsys, "traced", "a.py")[1].splitlines()[:2] == [
        "a.py:5: double: traced only",
        "    @tf.function (a.py:4)  [tf.function(autograph=False)]",
    ]


def test_the_help_explains_the_contexts(capsys: pytest.CaptureFixture[str]) -> None:
    out = run(capsys, "traced", "--help")[1]
    assert all(f"\n  {context.value}  " in out for context in Context)


def test_names_in_the_help_exist(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")  # argparse breaks lines at hyphens
    (name,) = re.findall(r"a rule's name \(([a-z-]+)\)", run(capsys, "rule", "--help")[1])
    assert run(capsys, "rule", name)[0] == 0


def test_rule_prints_a_page(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "rule", "TFG121")
    assert code == 0
    assert out.startswith("# return-in-tensor-loop (TFG121)\n")
    assert "## Use instead" in out
    assert run(capsys, "rule", "return-in-tensor-loop")[1] == out
    assert run(capsys, "rule", "tfg121", "--output-format", "markdown")[1] == out


def test_rule_all(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "rule", "--all", "--output-format", "markdown")[1] == (ROOT / "rules" / "README.md").read_text(encoding="utf-8")
    listed = json.loads(run(capsys, "rule", "--all", "--output-format", "json")[1])
    assert [row["code"] for row in listed] == list(rulebook.rulebook())
    assert listed[0]["page"].startswith("# ")
    assert len(run(capsys, "rule", "--all")[1].splitlines()) == len(listed)


def test_rule_mistakes(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "rule", "TFG999")
    assert (code, err) == (2, "tflint-graph: there is no rule `TFG999`; `tflint-graph rule --all` lists all rules\n")
    assert run(capsys, "rule")[0] == 2
    assert run(capsys, "rule", "--all", "TFG121")[0] == 2


def test_usage_errors_exit_with_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys)[0] == 2
    assert run(capsys, "lint")[0] == 2
    assert run(capsys, "check", "--sel", "TFG1")[0] == 2
    assert run(capsys, "--version")[0] == 0


def test_pages_are_rendered_in_a_terminal(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    _, out, _ = run(capsys, "rule", "TFG121")
    assert "## " not in out
    assert "Use instead" in out


@pytest.mark.skipif(os.name == "nt", reason="signals differ on Windows")
def test_ctrl_c_ends_quietly(project: Path) -> None:
    program = (
        "import signal, sys, time\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a runner in the background may have made its children ignore it
        "from tflint_graph import analyse, cli\n"
        "analyse.analyse = lambda *a, **k: print('started', flush=True) or time.sleep(60)\n"
        "sys.exit(cli.main(['check']))\n"
    )
    running = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)}
    )
    assert running.stdout is not None
    assert running.stdout.readline() == "started\n"
    time.sleep(0.2)
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=20)
    assert (running.returncode, err) == (130, "tflint-graph: interrupted\n")


@pytest.mark.skipif(os.name == "nt", reason="pipes differ on Windows")
def test_a_closed_pipe_is_no_crash(project: Path) -> None:
    write(project, **{f"m{number}": RETURNS * 20 for number in range(5)})
    command = f"'{sys.executable}' -m tflint_graph check --output-format json | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)}, timeout=120)
    assert done.stdout == "{\n", done.stderr
    assert done.stderr == ""


def test_python_m_from_any_folder(project: Path) -> None:
    write(project, a=RETURNS)
    done = subprocess.run(
        [sys.executable, "-m", "tflint_graph", "check", "--select", "TFG121"], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)}
    )
    assert (done.returncode, done.stderr) == (1, "")


def test_paths_are_shown_as_the_reader_knows_them(project: Path) -> None:
    assert shown(str(project / "a" / "b.py")) == os.path.join("a", "b.py")
    assert shown(os.path.join(os.sep, "elsewhere", "b.py")) == os.path.join(os.sep, "elsewhere", "b.py")


def test_checking_never_imports_tensorflow_and_libcst_only_for_traced_code(project: Path) -> None:
    program = (
        "import sys\n"
        "from tflint_graph.cli import main\n"
        "main(['check', '--no-cache', sys.argv[1]])\n"
        "print(sorted({'libcst', 'tensorflow', 'keras', 'rich'} & set(sys.modules)), file=sys.stderr)\n"
    )
    write(project, plain=PLAIN, traced=CLEAN, suspicious=RETURNS)
    for name, imported in (("plain.py", []), ("suspicious.py", ["libcst"])):
        done = subprocess.run([sys.executable, "-c", program, name], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)})
        assert done.stderr == f"{imported}\n"
