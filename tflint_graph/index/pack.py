"""FileIndexes as bytes: small enough to keep thousands in memory, and what the cache stores.

A project of ten thousand files does not fit into memory as objects. `marshal` is used because an index is tuples of strings and numbers all the way down: it
is five times as fast as pickle and cannot run code. Its format changes with Python, so `FORMAT` (which a cache makes part of its keys) names the interpreter.
"""

from __future__ import annotations

import ast
import marshal
import sys
import zlib
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tflint_graph.index.model import Assignment, Call, ClassIndex, FileIndex, FunctionIndex, Parameter, Stopper

# Change the first part whenever the index or what it records changes.
FORMAT = f"10-{sys.implementation.cache_tag}-{marshal.version}"

_FUNCTION_FIELDS = tuple(FunctionIndex.__dataclass_fields__)
_CLASS_FIELDS = tuple(ClassIndex.__dataclass_fields__)
_HOT_BYTES = 5_000_000  # of packed indexes; as objects they take twelve times as much


def pack(index: FileIndex) -> bytes:
    """A FileIndex as bytes."""
    functions: dict[str, bytes] = {}
    for entry in index.functions.values():
        values: list[Any] = [getattr(entry, name) for name in _FUNCTION_FIELDS]
        values[_KINDS] = _mask(entry.kinds)
        values[_PARAMS] = tuple([(p.name, p.kind, p.annotation, p.default, p.has_default) for p in entry.params])
        values[_STOPPERS] = tuple([(s.code, s.line, s.column, s.end_line, s.end_column, s.detail) for s in entry.stoppers])
        values[_CALLS] = tuple([tuple(call) for call in entry.calls])
        functions[entry.qualname] = marshal.dumps(tuple(values))
    plain = (
        index.path,
        index.module,
        index.digest,
        index.lines,
        index.imports,
        index.star_imports,
        functions,
        [tuple([getattr(entry, name) for name in _CLASS_FIELDS]) for entry in index.classes.values()],
        {name: tuple([(a.line, a.end_line, a.symbol) for a in found]) for name, found in index.assignments.items()},
        index.environment_writes,
        index.foreign_stores,
        index.runs_eagerly,
    )
    return zlib.compress(marshal.dumps(plain), 1)


def unpack(packed: bytes) -> FileIndex:
    """The FileIndex that `pack` was given. Raises ValueError for bytes that are none."""
    try:
        path, module, digest, lines, imports, stars, functions, classes, assignments, environment, stores, eagerly = marshal.loads(zlib.decompress(packed))
        index = FileIndex(path, module, digest, lines, imports, stars, _LazyFunctions(functions))
        for values in classes:
            cls = ClassIndex(*values)
            index.classes[cls.qualname] = cls
        index.assignments = {name: tuple([Assignment(*a) for a in found]) for name, found in assignments.items()}
        index.environment_writes = environment
        index.foreign_stores = stores
        index.runs_eagerly = eagerly
        return index
    except (zlib.error, EOFError, TypeError, ValueError) as error:
        raise ValueError(f"not a packed index: {error}") from None


class _LazyFunctions(dict[str, FunctionIndex]):
    """The functions of an unpacked file. Each is unpacked when it is first looked at: from other files, one or two are."""

    def __init__(self, packed: dict[str, bytes]) -> None:
        super().__init__(packed)  # type: ignore[arg-type]

    def __getitem__(self, qualname: str) -> FunctionIndex:
        found: FunctionIndex | bytes = super().__getitem__(qualname)
        if isinstance(found, bytes):
            found = _unpack_function(found)
            self[qualname] = found
        return found

    def get(self, qualname: str, default: Any = None) -> Any:
        try:
            return self[qualname]
        except KeyError:
            return default

    def values(self) -> Any:
        return [self[qualname] for qualname in self]

    def items(self) -> Any:
        return [(qualname, self[qualname]) for qualname in self]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, dict) and dict(self.items()) == dict(other.items())


def _unpack_function(packed: bytes) -> FunctionIndex:
    values = marshal.loads(packed)
    entry = FunctionIndex(*values)
    entry.kinds = _kinds(values[_KINDS])
    if entry.params:
        entry.params = tuple([Parameter(*p) for p in values[_PARAMS]])
    if entry.stoppers:
        entry.stoppers = tuple([Stopper(*s) for s in values[_STOPPERS]])
    if entry.calls:
        entry.calls = tuple([Call(*c) for c in values[_CALLS]])
    return entry


def _mask(kinds: frozenset[str]) -> int:
    return sum(1 << _BITS[kind] for kind in kinds)


def _kinds(mask: int) -> frozenset[str]:
    """The kinds of a mask; equal sets are one object, which saves a third of the memory."""
    found = _shared.get(mask)
    if found is None:
        found = _shared[mask] = frozenset([name for bit, name in enumerate(_NAMES) if mask >> bit & 1])
    return found


_NAMES = tuple(sorted(name for name, value in vars(ast).items() if isinstance(value, type) and issubclass(value, ast.AST)))
_BITS = {name: bit for bit, name in enumerate(_NAMES)}
_shared: dict[int, frozenset[str]] = {}
_KINDS = _FUNCTION_FIELDS.index("kinds")
_PARAMS = _FUNCTION_FIELDS.index("params")
_STOPPERS = _FUNCTION_FIELDS.index("stoppers")
_CALLS = _FUNCTION_FIELDS.index("calls")


class PackedIndexes(Mapping[str, FileIndex]):
    """FileIndexes by path, kept packed; those used last are kept as objects too, as many as `hot_bytes` of packed ones."""

    def __init__(self, packed: Iterable[tuple[str, bytes]] = (), hot_bytes: int = _HOT_BYTES) -> None:
        self._packed: dict[str, bytes] = dict(packed)
        self._hot: OrderedDict[str, FileIndex] = OrderedDict()
        self._room = hot_bytes
        self.crowded = False
        # True once there were more than fit.

    def add(self, path: str, packed: bytes) -> None:
        """Add or replace one file."""
        if self._hot.pop(path, None) is not None:
            self._room += len(self._packed[path])
        self._packed[path] = packed

    def cool(self) -> None:
        """Keep none of them as objects."""
        for path in self._hot:
            self._room += len(self._packed[path])
        self._hot.clear()

    def __getitem__(self, path: str) -> FileIndex:
        found = self._hot.get(path)
        if found is not None:
            self._hot.move_to_end(path)
            return found
        packed = self._packed[path]
        found = unpack(packed)
        self._hot[path] = found
        self._room -= len(packed)
        while self._room < 0 and len(self._hot) > 1:
            self.crowded = True
            oldest, _ = self._hot.popitem(last=False)
            self._room += len(self._packed[oldest])
        return found

    def __contains__(self, path: object) -> bool:
        return path in self._packed

    def __iter__(self) -> Iterator[str]:
        return iter(self._packed)

    def __len__(self) -> int:
        return len(self._packed)
