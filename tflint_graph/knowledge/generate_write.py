"""Write names and measured results as the text tables of this package. Only `generate.py` uses this module."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

from tflint_graph.knowledge.generate_calls import spell_parameters
from tflint_graph.knowledge.generate_names import Names

HEADER = "# Written by generate.py; do not edit. Corrections go to checked.txt."
MOST_PARAMETERS = 16

# What making an instance of a class gives, where that is not simply an instance: the first base found decides.
INSTANCE_VALUES = {
    "tensorflow.RaggedTensor": "tensor/ragged", "tensorflow.SparseTensor": "tensor/sparse", "tensorflow.Tensor": "tensor", "tensorflow.Variable": "variable",
    "tensorflow.data.Dataset": "dataset", "tensorflow.compat.v1.data.Dataset": "dataset", "tensorflow.data.Iterator": "iterator", "tensorflow.TensorArray": "tensorarray",
    "tensorflow.TensorShape": "python:TensorShape", "tensorflow.dtypes.DType": "python:DType", "numpy.ndarray": "python:ndarray", "numpy.generic": "python:npscalar",
}  # fmt: skip


def write_tables(names: Names, results: dict[str, dict[str, Any]], folder: Path) -> None:
    """Write measured.txt, aliases.txt and internal.txt."""
    rows = [row for name, value in sorted(names.objects.items()) if (row := _row(name, value, names, results.get(name)))]
    (folder / "measured.txt").write_text("\n".join([HEADER, *rows]) + "\n", encoding="utf-8")
    (folder / "aliases.txt").write_text("\n".join([HEADER, *_aliases(names)]) + "\n", encoding="utf-8")
    (folder / "internal.txt").write_text("\n".join([HEADER, *_internal(names)]) + "\n", encoding="utf-8")


def _row(name: str, value: Any, names: Names, result: dict[str, Any] | None) -> str | None:
    if isinstance(value, type):
        return _class_row(name, value, names)
    if not callable(value):
        kind = "DType" if type(value).__name__ == "DType" else type(value).__name__
        return f"{name}\tconstant\tpython:{kind}" if kind.isidentifier() and not kind.startswith("_") else None
    flags: list[str] = []
    text = ""
    if result is not None and result["value"]:
        text = result["value"]
        flags = ["measured", *([f"unless={','.join(result['unless'])}"] if result["unless"] else [])]
    return "\t".join([name, "function", text, ",".join(_parameters(value)), " ".join(flags)]).rstrip("\t")


def _class_row(name: str, cls: type, names: Names) -> str:
    public = [names.by_id[id(base)] for base in cls.__mro__[1:] if id(base) in names.by_id]
    text = INSTANCE_VALUES.get(name, "")
    text = text or next((INSTANCE_VALUES[base] for base in public if base in INSTANCE_VALUES), "")
    if not text and issubclass(cls, BaseException):
        text = "python:exception"
    # Bases that another base already implies are left out: they are found through it.
    implied = {names.by_id[id(far)] for base in cls.__mro__[1:] if id(base) in names.by_id for far in base.__mro__[1:] if id(far) in names.by_id}
    bases = [base for base in dict.fromkeys(public) if base not in implied and base != name]
    parameters = [] if name.startswith(("keras.", "tensorflow.compat.v1.")) and text == "" and not bases else _parameters(cls)
    return "\t".join([name, "class", text, ",".join(parameters), f"bases={','.join(bases)}" if bases else ""]).rstrip("\t")


def _parameters(value: Any) -> list[str]:
    try:
        return spell_parameters(inspect.signature(value))[:MOST_PARAMETERS]
    except (TypeError, ValueError):
        return []


def _aliases(names: Names) -> list[str]:
    """Spellings that api.canonical cannot derive: compat.v1 names whose rest is the TensorFlow 2 name are left out."""
    lines = []
    for spelling, name in sorted(names.aliases.items()):
        if spelling.startswith("tensorflow.compat.v1."):
            public = "tensorflow." + spelling.removeprefix("tensorflow.compat.v1.")
            if public == name or names.aliases.get(public) == name:
                continue
        lines.append(f"{spelling}\t{name}")
    return lines


def _internal(names: Names) -> list[str]:
    """MODULE, then groups "PREFIX name name" for names whose public spelling is PREFIX.name, and a last group "= name=public" for the others."""
    lines = []
    for module, row in sorted(names.internal.items()):
        groups: dict[str, list[str]] = {}
        for name, public in sorted(row.items()):
            prefix, _, last = public.rpartition(".")
            if last == name:
                groups.setdefault(prefix, []).append(name)
            else:
                groups.setdefault("=", []).append(f"{name}={public}")
        lines.append("\t".join([module, *(f"{prefix} {' '.join(words)}" for prefix, words in groups.items())]))
    return lines
