"""The questions that the analysis answers about a project, and when an answer may be kept."""

from __future__ import annotations

from dataclasses import dataclass, field

from tflint_graph.flow.values import Value
from tflint_graph.flow.world import World
from tflint_graph.index.model import FunctionId
from tflint_graph.link.project import Project
from tflint_graph.link.trace_map import TraceMap
from tflint_graph.source.region import Region

MAX_CALLER_DEPTH = 4  # how far callers of callers are followed to learn a parameter
MAX_EAGER_CALLERS = 2  # how far through code that TensorFlow does not trace
MAX_SUMMARY_DEPTH = 4  # how far callees of callees are summarised

DEPTH = "depth"

HARMLESS_DECORATORS = frozenset({
    "builtins.staticmethod", "builtins.classmethod", "builtins.property", "functools.wraps", "tensorflow.function", "abc.abstractmethod",
    "typing.override", "typing.overload",
    "tensorflow.autograph.experimental.do_not_convert", "tensorflow.Module.with_name_scope", "keras.saving.register_keras_serializable", "typing.final",
    "keras.utils.register_keras_serializable", "tensorflow.autograph.do_not_convert", "tensorflow.autograph.to_graph", "functools.lru_cache", "functools.cache",
    "functools.cached_property", "tensorflow.recompute_grad", "tensorflow.custom_gradient", "tensorflow.compat.v1.flags",
    "tensorflow.python.util.tf_export.tf_export",
})  # fmt: skip


@dataclass(slots=True)
class Outcome:
    """What remains of a region's analysis: the calls of project functions in it (bound arguments, and whether the call runs
    eagerly), the attributes it stores on `self`, and the input signatures it wraps functions with."""

    outgoing: dict[FunctionId, list[tuple[dict[str, Value], bool]]] = field(default_factory=dict)
    attribute_writes: dict[str, Value] = field(default_factory=dict)
    signatures: dict[FunctionId, Value] = field(default_factory=dict)


class Questions:
    """What the parts of the analysis share: the project, and the bookkeeping of questions that are being answered.

    Answers rest on other answers, and some go round in circles: a parameter on a call, the call on an attribute, the attribute on a parameter. A question
    that is asked while it is open gets a cautious answer, and whatever rests on that is not kept, so that an answer does not depend on where it was first
    asked.
    """

    project: Project
    trace_map: TraceMap
    world: World
    harmless_decorators = HARMLESS_DECORATORS

    def __init__(self, project: Project, trace_map: TraceMap) -> None:
        self.project = project
        self.trace_map = trace_map
        self._outcomes: dict[FunctionId, Outcome | None] = {}
        self._open: set[FunctionId] = set()
        self._open_params: set[FunctionId] = set()
        self._open_writes: set[FunctionId] = set()
        self._summarising: set[FunctionId] = set()
        self._cut_on: set[object] = set()  # the open questions, or DEPTH, that cut short the question being answered
        self._caller_depth = 0
        self._eager_depth = 0
        self._summary_depth = 0

    def _ask(self) -> set[object]:
        """Start a question: what cuts it short is collected from here on. Gives what `_answer` needs."""
        saved, self._cut_on = self._cut_on, set()
        return saved

    def _answer(self, question: object, saved: set[object], *, outermost: bool) -> bool:
        """End a question. True when its answer is the same from wherever it is asked, and may be kept: no question that is still open cut it short, and no
        depth limit, unless it had the whole depth to itself (`outermost`)."""
        cut = self._cut_on
        cut.discard(question)
        if outermost:
            cut.discard(DEPTH)
        self._cut_on = saved | cut
        return not cut

    def _cut(self, question: object) -> None:
        self._cut_on.add(question)

    # -- answered by the parts that follow -------------------------------------------------------------------------------------------------------------------

    def region(self, function: FunctionId) -> Region | None:
        """The parsed region of an outermost function; None when LibCST cannot parse it."""
        raise NotImplementedError

    def lines(self, path: str) -> list[str]:
        """The lines of a file, each with one newline at its end."""
        raise NotImplementedError

    def outcome(self, function: FunctionId) -> Outcome | None:
        """What a region calls, and with what; None while it is being analysed, when it is too far away, or unparsable."""
        raise NotImplementedError
