"""Which functions take callbacks, at which parameter, what they call them with, and whether AutoGraph converts a module-level function handed over there.

A nested def or a lambda inside converted code is converted together with the code around it, so `converts` matters only for functions defined elsewhere.
Measured on TensorFlow 2.21 and Keras 3.15 by handing each taker, inside a tf.function, a module-level function whose body needs the conversion (an `if` on a
tensor): see tests/test_knowledge.py, which repeats it.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Final

from tflint_graph.knowledge.api import canonical, lookup


class Runs(enum.Enum):
    """Who runs the callback's body."""

    CONVERTED = "converted"  # traced and converted, module-level functions too, from eager code too; not inside tf.function(autograph=False)
    TRACED = "traced"  # traced, but a module-level function is not converted
    EAGER = "eager"  # at run time, with eager tensors or arrays, or by Python outside any graph
    CALLER = "caller"  # called while tracing like any callee of the code around, but a module-level function is not converted


class Gives(enum.Enum):
    """What the callback is called with."""

    NOTHING = "nothing"
    DATASET = "dataset"  # tensors (or structures): the element of the dataset, a tuple spread over the parameters
    STATE_AND_DATASET = "state and dataset"  # the state, then the element as one argument (Dataset.reduce: spread is not done)
    KEY_AND_DATASET = "key and dataset"  # an int64 scalar tensor and a dataset of elements
    KEY = "key"  # an int64 scalar tensor
    DATASET_ITSELF = "dataset itself"  # the dataset object (Dataset.apply), or a dataset of datasets
    ELEMENTS = "elements"  # one tensor (or structure of tensors): a slice of the `elems` argument
    ACCUMULATOR = "accumulator"  # two tensors (or structures): the accumulated value and a slice
    LOOP_VARS = "loop vars"  # tensors: the loop variables, spread over the parameters
    LEAVES = "leaves"  # the leaves of the structures that follow in the call, whatever they are
    ARGUMENTS = "arguments"  # the arguments listed in the call's parameter `args` or `inp`, or of the later call of the wrapped function
    ARRAYS = "arrays"  # NumPy arrays
    TENSORS = "tensors"  # tensors
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Taker:
    """One callback parameter. `name` is a canonical name ("tensorflow.map_fn") or "KIND.METHOD" ("dataset.map"); `position` is None for keyword-only
    parameters."""

    name: str
    parameter: str
    position: int | None
    runs: Runs
    gives: Gives


def _table() -> dict[str, tuple[Taker, ...]]:
    found: dict[str, list[Taker]] = {}
    for line in _ROWS.strip().splitlines():
        name, parameter, position, runs, gives = (field.strip() for field in line.split("|"))
        found.setdefault(name, []).append(Taker(name, parameter, int(position) if position else None, Runs(runs), Gives(gives)))
    return {name: tuple(rows) for name, rows in found.items()}


# name | parameter | position | runs | gives
_ROWS: Final = """
tensorflow.function | func | 0 | converted | arguments
tensorflow.map_fn | fn | 0 | converted | elements
dataset.map | map_func | 0 | converted | dataset
dataset.filter | predicate | 0 | converted | dataset
dataset.flat_map | map_func | 0 | converted | dataset
dataset.interleave | map_func | 0 | converted | dataset
dataset.reduce | reduce_func | 1 | converted | state and dataset
dataset.scan | scan_func | 1 | converted | state and dataset
dataset.take_while | predicate | 0 | converted | dataset
dataset.apply | transformation_func | 0 | caller | dataset itself
dataset.group_by_window | key_func | 0 | traced | dataset
dataset.group_by_window | reduce_func | 1 | converted | key and dataset
dataset.group_by_window | window_size_func | 3 | traced | key
dataset.bucket_by_sequence_length | element_length_func | 0 | traced | dataset
dataset.rejection_resample | class_func | 0 | traced | dataset
dataset.snapshot | reader_func | 2 | converted | dataset itself
dataset.snapshot | shard_func | 3 | converted | dataset
dataset.save | shard_func | 2 | converted | dataset
dataset.load | reader_func | 3 | converted | dataset itself
tensorflow.data.experimental.scan | scan_func | 1 | converted | state and dataset
tensorflow.data.experimental.map_and_batch | map_func | 0 | converted | dataset
tensorflow.data.experimental.parallel_interleave | map_func | 0 | converted | dataset
tensorflow.data.experimental.take_while | predicate | 0 | converted | dataset
tensorflow.data.experimental.group_by_window | key_func | 0 | traced | dataset
tensorflow.data.experimental.group_by_window | reduce_func | 1 | converted | key and dataset
tensorflow.data.experimental.group_by_reducer | key_func | 0 | converted | dataset
tensorflow.data.experimental.bucket_by_sequence_length | element_length_func | 0 | traced | dataset
tensorflow.data.experimental.rejection_resample | class_func | 0 | traced | dataset
dataset.from_generator | generator | 0 | eager | arrays
tensorflow.distribute.Strategy.run | fn | 0 | converted | arguments
tensorflow.distribute.ReplicaContext.merge_call | merge_fn | 0 | converted | unknown
tensorflow.autograph.to_graph | entity | 0 | converted | arguments
tensorflow.compat.v1.wrap_function | fn | 0 | traced | arguments
tensorflow.compat.v1.cond | true_fn | 1 | traced | nothing
tensorflow.compat.v1.cond | false_fn | 2 | traced | nothing
tensorflow.compat.v1.case | pred_fn_pairs | 0 | traced | nothing
tensorflow.compat.v1.case | default | 1 | traced | nothing
tensorflow.compat.v1.while_loop | cond | 0 | traced | loop vars
tensorflow.compat.v1.while_loop | body | 1 | traced | loop vars
tensorflow.compat.v1.map_fn | fn | 0 | converted | elements
tensorflow.compat.v1.scan | fn | 0 | traced | accumulator
tensorflow.compat.v1.foldl | fn | 0 | traced | accumulator
tensorflow.compat.v1.foldr | fn | 0 | traced | accumulator
tensorflow.cond | true_fn | 1 | traced | nothing
tensorflow.cond | false_fn | 2 | traced | nothing
tensorflow.case | pred_fn_pairs | 0 | traced | nothing
tensorflow.case | default | 1 | traced | nothing
tensorflow.switch_case | branch_fns | 1 | traced | nothing
tensorflow.switch_case | default | 2 | traced | nothing
tensorflow.while_loop | cond | 0 | traced | loop vars
tensorflow.while_loop | body | 1 | traced | loop vars
tensorflow.scan | fn | 0 | traced | accumulator
tensorflow.foldl | fn | 0 | traced | accumulator
tensorflow.foldr | fn | 0 | traced | accumulator
tensorflow.vectorized_map | fn | 0 | traced | elements
tensorflow.nest.map_structure | func | 0 | caller | leaves
tensorflow.ragged.map_flat_values | op | 0 | caller | tensors
tensorflow.custom_gradient | f | 0 | caller | arguments
tensorflow.recompute_grad | f | 0 | caller | arguments
tensorflow.grad_pass_through | f | 0 | caller | arguments
tensorflow.py_function | func | 0 | eager | tensors
tensorflow.numpy_function | func | 0 | eager | arrays
tensorflow.compat.v1.py_func | func | 0 | eager | arrays
builtins.map | function | 0 | caller | unknown
builtins.sorted | key |  | caller | unknown
builtins.filter | function | 0 | caller | unknown
functools.reduce | function | 0 | caller | unknown
numpy.vectorize | pyfunc | 0 | caller | unknown
keras.ops.map | f | 0 | traced | elements
keras.ops.scan | f | 0 | traced | accumulator
keras.ops.associative_scan | f | 0 | traced | accumulator
keras.ops.vectorized_map | function | 0 | traced | elements
keras.ops.cond | true_fn | 1 | traced | nothing
keras.ops.cond | false_fn | 2 | traced | nothing
keras.ops.switch | branches | 1 | traced | unknown
keras.ops.while_loop | cond | 0 | traced | loop vars
keras.ops.while_loop | body | 1 | traced | loop vars
keras.ops.fori_loop | body_fun | 2 | traced | loop vars
keras.layers.Lambda | function | 0 | traced | tensors
"""

TAKERS: Final = _table()


def takers(dotted: str) -> tuple[Taker, ...]:
    """The callback parameters of a function or method, by dotted name (any spelling) or "KIND.METHOD"; empty when it takes none that we know of."""
    if (known := TAKERS.get(dotted)) is not None:
        return known
    name = canonical(dotted)
    if (known := TAKERS.get(name)) is not None:
        return known
    api = lookup(name)
    return TAKERS.get(api.name, ()) if api is not None else ()
