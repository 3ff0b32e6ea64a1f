"""What a rule may ask about one region. Rules read these facts and never derive them again.

A *region* is the source of one outermost function (nested functions included) or of a module's own statements, parsed by LibCST.
A *frame* is a syntactic block around a node: the branch of an `if`, the body of a loop, a `with`, a function. Frames say whether TensorFlow stages the block.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import libcst as cst

from tflint_graph.findings import TraceStep
from tflint_graph.flow.values import UNKNOWN, Value
from tflint_graph.index.model import FunctionId, Stopper
from tflint_graph.link.model import Context, Unconverted


class Staging(enum.Enum):
    """How a piece of control flow runs while tracing."""

    TENSOR = "tensor"  # certainly decided by a tensor (or a variable): a graph conditional or loop in converted code, an error elsewhere
    DATASET = "dataset"  # a loop over a tf.data dataset or iterator
    PYTHON = "python"  # certainly decided by Python while tracing
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Frame:
    """A block around a node. `node` is the LibCST statement or expression that makes it.

    `part` is "if" (the body), "else" (of an if), "for", "while", "loop-else", "try", "except", "try-else", "finally", "with", "def", "lambda", "class",
    "ternary" (an arm), "ternary-test", "comprehension". `staging` is that of the `if`, loop or ternary; PYTHON for the others.
    """

    node: cst.CSTNode
    part: str
    staging: Staging

    @property
    def is_loop(self) -> bool:
        return self.part in ("for", "while")

    @property
    def is_branch(self) -> bool:
        return self.part in ("if", "else")

    @property
    def is_function(self) -> bool:
        return self.part in ("def", "lambda")

    @property
    def is_tensor_flow(self) -> bool:
        """A branch or loop that TensorFlow stages into the graph."""
        return self.part in ("if", "else", "for", "while") and self.staging in (Staging.TENSOR, Staging.DATASET)


@dataclass(slots=True)
class NameFlow:
    """What happens to one name across an `if` or a loop. Values of kind UNBOUND mean provably not bound; `maybe_unbound` on a value, that only some paths bind.

    `name` is "x", "self.x" or "d['k']". For an `if`: `before`, and the values at the end of the `body` and of the `orelse` branch. For a loop: `before` and
    the value at the end of one iteration (`body`); `orelse` is `before`. `assigned_in_body/orelse`: bound somewhere in that block. `read_after`: some path
    reads it after the statement before binding it again (for a loop also counts a read in the next iteration: see `carried`).
    `node_body/node_orelse`: the last statement that binds it in that block. For a loop, `first` is the value at the end of the first iteration, while `body`
    covers all iterations; UNKNOWN for an `if`. `returned`: the pseudo-name "return" stands for the function's return value.
    """

    name: str
    before: Value
    body: Value
    orelse: Value
    assigned_in_body: bool
    assigned_in_orelse: bool
    read_after: bool
    carried: bool = False
    node_body: cst.CSTNode | None = None
    node_orelse: cst.CSTNode | None = None
    first: Value = UNKNOWN


@dataclass(slots=True)
class BranchFacts:
    """An `if` statement (an `elif` is an If of its own in the else branch)."""

    staging: Staging
    test: Value
    names: dict[str, NameFlow]
    body_ends: bool  # the body always leaves the block (return, raise, break, continue)
    orelse_ends: bool


@dataclass(slots=True)
class LoopFacts:
    """A `for` or `while`.

    `iterable` is the value looped over (`for`) or the test (`while`) before the first iteration; `test_after` is the test's value after the first
    iteration (`while` only). `invariants` is True when the body starts with tf.autograph.experimental.set_loop_options(shape_invariants=...).
    """

    staging: Staging
    iterable: Value
    names: dict[str, NameFlow]
    test_after: Value | None = None
    invariants: bool = False


@dataclass(slots=True)
class CallFacts:
    """A call, resolved. `dotted` is the canonical API name ("tensorflow.reduce_sum", "builtins.len", "numpy.sum", "math.sqrt"), also for methods of known
    values ("tensor.numpy", "dataset.map", "list.append", "variable.assign", "tensorarray.write"); None where unknown. `project` is set for project
    functions."""

    callee: Value
    dotted: str | None
    project: FunctionId | None
    receiver: Value | None
    args: tuple[Value, ...]  # positional, starred arguments excluded
    keywords: dict[str, Value]
    has_star: bool
    result: Value


@dataclass(slots=True)
class ReturnFacts:
    """A return statement and its value (NONE for a bare return)."""

    node: cst.Return
    value: Value


@dataclass(slots=True)
class FunctionFacts:
    """A function in the region: the outermost one, a nested def or a lambda.

    `outermost` is the FunctionFacts that AutoGraph converts as a whole (itself for the outermost). `certain` is False where the link that makes it traced is
    a likeness. `unconverted_steps` is the chain on which it is traced without being converted, where there is one.
    `is_root` says that it is handed to tf.function itself. `autograph_options` holds the names in experimental_autograph_options ("ASSERT_STATEMENTS", "ALL"
    ...).
    """

    node: cst.CSTNode
    function: FunctionId
    display: str
    contexts: frozenset[Context]
    unconverted: Unconverted | None
    roles: frozenset[str]
    certain: bool
    steps: tuple[TraceStep, ...]
    unconverted_steps: tuple[TraceStep, ...]
    params: dict[str, Value]
    stoppers: tuple[Stopper, ...] = ()
    is_root: bool = False
    is_generator: bool = False
    autograph_options: frozenset[str] = frozenset()
    keras: int | None = None  # for Keras methods: 2 or 3 when certain, None when assumed
    decorators: frozenset[str] = frozenset()  # canonical names; "project" for one of the project's own, "unknown" where it could not be resolved
    returns: list[ReturnFacts] = field(default_factory=list)
    falls_through: bool = True  # the end of the body can be reached
    returned: Value | None = None

    @property
    def converted(self) -> bool:
        return Context.CONVERTED in self.contexts

    @property
    def traced_only(self) -> bool:
        return Context.TRACED in self.contexts


@dataclass(frozen=True, slots=True)
class SourceText:
    """A node's source text, generated when it is formatted."""

    module: cst.Module
    node: cst.CSTNode

    def __str__(self) -> str:
        text = " ".join(self.module.code_for_node(self.node).split())
        return text if len(text) <= 60 else text[:57] + "..."


class Facts:
    """Facts about one region, as rules see them. Nodes are LibCST nodes of the region's tree; unknown nodes give UNKNOWN, never an error."""

    path: str
    module: cst.Module

    def value(self, node: cst.CSTNode) -> Value:
        """The abstract value of an expression, joined over all ways the analysis reached it."""
        raise NotImplementedError

    def staging(self, node: cst.CSTNode) -> Staging:
        """How an If, While, For, IfExp, BooleanOperation, `not`, Assert or CompFor/CompIf is decided."""
        raise NotImplementedError

    def branch(self, node: cst.If) -> BranchFacts | None:
        """Facts about an `if`; None where the analysis never reached it (dead code)."""
        raise NotImplementedError

    def loop(self, node: cst.For | cst.While) -> LoopFacts | None:
        """Facts about a loop; None where the analysis never reached it."""
        raise NotImplementedError

    def call(self, node: cst.Call) -> CallFacts | None:
        """A call, resolved; None where the analysis never reached it."""
        raise NotImplementedError

    def parent(self, node: cst.CSTNode) -> cst.CSTNode | None:
        """The node that directly holds `node`."""
        raise NotImplementedError

    def ancestors(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """The nodes around `node`, innermost first."""
        raise NotImplementedError

    def statement(self, node: cst.CSTNode) -> cst.CSTNode:
        """The innermost statement (small or compound) that holds `node`."""
        raise NotImplementedError

    def frames(self, node: cst.CSTNode, *, beyond_function: bool = False) -> Sequence[Frame]:
        """The blocks around `node`, innermost first, ending with its function (or, with `beyond_function`, with the outermost one)."""
        raise NotImplementedError

    def function(self, node: cst.CSTNode) -> FunctionFacts | None:
        """The innermost def or lambda around `node` (for a def or lambda node, itself); None at module level."""
        raise NotImplementedError

    def outermost(self, node: cst.CSTNode) -> FunctionFacts | None:
        """The function around `node` that AutoGraph converts as a whole: a traced outermost def, or a nested def that is itself handed to tf.function."""
        raise NotImplementedError

    def functions(self) -> Sequence[FunctionFacts]:
        """Every def and lambda of the region."""
        raise NotImplementedError

    def tensor_flow_in(self, function: FunctionFacts) -> cst.CSTNode | None:
        """A tensor-decided if, loop, ternary, and/or/not, or a loop over a dataset in the function (nested ones included); None when there is none."""
        raise NotImplementedError

    def made_inside(self, value: Value, frame: Frame) -> bool:
        """True when the container, object or closure was certainly created within the frame."""
        raise NotImplementedError

    def may_be_made_inside(self, value: Value, frame: Frame) -> bool:
        """True unless the value was certainly created outside the frame."""
        raise NotImplementedError

    def changes(self, method: FunctionId) -> frozenset[str]:
        """The attributes of its own object that a method of the project assigns, itself or through other methods that it calls on the object."""
        raise NotImplementedError

    def reads_of(self, name: str, within: cst.CSTNode) -> Sequence[cst.Name]:
        """Loads of a local name inside a node."""
        raise NotImplementedError

    def source(self, node: cst.CSTNode) -> SourceText:
        """The node's source text on one line, shortened to 60 characters: for messages. It is made when it is formatted into one, since that is costly."""
        return SourceText(self.module, node)

    def line(self, node: cst.CSTNode) -> int:
        """The 1-based line in the file on which the statement that holds `node` starts (cheap; exact positions are made only for findings)."""
        raise NotImplementedError
