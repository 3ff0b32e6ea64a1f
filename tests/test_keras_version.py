"""Which Keras the pins of a project mean."""

from __future__ import annotations

from pathlib import Path

import pytest

from tflint_graph.keras_version import keras_of_project, pinned_keras, requirements


@pytest.mark.parametrize(
    ("requirement", "keras"),
    [
        ("tensorflow<2.16", 2),
        ("tensorflow<2.16.0", 2),
        ("tensorflow<=2.15.1", 2),
        ("tensorflow==2.15.*", 2),
        ("tensorflow-cpu == 2.15.0", 2),
        ("tensorflow~=2.15.0", 2),
        ("tensorflow~=1.15", 2),
        ("tensorflow>=2.10,<2.16", 2),
        ("tensorflow[and-cuda]>=2.16", 3),
        ("tensorflow>=2.16,<2.18", 3),
        ("tensorflow==2.21.0", 3),
        ("tensorflow~=2.16", 3),
        ("tensorflow", None),
        ("tensorflow>=2.10", None),
        ("tensorflow<3", None),
        ("tensorflow<=2.16", None),
        ("tensorflow!=2.15.0", None),
        ("tensorflow~=2.12", None),
        ("tensorflow^2.12", None),
        ("tensorflow<2.16; python_version < '3.9'", None),
        ("tensorflow-probability<0.20", None),
        ("tensorflow_datasets==1.0", None),
        ("keras<3", 2),
        ("keras>=3", 3),
        ("keras>=2.4", None),
        ("keras-cv==0.1", None),
        ("tf_keras<3", None),
    ],
)
def test_one_requirement(requirement: str, keras: int | None) -> None:
    assert pinned_keras([requirement])[0] == keras


def test_contradictions_decide_nothing() -> None:
    assert pinned_keras(["tensorflow<2.16", "tensorflow>=2.16"]) == (None, False)


def test_tf_keras_takes_away_the_proof_for_keras_3() -> None:
    assert pinned_keras(["tensorflow>=2.16", "tf-keras"]) == (None, True)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pyproject.toml", '[project]\nname = "x"\ndependencies = ["numpy", "tensorflow<2.16"]\n'),
        ("pyproject.toml", '[project.optional-dependencies]\ntf = ["tensorflow<2.16"]\n'),
        ("pyproject.toml", '[tool.poetry.dependencies]\ntensorflow = "~2.15"\n'),
        ("pyproject.toml", '[tool.poetry.dependencies]\ntensorflow = { version = "2.15.0", extras = ["x"] }\n'),
        ("pyproject.toml", '[dependency-groups]\ntest = ["tensorflow==2.15.*", { include-group = "x" }]\n'),
        ("requirements-dev.txt", "numpy\ntensorflow<2.16  # the last with Keras 2\n"),
        ("setup.cfg", "[options]\ninstall_requires =\n    tensorflow<2.16\n"),
        ("setup.py", "from setuptools import setup\nsetup(install_requires=['tensorflow<2.16'])\n"),
        ("environment.yml", "dependencies:\n  - tensorflow=2.15\n"),
    ],
)
def test_where_pins_stand(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert pinned_keras(requirements(str(tmp_path)))[0] == 2
    assert keras_of_project(str(tmp_path), isolated=False) == 2
    assert keras_of_project(str(tmp_path), isolated=True) == 2


def test_what_is_installed_comes_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tflint_graph.keras_version.installed_keras", lambda: 2)
    assert keras_of_project(str(tmp_path), isolated=False) == 2
    assert keras_of_project(str(tmp_path), isolated=True) is None
    (tmp_path / "requirements.txt").write_text("tensorflow>=2.16\n", encoding="utf-8")
    assert keras_of_project(str(tmp_path), isolated=False) == 3


def test_comments_pin_nothing(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("# tensorflow<2.16\n", encoding="utf-8")
    assert pinned_keras(requirements(str(tmp_path))) == (None, False)
