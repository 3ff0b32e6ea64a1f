"""A region: the source of one outermost function, or of a module's own statements, parsed by LibCST on its own.

The text keeps its lines: an indented function is parsed below a one-line `if 1:`, and a module's own statements are parsed with every function body replaced by
`pass` and blank lines. So a line of the tree is a line of the file plus a constant.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider

from tflint_graph.findings import Span
from tflint_graph.index.build import statement_lines
from tflint_graph.index.model import MODULE_SCOPE, FileIndex, FunctionId, FunctionIndex
from tflint_graph.source.walk import STATEMENTS, children

_WRAPPER = "if 1:\n"


class RegionError(ValueError):
    """LibCST could not parse the region's text (ast could)."""


@dataclass(slots=True)
class Region:
    """The parsed source of one region.

    `first_line` is the file's line of the first line of `text` as parsed. `top` is the outermost def or lambda node, None for a module's own statements.
    `nodes` are all nodes in source order; `parents` maps id(node)
    to the node that holds it; `statement_lines` maps id(statement) to its 1-based line in the file; `function_nodes` maps a qualified name to its def or
    lambda node.
    """

    function: FunctionId
    tree: cst.Module
    line_offset: int
    top: cst.CSTNode | None
    nodes: list[cst.CSTNode] = field(default_factory=list)
    parents: dict[int, cst.CSTNode] = field(default_factory=dict)
    statement_lines: dict[int, int] = field(default_factory=dict)
    function_nodes: dict[str, cst.CSTNode] = field(default_factory=dict)
    names_of_functions: dict[int, str] = field(default_factory=dict)
    _positions: dict[cst.CSTNode, object] | None = None

    def parent(self, node: cst.CSTNode) -> cst.CSTNode | None:
        return self.parents.get(id(node))

    def statement(self, node: cst.CSTNode) -> cst.CSTNode:
        """The innermost statement that holds `node`; the node itself when there is none."""
        current: cst.CSTNode | None = node
        while current is not None:
            if type(current) in STATEMENTS:
                return current
            current = self.parents.get(id(current))
        return node

    def line(self, node: cst.CSTNode) -> int:
        """The 1-based line in the file on which the statement around `node` starts."""
        return self.statement_lines.get(id(self.statement(node)), self.line_offset + 1)

    def span(self, node: cst.CSTNode) -> Span:
        """The exact place of a node in the file. The first call computes all positions of the region, which costs about as much as parsing it."""
        if self._positions is None:
            wrapper = MetadataWrapper(self.tree, unsafe_skip_copy=True)
            self._positions = dict(wrapper.resolve(PositionProvider))
        position = self._positions.get(node)
        if position is None:
            line = self.line(node)
            return Span(line, 1, line, 1)
        start, end = position.start, position.end  # type: ignore[attr-defined]
        return Span(start.line + self.line_offset, start.column + 1, end.line + self.line_offset, end.column + 1)


def parse_region(index: FileIndex, lines: Sequence[str], function: FunctionId) -> Region:
    """Parse the region of `function` (its own text, or the module's own statements for "<module>").

    `lines` are the file's lines with their ends. Raises RegionError when LibCST rejects the text.
    """
    if function.qualname == MODULE_SCOPE:
        text, offset = _module_text(index, lines), 0
    else:
        entry = index.functions[function.qualname]
        text, offset = _function_text(entry, lines)
    try:
        tree = cst.parse_module(text)
        places = [line for statement in ast.parse(text).body for line in statement_lines(statement)] if function.qualname == MODULE_SCOPE else []
    except (cst.ParserSyntaxError, SyntaxError, ValueError, RecursionError) as error:
        raise RegionError(str(error).splitlines()[0]) from error
    region = Region(function, tree, offset, None)
    statements = _survey(region)
    if function.qualname == MODULE_SCOPE:
        _place_statements(region, statements, sorted(places))
        _name_functions(region, [f for f in index.functions.values() if f.is_lambda and ".<locals>." not in f.qualname])
    else:
        _place_statements(region, statements[1:] if text.startswith(_WRAPPER) else statements, entry.statement_lines)
        nodes = _name_functions(region, [f for f in index.functions.values() if entry.first_line <= f.line <= entry.end_line and f.qualname != MODULE_SCOPE])
        region.top = next((node for node in nodes if isinstance(node, cst.FunctionDef)), None)
        if region.top is None:
            raise RegionError("the region holds no function")
    return region


def parse_statement(path: str, text: str, line: int) -> Region | None:
    """One statement of a module as a region of its own; `line` is the statement's, from 1. None if it does not parse without what stands around it."""
    try:
        tree = cst.parse_module(text)
    except cst.ParserSyntaxError:
        return None
    return Region(FunctionId(path, MODULE_SCOPE), tree, line - 1, None)


def _function_text(entry: FunctionIndex, lines: Sequence[str]) -> tuple[str, int]:
    picked = list(lines[entry.first_line - 1 : entry.end_line])
    if picked:
        picked[0] = picked[0].lstrip("\f")
    if picked and picked[0][:1] in (" ", "\t"):
        return _WRAPPER + "".join(picked), entry.first_line - 2
    return "".join(picked), entry.first_line - 1


def _module_text(index: FileIndex, lines: Sequence[str]) -> str:
    """The module with the body of every outermost function replaced by `pass`, line for line."""
    out = list(lines)
    spans = sorted((f.first_line, f.end_line, f.qualname) for f in index.functions.values() if not f.is_lambda and f.qualname != MODULE_SCOPE)
    last = 0
    for first, end, _ in spans:
        if first <= last:
            continue  # nested in the function before
        last = end
        head = out[first - 1]
        indent = head[: len(head) - len(head.lstrip(" \t\f"))]
        out[first - 1] = indent + "pass\n"
        for k in range(first, min(end, len(out))):
            out[k] = "\n"
    return "".join(out)


def _survey(region: Region) -> list[cst.CSTNode]:
    """One walk in source order: all nodes and their parents; gives the statements."""
    parents, nodes = region.parents, region.nodes
    statements: list[cst.CSTNode] = []
    stack: list[cst.CSTNode] = [region.tree]
    while stack:
        node = stack.pop()
        nodes.append(node)
        if type(node) in STATEMENTS:
            statements.append(node)
        below = children(node)
        for child in below:
            parents[id(child)] = node
        below.reverse()
        stack.extend(below)
    return statements


def _place_statements(region: Region, statements: Sequence[cst.CSTNode], lines: Sequence[int]) -> None:
    """Give every statement its line: both trees hold the same statements in the same order."""
    if len(lines) == len(statements):
        region.statement_lines.update((id(statement), line) for statement, line in zip(statements, lines, strict=True))


def _name_functions(region: Region, entries: list[FunctionIndex]) -> list[cst.CSTNode]:
    """Give every def and lambda of the region the qualified name that the index has for its place in the file; gives the nodes."""
    nodes = _functions_in_order(region)
    entries.sort(key=lambda entry: (entry.line, entry.column))
    if len(nodes) == len(entries):
        for node, entry in zip(nodes, entries, strict=True):
            region.function_nodes[entry.qualname] = node
            region.names_of_functions[id(node)] = entry.qualname
    return nodes


def _functions_in_order(region: Region) -> list[cst.CSTNode]:
    """Defs and lambdas in the order of their keywords: the lambdas in a def's decorators come before it."""
    found: list[cst.CSTNode] = []
    waiting: list[cst.FunctionDef] = []
    for node in region.nodes:
        while waiting and node is waiting[-1].name:
            found.append(waiting.pop())
        if type(node) is cst.FunctionDef:
            waiting.append(node)
        elif type(node) is cst.Lambda:
            found.append(node)
    return found
