"""Control flow that needs a Python value but gets a tensor, in code that is traced and not converted: shared by the rules about such code.

Outside of converted code Python itself decides an `if` or a loop and asks the tensor: `Tensor.__bool__`, `__iter__`, `__len__`, `__index__`, `__int__` and
`__float__` of a symbolic tensor raise (`tensorflow.python.framework.tensor`).
"""

from __future__ import annotations

from typing import NamedTuple

import libcst as cst

from tflint_graph.rule_api import Facts, FunctionFacts, Staging, Unconverted, Value
from tflint_graph.rules.conversion._stopped import header

Suspect = cst.If | cst.While | cst.For | cst.IfExp | cst.BooleanOperation | cst.UnaryOperation | cst.Call

_CONVERSIONS = {"builtins.range": "range", "builtins.len": "len", "builtins.int": "int", "builtins.float": "float"}


def may_be_converted(function: FunctionFacts, facts: Facts) -> bool:
    """True where a decorator that is not known stands on the function or one around it: it may hand the function to AutoGraph itself."""
    places = [function.node, *facts.ancestors(function.node)]
    around = [facts.function(node) for node in places if isinstance(node, (cst.FunctionDef, cst.Lambda))]
    return any(outer is not None and outer.unconverted is not Unconverted.WRAPPED and outer.decorators & {"project", "unknown"} for outer in around)


class Trouble(NamedTuple):
    """Python asks `value` for something that a symbolic tensor cannot give. `what` is the code; `error` the class that TensorFlow or Python raises."""

    what: str
    error: str
    value: Value


def trouble(node: Suspect, facts: Facts) -> Trouble | None:
    """What is wrong with `node`, as long as no node around it says the same."""
    if isinstance(node, cst.Call):
        return _call(node, facts)
    if isinstance(node, cst.For):
        return _for(node, facts)
    if isinstance(node, cst.UnaryOperation) and not isinstance(node.operator, cst.Not):
        return None
    if isinstance(node, (cst.If, cst.While, cst.IfExp)):
        value = facts.value(node.test)
        certain = facts.staging(node) is Staging.TENSOR
    else:
        # `a and b` asks only `a` for its truth; `b` is the result as it is.
        value = facts.value(node.left if isinstance(node, cst.BooleanOperation) else node.expression)
        certain = value.is_staged
    if not certain or not _is_graph_value(value) or _asked_already(node, facts):
        return None
    return Trouble(header(node, facts), "OperatorNotAllowedInGraphError", value)


def _is_graph_value(value: Value) -> bool:
    """A tensor of the graph or a variable. Eager tensors keep their truth value; ragged and sparse ones are always true."""
    return value.is_staged and not value.eager and value.ragged is None


def _asked_already(node: cst.CSTNode, facts: Facts) -> bool:
    """True for the `x > 0 and y` of `if x > 0 and y:`, and for operands of a larger condition: one fault, reported once."""
    inner = node
    for outer in facts.ancestors(node):
        if isinstance(outer, (cst.If, cst.While, cst.IfExp)):
            return outer.test is inner and facts.staging(outer) is Staging.TENSOR
        if isinstance(outer, cst.BooleanOperation):
            if outer.left is inner and facts.value(inner).is_staged:
                return True
        elif isinstance(outer, cst.UnaryOperation):
            if isinstance(outer.operator, cst.Not) and facts.value(inner).is_staged:
                return True
        else:
            return False
        inner = outer
    return False


def _for(node: cst.For, facts: Facts) -> Trouble | None:
    value = facts.value(node.iter)
    if facts.staging(node) is not Staging.TENSOR or not _is_graph_value(value):
        return None
    if isinstance(node.iter, cst.Call) and _call(node.iter, facts) is not None:
        return None  # `range(n)` itself is reported
    return Trouble(header(node, facts), "OperatorNotAllowedInGraphError", value)


def _call(node: cst.Call, facts: Facts) -> Trouble | None:
    call = facts.call(node)
    name = _CONVERSIONS.get(call.dotted or "") if call is not None else None
    if call is None or name is None:
        return None
    for value in call.args:
        if _is_graph_value(value):
            return Trouble(str(facts.source(node)), "AttributeError" if name in ("int", "float") and not value.is_tensor else "TypeError", value)
    return None
