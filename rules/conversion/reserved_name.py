"""A local name that AutoGraph's generated code needs for itself.

## What it does

Reports the name `ag__` bound anywhere in a converted function (assignment, parameter, loop or comprehension target, import, nested function), and the name
`fscope` bound in its body and never read.

## Why it is a problem

The code that AutoGraph generates calls its operators through a module named `ag__` and keeps the function's state in a variable named `fscope`:

    with ag__.FunctionScope('f', 'fscope', ...) as fscope:
        ...
        return fscope.ret(retval_, do_return)

AutoGraph gives other generated names a number when the function uses them, but not `ag__`, and `fscope` only when the function reads it. A function that
binds them fails:

    UnboundLocalError: cannot access local variable 'ag__' where it is not associated with a value
    AttributeError: 'int' object has no attribute 'ret'

Attributes and keyword arguments of these names are no problem.

## Fix safety

There is no automatic fix yet. Rename the local.

## References

- `tensorflow/python/autograph/converters/functions.py`
- `tensorflow/python/autograph/impl/api.py` (`PyToTF.get_extra_locals`)
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tflint_graph.rule_api import CONVERTED, Claim, Facts, FunctionFacts, Rule, Severity
from tflint_graph.rules.conversion._stopped import converted_as_a_whole

RULE = Rule(
    code="TFG112",
    name="reserved-name",
    severity=Severity.ERROR,
    since="0.1.0",
    contexts=CONVERTED,
    triggers=frozenset({"name:ag__", "name:fscope"}),
)

BAD = """
import tensorflow as tf


@tf.function
def conv_block(x: tf.Tensor):
    with tf.name_scope("block") as fscope:
        y = tf.nn.relu(x)
    return y


conv_block(tf.constant([-1.0, 4.0]))
"""

GOOD = """
import tensorflow as tf


@tf.function
def conv_block(x: tf.Tensor):
    with tf.name_scope("block"):
        y = tf.nn.relu(x)
    return y


conv_block(tf.constant([-1.0, 4.0]))
"""


def check(node: cst.Name, facts: Facts) -> Iterator[Claim]:
    if node.value not in ("ag__", "fscope") or not _binds(node, facts):
        return
    function = facts.function(node)
    if function is None:
        return
    if node.value == "ag__":
        what = "hides the module through which AutoGraph's generated code works (TensorFlow: UnboundLocalError or AttributeError)"
    elif _keeps_state_in_fscope(node, function, facts):
        what = "overwrites the variable in which AutoGraph's generated code keeps the function's state (TensorFlow: AttributeError)"
    else:
        return
    yield Claim(node, f"The local name `{node.value}` {what}. Rename it.")


def _keeps_state_in_fscope(node: cst.Name, function: FunctionFacts, facts: Facts) -> bool:
    """The generated function uses the very name unless the original reads it, and only in the outermost function; a parameter of that name is evaded, too."""
    if isinstance(facts.parent(node), (cst.Param, cst.CompFor)) or not converted_as_a_whole(function, facts):
        return False
    return not facts.reads_of("fscope", function.node)


def _binds(node: cst.Name, facts: Facts) -> bool:
    """True where the name is a target, a parameter, or the name of an import or of a nested function or class."""
    inner: cst.CSTNode = node
    parent = facts.parent(node)
    while isinstance(parent, (cst.Tuple, cst.List, cst.Element, cst.StarredElement)):
        inner, parent = parent, facts.parent(parent)
    match parent:
        case cst.AssignTarget() | cst.AnnAssign() | cst.NamedExpr() | cst.For() | cst.CompFor():
            return parent.target is inner
        case cst.AsName() | cst.Param() | cst.FunctionDef() | cst.ClassDef():
            return parent.name is inner
    return False
