"""Two lambdas with the same parameters on one line, of which TensorFlow cannot tell which one it should convert.

## What it does

Reports lambdas that are handed to `tf.function`, a Dataset method or other converting code on their own, while another lambda with the same parameter list
starts on the same line (a nested one counts).

## Why it is a problem

AutoGraph finds the source of a lambda by its line number and its parameters. When two match it gives up (`Cause: could not parse the source code of
<function <lambda>>: found multiple definitions with identical signatures at the location`) and runs the lambda as plain Python: a conditional expression,
`and`, `or` or `not` on a tensor in it raises `OperatorNotAllowedInGraphError`. Without these the result is right, and TensorFlow warns.

Lambdas inside a converted function are converted together with it and are not affected.

## Fix safety

There is no automatic fix yet. Put each lambda on a line of its own, or name the parameters differently; neither changes what the program computes.

## References

- `tensorflow/python/autograph/pyct/parser.py`
"""

from __future__ import annotations

from collections.abc import Iterator

from tflint_graph.rule_api import TRACED, Claim, Facts, Rule, Severity, Stopper
from tflint_graph.rules.conversion._stopped import owner, stopped

RULE = Rule(
    code="TFG109",
    name="ambiguous-lambda",
    severity=Severity.ERROR,
    since="0.1.0",
    contexts=TRACED,
    triggers=frozenset({"Lambda"}),
)

BAD = """
import tensorflow as tf

numbers = tf.data.Dataset.range(6).map(lambda x: x + 1).map(lambda x: x if x > 3 else -x)
"""

GOOD = """
import tensorflow as tf

numbers = (
    tf.data.Dataset.range(6)
    .map(lambda x: x + 1)
    .map(lambda x: x if x > 3 else -x)
)
"""


_CONVERTED_ALONE = frozenset({"root", "dataset"})  # other takers call the lambda, or convert it together with the code around it


def check(node: Stopper, facts: Facts) -> Iterator[Claim]:
    if node is _reported(node.line, facts):
        yield from stopped(
            node, facts, "Another lambda with the same parameters on this line", "Put each lambda on a line of its own, or name the parameters differently."
        )


def _reported(line: int, facts: Facts) -> Stopper | None:
    """One finding per line: at the first lambda whose control flow then fails, or at the first that is converted on its own."""
    concerned = [
        (stopper, own)
        for function in facts.functions()
        if function.roles & _CONVERTED_ALONE
        for stopper in function.stoppers
        if stopper.code == RULE.code and stopper.line == line and (own := owner(stopper, facts))
    ]
    failing = [stopper for stopper, own in concerned if facts.tensor_flow_in(own) is not None]
    return failing[0] if failing else concerned[0][0] if concerned else None
