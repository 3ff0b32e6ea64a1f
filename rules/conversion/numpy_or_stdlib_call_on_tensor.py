"""A NumPy or `math` function gets a tensor while TensorFlow traces.

## What it does

Reports, in code that TensorFlow traces,

- a call of a NumPy function with a tensor or variable among its arguments, also inside a list or tuple: `np.sum(x)`, `np.array([x, y])`, `np.float32(x)`;
- methods of arrays with a tensor as argument (`weights.dot(x)`), `np.vectorize(f)(x)`;
- a tensor stored into an array (`buffer[0] = x`) or used as its index (`table[i]`);
- a call of a `math` function with a tensor or variable: `math.sqrt(x)`.

Arithmetic between an array and a tensor, in either order, is TensorFlow's and fine. So are NumPy and `math` on Python numbers, constants and `x.shape`, and
the few functions that only look at `.shape` or slice (`np.shape`, `np.ndim`, `np.flip`). An eager tensor from outside the function still converts.

Where Python decides whether the call runs (`x if in_graph else np.array(x)`) and the decision is not known, the finding is a warning.

## Why it is a problem

NumPy and `math` need numbers. While tracing, the tensor has none:

    NotImplementedError: Cannot convert a symbolic tf.Tensor (x:0) to a numpy array.
    TypeError: must be real number, not SymbolicTensor
    ValueError: setting an array element with a sequence. (`buffer[0] = x`)

`np.array_equal(x, y)` hides the error and is always False.

## Fix safety

There is no automatic fix. Most NumPy functions have a counterpart of the same or a similar name in `tf`, `tf.math` or `tf.experimental.numpy`; their dtype
rules differ (NumPy widens to float64). `tf.numpy_function` runs NumPy code when the graph runs.

## References

- `tensorflow/python/framework/tensor.py` (`Tensor.__array__`)
- https://www.tensorflow.org/guide/tf_numpy
- https://www.tensorflow.org/api_docs/python/tf/numpy_function
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from tflint_graph.rule_api import TRACED, Claim, Facts, Kind, Rule, Severity, Value
from tflint_graph.rules.conversion._graph_values import (
    has_no_python_value,
    is_handled,
    is_structure_of_tensors,
    no_python_value_in,
    runs_eagerly,
    severity_here,
)

RULE = Rule(
    code="TFG151",
    name="numpy-or-stdlib-call-on-tensor",
    severity=Severity.ERROR,
    since="0.1.0",
    contexts=TRACED,
    triggers=frozenset({"Call", "Subscript"}),
    supersedes=frozenset({"TFG155"}),
)

BAD = """
import numpy as np
import tensorflow as tf


@tf.function
def normalise(image: tf.Tensor):
    return image / np.max(image)


normalise(tf.ones([4, 4]))
"""

GOOD = """
import tensorflow as tf


@tf.function
def normalise(image: tf.Tensor):
    return image / tf.reduce_max(image)


normalise(tf.ones([4, 4]))
"""

# NumPy 2.4 functions that look only at `.shape` or `.ndim` of a tensor, slice it, or catch the error (each called with a symbolic tensor).
_HARMLESS: Final = frozenset({
    "numpy.shape", "numpy.ndim", "numpy.flip", "numpy.rollaxis", "numpy.isscalar", "numpy.iterable", "numpy.str_", "numpy.printoptions", "numpy.bmat",
    "numpy.errstate", "numpy.dtype",
})  # fmt: skip
_OF_ANY_OBJECT: Final = frozenset({"numpy.array", "numpy.asarray", "numpy.full"})  # a dict of tensors makes an array of objects
_ALWAYS_FALSE: Final = frozenset({"numpy.array_equal", "numpy.array_equiv"})
# Called with the lengths of an array: NumPy asks each for `__index__` before anything else.
_TAKES_LENGTHS: Final = frozenset({f"numpy.{name}" for name in ("eye", "identity", "zeros", "ones", "empty", "random.rand", "random.randn")})
_SUFFICES_AS_ATTRIBUTE: Final = frozenset({"numpy.shape", "numpy.ndim"})

_INSTEAD: Final = {
    **{f"numpy.{name}": f"tf.reduce_{name}" for name in ("sum", "mean", "max", "min", "prod", "any", "all")},
    "numpy.amax": "tf.reduce_max", "numpy.amin": "tf.reduce_min", "numpy.std": "tf.math.reduce_std", "numpy.var": "tf.math.reduce_variance",
    **{f"numpy.{name}": f"tf.math.{name}" for name in ("sqrt", "exp", "log", "abs", "sin", "cos", "tan", "tanh", "floor", "ceil", "square", "sign")},
    "numpy.argmax": "tf.argmax", "numpy.argmin": "tf.argmin",
    **{f"numpy.{name}": f"tf.{name}" for name in ("maximum", "minimum", "add", "multiply", "where", "stack", "reshape", "transpose", "squeeze", "tile")},
    **{f"numpy.{name}": f"tf.{name}" for name in ("expand_dims", "zeros_like", "ones_like", "repeat", "roll", "pad", "split", "matmul", "cumsum")},
    "numpy.sort": "tf.sort", "numpy.argsort": "tf.argsort",
    "numpy.clip": "tf.clip_by_value", "numpy.concatenate": "tf.concat", "numpy.isnan": "tf.math.is_nan", "numpy.array": "tf.convert_to_tensor",
    "numpy.asarray": "tf.convert_to_tensor", "numpy.size": "tf.size", "numpy.dot": "tf.tensordot", "numpy.linalg.norm": "tf.norm", "numpy.full": "tf.fill",
    "numpy.arange": "tf.range", "numpy.zeros": "tf.zeros", "numpy.ones": "tf.ones", "numpy.eye": "tf.eye", "numpy.power": "tf.pow", "math.pow": "tf.pow",
    **{f"math.{name}": f"tf.math.{name}" for name in ("sqrt", "exp", "log", "log1p", "sin", "cos", "tan", "tanh", "floor", "ceil", "erf", "atan2")},
    "math.isnan": "tf.math.is_nan", "math.isinf": "tf.math.is_inf", "math.isfinite": "tf.math.is_finite", "math.fabs": "tf.abs",
}  # fmt: skip
_SCALAR_TYPES: Final = frozenset({"float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"})

Suspect = cst.Call | cst.Subscript


def check(node: Suspect, facts: Facts) -> Iterator[Claim]:
    if runs_eagerly(node, facts):
        return
    found = _call(node, facts) if isinstance(node, cst.Call) else _item(node, facts)
    if found is not None and not is_handled(node, facts, found[2]):
        yield Claim(node, found[0], because=(found[1],), severity=severity_here(node, facts))


Found = tuple[str, Value, str] | None


def _call(node: cst.Call, facts: Facts) -> Found:
    call = facts.call(node)
    if call is None:
        return None
    dotted = call.dotted or _vectorised(node, facts)
    if dotted == "builtins.map" and call.args and isinstance(call.args[0].ref, str):
        return _mapped(node, call.args[0].ref, call.args[1:], facts)
    if dotted is None or not dotted.startswith(("numpy.", "math.", "ndarray.")):
        return None
    handed = [*call.args, *call.keywords.values()]
    if dotted.startswith("math."):
        value = next((v for v in handed if has_no_python_value(v)), None) or (no_python_value_in(handed[0]) if dotted == "math.fsum" and handed else None)
        error = "TypeError"
    else:
        value = next((v for v in map(no_python_value_in, handed) if v is not None), None)
        error = "TypeError" if dotted in _TAKES_LENGTHS else "NotImplementedError"
        if dotted in _HARMLESS and not (dotted in _SUFFICES_AS_ATTRIBUTE and handed and handed[0].is_python):
            return None
        if dotted == "numpy.size" and len(handed) > 1 and not handed[0].is_python:
            return None
        if value is None and dotted in _INSTEAD and dotted not in _OF_ANY_OBJECT:
            value = next((v for v in call.args if is_structure_of_tensors(v)), None)
    if value is None:
        return None
    text, name = facts.source(node), dotted.partition(".")[0] if not dotted.startswith("ndarray") else "numpy"
    if dotted in _ALWAYS_FALSE:
        return (
            f"`{text}` is always False while tracing: NumPy cannot read {_named(value, node, facts)}, and hides it. Use `tf.reduce_all(tf.equal(...))`.",
            value,
            error,
        )
    library = "NumPy" if name == "numpy" else "math"
    return (
        f"`{text}` needs the numbers in {_named(value, node, facts)}, and {library} gets them only eagerly (TensorFlow: {error}). {_advice(dotted)}",
        value,
        error,
    )


def _mapped(node: cst.Call, dotted: str, sources: tuple[Value, ...], facts: Facts) -> Found:
    """`map(np.sqrt, tensors)`."""
    value = next((v for source in sources if source.is_python and (v := no_python_value_in(source)) is not None), None)
    if value is None or dotted not in _INSTEAD:
        return None
    error = "TypeError" if dotted.startswith("math.") else "NotImplementedError"
    return f"`{facts.source(node)}` calls a function that needs the numbers in a tensor (TensorFlow: {error}). {_advice(dotted)}", value, error


def _vectorised(node: cst.Call, facts: Facts) -> str | None:
    """`np.vectorize(f)(x)`."""
    made = facts.call(node.func) if isinstance(node.func, cst.Call) else None
    return made.dotted if made is not None and made.dotted == "numpy.vectorize" else None


def _named(value: Value, node: cst.Call, facts: Facts) -> str:
    for arg in node.args:
        if facts.value(arg.value) is value:
            return f"the {'variable' if value.kind is Kind.VARIABLE else 'tensor'} `{facts.source(arg.value)}`"
    return "a variable" if value.kind is Kind.VARIABLE else "a tensor"


def _advice(dotted: str) -> str:
    instead = _INSTEAD.get(dotted)
    if dotted.partition(".")[2] in _SCALAR_TYPES:
        return f"Use `tf.cast(..., tf.{dotted.partition('.')[2]})`."
    return f"Use {instead}." if instead is not None else "Use the TensorFlow counterpart, or tf.numpy_function."


def _item(node: cst.Subscript, facts: Facts) -> Found:
    """A tensor as index of an array, or stored in it."""
    array = facts.value(node.value)
    if not array.is_python or array.pytype != "ndarray":
        return None
    text = facts.source(node)
    for element in node.slice:
        for part in _bounds(element.slice):
            index = facts.value(part)
            if has_no_python_value(index):
                error = "NotImplementedError" if isinstance(element.slice, cst.Index) else "TypeError"
                return f"`{text}` needs the number in the index `{facts.source(part)}`, a tensor (TensorFlow: {error}). Use `tf.gather`.", index, error
    stored = _stored(node, facts)
    if stored is None or array.dtype in (None, "object") or not has_no_python_value(stored):
        return None
    message = f"Storing a tensor in the array `{facts.source(node.value)}` needs its number (NumPy: ValueError or NotImplementedError)"
    return f"{message}. Collect the tensors in a list and use tf.stack, or use tf.tensor_scatter_nd_update.", stored, "ValueError"


def _bounds(place: cst.BaseSlice) -> list[cst.BaseExpression]:
    if isinstance(place, cst.Index):
        return [place.value]
    return [part for part in (place.lower, place.upper, place.step) if part is not None] if isinstance(place, cst.Slice) else []


def _stored(node: cst.Subscript, facts: Facts) -> Value | None:
    match facts.parent(node):
        case cst.AssignTarget() as target if isinstance(statement := facts.parent(target), cst.Assign):
            return facts.value(statement.value)
        case cst.AugAssign(target=target, value=value) if target is node:
            return facts.value(value)
    return None
