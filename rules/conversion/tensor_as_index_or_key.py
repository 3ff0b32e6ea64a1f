"""A tensor is used as index of a Python sequence, or as key of a dict or member of a set.

## What it does

Reports, in code that TensorFlow traces,

- `names[i]`, `names[:i]`, `names.pop(i)`, `names.insert(i, x)` with a Python list, tuple, string, range or deque, and a tensor `i`;
- `table[t]`, `table.get(t)`, `{t: 1}`, `{t}`, `seen.add(t)`, `set([t])` and `hash(t)` with a tensor or variable `t`.

The index often *became* a tensor: as the variable of `for i in tf.range(n)`, in `while i < n: ...; i += 1`, by an assignment under an `if` on a tensor, or as
`int(t)`. Indexing a tensor with a tensor is fine, and so is an eager tensor from outside the function as index of a list.

## Why it is a problem

Python looks the element up while TensorFlow traces, and the number does not exist yet:

    TypeError: list indices must be integers or slices, not SymbolicTensor
    TypeError: slice indices must be integers or None or have an __index__ method
    TypeError: Tensor is unhashable. Instead, use tensor.ref() as the key.

## Fix safety

There is no automatic fix. `tf.gather(tf.stack(items), i)` picks one of several tensors of one shape; `tf.switch_case(i, [...])` picks one of several
functions; a `tf.lookup.StaticHashTable` replaces a dict. `t.ref()` is a key that stands for the tensor object, not for its value.

## References

- `tensorflow/python/framework/tensor.py` (`Tensor.__hash__`), `ops.py` (only eager tensors have `__index__`)
- https://www.tensorflow.org/api_docs/python/tf/gather, https://www.tensorflow.org/api_docs/python/tf/lookup/StaticHashTable
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from tflint_graph.rule_api import TRACED, Claim, Facts, Kind, Rule, Severity, Value
from tflint_graph.rules.conversion._graph_values import has_no_python_value, is_handled, runs_eagerly

RULE = Rule(
    code="TFG154",
    name="tensor-as-index-or-key",
    severity=Severity.ERROR,
    since="0.1.0",
    contexts=TRACED,
    triggers=frozenset({
        "Subscript", "Dict", "Set", "DictComp", "SetComp", "call:get", "call:pop", "call:insert", "call:setdefault", "call:add", "call:discard", "call:remove",
        "call:set", "call:frozenset", "call:hash",
    }),
    supersedes=frozenset({"TFG156", "TFG157"}),
)  # fmt: skip

BAD = """
import tensorflow as tf


@tf.function
def weighted(values: tf.Tensor):
    weights = [0.5, 0.3, 0.2]
    total = tf.constant(0.0)
    for i in tf.range(3):
        total += weights[i] * values[i]
    return total


weighted(tf.constant([1.0, 2.0, 3.0]))
"""

GOOD = """
import tensorflow as tf


@tf.function
def weighted(values: tf.Tensor):
    weights = tf.constant([0.5, 0.3, 0.2])
    total = tf.constant(0.0)
    for i in tf.range(3):
        total += weights[i] * values[i]
    return total


weighted(tf.constant([1.0, 2.0, 3.0]))
"""

_SEQUENCES: Final = ("list", "tuple", "namedtuple", "deque", "range", "str", "bytes", "TensorShape")
_HASHED: Final = ("dict", "defaultdict", "OrderedDict", "Counter")
_INDEX_METHODS: Final = frozenset({"list.pop", "list.insert"})
_KEY_METHODS: Final = frozenset({f"{kind}.{name}" for kind in _HASHED for name in ("get", "pop", "setdefault")} | {"set.add", "set.discard", "set.remove"})
_SET_MAKERS: Final = frozenset({"builtins.set", "builtins.frozenset"})

Suspect = cst.Subscript | cst.Dict | cst.Set | cst.DictComp | cst.SetComp | cst.Call


def check(node: Suspect, facts: Facts) -> Iterator[Claim]:
    found = _found(node, facts)
    if found is not None and not runs_eagerly(node, facts) and not is_handled(node, facts, "TypeError"):
        yield Claim(node, found[0], because=(found[1],))


Found = tuple[str, Value] | None


def _found(node: Suspect, facts: Facts) -> Found:
    match node:
        case cst.Subscript(value=holder, slice=[cst.SubscriptElement(slice=place)]):
            container = facts.value(holder)
            if not container.is_python:
                return None
            if container.pytype in _SEQUENCES:
                return _index(node, holder, place, facts)
            if container.pytype in _HASHED and isinstance(place, cst.Index):
                return _key(place.value, f"`{facts.source(node)}`", facts)
        case cst.Dict(elements=elements):
            for element in elements:
                if isinstance(element, cst.DictElement) and (found := _key(element.key, "A dict display", facts)) is not None:
                    return found
        case cst.Set(elements=elements):
            for member in elements:
                if isinstance(member, cst.Element) and (found := _key(member.value, "A set display", facts)) is not None:
                    return found
        case cst.DictComp(key=key):
            return _key(key, "A dict comprehension", facts)
        case cst.SetComp(elt=key):
            return _key(key, "A set comprehension", facts)
        case cst.Call(args=[cst.Arg(value=first), *_]):
            return _call(node, first, facts)
    return None


def _index(node: cst.Subscript, holder: cst.BaseExpression, place: cst.BaseSlice, facts: Facts) -> Found:
    parts = (
        [place.value]
        if isinstance(place, cst.Index)
        else [p for p in (place.lower, place.upper, place.step) if p is not None]
        if isinstance(place, cst.Slice)
        else []
    )
    for part in parts:
        value = facts.value(part)
        if has_no_python_value(value):
            return f"{_indexes(holder, part, facts)} (TensorFlow: TypeError). {_instead(facts.value(holder), holder, facts)}", value
    return None


def _indexes(holder: cst.BaseExpression, part: cst.BaseExpression, facts: Facts) -> str:
    kind = facts.value(holder).pytype
    return f"`{facts.source(holder)}` is a Python {kind}, and the index `{facts.source(part)}` a tensor"


def _instead(container: Value, holder: cst.BaseExpression, facts: Facts) -> str:
    members = container.elements if container.elements is not None else (container.element,) if container.element is not None else ()
    if container.pytype in ("list", "tuple", "range") and members and all(m.is_tensor or m.pytype in ("int", "float", "bool", "str") for m in members):
        return f"Make `{facts.source(holder)}` a tensor (tf.constant or tf.stack) and index that, or use tf.gather."
    if members and all(m.kind is Kind.FUNCTION for m in members):
        return "Use tf.switch_case to choose a function."
    return "Use tf.gather on a tensor, or tf.switch_case."


def _key(node: cst.BaseExpression, what: str, facts: Facts) -> Found:
    value = facts.value(node)
    if value.kind in (Kind.TENSOR, Kind.VARIABLE) and value.ragged is None:
        kind = "variable" if value.kind is Kind.VARIABLE else "tensor"
        text = f"{what} needs the hash of the {kind} `{facts.source(node)}`, which has none (TensorFlow: TypeError)"
        return f"{text}. Use a tf.lookup table to look up by value, or `.ref()` to mean the object.", value
    return None


def _call(node: cst.Call, first: cst.BaseExpression, facts: Facts) -> Found:
    call = facts.call(node)
    if call is None or call.dotted is None:
        return None
    text = f"`{facts.source(node)}`"
    if call.dotted in _INDEX_METHODS:
        value = facts.value(first)
        return (
            (f"{text} needs the number in the tensor `{facts.source(first)}` (TensorFlow: TypeError). Use tf.gather on a tensor.", value)
            if has_no_python_value(value)
            else None
        )
    if call.dotted in _KEY_METHODS or call.dotted == "builtins.hash":
        return _key(first, text, facts)
    if call.dotted in _SET_MAKERS and call.args and call.args[0].is_python:
        members = call.args[0].elements if call.args[0].elements is not None else (call.args[0].element,) if call.args[0].element is not None else ()
        value = next((member for member in members if member.is_tensor or member.kind is Kind.VARIABLE), UNHASHED)
        return (
            None
            if value is UNHASHED
            else (f"{text} needs the hash of tensors, which have none (TensorFlow: TypeError). Use a list, or tf.unique on a tensor.", value)
        )
    return None


UNHASHED: Final = Value(Kind.UNKNOWN)
