"""Which classes are Keras's, which of their methods Keras traces, and which Keras that is.

Keras 3 marks its own code as not to be converted, so the methods it calls run as plain Python while tracing; Keras 2 converts them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from tflint_graph.index.model import ClassId, FileIndex
from tflint_graph.knowledge.api import canonical, is_subclass
from tflint_graph.link.project import Project

LAYER, MODEL, LOSS, METRIC, SCHEDULE, REGULARIZER = "Layer", "Model", "Loss", "Metric", "LearningRateSchedule", "Regularizer"

METHODS: Mapping[str, frozenset[str]] = {
    LAYER: frozenset({"call"}),
    MODEL: frozenset({"call", "train_step", "test_step", "predict_step"}),
    LOSS: frozenset({"call"}),
    METRIC: frozenset({"update_state", "result"}),
    SCHEDULE: frozenset({"__call__"}),
    REGULARIZER: frozenset({"__call__"}),
}
ALL_METHODS = frozenset().union(*METHODS.values())

# Folders of Keras and what the classes in them are; the first that a canonical name holds decides.
_FAMILIES = (
    ("optimizers.schedules", SCHEDULE), ("learning_rate_schedule", SCHEDULE), ("regularizers", REGULARIZER), ("losses", LOSS), ("metrics", METRIC), ("models", MODEL), ("applications", MODEL),
    ("layers", LAYER), ("base_layer", LAYER), ("training", MODEL),
)  # fmt: skip
_LAST_NAMES = {name: name for name in (LAYER, MODEL, LOSS, METRIC, SCHEDULE, REGULARIZER)} | {"Sequential": MODEL, "Functional": MODEL}
_KERAS_2 = ("tf_keras.", "tensorflow.python.keras.", "tensorflow_core.python.keras.", "keras.engine.", "keras.api._v2.", "keras.api._v1.")
_KERAS_3 = ("keras.src.", "keras.ops", "keras.saving", "keras.random", "keras.distribution", "keras.export", "keras.tree", "keras._tf_keras")
_FALSE = frozenset({"", "0", "false", "no"})


class KerasClass(NamedTuple):
    """`family` is one of the names above; `version` is 2 or 3 where the code itself decides it, else None; `certain` False where only the name speaks for it."""

    family: str
    version: int | None
    certain: bool


def keras_class(project: Project, cls: ClassId) -> KerasClass | None:
    """What kind of Keras class a project's class is, None when it is none."""
    fallback: KerasClass | None = None
    for base in project.api_bases(cls):
        family = api_family(base)
        if family is not None:
            return KerasClass(family, version_of(base) or project.keras, True)
        last = base.rpartition(".")[2]
        if fallback is None and last in _LAST_NAMES and not base.startswith(("builtins.", "torch.", "tensorflow.", "flax.", "jax.")):
            fallback = KerasClass(_LAST_NAMES[last], project.keras, False)
    if fallback is None and not project.bases_known(cls):
        entry = project.class_index(cls)
        for symbol in entry.bases if entry is not None else ():
            if symbol is not None and symbol[0] in ("name", "attr") and symbol[-1] in (LAYER, MODEL):
                return KerasClass(symbol[-1], project.keras, False)
    return fallback


def api_family(dotted: str) -> str | None:
    """The family of a Keras class by its dotted name, None for anything else."""
    name = canonical(dotted)
    if not name.startswith("keras."):
        return None
    if is_subclass(name, "keras.Model"):
        return MODEL
    if is_subclass(name, "keras.layers.Layer"):
        return LAYER
    last = name.rpartition(".")[2]
    if last in _LAST_NAMES:
        return _LAST_NAMES[last]
    if not last[:1].isupper():
        return None
    for folder, family in _FAMILIES:
        if folder in name:
            return family
    return None


def version_of(dotted: str) -> int | None:
    """The Keras that a spelling alone decides: 2, 3 or None."""
    if dotted.startswith(_KERAS_2):
        return 2
    if dotted.startswith(_KERAS_3):
        return 3
    return None


def project_version(files: Iterable[FileIndex]) -> int | None:
    """What the project's own code says about its Keras: TF_USE_LEGACY_KERAS, imports of tf_keras, names that only Keras 3 has. The first kind decides."""
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
