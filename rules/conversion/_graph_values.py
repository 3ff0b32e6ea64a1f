"""Values that answer Python's questions only outside of a graph, and the places where the answer, or the error, does not matter.

While TensorFlow traces, a symbolic tensor has no elements, truth value or number to give (`Tensor` in `tensorflow.python.framework.tensor`): `__iter__` and
`__bool__` raise OperatorNotAllowedInGraphError, `__array__` NotImplementedError. A variable reads itself first and fails the same way.
"""

from __future__ import annotations

import libcst as cst

from tflint_graph.rule_api import TRACED, Facts, Kind, Severity, Staging, Value

_FAMILY = {
    "OperatorNotAllowedInGraphError": ("OperatorNotAllowedInGraphError", "TypeError"),
    "TypeError": ("TypeError",),
    "ValueError": ("ValueError",),
    "AttributeError": ("AttributeError",),
    "NotImplementedError": ("NotImplementedError", "RuntimeError"),
    "RuntimeError": ("RuntimeError",),
}
_EVERYTHING = ("Exception", "BaseException")


def has_no_python_value(value: Value) -> bool:
    """A dense tensor of the graph or a variable: no truth value, number or array can be had of it while tracing. Eager tensors from outside keep theirs."""
    return (value.is_symbolic and value.ragged is None) or value.kind is Kind.VARIABLE


def has_no_python_elements(value: Value) -> bool:
    """Python cannot iterate over it while tracing. This holds for eager tensors from outside too: `Tensor.__iter__` asks whether eager execution is on."""
    return (value.kind is Kind.TENSOR and value.ragged != "sparse") or value.kind is Kind.VARIABLE


def is_structure_of_tensors(value: Value) -> bool:
    """A tensor, or a tuple or dict of tensors: what a Dataset callback gets where the structure of the elements is not known."""
    return value.kind is Kind.UNKNOWN and value.element is not None and value.element.is_symbolic


def no_python_value_in(value: Value, depth: int = 3) -> Value | None:
    """The first such value in a list or tuple, or the value itself."""
    if has_no_python_value(value):
        return value
    if depth == 0 or not value.is_python or value.pytype not in ("list", "tuple", "deque", "set"):
        return None
    for element in value.elements or ((value.element,) if value.element is not None else ()):
        found = no_python_value_in(element, depth - 1)
        if found is not None:
            return found
    return None


_EAGER_BLOCKS = ("tensorflow.init_scope", "tensorflow.python.eager.context.eager_mode")


def runs_eagerly(node: cst.CSTNode, facts: Facts) -> bool:
    """In a `with tf.init_scope()` block, or TensorFlow's own `context.eager_mode()`, which run eagerly while TensorFlow traces."""
    for frame in facts.frames(node):
        if frame.part == "with" and isinstance(frame.node, cst.With):
            for item in frame.node.items:
                if isinstance(item.item, cst.Call) and (call := facts.call(item.item)) is not None and call.dotted in _EAGER_BLOCKS:
                    return True
    return False


def severity_here(node: cst.CSTNode, facts: Facts) -> Severity | None:
    """A warning where Python decides, and nobody knows how, whether the node runs: `x if in_graph else np.array(x)`. Otherwise the rule's own."""
    undecided = any(frame.part in ("if", "else", "ternary") and frame.staging is Staging.UNKNOWN for frame in facts.frames(node))
    return Severity.WARNING if undecided else None


def gives_back_an_array(node: cst.CSTNode, facts: Facts) -> bool:
    """In the branch of a function for callers that pass NumPy arrays: `if isinstance(x, np.ndarray): return y.numpy()`. Such calls come from eager code."""
    return any(frame.part == "if" and isinstance(frame.node, cst.If) and _asks_for_an_array(frame.node.test, facts) for frame in facts.frames(node))


def _asks_for_an_array(test: cst.BaseExpression, facts: Facts) -> bool:
    match test:
        case cst.BooleanOperation(left=left, operator=cst.And(), right=right):
            return _asks_for_an_array(left, facts) or _asks_for_an_array(right, facts)
        case cst.Call(args=[_, cst.Arg(value=asked)]):
            call = facts.call(test)
            if call is None or call.dotted != "builtins.isinstance":
                return False
            classes = [element.value for element in asked.elements] if isinstance(asked, (cst.Tuple, cst.List)) else [asked]
            return any(facts.value(one).ref in _ARRAY_CLASSES for one in classes)
    return False


_ARRAY_CLASSES = ("numpy.ndarray", "numpy.generic")


def is_captured(node: cst.BaseExpression, facts: Facts) -> bool:
    """In the body of an eager callback (tf.py_function), a name that belongs to the traced function around it."""
    function = facts.function(node)
    if function is None or not isinstance(node, cst.Name) or node.value in function.params:
        return False
    outer = next((facts.function(ancestor) for ancestor in facts.ancestors(function.node)), None)
    return outer is not None and bool(outer.contexts & TRACED) and facts.value(node).is_symbolic


def is_handled(node: cst.CSTNode, facts: Facts, error: str) -> bool:
    """The program expects the error: a `try` around the node has a handler for it."""
    wanted = _FAMILY[error] + _EVERYTHING
    for frame in facts.frames(node):
        if frame.part == "try" and isinstance(frame.node, cst.Try):
            for handler in frame.node.handlers:
                if handler.type is None or any(name in wanted for name in handled_names(handler.type)):
                    return True
    return False


def handled_names(node: cst.BaseExpression) -> list[str]:
    """The last parts of the exception names in an `except` clause."""
    if isinstance(node, cst.Tuple):
        return [name for element in node.elements for name in handled_names(element.value)]
    if isinstance(node, cst.Attribute):
        return [node.attr.value]
    return [node.value] if isinstance(node, cst.Name) else []
