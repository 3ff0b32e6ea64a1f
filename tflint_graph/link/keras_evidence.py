"""Which Keras a program runs with, as far as its own code says."""

from __future__ import annotations

from collections.abc import Iterable

from tflint_graph.index.model import FileIndex

_KERAS_2 = ("tf_keras.", "tensorflow.python.keras.", "tensorflow_core.python.keras.", "keras.engine.", "keras.api._v2.", "keras.api._v1.")
_KERAS_3 = ("keras.src.", "keras.ops", "keras.saving", "keras.random", "keras.distribution", "keras.export", "keras.tree", "keras._tf_keras")
_TELLING = (
    b"tf_keras",
    b"TF_USE_LEGACY_KERAS",
    b"python.keras",
    b"keras.engine",
    b"keras.api",
    b"keras.src",
    b"keras.ops",
    b"keras.saving",
    b"keras.random",
    b"keras import",
    b"keras._tf_keras",
)
_FALSE = frozenset({"", "0", "false", "no"})


def version_of(dotted: str) -> int | None:
    """The Keras that a spelling alone decides: 2, 3 or None."""
    if dotted.startswith(_KERAS_2):
        return 2
    if dotted.startswith(_KERAS_3):
        return 3
    return None


def mentions_keras_version(data: bytes) -> bool:
    """Whether a file's text holds anything that `project_version` could read."""
    return any(marker in data for marker in _TELLING)


def version_written_in(files: Iterable[FileIndex]) -> int | None:
    """What some files' own code says about their Keras: TF_USE_LEGACY_KERAS, imports of tf_keras, names that only Keras 3 has. The first kind decides."""
    legacy = three = two = False
    for index in files:
        setting = index.environment_writes.get("TF_USE_LEGACY_KERAS")
        if setting is not None:
            legacy = legacy or setting.strip().lower() not in _FALSE
        for module in index.functions.values():
            for symbols in module.bindings.values():
                for symbol in symbols:
                    if symbol is None or symbol[0] != "import":
                        continue
                    dotted = symbol[1]
                    if dotted == "tf_keras" or dotted.startswith(_KERAS_2):
                        two = True
                    elif dotted.startswith(_KERAS_3):
                        three = True
    if legacy:
        return 2
    if two != three:
        return 2 if two else 3
    return None
