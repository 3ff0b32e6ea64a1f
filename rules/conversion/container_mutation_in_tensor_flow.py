"""A Python container is changed inside a branch or loop that TensorFlow stages.

## What it does

Reports, in converted code, `append`, `extend`, `insert`, `pop`, `remove`, `add`, `update` and the other methods that change a Python list, dict, set or
deque, `del items[i]`, and `next()` of a Python iterator,

- under an `if` on a tensor, after a `continue`, `break` or `return` under one, in a loop over a tensor or dataset, or in a function handed to
  `tf.while_loop`, `tf.map_fn`, `tf.cond` ...,
- where the container was made outside of that block and is read after it.

A container that one iteration or branch makes and uses up is fine, and so are Python loops, `ta = ta.write(i, x)`, variables, lookup tables and metrics.

## Why it is a problem

TensorFlow traces each branch, and the body of a loop once. Python changes the container right then: once for a loop that runs a hundred times, and for *every*
branch of an `if`. A tensor that went into the container belongs to the inner graph, and the next use of it fails:

    InaccessibleTensorError: <tf.Tensor 'while/mul:0' shape=() dtype=int32> is out of scope and cannot be used here.

With Python values there is no error, only another result than eagerly.

## Fix safety

There is no automatic fix. Collect with `ta = ta.write(i, x)` of a `tf.TensorArray`; compute a value in the branch and append it after the `if`; or loop over a
Python range where the length is known while tracing.

## References

- https://github.com/tensorflow/tensorflow/blob/master/tensorflow/python/autograph/g3doc/reference/limitations.md
- `tensorflow/python/autograph/operators/control_flow.py`
- https://www.tensorflow.org/guide/function#accumulating_values_in_a_loop
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tflint_graph.index.model import FunctionId
from tflint_graph.rule_api import CONVERTED, CallFacts, Claim, Facts, Frame, Kind, Rule, Severity, Value
from tflint_graph.rules.conversion._container_state import MUTATORS, is_bound_in, is_mutable_container, may_be_bound_in, outlives, root_name, staged_frames

RULE = Rule(
    code="TFG157",
    name="container-mutation-in-tensor-flow",
    severity=Severity.ERROR,
    since="0.1.0",
    contexts=CONVERTED,
    triggers=frozenset({
        "If", "For", "While", "Delete", "call:append", "call:appendleft", "call:extend", "call:extendleft", "call:insert", "call:pop",
        "call:popleft", "call:popitem", "call:remove",
        "call:discard", "call:clear", "call:add", "call:update", "call:setdefault", "call:sort", "call:reverse", "call:rotate", "call:next",
    }),
    supersedes=frozenset({"TFG203"}),
)  # fmt: skip

BAD = """
import tensorflow as tf


@tf.function
def running_totals(values: tf.Tensor):
    history = []
    total = tf.constant(0.0)
    for value in values:
        total += value
        history.append(total)
    return tf.stack(history)


running_totals(tf.constant([1.0, 2.0]))
"""

GOOD = """
import tensorflow as tf


@tf.function
def running_totals(values: tf.Tensor):
    history = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
    total = tf.constant(0.0)
    for value in values:
        total += value
        history = history.write(history.size(), total)
    return history.stack()


running_totals(tf.constant([1.0, 2.0]))
"""


def check(node: cst.Call | cst.Del, facts: Facts) -> Iterator[Claim]:
    if isinstance(node, cst.Del):
        holder = node.target.value if isinstance(node.target, cst.Subscript) else None
        if holder is not None and facts.value(holder).is_python and facts.value(holder).pytype in ("list", "deque"):
            yield from _changed(node, holder, (), facts)
        return
    call = facts.call(node)
    if call is None:
        return
    if call.dotted == "builtins.next" and call.args:
        yield from _advanced(node, node.args[0].value, call, facts)
    elif isinstance(node.func, cst.Attribute) and node.func.attr.value in MUTATORS and is_mutable_container(facts.value(node.func.value)):
        yield from _changed(node, node.func.value, (*call.args, *call.keywords.values()), facts)
    elif isinstance(node.func, cst.Attribute) and call.project is not None and not call.callee.traced:
        yield from _method(node, node.func.value, call.project, facts)


def _method(node: cst.Call, holder: cst.BaseExpression, method: FunctionId, facts: Facts) -> Iterator[Claim]:
    """A method that stores attributes of an object from outside the block."""
    changed = sorted(facts.changes(method))
    if not changed or facts.value(holder).kind is not Kind.INSTANCE:
        return
    for frame in staged_frames(node, facts):
        if outlives(holder, frame, facts) and not frame.is_function:
            name = f"`{facts.source(holder)}.{changed[0]}`"
            often = "once, however often the loop runs" if frame.is_loop else "whichever branch the graph takes"
            message = (
                f"`{facts.source(node)}` sets {name} while TensorFlow traces, {often}; a tensor stored there leaks out of the graph "
                f"(TensorFlow: InaccessibleTensorError). Return the value and assign it, or keep the state in a tf.Variable."
            )
            own = facts.value(holder).origin is not None
            yield Claim(node, message, because=_reasons(None, frame, facts), severity=None if own else Severity.WARNING)
            return


def _changed(node: cst.Call | cst.Del, holder: cst.BaseExpression, handed: tuple[Value, ...], facts: Facts) -> Iterator[Claim]:
    for frame in staged_frames(node, facts):
        if outlives(holder, frame, facts) or (_takes_in_loop(node, frame) and not may_be_bound_in(holder, frame, facts)):
            tensor = next((value for value in handed if value.contains_tensor()), None)
            yield Claim(node, _message(node, holder, tensor, frame, facts), because=_reasons(tensor, frame, facts))
            return


def _takes_in_loop(node: cst.Call | cst.Del, frame: Frame) -> bool:
    """`x = items.pop()` in a loop takes the same element in every iteration."""
    return frame.is_loop and isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and node.func.attr.value in ("pop", "popleft", "popitem")


def _message(node: cst.Call | cst.Del, holder: cst.BaseExpression, tensor: Value | None, frame: Frame, facts: Facts) -> str:
    text = facts.source(node)
    name = facts.source(holder)
    where = "loop" if frame.is_loop else "function" if frame.is_function else "branch"
    growing = (
        isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and node.func.attr.value in ("append", "extend", "insert", "add", "appendleft")
    )
    leaked = _leaked(node, tensor, frame, facts)
    if leaked is not None:
        what = f"`{text}` leaks {leaked} out of the {where}'s graph (TensorFlow: InaccessibleTensorError)"
    elif frame.is_loop:
        what = f"`{text}` changes `{name}` once, while TensorFlow traces the loop, however often the loop runs"
    elif frame.is_function:
        what = f"`{text}` changes `{name}` while TensorFlow traces the function, not when the graph calls it"
    else:
        what = f"`{text}` changes `{name}` while TensorFlow traces, whichever branch the graph takes"
    if frame.is_loop and growing:
        return f"{what}. Collect with a tf.TensorArray, or move it out of the loop."
    if frame.is_loop:
        return f"{what}. Keep the state in tensors (a tf.TensorArray, a tensor and an index), or move it out of the loop."
    if frame.is_function:
        return f"{what}. Return the value instead."
    return f"{what}. Assign to a name in both branches and change `{name}` after the `if`."


def _leaked(node: cst.Call | cst.Del, tensor: Value | None, frame: Frame, facts: Facts) -> str | None:
    """The tensor of the inner graph that the container keeps, in words."""
    if tensor is None or not isinstance(node, cst.Call):
        return None
    for arg in node.args:
        value = facts.value(arg.value)
        if value is tensor or value.contains_tensor():
            if isinstance(arg.value, cst.Name) and not frame.is_function and not is_bound_in(arg.value.value, frame, facts):
                return None  # made outside: no leak, but only one change
            return f"the tensor `{facts.source(arg.value)}`" if value.is_tensor else f"tensors in `{facts.source(arg.value)}`"
    return None


def _reasons(tensor: Value | None, frame: Frame, facts: Facts) -> tuple[Value, ...]:
    """Why the block is staged, then why a tensor goes into the container."""
    node = frame.node
    decided = facts.value(node.iter) if isinstance(node, cst.For) else facts.value(node.test) if isinstance(node, (cst.While, cst.If)) else None
    return tuple(value for value in (decided, tensor) if value is not None and value.why is not None)


def _advanced(node: cst.Call, source: cst.BaseExpression, call: CallFacts, facts: Facts) -> Iterator[Claim]:
    """`next()` of a Python iterator."""
    value = call.args[0]
    name = root_name(source)
    if name is None or value.kind is not Kind.PYTHON or not isinstance(source, (cst.Name, cst.Attribute)):
        return
    for frame in staged_frames(node, facts):
        if not is_bound_in(name, frame, facts):
            where = "loop" if frame.is_loop else "function" if frame.is_function else "branch"
            message = f"`{facts.source(node)}` takes one element of the Python iterator while TensorFlow traces the {where}, and the graph keeps that one"
            yield Claim(node, f"{message}. Iterate over a tensor or dataset, or take the element outside of the {where}.", because=_reasons(None, frame, facts))
            return
