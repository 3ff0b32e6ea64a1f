"""Control flow on a tensor in a method or function that Keras 3 calls.

## What it does

Reports `if`, `while`, `for`, conditional expressions, `and`, `or` and `not` that depend on a tensor, and `range`, `len`, `int` and `float` of a tensor, in
`call`, `train_step`, `test_step` and `predict_step` of Keras layers and models, in `Loss.call`, `Metric.update_state`, `LearningRateSchedule.__call__`,
`Regularizer.__call__`, in functions handed to `compile(loss=..., metrics=...)` and in `Lambda` layers, when Keras 3 is in use and the function is not
itself decorated with `tf.function`.

## Why it is a problem

Keras 2 converts `call`, losses and metrics with AutoGraph (TFG110 looks at its other methods). Keras 3 marks its code with `do_not_convert`, so that what
it calls runs as plain Python while `fit`, `evaluate` and `predict` trace it:

    OperatorNotAllowedInGraphError: Exception encountered when calling Gate.call().
    Using a symbolic `tf.Tensor` as a Python `bool` is not allowed.

The same layer works when it is called eagerly, which hides the fault until the first `fit`.

The finding is an error where the project itself says that Keras 3 is in use (an import of its API, a pinned version) and a warning where that is only
assumed.

## Fix safety

There is no automatic fix. Use `tf.where`, `tf.cond` or `keras.ops`, or decorate the method with `tf.function`, which makes AutoGraph convert it.

## References

- `keras/src/backend/tensorflow/trainer.py` and `keras/src/backend/tensorflow/layer.py` (`do_not_convert`)
- `tensorflow/python/framework/tensor.py`
"""

from __future__ import annotations

from collections.abc import Iterator

from tflint_graph.rule_api import TRACED_ONLY, Claim, Facts, Rule, Severity, Unconverted
from tflint_graph.rules.conversion._unconverted import Suspect, may_be_converted, trouble

RULE = Rule(
    code="TFG111",
    name="control-flow-in-keras3-call",
    severity=Severity.ERROR,
    since="0.1.0",
    contexts=TRACED_ONLY,
    triggers=frozenset({"If", "While", "For", "IfExp", "BoolOp", "Not", "call:range", "call:len", "call:int", "call:float"}),
)

BAD = """
import keras
import tensorflow as tf


class Gate(keras.layers.Layer):
    def call(self, inputs):
        if tf.reduce_mean(inputs) > 0.5:
            return inputs * 2.0
        return inputs


model = keras.Sequential([keras.Input((2,)), Gate()])
model.predict(tf.ones([4, 2]))
"""

GOOD = """
import keras
import tensorflow as tf


class Gate(keras.layers.Layer):
    def call(self, inputs):
        return tf.where(tf.reduce_mean(inputs) > 0.5, inputs * 2.0, inputs)


model = keras.Sequential([keras.Input((2,)), Gate()])
model.predict(tf.ones([4, 2]))
"""


def check(node: Suspect, facts: Facts) -> Iterator[Claim]:
    function = facts.function(node)
    if function is None or function.unconverted is not Unconverted.KERAS_3 or function.keras == 2:
        return
    found = trouble(node, facts)
    if found is not None and not may_be_converted(function, facts):
        assumed = "" if function.keras == 3 else " (assumed here)"
        message = (
            f"`{found.what}` in `{function.display}` needs AutoGraph, and Keras 3{assumed} does not convert what it calls "
            f"(TensorFlow: {found.error} in fit and predict). Use tf.where, tf.cond or keras.ops, or decorate `{function.display}` with tf.function."
        )
        yield Claim(node, message, because=(found.value,), severity=Severity.ERROR if function.keras == 3 else Severity.WARNING)
