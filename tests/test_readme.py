"""What the README prints is true."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tflint_graph.cli import build_parser, main
from tflint_graph.config import read_config

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str = "") -> list[str]:
    """The fenced blocks of the README in one language."""
    return [text for tag, text in re.findall(r"^```(\w*)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL) if tag == language]


def test_the_session_is_true(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    (session,) = blocks("console")
    command, printed = session.split("\n", 1)
    assert command.startswith("$ tflint-graph ")
    main(shlex.split(command.removeprefix("$ tflint-graph ")))
    assert capsys.readouterr().out == printed


def test_every_command_exists() -> None:
    commands = [line.partition("#")[0] for block in blocks() for line in block.splitlines() if line.startswith("tflint-graph ")]
    assert len(commands) >= 5
    for command in commands:
        build_parser().parse_args(shlex.split(command.partition("<")[0])[1:])


def test_the_configuration_is_valid(tmp_path: Path) -> None:
    (block,) = blocks("toml")
    (tmp_path / "pyproject.toml").write_text(block, encoding="utf-8")
    assert read_config(str(tmp_path / "pyproject.toml")) is not None


@pytest.mark.parametrize("number", range(len(blocks("yaml"))))
def test_the_yaml_files_are_complete(number: int) -> None:
    yaml = pytest.importorskip("yaml")
    text = blocks("yaml")[number]
    data = yaml.safe_load(text)
    if text.startswith("# .pre-commit-config.yaml"):
        (repository,) = data["repos"]
        assert repository["repo"] == "local" or repository["rev"]
        hooks = {hook["id"] for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))}
        assert {hook["id"] for hook in repository["hooks"]} == hooks
        return
    assert text.startswith("# .github/workflows/")
    steps = data["jobs"]["lint"]["steps"]
    assert [step["uses"].partition("@")[0] for step in steps[:2]] == ["actions/checkout", "actions/setup-python"]
    commands = [step["run"] for step in steps if "run" in step]
    for command in commands[1:]:
        build_parser().parse_args(shlex.split(command)[1:])
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    own = [step for step in steps if "/tflint-graph@" in step.get("uses", "")]
    assert all(set(step["with"]) <= set(action["inputs"]) for step in own)
    assert bool(own) != bool(commands)


def test_ci_runs_the_test_command() -> None:
    (command,) = [block.strip() for block in blocks() if "pytest" in block and "pip" not in block]
    assert f"\n{command}\n" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("tflint-graph") is None or shutil.which("git") is None, reason="needs an installed tflint-graph and git")
def test_the_pre_commit_snippet_works(tmp_path: Path) -> None:
    pytest.importorskip("pre_commit")
    snippet = next(block for block in blocks("yaml") if "repo: local" in block)
    (tmp_path / ".pre-commit-config.yaml").write_text(snippet, encoding="utf-8")
    shutil.copytree(ROOT / "fixtures" / "examples", tmp_path / "examples")
    for arguments in (["init", "--quiet"], ["add", "--all"]):
        subprocess.run(["git", *arguments], cwd=tmp_path, check=True)
    done = subprocess.run([sys.executable, "-m", "pre_commit", "run", "--color", "never"], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1
    assert "TFG" in done.stdout
