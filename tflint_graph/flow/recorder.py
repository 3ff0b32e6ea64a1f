"""What the interpreter writes down for the rules while it runs."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import libcst as cst

from tflint_graph.flow.facts import BranchFacts, CallFacts, LoopFacts, NameFlow, Staging
from tflint_graph.flow.lattice import join
from tflint_graph.flow.values import Value


@dataclass(slots=True)
class Recorder:
    """Facts by id(node). Within one activation of a function a later visit replaces an earlier one (a loop's last round is its fixpoint); activations are
    merged with `absorb`."""

    values: dict[int, Value] = field(default_factory=dict)
    stagings: dict[int, Staging] = field(default_factory=dict)
    branches: dict[int, BranchFacts] = field(default_factory=dict)
    loops: dict[int, LoopFacts] = field(default_factory=dict)
    calls: dict[int, CallFacts] = field(default_factory=dict)

    def stage(self, node: cst.CSTNode, staging: Staging) -> None:
        self.stagings[id(node)] = staging

    def absorb(self, other: Recorder) -> None:
        """Join the facts of another activation of the same code."""
        for key, value in other.values.items():
            mine = self.values.get(key)
            self.values[key] = value if mine is None else join(mine, value)
        for key, staging in other.stagings.items():
            self.stagings[key] = staging if self.stagings.get(key, staging) is staging else Staging.UNKNOWN
        for key, branch in other.branches.items():
            known = self.branches.get(key)
            self.branches[key] = branch if known is None else _join_branches(known, branch)
        for key, loop in other.loops.items():
            before = self.loops.get(key)
            self.loops[key] = loop if before is None else _join_loops(before, loop)
        for key, call in other.calls.items():
            seen = self.calls.get(key)
            self.calls[key] = call if seen is None else _join_calls(seen, call)


def _join_names(a: dict[str, NameFlow], b: dict[str, NameFlow]) -> dict[str, NameFlow]:
    return {
        name: replace(
            flow,
            before=join(flow.before, b[name].before),
            body=join(flow.body, b[name].body),
            orelse=join(flow.orelse, b[name].orelse),
            first=join(flow.first, b[name].first),
        )
        for name, flow in a.items()
        if name in b
    }


def _join_branches(a: BranchFacts, b: BranchFacts) -> BranchFacts:
    return BranchFacts(
        a.staging if a.staging is b.staging else Staging.UNKNOWN,
        join(a.test, b.test),
        _join_names(a.names, b.names),
        a.body_ends and b.body_ends,
        a.orelse_ends and b.orelse_ends,
    )


def _join_loops(a: LoopFacts, b: LoopFacts) -> LoopFacts:
    after = join(a.test_after, b.test_after) if a.test_after is not None and b.test_after is not None else None
    return LoopFacts(a.staging if a.staging is b.staging else Staging.UNKNOWN, join(a.iterable, b.iterable), _join_names(a.names, b.names), after, a.invariants)


def _join_calls(a: CallFacts, b: CallFacts) -> CallFacts:
    same_callee = a.dotted == b.dotted and a.project == b.project
    args = tuple(join(x, y) for x, y in zip(a.args, b.args, strict=False)) if len(a.args) == len(b.args) else ()
    keywords = {k: join(v, b.keywords[k]) for k, v in a.keywords.items() if k in b.keywords}
    receiver = join(a.receiver, b.receiver) if a.receiver is not None and b.receiver is not None else None
    return CallFacts(
        join(a.callee, b.callee),
        a.dotted if same_callee else None,
        a.project if same_callee else None,
        receiver,
        args,
        keywords,
        a.has_star,
        join(a.result, b.result),
    )
