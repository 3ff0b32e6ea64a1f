"""A dataset or dataset iterator that Python itself runs through while TensorFlow traces.

## What it does

Reports, in code that TensorFlow traces, a `tf.data` dataset or an iterator over one

- in a comprehension, in `list()`, `sum()`, `max()`, `sorted()` or a star, or unpacked into names;
- in `zip` with a list or another iterator, in `enumerate` or `map` of an iterator, in `functools.reduce` and `itertools` (except `islice`);
- wrapped in a progress bar such as `tqdm`, or in an object with an `__iter__` of its own (a warning);
- in a `for` of code that AutoGraph does not convert: a generator, a function under `autograph=False`, a function whose conversion stopped.

In converted code a plain `for x in dataset` becomes one loop of the graph. So do loops over `enumerate(dataset)`, `zip(ds1, ds2)`, `map(f, dataset)` and
`filter(f, dataset)`, and over an iterator. `itertools.islice(dataset, n)` and `zip(range(n), dataset)` take a known number of elements and are fine.

## Why it is a problem

While tracing, `next()` of a dataset iterator adds an operation to the graph; it never raises StopIteration, because nobody knows yet how many elements there
are. Python's loop therefore never ends: the process grows until it is killed. In unconverted functions TensorFlow notices after a while:

    ValueError: An unusually high number of `tf.data.Iterator.get_next()` calls was detected.

`zip(dataset, labels)` asks the dataset for one element more than `labels` has. The trace ends, and the program fails when it runs
(`OutOfRangeError: End of sequence`), unless the dataset is longer than the list; this is a warning.

## Fix safety

There is no automatic fix. Loop with a plain `for`, or use `Dataset.reduce`, `Dataset.zip`, `Dataset.enumerate`, `Dataset.take`; show progress outside the
traced function.

## References

- `tensorflow/python/data/ops/iterator_ops.py` (`GET_NEXT_CALL_ERROR_MESSAGE`)
- `tensorflow/python/autograph/operators/control_flow.py` (`for_stmt`), `py_builtins.py`
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from tflint_graph.rule_api import TRACED, CallFacts, Claim, Facts, Kind, Rule, Severity, Unconverted, Value
from tflint_graph.rules.conversion._graph_values import runs_eagerly

RULE = Rule(
    code="TFG142",
    name="dataset-outside-plain-for",
    severity=Severity.ERROR,
    since="0.1.0",
    contexts=TRACED,
    triggers=frozenset({
        "ListComp", "SetComp", "DictComp", "GeneratorExp", "For", "Assign", "Starred", "YieldFrom",
        "call:list", "call:tuple", "call:set", "call:frozenset", "call:deque", "call:extend", "call:sum", "call:sorted", "call:min", "call:max",
        "call:enumerate", "call:zip", "call:map", "call:filter", "call:reduce", "call:chain", "call:cycle", "call:takewhile", "call:accumulate",
        "call:tqdm", "call:track",
    }),
    supersedes=frozenset({"TFG110", "TFG140", "TFG141"}),
)  # fmt: skip

BAD = """
import tensorflow as tf


@tf.function
def total(dataset: tf.data.Dataset):
    return tf.add_n([value * 2 for value in dataset])


total(tf.data.Dataset.range(3))
"""

GOOD = """
import tensorflow as tf


@tf.function
def total(dataset: tf.data.Dataset):
    result = tf.constant(0, tf.int64)
    for value in dataset:
        result += value * 2
    return result


total(tf.data.Dataset.range(3))
"""

_WITHOUT_END: Final = "the trace never ends (TensorFlow adds get_next() calls until memory runs out)"
_CONSUMERS: Final = frozenset({
    "builtins.list", "builtins.tuple", "builtins.set", "builtins.frozenset", "builtins.sum", "builtins.sorted", "builtins.min", "builtins.max",
    "collections.deque", "list.extend", "deque.extend", "set.update", "itertools.chain", "itertools.cycle", "itertools.accumulate", "itertools.pairwise",
})  # fmt: skip
_SECOND: Final = frozenset({"functools.reduce", "itertools.takewhile", "itertools.dropwhile", "itertools.filterfalse"})
_PROGRESS: Final = frozenset({"tqdm", "tqdm_notebook", "track"})
_INSTEAD: Final = "Loop over it with a plain `for`, or use Dataset.reduce."

Suspect = cst.CompFor | cst.For | cst.Assign | cst.StarredElement | cst.Arg | cst.From | cst.Call


def check(node: Suspect, facts: Facts) -> Iterator[Claim]:
    found = _found(node, facts)
    if found is not None and not runs_eagerly(node, facts):
        message, value, severity = found
        yield Claim(node.iter if isinstance(node, cst.CompFor) else node, message, because=(value,), severity=severity)


Found = tuple[str, Value, Severity | None] | None


def _found(node: Suspect, facts: Facts) -> Found:
    match node:
        case cst.CompFor(iter=source):
            value = facts.value(source)
            if _is_data(value) and not _is_lazy(node, facts) and not _is_reported(source, facts):
                return f"The comprehension runs through {_named(source, value, facts)} in Python: {_WITHOUT_END}. {_INSTEAD}", value, None
        case cst.For():
            return _loop(node, facts)
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Tuple() | cst.List() as target), *_], value=source):
            value = facts.value(source)
            if _is_data(value):
                message = f"Unpacking {_named(source, value, facts)} into `{facts.source(target)}` asks for one element more, and gets it"
                return f"{message} (TensorFlow: ValueError: too many values to unpack). Use `next(iter(...))` for each element.", value, None
        case cst.StarredElement(value=source) | cst.From(item=source) | cst.Arg(star="*", value=source):
            value = facts.value(source)
            if _is_data(value) and not _is_reported(source, facts):
                return f"`*{facts.source(source)}` runs through {_named(source, value, facts)} in Python: {_WITHOUT_END}. {_INSTEAD}", value, None
        case cst.Call():
            call = facts.call(node)
            return _call(node, call, facts) if call is not None else None
    return None


def _is_data(value: Value) -> bool:
    return value.kind in (Kind.DATASET, Kind.ITERATOR)


def _named(source: cst.BaseExpression, value: Value, facts: Facts) -> str:
    return f"the {'dataset' if value.is_dataset else 'dataset iterator'} `{facts.source(source)}`"


def _is_reported(source: cst.BaseExpression, facts: Facts) -> bool:
    """The source itself is a call that never ends."""
    call = facts.call(source) if isinstance(source, cst.Call) else None
    return call is not None and isinstance(source, cst.Call) and _call(source, call, facts) is not None


def _is_lazy(node: cst.CompFor, facts: Facts) -> bool:
    """A generator expression that nothing runs through: kept in a name, or asked by `next()` for one element."""
    outer = facts.parent(node)
    if not isinstance(outer, cst.GeneratorExp) or outer.for_in is not node:
        return False
    holder = facts.parent(outer)
    if isinstance(holder, cst.Arg):
        call = facts.parent(holder)
        facts_of_call = facts.call(call) if isinstance(call, cst.Call) else None
        return facts_of_call is None or facts_of_call.dotted is None or facts_of_call.dotted in ("builtins.next", "itertools.islice")
    return not isinstance(holder, (cst.For, cst.CompFor, cst.StarredElement))


def _loop(node: cst.For, facts: Facts) -> Found:
    function = facts.function(node)
    value = facts.value(node.iter)
    if function is None:
        return None
    if value.kind is Kind.INSTANCE and isinstance(node.iter, cst.Call) and not _leaves(node.body, in_loop=False):
        call = facts.call(node.iter)
        data = next((v for v in call.args if _is_data(v)), None) if call is not None else None
        if data is not None:
            hidden = f"`{facts.source(node.iter)}` hides the {_kind(data)} from AutoGraph"
            message = f"{hidden}: Python runs its `__iter__`, and if that takes all elements, {_WITHOUT_END}"
            return f"{message}. Loop over the dataset itself.", data, Severity.WARNING
    if not _is_data(value):
        return None
    if not function.converted and function.unconverted is not Unconverted.STOPPED and not _leaves(node.body, in_loop=False):
        reason = f" ({function.unconverted.value})" if function.unconverted is not None else ""
        message = f"The `for` over {_named(node.iter, value, facts)} stays a Python loop, since AutoGraph does not convert `{function.display}`{reason}: "
        return f"{message}{_WITHOUT_END}. Loop in converted code, or use Dataset.reduce.", value, None
    return None


def _leaves(node: cst.CSTNode, *, in_loop: bool) -> bool:
    """Whether a loop body can leave its loop by `break` or `return`."""
    if isinstance(node, (cst.Return, cst.Raise)) or (isinstance(node, cst.Break) and not in_loop):
        return True
    if isinstance(node, (cst.FunctionDef, cst.ClassDef, cst.BaseExpression)):
        return False
    return any(_leaves(child, in_loop=in_loop or isinstance(node, (cst.For, cst.While))) for child in node.children)


def _call(node: cst.Call, call: CallFacts, facts: Facts) -> Found:
    text = facts.source(node)
    last = call.dotted.rpartition(".")[2] if call.dotted is not None else ""
    if call.dotted is None or not call.args:
        return None
    if call.dotted in _CONSUMERS or call.dotted.startswith("itertools.chain"):
        value = next((v for v in call.args if _is_data(v)), None) if call.receiver is None or len(call.args) == 1 else None
        if value is not None:
            return f"`{text}` runs through a {_kind(value)} in Python: {_WITHOUT_END}. {_INSTEAD}", value, None
    if call.dotted in _SECOND and len(call.args) > 1 and _is_data(call.args[1]):
        return f"`{text}` runs through a {_kind(call.args[1])} in Python: {_WITHOUT_END}. {_INSTEAD}", call.args[1], None
    if last in _PROGRESS and call.dotted.split(".")[0] in ("tqdm", "rich") and _is_data(call.args[0]):
        message = f"`{text}` hides the {_kind(call.args[0])} from AutoGraph, and a loop over it runs in Python: {_WITHOUT_END}. Loop over the dataset itself."
        return message, call.args[0], None
    if call.dotted == "builtins.enumerate" and call.args[0].kind is Kind.ITERATOR:
        return f"`{text}` runs through the dataset iterator in Python: {_WITHOUT_END}. Use `enumerate` of the dataset.", call.args[0], None
    if call.dotted in ("builtins.map", "builtins.filter") and len(call.args) > 1 and call.args[1].kind is Kind.ITERATOR:
        return f"`{text}` runs through the dataset iterator in Python: {_WITHOUT_END}. Use Dataset.map or Dataset.filter.", call.args[1], None
    return _zip(str(text), call) if call.dotted == "builtins.zip" and not call.has_star else None


def _kind(value: Value) -> str:
    return "dataset" if value.is_dataset else "dataset iterator"


def _zip(text: str, call: CallFacts) -> Found:
    """`zip` becomes Dataset.zip only where all arguments are datasets."""
    data = [value for value in call.args if _is_data(value)]
    if not data or (all(value.is_dataset for value in data) and len(data) == len(call.args)):
        return None
    others = [value for value in call.args if not _is_data(value)]
    if not others:
        return f"`{text}` runs through dataset iterators in Python: {_WITHOUT_END}. Use Dataset.zip, or `zip` of the datasets.", data[0], None
    if not all(value.is_container or value.pytype == "range" for value in others) or not _is_data(call.args[0]):
        return None
    message = (
        f"`{text}` asks the {_kind(data[0])} for one element more than the other argument has (TensorFlow, when it runs: OutOfRangeError: End of sequence)"
    )
    return f"{message}. Put the Python sequence first, or make it a dataset and use Dataset.zip.", data[0], Severity.WARNING
