"""Functions handed to TensorFlow: what they are called with, and what the taker returns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import libcst as cst

from tflint_graph.flow import operators as ops
from tflint_graph.flow.lattice import branch_join, is_nest, join, nest, staged
from tflint_graph.flow.results import dtype_argument, shown, spread, structure_of_tensors
from tflint_graph.flow.values import UNKNOWN, Kind, Reason, Value
from tflint_graph.knowledge.takers import Gives, Runs, Taker
from tflint_graph.link.model import Context

if TYPE_CHECKING:
    from tflint_graph.flow.calls import Bound, Calls


def call_with_callbacks(self: Calls, dotted: str, rows: Sequence[Taker], receiver: Value | None, bound: Bound, node: cst.CSTNode) -> Value | None:
    """Run every callback of a library call with the values it will get; the taker's own result, or None when the tables should say it."""
    why = self.reason(f"handed to {shown(dotted)}", node)
    results: list[Value] = []
    for row in rows:
        function = bound.kwargs.get(row.parameter)
        if function is None and row.position is not None and row.position < len(bound.args):
            function = bound.args[row.position]
        if function is None:
            continue
        for one in _functions(function):
            args = _arguments(self, row, receiver, bound, why)
            if args is not None:
                results.append(_run(self, row, one, args, node))
    return _result(self, dotted, bound, results, node)


def _functions(value: Value) -> list[Value]:
    """The functions in a callback argument: itself, or those in a list, dict or list of (predicate, function) pairs."""
    if value.kind in (Kind.FUNCTION, Kind.INSTANCE):
        return [value]
    found: list[Value] = []
    members = value.elements or tuple(v for _, v in value.items or ())
    for member in members:
        found.extend(_functions(member))
    return found


def _run(self: Calls, row: Taker, function: Value, args: list[Value], node: cst.CSTNode) -> Value:
    saved = self.scope.context
    if row.runs is Runs.EAGER:
        self.scope.context = Context.EAGER
    elif saved is Context.EAGER and row.runs is not Runs.CALLER:
        self.scope.context = Context.CONVERTED if row.runs is Runs.CONVERTED else saved
    try:
        kwargs: dict[str, Value] = {}
        return self.call_function(function, args, node, kwargs)
    finally:
        self.scope.context = saved


def _arguments(self: Calls, row: Taker, receiver: Value | None, bound: Bound, why: Reason) -> list[Value] | None:
    """What the callback is called with; None when it is not known."""
    tensor = nest(Value(Kind.TENSOR, why=why))
    after = bound.args[1:]
    match row.gives:
        case Gives.NOTHING:
            return []
        case Gives.DATASET:
            element = receiver.element if receiver is not None else None
            return spread(element) if element is not None else [tensor]
        case Gives.KEY:
            return [Value(Kind.TENSOR, dtype="int64", shape=(), why=why)]
        case Gives.KEY_AND_DATASET:
            return [Value(Kind.TENSOR, dtype="int64", shape=(), why=why), Value(Kind.DATASET, element=receiver.element if receiver is not None else None)]
        case Gives.ELEMENTS:
            return [_slice(_given(bound, 1, "elems", "elements", "xs") or UNKNOWN, why)]
        case Gives.ACCUMULATOR:
            elems = _given(bound, 1, "elems", "xs")
            initial = _given(bound, 2, "initializer", "init")
            row_value = _slice(elems or UNKNOWN, why)
            return [structure_of_tensors(initial) if initial is not None and not initial.is_none else row_value, row_value]
        case Gives.LOOP_VARS:
            loop_vars = _given(bound, 2, "loop_vars", "init_val")
            if loop_vars is None or loop_vars.elements is None:
                return None
            return [staged(v, why) for v in loop_vars.elements]
        case Gives.LEAVES:
            return [_leaf(v) for v in after]
        case Gives.ARGUMENTS:
            given = _given(bound, 1, "args", "inp")
            if given is None or given.elements is None:
                return [] if given is None else None
            return list(given.elements)
        case Gives.TENSORS if row.runs is Runs.EAGER:
            given = _given(bound, 1, "inp")
            count = len(given.elements) if given is not None and given.elements is not None else 1
            return [Value(Kind.TENSOR, eager=True, why=why)] * count
        case Gives.ARRAYS:
            given = _given(bound, 1, "inp", "args")
            count = len(given.elements) if given is not None and given.elements is not None else 1
            return [Value(Kind.PYTHON, pytype="ndarray")] * count
        case Gives.TENSORS:
            return [tensor]
    return None


def _given(bound: Bound, position: int, *names: str) -> Value | None:
    for name in names:
        if name in bound.kwargs:
            return bound.kwargs[name]
    return bound.args[position] if position < len(bound.args) else None


def _slice(v: Value, why: Reason) -> Value:
    """One slice of an `elems` argument."""
    if v.kind is Kind.PYTHON and v.pytype in ("tuple", "list", "namedtuple") and v.elements is not None:
        return Value(Kind.PYTHON, pytype=v.pytype, elements=tuple(_slice(e, why) for e in v.elements))
    if v.kind is Kind.PYTHON and v.items is not None:
        return Value(Kind.PYTHON, pytype="dict", items=tuple((k, _slice(e, why)) for k, e in v.items))
    if v.kind in (Kind.TENSOR, Kind.VARIABLE):
        found = ops.element_of(v)
        return Value(Kind.TENSOR, dtype=found.dtype, shape=found.shape, why=why)
    if v.kind is Kind.PYTHON and v.pytype in ("ndarray", "int", "float"):
        return Value(Kind.TENSOR, why=why)
    return nest(Value(Kind.TENSOR, why=why))


def _leaf(v: Value) -> Value:
    if v.kind is Kind.PYTHON and (v.elements or v.items):
        members = list(v.elements or [m for _, m in v.items or ()])
        joined = _leaf(members[0])
        for member in members[1:]:
            joined = join(joined, _leaf(member))
        return joined
    if is_nest(v):
        assert v.element is not None
        return v.element
    return v


def _result(self: Calls, dotted: str, bound: Bound, results: list[Value], node: cst.CSTNode) -> Value | None:
    why = self.reason(f"result of {shown(dotted)}", node)
    if dotted in ("tensorflow.cond", "keras.ops.cond") and len(results) == 2:
        test = _given(bound, 0, "pred")
        if test is not None and (known := ops.truth(test)) is not None:
            return results[0] if known else results[1]
        return branch_join(results[0], results[1], why) if test is not None and test.is_staged else join(results[0], results[1])
    if dotted in ("tensorflow.case", "tensorflow.switch_case", "keras.ops.switch"):
        found = results[0] if results else UNKNOWN
        for other in results[1:]:
            found = branch_join(found, other, why)
        return found
    if dotted in ("tensorflow.while_loop", "keras.ops.while_loop", "keras.ops.fori_loop"):
        loop_vars = _given(bound, 2, "loop_vars")
        if loop_vars is not None and loop_vars.elements is not None:
            return staged(loop_vars, why)
        return UNKNOWN
    if dotted in (
        "tensorflow.map_fn",
        "tensorflow.vectorized_map",
        "keras.ops.map",
        "keras.ops.vectorized_map",
        "tensorflow.scan",
        "tensorflow.foldl",
        "tensorflow.foldr",
    ):
        if results and results[0].is_tensor:
            return self.eagerly(Value(Kind.TENSOR, why=why))
        return _unshaped(structure_of_tensors(results[0]), why) if results else nest(Value(Kind.TENSOR, why=why))
    if dotted in ("tensorflow.py_function", "tensorflow.numpy_function", "tensorflow.compat.v1.py_func"):
        return _typed(_given(bound, 2, "Tout"), why)
    if dotted == "tensorflow.nest.map_structure":
        structure = bound.args[1] if len(bound.args) > 1 else None
        if structure is not None and (structure.is_tensor or structure.kind is Kind.VARIABLE) and results:
            return results[0]
        if structure is not None and results and structure.is_container:
            return _mapped(structure, results[0])
        return nest(results[0]) if results and results[0].is_tensor else UNKNOWN
    if dotted.endswith((".Strategy.run", ".merge_call")) and results:
        return results[0] if not results[0].is_python else UNKNOWN
    return None


def _mapped(structure: Value, result: Value) -> Value:
    """The structure with every leaf replaced."""
    if structure.kind is Kind.PYTHON and structure.elements is not None:
        return replace(structure, elements=tuple(_mapped(e, result) for e in structure.elements))
    if structure.kind is Kind.PYTHON and structure.items is not None:
        return replace(structure, items=tuple((k, _mapped(e, result)) for k, e in structure.items))
    if structure.is_container:
        return Value(Kind.PYTHON, pytype=structure.pytype, element=result)
    return result if structure.kind is not Kind.UNKNOWN else nest(result)


def _typed(types: Value | None, why: Reason) -> Value | None:
    """Tensors of the dtypes that `Tout` names: one, or a list of them."""
    if types is None:
        return None
    if types.elements is not None:
        return Value(Kind.PYTHON, pytype="list", elements=tuple(Value(Kind.TENSOR, dtype=dtype_argument(t), why=why) for t in types.elements))
    dtype = dtype_argument(types)
    return Value(Kind.TENSOR, dtype=dtype, why=why) if dtype is not None else None


def _unshaped(v: Value, why: Reason) -> Value:
    if v.kind is Kind.PYTHON and v.elements is not None:
        return Value(Kind.PYTHON, pytype=v.pytype, elements=tuple(_unshaped(e, why) for e in v.elements))
    if v.kind is Kind.TENSOR:
        return Value(Kind.TENSOR, dtype=v.dtype, why=why)
    return v
