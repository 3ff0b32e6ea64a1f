"""Which names a function binds and reads, and which are live after each `if` and loop.

A *symbol* is a plain name ("x"), an attribute path on a name ("self.x", "self.cell.state") or an item with a literal key ("d['k']", "pair[0]"): AutoGraph
carries exactly these through conditionals and loops (tensorflow.python.autograph.pyct.qual_names).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import libcst as cst

from tflint_graph.source.literals import literal_value
from tflint_graph.source.walk import COMPREHENSIONS, EXPRESSIONS, STATEMENTS, children


def symbol_of(node: cst.CSTNode) -> str | None:
    """The symbol that an expression spells, or None."""
    kind = type(node)
    if kind is cst.Name:
        assert isinstance(node, cst.Name)
        return node.value
    if kind is not cst.Attribute and kind is not cst.Subscript:
        return None
    if isinstance(node, cst.Attribute):
        base = symbol_of(node.value)
        return None if base is None else f"{base}.{node.attr.value}"
    assert isinstance(node, cst.Subscript)
    if len(node.slice) == 1:
        item = node.slice[0].slice
        if isinstance(item, cst.Index) and isinstance(item.value, (cst.SimpleString, cst.Integer)):
            base = symbol_of(node.value)
            if base is None:
                return None
            key = item.value.value
            if isinstance(item.value, cst.SimpleString):
                key = repr(literal_value(item.value))
            return f"{base}[{key}]"
    return None


def root_of(symbol: str) -> str:
    """The plain name that a symbol starts with."""
    for k, c in enumerate(symbol):
        if c in ".[":
            return symbol[:k]
    return symbol


@dataclass(slots=True)
class BlockUse:
    """What an `if` or a loop does with symbols.

    `assigned_body` and `assigned_orelse` map each symbol bound in that block to the last statement there that binds it. `live_after` are the symbols read
    after the statement before being bound again; `live_head` (loops) those live at the start of an iteration.
    """

    assigned_body: dict[str, cst.CSTNode] = field(default_factory=dict)
    assigned_orelse: dict[str, cst.CSTNode] = field(default_factory=dict)
    live_after: frozenset[str] = frozenset()
    live_head: frozenset[str] = frozenset()
    read_body: frozenset[str] = frozenset()


@dataclass(slots=True)
class FunctionNames:
    """The names of one function (nested functions excluded): its locals, its global and nonlocal declarations, and the uses of its `if`s and loops by
    id(node)."""

    bound: set[str] = field(default_factory=set)
    global_names: set[str] = field(default_factory=set)
    nonlocal_names: set[str] = field(default_factory=set)
    free_of: dict[str, frozenset[str]] = field(default_factory=dict)
    blocks: dict[int, BlockUse] = field(default_factory=dict)


_EMPTY: frozenset[str] = frozenset()


def names_of(function: cst.CSTNode, *, liveness: bool = True) -> FunctionNames:
    """Analyse a FunctionDef, a Lambda or a Module. Without `liveness` only the bound names are found: eager code needs no more."""
    return _Names(function, liveness).result


def parameters_of(function: cst.FunctionDef | cst.Lambda) -> list[cst.Param]:
    """All parameters in order, `*args` and `**kwargs` included."""
    p = function.params
    found = [*p.posonly_params, *p.params]
    if isinstance(p.star_arg, cst.Param):
        found.append(p.star_arg)
    found.extend(p.kwonly_params)
    if p.star_kwarg is not None:
        found.append(p.star_kwarg)
    return found


def free_names(function: cst.CSTNode) -> frozenset[str]:
    """Names that a def, lambda or class reads without binding them itself, nested functions included."""
    names = FunctionNames()
    reads: set[str] = set()
    if isinstance(function, (cst.FunctionDef, cst.Lambda)):
        names.bound.update(p.name.value for p in parameters_of(function))
    body = function.body  # type: ignore[attr-defined]
    _binds(body, names.bound, names)
    _reads_into(body, reads, names, nested=True)
    return frozenset(root_of(r) for r in reads) - (names.bound - names.nonlocal_names)


def _binds(node: cst.CSTNode, bound: set[str], names: FunctionNames) -> None:
    """Collect the plain names bound below `node`, not entering nested functions."""
    stack = [node]
    while stack:
        current = stack.pop()
        kind = type(current)
        if kind in _LEAVES:
            continue
        if kind in _DEFS:
            assert isinstance(current, (cst.FunctionDef, cst.ClassDef))
            bound.add(current.name.value)
            continue
        if kind is cst.Lambda or kind in COMPREHENSIONS:
            continue
        if kind in _SCOPE_WORDS:
            assert isinstance(current, (cst.Global, cst.Nonlocal))
            (names.global_names if kind is cst.Global else names.nonlocal_names).update(item.name.value for item in current.names)
            continue
        if kind in _IMPORTS:
            assert isinstance(current, (cst.Import, cst.ImportFrom))
            bound.update(imported_names(current))
            continue
        if kind in _BINDERS:
            for target in _targets(current):
                bound.update(s for s in target_symbols(target) if s.isidentifier())
        stack.extend(children(current))


def imported_names(node: cst.Import | cst.ImportFrom) -> Iterable[str]:
    """The names that an import statement binds."""
    if isinstance(node.names, cst.ImportStar):
        return
    for alias in node.names:
        if alias.asname is not None and isinstance(alias.asname.name, cst.Name):
            yield alias.asname.name.value
        else:
            base: cst.BaseExpression = alias.name
            while isinstance(base, cst.Attribute):
                base = base.value
            if isinstance(base, cst.Name):
                yield base.value


_LEAVES = frozenset({cst.Name, cst.Attribute, cst.Integer, cst.Float, cst.SimpleString, cst.Return, cst.Pass, cst.Break, cst.Continue})
_DEFS = frozenset({cst.FunctionDef, cst.ClassDef})
_SCOPE_WORDS = frozenset({cst.Global, cst.Nonlocal})
_IMPORTS = frozenset({cst.Import, cst.ImportFrom})
_BINDERS = frozenset({cst.Assign, cst.AugAssign, cst.For, cst.NamedExpr, cst.AnnAssign, cst.WithItem, cst.ExceptHandler, cst.ExceptStarHandler, cst.MatchAs})


def _targets(node: cst.CSTNode) -> Sequence[cst.CSTNode]:
    """The target expressions that a node binds by itself."""
    if isinstance(node, cst.Assign):
        return [t.target for t in node.targets]
    if isinstance(node, (cst.AugAssign, cst.For, cst.NamedExpr)):
        return [node.target]
    if isinstance(node, cst.AnnAssign):
        return [node.target] if node.value is not None else []
    if isinstance(node, cst.WithItem):
        return [node.asname.name] if node.asname is not None else []
    if isinstance(node, (cst.ExceptHandler, cst.ExceptStarHandler)):
        return [node.name.name] if node.name is not None else []
    if isinstance(node, cst.MatchAs):
        return [node.name] if node.name is not None else []
    return []


def target_symbols(target: cst.CSTNode) -> Iterable[str]:
    """Every symbol that an assignment target binds."""
    kind = type(target)
    if kind is cst.Tuple or kind is cst.List:
        assert isinstance(target, (cst.Tuple, cst.List))
        for element in target.elements:
            yield from target_symbols(element.value)
    elif kind is cst.StarredElement:
        assert isinstance(target, cst.StarredElement)
        yield from target_symbols(target.value)
    else:
        symbol = symbol_of(target)
        if symbol is not None:
            yield symbol


_READ_SPECIALLY = frozenset({
    cst.Name, cst.Attribute, cst.Arg, cst.Lambda, cst.FunctionDef, cst.ClassDef, cst.Assign, cst.AnnAssign, cst.For, cst.CompFor, cst.Import,
    cst.ImportFrom, cst.Global,
    cst.Nonlocal, cst.NamedExpr, cst.Subscript,
})  # fmt: skip


def _reads_into(node: cst.CSTNode | None, reads: set[str], names: FunctionNames, *, nested: bool = False) -> None:
    """Collect the symbols read below `node`. Nested functions contribute their free names."""
    if node is None:
        return
    stack: list[cst.CSTNode] = [node]
    while stack:
        current = stack.pop()
        kind = type(current)
        if kind not in _READ_SPECIALLY:
            stack.extend(children(current))
        elif isinstance(current, cst.Name):
            reads.add(current.value)
            more = names.free_of.get(current.value)
            if more:
                reads |= more
        elif isinstance(current, cst.Attribute):
            symbol = symbol_of(current)
            if symbol is not None:
                reads.add(symbol)
            stack.append(current.value)
        elif isinstance(current, cst.Arg):
            stack.append(current.value)
        elif isinstance(current, (cst.Lambda, cst.FunctionDef, cst.ClassDef)):
            reads |= free_names(current)
            if isinstance(current, cst.FunctionDef):
                stack.extend(current.decorators)
            if not isinstance(current, cst.ClassDef):
                stack.extend(p.default for p in parameters_of(current) if p.default is not None)
        elif isinstance(current, cst.Assign):
            stack.append(current.value)
            for target in current.targets:
                _target_reads(target.target, stack)
        elif isinstance(current, cst.AnnAssign):
            if current.value is not None:
                stack.append(current.value)
            _target_reads(current.target, stack)
        elif isinstance(current, (cst.For, cst.CompFor)) and nested:
            _target_reads(current.target, stack)
            stack.extend(c for c in children(current) if c is not current.target)
        elif isinstance(current, (cst.Import, cst.ImportFrom, cst.Global, cst.Nonlocal)):
            continue
        elif isinstance(current, cst.CompFor):
            stack.extend(c for c in children(current) if c is not current.target)
        elif isinstance(current, cst.NamedExpr):
            stack.append(current.value)
        else:
            if isinstance(current, cst.Subscript):
                symbol = symbol_of(current)
                if symbol is not None:
                    reads.add(symbol)
            stack.extend(children(current))


def _target_reads(target: cst.CSTNode, stack: list[cst.CSTNode]) -> None:
    """What binding a target reads: the object of an attribute or item store."""
    if isinstance(target, (cst.Tuple, cst.List)):
        for element in target.elements:
            _target_reads(element.value, stack)
    elif isinstance(target, cst.StarredElement):
        _target_reads(target.value, stack)
    elif isinstance(target, cst.Attribute):
        stack.append(target.value)
    elif isinstance(target, cst.Subscript):
        stack.append(target.value)
        stack.extend(target.slice)


@dataclass(slots=True)
class _Loop:
    after: frozenset[str]
    head: frozenset[str]


class _Names:
    """A backward liveness analysis over the statements of one function."""

    def __init__(self, function: cst.CSTNode, liveness: bool) -> None:
        self.result = FunctionNames()
        self.loops: list[_Loop] = []
        self.handlers: list[frozenset[str]] = []
        if isinstance(function, (cst.FunctionDef, cst.Lambda)):
            self.result.bound.update(p.name.value for p in parameters_of(function))
        body = function if isinstance(function, cst.Module) else function.body  # type: ignore[attr-defined]
        _binds(body, self.result.bound, self.result)
        self.result.bound -= self.result.global_names | self.result.nonlocal_names
        if isinstance(function, cst.Lambda) or not liveness:
            return
        for node in _nested_defs(body):
            self.result.free_of[node.name.value] = free_names(node)
        self.block(body.body, _EMPTY)

    def block(self, statements: Sequence[cst.CSTNode], live: frozenset[str]) -> frozenset[str]:
        for statement in reversed(statements):
            live = self.statement(statement, live)
        return live

    def suite(self, body: cst.CSTNode, live: frozenset[str]) -> frozenset[str]:
        return self.block(body.body, live)  # type: ignore[attr-defined]

    def reads(self, node: cst.CSTNode | None) -> frozenset[str]:
        found: set[str] = set()
        _reads_into(node, found, self.result)
        return frozenset(found)

    def statement(self, node: cst.CSTNode, live: frozenset[str]) -> frozenset[str]:
        if isinstance(node, cst.SimpleStatementLine):
            return self.block(node.body, live)
        if isinstance(node, cst.If):
            return self.branch(node, live)
        if isinstance(node, (cst.For, cst.While)):
            return self.loop(node, live)
        if isinstance(node, cst.With):
            live = self.suite(node.body, live)
            for item in reversed(node.items):
                if item.asname is not None:
                    live -= frozenset(target_symbols(item.asname.name))
                live |= self.reads(item.item)
            return live
        if isinstance(node, (cst.Try, cst.TryStar)):
            return self.trial(node, live)
        if isinstance(node, cst.Match):
            found = live
            for case in node.cases:
                found |= (self.suite(case.body, live) - frozenset(_pattern_names(case.pattern))) | self.reads(case.guard)
            return found | self.reads(node.subject)
        if isinstance(node, cst.Return):
            return self.reads(node.value)
        if isinstance(node, cst.Raise):
            return self.reads(node.exc) | self.reads(node.cause) | (self.handlers[-1] if self.handlers else _EMPTY)
        if isinstance(node, cst.Break):
            return self.loops[-1].after if self.loops else live
        if isinstance(node, cst.Continue):
            return self.loops[-1].head if self.loops else live
        if isinstance(node, (cst.FunctionDef, cst.ClassDef)):
            used = self.reads(node) if isinstance(node, cst.ClassDef) else self.reads_of_header(node)
            return (live - {node.name.value}) | used
        if isinstance(node, cst.Del):
            return live - frozenset(target_symbols(node.target))
        written: set[str] = set()
        for target in _targets(node):
            written.update(target_symbols(target))
        if isinstance(node, (cst.Import, cst.ImportFrom)):
            return live - frozenset(imported_names(node))
        return (live - written) | self.reads(node)

    def reads_of_header(self, node: cst.FunctionDef) -> frozenset[str]:
        found: set[str] = set()
        for decorator in node.decorators:
            _reads_into(decorator, found, self.result)
        for parameter in parameters_of(node):
            _reads_into(parameter.default, found, self.result)
        return frozenset(found)

    def branch(self, node: cst.If, live: frozenset[str]) -> frozenset[str]:
        use = BlockUse(live_after=live)
        use.assigned_body = assigned_in(node.body)
        body = self.suite(node.body, live)
        other = live
        if isinstance(node.orelse, cst.If):
            use.assigned_orelse = assigned_in(node.orelse)
            other = self.branch(node.orelse, live)
        elif node.orelse is not None:
            use.assigned_orelse = assigned_in(node.orelse.body)
            other = self.suite(node.orelse.body, live)
        self.result.blocks[id(node)] = use
        return body | other | self.reads(node.test)

    def loop(self, node: cst.For | cst.While, live: frozenset[str]) -> frozenset[str]:
        after = live if node.orelse is None else self.suite(node.orelse.body, live) | live
        targets = frozenset(target_symbols(node.target)) if isinstance(node, cst.For) else _EMPTY
        test = self.reads(node.test) if isinstance(node, cst.While) else _EMPTY
        head = after | test
        for _ in range(3):
            self.loops.append(_Loop(live, head))
            body = self.suite(node.body, head)
            self.loops.pop()
            grown = head | (body - targets) | test
            if grown == head:
                break
            head = grown
        use = BlockUse(live_after=live, live_head=head)
        use.assigned_body = assigned_in(node.body)
        if isinstance(node, cst.For):
            for symbol in targets:
                use.assigned_body.setdefault(symbol, node)
        found: set[str] = set(test)
        _reads_into(node.body, found, self.result)
        use.read_body = frozenset(found)
        self.result.blocks[id(node)] = use
        return head | (self.reads(node.iter) if isinstance(node, cst.For) else _EMPTY)

    def trial(self, node: cst.Try | cst.TryStar, live: frozenset[str]) -> frozenset[str]:
        end = live if node.finalbody is None else self.suite(node.finalbody.body, live)
        handlers = _EMPTY
        for handler in node.handlers:
            caught = self.suite(handler.body, end)
            if handler.name is not None:
                caught -= frozenset(target_symbols(handler.name.name))
            handlers |= caught | self.reads(handler.type)
        follow = end if node.orelse is None else self.suite(node.orelse.body, end)
        self.handlers.append(handlers)
        body = self.suite(node.body, follow)
        self.handlers.pop()
        return body | handlers


def _pattern_names(pattern: cst.CSTNode) -> Iterable[str]:
    stack = [pattern]
    while stack:
        current = stack.pop()
        if isinstance(current, cst.MatchAs) and current.name is not None:
            yield current.name.value
        stack.extend(children(current))


def _nested_defs(body: cst.CSTNode) -> Iterable[cst.FunctionDef | cst.ClassDef]:
    stack = [body]
    while stack:
        current = stack.pop()
        if isinstance(current, (cst.FunctionDef, cst.ClassDef)):
            yield current
            continue
        if isinstance(current, (cst.BaseCompoundStatement, cst.BaseSuite, cst.Else, cst.Finally, cst.ExceptHandler, cst.Module, cst.MatchCase)):
            stack.extend(children(current))


def assigned_in(block: cst.CSTNode) -> dict[str, cst.CSTNode]:
    """Every symbol bound or deleted in a block (nested functions excluded), with the last statement that does it."""
    found: dict[str, cst.CSTNode] = {}
    stack: list[tuple[cst.CSTNode, cst.CSTNode]] = [(block, block)]
    while stack:
        current, statement = stack.pop()
        kind = type(current)
        if kind in EXPRESSIONS and kind is not cst.NamedExpr:
            continue
        if kind in STATEMENTS:
            statement = current
        if kind in _DEFS:
            assert isinstance(current, (cst.FunctionDef, cst.ClassDef))
            found[current.name.value] = current
            continue
        if kind in _IMPORTS:
            assert isinstance(current, (cst.Import, cst.ImportFrom))
            for name in imported_names(current):
                found[name] = current
            continue
        if kind is cst.Del:
            assert isinstance(current, cst.Del)
            for symbol in target_symbols(current.target):
                found[symbol] = statement
        elif kind in _BINDERS:
            for target in _targets(current):
                for symbol in target_symbols(target):
                    found[symbol] = statement
        below = children(current)
        below.reverse()
        stack.extend((child, statement) for child in below)
    return found
