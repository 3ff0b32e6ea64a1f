"""Constructs that make AutoGraph leave a whole function unconverted: the conditions that need more than the node itself (TFG103, TFG106, TFG107, TFG109, TFG113).

Measured on TensorFlow 2.21; the pages of the rules quote what TensorFlow says.
"""

from __future__ import annotations

import ast
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


def options_calls_in_place(node: ast.For | ast.While | ast.AsyncFor) -> ast.Call | None:
    """The call of `set_loop_options` that is the first statement of the loop's body."""
    first = node.body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Call) and _called_name(first.value) == "set_loop_options":
        return first.value
    return None


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
    """TFG113: a signature annotation that reads a name bound only in an enclosing function and not read by the body.

    The regenerated function evaluates it where only the names that the body reads exist. String annotations are not evaluated.
    """
    for node, qualname, scope in annotated:
        enclosing = _enclosing_names(scope)
        if not enclosing:
            continue
        body: set[str] | None = None
        for annotation in _annotations(node):
            for part in ast.walk(annotation):
                if not isinstance(part, ast.Name) or part.id not in enclosing:
                    continue
                if body is None:
                    body = {n.id for statement in node.body for n in ast.walk(statement) if isinstance(n, ast.Name)}
                if part.id not in body:
                    end = part.end_lineno or part.lineno
                    stop_at(index.functions[qualname], "TFG113", part.lineno, part.col_offset, end, part.end_col_offset or 0, part.id)


def _enclosing_names(scope: Scope) -> set[str]:
    names: set[str] = set()
    outer = scope.outer
    while outer is not None and outer.qualname != MODULE_SCOPE:
        if not outer.is_class:
            names.update(outer.bindings)
        outer = outer.outer
    return names


def _annotations(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.expr]:
    args = node.args
    every = [*args.posonlyargs, *args.args, *args.kwonlyargs]
    every += [a for a in (args.vararg, args.kwarg) if a is not None]
    found = [a.annotation for a in every if a.annotation is not None]
    if node.returns is not None:
        found.append(node.returns)
    return found
