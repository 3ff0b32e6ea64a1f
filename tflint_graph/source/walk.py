"""Walking LibCST trees cheaply: only the fields that hold code, in the order of the source.

LibCST's own `children` and visitors go through every whitespace node, which costs more than parsing did.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import libcst as cst

_SKIPPED_NAMES = frozenset({
    "leading_lines", "lines_after_decorators", "header", "footer", "comma", "semicolon", "lpar", "rpar", "lbracket", "rbracket", "lbrace", "rbrace",
    "equal", "colon",
    "dot", "first_colon", "second_colon", "indent", "newline", "trailing_whitespace", "leading_whitespace", "encoding", "default_indent", "default_newline",
    "has_trailing_newline", "operator", "asynchronous", "star", "start", "end", "prefix", "type_parameters", "star_etc", "posonly_ind", "raw", "quote",
    "keyword_only",
})  # fmt: skip
_fields: dict[type, tuple[str, ...]] = {
    cst.Comparison: ("left", "comparisons"),
    cst.FunctionDef: ("decorators", "name", "params", "returns", "body"),
    cst.ClassDef: ("decorators", "name", "bases", "keywords", "body"),
    cst.Parameters: ("posonly_params", "params", "star_arg", "kwonly_params", "star_kwarg"),
    cst.IfExp: ("body", "test", "orelse"),
    cst.DictElement: ("key", "value"),
    cst.Arg: ("keyword", "value"),
    cst.ComparisonTarget: ("comparator",),
    cst.AnnAssign: ("target", "annotation", "value"),
    cst.ExceptHandler: ("type", "name", "body"),
    cst.ExceptStarHandler: ("type", "name", "body"),
    cst.MatchCase: ("pattern", "guard", "body"),
    cst.ListComp: ("elt", "for_in"),
    cst.SetComp: ("elt", "for_in"),
    cst.GeneratorExp: ("elt", "for_in"),
    cst.DictComp: ("key", "value", "for_in"),
    cst.Name: (),
    cst.Integer: (),
    cst.Float: (),
    cst.Imaginary: (),
    cst.SimpleString: (),
    cst.Attribute: ("value", "attr"),
    cst.Call: ("func", "args"),
    cst.Expr: ("value",),
    cst.SimpleStatementLine: ("body",),
}


def code_fields(kind: type) -> tuple[str, ...]:
    """The names of the fields of a LibCST class that can hold code, in source order."""
    found = _fields.get(kind)
    if found is None:
        found = tuple(
            f.name
            for f in dataclasses.fields(kind)
            if f.name not in _SKIPPED_NAMES and not f.name.startswith("whitespace") and not f.name.endswith("_whitespace")
        )
        _fields[kind] = found
    return found


def children(node: cst.CSTNode) -> list[cst.CSTNode]:
    """The nodes directly below `node` that hold code, in source order."""
    kind = type(node)
    names = _fields.get(kind)
    if names is None:
        names = code_fields(kind)
    found: list[cst.CSTNode] = []
    for name in names:
        value: Any = getattr(node, name)
        if value is None:
            continue
        held = type(value)
        if held is tuple or held is list:
            found.extend(value)
        elif held is not str and held is not cst.MaybeSentinel and held is not bool:
            found.append(value)
    return found


def walk(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """`node` and everything below it, in source order."""
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        below = children(current)
        below.reverse()
        stack.extend(below)


def _concrete(*bases: type) -> frozenset[type]:
    return frozenset(kind for kind in vars(cst).values() if isinstance(kind, type) and issubclass(kind, bases))


# LibCST's classes are abstract base classes, whose isinstance is slow when the answer is no. `type(node) in STATEMENTS` asks the same.
STATEMENTS = _concrete(cst.BaseSmallStatement, cst.BaseCompoundStatement)
EXPRESSIONS = _concrete(cst.BaseExpression)
COMPREHENSIONS = frozenset({cst.ListComp, cst.SetComp, cst.DictComp, cst.GeneratorExp})
