"""What is shipped: the packages listed, the sdist, the wheel, and an installation of it that works from any folder."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

from tflint_graph import __version__
from tflint_graph.config import read_toml
from tflint_graph.rulebook import rulebook

ROOT = Path(__file__).resolve().parent.parent
SHIPPED = sorted(path.relative_to(ROOT).as_posix() for folder in ("tflint_graph", "rules") for path in (ROOT / folder).rglob("*.py"))
BROKEN = "import tensorflow as tf\n\n\n@tf.function\ndef f(n):\n    for i in tf.range(n):\n        if i > 3:\n            return i\n    return n\n"


def test_every_package_is_listed() -> None:
    listed = set(read_toml(str(ROOT / "pyproject.toml"))["tool"]["setuptools"]["packages"])
    folders = {Path(path).parent.as_posix() for path in SHIPPED}
    assert listed == {folder.replace("/", ".") if folder.startswith("tflint_graph") else "tflint_graph." + folder.replace("/", ".") for folder in folders}


def test_every_folder_with_modules_is_a_package() -> None:
    assert all((ROOT / path).parent.joinpath("__init__.py").exists() for path in SHIPPED)


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The sdist, and the wheel made from it."""
    pytest.importorskip("build")
    out = tmp_path_factory.mktemp("dist")
    done = subprocess.run([sys.executable, "-m", "build", "--outdir", str(out), str(ROOT)], capture_output=True, text=True, cwd=out)
    if done.returncode and any(
        word in done.stdout + done.stderr for word in ("No matching distribution", "Failed to establish", "getaddrinfo", "ConnectionError")
    ):
        pytest.skip("no package index can be reached")
    assert done.returncode == 0, done.stdout + done.stderr
    (sdist,) = out.glob("*.tar.gz")
    (wheel,) = out.glob("*.whl")
    return sdist, wheel


@pytest.mark.slow
def test_the_sdist_holds_the_repository(built: tuple[Path, Path]) -> None:
    with tarfile.open(built[0]) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert set(SHIPPED) <= names
    assert {"LICENSE", "CHANGELOG.md", "CONTRIBUTING.md", "README.md", "rules/table.json", "tests/test_package.py", ".pre-commit-hooks.yaml"} <= names
    assert any(name.startswith("fixtures/TFG121/") for name in names)


@pytest.mark.slow
def test_the_wheel_holds_what_is_needed_and_nothing_beside_the_package(built: tuple[Path, Path]) -> None:
    with zipfile.ZipFile(built[1]) as archive:
        names = set(archive.namelist())
    assert {name.partition("/")[0] for name in names} == {"tflint_graph", f"tflint_graph-{__version__}.dist-info"}
    expected = {path if path.startswith("tflint_graph") else f"tflint_graph/{path}" for path in SHIPPED}
    files = (path.relative_to(ROOT).as_posix() for path in (ROOT / "tflint_graph").rglob("*") if path.is_file())
    data = {path for path in files if not path.endswith((".py", ".pyc")) and "/." not in path}
    assert "tflint_graph/py.typed" in data
    assert expected | data | {"tflint_graph/rules/table.json"} <= names
    assert {name for name in names if name.endswith(".py")} == expected


@pytest.fixture(scope="session")
def installed(built: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the commands in an environment with the wheel and flake8."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=True)
    commands = folder / ("Scripts" if os.name == "nt" else "bin")
    subprocess.run([commands / "python", "-m", "pip", "install", "--quiet", f"{built[1]}[flake8]"], check=True)
    return commands


@pytest.mark.slow
def test_an_installed_wheel_works_from_any_folder(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(BROKEN, encoding="utf-8")
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}

    def run(*command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([installed / command[0], *command[1:]], cwd=tmp_path, capture_output=True, text=True, env=environment, timeout=120)

    assert run("tflint-graph", "--version").stdout == f"tflint-graph {__version__}\n"
    for command in (("tflint-graph",), ("python", "-m", "tflint_graph")):
        done = run(*command, "check", "a.py")
        assert (done.returncode, done.stderr) == (1, "")
        assert done.stdout.startswith("a.py:8:13: TFG121 ")
    assert len(run("tflint-graph", "rule", "--all").stdout.splitlines()) == len(rulebook())
    assert run("tflint-graph", "rule", "TFG121").stdout.startswith("# return-in-tensor-loop (TFG121)\n")
    assert "tflint-graph" in run("flake8", "--version").stdout
    assert run("flake8", "--select=TFG", "a.py").stdout.startswith("a.py:8:13: TFG121 ")
