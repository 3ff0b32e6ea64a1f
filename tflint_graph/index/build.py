"""Stage 1: one file's syntax tree to its FileIndex, in one pass.

Every expression is visited once; the visit gives back its symbol. Statements nest at most a hundred deep (the tokenizer sees to that) and chains of `elif`
and of binary operators are followed in loops, so plain recursion is safe for whatever the parser accepts but for a few monsters, which raise SourceError.
"""

from __future__ import annotations

import ast

from tflint_graph.index.model import MODULE_SCOPE, FileIndex, FunctionIndex
from tflint_graph.index.scopes import finish_function, narrow_escapes
from tflint_graph.index.statements import StatementReader, statement_lines
from tflint_graph.index.stoppers import ambiguous_lambdas, foreign_annotations
from tflint_graph.source.text import SourceError, parse

__all__ = ["build_index", "statement_lines"]


def build_index(path: str, module: str, data: bytes, tree: ast.Module | None = None) -> FileIndex:
    """The index of one file. `module` is its dotted name ("pkg.sub" for "pkg/sub/__init__.py" too), against which relative imports are made absolute.

    `tree` is the file's syntax tree where one exists already. Raises SourceError when the file is not Python.
    """
    if tree is None:
        tree = parse(data)
    builder = _Builder(path, module, data)
    try:
        return builder.build(tree)
    except RecursionError:
        raise SourceError(0, "the code is nested too deeply to be analysed") from None


class _Builder(StatementReader):
    """Reads a module."""

    def build(self, tree: ast.Module) -> FileIndex:
        self.block(tree.body)
        index = self.index
        index.functions[MODULE_SCOPE] = finish_function(
            self.module, FunctionIndex(MODULE_SCOPE, MODULE_SCOPE, MODULE_SCOPE, 1, 1, index.lines, 1), None, self.foreign
        )
        index.star_imports = tuple(self.stars)
        index.foreign_stores = frozenset(self.foreign_stores)
        index.assignments = {name: tuple(found) for name, found in self.assignments.items()}
        ambiguous_lambdas(self.lambdas, index, self.stop_at)
        if not self.string_annotations:
            foreign_annotations(self.annotated, index, self.stop_at)
        narrow_escapes(index)
        return index
