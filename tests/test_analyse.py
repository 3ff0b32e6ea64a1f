"""`analyse`: the same file gives the same findings, whatever it is asked together with."""

from __future__ import annotations

from pathlib import Path

import pytest

from tflint_graph.analyse import STDIN, Options, Session, analyse
from tflint_graph.findings import Finding

LIBRARY = """\
import tensorflow as tf


@tf.function
def checked(x):
    if x > 0:
        raise ValueError("positive")
    return x
"""
TENSOR_CALL = "import tensorflow as tf\nfrom library import checked\n\nchecked(tf.constant(1))\n"
PYTHON_CALL = "from library import checked\n\nchecked(1)\n"


def write(folder: Path, **files: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "setup.cfg").write_text("", encoding="utf-8")
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")


def lines(findings: list[Finding]) -> list[tuple[str, int, str]]:
    return [(Path(finding.path).name, finding.span.line, finding.code) for finding in findings]


def test_call_sites_count_in_the_whole_project(tmp_path: Path) -> None:
    write(tmp_path, library=LIBRARY, caller=TENSOR_CALL)
    expected = [("library.py", 7, "TFG120")]
    assert lines(analyse([str(tmp_path)]).findings) == expected
    alone = analyse([str(tmp_path / "library.py")])
    assert lines(alone.findings) == expected
    assert (alone.summary.files, alone.summary.traced) == (1, 1)
    write(tmp_path, caller=PYTHON_CALL)
    assert lines(analyse([str(tmp_path / "library.py")]).findings) == []


def test_each_file_belongs_to_its_nearest_project(tmp_path: Path) -> None:
    write(tmp_path / "one", library=LIBRARY, caller=TENSOR_CALL)
    write(tmp_path / "two", library=LIBRARY, caller=PYTHON_CALL)
    report = analyse([str(tmp_path)])
    assert [(Path(finding.path).parent.name, finding.code) for finding in report.findings] == [("one", "TFG120")]
    assert report.summary.files == 4


def test_an_override_stands_for_the_file(tmp_path: Path) -> None:
    write(tmp_path, library=LIBRARY, caller=PYTHON_CALL)
    path = str(tmp_path / "library.py")
    changed = LIBRARY.replace("def checked(x):", "def checked(x: tf.Tensor):\n    x = tf.abs(x)").encode()
    assert lines(analyse([path], overrides={path: changed}).findings) == [("library.py", 8, "TFG120")]
    assert lines(analyse([path]).findings) == []


def test_text_without_a_name_is_a_project_of_its_own() -> None:
    text = LIBRARY.replace("def checked(x):", "def checked(x):\n    x = tf.abs(x)").encode()
    assert lines(analyse([STDIN], overrides={STDIN: text}).findings) == [("<stdin>", 8, "TFG120")]


def test_a_session_opens_each_project_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tflint_graph.link import loading

    opened = []
    original = loading.load_project

    def counting(*arguments: object, **keywords: object) -> object:
        opened.append(arguments)
        return original(*arguments, **keywords)  # type: ignore[arg-type]

    monkeypatch.setattr(loading, "load_project", counting)
    write(tmp_path, library=LIBRARY, caller=TENSOR_CALL)
    session = Session()
    for _ in range(2):
        for name in ("library.py", "caller.py"):
            analyse([str(tmp_path / name)], session=session)
    assert len(opened) == 1


def test_a_warm_run_finds_what_a_cold_one_does(tmp_path: Path) -> None:
    write(tmp_path, library=LIBRARY, caller=TENSOR_CALL)
    cold = analyse([str(tmp_path)])
    assert (tmp_path / ".tflint_graph_cache").is_dir()
    assert analyse([str(tmp_path)]) == cold
    for entry in (tmp_path / ".tflint_graph_cache").glob("*/*"):
        entry.write_bytes(b"tflint_graph 1\ndamaged")
    assert analyse([str(tmp_path)]) == cold
    assert analyse([str(tmp_path)], options=Options(use_cache=False)) == cold


def test_without_a_project_the_given_files_are_looked_at_together(tmp_path: Path) -> None:
    (tmp_path / "loose").mkdir()
    (tmp_path / "loose" / "library.py").write_text(LIBRARY, encoding="utf-8")
    (tmp_path / "loose" / "caller.py").write_text(TENSOR_CALL, encoding="utf-8")
    assert lines(analyse([str(tmp_path / "loose" / "library.py")]).findings) == [("library.py", 7, "TFG120")]


def test_a_function_on_the_first_line_of_a_file_is_looked_at(tmp_path: Path) -> None:
    helper = "def describe(loss):\n    print(loss.numpy())\n"
    main = "import tensorflow as tf\nfrom helper import describe\n\n\n@tf.function\ndef step(x):\n    describe(tf.reduce_sum(x))\n"
    write(tmp_path, helper=helper, main=main)
    assert lines(analyse([str(tmp_path)]).findings) == [("helper.py", 2, "TFG150")]
