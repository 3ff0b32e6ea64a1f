"""Reading statements and definitions."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Sequence
from typing import Any

from tflint_graph.index.expressions import ExpressionReader
from tflint_graph.index.model import Assignment, ClassIndex, FunctionIndex, Parameter
from tflint_graph.index.scopes import Scope
from tflint_graph.index.stoppers import options_call_in_place, reads_a_name
from tflint_graph.index.symbols import FOREIGN, relative_module


class StatementReader(ExpressionReader):
    """Adds statements, defs and classes to the reading of expressions."""

    def block(self, statements: Sequence[ast.stmt]) -> None:
        handlers = _STATEMENTS
        kinds = self.fn.kinds
        for statement in statements:
            kind = type(statement)
            kinds.add(kind)
            handler = handlers.get(kind)
            if handler is not None:
                handler(self, statement)
            else:
                self.generic(statement)

    def generic(self, node: ast.AST) -> None:
        """Any other statement, clause or pattern: its expressions and blocks in order."""
        for field in node._fields:
            value = getattr(node, field, None)
            if isinstance(value, list):
                if value and isinstance(value[0], ast.stmt):
                    self.block(value)
                    continue
                for item in value:
                    if isinstance(item, ast.expr):
                        self.expression(item)
                    elif isinstance(item, ast.AST):
                        self.generic(item)
            elif isinstance(value, ast.expr):
                self.expression(value)
            elif isinstance(value, ast.AST):
                self.generic(value)

    def expression_statement(self, node: ast.Expr) -> None:
        value = node.value
        if type(value) is not ast.Constant:
            self.expression(value)

    def assign(self, node: ast.Assign) -> None:
        symbol = self.value(node.value)
        targets = node.targets
        if symbol is not None and symbol[0] == "const" and type(targets[0]) is ast.Subscript:
            self.environment_write(targets[0].value, targets[0].slice, symbol)
        for target in targets:
            if type(target) is ast.Name:
                self.bind(target.id, symbol)
                if self.scope is self.module:
                    self.assignments.setdefault(target.id, []).append(Assignment(node.lineno, node.end_lineno or node.lineno, symbol))
            else:
                if self.scope is self.module and type(target) in (ast.Tuple, ast.List):
                    for element in target.elts:  # type: ignore[attr-defined]
                        if type(element) is ast.Name:
                            self.assignments.setdefault(element.id, []).append(Assignment(node.lineno, node.end_lineno or node.lineno))
                self.target(target, symbol)

    def annotated_assign(self, node: ast.AnnAssign) -> None:
        if node.value is None:
            if type(node.target) is not ast.Name:
                self.target(node.target, None)
            return
        symbol = self.value(node.value)
        self.target(node.target, symbol)
        if type(node.target) is ast.Name and self.scope is self.module:
            self.assignments.setdefault(node.target.id, []).append(Assignment(node.lineno, node.end_lineno or node.lineno, symbol))

    def augmented(self, node: ast.AugAssign) -> None:
        self.expression(node.value)
        self.target(node.target, None)

    def delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            if type(target) is not ast.Name:
                self.target(target, None)

    def return_(self, node: ast.Return) -> None:
        value = node.value
        if value is None:
            return
        symbol = self.pair(value) if type(value) is ast.Tuple else self.value(value)
        if symbol is not None:
            self.fn.returns.append(symbol)

    def if_(self, node: ast.If) -> None:
        while True:
            self.whole(node.test)
            self.block(node.body)
            if len(node.orelse) == 1 and type(node.orelse[0]) is ast.If:
                node = node.orelse[0]
                continue
            if node.orelse:
                self.block(node.orelse)
            return

    def for_(self, node: ast.For) -> None:
        if node.orelse:
            self.stop("TFG101", node, node.iter, "for")
        self.target(node.target, ("loop", self.whole(node.iter)))
        self.loop_body(node)

    def while_(self, node: ast.While) -> None:
        if node.orelse:
            self.stop("TFG101", node, node.test, "while")
        self.expression(node.test)
        self.loop_body(node)

    def loop_body(self, node: ast.For | ast.While) -> None:
        placed = options_call_in_place(node)
        if placed is not None:
            self.in_place.add(id(placed))
        self.block(node.body)
        if node.orelse:
            self.block(node.orelse)

    def with_(self, node: ast.With) -> None:
        for item in node.items:
            symbol = self.value(item.context_expr)
            if item.optional_vars is not None:
                self.target(item.optional_vars, ("with", symbol))
        self.block(node.body)

    def try_(self, node: ast.Try) -> None:
        self.block(node.body)
        for handler in node.handlers:
            self.fn.kinds.add(ast.ExceptHandler)
            if handler.type is not None:
                self.expression(handler.type)
            if handler.name is not None:
                self.bind(handler.name, None)
            self.block(handler.body)
        if node.orelse:
            first = node.orelse[0]
            if type(first) is ast.If:
                self.stop("TFG108", first, first.test)
            self.block(node.orelse)
        self.block(node.finalbody)

    def match(self, node: ast.Match) -> None:
        self.stop("TFG104", node, node.subject)
        self.expression(node.subject)
        for case in node.cases:
            for part in ast.walk(case.pattern):
                name = getattr(part, "name", None) or getattr(part, "rest", None)
                if isinstance(name, str):
                    self.bind(name, None)
            self.generic(case.pattern)
            if case.guard is not None:
                self.expression(case.guard)
            self.block(case.body)

    def global_(self, node: ast.Global) -> None:
        self.fn.globals.update(node.names)

    def import_(self, node: ast.Import) -> None:
        for alias in node.names:
            if alias.asname:
                self.bind_import(alias.asname, alias.name)
            else:
                top = alias.name.partition(".")[0]
                self.bind_import(top, top)

    def import_from(self, node: ast.ImportFrom) -> None:
        source = relative_module(self.package, node.level, node.module)
        if source == "__future__":
            self.string_annotations |= any(alias.name == "annotations" for alias in node.names)
            return
        for alias in node.names:
            if alias.name == "*":
                self.stars.append(source)
            else:
                self.bind_import(alias.asname or alias.name, f"{source}.{alias.name}" if source else alias.name)

    def bind_import(self, name: str, dotted: str) -> None:
        if self.scope is self.module:
            self.index.imports.setdefault(name, dotted)
        if dotted.partition(".")[0] in FOREIGN:
            self.foreign[name] = dotted
        self.bind(name, ("import", dotted))

    def function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        decorators = tuple([self.quiet(d) for d in node.decorator_list])
        params = self.parameters(node.args, annotated=True)
        qualname = self.reserve(self.scope.prefix + node.name, node.lineno)
        owner = self.scope
        is_async = type(node) is ast.AsyncFunctionDef
        first_line = node.decorator_list[0].lineno if node.decorator_list else node.lineno
        entry = FunctionIndex(
            qualname,
            node.name,
            owner.qualname,
            first_line,
            node.lineno,
            node.end_lineno or node.lineno,
            self.columns.column(node.lineno, node.col_offset),
            params,
        )
        entry.decorators = decorators
        entry.is_async = is_async
        if ".<locals>." not in qualname:
            entry.statement_lines = statement_lines(node)
        if owner.is_class:
            entry.class_qualname = owner.qualname
            if owner.methods is not None and not _is_accessor(node):
                owner.methods[node.name] = qualname
        else:
            self.bind(node.name, ("def", qualname))
        inner = Scope(qualname, qualname + ".<locals>.", owner, entry.class_qualname, self.self_name(node, params) if owner.is_class else None)
        outer_fn, outer_scope = self.open(inner)
        self.block(node.body)
        self.close(inner, entry, outer_fn, outer_scope)
        if node.returns is not None or any(p.annotation is not None for p in params):
            self.annotated.append((node, qualname, inner))
        if is_async and self.fn is not self.module and reads_a_name(node):
            self.stop_at(self.fn, "TFG103", node.lineno, node.col_offset, node.lineno, node.col_offset + len("async def ") + len(node.name), node.name)

    def self_name(self, node: ast.FunctionDef | ast.AsyncFunctionDef, params: tuple[Parameter, ...]) -> str | None:
        """The name of the method's first parameter, where that is the object (for class methods, the class)."""
        for decorator in node.decorator_list:
            if type(decorator) is ast.Name and decorator.id == "staticmethod":
                return None
        return params[0].name if params and params[0].kind == "positional" else None

    def class_(self, node: ast.ClassDef) -> None:
        decorators = tuple([self.quiet(d) for d in node.decorator_list])
        bases = tuple([self.quiet(b) for b in node.bases])
        for keyword in node.keywords:
            self.expression(keyword.value)
        qualname = self.reserve(self.scope.prefix + node.name, node.lineno)
        self.bind(node.name, ("class", qualname))
        inner = Scope(qualname, qualname + ".", self.scope)
        inner.is_class = True
        fields = tuple(
            [(n.target.id, self.quiet(n.annotation), n.value is not None) for n in node.body if isinstance(n, ast.AnnAssign) and isinstance(n.target, ast.Name)]
        )
        inner.methods = {}
        outer = self.scope
        self.scope = inner
        self.block(node.body)
        self.scope = outer
        self.index.classes[qualname] = ClassIndex(
            qualname,
            node.name,
            outer.qualname,
            node.lineno,
            node.end_lineno or node.lineno,
            bases,
            decorators,
            inner.methods,
            {name: tuple(symbols) for name, symbols in inner.bindings.items()},
            {name: tuple(found) for name, found in inner.attributes.items()},
            fields,
        )


# By node type; tables of plain functions, since bound methods would make a cycle of every reader.
_STATEMENTS: dict[type, Callable[[StatementReader, Any], None]] = {
    ast.Expr: StatementReader.expression_statement,
    ast.Assign: StatementReader.assign,
    ast.AugAssign: StatementReader.augmented,
    ast.AnnAssign: StatementReader.annotated_assign,
    ast.Return: StatementReader.return_,
    ast.If: StatementReader.if_,
    ast.For: StatementReader.for_,
    ast.AsyncFor: StatementReader.for_,
    ast.While: StatementReader.while_,
    ast.With: StatementReader.with_,
    ast.AsyncWith: StatementReader.with_,
    ast.Try: StatementReader.try_,
    ast.FunctionDef: StatementReader.function,
    ast.AsyncFunctionDef: StatementReader.function,
    ast.ClassDef: StatementReader.class_,
    ast.Import: StatementReader.import_,
    ast.ImportFrom: StatementReader.import_from,
    ast.Global: StatementReader.global_,
    ast.Nonlocal: StatementReader.global_,
    ast.Delete: StatementReader.delete,
    ast.Match: StatementReader.match,
}
if sys.version_info >= (3, 11):
    _STATEMENTS[ast.TryStar] = StatementReader.try_


_BODIES: dict[type, tuple[str, ...]] = {
    ast.FunctionDef: ("body",), ast.AsyncFunctionDef: ("body",), ast.ClassDef: ("body",), ast.If: ("body", "orelse"), ast.For: ("body", "orelse"),
    ast.AsyncFor: ("body", "orelse"), ast.While: ("body", "orelse"), ast.With: ("body",), ast.AsyncWith: ("body",),
    ast.Try: ("body", "handlers", "orelse", "finalbody"), ast.ExceptHandler: ("body",), ast.Match: ("cases",), ast.match_case: ("body",),
}  # fmt: skip
if sys.version_info >= (3, 11):
    _BODIES[ast.TryStar] = ("body", "handlers", "orelse", "finalbody")


def statement_lines(node: ast.stmt) -> tuple[int, ...]:
    """The lines on which a statement and all statements in it start, in source order. Expressions hold no statements and are not visited."""
    found: list[int] = []
    stack: list[ast.AST] = [node]
    while stack:
        current = stack.pop()
        if isinstance(current, ast.stmt):
            found.append(current.lineno)
        for name in _BODIES.get(type(current), ()):
            stack.extend(getattr(current, name))
    found.sort()
    return tuple(found)


def _is_accessor(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """`@x.setter` and `@x.deleter`: not what the attribute gives when read."""
    return any(isinstance(d, ast.Attribute) and d.attr in ("setter", "deleter") for d in node.decorator_list)
