"""Which classes are Keras's, which of their methods Keras traces, and which Keras that is.

Keras 3 marks its own code as not to be converted, so the methods it calls run as plain Python while tracing; Keras 2 converts them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from tflint_graph.index.model import ClassId
from tflint_graph.knowledge.api import canonical, is_subclass
from tflint_graph.link.keras_evidence import version_of
from tflint_graph.link.project import Project

LAYER, MODEL, LOSS, METRIC, SCHEDULE, REGULARIZER = "Layer", "Model", "Loss", "Metric", "LearningRateSchedule", "Regularizer"
CONSTRAINT = "Constraint"
# Measured with tf_keras 2.21: fit and evaluate hand these to AutoGraph (tf_keras.src.engine.base_layer, losses, metrics); what else they trace runs as it is.
CONVERTED_BY_KERAS_2 = frozenset({"call", "update_state", "result"})

METHODS: Mapping[str, frozenset[str]] = {
    LAYER: frozenset({"call"}),
    MODEL: frozenset({"call", "train_step", "test_step", "predict_step", "compute_loss"}),
    LOSS: frozenset({"call"}),
    METRIC: frozenset({"update_state", "result"}),
    SCHEDULE: frozenset({"__call__"}),
    REGULARIZER: frozenset({"__call__"}),
    CONSTRAINT: frozenset({"__call__"}),
}
ALL_METHODS = frozenset().union(*METHODS.values())

# Folders of Keras and what the classes in them are; the first that a canonical name holds decides.
_FAMILIES = (
    ("optimizers.schedules", SCHEDULE), ("learning_rate_schedule", SCHEDULE), ("regularizers", REGULARIZER),
    ("constraints", CONSTRAINT), ("losses", LOSS), ("metrics", METRIC),
    ("models", MODEL), ("applications", MODEL),
    ("layers", LAYER), ("base_layer", LAYER), ("training", MODEL),
)  # fmt: skip
_LAST_NAMES = {name: name for name in (LAYER, MODEL, LOSS, METRIC, SCHEDULE, REGULARIZER, CONSTRAINT)} | {"Sequential": MODEL, "Functional": MODEL}


class KerasClass(NamedTuple):
    """`family` is one of the names above; `version` is 2 or 3 where the code itself decides it, else None; `certain` False where only the name speaks for
    it."""

    family: str
    version: int | None
    certain: bool


def keras_class(project: Project, cls: ClassId) -> KerasClass | None:
    """What kind of Keras class a project's class is, None when it is none."""
    fallback: KerasClass | None = None
    for base in project.api_bases(cls):
        family = api_family(base)
        if family is not None:
            return KerasClass(family, version_of(base) or project.keras_at(cls.path), True)
        last = base.rpartition(".")[2]
        if fallback is None and last in _LAST_NAMES and not base.startswith(("builtins.", "torch.", "tensorflow.", "flax.", "jax.")):
            fallback = KerasClass(_LAST_NAMES[last], project.keras_at(cls.path), False)
    if fallback is None and not project.bases_known(cls):
        entry = project.class_index(cls)
        for symbol in entry.bases if entry is not None else ():
            if symbol is not None and symbol[0] in ("name", "attr") and symbol[-1] in (LAYER, MODEL):
                return KerasClass(symbol[-1], project.keras_at(cls.path), False)
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
