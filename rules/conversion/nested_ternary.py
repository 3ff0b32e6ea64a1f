"""A conditional expression on a tensor inside another conditional expression.

## What it does

Reports a conditional expression (`a if t else b`) with a tensor test that stands anywhere inside another conditional expression: in an arm, in its test, or
deeper in a call argument, lambda or comprehension there. The outer test may be a Python value.

An inner conditional expression on a Python value is fine, and so are two side by side, `and`, `or` and `not` inside one, and nested `if` statements.

## Why it is a problem

AutoGraph replaces a conditional expression and does not look into its parts again, so the inner one stays plain Python and asks the tensor for its truth value:

    OperatorNotAllowedInGraphError: Using a symbolic `tf.Tensor` as a Python `bool` is not allowed.

## Fix safety

There is no automatic fix. Write `if`/`elif` statements, move the inner expression to a line of its own (which computes it always), or use `tf.where` or
`tf.cond`.

## References

- `tensorflow/python/autograph/converters/conditional_expressions.py` (`visit_IfExp`)
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tflint_graph.rule_api import CONVERTED, Claim, Facts, Rule, Severity, Staging

RULE = Rule(
    code="TFG128",
    name="nested-ternary",
    severity=Severity.ERROR,
    since="0.1.0",
    contexts=CONVERTED,
    triggers=frozenset({"IfExp"}),
)

BAD = """
import tensorflow as tf


@tf.function
def sign(x: tf.Tensor):
    return 1 if x > 0.0 else (-1 if x < 0.0 else 0)


sign(tf.constant(-2.5))
"""

GOOD = """
import tensorflow as tf


@tf.function
def sign(x: tf.Tensor):
    if x > 0.0:
        return 1
    else:
        return -1 if x < 0.0 else 0


sign(tf.constant(-2.5))
"""


def check(node: cst.IfExp, facts: Facts) -> Iterator[Claim]:
    function = facts.function(node)
    if function is None or not function.converted or facts.staging(node) is not Staging.TENSOR:
        return
    for above in facts.ancestors(node):
        if isinstance(above, (cst.BaseStatement, cst.BaseSmallStatement)):
            return
        if isinstance(above, cst.IfExp):
            break
    else:
        return
    message = (
        f"AutoGraph does not convert `{facts.source(node)}`, because it stands inside another conditional expression; its test "
        f"`{facts.source(node.test)}` is a tensor "
        "(TensorFlow: OperatorNotAllowedInGraphError). Write `if` statements, or use tf.where."
    )
    yield Claim(node, message, because=(facts.value(node.test),))
