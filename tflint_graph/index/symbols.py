"""Symbols and dotted names: how a spelling becomes plain data."""

from __future__ import annotations

import ast
import sys

from tflint_graph.index.model import Symbol

# Top-level modules that are never the project's own.
FOREIGN = frozenset(sys.stdlib_module_names) | {
    "tensorflow", "tf_keras", "keras", "tensorflow_probability", "tensorflow_datasets", "tensorflow_addons", "tensorflow_hub", "tensorflow_text", "numpy",
    "scipy",
    "pandas", "matplotlib", "sklearn", "absl", "six", "torch", "jax", "jaxlib", "PIL", "cv2", "tqdm", "yaml", "requests", "pytest", "h5py", "wrapt", "gin",
    "einops", "seaborn", "skimage", "attr", "attrs", "google", "wandb", "mlflow", "psutil", "packaging", "typing_extensions", "setuptools",
}  # fmt: skip


def relative_module(package: str, level: int, module: str | None) -> str:
    """The absolute dotted name of what `from ...module import` names in a file of `package`."""
    if level == 0:
        return module or ""
    base = package
    for _ in range(level - 1):
        base = base.rpartition(".")[0]
    if not module:
        return base
    return f"{base}.{module}" if base else module


def annotation_symbol(node: ast.expr | None) -> Symbol:
    """The symbol of an annotation. `Optional[T]` is ("sub", Optional, (T,)), `A | B` is ("either", (A, B)); string annotations are read."""
    if node is None:
        return None
    if isinstance(node, ast.Name):
        return ("name", node.id)
    if isinstance(node, ast.Attribute):
        base = annotation_symbol(node.value)
        return ("attr", base, node.attr) if base is not None else None
    if isinstance(node, ast.Subscript):
        items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return ("sub", annotation_symbol(node.value), tuple(annotation_symbol(item) for item in items))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return ("either", (annotation_symbol(node.left), annotation_symbol(node.right)))
    if isinstance(node, ast.Constant):
        if node.value is None:
            return ("const", None)
        if isinstance(node.value, str) and node.value.replace(".", "").isidentifier():
            return dotted_symbol(node.value)
    return None


def dotted_symbol(dotted: str) -> Symbol:
    """The symbol of "a.b.c"."""
    first, *rest = dotted.split(".")
    symbol: Symbol = ("name", first)
    for part in rest:
        symbol = ("attr", symbol, part)
    return symbol


def root_name(symbol: Symbol) -> str | None:
    """The name at the start of a chain of attributes; None when it starts with anything else."""
    while symbol is not None and symbol[0] == "attr":
        symbol = symbol[1]
    return symbol[1] if symbol is not None and symbol[0] == "name" else None


def spelled(symbol: Symbol) -> str | None:
    """ "a.b.c" for a chain of attributes on a name, else None."""
    parts: list[str] = []
    while symbol is not None and symbol[0] == "attr":
        parts.append(symbol[2])
        symbol = symbol[1]
    if symbol is None or symbol[0] != "name":
        return None
    parts.append(symbol[1])
    return ".".join(reversed(parts))
