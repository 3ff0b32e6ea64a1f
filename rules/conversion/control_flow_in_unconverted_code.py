"""Control flow on a tensor in code that TensorFlow traces but AutoGraph does not convert.

## What it does

Reports `if`, `while`, `for`, conditional expressions, `and`, `or` and `not` that depend on a tensor, and `range`, `len`, `int` and `float` of a tensor, in
code that runs while tracing as plain Python:

- functions under `tf.function(autograph=False)` or `tf.autograph.experimental.do_not_convert`, and what they call;
- constructors, properties, operator methods such as `__add__` and `__getitem__`, `__enter__`, `__iter__`;
- methods of Keras 2 other than `call`, losses and metrics, such as `train_step` and the `__call__` of a `LearningRateSchedule`;
- generator functions, functions wrapped by `functools.lru_cache` or `wrapt`, functions made by `exec`;
- functions defined at module level and handed to `tf.while_loop`, `tf.cond`, `tf.switch_case`, `tf.scan`, `tf.foldl`, `tf.foldr`, `tf.vectorized_map`,
  `tf.nest.map_structure`, `tf.recompute_grad`, `tf.custom_gradient`, or Python's own `map`, `filter` and `functools.reduce`. (`tf.map_fn` and the methods
  of `tf.data.Dataset` do convert. Nested functions and lambdas of a converted function are converted with it.)

## Why it is a problem

Only AutoGraph turns control flow on tensors into graph operations. Everywhere else Python decides, and asks the tensor for a value that it does not have
while tracing:

    OperatorNotAllowedInGraphError: Using a symbolic `tf.Tensor` as a Python `bool` is not allowed.
    OperatorNotAllowedInGraphError: Iterating over a symbolic `tf.Tensor` is not allowed.
    TypeError: 'SymbolicTensor' object cannot be interpreted as an integer

In an `a and b` only `a` is asked for its truth value.

## Fix safety

There is no automatic fix. Decorating the function with `tf.function` makes AutoGraph convert it, and gives it a trace cache of its own; `tf.where`,
`tf.cond` and `tf.while_loop` work without AutoGraph. A function under `tf.custom_gradient` cannot be a `tf.function`, since it returns a function: decorate a
helper that it calls.

## References

- `tensorflow/python/autograph/impl/conversion.py` (`is_unsupported`: what is never converted)
- `tensorflow/python/autograph/impl/api.py` (`converted_call`)
- `tensorflow/python/framework/tensor.py` (`Tensor.__bool__`, `__iter__`, `__len__`)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from tflint_graph.rule_api import TRACED_ONLY, Claim, Facts, FunctionFacts, Rule, Severity, Unconverted
from tflint_graph.rules.conversion._unconverted import Suspect, may_be_converted, trouble

RULE = Rule(
    code="TFG110",
    name="control-flow-in-unconverted-code",
    severity=Severity.ERROR,
    since="0.1.0",
    contexts=TRACED_ONLY,
    triggers=frozenset({"If", "While", "For", "IfExp", "BoolOp", "Not", "call:range", "call:len", "call:int", "call:float"}),
)

BAD = """
import tensorflow as tf


def collatz(n, steps):
    if n % 2 == 0:
        n = n // 2
    else:
        n = 3 * n + 1
    return n, steps + 1


@tf.function
def count_steps(n):
    return tf.while_loop(lambda n, steps: n > 1, collatz, (n, 0))


count_steps(tf.constant(6))
"""

GOOD = """
import tensorflow as tf


@tf.function
def collatz(n, steps):
    if n % 2 == 0:
        n = n // 2
    else:
        n = 3 * n + 1
    return n, steps + 1


@tf.function
def count_steps(n):
    return tf.while_loop(lambda n, steps: n > 1, collatz, (n, 0))


count_steps(tf.constant(6))
"""

_INSTEAD: Final = {
    Unconverted.AUTOGRAPH_FALSE: "Remove autograph=False, or use tf.where, tf.cond or tf.while_loop.",
    Unconverted.DO_NOT_CONVERT: "Remove do_not_convert, or use tf.where, tf.cond or tf.while_loop.",
    Unconverted.CONSTRUCTOR: "Move it to an ordinary method, or use tf.where or tf.cond.",
    Unconverted.SPECIAL_METHOD: "Move it to an ordinary method, or use tf.where or tf.cond.",
    Unconverted.GENERATOR: "Move it to an ordinary function that the generator's user calls, or use tf.where or tf.cond.",
    Unconverted.WRAPPED: "Put @tf.function directly on `{0}`, below the other decorator, or use tf.where or tf.cond.",
    Unconverted.KERAS_2: "Use tf.where or tf.cond, or decorate a helper with tf.function.",
    Unconverted.EXEC: "Define `{0}` in a file, or use tf.where or tf.cond.",
}
_KEEPERS: Final = ("custom_gradient", "recompute_grad")


def check(node: Suspect, facts: Facts) -> Iterator[Claim]:
    function = facts.function(node)
    if function is None or _is_reported_elsewhere(function, facts):
        return
    found = trouble(node, facts)
    if found is not None and not may_be_converted(function, facts):
        message = f"`{found.what}` needs AutoGraph, {_why(function)} (TensorFlow: {found.error}). {_instead(function)}"
        yield Claim(node, message, because=(found.value,))


def _is_reported_elsewhere(function: FunctionFacts, facts: Facts) -> bool:
    """By the rule about Keras, by those about coroutines and about constructs that stop the conversion, unless the construct is in a caller."""
    if function.unconverted is Unconverted.KERAS_3:
        return True
    places = [function.node, *facts.ancestors(function.node)]
    around = [facts.function(node) for node in places if isinstance(node, (cst.FunctionDef, cst.Lambda))]
    if any(isinstance(node, cst.FunctionDef) and node.asynchronous is not None for node in places):
        return True
    if function.unconverted is not Unconverted.STOPPED:
        return False
    # AutoGraph stays on in a function that it gave up on: tf.map_fn and Dataset methods there convert their callbacks.
    return any(outer is not None and (outer.stoppers or outer.roles & {"elements", "dataset"}) for outer in around)


def _why(function: FunctionFacts) -> str:
    """Why AutoGraph leaves the function alone, as a clause."""
    name = f"`{function.display}`"
    last = function.unconverted_steps[-1].how if function.unconverted_steps else ""
    match function.unconverted:
        case Unconverted.CALLBACK:
            taker = _keeper(function) or (last.partition(" callback")[0] if " callback" in last else "")
            return f"and `{taker}` calls {name} without converting it" if taker else f"and {name} is called without being converted"
        case Unconverted.STOPPED | Unconverted.CALLER:
            caller = last.removeprefix("called by ") if last.startswith("called by ") else ""
            whose = f"`{caller}`, which calls it," if caller.isidentifier() else "its caller"
            return f"which does not convert {name}, because {whose} is not converted"
        case Unconverted.AUTOGRAPH_FALSE | Unconverted.DO_NOT_CONVERT:
            return f"which does not convert {name} because of `{function.unconverted.value}`"
        case None:
            return f"which does not convert {name}"
    return f"which does not convert {name}: {function.unconverted.value}"


def _keeper(function: FunctionFacts) -> str:
    """The decorator that keeps the function as it is and calls it: "tf.custom_gradient", or ""."""
    return next((f"tf.{name}" for name in _KEEPERS if f"tensorflow.{name}" in function.decorators), "")


def _instead(function: FunctionFacts) -> str:
    name = f"`{function.display}`"
    if function.unconverted is Unconverted.CALLBACK:
        if _keeper(function) == "tf.custom_gradient":  # returns a function, which a tf.function cannot
            return "Use tf.where or tf.cond, or decorate a helper with tf.function."
        _, _, converted = function.unconverted_steps[-1].how.partition(" callback in ") if function.unconverted_steps else ("", "", "")
        nested = f", or define it inside `{converted}`" if converted.isidentifier() and "." not in function.display else ""
        return f"Decorate {name} with tf.function{nested}."
    advice = _INSTEAD.get(function.unconverted) if function.unconverted is not None else None
    return (advice or "Decorate `{0}` with tf.function, or use tf.where, tf.cond or tf.while_loop.").format(function.display)
