"""tf.data: what a dataset's elements are, through its constructors and transformations."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import libcst as cst

from tflint_graph.flow import operators as ops
from tflint_graph.flow.lattice import join, nest
from tflint_graph.flow.results import batched, leaf_rows, spread, structure_of_tensors, structured
from tflint_graph.flow.values import ANY_DIM, Kind, Value

if TYPE_CHECKING:
    from tflint_graph.flow.calls import Bound, Calls

_SAME = frozenset({
    "shuffle", "repeat", "take", "skip", "cache", "prefetch", "filter", "with_options", "shard", "take_while", "snapshot", "rejection_resample",
    "sparse_batch", "assert_cardinality",
    "ragged_batch_", "apply_options", "concatenate",
})  # fmt: skip
_TEXT_SOURCES = ("TFRecordDataset", "TextLineDataset", "FixedLengthRecordDataset", "list_files")
_SCALAR_STRING = Value(Kind.TENSOR, dtype="string", shape=())
_INT64 = Value(Kind.TENSOR, dtype="int64", shape=())


def dataset_call(self: Calls, dotted: str, receiver: Value | None, bound: Bound, node: cst.CSTNode) -> Value | None:
    """A constructor or method of a dataset; None when the tables should answer."""
    name = dotted.rpartition(".")[2]
    if receiver is None or receiver.kind is not Kind.DATASET:
        return _source(self, dotted, name, bound, node)
    why = self.reason(f"Dataset.{name}", node)
    element = receiver.element
    if name in _SAME:
        if name in ("filter", "take_while"):
            self.call_in_graph(_callback(bound, "predicate"), spread(element), node)
        return Value(Kind.DATASET, element=element, why=why)
    if name in ("batch", "padded_batch"):
        return Value(Kind.DATASET, element=None if element is None else _batch(element, bound, name), why=why)
    if name == "unbatch":
        return Value(Kind.DATASET, element=None if element is None else leaf_rows(element), why=why)
    if name == "enumerate":
        return Value(Kind.DATASET, element=_tuple(_INT64, element if element is not None else nest(Value(Kind.TENSOR))), why=why)
    if name == "map":
        result = self.call_in_graph(_callback(bound, "map_func"), spread(element), node)
        return Value(Kind.DATASET, element=structure_of_tensors(result), why=why)
    if name in ("flat_map", "interleave"):
        result = self.call_in_graph(_callback(bound, "map_func"), spread(element), node)
        return Value(Kind.DATASET, element=result.element if result.kind is Kind.DATASET else None, why=why)
    if name in ("reduce", "scan"):
        return _reduce(self, name, element, bound, node)
    if name == "apply":
        result = self.call_function(_callback(bound, "transformation_func"), [receiver], node)
        return result if result.kind is Kind.DATASET else Value(Kind.DATASET, why=why)
    if name == "window":
        return Value(Kind.DATASET, element=Value(Kind.DATASET, element=element), why=why)
    if name in ("cardinality", "__len__"):
        return _INT64
    if name == "get_single_element":
        return element if element is not None else nest(Value(Kind.TENSOR, why=why))
    return None


def _callback(bound: Bound, keyword: str) -> Value:
    if bound.args:
        return bound.args[0]
    return bound.kwargs.get(keyword, Value(Kind.UNKNOWN))


def _tuple(*elements: Value) -> Value:
    return Value(Kind.PYTHON, pytype="tuple", elements=elements)


def _batch(element: Value, bound: Bound, name: str) -> Value:
    drop = bound.kwargs.get("drop_remainder")
    if drop is None and name == "batch" and len(bound.args) > 1:
        drop = bound.args[1]
    size = bound.args[0] if bound.args else bound.kwargs.get("batch_size")
    if drop is None or drop.const is False:
        dim = None
    else:
        dim = size.const if drop.const is True and size is not None and isinstance(size.const, int) else ANY_DIM
    if name == "padded_batch":
        return _unshaped(element)
    return batched(element, dim)


def _unshaped(v: Value) -> Value:
    if v.elements is not None:
        return replace(v, elements=tuple(_unshaped(e) for e in v.elements))
    if v.items is not None:
        return replace(v, items=tuple((k, _unshaped(e)) for k, e in v.items))
    return replace(v, shape=None) if v.kind is Kind.TENSOR else v


def _reduce(self: Calls, name: str, element: Value | None, bound: Bound, node: cst.CSTNode) -> Value:
    keywords = ("initial_state", "reduce_func" if name == "reduce" else "scan_func")
    state = bound.args[0] if bound.args else bound.kwargs.get(keywords[0], Value(Kind.UNKNOWN))
    function = bound.args[1] if len(bound.args) > 1 else bound.kwargs.get(keywords[1], Value(Kind.UNKNOWN))
    before = structure_of_tensors(state)
    why = self.reason(f"Dataset.{name}", node)
    result = self.call_in_graph(function, [before, element if element is not None else nest(Value(Kind.TENSOR, why=why))], node)
    if name == "reduce":
        return self.eagerly(join(before, structure_of_tensors(result)) if not result.is_unknown else before)
    output = result.elements[1] if result.elements is not None and len(result.elements) == 2 else None
    return Value(Kind.DATASET, element=output, why=why)


def _source(self: Calls, dotted: str, name: str, bound: Bound, node: cst.CSTNode) -> Value | None:
    why = self.reason(f"result of {dotted.replace('tensorflow', 'tf', 1)}", node)
    first = bound.args[0] if bound.args else None
    if name == "range":
        return Value(Kind.DATASET, element=replace(_INT64, why=why), why=why)
    if name == "from_tensor_slices" and first is not None:
        return Value(Kind.DATASET, element=leaf_rows(first), why=why)
    if name == "from_tensors" and first is not None:
        return Value(Kind.DATASET, element=structure_of_tensors(first), why=why)
    if name in _TEXT_SOURCES and dotted.startswith("tensorflow.data."):
        return Value(Kind.DATASET, element=replace(_SCALAR_STRING, why=why), why=why)
    if name == "zip" and first is not None and dotted.startswith("tensorflow.data."):
        parts = list(first.elements) if first.elements is not None and len(bound.args) == 1 else list(bound.args)
        if all(p.kind is Kind.DATASET for p in parts):
            return Value(Kind.DATASET, element=_tuple(*(ops.element_of(p) for p in parts)), why=why)
        return Value(Kind.DATASET, why=why)
    if name == "from_generator" and dotted.startswith("tensorflow.data."):
        signature = bound.kwargs.get("output_signature")
        return Value(Kind.DATASET, element=structured(signature, why) if signature is not None else None, why=why)
    if name in ("sample_from_datasets", "choose_from_datasets") and first is not None and first.elements:
        member = first.elements[0]
        return Value(Kind.DATASET, element=member.element, why=why)
    if name == "Counter":
        return Value(Kind.DATASET, element=replace(_INT64, why=why), why=why)
    return None
