"""The hook of `.pre-commit-hooks.yaml`, run by the real pre-commit on a local git repository."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
pytest.importorskip("pre_commit")
pytestmark = [pytest.mark.slow, pytest.mark.skipif(shutil.which("git") is None, reason="needs git")]

BROKEN = """\
import tensorflow as tf


@tf.function
def f(n):
    for i in tf.range(n):
        if i > 3:
            return i
    return n


f(tf.constant(5))
"""
CLEAN = "import tensorflow as tf\n\n\n@tf.function\ndef f(n):\n    return n + 1\n"


def git(folder: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=test", "-c", "user.email=test@example.invalid", "-c", "init.defaultBranch=main", "-c", "core.hooksPath=")
    return subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True, text=True, env=_environment()).stdout.strip()


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("GIT_") and name != "PYTHONPATH"}


@pytest.fixture(scope="session")
def hook_repository(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, Path]:
    """This project as a git repository of its own, its revision, and pre-commit's home with the hook's environment in it."""
    folder = tmp_path_factory.mktemp("hook")
    for name in ("tflint_graph", "rules"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE", ".pre-commit-hooks.yaml"):
        shutil.copy(ROOT / name, folder / name)
    git(folder, "init", "--quiet")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "-m", "hook")
    return folder, git(folder, "rev-parse", "HEAD"), tmp_path_factory.mktemp("home")


@pytest.fixture
def project(tmp_path: Path, hook_repository: tuple[Path, str, Path]) -> Path:
    """A git repository that uses the hook."""
    folder, revision, home = hook_repository
    git(tmp_path, "init", "--quiet")
    config = f"repos:\n  - repo: {folder.as_posix()}\n    rev: {revision}\n    hooks:\n      - id: tflint-graph\n"
    (tmp_path / ".pre-commit-config.yaml").write_text(config, encoding="utf-8")
    git(tmp_path, "add", "--all")
    done = pre_commit(tmp_path, home, "install-hooks")
    if done.returncode and any(
        word in done.stdout + done.stderr for word in ("No matching distribution", "Failed to establish", "getaddrinfo", "ConnectionError")
    ):
        pytest.skip("the hook's environment cannot be installed: no package index can be reached")
    assert done.returncode == 0, done.stdout + done.stderr
    return tmp_path


def pre_commit(project: Path, home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**_environment(), "PRE_COMMIT_HOME": str(home), "PRE_COMMIT_COLOR": "never"}
    return subprocess.run([sys.executable, "-m", "pre_commit", *arguments], cwd=project, capture_output=True, text=True, env=environment, timeout=300)


def test_none_one_and_many_staged(project: Path, hook_repository: tuple[Path, str, Path]) -> None:
    home = hook_repository[2]
    done = pre_commit(project, home, "run")
    assert done.returncode == 0
    assert "no files to check" in done.stdout

    (project / "clean.py").write_text(CLEAN, encoding="utf-8")
    git(project, "add", "clean.py")
    done = pre_commit(project, home, "run")
    assert done.returncode == 0, done.stdout
    assert "Passed" in done.stdout

    (project / "broken.py").write_text(BROKEN, encoding="utf-8")
    git(project, "add", "broken.py")
    done = pre_commit(project, home, "run")
    assert done.returncode == 1
    assert "broken.py:8:13: TFG121 " in done.stdout

    for number in range(60):
        (project / f"module_{number}.py").write_text(BROKEN if number % 2 else CLEAN, encoding="utf-8")
    git(project, "add", "--all")
    done = pre_commit(project, home, "run")
    assert done.returncode == 1
    assert done.stdout.count("TFG121") == 31
    assert done.stdout.count("functions that TensorFlow traces") == 1, "one process looks at all files"


def test_a_file_that_cannot_be_read_fails_the_hook(project: Path, hook_repository: tuple[Path, str, Path]) -> None:
    (project / "syntax.py").write_text("import tensorflow as tf\n\ndef f(:\n", encoding="utf-8")
    git(project, "add", "--all")
    done = pre_commit(project, hook_repository[2], "run")
    assert done.returncode == 1
    assert "syntax.py:3: " in done.stdout
