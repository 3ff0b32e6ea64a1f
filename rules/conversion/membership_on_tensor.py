"""`in`, `.index()`, `.count()` or a comparison of lists that has to compare tensors.

## What it does

Reports, in code that TensorFlow traces,

- `t in seq` and `t not in seq` with a tensor `t` and a Python sequence, and `x in seq` where the sequence holds a tensor that is compared before a match is
  known;
- `x in t` with a tensor `t`;
- `seq.index(t)`, `seq.count(t)`, `seq.remove(t)`;
- `==`, `!=`, `<`, `<=`, `>`, `>=` between lists or tuples (and `==` between dicts) that hold tensors.

Python finds an element by identity before it compares, so `t in [t, u]` is true and not reported. `"key" in dict` and `None in shape.as_list()` compare
Python values.

## Why it is a problem

Python compares element by element and needs the truth value of each comparison, which a tensor does not have while tracing:

    OperatorNotAllowedInGraphError: Using a symbolic `tf.Tensor` as a Python `bool` is not allowed.
    TypeError: argument of type 'SymbolicTensor' is not iterable (`x in t`)

## Fix safety

There is no automatic fix. `tf.reduce_any(tf.equal(t, [1, 2]))` tests a tensor against numbers; compare tuples component by component.

## References

- `tensorflow/python/framework/tensor.py` (`Tensor.__bool__`)
- https://docs.python.org/3/reference/expressions.html#membership-test-operations
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tflint_graph.rule_api import TRACED, Claim, Facts, Kind, Rule, Severity, Value
from tflint_graph.source.walk import walk

RULE = Rule(
    code="TFG131",
    name="membership-on-tensor",
    severity=Severity.ERROR,
    since="0.1.0",
    contexts=TRACED,
    triggers=frozenset({"Compare", "call:index", "call:count", "call:remove"}),
)

BAD = """
import tensorflow as tf


@tf.function
def is_special(token: tf.Tensor):
    return token in [0, 1, 2]


is_special(tf.constant(5))
"""

GOOD = """
import tensorflow as tf


@tf.function
def is_special(token: tf.Tensor):
    return tf.reduce_any(tf.equal(token, [0, 1, 2]))


is_special(tf.constant(5))
"""

_HASHED = ("dict", "set", "defaultdict", "OrderedDict", "Counter")
_SEQUENCES = ("list", "tuple", "deque", "range")
_ORDERED = (cst.Equal, cst.NotEqual, cst.LessThan, cst.LessThanEqual, cst.GreaterThan, cst.GreaterThanEqual)


def check(node: cst.Comparison | cst.Call, facts: Facts) -> Iterator[Claim]:
    if facts.function(node) is None:
        return
    if isinstance(node, cst.Call):
        yield from _search(node, facts)
        return
    left = node.left
    for comparison in node.comparisons:
        found = _compare(left, comparison.operator, comparison.comparator, facts)
        if found is not None:
            message, value = found
            yield Claim(node, message, because=(value,))
            return
        left = comparison.comparator


def _compare(left: cst.BaseExpression, operator: cst.BaseCompOp, right: cst.BaseExpression, facts: Facts) -> tuple[str, Value] | None:
    one, other = facts.value(left), facts.value(right)
    if isinstance(operator, (cst.In, cst.NotIn)):
        return _membership(left, right, facts)
    if not isinstance(operator, _ORDERED):
        return None
    tensor = _first_compared(one, other) or _first_displayed(left, right, facts)
    if tensor is None:
        return None
    text = f"`{facts.source(left)}` and `{facts.source(right)}` hold tensors, and comparing them needs the truth value of each comparison"
    return f"{text} (TensorFlow: OperatorNotAllowedInGraphError). Compare the parts, and combine with `tf.logical_and`.", tensor


def _membership(left: cst.BaseExpression, right: cst.BaseExpression, facts: Facts) -> tuple[str, Value] | None:
    item, holder = facts.value(left), facts.value(right)
    source = f"`{facts.source(left)}` in `{facts.source(right)}`"
    if _is_tensor(holder) and holder.ragged is None and (holder.dtype is not None or item.pytype != "str"):
        return f"Looking for {source}, a tensor, needs to iterate over it (TensorFlow: TypeError). Use `tf.reduce_any(tf.equal(...))`.", holder
    if _is_tensor(item):
        if holder.is_python and holder.pytype in _HASHED and holder.items != () and holder.elements != ():
            return f"Looking for the tensor {source} needs its hash (TensorFlow: TypeError). Use `tf.reduce_any(tf.equal(...))` or a tf.lookup table.", item
        if not _sequence(holder) or _found_by_identity(left, right, facts) or _empty(holder):
            return None
        return (
            f"Looking for the tensor {source} needs the truth value of each comparison {_error()}. Use `tf.reduce_any(tf.equal({facts.source(left)}, ...))`.",
            item,
        )
    tensor = _first_tensor_before_match(item, holder)
    if tensor is None:
        return None
    return f"Looking for {source} compares with a tensor, and needs the truth value of the comparison {_error()}. Use `tf.reduce_any(tf.equal(...))`.", tensor


def _error() -> str:
    return "(TensorFlow: OperatorNotAllowedInGraphError)"


def _is_tensor(value: Value) -> bool:
    return value.kind in (Kind.TENSOR, Kind.VARIABLE)


def _sequence(value: Value) -> bool:
    return value.is_python and value.pytype in (*_SEQUENCES, "TensorShape")


def _empty(value: Value) -> bool:
    return value.elements == () or (value.pytype == "TensorShape" and value.shape == ())


def _found_by_identity(left: cst.BaseExpression, right: cst.BaseExpression, facts: Facts) -> bool:
    """True where the first element may be the very same object: a display that names it first."""
    if isinstance(right, (cst.List, cst.Tuple)):
        return bool(right.elements) and str(facts.source(right.elements[0].value)) == str(facts.source(left))
    holder = facts.value(right)
    if holder.pytype in ("range", "TensorShape") or _distinct_parameters(left, right, facts):
        return False
    if holder.elements is not None:
        return bool(holder.elements) and _is_tensor(holder.elements[0])
    return holder.element is None or _is_tensor(holder.element) or holder.element.is_unknown


def _distinct_parameters(left: cst.BaseExpression, right: cst.BaseExpression, facts: Facts) -> bool:
    """Two parameters of a function handed to tf.function: each tensor among its arguments is a placeholder of its own."""
    function = facts.function(left)
    if function is None or not function.is_root:
        return False
    return all(isinstance(side, cst.Name) and side.value in function.params and not _is_bound(side.value, function.node) for side in (left, right))


def _is_bound(name: str, function: cst.CSTNode) -> bool:
    for node in walk(function):
        match node:
            case cst.AssignTarget(target=target) | cst.AugAssign(target=target) | cst.AnnAssign(target=target) | cst.For(target=target):
                if any(isinstance(part, cst.Name) and part.value == name for part in walk(target)):
                    return True
    return False


def _first_tensor_before_match(item: Value, holder: Value) -> Value | None:
    """The tensor that a Python item is compared with before Python knows the answer."""
    if (
        not (item.is_python and item.has_const and not item.is_none)
        or not holder.is_python
        or holder.pytype not in ("list", "tuple", "deque")
        or holder.elements is None
    ):
        return None
    for element in holder.elements:
        if element.has_const and element.const == item.const:
            return None
        if element.is_symbolic:
            return element
        if not element.has_const:
            return None
    return None


def _first_compared(one: Value, other: Value) -> Value | None:
    """The tensor whose comparison decides about two sequences: the first pair that differs; None if Python can decide before, or nobody knows."""
    if not (one.is_python and other.is_python and one.pytype == other.pytype):
        return None
    if one.pytype == "dict" and one.items and other.items and {key for key, _ in one.items} == {key for key, _ in other.items}:
        theirs = dict(other.items)
        pairs = [(value, theirs[key]) for key, value in one.items]
    elif one.pytype in ("list", "tuple") and one.elements and other.elements:
        pairs = list(zip(one.elements, other.elements, strict=False))
    else:
        return None
    for ours, theirs_ in pairs:
        if ours.has_const and theirs_.has_const:
            if ours.const != theirs_.const:
                return None
            continue
        for tensor, partner in ((ours, theirs_), (theirs_, ours)):
            if tensor.is_symbolic and partner.has_const and not partner.is_none:
                return tensor
            if tensor.is_symbolic and partner.is_symbolic and tensor.origin is not None and partner.origin is not None and tensor.origin is not partner.origin:
                return tensor
        return None
    return None


def _first_displayed(left: cst.BaseExpression, right: cst.BaseExpression, facts: Facts) -> Value | None:
    """The first tensor of `(a, ...)`, where the other display begins with another parameter: two objects, whose comparison decides."""
    match left, right:
        case (cst.Tuple(elements=[one, *_]), cst.Tuple(elements=[other, *_])) | (cst.List(elements=[one, *_]), cst.List(elements=[other, *_])):
            value = facts.value(one.value)
            if value.is_symbolic and facts.value(other.value).is_symbolic and one.value is not other.value:
                names = [part.value.value for part in (one, other) if isinstance(part.value, cst.Name)]
                if len(set(names)) == 2 and _distinct_parameters(one.value, other.value, facts):
                    return value
    return None


def _search(node: cst.Call, facts: Facts) -> Iterator[Claim]:
    match node:
        case cst.Call(func=cst.Attribute(value=holder, attr=cst.Name(value="index" | "count" | "remove" as method)), args=[cst.Arg(value=item), *_]):
            value = facts.value(item)
            sequence = facts.value(holder)
            if (
                _is_tensor(value)
                and sequence.is_python
                and sequence.pytype in ("list", "tuple", "deque")
                and not _empty(sequence)
                and not _first_is(holder, item, facts)
            ):
                message = (
                    f"`{facts.source(node)}` compares the tensor `{facts.source(item)}` with each element and needs the truth value {_error()}. "
                    f"Use `tf.equal` on a tensor{' and `tf.where`' if method == 'index' else ''}."
                )
                yield Claim(node, message, because=(value,))


def _first_is(holder: cst.BaseExpression, item: cst.BaseExpression, facts: Facts) -> bool:
    if isinstance(holder, (cst.List, cst.Tuple)):
        return bool(holder.elements) and str(facts.source(holder.elements[0].value)) == str(facts.source(item))
    sequence = facts.value(holder)
    return sequence.elements is None or (bool(sequence.elements) and _is_tensor(sequence.elements[0]))
