"""An `if` on a tensor that returns on one path and goes on on the other.

## What it does

Reports an `if` that a tensor decides when one of its paths returns and the other does not return *in the same block*:

- there is no return after it, or the other path ends with the function;
- it stands in a `try`, `with`, loop or another `if`, and the return that follows comes after that block;
- it is an `elif`: code after the whole chain belongs to the first `if` only, so `if a: return x` / `elif b: return y` / `return z` fails, while the same with a
  second `if` instead of `elif`, or with `else: return z`, works.

A return inside a loop over a tensor is TFG121, in a Python loop TFG123.

## Why it is a problem

A graph conditional must compute the same outputs on both branches, and "has returned" and the return value are outputs. AutoGraph moves the code that follows
`if c: ... return` into the `else` branch, but only within one block. Where no return ends up on the other branch, tracing fails:

    ValueError: the else branch must also have a return statement.

## Fix safety

There is no automatic fix. Give the `if` an `else` that returns, or compute a result variable in both branches and return it once at the end of the function. A
function that returns nothing can turn the guard around: `if not done: ...` instead of `if done: return`.

## References

- `tensorflow/python/autograph/converters/return_statements.py` (`ConditionalReturnRewriter`)
- `tensorflow/python/autograph/operators/control_flow.py` (`_verify_tf_cond_branch_vars`)
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tflint_graph.flow.lowering import Split, converted, lower
from tflint_graph.rule_api import CONVERTED, Claim, Facts, Frame, Rule, Severity, Staging

RULE = Rule(
    code="TFG122",
    name="return-on-some-paths",
    severity=Severity.ERROR,
    since="0.1.0",
    contexts=CONVERTED,
    triggers=frozenset({"Return"}),
)

BAD = """
import tensorflow as tf


@tf.function
def clip(x: tf.Tensor):
    with tf.name_scope("clip"):
        if x > 1.0:
            return tf.ones_like(x)
    return x


clip(tf.constant(3.0))
"""

GOOD = """
import tensorflow as tf


@tf.function
def clip(x: tf.Tensor):
    with tf.name_scope("clip"):
        if x > 1.0:
            return tf.ones_like(x)
        return x


clip(tf.constant(3.0))
"""


def check(node: cst.FunctionDef, facts: Facts) -> Iterator[Claim]:
    if not converted(node, facts):
        return
    for split in lower(node, facts).splits:
        if split.one_sided and not any(facts.staging(loop) is not Staging.UNKNOWN for loop in split.loops):
            yield Claim(split.node, _message(split, facts), because=(facts.value(split.node.test),))


def _message(split: Split, facts: Facts) -> str:
    test = facts.source(split.node.test)
    returns = split.returns()
    path = "when the test is false" if split.missing == "else" else "when the test is true"
    word = "elif" if _is_elif(split.node, facts) else "if"
    what = f"`{word} {test}` returns (line {facts.line(returns[0])})" if returns else f"`{word} {test}` holds a return"
    return f"{what}, but not {path}: an `if` on a tensor must `return` in both branches, or in neither (TensorFlow: ValueError). {_instead(split, facts)}"


def _is_elif(node: cst.If, facts: Facts) -> bool:
    parent = facts.parent(node)
    return isinstance(parent, cst.If) and parent.orelse is node


def _instead(split: Split, facts: Facts) -> str:
    returns = split.returns()
    if returns and all(one.value is None for one in returns):
        return "Turn the guard around: put the rest of the function under the opposite test."
    if _is_elif(split.node, facts):
        if _return_follows(split.node, facts):
            return "The final `return` counts only as the `else` of the first `if`. Add `else: return ...`, or use separate `if`s."
        return "Add `else: return ...`, or set a variable in every branch and return it at the end."
    frames = facts.frames(split.node)
    if frames and not frames[0].is_function:
        return f"What follows the {_block(frames[0])} around it does not count: return inside that block too, or set a variable and return it at the end."
    return "Return a value on both paths, or set a variable in both branches and return it at the end."


def _return_follows(node: cst.If, facts: Facts) -> bool:
    """Whether the block of an `elif` chain goes on with a return after the chain."""
    chain: cst.CSTNode = node
    for above in facts.ancestors(node):
        if isinstance(above, cst.IndentedBlock):
            following = above.body[next(k for k, one in enumerate(above.body) if one is chain) + 1 :]
            return any(isinstance(small, cst.Return) for one in following if isinstance(one, cst.SimpleStatementLine) for small in one.body)
        chain = above
    return False


def _block(frame: Frame) -> str:
    match frame.part:
        case "if" | "else":
            return "`if`"
        case "for" | "while":
            return "loop"
        case "with":
            return "`with` block"
    return "`try` statement"
