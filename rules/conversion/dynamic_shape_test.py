"""A test of `tf.shape`, `tf.size` or `tf.rank` that guards code which is illegal for the static shape.

## What it does

Reports a branch of a test that is built from `tf.shape(x)`, `tf.size(x)` or `tf.rank(x)` when it indexes, unstacks, reshapes or squeezes a tensor in a way that
its known static shape forbids, and a conditional expression on such a test whose arms differ in structure (`tf.unstack(x) if tf.size(x) > 0 else []`).

## Why it is a problem

`tf.shape(x)` is a tensor, so both branches are traced, with the static shape that the arguments of this trace have. A branch that would not be taken for this
shape fails all the same:

    ValueError: slice index 4 of dimension 0 out of bounds.
    ValueError: Attempting to slice scalar input.
    ValueError: Cannot reshape a tensor with 3 elements to shape [2,2] (4 elements)
    ValueError: Can not squeeze dim[1], expected a dimension of 1, got 3

The same function works when its dimensions are unknown while tracing, so this is a warning.

## Fix safety

There is no automatic fix. Test the static shape (`x.shape[0]`, `x.shape.rank`): Python then decides while tracing, and only the right branch is traced. Or
give the function an `input_signature` with a dimension of None.

## References

- `tensorflow/python/autograph/operators/control_flow.py` (`_tf_if_stmt`)
- `tensorflow/core/framework/common_shape_fns.cc`
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import libcst as cst

from tflint_graph.rule_api import CONVERTED, Claim, Facts, Kind, Reason, Rule, Severity, Staging, Value
from tflint_graph.rules.conversion._structure import difference
from tflint_graph.source.walk import walk

RULE = Rule(
    code="TFG132",
    name="dynamic-shape-test",
    severity=Severity.WARNING,
    since="0.1.0",
    contexts=CONVERTED,
    triggers=frozenset({"call:shape", "call:size", "call:rank"}),
    supersedes=frozenset({"TFG126"}),
)

BAD = """
import tensorflow as tf


@tf.function
def fifth_or_first(x: tf.Tensor):
    if tf.shape(x)[0] > 4:
        return x[4]
    return x[0]


fifth_or_first(tf.constant([1, 2, 3]))
"""

GOOD = """
import tensorflow as tf


@tf.function
def fifth_or_first(x: tf.Tensor):
    if x.shape[0] > 4:
        return x[4]
    return x[0]


fifth_or_first(tf.constant([1, 2, 3]))
"""

_DYNAMIC = frozenset({"tensorflow.shape", "tensorflow.size", "tensorflow.rank"})


def check(node: cst.If | cst.IfExp | cst.BooleanOperation, facts: Facts) -> Iterator[Claim]:
    function = facts.function(node)
    condition = node.left if isinstance(node, cst.BooleanOperation) else node.test
    if function is None or not function.converted or facts.staging(node) is not Staging.TENSOR or not _about_shape(condition, facts):
        return
    test = facts.source(condition)
    for part in _guarded(node, facts):
        for below in walk(part):
            problem = _illegal(below, facts)
            if problem:
                message = (
                    f"`{facts.source(below)}` is traced whatever `{test}` says, and {problem} (TensorFlow: ValueError). "
                    "Test the static shape (`.shape`) in Python, or leave the dimension unknown in an input_signature."
                )
                yield Claim(node, message, because=(facts.value(condition),))
                return
    if isinstance(node, cst.IfExp):
        found = difference(facts.value(node.body), facts.value(node.orelse))
        if found is not None and not all("dtype" in words or " " not in words for words in found):
            message = (
                f"Both arms of `{facts.source(node)}` are traced whatever `{test}` says, and they are {found[0]} and {found[1]} (TensorFlow: AssertionError "
                f"or TypeError). "
                "Test the static shape (`.shape`) in Python."
            )
            yield Claim(node, message, because=(facts.value(node.test),))


def _about_shape(test: cst.BaseExpression, facts: Facts) -> bool:
    for below in walk(test):
        if isinstance(below, cst.Call):
            call = facts.call(below)
            if call is not None and call.dotted in _DYNAMIC:
                return True
        if isinstance(below, cst.Name) and _from_shape(facts.value(below).why):
            return True
    return False


def _from_shape(reason: Reason | None) -> bool:
    """True if a name's value was computed from one of the three functions, as far as the reasons tell."""
    while reason is not None:
        if any(f"tf.{name}" in reason.text for name in ("shape", "size", "rank")):
            return True
        reason = reason.parent
    return False


def _guarded(node: cst.If | cst.IfExp | cst.BooleanOperation, facts: Facts) -> Iterator[cst.CSTNode]:
    if isinstance(node, cst.BooleanOperation):
        yield node.right
        return
    yield node.body
    if isinstance(node, cst.IfExp):
        yield node.orelse
        return
    if node.orelse is not None:
        yield node.orelse
    else:
        yield from _after(node, facts)


def _after(node: cst.If, facts: Facts) -> Iterator[cst.CSTNode]:
    """The statements behind an `if` that returns: they are its other branch."""
    branch = facts.branch(node)
    block = facts.parent(node)
    if branch is None or not branch.body_ends or not isinstance(block, (cst.IndentedBlock, cst.Module)):
        return
    statements = list(block.body)
    position = next((k for k, statement in enumerate(statements) if statement is node), len(statements))
    yield from statements[position + 1 :]


def _illegal(node: cst.CSTNode, facts: Facts) -> str:
    """In words, why an expression cannot be traced with the static shape; "" if it can, or nobody knows."""
    match node:
        case cst.Subscript():
            return _subscript(node, facts)
        case cst.Call():
            return _operation(node, facts)
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Tuple() | cst.List() as target)], value=value):
            parts = facts.value(value).elements
            if parts is not None and len(parts) != len(target.elements) and not any(isinstance(part, cst.StarredElement) for part in target.elements):
                return f"`{facts.source(value)}` has {len(parts)} parts here"
    return ""


def _subscript(node: cst.Subscript, facts: Facts) -> str:
    base = facts.value(node.value)
    if not _is_dense(base) or base.shape is None:
        return ""
    axis = 0
    for element in node.slice:
        match element.slice:
            case cst.Index(value=cst.Ellipsis()):
                return ""
            case cst.Index(value=index):
                position = facts.value(index)
                if position.is_none or (isinstance(index, cst.Attribute) and index.attr.value == "newaxis"):
                    continue
                if axis >= len(base.shape):
                    return f"`{facts.source(node.value)}` has {len(base.shape)} dimensions here"
                dim = base.shape[axis]
                if isinstance(position.const, int) and isinstance(dim, int) and not -dim <= position.const < dim:
                    return f"dimension {axis} of `{facts.source(node.value)}` is {dim} here"
        if axis >= len(base.shape):
            return f"`{facts.source(node.value)}` has {len(base.shape)} dimensions here"
        axis += 1
    return ""


def _is_dense(value: Value) -> bool:
    return value.kind is Kind.TENSOR and value.ragged is None


def _operation(node: cst.Call, facts: Facts) -> str:
    call = facts.call(node)
    if call is None or call.has_star or not call.args:
        return ""
    value = call.args[0]
    if not _is_dense(value) or value.shape is None:
        return ""
    dims = [dim for dim in value.shape if isinstance(dim, int)]
    argument = call.keywords.get("shape") or call.keywords.get("axis") or (call.args[1] if len(call.args) > 1 else None)
    match call.dotted:
        case "tensorflow.reshape" if argument is not None and len(dims) == len(value.shape):
            return _reshape(math.prod(dims), argument)
        case "tensorflow.squeeze" if argument is not None:
            axes = argument.elements if argument.elements is not None else (argument,)
            for axis in axes:
                if isinstance(axis.const, int) and -len(value.shape) <= axis.const < len(value.shape):
                    dim = value.shape[axis.const]
                    if isinstance(dim, int) and dim != 1:
                        return f"dimension {axis.const} is {dim} here"
        case "tensorflow.transpose":
            order = call.keywords.get("perm") or (call.args[1] if len(call.args) > 1 else None)
            if order is not None and order.elements is not None and len(order.elements) != len(value.shape):
                return f"its argument has {len(value.shape)} dimensions here"
        case "tensorflow.unstack" if not value.shape:
            return "its argument is a scalar here"
        case "tensorflow.reduce_sum" | "tensorflow.reduce_mean" | "tensorflow.reduce_max" | "tensorflow.reduce_min" | "tensorflow.argmax" | "tensorflow.argmin":
            if argument is not None and isinstance(argument.const, int) and not -len(value.shape) <= argument.const < max(len(value.shape), 1):
                return f"its argument has {len(value.shape)} dimensions here"
    return ""


def _reshape(size: int, target: Value) -> str:
    wanted = [dim.const for dim in target.elements or ()]
    if not wanted or not all(isinstance(dim, int) for dim in wanted):
        return ""
    known = math.prod(dim for dim in wanted if isinstance(dim, int) and dim >= 0)
    fits = known == size if -1 not in wanted else known and size % known == 0
    return "" if fits else f"its argument has {size} elements here"
