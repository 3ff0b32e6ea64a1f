"""A Python loop that a tensor is supposed to end.

## What it does

Reports, in a loop that Python unrolls while tracing (`for` over a list, a Python `range`, `zip` ...; `while True`; `while k < 10` with a Python `k`):

- `break` or `return` in a branch that a tensor decides;
- a `while` whose test is a Python value before the first iteration and a tensor after it (`done = False; while not done: ... done = loss < 0.1`).

`continue` under a tensor's test is supported, and so are Python tests, and `break` in a loop over a tensor, `tf.range` or a dataset.

## Why it is a problem

How many times a Python loop is unrolled must be known while tracing. AutoGraph keeps "has left the loop" in a variable; once a tensor decides it, Python cannot
evaluate the loop's condition:

    NotImplementedError: break and return statements which depend on a TF condition are not supported in Python for loops.
    NotImplementedError: The condition of while loop started as non-Tensor, then changed to Tensor.
    TypeError: true_fn and false_fn arguments to tf.cond must have the same number, type, and overall structure (for `while 1`)

## Fix safety

There is no automatic fix. Make it a loop of the graph: `while tf.constant(True)`, `for k in tf.range(n)`, a flag that starts as `tf.constant(False)`. The
variables of a graph loop must then keep their dtypes and shapes, and `k` is a tensor.

## References

- `tensorflow/python/autograph/converters/break_statements.py`
- `tensorflow/python/autograph/operators/control_flow.py` (`_py_for_stmt`, `_py_while_stmt`)
- https://github.com/tensorflow/tensorflow/blob/master/tensorflow/python/autograph/g3doc/reference/limitations.md
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tflint_graph.flow.lowering import converted, in_graph_loop, lower
from tflint_graph.rule_api import CONVERTED, Claim, Facts, Frame, LoopFacts, Rule, Severity, Staging
from tflint_graph.rules.conversion._stopped import header
from tflint_graph.rules.conversion._structure import staged_dtype
from tflint_graph.source.blocks import Loop

RULE = Rule(
    code="TFG123",
    name="tensor-break-in-python-loop",
    severity=Severity.ERROR,
    since="0.1.0",
    contexts=CONVERTED,
    triggers=frozenset({"Break", "Return", "While"}),
)

BAD = """
import tensorflow as tf


@tf.function
def halve_until_small(x: tf.Tensor):
    while True:
        x = x / 2.0
        if x < 1.0:
            break
    return x


halve_until_small(tf.constant(40.0))
"""

GOOD = """
import tensorflow as tf


@tf.function
def halve_until_small(x: tf.Tensor):
    while tf.constant(True):
        x = x / 2.0
        if x < 1.0:
            break
    return x


halve_until_small(tf.constant(40.0))
"""


def check(node: cst.Break | cst.While | cst.FunctionDef, facts: Facts) -> Iterator[Claim]:
    if not converted(node, facts):
        return
    match node:
        case cst.Break():
            yield from _break(node, facts)
        case cst.While():
            yield from _test(node, facts)
        case cst.FunctionDef():
            yield from _returns(node, facts)


def _break(node: cst.Break, facts: Facts) -> Iterator[Claim]:
    decided: Frame | None = None
    for frame in facts.frames(node):
        match frame.node:
            case cst.For() | cst.While() as loop if frame.is_loop:
                if decided is not None and _unrolled(loop, facts):
                    yield _claim(node, decided.node, loop, facts)
                return
            case cst.If() if frame.staging is Staging.TENSOR and facts.branch(frame.node) is not None:
                decided = frame


def _returns(node: cst.FunctionDef, facts: Facts) -> Iterator[Claim]:
    """A return under a tensor's `if` in a Python loop, unless a graph loop around it makes it TFG121."""
    reported: list[Loop] = []
    for split in lower(node, facts).splits:
        loop = next((loop for loop in split.loops if _unrolled(loop, facts)), None)
        if loop is not None and not in_graph_loop(split, facts) and loop not in reported and split.returns():
            reported.append(loop)
            yield _claim(split.returns()[0], split.node, loop, facts)


def _unrolled(loop: Loop, facts: Facts) -> bool:
    """Python certainly runs the loop, and at least once as far as is known."""
    found = facts.loop(loop)
    if found is None or found.staging is not Staging.PYTHON:
        return False
    value = found.iterable
    if isinstance(loop, cst.While):
        return not (value.has_const and not value.const)
    return value.elements is None or len(value.elements) > 0


def _claim(node: cst.Break | cst.Return, decided: cst.CSTNode, loop: Loop, facts: Facts) -> Claim:
    test = decided.test if isinstance(decided, cst.If) else decided
    word = "break" if isinstance(node, cst.Break) else "return"
    message = (
        f"`{word}` under the tensor test `{facts.source(test)}` cannot end `{header(loop, facts)}`, which Python unrolls while tracing "
        f"(TensorFlow: {_error(word, loop)}). {_instead(loop, facts)}"
    )
    return Claim(node, message, because=(facts.value(test),))


def _error(word: str, loop: Loop) -> str:
    if isinstance(loop, cst.While) and isinstance(loop.test, cst.Integer):
        return "TypeError"
    return "NotImplementedError" if word == "break" else "ValueError or NotImplementedError"


def _instead(loop: Loop, facts: Facts) -> str:
    match loop:
        case cst.While(test=test) if facts.value(test).has_const:
            return "Write `while tf.constant(True):` to make it a loop of the graph."
        case cst.While():
            return "Make its test a tensor from the start, so that it is a loop of the graph."
        case cst.For(iter=cst.Call(func=cst.Name(value="range"))):
            return "Loop over `tf.range(...)` to make it a loop of the graph."
    return "Loop over a tensor (`tf.range`, `tf.stack`) to make it a loop of the graph, or compute under the test instead of leaving the loop."


def _test(node: cst.While, facts: Facts) -> Iterator[Claim]:
    loop = facts.loop(node)
    if loop is None or loop.staging is not Staging.PYTHON or loop.test_after is None or not loop.test_after.is_staged:
        return
    if loop.iterable.has_const and not loop.iterable.const:
        return
    message = (
        f"`while {facts.source(node.test)}` starts with a Python value, so Python unrolls it while tracing, and after one iteration its test is a tensor "
        f"(TensorFlow: NotImplementedError). {_start(node, loop, facts)}"
    )
    yield Claim(node, message, because=(loop.test_after,))


def _start(node: cst.While, loop: LoopFacts, facts: Facts) -> str:
    """Which name of the test to start as a tensor."""
    for name in loop.names.values():
        if not name.assigned_in_body or not name.before.has_const or not name.first.is_staged or not facts.reads_of(name.name, node.test):
            continue
        start, own = name.before.const, staged_dtype(name.before)
        if isinstance(start, (bool, int, float)):
            dtype = "" if name.first.dtype in (None, own) else f", tf.{name.first.dtype}"
            shown = f"{start:g}" if isinstance(start, float) and abs(start) >= 1e5 else repr(start)
            return f"Start `{name.name}` as `tf.constant({shown}{dtype})`."
    return "Start with a tensor, for example `tf.constant(...)`."
