"""Write names and measured results as the text tables of this package. Only `generate.py` uses this module."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

from tflint_graph.knowledge.generate_calls import spell_parameters
from tflint_graph.knowledge.generate_names import Names

UNUSED_MODULES = frozenset({"tensorflow.python.ops.standard_ops", "tensorflow.python.training.training"})  # they only gather what other modules define
MOST_PARAMETERS = 16
MOST_CLASS_PARAMETERS = 4

# What making an instance of a class gives, where that is not simply an instance: the first base found decides.
INSTANCE_VALUES = {
    "tensorflow.RaggedTensor": "tensor/ragged", "tensorflow.SparseTensor": "tensor/sparse", "tensorflow.Tensor": "tensor", "tensorflow.Variable": "variable",
    "tensorflow.data.Dataset": "dataset", "tensorflow.compat.v1.data.Dataset": "dataset", "tensorflow.data.Iterator": "iterator",
    "tensorflow.TensorArray": "tensorarray",
    "tensorflow.TensorShape": "python:TensorShape", "tensorflow.dtypes.DType": "python:DType", "numpy.ndarray": "python:ndarray",
    "numpy.generic": "python:npscalar",
}  # fmt: skip


def write_tables(names: Names, results: dict[str, dict[str, Any]], folder: Path) -> None:
    """Write measured.txt, aliases.txt and numeric.txt."""
    header = _header()
    rows = [row for name, value in sorted(names.objects.items()) if (row := _row(name, value, names, results.get(name)))]
    kept = {row.partition("\t")[0] for row in rows}
    (folder / "measured.txt").write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    (folder / "aliases.txt").write_text("\n".join([header, *_aliases(names, kept)]) + "\n", encoding="utf-8")
    (folder / "numeric.txt").write_text("\n".join([header, *_numeric(results)]) + "\n", encoding="utf-8")


def _header() -> str:
    import keras  # type: ignore[import-not-found,import-untyped,unused-ignore]
    import numpy  # type: ignore[import-not-found,import-untyped,unused-ignore]
    import tensorflow  # type: ignore[import-not-found,import-untyped,unused-ignore]

    versions = f"TensorFlow {tensorflow.__version__}, Keras {keras.__version__}, NumPy {numpy.__version__}"
    return f"# Measured on {versions}. Written by generate.py; corrections go to checked.txt."


def _row(name: str, value: Any, names: Names, result: dict[str, Any] | None) -> str | None:
    if isinstance(value, type):
        return _class_row(name, value, names)
    if not callable(value):
        if name.startswith("tensorflow.compat.v1."):
            return None
        kind = "DType" if type(value).__name__ == "DType" else type(value).__name__
        return f"{name}\tconstant\tpython:{kind}" if kind.isidentifier() and not kind.startswith("_") else None
    if result is None or not result["value"]:
        public = name.replace("tensorflow.compat.v1.", "tensorflow.")
        legacy = public != name and public not in names.objects and public not in names.aliases
        return None if legacy else f"{name}\tfunction"  # an unsettled row keeps compat.v1 names from being taken for those of TensorFlow 2
    flags = f"unless={','.join(result['unless'])}" if result["unless"] else ""
    return "\t".join([name, "function", result["value"], ",".join(_parameters(value)), flags]).rstrip("\t")


def _class_row(name: str, cls: type, names: Names) -> str | None:
    public = [names.by_id[id(base)] for base in cls.__mro__[1:] if id(base) in names.by_id]
    text = INSTANCE_VALUES.get(name, "")
    text = text or next((INSTANCE_VALUES[base] for base in public if base in INSTANCE_VALUES), "")
    if not text and issubclass(cls, BaseException):
        text = "python:exception"
    # Bases that another base already implies are left out: they are found through it.
    implied = {names.by_id[id(far)] for base in cls.__mro__[1:] if id(base) in names.by_id for far in base.__mro__[1:] if id(far) in names.by_id}
    bases = [base for base in dict.fromkeys(public) if base not in implied and base != name]
    if name.startswith("tensorflow.compat.v1.") and not text and not bases:
        return None
    parameters = _parameters(cls)[:MOST_CLASS_PARAMETERS]
    return "\t".join([name, "class", text, ",".join(parameters), f"bases={','.join(bases)}" if bases else ""]).rstrip("\t")


def _parameters(value: Any) -> list[str]:
    if isinstance(count := getattr(value, "nin", None), int):
        return ["x", "y", "z", "w"][:count]  # NumPy's ufuncs differ in what their signatures show
    try:
        return spell_parameters(inspect.signature(value))[:MOST_PARAMETERS]
    except (TypeError, ValueError):
        return []


def _aliases(names: Names, kept: set[str]) -> list[str]:
    """MODULE, then groups "PREFIX name name" for names whose canonical spelling is PREFIX.name, and a group "= name=canonical" for those that differ.

    Public modules hold the spellings that are not canonical, private modules all public objects found in them.
    """
    modules: dict[str, dict[str, str]] = {module: dict(row) for module, row in names.internal.items() if _is_imported(module)}
    for spelling, name in names.aliases.items():
        if not _derived(spelling, name, names):
            module, _, last = spelling.rpartition(".")
            modules.setdefault(module, {})[last] = name
    lines = []
    for module, row in sorted(modules.items()):
        groups: dict[str, list[str]] = {}
        for name, public in sorted(row.items()):
            prefix, _, last = public.rpartition(".")
            if public in kept:
                groups.setdefault(prefix if last == name else "=", []).append(name if last == name else f"{name}={public}")
        if groups:
            lines.append("\t".join([module, *(f"{prefix} {' '.join(words)}" for prefix, words in groups.items())]))
    return lines


def _is_imported(module: str) -> bool:
    """Whether programs outside the libraries plausibly import from a private module. The deepest ones are left to the libraries themselves."""
    return module not in UNUSED_MODULES and module.count(".") < (4 if module.startswith("keras.") else 5)


def _derived(spelling: str, name: str, names: Names) -> bool:
    """Whether api.canonical finds the name by itself: most of compat.v1 is spelled as in TensorFlow 2."""
    if not spelling.startswith("tensorflow.compat.v1."):
        return False
    public = "tensorflow." + spelling.removeprefix("tensorflow.compat.v1.")
    return public == name or names.aliases.get(public) == name


def _numeric(results: dict[str, dict[str, Any]]) -> list[str]:
    """OUTCOME, then the names of all functions that do the same with a symbolic tensor."""
    groups: dict[str, list[str]] = {}
    for name, row in sorted(results.items()):
        if outcome := row.get("symbolic"):
            groups.setdefault(outcome, []).append(name)
    return [f"{outcome}\t{' '.join(names)}" for outcome, names in sorted(groups.items())]
