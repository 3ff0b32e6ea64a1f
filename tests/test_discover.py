"""From paths to files: excludes, `.gitignore` files, project roots."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tflint_graph.config import Config
from tflint_graph.discover import above_packages, common_folder, discover, matches, project_root, walk


def make(folder: Path, *files: str) -> None:
    for name in files:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("", encoding="utf-8")


def found(folder: Path, config: Config | None = None, start: str = "") -> list[str]:
    return [os.path.relpath(path, folder).replace(os.sep, "/") for path in walk(str(folder / start), config or Config())]


def test_usual_excludes(tmp_path: Path) -> None:
    make(tmp_path, "a.py", "data.txt", "pkg/b.py", ".venv/lib/x.py", "build/x.py", "node_modules/m/x.py", "pkg/__pycache__/x.py", "lib/site-packages/x.py")
    skipped: dict[str, str] = {}
    assert [os.path.basename(path) for path in walk(str(tmp_path), Config(), skipped)] == ["a.py", "b.py"]
    assert skipped[str(tmp_path / "build")] == "excluded by default"


def test_gitignore_files_nest_and_negate(tmp_path: Path) -> None:
    make(tmp_path, "a.py", "gen_x.py", "pkg/gen_y.py", "pkg/keep/gen_z.py", "out/x.py", "pkg/deep/only.py")
    (tmp_path / ".gitignore").write_text("gen_*.py\n/out/\n# a comment\n", encoding="utf-8")
    (tmp_path / "pkg" / ".gitignore").write_text("!gen_y.py\ndeep/\n", encoding="utf-8")
    assert found(tmp_path) == ["a.py", "pkg/gen_y.py"]


def test_ignore_files_above_the_given_folder_count(tmp_path: Path) -> None:
    (tmp_path / ".git" / "info").mkdir(parents=True)
    (tmp_path / ".gitignore").write_text("gen_*.py\nscratch/\n", encoding="utf-8")
    (tmp_path / ".git" / "info" / "exclude").write_text("private.py\n", encoding="utf-8")
    make(tmp_path, "pkg/a.py", "pkg/gen_b.py", "pkg/private.py", "scratch/gen_c.py")
    assert found(tmp_path, start="pkg") == ["pkg/a.py"]
    # A folder that is ignored but named itself is read.
    assert found(tmp_path, start="scratch") == ["scratch/gen_c.py"]


def test_configured_patterns(tmp_path: Path) -> None:
    make(tmp_path, "a.py", "build/b.py", "gen/c.py", "sub/gen/d.py", "x_pb2.py")
    path = str(tmp_path / "pyproject.toml")
    assert found(tmp_path, Config(path=path, extend_exclude=("/gen/", "*_pb2.py"))) == ["a.py", "sub/gen/d.py"]
    assert found(tmp_path, Config(path=path, exclude=("gen",))) == ["a.py", "x_pb2.py", "build/b.py"]


def test_named_files_are_always_taken_and_taken_once(tmp_path: Path) -> None:
    make(tmp_path, "build/b.py", "script", "a.py")
    given = [str(tmp_path / name) for name in ("build/b.py", "script", "a.py", "missing.py")] + [str(tmp_path)]
    result = discover(given, lambda folder: Config())
    assert [os.path.basename(path) for path in result.files] == ["b.py", "script", "a.py"]
    assert [(error.path, error.line, error.reason) for error in result.errors] == [(str(tmp_path / "missing.py"), 0, "no such file or folder")]


@pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")
def test_links_to_folders_are_not_followed(tmp_path: Path) -> None:
    make(tmp_path, "pkg/a.py")
    (tmp_path / "pkg" / "loop").symlink_to(tmp_path / "pkg", target_is_directory=True)
    (tmp_path / "b.py").symlink_to(tmp_path / "pkg" / "a.py")
    assert found(tmp_path) == ["b.py", "pkg/a.py"]


@pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")
def test_a_link_to_itself_is_left_out(tmp_path: Path) -> None:
    make(tmp_path, "a.py")
    (tmp_path / "loop.py").symlink_to("loop.py")
    skipped: dict[str, str] = {}
    assert [os.path.basename(path) for path in walk(str(tmp_path), Config(), skipped)] == ["a.py"]
    assert skipped[str(tmp_path / "loop.py")].startswith("cannot be read: ")


@pytest.mark.parametrize("given", ["locked", "."])
def test_a_folder_that_cannot_be_listed_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str) -> None:
    make(tmp_path, "a.py", "locked/b.py")
    listed = os.scandir

    def scandir(path: str) -> object:
        if os.path.basename(path) == "locked":
            raise PermissionError(13, "Permission denied", path)
        return listed(path)

    monkeypatch.setattr(os, "scandir", scandir)
    result = discover([os.path.normpath(tmp_path / given)], lambda folder: Config())
    assert [(error.path, error.reason) for error in result.errors] == [(str(tmp_path / "locked"), "cannot be listed: Permission denied")]


def test_a_named_notebook_is_an_error(tmp_path: Path) -> None:
    make(tmp_path, "a.ipynb")
    result = discover([str(tmp_path / "a.ipynb")], lambda folder: Config())
    assert (result.files, [error.reason for error in result.errors]) == ([], ["notebooks are not read"])
    assert not discover([str(tmp_path)], lambda folder: Config()).errors


@pytest.mark.parametrize("marker", ["pyproject.toml", "setup.cfg", "setup.py", ".git"])
def test_the_project_is_the_nearest_marked_folder(tmp_path: Path, marker: str) -> None:
    make(tmp_path, f"outer/inner/{marker}", "outer/inner/pkg/a.py", "outer/setup.py")
    root = project_root(str(tmp_path / "outer" / "inner" / "pkg" / "a.py"))
    assert root is not None
    assert (root.folder, root.marked) == (str(tmp_path / "outer" / "inner"), True)


def test_folders_without_a_project(tmp_path: Path) -> None:
    make(tmp_path, "one/pkg/__init__.py", "one/pkg/sub/__init__.py", "one/pkg/sub/a.py", "one/other/b.py", "one/loose/c.py")
    given = [str(tmp_path / "one/pkg/sub/a.py"), str(tmp_path / "one/other")]
    assert common_folder(given) == str(tmp_path / "one")
    assert above_packages(str(tmp_path / "one/pkg/sub")) == str(tmp_path / "one")
    assert [os.path.basename(path) for path in walk(str(tmp_path / "one"), Config(), packages_only=True)] == ["__init__.py", "__init__.py", "a.py"]


def test_per_file_patterns_are_those_of_gitignore(tmp_path: Path) -> None:
    base = str(tmp_path)
    assert matches("tests/*", str(tmp_path / "tests" / "a.py"), base)
    assert matches("conftest.py", str(tmp_path / "tests" / "conftest.py"), base)
    assert not matches("/conftest.py", str(tmp_path / "tests" / "conftest.py"), base)
