"""A value whose type differs between the branches of a graph conditional, or changes in a graph loop.

## What it does

Reports

- an `if` on a tensor, a conditional expression with a tensor test, or the functions given to `tf.cond` and `tf.switch_case`, when the two results certainly
  differ in dtype or structure: `0` and `1.5`, `0` and `tf.argmax(...)`, a list and a tuple, lists of different length, dicts with different keys, a ragged
  and a dense tensor; also the values of two `return`s;
- a loop over a tensor or dataset whose variable changes its dtype or structure: `total = 0` and then `total += loss`, `n / 2` of an int, a list that grows;
- a loop over a tensor or iterator whose variable changes its static shape (`t = tf.concat([t, ...], 0)`, `x = x[1:]`), without
  `tf.autograph.experimental.set_loop_options(shape_invariants=...)`;
- a variable reassigned by `v = v.assign(...)` in such a loop, which is a plain tensor from then on;
- an int64 index or size for a `tf.TensorArray`; a Python number that became a tensor under a tensor's `if` and is then the number of parts in `tf.split`.

Different shapes in the two *branches* are fine, and so is `0.0` next to a float32 tensor: a Python int counts as int32 (int64 beyond its range), a float as
float32, a bool as bool, a string as string. NumPy values keep their own dtype: `np.zeros(3)` and `np.sqrt(2.0)` are float64.

## Why it is a problem

The outputs of a graph conditional and the variables of a graph loop have one dtype and one structure, and a loop variable one static shape. TensorFlow converts
nothing silently:

    TypeError: 'y' has dtype int32 in the main branch, but dtype float32 in the else branch
    TypeError: 'y' must have the same nested structure in the main and else branches
    TypeError: Input 'y' of 'AddV2' Op has type float32 that does not match type int32 of argument 'x'.
    ValueError: 'x' has shape (0,) before the loop, but shape (1,) after one iteration.

## Fix safety

There is no automatic fix. Start with the right type (`0.0`, `tf.constant(0, tf.int64)`, `tf.zeros([], v.dtype)`), cast with `tf.cast`, collect with a
`tf.TensorArray`.

## References

- `tensorflow/python/autograph/operators/control_flow.py` (`verify_single_cond_var`, `verify_tf_loop_vars`)
- `tensorflow/python/autograph/operators/conditional_expressions.py`
- `tensorflow/python/ops/tensor_array_ops.py`
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tflint_graph.flow.lowering import Split, converted, lower
from tflint_graph.rule_api import CONVERTED, Claim, Facts, Kind, NameFlow, Rule, Severity, Staging, Value
from tflint_graph.rules.conversion._callables import results
from tflint_graph.rules.conversion._iterations import bound_before
from tflint_graph.rules.conversion._looptypes import changed
from tflint_graph.rules.conversion._structure import difference, is_leaf, staged_dtype

RULE = Rule(
    code="TFG126",
    name="type-changes-in-tensor-flow",
    severity=Severity.ERROR,
    since="0.1.0",
    contexts=CONVERTED,
    triggers=frozenset({"If", "For", "While", "IfExp", "call:cond", "call:switch_case", "call:write", "call:read", "call:TensorArray", "call:split"}),
)

BAD = """
import tensorflow as tf


@tf.function
def total_loss(losses: tf.Tensor):
    total = 0
    for loss in losses:
        total += loss
    return total


total_loss(tf.constant([0.5, 1.5]))
"""

GOOD = """
import tensorflow as tf


@tf.function
def total_loss(losses: tf.Tensor):
    total = 0.0
    for loss in losses:
        total += loss
    return total


total_loss(tf.constant([0.5, 1.5]))
"""


def _instead(found: tuple[str, str]) -> str:
    if any(" " in words for words in found):
        return "Give both the same structure."
    return "Write `0.0` instead of `0`, or cast with `tf.cast`." if "float32" in found else "Cast with `tf.cast`, or start with `tf.constant(..., dtype)`."


def check(node: cst.If | cst.For | cst.While | cst.IfExp | cst.Call | cst.FunctionDef, facts: Facts) -> Iterator[Claim]:
    if not converted(node, facts):
        return
    match node:
        case cst.If():
            yield from _branch(node, facts)
        case cst.IfExp():
            yield from _ternary(node, facts)
        case cst.For() | cst.While():
            found = changed(node, facts)
            if found is not None:
                yield found
        case cst.FunctionDef():
            for split in lower(node, facts).splits:
                yield from _returned(split, facts)
        case cst.Call():
            yield from _call(node, facts)


def _branch(node: cst.If, facts: Facts) -> Iterator[Claim]:
    branch = facts.branch(node)
    if branch is None or branch.staging is not Staging.TENSOR or branch.body_ends or branch.orelse_ends:
        return
    for name in branch.names.values():
        if name.name == "return" or not (name.read_after or "." in name.name or "[" in name.name):
            continue
        found = difference(*_ends(node, name, facts))
        if found is not None:
            message = (
                f"`{name.name}` is {_kind(found[0])} when `{facts.source(node.test)}` holds and {_kind(found[1])} when not: that test is a tensor, and both "
                f"branches of a graph conditional must yield one type (TensorFlow: TypeError). {_instead(found)}"
            )
            yield Claim(node, message, because=(branch.test, name.body, name.orelse))
            return


def _ends(node: cst.If, name: NameFlow, facts: Facts) -> tuple[Value, Value]:
    """The values at the ends of the branches; where a branch of a graph loop leaves the name alone, the value from before the loop."""
    body, orelse = name.body, name.orelse
    if name.assigned_in_body == name.assigned_in_orelse:
        return body, orelse
    for frame in facts.frames(node):
        if isinstance(frame.node, (cst.For, cst.While)) and frame.is_tensor_flow:
            loop = facts.loop(frame.node)
            flow = loop.names.get(name.name) if loop is not None else None
            if flow is None or flow.before.kind is Kind.UNBOUND or bound_before(frame.node, name.name, facts.line(node), facts):
                break
            return (body, flow.before) if name.assigned_in_body else (flow.before, orelse)
    return body, orelse


def _kind(words: str) -> str:
    return words if " " in words else f"of dtype {words}"


def _ternary(node: cst.IfExp, facts: Facts) -> Iterator[Claim]:
    if facts.staging(node) is not Staging.TENSOR:
        return
    found = difference(facts.value(node.body), facts.value(node.orelse))
    if found is not None:
        message = (
            f"The arms of `{facts.source(node)}` are {_kind(found[0])} and {_kind(found[1])}: its test is a tensor, and both arms must yield one type "
            f"(TensorFlow: TypeError). {_instead(found)}"
        )
        yield Claim(node, message, because=(facts.value(node.test),))


def _returned(split: Split, facts: Facts) -> Iterator[Claim]:
    if split.one_sided or not split.body.returns or not split.orelse.returns:
        return
    body = [facts.value(one.value) for one in split.body.returns if one.value is not None]
    orelse = [facts.value(one.value) for one in split.orelse.returns if one.value is not None]
    pairs = [difference(ours, theirs) for ours in body for theirs in orelse]
    found = pairs[0] if pairs and all(pairs) else None
    if found is not None:
        message = (
            f"The function returns {_yield(found[0])} when `{facts.source(split.node.test)}` holds and "
            f"{_yield(found[1])} when not: that test is a tensor, and both paths must return one type "
            f"(TensorFlow: TypeError). {_instead(found)}"
        )
        yield Claim(split.node, message, because=(facts.value(split.node.test),))


def _call(node: cst.Call, facts: Facts) -> Iterator[Claim]:
    call = facts.call(node)
    match call.dotted if call is not None else None:
        case "tensorflow.cond" | "tensorflow.switch_case":
            values = results(node, facts)
            found = next((pair for other in values[1:] if (pair := difference(values[0], other) or _none_or_tensor(values[0], other)) is not None), None)
            if found is not None:
                message = (
                    f"The functions given to `{facts.source(node.func)}` yield {_yield(found[0])} and {_yield(found[1])} (TensorFlow: TypeError). "
                    f"{_instead(found)}"
                )
                yield Claim(node, message)
        case "tensorarray.write" | "tensorarray.read":
            yield from _index(node, _argument(node, facts, 0, "index"), "index", facts)
        case "tensorflow.TensorArray":
            yield from _index(node, _argument(node, facts, 1, "size"), "size", facts)
        case "tensorflow.split":
            parts = _argument(node, facts, 1, "num_or_size_splits")
            if parts is not None and parts.is_symbolic and parts.shape == ():
                message = (
                    f"The number of parts in `{facts.source(node)}` is a tensor here, and tf.split needs a Python int (TensorFlow: ValueError). "
                    "Give the sizes as a list, or decide with a Python value."
                )
                yield Claim(node, message, because=(parts,))


def _none_or_tensor(one: Value, other: Value) -> tuple[str, str] | None:
    """`tf.cond` counts the outputs of its branches, and None is none."""
    if one.is_none and is_leaf(other):
        return "nothing (None)", "a tensor"
    return ("a tensor", "nothing (None)") if other.is_none and is_leaf(one) else None


def _yield(words: str) -> str:
    return words if " " in words else f"a tensor of dtype {words}"


def _argument(node: cst.Call, facts: Facts, position: int, keyword: str) -> Value | None:
    call = facts.call(node)
    if call is None or call.has_star:
        return None
    return call.keywords.get(keyword) or (call.args[position] if len(call.args) > position else None)


def _index(node: cst.Call, value: Value | None, what: str, facts: Facts) -> Iterator[Claim]:
    if value is not None and (value.is_tensor or value.pytype in ("npscalar", "ndarray")) and staged_dtype(value) == "int64" and not value.eager:
        message = (
            f"The {what} in `{facts.source(node)}` is an int64 tensor, and a TensorArray in a graph takes int32 (TensorFlow: TypeError). Use "
            f"`tf.cast(..., tf.int32)`."
        )
        yield Claim(node, message, because=(value,))
