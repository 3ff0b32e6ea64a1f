"""A function handed to `tf.function` changes a list or dict that it got as an argument.

## What it does

Reports, in a function handed to `tf.function` itself, `p.append(...)`, `p.update(...)` and other methods that change a list or dict, `p[key] = ...`, `p[key]
+= ...`, `del p[key]` and `p += [...]`, where `p` is a parameter (or an item of one) whose value is a Python list or dict. Under an `if` that Python decides
this is a warning.

After `p = dict(p)`, `p = list(p)` or `p = p.copy()` the function changes its own copy. `*args` and `**kwargs` are new objects at each call. Dataset callbacks
may change the dict they get, and so may plain helpers.

## Why it is a problem

`tf.function` compares its arguments before and after tracing:

    ValueError: scale(params, factor) should not modify its Python input arguments. Modifying a copy is allowed.

A mutable default argument counts, and so does a list inside a dict.

## Fix safety

There is no automatic fix. Change a copy and return it.

## References

- `tensorflow/python/framework/func_graph.py` (`check_func_mutation`)
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tflint_graph.rule_api import TRACED, Claim, Facts, FunctionFacts, Rule, Severity, Value
from tflint_graph.rules.conversion._container_state import MUTATORS, changed_items
from tflint_graph.rules.conversion._graph_values import runs_eagerly

RULE = Rule(
    code="TFG158",
    name="argument-mutation",
    severity=Severity.ERROR,
    since="0.1.0",
    contexts=TRACED,
    triggers=frozenset({
        "Subscript", "AugAssign", "call:append", "call:extend", "call:insert", "call:pop", "call:popitem", "call:remove", "call:clear", "call:update",
        "call:setdefault", "call:sort", "call:reverse",
    }),
    supersedes=frozenset({"TFG203"}),
)  # fmt: skip

BAD = """
import tensorflow as tf


@tf.function
def add_noise(batch):
    batch["image"] = batch["image"] + tf.random.normal([2, 2])
    return batch


add_noise({"image": tf.zeros([2, 2])})
"""

GOOD = """
import tensorflow as tf


@tf.function
def add_noise(batch):
    batch = dict(batch)
    batch["image"] = batch["image"] + tf.random.normal([2, 2])
    return batch


add_noise({"image": tf.zeros([2, 2])})
"""

_WATCHED = ("list", "dict", "OrderedDict", "defaultdict")


def check(node: cst.Call | cst.Assign | cst.AugAssign | cst.Del, facts: Facts) -> Iterator[Claim]:
    function = facts.function(node)
    if function is None or not function.is_root or runs_eagerly(node, facts):
        return
    for holder in _changed(node, facts):
        name = _container_name(holder, facts)
        if name is not None and _is_argument(name, holder, function, facts):
            what = facts.source(node)
            message = f"`{what}` changes the argument `{name}` of `{function.display}`, which tf.function forbids (TensorFlow: ValueError)"
            severity = None if _is_certain(node, facts) else Severity.WARNING
            value = facts.value(holder)
            yield Claim(
                node, f"{message}. Change a copy: `{name} = {_copy(name, function)}`.", because=(value,) if value.why is not None else (), severity=severity
            )
            return


def _changed(node: cst.Call | cst.Assign | cst.AugAssign | cst.Del, facts: Facts) -> list[cst.BaseExpression]:
    """The expressions whose container a node changes."""
    match node:
        case cst.Call(func=cst.Attribute(value=holder, attr=cst.Name(value=method))) if method in MUTATORS:
            return [holder] if not _changes_nothing(node, holder, method, facts) else []
        case cst.AugAssign(target=cst.Name() as name, operator=cst.AddAssign()) if facts.value(name).pytype == "list":
            return [name]
        case cst.Call():
            return []
        case _:
            return [item.value for item in changed_items(node)]


def _changes_nothing(node: cst.Call, holder: cst.BaseExpression, method: str, facts: Facts) -> bool:
    """`d.pop(missing, default)`, `d.setdefault(present, x)` and `xs.extend([])` leave the container as it was."""
    container, call = facts.value(holder), facts.call(node)
    if call is None or call.has_star:
        return False
    if method == "extend":
        return bool(call.args) and call.args[0].elements == ()
    if method in ("pop", "setdefault") and container.pytype != "list" and len(call.args) == 2:
        keys = {key for key, _ in container.items} if container.items is not None else None
        return keys is None or not call.args[0].has_const or (call.args[0].const in keys) is (method == "setdefault")
    return False


def _container_name(node: cst.BaseExpression, facts: Facts) -> str | None:
    """The name at the start of `name[key]`. What hangs on an object's attributes (`self.log`) is not compared, except for the fields of named tuples."""
    while True:
        match node:
            case cst.Subscript(slice=[cst.SubscriptElement(slice=cst.Index())], value=node):
                pass  # an item; a slice is a copy
            case cst.Attribute(value=value) if facts.value(value).pytype == "namedtuple":
                node = value
            case _:
                break
    return node.value if isinstance(node, cst.Name) else None


def _is_argument(name: str, holder: cst.BaseExpression, function: FunctionFacts, facts: Facts) -> bool:
    """The container came in as an argument, and the name was not bound to something else."""
    value = facts.value(holder)
    if not value.is_python or value.pytype not in _WATCHED or not isinstance(function.node, (cst.FunctionDef, cst.Lambda)):
        return False
    if value.origin is not None and any(value.origin is param.origin for param in function.params.values()):
        return True  # also under another name
    name = _renamed(name, function, facts)
    if name not in function.params:
        return False
    frames = facts.frames(function.node.body)
    if isinstance(function.node, cst.FunctionDef) and _star_names(function.node.params) & {name}:
        return False
    outermost = frames[-1] if frames else None
    return (outermost is None or not facts.made_inside(value, outermost)) and not _is_rebound(name, function, facts)


def _renamed(name: str, function: FunctionFacts, facts: Facts) -> str:
    """The parameter that a name stands for, where the function's only binding of it is `name = parameter` or `name = parameter[key]`."""
    for _ in range(3):
        if name in function.params:
            break
        match _bindings(name, function):
            case [cst.Assign(targets=[cst.AssignTarget(target=cst.Name())], value=value)]:
                name = _container_name(value, facts) or name
            case _:
                break
    return name


def _star_names(params: cst.Parameters) -> set[str]:
    stars = (params.star_arg, params.star_kwarg)
    return {star.name.value for star in stars if isinstance(star, cst.Param)}


def _is_rebound(name: str, function: FunctionFacts, facts: Facts) -> bool:
    """`p = ...` somewhere in the function."""
    return bool(_bindings(name, function))


def _bindings(name: str, function: FunctionFacts) -> list[cst.CSTNode]:
    """The statements of a function that bind a name, nested functions included."""
    stack: list[cst.CSTNode] = [function.node.body] if isinstance(function.node, (cst.FunctionDef, cst.Lambda)) else []
    found: list[cst.CSTNode] = []
    while stack:
        node = stack.pop()
        match node:
            case cst.Assign(targets=targets) if any(_binds(name, target.target) for target in targets):
                found.append(node)
            case cst.For() | cst.NamedExpr() | cst.AnnAssign() if _binds(name, node.target):
                found.append(node)
        stack.extend(node.children)
    return found


def _binds(name: str, target: cst.CSTNode) -> bool:
    if isinstance(target, (cst.Tuple, cst.List)):
        return any(_binds(name, element.value) for element in target.elements)
    return isinstance(target, cst.Name) and target.value == name


def _is_certain(node: cst.CSTNode, facts: Facts) -> bool:
    """No `if` or handler that Python decides stands around the node."""
    return all(frame.part in ("def", "lambda", "with", "for", "try", "comprehension") or frame.is_tensor_flow for frame in facts.frames(node))


def _copy(name: str, function: FunctionFacts) -> str:
    value: Value | None = function.params.get(name)
    return f"list({name})" if value is not None and value.pytype == "list" else f"dict({name})"
