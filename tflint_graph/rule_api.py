"""Everything a rule file imports: `from tflint_graph.rule_api import Claim, Facts, Rule, Severity ...`.

A rule file holds, in this order: the module docstring (the page that `tflint-graph rule CODE` prints), `RULE`, `BAD` and `GOOD` (example programs), and
`check(node, facts)`, a generator of claims. The annotation of `node` says for which LibCST nodes (or index `Stopper`s) it is called.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import libcst as cst

from tflint_graph.findings import Severity
from tflint_graph.flow.facts import BranchFacts, CallFacts, Facts, Frame, FunctionFacts, LoopFacts, NameFlow, ReturnFacts, Staging
from tflint_graph.flow.values import ANY_DIM, MISSING, NONE, UNBOUND, UNKNOWN, Kind, Reason, Value
from tflint_graph.index.model import Stopper
from tflint_graph.link.model import Context, Unconverted
from tflint_graph.rule_meta import CONVERTED, TRACED, TRACED_ONLY, Rule

__all__ = [
    "ANY_DIM", "CONVERTED", "MISSING", "NONE", "TRACED", "TRACED_ONLY", "UNBOUND", "UNKNOWN",
    "BranchFacts", "CallFacts", "Claim", "Context", "Facts", "Frame", "FunctionFacts", "Kind", "LoopFacts", "NameFlow", "NodeEdit", "Proposal", "Reason",
    "ReturnFacts", "Rule", "Severity", "Staging", "Stopper", "Unconverted", "Value",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class NodeEdit:
    """Replace the text of a LibCST node."""

    node: cst.CSTNode
    text: str


@dataclass(frozen=True, slots=True)
class Proposal:
    """A fix in terms of nodes; the engine turns it into text edits."""

    title: str
    safe: bool
    edits: tuple[NodeEdit, ...]


@dataclass(frozen=True, slots=True)
class Claim:
    """What a rule says about a node. `node` is where it is reported; `because` are the values whose reasons explain it, most important first.

    `message` is complete: what is wrong in the user's names, what TensorFlow does, what to write instead. The engine appends who traces the function and why
    the values are tensors. `severity` None means the rule's own; a finding in a function whose tracing is not certain is lowered to a warning by the engine.
    """

    node: cst.CSTNode | Stopper
    message: str
    because: tuple[Value, ...] = ()
    severity: Severity | None = None
    fix: Proposal | None = None
    notes: tuple[Reason, ...] = field(default=())
