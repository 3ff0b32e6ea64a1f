"""The statements of a function's blocks."""

from __future__ import annotations

import libcst as cst

from tflint_graph.source.walk import children

Loop = cst.For | cst.While


def own_statements(node: cst.CSTNode, kinds: type[cst.CSTNode] | tuple[type[cst.CSTNode], ...]) -> list[cst.CSTNode]:
    """The nodes of the given kinds inside `node`, nested functions and classes left out, in source order."""
    found: list[cst.CSTNode] = []
    stack = [node]
    while stack:
        current = stack.pop()
        if isinstance(current, kinds):
            found.append(current)
        below = [child for child in children(current) if not isinstance(child, (cst.FunctionDef, cst.Lambda, cst.ClassDef))]
        stack.extend(reversed(below))
    return found


def statements(body: cst.BaseSuite) -> list[cst.CSTNode]:
    """The statements of a block, those joined by `;` one by one."""
    if isinstance(body, cst.SimpleStatementSuite):
        return list(body.body)
    found: list[cst.CSTNode] = []
    for statement in body.body:
        found.extend(statement.body if isinstance(statement, cst.SimpleStatementLine) else [statement])
    return found


def else_statements(node: cst.If) -> list[cst.CSTNode]:
    match node.orelse:
        case cst.If():
            return [node.orelse]
        case cst.Else(body=body):
            return statements(body)
    return []
