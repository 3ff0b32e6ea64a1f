"""Methods of Python containers: what they return, and what the container holds afterwards."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import libcst as cst

from tflint_graph.flow import operators as ops
from tflint_graph.flow.lattice import any_element, join
from tflint_graph.flow.values import MISSING, NONE, UNKNOWN, Kind, Value

if TYPE_CHECKING:
    from tflint_graph.flow.calls import Bound, Calls

_GROWING = {"append", "add", "appendleft", "insert", "extend", "update", "extendleft"}


def container_call(self: Calls, dotted: str, receiver: Value, bound: Bound, node: cst.CSTNode) -> Value | None:
    """A method of a list, tuple, dict, set or deque; None for what the tables know better."""
    if not receiver.is_container and receiver.pytype != "TensorShape":
        return None
    name = dotted.rpartition(".")[2]
    args = bound.args
    if receiver.pytype == "TensorShape":
        return _shape_call(name, receiver, bound)
    if receiver.pytype == "namedtuple" and isinstance(receiver.const, tuple) and receiver.elements is not None and not bound.has_star:
        fields = dict(zip(receiver.const, receiver.elements, strict=True))
        if name == "_replace":
            return replace(receiver, elements=tuple({**fields, **bound.kwargs}.get(f, UNKNOWN) for f in receiver.const), origin=node)
        if name == "_asdict":
            return Value(Kind.PYTHON, pytype="dict", items=tuple(fields.items()), origin=node)
    if name in _GROWING:
        self.rebind_receiver(node, _grown(name, receiver, args, bound))
        return NONE
    if name in ("pop", "popleft", "popitem", "remove", "clear", "discard", "setdefault", "sort", "reverse"):
        element = any_element(receiver)
        if name == "setdefault" and len(args) > 1:
            self.rebind_receiver(node, _stored(receiver, args[0], args[1]))
            return args[1] if element is None else join(element, args[1])
        if name == "clear":
            self.rebind_receiver(
                node, replace(receiver, elements=() if receiver.items is None else None, items=() if receiver.items is not None else None, element=None)
            )
            return NONE
        if name == "pop" and receiver.items is not None and args and args[0].has_const:
            found = next((v for k, v in receiver.items if k == args[0].const), None)
            self.rebind_receiver(node, replace(receiver, items=tuple((k, v) for k, v in receiver.items if k != args[0].const)))
            return found if found is not None else args[1] if len(args) > 1 else UNKNOWN
        if receiver.elements is not None and name == "pop" and receiver.elements:
            at = -1 if not args else args[0].const if isinstance(args[0].const, int) else None
            if isinstance(at, int) and -len(receiver.elements) <= at < len(receiver.elements):
                rest = list(receiver.elements)
                taken = rest.pop(at)
                self.rebind_receiver(node, replace(receiver, elements=tuple(rest)))
                return taken
        if name not in ("sort", "reverse") or receiver.elements is not None:
            self.rebind_receiver(node, Value(Kind.PYTHON, pytype=receiver.pytype, element=element, origin=receiver.origin, why=receiver.why))
        if name in ("pop", "popleft"):
            return element if element is not None else UNKNOWN
        return NONE if name != "popitem" else UNKNOWN
    return _reading(name, receiver, bound, node)


def _grown(name: str, receiver: Value, args: list[Value], bound: Bound) -> Value:
    if name in ("append", "add", "appendleft") and args:
        new: tuple[Value, ...] = (args[0],)
    elif name == "insert" and len(args) > 1:
        new = (args[1],)
    elif name in ("extend", "extendleft") and args:
        if args[0].elements is None:
            return _blurred(receiver, ops.element_of(args[0]))
        new = args[0].elements
    elif name == "update":
        return _updated(receiver, args, bound)
    else:
        return _blurred(receiver, UNKNOWN)
    if receiver.elements is not None and len(receiver.elements) < 32 and name in ("append", "extend"):
        return replace(receiver, elements=receiver.elements + new)
    if not new:
        return receiver
    joined = new[0]
    for v in new[1:]:
        joined = join(joined, v)
    return _blurred(receiver, joined)


def _updated(receiver: Value, args: list[Value], bound: Bound) -> Value:
    if receiver.pytype == "set":
        return _blurred(receiver, ops.element_of(args[0]) if args else UNKNOWN)
    other = args[0].items if args else ()
    if receiver.items is not None and other is not None and not bound.has_star:
        return replace(receiver, items=tuple({**dict(receiver.items), **dict(other), **bound.kwargs}.items()))
    added = any_element(args[0]) if args else None
    return _blurred(receiver, added if added is not None else UNKNOWN)


def _blurred(receiver: Value, added: Value) -> Value:
    """The container with its length forgotten and one more kind of element."""
    before = any_element(receiver)
    empty = receiver.elements == () or receiver.items == ()
    element = added if empty else join(before, added) if before is not None else None
    return Value(Kind.PYTHON, pytype=receiver.pytype, element=element, origin=receiver.origin, why=receiver.why)


def _stored(receiver: Value, key: Value, value: Value) -> Value:
    """The container after `c[key] = value`."""
    if receiver.items is not None and key.const is not MISSING:
        return replace(receiver, items=tuple({**dict(receiver.items), key.const: value}.items()))
    if receiver.elements is not None and isinstance(key.const, int) and -len(receiver.elements) <= key.const < len(receiver.elements):
        members = list(receiver.elements)
        members[key.const] = value
        return replace(receiver, elements=tuple(members))
    return _blurred(receiver, value)


def stored(receiver: Value, key: Value | None, value: Value) -> Value:
    """The container after `c[key] = value` (key None for a slice)."""
    return _stored(receiver, key if key is not None else UNKNOWN, value)


def _reading(name: str, receiver: Value, bound: Bound, node: cst.CSTNode) -> Value | None:
    args = bound.args
    element = any_element(receiver)
    if name == "copy":
        return replace(receiver, origin=node)
    if receiver.pytype in ("dict", "defaultdict", "OrderedDict", "Counter"):
        if name == "items":
            if receiver.items is not None:
                rows = tuple(Value(Kind.PYTHON, pytype="tuple", elements=(ops.constant(k), v)) for k, v in receiver.items)
                return Value(Kind.PYTHON, pytype="list", elements=rows, origin=node)
            pair = Value(Kind.PYTHON, pytype="tuple", elements=(UNKNOWN, element if element is not None else UNKNOWN))
            return Value(Kind.PYTHON, pytype="generator", element=pair)
        if name == "values":
            if receiver.items is not None:
                return Value(Kind.PYTHON, pytype="list", elements=tuple(v for _, v in receiver.items), origin=node)
            return Value(Kind.PYTHON, pytype="generator", element=element)
        if name == "keys":
            if receiver.items is not None:
                return Value(Kind.PYTHON, pytype="list", elements=tuple(ops.constant(k) for k, _ in receiver.items), origin=node)
            return Value(Kind.PYTHON, pytype="generator")
        if name == "get" and args:
            if receiver.items is not None and args[0].has_const:
                found = next((v for k, v in receiver.items if k == args[0].const), None)
                return found if found is not None else args[1] if len(args) > 1 else NONE
            return UNKNOWN
    if name in ("index", "count"):
        return ops.INT
    if name in ("as_list",):
        return receiver
    if name in ("union", "intersection", "difference"):
        return Value(Kind.PYTHON, pytype="set", element=element)
    return None


def _shape_call(name: str, receiver: Value, bound: Bound) -> Value | None:
    if name in ("as_list", "dims"):
        return Value(Kind.PYTHON, pytype="list", elements=ops.shape_elements(receiver.shape), why=receiver.why)
    if name in ("num_elements",) and receiver.shape is not None:
        if all(isinstance(d, int) for d in receiver.shape):
            total = 1
            for d in receiver.shape:
                assert isinstance(d, int)
                total *= d
            return ops.constant(total)
        return ops.dimension(None) if any(d is None for d in receiver.shape) else None
    if name == "is_fully_defined":
        return ops.BOOL
    if name == "with_rank":
        return receiver
    if name == "__getitem__":
        return None
    return None
