"""What linking yields: who traces which function, how it gets there, and who calls it."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from tflint_graph.findings import TraceStep
from tflint_graph.index.model import ClassId, FunctionId


class Context(enum.Enum):
    """Who runs a function's body, and whether AutoGraph rewrote its control flow first."""

    CONVERTED = "converted"
    TRACED = "traced only"
    EAGER = "eager"


IN_GRAPH: Final = frozenset({Context.CONVERTED, Context.TRACED})
MANY_FILES: Final = 2000  # from so many on, a project keeps less of what it learned, to bound the memory


class Unconverted(enum.Enum):
    """Why a traced function is not converted; a message quotes the value."""

    AUTOGRAPH_FALSE = "tf.function(autograph=False)"
    DO_NOT_CONVERT = "tf.autograph.experimental.do_not_convert"
    KERAS_3 = "Keras 3 does not convert its methods"
    KERAS_2 = "Keras 2 converts call, losses and metrics, and nothing else"
    CALLBACK = "handed to a function that calls it without converting it"
    CONSTRUCTOR = "constructors are not converted"
    SPECIAL_METHOD = "special methods and properties are not converted"
    GENERATOR = "generator functions are not converted"
    WRAPPED = "lru_cache and wrapt wrappers hide the function from AutoGraph"
    STOPPED = "it, or its caller, holds a construct that AutoGraph does not support"
    CALLER = "called from code that is not converted"
    EXEC = "made by exec or eval, without source"


@dataclass(frozen=True, slots=True)
class Tracing:
    """One way in which a function comes to be traced.

    `role` says who calls it with what: "root" (handed to tf.function: parameters from call sites and `input_signature`), "dataset" (a Dataset callback:
    parameters are tensors), "elements" (tf.map_fn, tf.scan and the like: parameters are tensors), "strategy" (strategy.run), "keras" (call, train_step and
    friends), "callback" (table of takers that do not convert) or "callee" (called by traced code).
    `steps` leads there, outermost first. `certain` is False where the evidence is a likeness (the class may be another `Layer`, the receiver of `.map` may
    be no Dataset): then nothing that rests on it is an error.
    """

    context: Context
    role: str
    steps: tuple[TraceStep, ...]
    unconverted: Unconverted | None = None
    certain: bool = True


@dataclass(slots=True)
class Traced:
    """A function that TensorFlow traces, with every distinct way (one per context and role) that leads there."""

    function: FunctionId
    ways: list[Tracing] = field(default_factory=list)
    reached_eagerly: bool = False

    def contexts(self) -> set[Context]:
        return {way.context for way in self.ways}


class CallSites(NamedTuple):
    """Who calls a function. `callers` maps the region that calls (a FunctionId of the outermost function, or "<module>") to the number of calls in it.

    `complete` is True only when every use of the function in the project is one of these calls (or a registered way of tracing): it does not escape as a
    value, no unresolved call could mean it, and the whole project was indexed.
    """

    callers: dict[FunctionId, int]
    complete: bool


class Entity(NamedTuple):
    """What a name stands for. `kind` is one of

    "api"       a dotted name outside the project: `target` is the canonical dotted string ("tensorflow.reduce_sum", "numpy.sum", "keras.layers.Dense")
    "module"    a module of the project: `target` is its path
    "function"  a function of the project: `target` is a FunctionId
    "class"     a class of the project: `target` is a ClassId
    "global"    another module-level name: `target` is (path, name)
    "instance"  an instance of a project class: `target` is a ClassId
    """

    kind: str
    target: str | FunctionId | ClassId | tuple[str, str]
