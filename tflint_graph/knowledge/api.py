"""What a call of a TensorFlow, Keras, NumPy, math or builtin function returns, and what the methods of such values return.

Nothing here imports TensorFlow. The answers come from the text tables beside this file, read once, on the first question.

A *dotted name* is a name as the import statements of a file give it: "tensorflow.math.reduce_sum", "tensorflow.compat.v2.reduce_sum",
"tensorflow.python.ops.math_ops.reduce_sum". `canonical` maps all spellings of one object to one of them. A canonical name starts with "tensorflow.",
"keras.",
"numpy.", "math.", "operator." or "builtins.".
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from tflint_graph.knowledge.grammar import Notation, parse

_DATA = Path(__file__).parent

# Prefixes that name the same public module under another path. The first match is replaced, then the result is looked at again.
_PREFIXES = (
    ("tensorflow.compat.v2.", "tensorflow."),
    ("tensorflow._api.v2.v2.", "tensorflow."),
    ("tensorflow._api.v2.compat.", "tensorflow.compat."),
    ("tensorflow.compat.v1.keras.", "keras."),
    ("tensorflow.compat.v1.compat.", "tensorflow.compat."),
    ("tensorflow.compat.v1.estimator.", "tensorflow.estimator."),
    ("tensorflow.python.keras.api._v2.keras.", "keras."),
    ("tensorflow.python.keras.api.keras.", "keras."),
    ("tensorflow.python.keras.", "keras.src."),
    ("tensorflow.keras.", "keras."),
    ("tensorflow.initializers.", "keras.initializers."),
    ("tensorflow.losses.", "keras.losses."),
    ("tensorflow.metrics.", "keras.metrics."),
    ("tensorflow.optimizers.", "keras.optimizers."),
    ("tf_keras.api._v2.keras.", "keras."),
    ("tf_keras.api._v1.keras.", "keras."),
    ("tf_keras.", "keras."),
    ("keras.api._v2.keras.", "keras."),
    ("keras.api._v1.keras.", "keras."),
    ("keras.api.", "keras."),
    ("keras._tf_keras.keras.", "keras."),
)
_WHOLE = {
    "tensorflow.python.framework.ops.convert_to_tensor": "tensorflow.convert_to_tensor",  # moved away in TensorFlow 2.12
    "tensorflow.compat.v2": "tensorflow",
    "tensorflow.keras": "keras",
    "tf_keras": "keras",
    "tensorflow.compat.v1.keras": "keras",
    "tensorflow.python.keras": "keras",
}
# The table of methods that belongs to instances of a class, where that is not the class's own name.
_METHOD_KIND = {
    "tensorflow.Tensor": "tensor",
    "tensorflow.RaggedTensor": "ragged",
    "tensorflow.SparseTensor": "sparse",
    "tensorflow.Variable": "variable",
    "tensorflow.data.Dataset": "dataset",
    "tensorflow.TensorArray": "tensorarray",
    "tensorflow.TensorShape": "TensorShape",
    "tensorflow.dtypes.DType": "DType",
    "numpy.ndarray": "ndarray",
    "numpy.generic": "npscalar",
}
_BUILTIN_TYPES = frozenset({"int", "float", "bool", "str", "bytes", "complex", "list", "tuple", "dict", "set", "frozenset", "range", "slice"})
_STAGED = frozenset({"tensor", "variable", "dataset", "iterator", "tensorarray"})


@dataclass(frozen=True, slots=True)
class Api:
    """One function, class, module or constant of a library, or one method or attribute of a kind of value.

    name     canonical dotted name ("tensorflow.reduce_sum"), or "KIND.METHOD" for methods ("tensor.numpy")
    kind     "function", "class", "module" or "constant" (attributes of values too)
    returns  what a call gives (for a constant: what it is): "tensor" (certainly a symbolic tensor when called in a graph with tensor, ndarray or Python
             number
             arguments), "variable", "dataset", "iterator", "tensorarray", "python", "none", "list", "tuple", "dict", "instance", "function" (a callable),
             "same" (whatever the parameter with the position in `like` is; a Python number in that place comes back as a tensor if `ops`), "unknown"
    pytype   for "python": int, float, bool, str, bytes, TensorShape, DType, ndarray, npscalar, module, object ... or alternatives "ndarray|npscalar"
    ref      for "instance": the canonical class name
    parts    outputs of a list, tuple or namedtuple of fixed structure, else None
    element  for list and dict of unknown length: what each element is, when known
    dtype    "float32" ..., "like:N" (dtype of parameter N, its own as a tensor if it is a Python number), "like:self" (methods), "param:NAME:DEFAULT" (the
             value of parameter NAME, and when it is not given DEFAULT,
             itself a dtype, "like:N" or empty), None unknown
    agree    positions of parameters that must have one dtype, which is the result's too: a Python number among them takes the dtype of the others. `dtype`
             is None then
    shape    "scalar", "vector" (rank 1), "like:N", "like:self", "value:N" (the shape is the value of parameter N), "broadcast" (of all tensor arguments),
             "reduce" (scalar without axis; keepdims keeps the rank), None unknown
    ragged   "ragged" or "sparse" when the result certainly is one, "maybe" when that depends on the arguments. A ragged or sparse *argument* may make any
             "tensor" ragged or sparse
    params   parameter names in order, `self` left out; "*args" and "**kwargs" are spelled so, keyword-only names follow a "*" or a "*args"
    ops      a call in a graph creates TensorFlow operations
    eager_only  an attribute or method that only eager values have: on a symbolic tensor, a dataset or variable in a graph it raises
    unless   optional parameters that change what is returned, like compute_uv of tf.linalg.svd
    exact    the row for calls that give none of them (see `given`); this row then only says what holds for all calls
    like     for "same": the position of that parameter, -1 for self
    bases    for classes: canonical names of the known base classes, nearest first
    source   where the row comes from: "checked" (by hand, against the library) or "measured" (by tracing calls; classes and constants by looking at the
             object)
    """

    name: str
    kind: str
    returns: str = "unknown"
    pytype: str | None = None
    ref: str | None = None
    parts: tuple[Api, ...] | None = None
    dtype: str | None = None
    shape: str | None = None
    ragged: str | None = None
    params: tuple[str, ...] = ()
    ops: bool = False
    element: Api | None = None
    like: int = 0
    bases: tuple[str, ...] = ()
    source: str = ""
    eager_only: bool = False
    unless: tuple[str, ...] = ()
    agree: tuple[int, ...] = ()
    exact: Api | None = None

    def position(self, parameter: str) -> int | None:
        """The position at which a parameter may be passed; None for keyword-only or unknown names."""
        for index, name in enumerate(self.params):
            if name.startswith("*"):
                return None
            if name == parameter:
                return index
        return None

    def given(self, positional: int, keywords: Collection[str]) -> Api:
        """What holds for a call with so many positional arguments and these keywords: `exact`, or this row if one of `unless` is given."""
        if self.exact is None or any(name in keywords or (name in self.params and self.params.index(name) < positional) for name in self.unless):
            return self
        return self.exact


@dataclass(frozen=True, slots=True)
class _Tables:
    """The data files, split into lines but not yet parsed. rows: name -> (the rest of its line, source); modules: module -> its groups of names."""

    rows: dict[str, tuple[str, str]]
    modules: dict[str, str]


@functools.cache
def _tables() -> _Tables:
    rows: dict[str, tuple[str, str]] = {}
    for name, source in (("measured.txt", "measured"), ("methods.txt", "checked"), ("checked.txt", "checked")):
        for key, rest in _lines(name):
            rows[key] = (rest, source)
    return _Tables(rows, dict(_lines("aliases.txt")))


def _lines(name: str) -> Iterator[tuple[str, str]]:
    path = _DATA / name
    if not path.exists():
        return
    for line in path.read_text(encoding="utf-8").split("\n"):
        if line and line[0] != "#":
            key, _, rest = line.partition("\t")
            yield key, rest


@functools.cache
def canonical(dotted: str) -> str:
    """The one spelling of an object's dotted name. Names that the tables do not know come back as they are, or with their known beginning replaced."""
    dotted = _WHOLE.get(dotted, dotted)
    for prefix, replacement in _PREFIXES:
        if dotted.startswith(prefix):
            return canonical(replacement + dotted[len(prefix) :])
    tables = _tables()
    if dotted in tables.rows:
        return dotted
    if (found := _spelled(tables, dotted)) is not None:
        return found
    if dotted.startswith("tensorflow.compat.v1."):  # shares most objects with TensorFlow 2; those that differ have rows of their own
        public = "tensorflow." + dotted.removeprefix("tensorflow.compat.v1.")
        if (found := public if public in tables.rows else _spelled(tables, public)) is not None:
            return found
    head, _, last = dotted.rpartition(".")
    if head and (better := canonical(head)) != head:
        return canonical(f"{better}.{last}")
    return dotted


def _spelled(tables: _Tables, dotted: str) -> str | None:
    """The canonical name by the row of its module, which holds groups "PREFIX name name", and "= name=CANONICAL" for names that differ in their last part."""
    module, _, name = dotted.rpartition(".")
    for group in tables.modules.get(module, "").split("\t"):
        prefix, *words = group.split(" ")
        if prefix == "=":
            for word in words:
                if word.startswith(f"{name}="):
                    return word[len(name) + 1 :]
        elif name in words:
            return f"{prefix}.{name}"
    return None


def lookup(dotted: str) -> Api | None:
    """What is known of a dotted name (any spelling), a class's methods included; None for names in no table."""
    return _lookup(canonical(dotted))


@functools.cache
def _lookup(name: str) -> Api | None:
    row = _tables().rows.get(name)
    if row is not None:
        return _read(name, *row)
    head, _, last = name.rpartition(".")
    if head:
        owner = _tables().rows.get(head)
        if owner is not None and owner[0].startswith("class"):
            return method(head, last)
    return None


@functools.cache
def method(kind: str, name: str) -> Api | None:
    """A method or attribute of a kind of value.

    `kind` is "tensor", "ragged", "sparse", "variable", "dataset", "iterator", "tensorarray", "TensorShape", "DType", "ndarray", "npscalar", "function" (what
    tf.function
    gives), a builtin type's name, or a canonical class name, whose bases are searched too. Calling an instance is "__call__". None when unknown.
    """
    rows = _tables().rows
    for owner in (kind,) if "." not in kind else _ancestry(canonical(kind)):
        owner = _METHOD_KIND.get(owner, owner)
        key = f"{owner}.{name}"
        if (row := rows.get(key)) is not None:
            return _read(key, *row)
    return None


def is_subclass(dotted: str, base: str) -> bool:
    """Whether a class of a library certainly is `base` or derives from it. False for names that the tables do not know as classes."""
    target = canonical(base)
    return target in _ancestry(canonical(dotted))


@functools.cache
def _ancestry(name: str) -> tuple[str, ...]:
    """The class and its known bases, nearest first."""
    found = [name]
    for at in found:
        api = _lookup_class(at)
        if api is not None:
            found.extend(base for base in api.bases if base not in found)
    return tuple(found)


def _lookup_class(name: str) -> Api | None:
    row = _tables().rows.get(name)
    return _read(name, *row) if row is not None and row[0].startswith("class") else None


@functools.cache
def _read(name: str, rest: str, source: str) -> Api:
    """A row: KIND, VALUE, PARAMS (comma-separated), FLAGS (space-separated words: ops, -ops, eager, bases=A,B, unless=P,Q), tab-separated."""
    fields = [*rest.split("\t"), "", "", "", ""]
    kind, value, params, flags = fields[:4]
    ops: bool | None = None
    eager_only = False
    bases: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()
    for word in flags.split():
        if word in ("ops", "-ops"):
            ops = word == "ops"
        elif word.startswith("unless="):
            unless = tuple(word[7:].split(","))
        elif word == "eager":
            eager_only = True
        elif word.startswith("bases="):
            bases = tuple(word[6:].split(","))
        else:
            raise ValueError(f"{name}: unknown flag {word!r}")
    if kind == "class" and not value:
        value = f"instance:{name}"
    notation = parse(value or "unknown")
    if ops is None:
        ops = kind != "constant" and _makes_ops(notation)
    api = _api(name, kind, notation, tuple(filter(None, params.split(","))), ops, source)
    if bases or eager_only:
        api = replace(api, bases=bases, eager_only=eager_only)
    if unless:
        returns = "python" if api.returns == "python" else "unknown"
        return Api(name, kind, returns, params=api.params, ops=api.ops, source=source, unless=unless, exact=api)
    return api


def _makes_ops(notation: Notation) -> bool:
    if notation.kind in _STAGED:
        return True
    inner = (*(notation.parts or ()), *((notation.element,) if notation.element else ()))
    return any(_makes_ops(part) for part in inner)


def _api(name: str, kind: str, notation: Notation, params: tuple[str, ...], ops: bool, source: str) -> Api:
    def inner(part: Notation) -> Api:
        return _api(name, "constant", part, (), ops, source)

    agree = tuple(int(at) for at in notation.dtype.split(":")[1:]) if notation.dtype is not None and notation.dtype.startswith("agree:") else ()
    return Api(
        name=name,
        kind=kind,
        returns=notation.kind,
        pytype=notation.detail if notation.kind == "python" else None,
        ref=notation.detail if notation.kind == "instance" else None,
        parts=None if notation.parts is None else tuple(inner(part) for part in notation.parts),
        dtype=None if agree else notation.dtype,
        shape=notation.shape,
        ragged=notation.ragged,
        params=params,
        ops=ops,
        element=None if notation.element is None else inner(notation.element),
        like=(-1 if notation.detail == "self" else int(notation.detail or 0)) if notation.kind == "same" else 0,
        source=source,
        agree=agree,
    )
