"""A local name that is annotated without a value and gets its value under a tensor's test.

## What it does

Reports `y: tf.Tensor` (without `= ...`) in a converted function when the name is then bound for the first time in a branch of an `if` on a tensor, or in a
loop over a tensor, and read after it.

## Why it is a problem

For AutoGraph's analysis the annotation defines the name, so it does not make room for it before the `if`; for Python it does not, and the generated code
reads a name that has no value:

    NameError: cannot access free variable 'y' where it is not associated with a value in enclosing scope

## Fix safety

Deleting the annotation is safe: Python does not evaluate it for a local name. Giving the name a value in the same line works too. The fix is not automatic yet.

## References

- `tensorflow/python/autograph/pyct/static_analysis/activity.py` (`visit_AnnAssign`)
- `tensorflow/python/autograph/converters/control_flow.py` (`_get_block_vars`)
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tflint_graph.rule_api import CONVERTED, Claim, Facts, Kind, NameFlow, Rule, Severity, Staging, Value
from tflint_graph.rules.conversion._stopped import condition, header
from tflint_graph.source.blocks import own_statements

RULE = Rule(
    code="TFG129",
    name="bare-annotation",
    severity=Severity.ERROR,
    since="0.1.0",
    contexts=CONVERTED,
    triggers=frozenset({"AnnAssign"}),
    supersedes=frozenset({"TFG124"}),
)

BAD = """
import tensorflow as tf


@tf.function
def label(score: tf.Tensor):
    result: tf.Tensor
    if score > 0.5:
        result = tf.constant(1)
    else:
        result = tf.constant(0)
    return result


label(tf.constant(0.7))
"""

GOOD = """
import tensorflow as tf


@tf.function
def label(score: tf.Tensor):
    if score > 0.5:
        result = tf.constant(1)
    else:
        result = tf.constant(0)
    return result


label(tf.constant(0.7))
"""


def check(node: cst.AnnAssign, facts: Facts) -> Iterator[Claim]:
    function = facts.function(node)
    if node.value is not None or not isinstance(node.target, cst.Name) or function is None or not function.converted:
        return
    name = node.target.value
    for block in own_statements(_body(function.node), (cst.If, cst.For, cst.While)):
        if facts.line(block) <= facts.line(node):
            continue
        flow, staging = _flow(block, name, facts)
        if flow is None:
            continue
        if staging is Staging.TENSOR and _is_unbound(flow.before) and flow.read_after:
            message = (
                f"`{name}` is annotated without a value, and `{header(block, facts)}`, which a tensor decides, is the first to bind it: AutoGraph takes the "
                f"annotation for a "
                f"definition (TensorFlow: NameError). Delete the annotation, or give `{name}` a value."
            )
            yield Claim(node, message, because=(facts.value(condition(block)),))
            return


def _body(function: cst.CSTNode) -> cst.CSTNode:
    return function.body if isinstance(function, cst.FunctionDef) else function


def _flow(block: cst.CSTNode, name: str, facts: Facts) -> tuple[NameFlow | None, Staging]:
    match block:
        case cst.If():
            branch = facts.branch(block)
            return (branch.names.get(name), branch.staging) if branch is not None else (None, Staging.UNKNOWN)
        case cst.For() | cst.While():
            loop = facts.loop(block)
            return (loop.names.get(name), loop.staging) if loop is not None else (None, Staging.UNKNOWN)
    return None, Staging.UNKNOWN


def _is_unbound(value: Value) -> bool:
    return value.kind is Kind.UNBOUND
