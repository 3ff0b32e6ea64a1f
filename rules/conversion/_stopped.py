"""What a construct that makes AutoGraph give up costs: shared by the rules about such constructs.

One of them anywhere in a function, nested functions included, makes AutoGraph run the whole outermost function as plain Python
(`tensorflow.python.autograph.impl.api.converted_call` catches the failed conversion, warns and calls the original).
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tflint_graph.rule_api import TRACED, Claim, Facts, FunctionFacts, Severity, Staging, Stopper, Unconverted


def converted_as_a_whole(function: FunctionFacts, facts: Facts) -> bool:
    """Whether AutoGraph takes the function on its own; functions nested in a converted one are converted with it."""
    for ancestor in facts.ancestors(function.node):
        outer = facts.function(ancestor) if isinstance(ancestor, (cst.FunctionDef, cst.Lambda)) else None
        if outer is not None and (outer.converted or outer.unconverted is Unconverted.STOPPED):
            return False
    return bool(function.contexts & TRACED)


def owner(stopper: Stopper, facts: Facts) -> FunctionFacts | None:
    """The innermost function that is converted as a whole and is not, because of `stopper`; None where AutoGraph would not convert it anyway.

    Some constructs (an annotation, a lambda) matter only to a function that is converted on its own: nested in a converted one they have no owner.
    """
    found = None
    for function in facts.functions():
        if stopper in function.stoppers and converted_as_a_whole(function, facts):
            found = function
    return found if found is not None and found.unconverted in (None, Unconverted.STOPPED) else None


def stopped(stopper: Stopper, facts: Facts, construct: str, instead: str) -> Iterator[Claim]:
    """The claim that `construct` (the sentence's subject) stops the conversion; `instead` is the sentence that says what to write.

    An error where control flow on tensors in the same function then fails, a warning where only the conversion is lost.
    """
    function = owner(stopper, facts)
    if function is None:
        return
    flow = facts.tensor_flow_in(function)
    if flow is None:
        consequence = "TensorFlow warns and runs it as plain Python, where no `if` or loop can depend on a tensor"
        yield Claim(stopper, f"{construct} makes AutoGraph give up on `{function.display}`: {consequence}. {instead}", severity=Severity.WARNING)
        return
    consequence = f"`{header(flow, facts)}` on line {facts.line(flow)} {_then(flow, facts)}"
    message = f"{construct} makes AutoGraph give up on the whole of `{function.display}`, so {consequence}. {instead}"
    yield Claim(stopper, message, because=(facts.value(condition(flow)),), severity=Severity.ERROR)


def _then(flow: cst.CSTNode, facts: Facts) -> str:
    if isinstance(flow, cst.For) and facts.staging(flow) is Staging.DATASET:
        return "is unrolled while tracing and never ends"
    return "runs as plain Python and fails (TensorFlow: OperatorNotAllowedInGraphError)"


def condition(flow: cst.CSTNode) -> cst.CSTNode:
    """The expression that decides a piece of control flow."""
    match flow:
        case cst.If() | cst.While() | cst.IfExp() | cst.Assert():
            return flow.test
        case cst.For():
            return flow.iter
        case cst.UnaryOperation():
            return flow.expression
        case cst.BooleanOperation():
            return flow.left
    return flow


def header(flow: cst.CSTNode, facts: Facts) -> str:
    """The first line of a piece of control flow, for messages."""
    match flow:
        case cst.If():
            return f"if {facts.source(flow.test)}"
        case cst.While():
            return f"while {facts.source(flow.test)}"
        case cst.For():
            return f"for {facts.source(flow.target)} in {facts.source(flow.iter)}"
    return str(facts.source(flow))
