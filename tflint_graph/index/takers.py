"""Library functions that are handed functions, and what happens to those: the one table that indexing and linking share.

Measured on TensorFlow 2.21 with Keras 3.15; the rule pages of TFG110 and TFG111 show the measurements.
"""

from __future__ import annotations

import enum
from typing import NamedTuple


class Treatment(enum.Enum):
    """What a taker does with the function it is given."""

    ROOT = "root"  # tf.function
    DATASET = "dataset"  # converts, parameters are elements
    ELEMENTS = "elements"  # converts, parameters are slices of tensors
    CALLBACK = "callback"  # traces it within the caller's graph; a module-level function is not converted
    EAGER = "eager"  # runs it outside of any graph
    UNCONVERTED = "unconverted"  # do_not_convert
    STRATEGY = "strategy"  # converts when called in a converted function
    LOSS = "loss"  # Keras calls it while it traces train_step
    PASSES = "passes"  # gives back a function that calls it (functools.partial, functools.wraps(f)(g))
    HIDDEN = "hidden"  # gives back a function that hides it from AutoGraph (lru_cache)


class Taker(NamedTuple):
    """`positions` and `keywords` say which arguments are functions. `phrase` is how a chain names it."""

    treatment: Treatment
    phrase: str
    positions: tuple[int, ...] = (0,)
    keywords: tuple[str, ...] = ()


_C = Treatment.CALLBACK
_FUNCTION = Taker(Treatment.ROOT, "tf.function", (0,), ("func",))
_PY_FUNCTION = ("func",)

# Functions, by the dotted name below their library. `tf.` stands for tensorflow and tensorflow.compat.v2.
FUNCTIONS: dict[str, Taker] = {
    "tensorflow.function": _FUNCTION,
    "tensorflow.python.eager.def_function.function": _FUNCTION,
    "tensorflow.python.eager.polymorphic_function.polymorphic_function.function": _FUNCTION,
    "tensorflow.python.eager.polymorphic_function.function": _FUNCTION,
    "tensorflow.python.eager.function.defun": _FUNCTION,
    "tensorflow.contrib.eager.defun": _FUNCTION,
    "tensorflow.map_fn": Taker(Treatment.ELEMENTS, "tf.map_fn", (0,), ("fn",)),
    "tensorflow.vectorized_map": Taker(_C, "tf.vectorized_map", (0,), ("fn",)),
    "tensorflow.cond": Taker(_C, "tf.cond", (1, 2), ("true_fn", "false_fn")),
    "tensorflow.case": Taker(_C, "tf.case", (0, 1), ("pred_fn_pairs", "default")),
    "tensorflow.switch_case": Taker(_C, "tf.switch_case", (1, 2), ("branch_fns", "default")),
    "tensorflow.while_loop": Taker(_C, "tf.while_loop", (0, 1), ("cond", "body")),
    "tensorflow.scan": Taker(_C, "tf.scan", (0,), ("fn",)),
    "tensorflow.foldl": Taker(_C, "tf.foldl", (0,), ("fn",)),
    "tensorflow.foldr": Taker(_C, "tf.foldr", (0,), ("fn",)),
    "tensorflow.nest.map_structure": Taker(_C, "tf.nest.map_structure", (0,), ("func",)),
    "tensorflow.ragged.map_flat_values": Taker(_C, "tf.ragged.map_flat_values", (0,), ("op",)),
    "tensorflow.custom_gradient": Taker(_C, "tf.custom_gradient", (0,), ("f",)),
    "tensorflow.recompute_grad": Taker(_C, "tf.recompute_grad", (0,), ("f",)),
    "tensorflow.py_function": Taker(Treatment.EAGER, "tf.py_function", (0,), _PY_FUNCTION),
    "tensorflow.numpy_function": Taker(Treatment.EAGER, "tf.numpy_function", (0,), _PY_FUNCTION),
    "tensorflow.compat.v1.py_func": Taker(Treatment.EAGER, "tf.py_func", (0,), _PY_FUNCTION),
    "tensorflow.autograph.experimental.do_not_convert": Taker(Treatment.UNCONVERTED, "do_not_convert", (0,), ("func",)),
    "keras.ops.map": Taker(_C, "keras.ops.map", (0,), ("f",)),
    "keras.ops.vectorized_map": Taker(_C, "keras.ops.vectorized_map", (0,), ("function",)),
    "keras.ops.cond": Taker(_C, "keras.ops.cond", (1, 2), ("true_fn", "false_fn")),
    "keras.ops.while_loop": Taker(_C, "keras.ops.while_loop", (0, 1), ("cond", "body")),
    "keras.ops.scan": Taker(_C, "keras.ops.scan", (0,), ("f",)),
    "keras.ops.fori_loop": Taker(_C, "keras.ops.fori_loop", (2,), ("body_fun",)),
    "keras.ops.switch": Taker(_C, "keras.ops.switch", (1,), ("branches",)),
    "keras.layers.Lambda": Taker(Treatment.LOSS, "Lambda layer", (0,), ("function",)),
    "functools.partial": Taker(Treatment.PASSES, "functools.partial", (0,), ()),
    "functools.partialmethod": Taker(Treatment.PASSES, "functools.partialmethod", (0,), ()),
    "functools.update_wrapper": Taker(Treatment.PASSES, "functools.update_wrapper", (0,), ("wrapper",)),
    "functools.reduce": Taker(_C, "functools.reduce", (0,), ()),
    "functools.lru_cache": Taker(Treatment.HIDDEN, "functools.lru_cache", (0,), ()),
    "functools.cache": Taker(Treatment.HIDDEN, "functools.cache", (0,), ()),
    "wrapt.decorator": Taker(Treatment.HIDDEN, "wrapt.decorator", (0,), ()),
    "numpy.vectorize": Taker(_C, "np.vectorize", (0,), ("pyfunc",)),
    "map": Taker(_C, "map", (0,), ()),
    "filter": Taker(_C, "filter", (0,), ()),
    "tensorflow.tf_decorator.make_decorator": Taker(Treatment.PASSES, "make_decorator", (1,), ("decorator_func",)),
}

_D = Treatment.DATASET

# Methods of tf.data.Dataset. `group_by_window` (key_func) and `from_generator` (runs the generator outside of any graph) convert nothing.
DATASET_METHODS: dict[str, Taker] = {
    "map": Taker(_D, "Dataset.map", (0,), ("map_func",)),
    "filter": Taker(_D, "Dataset.filter", (0,), ("predicate",)),
    "flat_map": Taker(_D, "Dataset.flat_map", (0,), ("map_func",)),
    "interleave": Taker(_D, "Dataset.interleave", (0,), ("map_func",)),
    "reduce": Taker(_D, "Dataset.reduce", (1,), ("reduce_func",)),
    "scan": Taker(_D, "Dataset.scan", (1,), ("scan_func",)),
    "take_while": Taker(_D, "Dataset.take_while", (0,), ("predicate",)),
    "group_by_window": Taker(_C, "Dataset.group_by_window", (0, 1), ("key_func", "reduce_func", "window_size_func")),
    "from_generator": Taker(Treatment.EAGER, "Dataset.from_generator", (0,), ("generator",)),
}

# tf.data.experimental functions that make a transformation for Dataset.apply.
DATASET_TRANSFORMATIONS: dict[str, Taker] = {
    "tensorflow.data.experimental.map_and_batch": Taker(_D, "map_and_batch", (0,), ("map_func",)),
    "tensorflow.data.experimental.parallel_interleave": Taker(_D, "parallel_interleave", (0,), ("map_func",)),
    "tensorflow.data.experimental.scan": Taker(_D, "tf.data.experimental.scan", (1,), ("scan_func",)),
    "tensorflow.data.experimental.take_while": Taker(_D, "take_while", (0,), ("predicate",)),
    "tensorflow.data.experimental.group_by_reducer": Taker(_C, "group_by_reducer", (0,), ("key_func",)),
    "tensorflow.data.experimental.group_by_window": Taker(_C, "group_by_window", (0, 1), ("key_func", "reduce_func")),
}

STRATEGY_METHODS = frozenset({"run", "experimental_run_v2", "call_for_each_replica"})

# Last parts of names that may take functions: indexing keeps these calls whatever they are called on.
TAKER_NAMES = frozenset(
    {name.rpartition(".")[2] for name in FUNCTIONS}
    | set(DATASET_METHODS)
    | {name.rpartition(".")[2] for name in DATASET_TRANSFORMATIONS}
    | STRATEGY_METHODS
    | {"apply", "compile", "setattr", "getattr", "Sequential", "Model", "map_structure_up_to", "map_structure_with_path", "wraps", "make_template", "remat"}
)

# Those that give back a function which calls theirs in its place.
KEEPS = frozenset({"tensorflow.custom_gradient", "tensorflow.recompute_grad"})
