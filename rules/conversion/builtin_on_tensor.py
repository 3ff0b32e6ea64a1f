"""A Python builtin or itertools function that has to look into a tensor: `enumerate`, `zip`, `sum`, `max`, `any`, `filter` and others.

## What it does

Reports, in code that TensorFlow traces,

- `enumerate`, `zip`, `map`, `filter`, `iter`, `reversed`, `sum`, `any`, `all`, `min`, `max`, `functools.reduce` and the functions of `itertools` on a tensor
  or variable, and `list(range(n))` with a tensor `n`;
- `min(a, b)`, `max(a, b)`, `sorted`, `any`, `all` over several values of which some are tensors;
- `filter`, `takewhile` and friends with a predicate, `min`, `max` and `sorted` with a `key`, that give a tensor;
- `map(len, ...)`, `sorted(..., key=len)`, `reduce(max, ...)` over tensors: AutoGraph replaces builtins only where they are called;
- a comprehension with an `if` on a tensor.

In converted code `len`, `range`, `int`, `float`, `abs`, `sorted(t)` of one tensor and `sum([t, u])` work, and so do `enumerate`, `zip`, `map`, `filter`,
`any` and `all` on datasets.

## Why it is a problem

AutoGraph replaces few builtins. The others are Python's own and ask the tensor for its elements, its length or its truth value, which do not exist yet:

    OperatorNotAllowedInGraphError: Iterating over a symbolic `tf.Tensor` is not allowed.
    OperatorNotAllowedInGraphError: Using a symbolic `tf.Tensor` as a Python `bool` is not allowed.
    TypeError: len is not well defined for a symbolic Tensor (`reversed`)
    TypeError: reduce() arg 2 must support iteration

## Fix safety

There is no automatic fix. `sum`, `any`, `all`, `min`, `max` of a tensor are `tf.reduce_sum`, `tf.reduce_any`, `tf.reduce_all`, `tf.reduce_min`,
`tf.reduce_max` when the tensor has one dimension; `max(a, b)` is `tf.maximum(a, b)`.

## References

- `tensorflow/python/autograph/operators/py_builtins.py`
- `tensorflow/python/framework/tensor.py` (`Tensor.__iter__`, `Tensor.__bool__`)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from tflint_graph.rule_api import TRACED, CallFacts, Claim, Facts, Kind, Rule, Severity, Value
from tflint_graph.rules.conversion._graph_values import has_no_python_elements, has_no_python_value, is_handled, runs_eagerly

RULE = Rule(
    code="TFG141",
    name="builtin-on-tensor",
    severity=Severity.ERROR,
    since="0.1.0",
    contexts=TRACED,
    triggers=frozenset({
        "ListComp", "SetComp", "DictComp", "GeneratorExp",
        "call:enumerate", "call:zip", "call:map", "call:filter", "call:iter", "call:reversed", "call:sum", "call:any", "call:all", "call:min", "call:max",
        "call:sorted", "call:sort", "call:list", "call:tuple", "call:reduce", "call:chain", "call:from_iterable", "call:islice", "call:cycle",
        "call:accumulate", "call:takewhile", "call:dropwhile", "call:filterfalse", "call:starmap", "call:product", "call:combinations",
        "call:permutations", "call:zip_longest", "call:pairwise", "call:groupby", "call:tee", "call:compress", "call:__len__", "call:__iter__",
    }),
)  # fmt: skip

BAD = """
import tensorflow as tf


@tf.function
def weighted_sum(values: tf.Tensor):
    total = tf.constant(0.0)
    for place, value in enumerate(values):
        total += value / (place + 1.0)
    return total


weighted_sum(tf.constant([1.0, 2.0]))
"""

GOOD = """
import tensorflow as tf


@tf.function
def weighted_sum(values: tf.Tensor):
    places = tf.range(1.0, tf.cast(tf.size(values), tf.float32) + 1.0)
    return tf.reduce_sum(values / places)


weighted_sum(tf.constant([1.0, 2.0]))
"""

_ITERATION: Final = "OperatorNotAllowedInGraphError"
_NO_LENGTH: Final = "TypeError"

# Which positional arguments a function iterates over (None: all), and what to write instead.
_ITERATED: Final[dict[str, tuple[tuple[int, ...] | None, str]]] = {
    "builtins.enumerate": ((0,), "Loop over `tf.range(tf.shape(...)[0])` and index, or over `tf.unstack(...)` where the length is known while tracing."),
    "builtins.zip": (None, "Loop over `tf.range(...)` and index the tensors, or zip their `tf.unstack(...)` where the length is known while tracing."),
    "builtins.map": ((1, 2, 3, 4), "Apply the function to the whole tensor, or use tf.map_fn."),
    "builtins.filter": ((1,), "Use tf.boolean_mask."),
    "builtins.iter": ((0,), "Loop over the tensor with `for`, or index it."),
    "builtins.reversed": ((0,), "Use `tf.reverse(..., axis=[0])`."),
    "builtins.sum": ((0,), "Use tf.reduce_sum."),
    "builtins.any": ((0,), "Use tf.reduce_any."),
    "builtins.all": ((0,), "Use tf.reduce_all."),
    "functools.reduce": ((1,), "Use tf.foldl, or an operation that reduces the whole tensor."),
    "itertools.takewhile": ((1,), ""),
    "itertools.dropwhile": ((1,), ""),
    "itertools.filterfalse": ((1,), "Use tf.boolean_mask."),
    "itertools.starmap": ((1,), "Use tf.map_fn."),
    "itertools.accumulate": ((0,), "Use tf.cumsum or tf.scan."),
    "itertools.islice": ((0,), "Slice the tensor: `t[:n]`."),
    "itertools.groupby": ((0,), ""),
    "itertools.tee": ((0,), ""),
    "itertools.compress": ((0, 1), "Use tf.boolean_mask."),
    "itertools.combinations": ((0,), ""),
    "itertools.permutations": ((0,), ""),
    "tensor.__iter__": ((), ""),
    **{f"itertools.{name}": (None, "") for name in ("chain", "cycle", "product", "zip_longest", "pairwise")},
}
_KEYED: Final = ("dict", "defaultdict", "OrderedDict", "Counter")  # iterating gives keys, not the values
_PREDICATES: Final = ("builtins.filter", "itertools.takewhile", "itertools.dropwhile", "itertools.filterfalse")
_REDUCTIONS: Final = {"builtins.min": ("tf.reduce_min", "tf.minimum"), "builtins.max": ("tf.reduce_max", "tf.maximum")}
_LIBRARIES: Final = ("builtins.", "functools.", "itertools.", "tensor.")
_CONVERTING: Final = ("len", "int", "float", "bool")
_COMPARING: Final = ("max", "min")


def check(node: cst.Call | cst.CompIf, facts: Facts) -> Iterator[Claim]:
    found = _filter_of(node, facts) if isinstance(node, cst.CompIf) else _builtin(node, facts)
    if found is None or runs_eagerly(node, facts):
        return
    message, value, error = found
    if not is_handled(node, facts, error):
        yield Claim(node.test if isinstance(node, cst.CompIf) else node, message, because=(value,))


Found = tuple[str, Value, str] | None


def _filter_of(node: cst.CompIf, facts: Facts) -> Found:
    value = facts.value(node.test)
    if not has_no_python_value(value):
        return None
    text = f"The `if {facts.source(node.test)}` of a comprehension needs the truth value of a tensor"
    return f"{text} (TensorFlow: {_ITERATION}). Use tf.boolean_mask, or a conditional expression or tf.where for the element.", value, _ITERATION


def _builtin(node: cst.Call, facts: Facts) -> Found:
    call = facts.call(node)
    if call is None or call.dotted is None or not call.dotted.startswith(_LIBRARIES):
        return None
    return _iterates(node, call, facts) or _decides(node, call, facts) or _calls_back(node, call, facts)


def _iterates(node: cst.Call, call: CallFacts, facts: Facts) -> Found:
    """A function that asks one of its arguments for its elements."""
    text = facts.source(node)
    if call.dotted == "tensor.__len__" and call.receiver is not None and call.receiver.is_symbolic:
        return f"`{text}` of a tensor (TensorFlow: {_NO_LENGTH}). Use `len(...)`, which AutoGraph replaces, or `tf.shape(...)[0]`.", call.receiver, _NO_LENGTH
    if call.dotted in ("builtins.list", "builtins.tuple") and len(call.args) == 1 and _is_range(node.args[0].value, facts) and call.args[0].is_staged:
        message = (
            f"`{text}` iterates over a range with a tensor bound, which is a tensor here (TensorFlow: {_ITERATION}). Use tf.range, or loop over it with `for`."
        )
        return message, call.args[0], _ITERATION
    if call.dotted in _REDUCTIONS and len(call.args) == 1 and not call.has_star and has_no_python_elements(call.args[0]):
        return f"`{text}` iterates over a tensor (TensorFlow: {_ITERATION}). Use {_REDUCTIONS[call.dotted][0]}.", call.args[0], _ITERATION
    entry = _ITERATED.get(call.dotted or "")
    if entry is None:
        return None
    positions, advice = entry
    for position, value in enumerate(call.args):
        if (positions is None or position in positions) and has_no_python_elements(value):
            error = _NO_LENGTH if call.dotted in ("builtins.reversed", "functools.reduce") else _ITERATION
            return f"`{text}` iterates over a tensor (TensorFlow: {error}). {advice or 'Use one operation on the whole tensor, or tf.map_fn.'}", value, error
    if call.dotted == "tensor.__iter__" and call.receiver is not None and has_no_python_elements(call.receiver):
        return f"`{text}` iterates over a tensor (TensorFlow: {_ITERATION}).", call.receiver, _ITERATION
    return None


def _is_range(node: cst.BaseExpression, facts: Facts) -> bool:
    call = facts.call(node) if isinstance(node, cst.Call) else None
    return call is not None and call.dotted == "builtins.range"


def _decides(node: cst.Call, call: CallFacts, facts: Facts) -> Found:
    """A function that compares several values, or asks for their truth, and finds tensors among them."""
    text = facts.source(node)
    if call.dotted in _REDUCTIONS:
        spread = [member for arg in node.args if arg.star == "*" for member in _members(facts.value(arg.value))]
        members = [*call.args, *spread] if len(call.args) > 1 or spread else _members(call.args[0]) if call.args else []
        value = _first_tensor(members)
        if value is None or "key" in call.keywords or (len(members) < 2 and bool(call.args) and call.args[0].elements is not None):
            return None
        reduce, pairwise = _REDUCTIONS[call.dotted]
        advice = f"Use {pairwise}." if len(call.args) == 2 and not spread else f"Use `{reduce}(tf.stack([...]))`."
        return f"`{text}` compares tensors with Python's `<` and needs the truth of the comparison (TensorFlow: {_ITERATION}). {advice}", value, _ITERATION
    if call.dotted in ("itertools.compress", "itertools.chain.from_iterable") and call.args:
        value = _first_tensor(_members(call.args[-1]))
        return None if value is None else (f"`{text}` looks into tensors (TensorFlow: {_ITERATION}). Use tf.boolean_mask or tf.concat.", value, _ITERATION)
    if call.dotted in ("builtins.any", "builtins.all") and len(call.args) == 1:
        value = _asked_for_truth(call.args[0], stops_at=call.dotted == "builtins.any")
        operation = "tf.reduce_any" if call.dotted == "builtins.any" else "tf.reduce_all"
        return (
            None
            if value is None
            else (f"`{text}` needs the truth value of a tensor (TensorFlow: {_ITERATION}). Use `{operation}(tf.stack([...]))`.", value, _ITERATION)
        )
    if call.dotted == "builtins.sorted" and len(call.args) == 1 and call.args[0].is_python and "key" not in call.keywords:
        members = _members(call.args[0])
        value = _first_tensor(members)
        if value is not None and (call.args[0].elements is None or (len(members) > 1 and (members[0] is value or has_no_python_value(members[1])))):
            return f"`{text}` compares tensors with Python's `<` (TensorFlow: {_ITERATION}). Use `tf.sort(tf.stack([...]))`.", value, _ITERATION
    return None


def _members(value: Value) -> list[Value]:
    """The elements of a Python sequence; one stands for all where the length is unknown."""
    if not value.is_python or value.pytype in _KEYED:
        return []
    if value.elements is not None:
        return list(value.elements)
    return [value.element] if value.element is not None else []


def _first_tensor(members: list[Value]) -> Value | None:
    return next((value for value in members if has_no_python_value(value)), None)


def _asked_for_truth(sequence: Value, *, stops_at: bool) -> Value | None:
    """The tensor that `any` or `all` asks for its truth, unless an element before it ends the search."""
    for member in _members(sequence):
        if has_no_python_value(member):
            return member
        if not member.has_const or bool(member.const) is stops_at:
            return None
    return None


def _calls_back(node: cst.Call, call: CallFacts, facts: Facts) -> Found:
    """A function that uses the result of another one as a truth value, or calls a builtin that AutoGraph replaces only where it is called by name."""
    text = facts.source(node)
    if call.dotted in _PREDICATES and len(call.args) == 2 and not call.args[1].is_dataset:
        predicate, source = call.args
        value = _result(predicate, facts) if not predicate.is_none else _first_tensor(_members(source))
        if value is not None and has_no_python_value(value):
            return f"`{text}` needs the truth value of a tensor (TensorFlow: {_ITERATION}). Use tf.boolean_mask.", value, _ITERATION
    key = call.keywords.get("key")
    if key is not None and call.dotted in (*_REDUCTIONS, "builtins.sorted", "list.sort") and not any(value.is_staged for value in call.args):
        value = _result(key, facts)
        if value is not None and has_no_python_value(value):
            return f"`{text}` compares the tensors that `key` gives (TensorFlow: {_ITERATION}). Use tf.argsort, tf.argmax or tf.argmin.", value, _ITERATION
    return _hands_builtin(str(text), call, key)


def _hands_builtin(text: str, call: CallFacts, key: Value | None) -> Found:
    """`map(len, tensors)`, `sorted(tensors, key=len)`, `reduce(max, tensors)`: the builtin itself is called, not what AutoGraph puts in its place."""
    if call.dotted in ("builtins.map", "functools.reduce") and len(call.args) > 1:
        handed, source = call.args[0], call.args[1]
    elif key is not None and call.args:
        handed, source = key, call.args[0]
    else:
        return None
    member = _first_tensor(_members(source))
    if member is None or handed.kind not in (Kind.FUNCTION, Kind.CLASS) or not isinstance(handed.ref, str):
        return None
    name = handed.ref.removeprefix("builtins.")
    if name not in (_COMPARING if call.dotted == "functools.reduce" or len(call.args) > 2 else _CONVERTING):
        return None
    error = _NO_LENGTH if name in ("len", "int", "float") else _ITERATION
    message = f"`{text}` calls Python's own `{name}`, since AutoGraph replaces a builtin only where it is called by name (TensorFlow: {error})."
    if name in _COMPARING:
        return f"{message} Use `tf.reduce_{name}(tf.stack([...]))`.", member, error
    return f"{message} Use a comprehension with `{name}(...)` or a tf operation.", member, error


def _result(function: Value, facts: Facts) -> Value | None:
    """What a lambda or local function gives."""
    for known in facts.functions() if function.kind is Kind.FUNCTION else ():
        if function.ref is known.node or function.ref == known.function:
            if isinstance(known.node, cst.Lambda):
                return facts.value(known.node.body)
            return known.returns[0].value if len(known.returns) == 1 else None
    return None
