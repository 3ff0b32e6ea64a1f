"""Whether a graph loop binds a name in every iteration: shared by the rules about names that a loop defines."""

from __future__ import annotations

import libcst as cst

from tflint_graph.rule_api import Facts, NameFlow, Staging
from tflint_graph.source.blocks import Loop, own_statements

_BINDINGS = (cst.AssignTarget, cst.AnnAssign, cst.AugAssign, cst.For)


def tensor_tests(node: Loop, facts: Facts) -> list[cst.If]:
    """The ifs in the body of a loop that a tensor decides."""
    return [
        test
        for test in own_statements(node.body, cst.If)
        if isinstance(test, cst.If) and facts.branch(test) is not None and facts.staging(test) is Staging.TENSOR
    ]


def skipped(node: Loop, flow: NameFlow, facts: Facts) -> bool:
    """True if every binding of the name comes after a `break` or `continue` under a tensor's test, so that AutoGraph puts it under a guard."""
    if flow.node_body is None or _is_target(node, flow.name):
        return False
    for leave in own_statements(node.body, (cst.Break, cst.Continue)):
        if facts.line(leave) < facts.line(flow.node_body) and _under_tensor(leave, facts) and not bound_before(node, flow.name, facts.line(leave), facts):
            return True
    return False


def _under_tensor(leave: cst.CSTNode, facts: Facts) -> bool:
    for frame in facts.frames(leave):
        if frame.is_loop:
            return False
        if frame.is_branch and frame.staging is Staging.TENSOR:
            return True
    return False


def _is_target(node: Loop, name: str) -> bool:
    return isinstance(node, cst.For) and _names(node.target, name)


def _names(target: cst.CSTNode, name: str) -> bool:
    """True if an assignment to `target` binds the name: an attribute or item of it is another thing."""
    match target:
        case cst.Name(value=value):
            return value == name
        case cst.Tuple(elements=elements) | cst.List(elements=elements):
            return any(_names(element.value, name) for element in elements)
    return False


def bound_in(node: cst.CSTNode, name: str) -> bool:
    """True if an assignment or a loop inside `node` (nested functions left out) binds the name."""
    block = node.body if isinstance(node, cst.FunctionDef) else node
    for binding in own_statements(block, (*_BINDINGS, cst.AsName)):
        match binding:
            case (
                cst.AssignTarget(target=target) | cst.AnnAssign(target=target) | cst.AugAssign(target=target) | cst.For(target=target) | cst.AsName(name=target)
            ):
                if _names(target, name):
                    return True
    return False


def bound_before(node: Loop, name: str, line: int, facts: Facts) -> bool:
    """True if the loop's body binds the name on a line before `line`, or the loop itself does."""
    if _is_target(node, name):
        return True
    for binding in own_statements(node.body, _BINDINGS):
        match binding:
            case cst.AssignTarget(target=target) | cst.AnnAssign(target=target) | cst.AugAssign(target=target) | cst.For(target=target):
                if facts.line(binding) < line and _names(target, name):
                    return True
    return False
