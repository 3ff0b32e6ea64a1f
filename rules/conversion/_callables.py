"""What the functions handed to `tf.cond` and `tf.switch_case` return."""

from __future__ import annotations

import libcst as cst

from tflint_graph.rule_api import Facts, Kind, Value

_BRANCHES = ("true_fn", "false_fn", "branch_fns", "default")


def results(node: cst.Call, facts: Facts) -> list[Value]:
    """The values of the branches of a call, in order; empty unless every branch is known."""
    call = facts.call(node)
    if call is None or call.has_star:
        return []
    handed = [*call.args[1:], *(call.keywords[name] for name in _BRANCHES if name in call.keywords)]
    flat = [inner for value in handed for inner in _members(value)]
    found = [_returned(value, facts) for value in flat]
    return [value for value in found if value is not None] if None not in found else []


def _members(value: Value) -> tuple[Value, ...]:
    """A function itself, or the functions in a list, tuple or dict."""
    if value.items is not None:
        return tuple(member for _, member in value.items)
    return value.elements if value.elements is not None else (value,)


def _returned(function: Value, facts: Facts) -> Value | None:
    if function.kind is not Kind.FUNCTION:
        return None
    for known in facts.functions():
        if function.ref is known.node or function.ref == known.function:
            if isinstance(known.node, cst.Lambda):
                return facts.value(known.node.body)
            return known.returns[0].value if len(known.returns) == 1 and not known.falls_through else known.returned
    return None
