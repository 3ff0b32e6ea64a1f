"""`.numpy()` on a tensor or variable while TensorFlow traces.

## What it does

Reports, in code that TensorFlow traces, `.numpy()` on a tensor of the graph, a ragged tensor or a variable, and `.item()`, `.tolist()` and `.eval()` on a
tensor. This includes `metric.result().numpy()`, tensors made by the function itself (`tf.constant(3).numpy()`), and functions that a Dataset method calls.

Not reported: eager tensors from outside the function, the body of a `tf.py_function` or `tf.numpy_function`, `with tf.init_scope()`, code under
`tf.executing_eagerly()`, `hasattr(x, "numpy")` or `isinstance(x, np.ndarray)`, and a `try` with a handler for the error. Where
Python decides whether the call runs, by a flag whose value is not known, the finding is a warning.

## Why it is a problem

While tracing, a tensor stands for a value that the graph computes later. It has no number to give, and no such method:

    AttributeError: 'SymbolicTensor' object has no attribute 'numpy'
    NotImplementedError: numpy() is only available when eager execution is enabled. (a variable)
    ValueError: RaggedTensor.numpy() is only supported in eager mode.

## Fix safety

There is no automatic fix. Compute with the tensor itself, return it and call `.numpy()` where the function was called, or run the Python code in a
`tf.py_function`.

## References

- `tensorflow/python/framework/tensor.py` (`Tensor.__getattr__`)
- `tensorflow/python/ops/resource_variable_ops.py` (`BaseResourceVariable.numpy`)
- https://www.tensorflow.org/api_docs/python/tf/py_function
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tflint_graph.rule_api import TRACED, Claim, Context, Facts, Kind, Rule, Severity
from tflint_graph.rules.conversion._graph_values import gives_back_an_array, is_captured, is_handled, is_structure_of_tensors, runs_eagerly, severity_here

RULE = Rule(
    code="TFG150",
    name="numpy-method-on-tensor",
    severity=Severity.ERROR,
    since="0.1.0",
    contexts=TRACED | frozenset({Context.EAGER}),
    triggers=frozenset({"call:numpy", "call:item", "call:tolist", "call:eval", "call:to_list", "Attribute"}),
)

BAD = """
import tensorflow as tf


@tf.function
def log_loss(loss: tf.Tensor):
    value = loss.numpy()
    return tf.math.log(value)


log_loss(tf.constant(2.0))
"""

GOOD = """
import tensorflow as tf


@tf.function
def log_loss(loss: tf.Tensor):
    return tf.math.log(loss)


print(log_loss(tf.constant(2.0)).numpy())
"""

_METHODS = ("numpy", "item", "tolist", "eval", "to_list")


def check(node: cst.Attribute, facts: Facts) -> Iterator[Claim]:
    name = node.attr.value
    if name not in _METHODS:
        return
    value = facts.value(node.value)
    called = isinstance(parent := facts.parent(node), cst.Call) and parent.func is node
    if (value.is_symbolic and value.ragged is None and name != "to_list") or (is_structure_of_tensors(value) and name == "numpy"):
        error = "ValueError" if name == "eval" else "AttributeError"
        what = "`{0}` needs the value of the tensor `{1}`, which does not exist while tracing"
    elif value.kind is Kind.VARIABLE and name == "numpy" and called:
        error, what = "NotImplementedError", "`{0}` reads the variable `{1}`, which has no value while tracing"
    elif value.is_symbolic and value.ragged == "ragged" and name in ("numpy", "to_list") and called:
        error, what = "ValueError", "`{0}` needs the value of the ragged tensor `{1}`, which does not exist while tracing"
    else:
        return
    function = facts.function(node)
    if function is None or runs_eagerly(node, facts) or is_handled(node, facts, error) or gives_back_an_array(node, facts):
        return
    if function.contexts == {Context.EAGER}:
        if is_captured(node.value, facts):
            message = f"`{facts.source(node)}` reads a tensor of the graph around `{function.display}`, not a value (TensorFlow, when it runs: {error})"
            yield Claim(node, f"{message}. Pass `{facts.source(node.value)}` as an argument (`inp=[...]`).", because=(value,))
        return
    message = what.format(f"{facts.source(node)}()" if called else facts.source(node), facts.source(node.value))
    yield Claim(
        node,
        f"{message} (TensorFlow: {error}). Compute with it as it is, or call `.{name}()` outside of the traced function.",
        because=(value,),
        severity=severity_here(node, facts),
    )
