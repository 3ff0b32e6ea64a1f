"""The values of literals, without compiling each of them as LibCST's `evaluated_value` does."""

from __future__ import annotations

import libcst as cst

_TRIPLE_SINGLE = "'" * 3
_TRIPLE_DOUBLE = '"' * 3
Literal = str | bytes | int | float | complex | None


def literal_value(node: cst.SimpleString | cst.ConcatenatedString | cst.Integer | cst.Float | cst.Imaginary) -> Literal:
    """The value of a literal; None for a concatenation that holds an f-string."""
    if isinstance(node, cst.SimpleString):
        text = node.value
        if "\\" not in text and text[0] in "'\"":
            width = 3 if text[:3] in (_TRIPLE_SINGLE, _TRIPLE_DOUBLE) and len(text) >= 6 else 1
            return text[width:-width]
        return node.evaluated_value
    if isinstance(node, cst.Integer) and node.value.isdigit():
        return int(node.value)
    return node.evaluated_value
