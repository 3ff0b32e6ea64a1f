"""The public names of TensorFlow, Keras, NumPy and friends, and every other spelling of them. Only `generate.py` uses this module; the linter never does.

TensorFlow exports most objects under several names, and its own code and many libraries import them from `tensorflow.python`. Two names that give the same
object
are spellings of one API; the canonical one is the public name with the fewest parts, then the shortest.
"""

from __future__ import annotations

import importlib
import sys
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

SKIPPED_MODULES = (
    "tensorflow.raw_ops",
    "tensorflow.compat.v2",
    "tensorflow.keras",
    "tensorflow.initializers",
    "tensorflow.losses",
    "tensorflow.metrics",
    "tensorflow.optimizers",
)
# Keras repeats a few base classes at its top; people know them by their modules.
KERAS_SHORTCUTS = frozenset(f"keras.{name}" for name in ("Initializer", "InputSpec", "Layer", "Loss", "Metric", "Optimizer", "Quantizer", "Regularizer"))
PLAIN_MODULES = ("math", "operator")
NUMPY_MODULES = ("numpy", "numpy.linalg", "numpy.random", "numpy.fft")


@dataclass
class Names:
    """objects: canonical name -> object. aliases: other public spelling -> canonical name. internal: private module -> {name in it: canonical name}."""

    objects: dict[str, Any] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    internal: dict[str, dict[str, str]] = field(default_factory=dict)
    by_id: dict[int, str] = field(default_factory=dict)


def collect() -> Names:
    """Walk the public modules of the installed libraries, TensorFlow 2's names first, then those that only compat.v1 has, Keras 3's before Keras 2's."""
    import keras  # type: ignore[import-not-found,import-untyped,unused-ignore]
    import tensorflow as tf  # type: ignore[import-not-found,import-untyped,unused-ignore]

    names = Names()
    _add(names, list(_walk(keras, "keras", ("keras.src", "keras.api", "keras._tf_keras"))))
    _add(names, list(_walk(tf, "tensorflow", (*SKIPPED_MODULES, "tensorflow.compat.v1"))))
    _add(
        names, list(_walk(tf.compat.v1, "tensorflow.compat.v1", ("tensorflow.compat.v1.keras", "tensorflow.compat.v1.compat", "tensorflow.compat.v1.raw_ops")))
    )
    for module in NUMPY_MODULES:
        _add(names, [(f"{module}.{name}", value) for name, value in _members(importlib.import_module(module)) if not isinstance(value, types.ModuleType)])
    for module in PLAIN_MODULES:
        _add(names, [(f"{module}.{name}", value) for name, value in _members(importlib.import_module(module))])
    _add_keras_2(names)
    _add_internal(names, ("tensorflow.python.", "keras.src", "tf_keras.src"))
    return names


def _members(module: types.ModuleType) -> Iterator[tuple[str, Any]]:
    for name in sorted(dir(module)):
        if name.startswith("_"):
            continue
        try:
            yield name, getattr(module, name)
        except Exception:  # lazily loaded modules fail in many ways when an optional package is missing
            continue


def _walk(root: Any, prefix: str, skipped: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    """(dotted name, object) for everything public below a module, breadth first, each module once."""
    queue = [(prefix, root)]
    seen: set[int] = set()
    for path, module in queue:
        if id(module) in seen:
            continue
        seen.add(id(module))
        for name, value in _members(module):
            full = f"{path}.{name}"
            if full in skipped or any(full.startswith(f"{other}.") for other in skipped):
                continue
            if isinstance(value, types.ModuleType):
                if _is_public(value, prefix):
                    queue.append((full, value))
            else:
                yield full, value


def _is_public(module: types.ModuleType, prefix: str) -> bool:
    """Part of the library's published API: TensorFlow's API modules are generated under `tensorflow._api`."""
    if type(module).__name__ == "KerasLazyLoader":
        return False
    name = getattr(module, "__name__", "")
    return "._api." in name if prefix.startswith("tensorflow") else name.startswith(prefix)


def _identifies(value: Any) -> bool:
    """Whether object identity says that two names mean the same: not for numbers, strings and the like."""
    return callable(value) or type(value).__name__ == "DType"


def _add(names: Names, found: list[tuple[str, Any]]) -> None:
    """Group by identity; what an earlier call named keeps its name."""
    groups: dict[int, list[str]] = {}
    values: dict[int, Any] = {}
    for full, value in found:
        if not _identifies(value):
            names.objects.setdefault(full, value)
            continue
        groups.setdefault(id(value), []).append(full)
        values[id(value)] = value
        names.objects.setdefault(full, value)
    for key, spellings in groups.items():
        best = names.by_id.get(key) or min(spellings, key=_preference(values[key]))
        names.by_id[key] = best
        for spelling in spellings:
            if spelling != best:
                names.objects.pop(spelling, None)
                names.aliases[spelling] = best


def _preference(value: Any) -> Callable[[str], tuple[int, bool, int, str]]:
    """Sorts spellings: fewest parts, then the object's own name (float32 before single), then the shortest."""
    own = getattr(value, "name", None) if type(value).__name__ == "DType" else getattr(value, "__name__", None)
    return lambda name: (name.count(".") + 2 * (name in KERAS_SHORTCUTS), name.rpartition(".")[2] != own, len(name), name)


def _add_keras_2(names: Names) -> None:
    """Names that only Keras 2 has. Where both have a name, Keras 3's object stands for both."""
    try:
        import tf_keras  # type: ignore[import-not-found,import-untyped,unused-ignore]
    except ImportError:
        return
    found = [
        (full.replace("tf_keras.", "keras.", 1), value) for full, value in _walk(tf_keras, "tf_keras", ("tf_keras.src", "tf_keras.api", "tf_keras.protobuf"))
    ]
    new = [(full, value) for full, value in found if full not in names.objects and full not in names.aliases]
    for full, value in found:  # so that the identity of Keras 2's objects leads to the shared name
        if (full in names.objects or full in names.aliases) and _identifies(value):
            names.by_id.setdefault(id(value), names.aliases.get(full, full))
    _add(names, new)


def _add_internal(names: Names, prefixes: tuple[str, ...]) -> None:
    """Public objects by the private modules that define or re-export them. Imports of single names between Keras modules are not re-exports."""
    for path, module in sorted(sys.modules.items()):
        if not path.startswith(prefixes) or not isinstance(module, types.ModuleType) or path.endswith("_pb2"):
            continue
        if path.startswith("tensorflow.python.keras"):
            continue
        package = hasattr(module, "__path__")
        row: dict[str, str] = {}
        for name, value in vars(module).items():
            public = names.by_id.get(id(value)) if not name.startswith("_") and _identifies(value) else None
            if public is None or public.startswith(("numpy.", "math.", "operator.")):
                continue
            if "keras" in path and not package and getattr(value, "__module__", None) != path:
                continue
            row[name] = public
        if row:
            names.internal.setdefault(path.replace("tf_keras.src", "keras.src", 1), {}).update(row)
