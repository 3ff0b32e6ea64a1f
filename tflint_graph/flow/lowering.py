"""What becomes of `return` and `raise` in a converted function: shared by the rules about them.

AutoGraph has no early return. It keeps "has returned" and the return value in two variables, puts what follows a returning statement under a guard, and hands
both variables to `tf.cond` and `tf.while_loop` like any other (`tensorflow.python.autograph.converters.return_statements`). Two things follow:

- an `if` that a tensor decides must return on both of its paths once one of them holds a `return`;
- the code after `if c: ... return` in the *same block* counts as the `else` branch of that `if`. This happens for an `if` statement and for a `with` block that
  returns, not for `try`, loops, or an `elif` (which sits in a block of its own).

`continue` and `break` are rewritten earlier, into guards around the rest of the loop's body.
"""

from __future__ import annotations

import enum
import weakref
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import libcst as cst

from tflint_graph.flow.facts import Facts, Staging
from tflint_graph.source.blocks import Loop, else_statements, own_statements, statements


class Exit(enum.Flag):
    """How a piece of code may end while TensorFlow traces it."""

    NONE = 0
    FALLS = enum.auto()  # goes on with the next statement
    RETURNS = enum.auto()
    RAISES = enum.auto()
    FAULT = enum.auto()  # a `return` in it cannot be converted


@dataclass(slots=True)
class Path:
    """One path of a branch: how it ends, and the return statements it may reach."""

    exit: Exit
    returns: list[cst.Return]


@dataclass(slots=True)
class Split:
    """An `if` that a tensor decides and that holds a `return` once the code after it has been moved into its branches.

    `loops` are the loops of the function around it, innermost first.
    """

    node: cst.If
    body: Path
    orelse: Path
    loops: tuple[Loop, ...]

    @property
    def one_sided(self) -> bool:
        """One path certainly goes on without having returned."""
        return Exit.FALLS in (self.body.exit, self.orelse.exit)

    @property
    def missing(self) -> str:
        """ "body" or "else": the path that does not return."""
        return "else" if self.orelse.exit is Exit.FALLS else "body"

    def returns(self) -> list[cst.Return]:
        return [*self.body.returns, *self.orelse.returns]


@dataclass(slots=True)
class LoopReturn:
    """A loop whose body holds a `return`: how one iteration ends. `guilty` is the return that cannot be converted where `exit` is FAULT."""

    node: Loop
    staging: Staging
    exit: Exit
    returns: list[cst.Return]
    guilty: cst.Return
    outer: tuple[Loop, ...]


@dataclass(slots=True)
class StagedRaise:
    """A `raise` (or `assert False`) that runs whenever TensorFlow traces the branch or loop body `under`."""

    node: cst.Raise | cst.Assert
    under: cst.If | Loop


@dataclass(slots=True)
class Lowered:
    """What the lowering of one function's body says, in source order."""

    splits: list[Split] = field(default_factory=list)
    loops: list[LoopReturn] = field(default_factory=list)
    raises: list[StagedRaise] = field(default_factory=list)


@dataclass(slots=True)
class _Conditional:
    """An `if` after the rewriting; `staging` TENSOR with `guard` for the guard that a `continue` or `break` under a tensor leaves behind."""

    node: cst.If
    body: list[_Step]
    orelse: list[_Step]
    guard: Staging | None = None


@dataclass(slots=True)
class _Block:
    """A loop, `with` or `try`, with its parts' steps."""

    node: cst.CSTNode
    body: list[_Step]
    handlers: list[list[_Step]] = field(default_factory=list)
    orelse: list[_Step] = field(default_factory=list)
    final: list[_Step] = field(default_factory=list)


_Step = _Conditional | _Block | cst.CSTNode


_known: weakref.WeakKeyDictionary[Facts, dict[int, Lowered]] = weakref.WeakKeyDictionary()  # by region, then by id of the def


def lower(function: cst.FunctionDef, facts: Facts) -> Lowered:
    """Follow AutoGraph's rewriting of the returns of one function (nested functions are functions of their own). Several rules ask: the answer is kept."""
    known = _known.setdefault(facts, {})
    result = known.get(id(function))
    if result is None:
        steps, _ = _Rewriter(facts).block(statements(function.body))
        result = Lowered()
        _Evaluator(facts, result).sequence(steps, _Place())
        known[id(function)] = result
    return result


def converted(node: cst.CSTNode, facts: Facts) -> bool:
    """True where AutoGraph rewrites the function around `node` (for a def, that function)."""
    function = facts.function(node)
    return function is not None and function.converted


def in_graph_loop(split: Split, facts: Facts) -> bool:
    """True inside a loop that TensorFlow stages: what happens to its returns is the loop's affair (TFG121)."""
    return any(facts.staging(loop) in (Staging.TENSOR, Staging.DATASET) for loop in split.loops)


class _Rewriter:
    """AutoGraph's ConditionalReturnRewriter, after its break and continue passes: moves what follows a returning `if` into its other branch."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts

    def block(self, statements: Sequence[cst.CSTNode]) -> tuple[list[_Step], bool]:
        """The steps of a block and whether it definitely returns."""
        result: list[_Step] = []
        target = result
        returns = False
        for statement in statements:
            step, certain, rest = self.step(statement)
            returns = returns or certain
            target.append(step)
            if rest is not None:
                target = rest
            jump = self.jump(statement)
            if jump is not None:
                guard = _Conditional(jump, [], [], guard=self.facts.staging(jump))
                target.append(guard)
                target = guard.body
        return result, returns

    def step(self, node: cst.CSTNode) -> tuple[_Step, bool, list[_Step] | None]:
        """A statement's step, whether it definitely returns, and where the statements after it go (None: behind it)."""
        match node:
            case cst.Return():
                return node, True, None
            case cst.If():
                body, body_returns = self.block(statements(node.body))
                orelse, orelse_returns = self.block(else_statements(node))
                step = _Conditional(node, body, orelse)
                rest = orelse if body_returns else body if orelse_returns else None
                return step, body_returns and orelse_returns, rest
            case cst.With():
                body, returns = self.block(statements(node.body))
                return _Block(node, body), returns, None
            case cst.For() | cst.While():
                body, _ = self.block(statements(node.body))
                return _Block(node, body), False, None
            case cst.Try() | cst.TryStar():
                return self.attempt(node), False, None
        return node, False, None

    def attempt(self, node: cst.Try | cst.TryStar) -> _Block:
        body, _ = self.block(statements(node.body))
        handlers = [self.block(statements(handler.body))[0] for handler in node.handlers]
        orelse = self.block(statements(node.orelse.body))[0] if node.orelse is not None else []
        final = self.block(statements(node.finalbody.body))[0] if node.finalbody is not None else []
        return _Block(node, body, handlers, orelse, final)

    def jump(self, statement: cst.CSTNode) -> cst.If | None:
        """The `if` in `statement` under which this iteration of the loop around may be left by `break` or `continue`: a tensor's if there is one."""
        if not isinstance(statement, (cst.If, cst.With, cst.Try, cst.TryStar)):
            return None
        found: cst.If | None = None
        for leave in own_statements(statement, (cst.Break, cst.Continue)):
            for test in self.tests_between(leave, statement):
                if found is None or self.facts.staging(test) is Staging.TENSOR:
                    found = test
        return found

    def tests_between(self, leave: cst.CSTNode, statement: cst.CSTNode) -> list[cst.If]:
        """The ifs from `statement` down to `leave`; none if the loop that `leave` concerns stands in `statement`."""
        tests: list[cst.If] = []
        for node in self.facts.ancestors(leave):
            if isinstance(node, (cst.For, cst.While)):
                return []
            if isinstance(node, cst.If):
                tests.append(node)
            if node is statement:
                return tests
        return tests


@dataclass(slots=True)
class _Place:
    """Where the evaluation stands: the loops around, the staged block whose tracing certainly comes here, and whether findings may be recorded."""

    loops: tuple[Loop, ...] = ()
    under: cst.If | Loop | None = None
    record: bool = True

    def inside(self, loop: Loop, under: cst.If | Loop | None) -> _Place:
        return _Place((loop, *self.loops), under, self.record)

    def branch(self, under: cst.If | Loop | None) -> _Place:
        return _Place(self.loops, under, self.record)

    def silent(self) -> _Place:
        return _Place(self.loops, None, False)


class _Evaluator:
    """Runs the rewritten steps as TensorFlow does while tracing: both branches of a tensor's `if`, one of a Python `if`."""

    def __init__(self, facts: Facts, result: Lowered) -> None:
        self.facts = facts
        self.result = result

    def sequence(self, steps: Iterable[_Step], place: _Place) -> Path:
        exit_ = Exit.FALLS
        returns: list[cst.Return] = []
        for step in steps:
            if Exit.FALLS not in exit_:
                break
            if exit_ is not Exit.FALLS:
                place = place.branch(None)  # some path has left before: nothing after it is certain to run
            path = self.step(step, place)
            exit_ = (exit_ & ~Exit.FALLS) | path.exit
            returns += path.returns
        return Path(exit_, returns)

    def step(self, step: _Step, place: _Place) -> Path:
        match step:
            case _Conditional():
                return self.conditional(step, place)
            case _Block():
                return self.block(step, place)
            case cst.Return():
                return Path(Exit.RETURNS, [step])
            case cst.Raise():
                return self.raised(step, place)
            case cst.Assert() if self.never(step.test):
                return self.raised(step, place)
        return Path(Exit.FALLS, [])

    def never(self, test: cst.BaseExpression) -> bool:
        value = self.facts.value(test)
        return value.is_python and value.has_const and not value.const

    def raised(self, node: cst.Raise | cst.Assert, place: _Place) -> Path:
        if place.record and place.under is not None:
            self.result.raises.append(StagedRaise(node, place.under))
        return Path(Exit.RAISES, [])

    def conditional(self, step: _Conditional, place: _Place) -> Path:
        if step.guard is not None:
            return self.guarded(step, place)
        staging = self.facts.staging(step.node)
        if staging is Staging.TENSOR and self.facts.branch(step.node) is not None:
            return self.split(step, place)
        test = self.facts.value(step.node.test)
        if test.is_python and test.has_const:
            return self.sequence(step.body if test.const else step.orelse, place)
        inner = place.branch(None)
        return _either(self.sequence(step.body, inner), self.sequence(step.orelse, inner))

    def guarded(self, step: _Conditional, place: _Place) -> Path:
        """The rest of a loop's body after a `break` or `continue`: itself a branch that a tensor decides, without an else."""
        rest = self.sequence(step.body, place.branch(None))
        if Exit.FAULT in rest.exit or not rest.returns:
            return rest
        return Path(Exit.FAULT if step.guard is Staging.TENSOR else rest.exit | Exit.FALLS, rest.returns)

    def split(self, step: _Conditional, place: _Place) -> Path:
        body = self.sequence(step.body, place.branch(step.node))
        orelse = self.sequence(step.orelse, place.branch(step.node))
        returns = [*body.returns, *orelse.returns]
        faulty = Exit.FAULT in body.exit or Exit.FAULT in orelse.exit
        if not (returns or _has_return(step)) or faulty:
            return Path(Exit.FAULT if faulty else body.exit | orelse.exit, returns)
        found = Split(step.node, body, orelse, place.loops)
        if place.record:
            self.result.splits.append(found)
        if Exit.RAISES in (body.exit, orelse.exit):
            return Path(Exit.RAISES, returns)
        return Path(Exit.FAULT if found.one_sided else body.exit | orelse.exit, returns)

    def block(self, step: _Block, place: _Place) -> Path:
        match step.node:
            case cst.For() | cst.While():
                return self.loop(step.node, step, place)
            case cst.Try() | cst.TryStar():
                return self.attempt(step, place)
        return self.sequence(step.body, place)

    def attempt(self, step: _Block, place: _Place) -> Path:
        inner = place.branch(None) if step.handlers else place
        path = self.sequence([*step.body, *step.orelse], inner)
        for handler in step.handlers:
            path = _either(path, self.sequence(handler, place.silent()))
        final = self.sequence(step.final, place.branch(None))
        if Exit.FALLS not in final.exit:
            return final
        return Path(path.exit | (final.exit & ~Exit.FALLS), [*path.returns, *final.returns])

    def loop(self, node: Loop, step: _Block, place: _Place) -> Path:
        facts = self.facts.loop(node)
        staging = self.facts.staging(node)
        staged = staging in (Staging.TENSOR, Staging.DATASET)
        path = self.sequence(step.body, place.inside(node, node if staged else None))
        returns = [found for found in own_statements(node.body, cst.Return) if isinstance(found, cst.Return)]
        if returns and place.record and facts is not None:
            guilty = self.guilty(node, returns)
            self.result.loops.append(LoopReturn(node, staging, path.exit, path.returns, guilty, place.loops))
        if not returns:
            return Path(Exit.FALLS, [])
        if staged:
            return Path(path.exit if path.exit is Exit.RETURNS else Exit.FAULT, path.returns)
        endless = (
            isinstance(node, cst.While) and not self.never(node.test) and self.facts.value(node.test).has_const and not own_statements(node.body, cst.Break)
        )
        return Path(path.exit & ~Exit.FALLS if endless and path.exit is not Exit.FALLS else path.exit | Exit.FALLS, path.returns)

    def guilty(self, node: Loop, returns: Sequence[cst.Return]) -> cst.Return:
        """The first return that stands under a tensor's `if` inside the loop; else the first."""
        for found in returns:
            for frame in self.facts.frames(found):
                if frame.node is node:
                    break
                if frame.is_branch and frame.staging is Staging.TENSOR:
                    return found
        return returns[0]


def _either(one: Path, other: Path) -> Path:
    return Path(one.exit | other.exit, [*one.returns, *other.returns])


def _has_return(step: _Conditional) -> bool:
    """True if a `return` stands in one of the branches, though no path reaches it."""
    stack: list[_Step] = [*step.body, *step.orelse]
    while stack:
        match stack.pop():
            case cst.Return():
                return True
            case _Conditional() as inner:
                stack += [*inner.body, *inner.orelse]
            case _Block() as inner:
                stack += [*inner.body, *inner.orelse, *inner.final, *(one for handler in inner.handlers for one in handler)]
    return False
