"""Constructs that make AutoGraph leave a whole function unconverted: the conditions that need more than the node itself (TFG103, TFG106, TFG107, TFG109,
TFG113).

Measured on TensorFlow 2.21; the pages of the rules quote what TensorFlow says.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterable
from typing import Any

from tflint_graph.index.model import MODULE_SCOPE, FileIndex, FunctionIndex
from tflint_graph.index.scopes import Scope

_StopAt = Callable[[FunctionIndex, str, int, int, int, int, str], None]


def is_mangled(attribute: str) -> bool:
    """`__x`, which Python mangles inside classes; AutoGraph refuses it anywhere, but not `__x__`."""
    return attribute.startswith("__") and not attribute.endswith("__")


def reads_a_name(node: ast.AsyncFunctionDef | ast.FunctionDef) -> bool:
    """An async def without parameters whose body reads no name does not disturb the conversion."""
    args = node.args
    if args.args or args.posonlyargs or args.kwonlyargs or args.vararg or args.kwarg:
        return True
    return any(isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load) for statement in node.body for part in ast.walk(statement))


def options_call_in_place(node: ast.For | ast.While | ast.AsyncFor) -> ast.Call | None:
    """The call of `set_loop_options` that AutoGraph accepts in this loop: no assignment and no expression statement comes before it.

    `with`, `if` and `try` around it do not count (tensorflow/python/autograph/converters/directives.py), but AutoGraph removes the call, and a block that
    holds nothing else would be left empty.
    """
    waiting: list[tuple[ast.stmt, bool]] = [(statement, True) for statement in reversed(node.body)]
    while waiting:
        statement, may_go = waiting.pop()
        if isinstance(statement, (ast.Assign, ast.AugAssign)):
            return None
        if isinstance(statement, ast.Expr):
            call = statement.value
            return call if may_go and isinstance(call, ast.Call) and _called_name(call) == "set_loop_options" else None
        if isinstance(statement, (ast.For, ast.While, ast.AsyncFor)):
            continue
        for block in reversed(_blocks(statement)):
            waiting.extend((inner, len(block) > 1) for inner in reversed(block))
    return None


def _blocks(statement: ast.stmt) -> list[list[ast.stmt]]:
    blocks = [getattr(statement, field, []) for field in ("body", "orelse", "finalbody")]
    handlers = [handler.body for handler in getattr(statement, "handlers", [])]
    return [blocks[0], *handlers, blocks[1], blocks[2]]


def misplaced_loop_options(node: ast.Call, in_place: set[int]) -> bool:
    """A call of `tf.autograph.experimental.set_loop_options` anywhere else. `in_place` holds the ids of those that are right."""
    return id(node) not in in_place


def _called_name(node: ast.Call) -> str:
    func = node.func
    return func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""


def ambiguous_lambdas(lambdas: Iterable[tuple[ast.Lambda, str]], index: FileIndex, stop_at: _StopAt) -> None:
    """TFG109: lambdas with equal parameter lists that start on one line. It stops each only where it is converted on its own, which linking decides."""
    groups: dict[tuple[int, str], list[tuple[ast.Lambda, str]]] = {}
    by_line: dict[int, int] = {}
    for node, _ in lambdas:
        by_line[node.lineno] = by_line.get(node.lineno, 0) + 1
    for node, qualname in lambdas:
        if by_line[node.lineno] > 1:
            groups.setdefault((node.lineno, _parameter_list(node.args)), []).append((node, qualname))
    for group in groups.values():
        if len(group) > 1:
            for node, qualname in group:
                end = node.end_lineno or node.lineno
                stop_at(index.functions[qualname], "TFG109", node.lineno, node.col_offset, end, node.end_col_offset or 0, "")


def _parameter_list(args: ast.arguments) -> str:
    """Names and order, as AutoGraph compares them; defaults do not count."""
    parts = [a.arg for a in args.posonlyargs] + [a.arg for a in args.args]
    parts += ["*" + args.vararg.arg if args.vararg else "", *[a.arg for a in args.kwonlyargs], "**" + args.kwarg.arg if args.kwarg else ""]
    return ",".join(parts)


def foreign_annotations(annotated: Iterable[tuple[Any, str, Scope]], index: FileIndex, stop_at: _StopAt) -> None:
    """TFG113: a signature annotation that reads a name bound only in an enclosing function and not read by the body, or only in the class around it.

    The regenerated function evaluates it where only the module's names and the free variables of the body exist. String annotations are not evaluated.
    """
    for node, qualname, scope in annotated:
        captured, of_class = _enclosing_names(scope)
        if not captured and not of_class:
            continue
        body: set[str] | None = None
        for annotation in _annotations(node):
            for part in ast.walk(annotation):
                if not isinstance(part, ast.Name) or part.id not in captured | of_class:
                    continue
                if body is None:
                    body = {n.id for statement in node.body for n in ast.walk(statement) if isinstance(n, ast.Name)}
                if part.id in of_class or part.id not in body:
                    end = part.end_lineno or part.lineno
                    stop_at(index.functions[qualname], "TFG113", part.lineno, part.col_offset, end, part.end_col_offset or 0, part.id)


def _enclosing_names(scope: Scope) -> tuple[set[str], set[str]]:
    """What enclosing functions bind, and what the class directly around a method binds, without names that the module has, too."""
    captured: set[str] = set()
    of_class: set[str] = set()
    outer = scope.outer
    if outer is not None and outer.is_class:
        of_class.update(outer.bindings)
    while outer is not None and outer.qualname != MODULE_SCOPE:
        if not outer.is_class:
            captured.update(outer.bindings)
        outer = outer.outer
    known = set(dir(builtins)) | (set(outer.bindings) if outer is not None else set())
    return captured - known, of_class - known


def _annotations(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.expr]:
    args = node.args
    every = [*args.posonlyargs, *args.args, *args.kwonlyargs]
    every += [a for a in (args.vararg, args.kwarg) if a is not None]
    found = [a.annotation for a in every if a.annotation is not None]
    if node.returns is not None:
        found.append(node.returns)
    return found
