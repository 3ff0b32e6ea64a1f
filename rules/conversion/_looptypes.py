"""A graph loop whose variable changes its dtype, structure or shape from one iteration to the next."""

from __future__ import annotations

import libcst as cst

from tflint_graph.rule_api import Claim, Facts, Kind, LoopFacts, NameFlow, Staging, Value
from tflint_graph.rules.conversion._stopped import condition, header
from tflint_graph.rules.conversion._structure import difference, is_leaf, shape_grows, staged_dtype
from tflint_graph.source.blocks import Loop, own_statements

_OPERATORS = (cst.Add, cst.Subtract, cst.Multiply, cst.Divide, cst.Modulo, cst.FloorDivide)
_OPERATING = (cst.AddAssign, cst.SubtractAssign, cst.MultiplyAssign, cst.DivideAssign, cst.ModuloAssign, cst.FloorDivideAssign)
_INTEGERS = ("int32", "int64", "uint32", "uint64")


def changed(node: Loop, facts: Facts) -> Claim | None:
    """The claim about the first name of the loop that TensorFlow refuses."""
    loop = facts.loop(node)
    if loop is None or loop.staging not in (Staging.TENSOR, Staging.DATASET):
        return None
    for name in loop.names.values():
        if name.assigned_in_body and (name.read_after or name.carried or "." in name.name):
            found = _arithmetic(node, name, facts) or _rebound(node, name, loop, facts) or _reassigned(node, name, facts)
            if found is not None:
                return found
    return None


def _arithmetic(node: Loop, name: NameFlow, facts: Facts) -> Claim | None:
    """`name = name + e` or `name += e` where `e` has another dtype than `name` had before the loop."""
    start = staged_dtype(name.before)
    if start is None or not name.name.replace(".", "").replace("_", "").isalnum():
        return None
    for statement in own_statements(node.body, (cst.AugAssign, cst.Assign)):
        other = _operand(statement, name.name, facts)
        if other is None:
            continue
        operand, divides = other
        result = _result(start, facts.value(operand), divides=divides)
        if result is not None:
            message = (
                f"`{name.name}` is {start} before the loop `{header(node, facts)}`, and `{facts.source(statement)}` {result}: the variable of a graph loop "
                f"keeps its dtype "
                f"(TensorFlow: TypeError). {_start(start, facts.value(operand), divides=divides)}"
            )
            return Claim(statement, message, because=(facts.value(operand), facts.value(condition(node))))
    return None


def _operand(statement: cst.CSTNode, name: str, facts: Facts) -> tuple[cst.BaseExpression, bool] | None:
    """What an assignment combines the name with by an arithmetic operator, and whether it divides by it."""
    match statement:
        case cst.AugAssign(target=target, operator=operator, value=value) if isinstance(operator, _OPERATING) and str(facts.source(target)) == name:
            return value, isinstance(operator, cst.DivideAssign)
        case cst.Assign(targets=[cst.AssignTarget(target=target)], value=cst.BinaryOperation(left=left, operator=operator, right=right)) if (
            isinstance(operator, _OPERATORS) and str(facts.source(target)) == name
        ):
            if str(facts.source(left)) == name:
                return right, isinstance(operator, cst.Divide)
            if str(facts.source(right)) == name:
                return left, isinstance(operator, cst.Divide)
    return None


def _result(start: str, operand: Value, *, divides: bool) -> str | None:
    """In words, what is wrong with combining a tensor of dtype `start` with the operand; None if nothing is, or nobody knows."""
    if operand.is_python and operand.pytype in ("int", "bool", "float"):
        if operand.pytype == "float" and start in _INTEGERS:
            return "combines it with a float"
    else:
        other = staged_dtype(operand)
        if other is None or not is_leaf(operand):
            return None
        if other != start:
            return f"combines it with {other}"
    return "makes it float64" if divides and start in _INTEGERS else None


def _start(start: str, operand: Value, *, divides: bool) -> str:
    dtype = staged_dtype(operand)
    if start in _INTEGERS and (divides or dtype == "float32" or operand.pytype == "float"):
        return "Start with a float (`0.0`), or use `//`." if divides else "Start with a float (`0.0`)."
    return f"Start with `tf.constant(..., tf.{dtype})`, or cast with `tf.cast`." if dtype else "Start with the right dtype."


def _rebound(node: Loop, name: NameFlow, loop: LoopFacts, facts: Facts) -> Claim | None:
    """The name ends an iteration with another structure, dtype or shape."""
    after = name.body if name.first.is_unknown else name.first
    if name.before.is_unknown or after.is_unknown or name.before.is_none:
        return None
    because = (after, facts.value(condition(node)))
    found = difference(name.before, after)
    if found is not None:
        message = (
            f"`{name.name}` is {_words(found[0])} before the loop `{header(node, facts)}` and {_words(found[1])} after an iteration: the variable of a "
            f"graph loop keeps its type "
            f"(TensorFlow: TypeError). {_instead(name)}"
        )
        return Claim(node, message, because=because)
    if loop.invariants or _by_dataset(node, loop):
        return None
    shapes = shape_grows(name.before, after)
    if shapes is None:
        return None
    message = (
        f"`{name.name}` has the shape {shapes[0]} before the loop `{header(node, facts)}` and {shapes[1]} after an iteration: the variable of a graph "
        f"loop keeps its static shape "
        f"(TensorFlow: ValueError). Collect with a tf.TensorArray, or call tf.autograph.experimental.set_loop_options(shape_invariants=...) first in the loop."
    )
    return Claim(node, message, because=because)


def _words(words: str) -> str:
    return words if " " in words else f"of dtype {words}"


def _instead(name: NameFlow) -> str:
    if name.before.is_container:
        return "Collect with a tf.TensorArray, or keep the structure."
    return "Start with the right type, or cast with `tf.cast`."


def _by_dataset(node: Loop, loop: LoopFacts) -> bool:
    """Loops over a dataset itself (not an iterator) are a Dataset.reduce, which lets shapes change."""
    return loop.staging is Staging.DATASET and loop.iterable.kind is not Kind.ITERATOR


def _reassigned(node: Loop, name: NameFlow, facts: Facts) -> Claim | None:
    """`v = v.assign(...)` or `v = v[i].assign(...)`: after it `v` is no variable any more, and the graph loop carries a tensor."""
    if name.before.kind is not Kind.VARIABLE:
        return None
    for statement in own_statements(node.body, cst.Assign):
        match statement:
            case cst.Assign(
                targets=[cst.AssignTarget(target=cst.Name(value=target))], value=cst.Call(func=cst.Attribute(value=holder, attr=cst.Name(value=method)))
            ) if target == name.name and method.startswith("assign") and facts.reads_of(target, holder):
                message = (
                    f"`{facts.source(statement)}` makes the variable `{target}` a variable of the loop `{header(node, facts)}`, where it is a plain tensor "
                    f"without `{method}` "
                    f"(TensorFlow: AttributeError). Call `{facts.source(holder)}.{method}(...)` without assigning its result."
                )
                return Claim(statement, message, because=(name.before,))
    return None
