"""The steps of `action.yml`, run as GitHub's runner would."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
yaml = pytest.importorskip("yaml")


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="needs bash")
def test_the_action_annotates(tmp_path: Path) -> None:
    steps = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))["runs"]["steps"]
    inputs = {"paths": "examples", "options": "--select TFG1", "python": sys.executable}
    workspace, temporary, path_file = tmp_path / "workspace", tmp_path / "temp", tmp_path / "path"
    shutil.copytree(ROOT / "fixtures" / "examples", workspace / "examples")
    temporary.mkdir()
    path_file.touch()
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    environment |= {"RUNNER_TEMP": str(temporary), "GITHUB_PATH": str(path_file), "GITHUB_ACTION_PATH": str(ROOT)}
    for number, step in enumerate(steps):
        added = path_file.read_text(encoding="utf-8").split()
        variables = {name: value.replace("${{ inputs.", "").replace(" }}", "") for name, value in step["env"].items()}
        environment |= {name: inputs[value] for name, value in variables.items()}
        environment["PATH"] = os.pathsep.join([*added, environment["PATH"]])
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        done = subprocess.run(command, cwd=workspace, env=environment, capture_output=True, text=True, timeout=300)
        if number == 0 and done.returncode and any(word in done.stderr for word in ("No matching distribution", "Failed to establish", "getaddrinfo")):
            pytest.skip("no package index can be reached")
        assert done.returncode == number, done.stdout + done.stderr
    assert "::error file=examples/regression/main.py,line=" in done.stdout
