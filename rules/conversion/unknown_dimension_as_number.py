"""A dimension that is unknown while tracing (None) is used as a number.

## What it does

Reports, in code that TensorFlow traces, an entry of `x.shape` that is certainly None, because `input_signature` says so, the dataset was batched without
`drop_remainder=True`, or `shape_invariants` gave it up,

- in arithmetic, in an order comparison, as argument of `range`, `int`, `float`, `max`, `min`, `sum`, of a `math` or NumPy function, as a list index;
- as (part of) a shape or size for TensorFlow: `tf.zeros(x.shape)`, `tf.reshape(x, [x.shape[0], -1])`, `tf.range(x.shape[0])`;
- `tf.unstack(x)` along such a dimension;
- `x.shape == (2, 3)`, which is False whatever the data (an error), and `x.shape[0] == 2` (a warning).

Not reported: `x.shape[0] is None`, `None in x.shape`, `x.shape[0] or tf.shape(x)[0]`, `x[: x.shape[0]]`, `tf.ensure_shape`, and the known entries of such a
shape.

## Why it is a problem

`x.shape` is what TensorFlow knows before the data arrives. The entry is Python's None:

    TypeError: unsupported operand type(s) for *: 'NoneType' and 'int'
    TypeError: 'NoneType' object cannot be interpreted as an integer
    ValueError: Cannot convert a partially known TensorShape (None, 3) to a Tensor.
    TypeError: Failed to convert elements of [None, 3, 1] to Tensor.
    ValueError: Cannot infer argument `num` from shape (None,)

## Fix safety

There is no automatic fix. `tf.shape(x)[0]` is the size as a tensor; it works wherever TensorFlow takes a size. In `tf.reshape`, -1 stands for one size. Where
Python needs the number, give the dimension in the signature, or batch with `drop_remainder=True`.

## References

- `tensorflow/python/framework/constant_op.py`, `tensorflow/python/ops/array_ops_stack.py` (`unstack`)
- https://www.tensorflow.org/api_docs/python/tf/shape
- https://www.tensorflow.org/guide/function#controlling_retracing
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from tflint_graph.rule_api import TRACED, CallFacts, Claim, Facts, Rule, Severity, Value
from tflint_graph.rules.conversion._graph_values import is_handled, runs_eagerly

RULE = Rule(
    code="TFG153",
    name="unknown-dimension-as-number",
    severity=Severity.ERROR,
    since="0.1.0",
    contexts=TRACED,
    triggers=frozenset({"Attribute", "call:get_shape", "call:unstack"}),
)

BAD = """
import tensorflow as tf


@tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32)])
def flatten(points):
    return tf.reshape(points, [points.shape[0] * points.shape[1]])


flatten(tf.ones([2, 3]))
"""

GOOD = """
import tensorflow as tf


@tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32)])
def flatten(points):
    return tf.reshape(points, [tf.shape(points)[0] * points.shape[1]])


flatten(tf.ones([2, 3]))
"""

_ADVICE: Final = "Use tf.shape(...) for the size as a tensor, or fix the dimension in the signature or with drop_remainder=True."
_ORDER: Final = (cst.LessThan, cst.LessThanEqual, cst.GreaterThan, cst.GreaterThanEqual)
_PYTHON: Final = frozenset({f"builtins.{name}" for name in ("range", "int", "float", "max", "min", "sum", "abs", "divmod", "pow", "round")})
# The arguments that TensorFlow needs as numbers, by position and keyword. Measured with a dimension of None: each of them raises.
_SIZES: Final[dict[str, tuple[int | str, ...]]] = {
    **{f"tensorflow.{name}": (0, "shape") for name in ("zeros", "ones")},
    **{f"tensorflow.random.{name}": (0, "shape") for name in ("normal", "uniform", "truncated_normal", "gamma", "stateless_normal", "stateless_uniform")},
    **{f"tensorflow.{name}": (0, 1, "x", "y") for name in ("add", "subtract", "multiply", "divide", "maximum", "minimum", "equal", "less", "greater")},
    **{f"tensorflow.math.{name}": (0, 1, "x", "y") for name in ("add", "subtract", "multiply", "divide", "maximum", "minimum", "equal", "less", "greater")},
    "tensorflow.fill": (0, "dims"), "tensorflow.reshape": (1, "shape"), "tensorflow.broadcast_to": (1, "shape"), "tensorflow.tile": (1, "multiples"),
    "tensorflow.constant": (0, "value", "shape"), "tensorflow.convert_to_tensor": (0, "value"), "tensorflow.cast": (0, "x"),
    "tensorflow.eye": (0, 1, "num_rows"), "tensorflow.range": (0, 1, 2, "start", "limit", "delta"), "tensorflow.linspace": (2, "num"),
    "tensorflow.one_hot": (1, "depth"), "tensorflow.repeat": (1, "repeats"), "tensorflow.pad": (1, "paddings"), "tensorflow.slice": (1, 2, "begin", "size"),
    "tensorflow.split": (1, "num_or_size_splits"), "tensorflow.stack": (0, "values"), "tensorflow.concat": (0, "values"),
    "tensorflow.image.resize": (1, "size"), "tensorflow.scatter_nd": (2, "shape"), "tensorflow.TensorArray": (1, "size"),
}  # fmt: skip

Suspect = cst.BinaryOperation | cst.UnaryOperation | cst.AugAssign | cst.Comparison | cst.Call | cst.Subscript | cst.FormattedStringExpression
Found = tuple[str, Value, str, Severity | None] | None


def check(node: Suspect, facts: Facts) -> Iterator[Claim]:
    found = _found(node, facts)
    if found is None or runs_eagerly(node, facts):
        return
    what, value, error, severity = found
    if error and is_handled(node, facts, error):
        return
    raised = f" (TensorFlow: {error})" if error else ""
    yield Claim(node, f"{what}{raised}. {_ADVICE}", because=(value,), severity=severity)


def is_unknown_dimension(value: Value) -> bool:
    """None as an entry of a static shape, not as a value of the program's own."""
    return value.is_none and value.dtype == "unknown-dimension"


def _found(node: Suspect, facts: Facts) -> Found:
    match node:
        case cst.BinaryOperation(left=left, operator=operator, right=right):
            if isinstance(operator, cst.Modulo) and facts.value(left).pytype == "str":
                return None
            return _operand(left, right, node, facts)
        case cst.AugAssign(target=target, value=change):
            return _operand(change, target, node, facts)
        case cst.UnaryOperation(operator=cst.Minus() | cst.Plus() | cst.BitInvert(), expression=operand):
            return _operand(operand, operand, node, facts)
        case cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(operator=operator, comparator=right)]):
            return _compared(left, operator, right, facts)
        case cst.Subscript(value=holder, slice=[cst.SubscriptElement(slice=cst.Index(value=index))]):
            place, container = facts.value(index), facts.value(holder)
            if is_unknown_dimension(place) and container.is_python and container.pytype in ("list", "tuple", "range", "str"):
                return f"The index {_named(index, facts)} is None while tracing", place, "TypeError", None
        case cst.FormattedStringExpression(conversion=None, format_spec=spec, expression=inner) if spec and is_unknown_dimension(facts.value(inner)):
            return f"{_named(inner, facts)} is None while tracing and cannot be formatted as a number", facts.value(inner), "TypeError", None
        case cst.Call():
            call = facts.call(node)
            return _call(node, call, facts) if call is not None and call.dotted is not None else None
    return None


def _named(node: cst.BaseExpression, facts: Facts) -> str:
    return f"`{facts.source(node)}`"


def _operand(left: cst.BaseExpression, right: cst.BaseExpression, node: cst.CSTNode, facts: Facts) -> Found:
    for operand, other in ((left, right), (right, left)):
        value = facts.value(operand)
        if is_unknown_dimension(value):
            error = "ValueError" if facts.value(other).is_tensor else "TypeError"
            return f"`{facts.source(node)}` computes with {_named(operand, facts)}, a dimension that is None while tracing", value, error, None
    return None


def _compared(left: cst.BaseExpression, operator: cst.BaseCompOp, right: cst.BaseExpression, facts: Facts) -> Found:
    one, other = facts.value(left), facts.value(right)
    dimension = one if is_unknown_dimension(one) else other if is_unknown_dimension(other) else None
    if dimension is not None:
        against = other if dimension is one else one
        name = _named(left if dimension is one else right, facts)
        if isinstance(operator, _ORDER):
            return f"{name}, a dimension that is None while tracing, cannot be compared", dimension, "TypeError", None
        if isinstance(operator, (cst.Equal, cst.NotEqual)) and against.pytype == "int":
            answer = "False" if isinstance(operator, cst.Equal) else "True"
            return f"{name} is None while tracing, so the comparison is {answer} whatever the data", dimension, "", Severity.WARNING
        return None
    if not isinstance(operator, (cst.Equal, cst.NotEqual)):
        return None
    shape, wanted = (one, other) if one.pytype == "TensorShape" else (other, one)
    if shape.pytype != "TensorShape" or shape.shape is None or not wanted.is_python or wanted.pytype not in ("tuple", "list") or wanted.elements is None:
        return None
    if len(wanted.elements) != len(shape.shape):
        return None
    pairs = list(zip(shape.shape, (element.const for element in wanted.elements), strict=True))
    if any(isinstance(have, int) and isinstance(want, int) and have != want for have, want in pairs):
        return None
    if any(have is None and isinstance(want, int) for have, want in pairs):
        answer = "False" if isinstance(operator, cst.Equal) else "True"
        name = _named(left if shape is one else right, facts)
        return f"{name} has a dimension that is None while tracing, so the comparison is {answer} whatever the data", shape, "", None
    return None


def _call(node: cst.Call, call: CallFacts, facts: Facts) -> Found:
    dotted, text = call.dotted or "", facts.source(node)
    if dotted == "tensorflow.unstack" and call.args and "num" not in call.keywords and len(call.args) < 2:
        return _unstack(str(text), call)
    wanted = _SIZES.get(dotted)
    if wanted is not None:
        handed = [v for k, v in enumerate(call.args) if k in wanted] + [v for name, v in call.keywords.items() if name in wanted]
        for value in handed:
            if _holds_unknown(value):
                error = "ValueError" if value.pytype == "TensorShape" or value.is_none else "TypeError"
                return f"`{text}` needs a number for each dimension, and one is None while tracing", value, error, None
        return None
    if dotted in _PYTHON or dotted.startswith(("math.", "numpy.")):
        for value in (*call.args, *call.keywords.values()):
            if is_unknown_dimension(value) or (dotted in _OVER_ENTRIES and _holds_unknown(value)):
                return f"`{text}` needs a number, and gets a dimension that is None while tracing", value, "TypeError", None
    return None


_OVER_ENTRIES: Final = frozenset(
    {"builtins.sum", "builtins.max", "builtins.min", "math.prod", "numpy.prod", "numpy.zeros", "numpy.ones", "numpy.empty", "numpy.full", "numpy.sum"}
)


def _holds_unknown(value: Value) -> bool:
    """An unknown dimension, or a shape or list with one in it."""
    if is_unknown_dimension(value):
        return True
    if not value.is_python:
        return False
    if value.pytype == "TensorShape":
        return value.shape is not None and None in value.shape
    return value.pytype in ("list", "tuple") and value.elements is not None and any(_holds_unknown(element) for element in value.elements)


def _unstack(text: str, call: CallFacts) -> Found:
    tensor = call.args[0]
    axis = call.keywords.get("axis")
    place = 0 if axis is None else axis.const
    if not tensor.is_symbolic or tensor.shape is None or not isinstance(place, int) or not -len(tensor.shape) <= place < len(tensor.shape):
        return None
    if tensor.shape[place] is None:
        message = f"`{text}` cannot tell how many tensors to make: the dimension is None while tracing"
        return message, tensor, "ValueError", None
    return None
