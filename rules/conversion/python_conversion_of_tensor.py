"""`bool(t)`, `complex(t)`, `'%d' % t` or `f'{t:.2f}'` of a tensor while TensorFlow traces.

## What it does

Reports, in code that TensorFlow traces, a tensor of the graph or a variable as argument of `bool`, `complex`, `hex`, `oct`, `bin`, `chr` or `operator.index`,
and in text that formats it as a number: `f'{t:.2f}'`, `'%.2f' % t`, `'{:.2f}'.format(t)`, `format(t, '.2f')`.

In converted code `int(t)` and `float(t)` are casts and work. `f'{t}'`, `'%s' % t` and `str(t)` do not fail: they describe the symbolic tensor.

## Why it is a problem

Python needs the number at once, and the tensor gets it only when the graph runs:

    OperatorNotAllowedInGraphError: Using a symbolic `tf.Tensor` as a Python `bool` is not allowed.
    TypeError: unsupported format string passed to SymbolicTensor.__format__
    TypeError: %d format: a real number is required, not SymbolicTensor
    TypeError: must be real number, not SymbolicTensor (`'%.2f' % t`)
    TypeError: complex() first argument must be a string or a number, not 'SymbolicTensor'

## Fix safety

There is no automatic fix. `tf.cast(t, tf.bool)` replaces `bool(t)`, and an `if` or `while` needs no conversion at all. Use `tf.print(t)` to show a value and
`tf.strings.format` or `tf.strings.as_string(t, precision=2)` to make text.

## References

- `tensorflow/python/framework/tensor.py` (`Tensor.__bool__`), `ops.py` (only eager tensors have `__format__` and `__index__`)
- `tensorflow/python/autograph/operators/py_builtins.py`
- https://www.tensorflow.org/api_docs/python/tf/strings/as_string
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import libcst as cst

from tflint_graph.rule_api import TRACED, Claim, Facts, Kind, Rule, Severity, Value
from tflint_graph.rules.conversion._graph_values import has_no_python_value, is_handled, runs_eagerly

RULE = Rule(
    code="TFG152",
    name="python-conversion-of-tensor",
    severity=Severity.ERROR,
    since="0.1.0",
    contexts=TRACED,
    triggers=frozenset({"BinOp", "JoinedStr", "call:bool", "call:complex", "call:hex", "call:oct", "call:bin", "call:chr", "call:index", "call:format"}),
    supersedes=frozenset({"TFG201"}),
)

BAD = """
import tensorflow as tf


@tf.function
def report(loss: tf.Tensor):
    print(f"loss {loss:.3f}")
    return loss


report(tf.constant(0.5))
"""

GOOD = """
import tensorflow as tf


@tf.function
def report(loss: tf.Tensor):
    tf.print("loss", loss)
    return loss


report(tf.constant(0.5))
"""

_CONVERSIONS: Final = {
    "builtins.bool": ("OperatorNotAllowedInGraphError", "Use `tf.cast(..., tf.bool)`; an `if` needs no conversion."),
    "builtins.complex": ("TypeError", "Use tf.complex or `tf.cast(..., tf.complex64)`."),
    **{f"builtins.{name}": ("TypeError", "Use tf.strings.as_string or tf.print.") for name in ("hex", "oct", "bin", "chr")},
    "operator.index": ("TypeError", "Use the tensor as it is."),
}
_TEXT: Final = "Use tf.print to show it, or tf.strings.as_string or tf.strings.format to make text"
_PERCENT: Final = re.compile(r"%(?:\((?P<key>[^)]*)\))?[#0\- +]*(?P<width>\*|\d*)(?:\.(?P<digits>\*|\d*))?[hlL]?(?P<kind>[diouxXeEfFgGcrsa%])")

Suspect = cst.Call | cst.BinaryOperation | cst.FormattedStringExpression


def check(node: Suspect, facts: Facts) -> Iterator[Claim]:
    found = _found(node, facts)
    if found is None:
        return
    what, value, error, advice = found
    if value.kind is Kind.VARIABLE and error == "TypeError" and not isinstance(node, cst.FormattedStringExpression):
        error = "AttributeError"  # `__float__` and `__complex__` of a variable call `.numpy()` of what they read
    if has_no_python_value(value) and not runs_eagerly(node, facts) and not is_handled(node, facts, error):
        yield Claim(node, f"{what} needs the number in a tensor, which has none while tracing (TensorFlow: {error}). {advice}", because=(value,))


def _found(node: Suspect, facts: Facts) -> tuple[str, Value, str, str] | None:
    match node:
        case cst.FormattedStringExpression(conversion=None, format_spec=spec, expression=inner) if spec:
            return f"`{{{facts.source(inner)}:...}}`", facts.value(inner), "TypeError", f"{_TEXT}."
        case cst.BinaryOperation(left=cst.SimpleString() as text, operator=cst.Modulo(), right=right):
            return _percent(text.evaluated_value, right, node, facts)
        case cst.Call(func=cst.Attribute(value=cst.SimpleString() as text, attr=cst.Name(value="format"))):
            return _format(text.evaluated_value, node, facts)
        case cst.Call(args=[cst.Arg(star="", value=inner), *rest]):
            call = facts.call(node)
            if call is None or call.dotted is None:
                return None
            if call.dotted in _CONVERSIONS and not rest:
                error, advice = _CONVERSIONS[call.dotted]
                return f"`{facts.source(node)}`", facts.value(inner), error, advice
            if call.dotted == "builtins.format" and len(call.args) == 2 and call.args[1].const not in ("", None):
                return f"`{facts.source(node)}`", facts.value(inner), "TypeError", f"{_TEXT}."
    return None


def _percent(text: str | bytes, right: cst.BaseExpression, node: cst.BinaryOperation, facts: Facts) -> tuple[str, Value, str, str] | None:
    """The first tensor that `text % right` formats as a number."""
    if isinstance(text, bytes):
        return None
    fields = [m for m in _PERCENT.finditer(text) if m["kind"] != "%"]
    if any(m["width"] == "*" or m["digits"] == "*" for m in fields):
        return None
    right_value = facts.value(right)
    values = right_value.elements if right_value.is_python and right_value.pytype == "tuple" else (right_value,)
    named = dict(right_value.items or ()) if right_value.is_python else {}
    for n, field in enumerate(fields):
        value = named.get(field["key"]) if field["key"] is not None else values[n] if values is not None and n < len(values) else None
        if value is not None and field["kind"] not in "rsa" and has_no_python_value(value):
            return f"`{facts.source(node)}`", value, "TypeError", f"{_TEXT}."
    return None


def _format(text: str | bytes, node: cst.Call, facts: Facts) -> tuple[str, Value, str, str] | None:
    """The first tensor that `text.format(...)` formats with a format specification."""
    import string

    call = facts.call(node)
    if call is None or call.has_star or isinstance(text, bytes):
        return None
    count = 0
    try:
        fields = list(string.Formatter().parse(text))
    except ValueError:
        return None
    for _, name, spec, conversion in fields:
        if name is None:
            continue
        position, count = (count, count + 1) if name == "" else (int(name) if name.isdigit() else -1, count)
        value = call.args[position] if 0 <= position < len(call.args) else call.keywords.get(name)
        if spec and conversion is None and value is not None and has_no_python_value(value):
            return f"`{facts.source(node)}`", value, "TypeError", f"{_TEXT}."
    return None
