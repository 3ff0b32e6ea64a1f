"""Python containers that code changes in place, seen from a branch or loop that TensorFlow stages.

TensorFlow traces each branch and the body of a loop once, whatever the data. A change of a Python object in there happens once and at once; only names and
items that AutoGraph recognises as the state of the statement become values of the graph (`tensorflow.python.autograph.converters.control_flow`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from tflint_graph.rule_api import Facts, Frame, FunctionFacts, Value

MUTABLE: Final = frozenset({"list", "dict", "set", "deque", "defaultdict", "OrderedDict", "Counter"})
MUTATORS: Final = frozenset({
    "append", "appendleft", "extend", "extendleft", "insert", "pop", "popleft", "popitem", "remove", "discard", "clear", "add", "update", "setdefault", "sort",
    "reverse", "rotate", "difference_update", "intersection_update", "symmetric_difference_update",
})  # fmt: skip
# Takers that trace a function once for a whole loop or branch. (tf.nest.map_structure and the like call it in Python, once per element.)
_STAGING_TAKERS: Final = ("while_loop", "map_fn", "scan", "foldl", "foldr", "vectorized_map", "cond", "case", "switch_case")

Change = cst.Assign | cst.AnnAssign | cst.AugAssign | cst.For | cst.Del


def is_mutable_container(value: Value) -> bool:
    return value.is_python and value.pytype in MUTABLE


def changed_items(node: Change) -> list[cst.Subscript]:
    """The `x[...]` that a statement assigns or deletes."""
    trees: list[cst.CSTNode] = [target.target for target in node.targets] if isinstance(node, cst.Assign) else [node.target]
    found: list[cst.Subscript] = []
    while trees:
        tree = trees.pop(0)
        if isinstance(tree, cst.Subscript):
            found.append(tree)
        elif isinstance(tree, (cst.Tuple, cst.List)):
            trees[:0] = [element.value for element in tree.elements]
    return found


def root_name(node: cst.CSTNode) -> str | None:
    """The name at the start of `name.attribute[key]`."""
    while isinstance(node, (cst.Attribute, cst.Subscript)):
        node = node.value
    return node.value if isinstance(node, cst.Name) else None


def staged_frames(node: cst.CSTNode, facts: Facts) -> Iterator[Frame]:
    """The blocks around a node that TensorFlow traces once, innermost first: branches and loops on tensors, functions handed to tf.while_loop and the like."""
    for frame in facts.frames(node, beyond_function=True):
        if frame.is_tensor_flow:
            yield frame
        elif frame.is_function:
            function = facts.function(frame.node)
            if function is None or not _is_staged_callback(function):
                return
            yield frame


def _is_staged_callback(function: FunctionFacts) -> bool:
    if not function.roles & {"callback", "elements"} or not function.steps:
        return False
    how = function.steps[-1].how
    return any(f"{name} " in f"{how} " for name in (f".{taker}" for taker in _STAGING_TAKERS))


def is_bound_in(name: str, frame: Frame, facts: Facts) -> bool:
    """The frame binds the name itself."""
    node = frame.node
    if isinstance(node, cst.If):
        branch = facts.branch(node)
        flow = branch.names.get(name) if branch is not None else None
        return flow is not None and (flow.assigned_in_body if frame.part == "if" else flow.assigned_in_orelse)
    if isinstance(node, (cst.For, cst.While)):
        loop = facts.loop(node)
        flow = loop.names.get(name) if loop is not None else None
        return (flow is not None and flow.assigned_in_body) or (isinstance(node, cst.For) and name in _names(node.target))
    function = facts.function(node)
    if function is None:
        return False
    return name in function.params or any(_binds(name, child) for child in node.children)


def _binds(name: str, node: cst.CSTNode) -> bool:
    if isinstance(node, cst.AssignTarget):
        return name in _names(node.target)
    if isinstance(node, (cst.For, cst.AnnAssign)) and name in _names(node.target):
        return True
    if isinstance(node, (cst.FunctionDef, cst.ClassDef, cst.Lambda)):
        return isinstance(node, (cst.FunctionDef, cst.ClassDef)) and node.name.value == name
    return any(_binds(name, child) for child in node.children)


def _names(target: cst.CSTNode) -> set[str]:
    """The plain names that a target binds."""
    if isinstance(target, cst.Name):
        return {target.value}
    if isinstance(target, (cst.Tuple, cst.List)):
        return {name for element in target.elements for name in _names(element.value)}
    return set()


def names_in(node: cst.CSTNode) -> set[str]:
    """The names an expression reads (attributes and keywords excluded)."""
    if isinstance(node, cst.Name):
        return {node.value}
    if isinstance(node, cst.Attribute):
        return names_in(node.value)
    return {name for child in node.children for name in names_in(child)}


def outlives(holder: cst.BaseExpression, frame: Frame, facts: Facts) -> bool:
    """The container that an expression names certainly exists before the frame begins, and something may see it after."""
    name = root_name(holder)
    if name is None:
        return False
    value = facts.value(holder)
    if not is_bound_in(name, frame, facts):
        return not facts.made_inside(value, frame) and is_read_later(name, frame, facts)
    if value.origin is not None:
        return facts.function(value.origin) is facts.function(frame.node) and not facts.may_be_made_inside(value, frame)
    source = _looped_over(name, holder, frame, facts)
    return source is not None and facts.value(source).is_container and outlives(source, frame, facts)


def may_be_bound_in(holder: cst.BaseExpression, frame: Frame, facts: Facts) -> bool:
    """The expression may name a container that the frame itself makes."""
    name = root_name(holder)
    return name is None or is_bound_in(name, frame, facts) or facts.made_inside(facts.value(holder), frame)


def _looped_over(name: str, holder: cst.CSTNode, frame: Frame, facts: Facts) -> cst.BaseExpression | None:
    """The `table` of a `for row in table:` inside the frame that binds the name."""
    for ancestor in facts.ancestors(holder):
        if ancestor is frame.node:
            return None
        if isinstance(ancestor, cst.For) and isinstance(ancestor.target, cst.Name) and ancestor.target.value == name:
            return ancestor.iter if isinstance(ancestor.iter, (cst.Name, cst.Attribute)) else None
    return None


def is_read_later(name: str, frame: Frame, facts: Facts) -> bool:
    """Something may see what a name holds after the frame: a later read, or code elsewhere where the name is not the function's own."""
    function = facts.function(frame.node)
    if frame.is_function and function is not None:
        function = next((facts.function(node) for node in facts.ancestors(frame.node)), None)
    if function is None:
        return True
    if name in function.params or not any(_binds(name, child) for child in function.node.children):
        return True
    loops = [ancestor for ancestor in facts.ancestors(frame.node) if isinstance(ancestor, (cst.For, cst.While))]
    line = facts.line(frame.node)
    return any(_sees(read, frame, loops, line, facts) for read in facts.reads_of(name, function.node))


def _sees(read: cst.Name, frame: Frame, loops: list[cst.For | cst.While], line: int, facts: Facts) -> bool:
    if any(f.node is frame.node and f.part == frame.part for f in facts.frames(read, beyond_function=True)) or _adds_only(read, facts):
        return False
    around = list(facts.ancestors(read))
    if any(loop in around for loop in loops):
        return frame.node not in around or frame.is_loop
    return frame.node not in around and facts.line(read) > line


def _adds_only(read: cst.Name, facts: Facts) -> bool:
    """`name.append(...)` as a statement looks at nothing that is in there already."""
    method = facts.parent(read)
    if not isinstance(method, cst.Attribute) or method.value is not read or method.attr.value not in ("append", "appendleft", "extend", "extendleft", "add"):
        return False
    call = facts.parent(method)
    return isinstance(call, cst.Call) and call.func is method and isinstance(facts.parent(call), cst.Expr)
