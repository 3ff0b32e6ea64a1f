"""Where the interpreter stands: the function at hand, its variables, the loops around the current statement."""

from __future__ import annotations

from dataclasses import dataclass, field

import libcst as cst

from tflint_graph.flow.lattice import State
from tflint_graph.flow.names import FunctionNames
from tflint_graph.flow.values import Value
from tflint_graph.index.model import ClassId, FunctionId
from tflint_graph.link.model import Context


@dataclass(slots=True)
class LoopScope:
    """The states in which a loop's body was left by `break` or cut short by `continue`."""

    breaks: list[State] = field(default_factory=list)
    continues: list[State] = field(default_factory=list)


@dataclass(slots=True)
class Scope:
    """One activation of a function (or of the module). `vars` is None where the current point cannot be reached."""

    node: cst.CSTNode
    names: FunctionNames
    parent: Scope | None
    context: Context
    function: FunctionId | None = None
    owner: ClassId | None = None
    self_name: str | None = None
    vars: State | None = field(default_factory=dict)
    loops: list[LoopScope] = field(default_factory=list)
    returns: list[tuple[cst.CSTNode, Value]] = field(default_factory=list)
    staged_depth: int = 0
    staged_returns: bool = False

    @property
    def eager(self) -> bool:
        return self.context is Context.EAGER

    @property
    def converted(self) -> bool:
        return self.context is Context.CONVERTED
