"""The cache: damage is ignored, sharing is safe, nothing depends on it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tflint_graph.cache import FOLDER, IndexCache


def entries(root: Path) -> list[Path]:
    return sorted(path for path in (root / FOLDER).glob("*/*") if path.is_file())


def test_what_was_stored_comes_back(tmp_path: Path) -> None:
    cache = IndexCache(str(tmp_path))
    assert cache.get("key") is None
    cache.put("key", b"data")
    assert IndexCache(str(tmp_path)).get("key") == b"data"
    assert cache.get("other") is None
    assert (tmp_path / FOLDER / ".gitignore").read_text().endswith("*\n")


@pytest.mark.parametrize("damage", [b"", b"tflint_graph 1\n", b"\0" * 100])
def test_damaged_entries_are_ignored(tmp_path: Path, damage: bytes) -> None:
    cache = IndexCache(str(tmp_path))
    cache.put("key", b"data")
    (entry,) = entries(tmp_path)
    entry.write_bytes(damage)
    assert cache.get("key") is None
    cache.put("key", b"data")
    assert cache.get("key") == b"data"


def test_a_flipped_byte_is_noticed(tmp_path: Path) -> None:
    cache = IndexCache(str(tmp_path))
    cache.put("key", b"data")
    (entry,) = entries(tmp_path)
    raw = entry.read_bytes()
    entry.write_bytes(raw[:-1] + b"b")
    assert cache.get("key") is None


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="needs a user without all rights")
def test_a_read_only_project_has_no_cache(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    cache = IndexCache(str(tmp_path))
    cache.put("key", b"data")
    assert cache.get("key") is None


def test_a_file_in_the_place_of_the_folder_turns_it_off(tmp_path: Path) -> None:
    (tmp_path / FOLDER).write_text("in the way")
    cache = IndexCache(str(tmp_path))
    cache.put("key", b"data")
    assert cache.get("key") is None


def test_processes_may_share_it(tmp_path: Path) -> None:
    program = (
        "import sys; from tflint_graph.cache import IndexCache\n"
        "cache = IndexCache(sys.argv[1])\n"
        "for n in range(200):\n"
        "    data = str(n % 20).encode() * 1000\n"
        "    cache.put(str(n % 20), data)\n"
        "    assert cache.get(str(n % 20)) == data\n"
    )
    running = [subprocess.Popen([sys.executable, "-c", program, str(tmp_path)]) for _ in range(3)]
    assert [process.wait(60) for process in running] == [0, 0, 0]
    assert len(entries(tmp_path)) == 20
