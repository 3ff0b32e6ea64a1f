"""The on-disk cache of packed file indexes, in `.tflint_graph_cache/` at the project's root.

One small file per entry, named by a hash of its key and of this package's version: an entry is never stale, only unused. Entries appear by atomic rename, so
any number of processes may share the folder, and each carries a checksum: whatever is damaged is ignored and written anew.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
import time
from collections.abc import Callable

import tflint_graph

FOLDER = ".tflint_graph_cache"
_MARK = b"tflint_graph 1\n"
_CHECKSUM_SIZE = 16
_KEPT_DAYS = 30


class IndexCache:
    """The cache of one project. Failing to write (a read-only checkout, a full disk) turns it off silently; nothing depends on it."""

    def __init__(self, root: str) -> None:
        self.folder = os.path.join(root, FOLDER)
        self._writable: bool | None = None
        self._made: set[str] = set()

    def get(self, key: str) -> bytes | None:
        """What was stored under a key; None where nothing sound was."""
        try:
            with open(self._place(key), "rb") as file:
                raw = file.read()
        except OSError:
            return None
        start = len(_MARK) + _CHECKSUM_SIZE
        data = raw[start:]
        return data if raw[:start] == _MARK + _checksum(data) else None

    def put(self, key: str, data: bytes) -> None:
        """Store bytes under a key."""
        if self._writable is None:
            self._writable = self._prepare()
        if not self._writable:
            return
        place = self._place(key)
        folder = os.path.dirname(place)
        try:
            if folder not in self._made:
                os.makedirs(folder, exist_ok=True)
                self._made.add(folder)
            _write(place, _MARK + _checksum(data) + data)
        except OSError:
            self._writable = False

    def get_or_make(self, key: str, make: Callable[[], bytes]) -> bytes:
        """What is stored under a key; without it, what `make` gives, stored. What `make` raises passes through."""
        data = self.get(key)
        if data is None:
            data = make()
            self.put(key, data)
        return data

    def _place(self, key: str) -> str:
        name = hashlib.sha256(f"{tflint_graph.__version__}\0{key}".encode("utf-8", "surrogateescape")).hexdigest()
        return os.path.join(self.folder, name[:2], name[2:40])

    def _prepare(self) -> bool:
        """Make the folder and the ignore file in it; False where that is not possible. Once a day entries written more than a month ago are removed."""
        try:
            os.makedirs(self.folder, exist_ok=True)
            ignore = os.path.join(self.folder, ".gitignore")
            if not os.path.exists(ignore):
                _write(ignore, b"# Made by tflint-graph.\n*\n")
            elif time.time() - os.stat(ignore).st_mtime > 86400:
                os.utime(ignore)
                self._remove_old()
        except OSError:
            return False
        return True

    def _remove_old(self) -> None:
        oldest = time.time() - _KEPT_DAYS * 86400
        for folder, _, names in os.walk(self.folder):
            for name in names:
                place = os.path.join(folder, name)
                with contextlib.suppress(OSError):
                    if name != ".gitignore" and os.stat(place).st_mtime < oldest:
                        os.unlink(place)


def _checksum(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()[:_CHECKSUM_SIZE]


def _write(place: str, data: bytes) -> None:
    handle, temporary = tempfile.mkstemp(dir=os.path.dirname(place), prefix=".new-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.replace(temporary, place)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
