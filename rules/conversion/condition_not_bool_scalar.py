"""A tensor as a condition that is not a boolean scalar.

## What it does

Reports a tensor test (of `if`, `while`, a conditional expression; an operand of `not`, `and` or `or`) whose dtype is certainly not bool: `i % 2`, `n - 1`,
`tf.size(x)`, `tf.reduce_sum(mask)`, an int tensor in `x or default`. Also the test of an `if`, `while` or conditional expression that certainly has more than
one element.

Comparisons are boolean and fine, and so is a boolean tensor with one element.

## Why it is a problem

Eager mode takes any number as a condition, as Python does. A graph conditional needs a `tf.bool` scalar:

    ValueError: condition of if statement expected to be `tf.bool` scalar, got Tensor(...)
    TypeError: Input 'x' of 'LogicalNot' Op has type int32 that does not match expected type of bool.
    InvalidArgumentError: Input 'pred' passed int32 expected bool (conditional expressions and `or`, when the graph runs)
    TypeError: true_fn and false_fn arguments to tf.cond must have the same number, type, and overall structure (`n and n > 0`)

## Fix safety

There is no automatic fix yet. Append `!= 0`, or cast with `tf.cast(x, tf.bool)`; reduce a vector with `tf.reduce_any` or `tf.reduce_all`. Where `or` chooses a
value, as in `value = x or 1.0`, write `tf.where(x != 0, x, 1.0)`.

## References

- `tensorflow/python/autograph/operators/control_flow.py` (`_verify_tf_condition`)
- `tensorflow/python/autograph/operators/logical.py`, `conditional_expressions.py`
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import libcst as cst

from tflint_graph.rule_api import CONVERTED, Claim, Facts, Kind, Rule, Severity, Staging, Value
from tflint_graph.rules.conversion._structure import staged_dtype

RULE = Rule(
    code="TFG127",
    name="condition-not-bool-scalar",
    severity=Severity.ERROR,
    since="0.1.0",
    contexts=CONVERTED,
    triggers=frozenset({"If", "While", "IfExp", "BoolOp", "Not"}),
)

BAD = """
import tensorflow as tf


@tf.function
def odd_sum(n: tf.Tensor):
    total = 0
    for i in tf.range(n):
        if i % 2:
            total += i
    return total


odd_sum(tf.constant(5))
"""

GOOD = """
import tensorflow as tf


@tf.function
def odd_sum(n: tf.Tensor):
    total = 0
    for i in tf.range(n):
        if i % 2 != 0:
            total += i
    return total


odd_sum(tf.constant(5))
"""


def check(node: cst.If | cst.While | cst.IfExp | cst.BooleanOperation | cst.UnaryOperation, facts: Facts) -> Iterator[Claim]:
    function = facts.function(node)
    if function is None or not function.converted:
        return
    match node:
        case cst.If(test=test):
            yield from _test(test, "an `if`", "ValueError", facts, vectors=True)
        case cst.While(test=test):
            yield from _test(test, "a `while`", "ValueError", facts, vectors=True)
        case cst.IfExp(test=test) if not _inside_ternary(node, facts):
            yield from _test(test, "a conditional expression", "InvalidArgumentError", facts, vectors=True)
        case cst.UnaryOperation(operator=cst.Not(), expression=operand):
            yield from _test(operand, "`not`", "TypeError", facts)
        case cst.BooleanOperation(left=left, right=right):
            word = "and" if isinstance(node.operator, cst.And) else "or"
            claims = list(_test(left, f"`{word}`", "InvalidArgumentError or TypeError", facts, instead=_choice(node, facts)))
            if not claims and _is_condition(facts.value(left)) and facts.staging(node) is Staging.TENSOR:
                claims = list(_test(right, f"`{word}`", "TypeError", facts))
            yield from claims[:1]


def _inside_ternary(node: cst.IfExp, facts: Facts) -> bool:
    """AutoGraph does not convert a conditional expression inside another one (TFG128)."""
    return any(isinstance(above, cst.IfExp) for above in facts.ancestors(node) if isinstance(above, cst.BaseExpression))


def _is_condition(value: Value) -> bool:
    return value.kind in (Kind.TENSOR, Kind.VARIABLE) and value.dtype == "bool"


def _test(test: cst.BaseExpression, where: str, error: str, facts: Facts, *, vectors: bool = False, instead: str = "") -> Iterator[Claim]:
    value = facts.value(test)
    if value.kind not in (Kind.TENSOR, Kind.VARIABLE) or value.ragged == "sparse" or _claimed_inside(test, facts):
        return
    if value.dtype is not None and value.dtype != "bool":
        message = (
            f"The condition `{facts.source(test)}` of {where} is {_article(value.dtype)} {value.dtype} tensor, and TensorFlow needs a boolean "
            f"(TensorFlow: {error}). "
            f"{instead or _instead(test, value, facts)}"
        )
        yield Claim(test, message, because=(value,))
    elif (
        vectors
        and value.shape is not None
        and all(isinstance(dim, int) for dim in value.shape)
        and math.prod(dim for dim in value.shape if isinstance(dim, int)) > 1
    ):
        message = (
            f"The condition `{facts.source(test)}` of {where} has the shape {value.shape}, and TensorFlow needs a single boolean (TensorFlow: {error}). "
            "Reduce it with `tf.reduce_any` or `tf.reduce_all`."
        )
        yield Claim(test, message, because=(value,))


def _article(dtype: str) -> str:
    return "an" if dtype.startswith("i") else "a"


def _claimed_inside(test: cst.BaseExpression, facts: Facts) -> bool:
    """True for a `not`, `and` or `or`: its operands are looked at on their own."""
    match test:
        case cst.UnaryOperation(operator=cst.Not()):
            return facts.value(test.expression).dtype not in (None, "bool")
        case cst.BooleanOperation():
            left, right = facts.value(test.left), facts.value(test.right)
            return (
                facts.staging(test) is Staging.TENSOR and any(side.is_staged and side.dtype not in (None, "bool") for side in (left, right)) and left.is_staged
            )
    return False


def _choice(node: cst.BooleanOperation, facts: Facts) -> str:
    """What to write for an `or` or `and` that chooses between two values; "" where it is a test, or compares in its second operand."""
    other, chosen = facts.value(node.right), facts.value(node.left)
    if _is_a_test(node, facts) or _is_condition(other) or other.pytype == "bool" or chosen.dtype is None:
        return ""
    left, right = str(facts.source(node.left)), str(facts.source(node.right))
    if not isinstance(node.left, (cst.Name, cst.Attribute, cst.Subscript, cst.Call)) or "..." in left + right or other.is_none:
        return "Use tf.where."
    test = f"tf.strings.length({left}) > 0" if chosen.dtype == "string" else f"{left} != 0"
    wanted = staged_dtype(other)
    if wanted not in (None, chosen.dtype) and not (other.is_python and other.pytype == "int") and chosen.dtype != "string":
        if other.is_python and chosen.dtype.startswith(("float", "bfloat")):
            wanted = chosen.dtype  # a Python float takes the tensor's dtype
        left = left if wanted == chosen.dtype else f"tf.cast({left}, tf.{wanted})"
    arms = f"{right}, {left}" if isinstance(node.operator, cst.And) else f"{left}, {right}"
    return f"Use `tf.where({test}, {arms})`."


def _is_a_test(node: cst.CSTNode, facts: Facts) -> bool:
    """Whether only the truth of an expression matters, not its value."""
    above = facts.parent(node)
    match above:
        case cst.If() | cst.While() | cst.IfExp() | cst.Assert() | cst.CompIf():
            return above.test is node
        case cst.UnaryOperation(operator=cst.Not()):
            return True
        case cst.BooleanOperation():
            return _is_a_test(above, facts)
    return False


def _instead(test: cst.BaseExpression, value: Value, facts: Facts) -> str:
    if value.dtype == "string":
        return "Compare it, for example with `tf.strings.length(...) > 0`."
    source = facts.source(test)
    return f"Write `{source} != 0`." if isinstance(test, (cst.Name, cst.Call, cst.Attribute, cst.Subscript, cst.BinaryOperation)) else "Compare it with 0."
