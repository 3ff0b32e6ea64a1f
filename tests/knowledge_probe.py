"""Asks the installed TensorFlow what the tables in tflint_graph/knowledge say. Run by test_knowledge.py in a process of its own; answers with JSON.

python tests/knowledge_probe.py rows NAME NAME ...     measure functions again
python tests/knowledge_probe.py members                public attributes of the classes that methods.txt describes
python tests/knowledge_probe.py takers                 whether callbacks that need the conversion are converted
python tests/knowledge_probe.py builtins               what builtins do with tensors, datasets and iterators
"""

from __future__ import annotations

import functools
import importlib.util
import json
import os
import signal
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import tensorflow as tf

CALLBACKS = '''
import numpy as np
import tensorflow as tf

def one(x):
    if tf.reduce_sum(tf.cast(x, tf.float32)) > 0:
        return x
    return x

def two(a, b):
    if tf.reduce_sum(tf.cast(b, tf.float32)) > 0:
        return a
    return a

def none():
    if tf.random.uniform([]) > 0:
        return tf.constant(1)
    return tf.constant(2)

def predicate(x):
    if tf.cast(x, tf.float32) > 0:
        return tf.constant(True)
    return tf.constant(False)

def key(x):
    if x > 0:
        return tf.constant(1, tf.int64)
    return tf.constant(0, tf.int64)

def short(x):
    if x[0] > 0:
        return tf.constant(1)
    return tf.constant(0)

def number(x):
    if x > 0:
        return tf.constant(1)
    return tf.constant(0)

def window(key, dataset):
    if key > 0:
        size = 1
    else:
        size = 1
    return dataset.batch(2)

def flat(x):
    if x > 0:
        size = 1
    else:
        size = 1
    return tf.data.Dataset.range(3)

def scanned(state, x):
    if x > 0:
        return state, x
    return state, x

def body(i):
    if i > 0:
        return (i + 1,)
    return (i + 1,)

def gradient(x):
    if tf.reduce_sum(x) > 0:
        y = x
    else:
        y = x
    return y, lambda dy: dy

def applied(dataset):
    if dataset.cardinality() > 2:
        size = 1
    else:
        size = 1
    return dataset

def reader(datasets):
    if tf.random.uniform([]) > 0:
        size = 1
    else:
        size = 1
    return datasets.flat_map(lambda dataset: dataset)

def merge(strategy, x):
    if tf.reduce_sum(x) > 0:
        size = 1
    else:
        size = 1
    return x
'''  # fmt: skip

# Taker and parameter -> a function of a float32 vector that hands over a module-level callback.
Calls = dict[str, Callable[[Any], Any]]


def taker_calls(f: Any, folder: str) -> Calls:
    def data() -> Any:
        return tf.data.Dataset.range(4)

    return {
        "tensorflow.function func": lambda x: tf.function(f.one)(x),
        "tensorflow.map_fn fn": lambda x: tf.map_fn(f.one, x),
        "dataset.map map_func": lambda x: data().map(f.one),
        "dataset.filter predicate": lambda x: data().filter(f.predicate),
        "dataset.flat_map map_func": lambda x: data().flat_map(f.flat),
        "dataset.interleave map_func": lambda x: data().interleave(f.flat),
        "dataset.reduce reduce_func": lambda x: data().reduce(tf.constant(0, tf.int64), f.two),
        "dataset.scan scan_func": lambda x: data().scan(tf.constant(0, tf.int64), f.scanned),
        "dataset.take_while predicate": lambda x: data().take_while(f.predicate),
        "dataset.apply transformation_func": lambda x: data().apply(f.applied),
        "dataset.group_by_window key_func": lambda x: data().group_by_window(f.key, lambda k, d: d.batch(2), window_size=2),
        "dataset.group_by_window reduce_func": lambda x: data().group_by_window(lambda v: v, f.window, window_size=2),
        "dataset.group_by_window window_size_func": lambda x: data().group_by_window(lambda v: v, lambda k, d: d.batch(2), window_size_func=f.key),
        "dataset.bucket_by_sequence_length element_length_func": lambda x: data().map(lambda v: tf.ones([3])).bucket_by_sequence_length(f.short, [2], [2, 2]),
        "dataset.rejection_resample class_func": lambda x: data().rejection_resample(f.number, [0.5, 0.5]),
        "dataset.snapshot reader_func": lambda x: data().snapshot(folder, reader_func=f.reader),
        "dataset.snapshot shard_func": lambda x: data().snapshot(folder, shard_func=f.key),
        "tensorflow.distribute.Strategy.run fn": lambda x: tf.distribute.get_strategy().run(f.one, args=(x,)),
        "tensorflow.distribute.ReplicaContext.merge_call merge_fn": lambda x: tf.distribute.get_replica_context().merge_call(f.merge, args=(x,)),
        "tensorflow.cond true_fn": lambda x: tf.cond(x[0] > 0, f.none, lambda: tf.constant(1)),
        "tensorflow.cond false_fn": lambda x: tf.cond(x[0] > 0, lambda: tf.constant(1), f.none),
        "tensorflow.case pred_fn_pairs": lambda x: tf.case([(x[0] > 0, f.none)], default=lambda: tf.constant(1)),
        "tensorflow.case default": lambda x: tf.case([(x[0] > 0, lambda: tf.constant(1))], default=f.none),
        "tensorflow.switch_case branch_fns": lambda x: tf.switch_case(tf.cast(x[0], tf.int32), [f.none]),
        "tensorflow.while_loop cond": lambda x: tf.while_loop(f.predicate, lambda i: (i + 1,), [tf.constant(0)]),
        "tensorflow.while_loop body": lambda x: tf.while_loop(lambda i: i < 3, f.body, [tf.constant(0)]),
        "tensorflow.scan fn": lambda x: tf.scan(f.two, x),
        "tensorflow.foldl fn": lambda x: tf.foldl(f.two, x),
        "tensorflow.foldr fn": lambda x: tf.foldr(f.two, x),
        "tensorflow.vectorized_map fn": lambda x: tf.vectorized_map(f.one, x),
        "tensorflow.nest.map_structure func": lambda x: tf.nest.map_structure(f.one, [x]),
        "tensorflow.ragged.map_flat_values op": lambda x: tf.ragged.map_flat_values(f.one, tf.ragged.constant([[1.0], [2.0, 3.0]])),
        "tensorflow.custom_gradient f": lambda x: tf.custom_gradient(f.gradient)(x),
        "tensorflow.recompute_grad f": lambda x: tf.recompute_grad(f.one)(x),
        "tensorflow.py_function func": lambda x: tf.py_function(f.one, [x], tf.float32),
        "tensorflow.numpy_function func": lambda x: tf.numpy_function(f.one, [x], tf.float32),
        "builtins.map function": lambda x: list(map(f.one, [x])),
        "builtins.filter function": lambda x: list(filter(f.one, [x])),
        "builtins.sorted key": lambda x: sorted([x, x], key=f.one),
        "functools.reduce function": lambda x: functools.reduce(f.two, [x, x]),
        "keras.layers.Lambda function": lambda x: tf.keras.layers.Lambda(f.one, output_shape=(3,))(x[None]),
    }


def takers() -> dict[str, str]:
    """ "converted", or "traced" where the callback's `if` on a tensor was refused."""
    with tempfile.TemporaryDirectory() as folder:
        functions = load(CALLBACKS, Path(folder) / "callbacks.py")
        found = {}
        for name, call in taker_calls(functions, folder).items():
            try:
                tf.function(call, input_signature=[tf.TensorSpec([3], tf.float32)]).get_concrete_function()
                found[name] = "converted"
            except tf.errors.OperatorNotAllowedInGraphError:
                found[name] = "traced"
            except Exception as error:  # AutoGraph wraps the error, keeping its name
                found[name] = "traced" if "OperatorNotAllowedInGraphError" in f"{type(error).__name__}{error}" else f"{type(error).__name__}: {error}"
    return found


def load(source: str, path: Path) -> Any:
    """A module from source text; AutoGraph needs the file."""
    path.write_text(source, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


EXPRESSIONS = {
    "builtins.sorted": "sorted({})", "builtins.map": "map(lambda v: v, {})", "builtins.filter": "filter(lambda v: True, {})", "builtins.zip": "zip({}, {})",
    "builtins.pow": "pow({}, 2)",
    "builtins.divmod": "divmod({}, 2)", "builtins.isinstance": "isinstance({}, int)", "builtins.hasattr": "hasattr({}, 'x')",
    "functools.reduce": "functools.reduce(lambda a, b: a, {})",
    "itertools.islice": "itertools.islice({}, 2)", "itertools.combinations": "itertools.combinations({}, 2)",
    "itertools.permutations": "itertools.permutations({}, 2)",
    "itertools.chain": "list(itertools.chain({}))", "itertools.takewhile": "itertools.takewhile(lambda v: True, {})",
    "itertools.dropwhile": "itertools.dropwhile(lambda v: True, {})",
    "itertools.starmap": "itertools.starmap(lambda v: v, {})", "itertools.filterfalse": "itertools.filterfalse(lambda v: True, {})",
    "itertools.compress": "itertools.compress({}, [1])",
}  # fmt: skip
OPERANDS = {"tensor": "t", "scalar": "s", "variable": "v", "dataset": "d", "iterator": "i", "tensors": "[s, s]", "ragged": "r"}


class Hang(Exception):
    """Tracing did not end in time."""


def builtins_outcomes(rows: list[tuple[str, str]]) -> dict[str, list[str]]:
    """For "builtin operand": the outcome in converted and in unconverted code: "!X", "hang" or the result's kind."""
    source = "import functools, itertools\n"
    for number, (name, operand) in enumerate(rows):
        expression = EXPRESSIONS.get(name, f"{name.removeprefix('builtins.')}({{}})").replace("{}", OPERANDS[operand])
        source += f"def f{number}(t, s, v, d, i, r):\n    return {expression}\n"
    signal.signal(signal.SIGALRM, raise_hang)
    with tempfile.TemporaryDirectory() as folder:
        module = load(source, Path(folder) / "calls.py")
        return {
            f"{name} {operand}": [builtin_outcome(getattr(module, f"f{number}"), on) for on in (True, False)] for number, (name, operand) in enumerate(rows)
        }


def raise_hang(*_: object) -> None:
    raise Hang


def builtin_outcome(function: Callable[..., Any], converted: bool) -> str:
    for _ in range(5):
        try:
            return _traced_outcome(function, converted)
        except Hang:  # the alarm may ring on the way out
            try:
                signal.setitimer(signal.ITIMER_REAL, 0)
            except Hang:
                continue
            return "hang"
    return "hang"


def _traced_outcome(function: Callable[..., Any], converted: bool) -> str:
    found: list[str] = []
    variable = tf.Variable([1.0, 2.0, 3.0])
    dataset = tf.data.Dataset.range(3)
    called = tf.autograph.to_graph(function) if converted else function

    def traced(t: Any) -> Any:
        ragged = tf.RaggedTensor.from_row_lengths(t, [tf.size(t)])
        found.append(kind(called(t, tf.reduce_sum(t), variable, dataset, iter(dataset), ragged)))
        return 0

    signal.setitimer(signal.ITIMER_REAL, 5.0, 0.5)
    try:
        tf.function(traced, autograph=False, input_signature=[tf.TensorSpec([None], tf.float32)]).get_concrete_function()
    except Hang:
        raise
    except Exception as error:
        found = [f"!{type(error).__name__}"]
    signal.setitimer(signal.ITIMER_REAL, 0)
    return found[0]


def kind(value: Any) -> str:
    if isinstance(value, tf.Variable):
        return "variable"
    if tf.is_tensor(value):
        return "tensor"
    if isinstance(value, tf.data.Dataset):
        return "dataset"
    if isinstance(value, tf.data.Iterator):
        return "iterator"
    if value is None:
        return "none"
    return type(value).__name__ if isinstance(value, (list, tuple)) else "python"


def members() -> dict[str, list[str]]:
    """Public attributes of the values that methods.txt describes."""
    found: dict[str, list[str]] = {}

    def see(name: str, value: Any) -> None:
        found[name] = [attribute for attribute in dir(value) if not attribute.startswith("_")]

    @tf.function
    def traced(x: Any) -> Any:
        see("tensor", x)
        see("ragged", tf.RaggedTensor.from_row_lengths(x, [3]))
        see("sparse", tf.sparse.from_dense(x))
        see("tensorarray", tf.TensorArray(tf.float32, 3))
        return x

    traced(tf.ones([3]))
    dataset = tf.data.Dataset.range(3)
    for name, value in (
        ("variable", tf.Variable(1.0)), ("dataset", dataset), ("iterator", iter(dataset)), ("TensorShape", tf.TensorShape([1])), ("DType", tf.float32),
        ("function", traced),
        ("str", ""), ("list", []), ("dict", {}), ("set", set()), ("tuple", ()), ("bytes", b""), ("int", 1), ("float", 1.0),
    ):  # fmt: skip
        see(name, value)
    return found


def rows(names: list[str]) -> dict[str, str]:
    """The VALUE that measuring gives now."""
    from tflint_graph.knowledge.generate import describe
    from tflint_graph.knowledge.generate_calls import measure
    from tflint_graph.knowledge.generate_names import collect
    from tflint_graph.knowledge.generate_rules import settle

    known = collect()
    found = {}
    for name in names:
        with tf.Graph().as_default():
            value, _ = settle(measure(known.objects[name], lambda result: describe(result, known.by_id)))
        found[name] = value or ""
    return found


def main() -> None:
    what, arguments = sys.argv[1], sys.argv[2:]
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    if what == "rows":
        result: Any = rows(arguments)
    elif what == "members":
        result = members()
    elif what == "takers":
        result = takers()
    else:
        result = builtins_outcomes([(argument.split()[0], argument.split()[1]) for argument in arguments])
    json.dump(result, answers)
    answers.close()
    os._exit(0)  # threads of abandoned datasets must not hold the process


if __name__ == "__main__":
    main()
