"""`[tool.tflint-graph]`: what is read, and what is an error with file and line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tflint_graph.config import Config, ConfigError, find_config, read_config


def write(folder: Path, text: str) -> str:
    path = folder / "pyproject.toml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_every_key_is_read(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        """
[tool.tflint-graph]
select = ["tfg1", "TFG2"]
ignore = ["TFG105"]
extend-select = ["TFG411"]
extend-ignore = ["TFG12"]
exclude = ["generated"]
extend-exclude = ["*_pb2.py"]
keras-version = 2

[tool.tflint-graph.per-file-ignores]
"tests/*" = ["TFG1"]
""",
    )
    assert read_config(path) == Config(
        path=path,
        select=("tfg1", "TFG2"),  # as it is written: for messages
        ignore=("TFG105",),
        extend_select=("TFG411",),
        extend_ignore=("TFG12",),
        exclude=("generated",),
        extend_exclude=("*_pb2.py",),
        per_file_ignores=(("tests/*", ("TFG1",)),),
        keras_version=2,
    )


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("[tool.tflint-graph]\nselect = []\nselct = ['TFG1']\n", 3, "unknown key `selct`"),
        ("[tool.other]\nselct = 1\n[tool.tflint-graph]\n\n'selct' = 1\n", 5, "unknown key `selct`"),
        ("[tool.tflint-graph]\nselect = 'TFG1'\n", 2, "must be a list of strings"),
        ("[tool.tflint-graph]\nselect = [1]\n", 2, "must be a list of strings"),
        ("[tool.tflint-graph]\nkeras-version = 4\n", 2, 'must be "auto", 2 or 3'),
        ("[tool.tflint-graph]\nkeras-version = true\n", 2, 'must be "auto", 2 or 3'),
        ("[tool.tflint-graph]\nper-file-ignores = ['a']\n", 2, "must be a table"),
        ("[tool.tflint-graph.per-file-ignores]\na = 'TFG1'\n", 1, "must be a list of strings"),
        ("[tool.tflint-graph\nselect = []\n", 1, "is not valid TOML"),
        ("[tool]\ntflint-graph = 3\n", 0, "must be a table"),
        ("[tool.other]\n[tool.tflint_graph]\nselect = []\n", 2, "[tool.tflint_graph] is not read; did you mean [tool.tflint-graph]?"),
        ("[tool.TFLint-Graph.per-file-ignores]\n", 1, "did you mean [tool.tflint-graph]?"),
    ],
)
def test_mistakes_are_errors_with_their_line(tmp_path: Path, text: str, line: int, reason: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(ConfigError) as caught:
        read_config(path)
    assert reason in caught.value.reason
    assert (caught.value.path, caught.value.line) == (path, line)


@pytest.mark.parametrize("text", ["[project]\nname = 'tflint_graph'\n", "tool = 'tflint-graph'\n", "[tool.other]\npackage = 'tflint_graph'\n"])
def test_other_mentions_of_the_name_are_no_settings(tmp_path: Path, text: str) -> None:
    assert read_config(write(tmp_path, text)) is None


def test_a_file_that_is_no_text_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_bytes(b"[tool.tflint-graph]\nselect = ['\xff']\n")
    with pytest.raises(ConfigError, match="cannot be read"):
        find_config(str(tmp_path))


def test_the_nearest_file_with_the_table_counts(tmp_path: Path) -> None:
    outer = write(tmp_path, "[tool.tflint-graph]\nignore = ['TFG105']\n")
    inner = tmp_path / "package"
    inner.mkdir()
    write(inner, "[project]\nname = 'package'\n")
    assert find_config(str(inner)).path == outer
    own = write(inner, "[tool.tflint-graph]\n")
    assert find_config(str(inner)) == Config(path=own)
