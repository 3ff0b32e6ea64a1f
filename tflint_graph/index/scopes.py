"""The scopes of a file while it is being read, and what remains of them."""

from __future__ import annotations

import sys

from tflint_graph.index.model import MODULE_SCOPE, Call, FileIndex, FunctionIndex, Stopper, Symbol

_ALWAYS = frozenset({"Name", "Constant"})
_kinds: dict[frozenset[type], frozenset[str]] = {}


class Scope:
    """A module, class, def or lambda whose body is being read. `prefix` is what the qualified names of things defined in it begin with."""

    __slots__ = (
        "attribute_reads",
        "attributes",
        "bindings",
        "called",
        "calls",
        "class_qualname",
        "escapes",
        "first_yield",
        "globals",
        "in_signature",
        "is_class",
        "is_generator",
        "kinds",
        "methods",
        "outer",
        "prefix",
        "qualname",
        "returns",
        "self_name",
        "stoppers",
    )  # fmt: skip

    def __init__(self, qualname: str, prefix: str, outer: Scope | None, class_qualname: str | None = None, self_name: str | None = None) -> None:
        self.qualname = qualname
        self.prefix = prefix
        self.outer = outer
        self.class_qualname = class_qualname
        self.self_name = self_name
        self.is_class = False
        self.methods: dict[str, str] = {}
        self.attributes: dict[str, list[tuple[str, Symbol]]] = {}
        self.kinds: set[type] = set()
        self.called: set[str] = set()
        self.calls: list[Call] = []
        self.bindings: dict[str, list[Symbol]] = {}
        self.returns: list[Symbol] = []
        self.escapes: set[str] = set()
        self.attribute_reads: set[tuple[str, str]] = set()
        self.stoppers: list[Stopper] = []
        self.globals: set[str] = set()
        self.is_generator = False
        self.first_yield: Stopper | None = None
        self.in_signature = 0


def finish_function(scope: Scope, entry: FunctionIndex, parent: Scope | None, foreign: dict[str, str]) -> FunctionIndex:
    """Fill the entry of a function whose body has been read, and hand what nests on to the function around it.

    `foreign` are the names that other libraries are imported under: what is read from those is no function of the project.
    """
    for param in entry.params:
        scope.bindings.setdefault(param.name, []).insert(0, ("param", param.name))
    entry.is_generator = scope.is_generator
    entry.stoppers = tuple(scope.stoppers)
    entry.kinds = _kind_names(scope.kinds)
    entry.called_names = frozenset(scope.called)
    entry.calls = tuple(scope.calls)
    entry.globals = frozenset(scope.globals)
    entry.bindings = {name: tuple(found) for name, found in scope.bindings.items()}
    entry.returns = tuple(scope.returns)
    data = {name for name, found in scope.bindings.items() if _is_data(found)}
    escapes = scope.escapes - data
    escapes.update([f"{base}.{name}" for base, name in scope.attribute_reads if base not in foreign])
    entry.escapes = frozenset(escapes)
    if parent is not None and parent.qualname != MODULE_SCOPE:
        parent.kinds |= scope.kinds
        parent.called |= scope.called
        parent.stoppers += scope.stoppers
        if scope.first_yield is not None:
            parent.stoppers.append(scope.first_yield)
    return entry


def _is_data(found: list[Symbol]) -> bool:
    """A local that no function, class or module can be bound to as far as its bindings tell."""
    return all(symbol is None or symbol[0] in ("param", "const", "loop", "with", "item", "seq", "sub") for symbol in found)


def _kind_names(kinds: set[type]) -> frozenset[str]:
    key = frozenset(kinds)
    names = _kinds.get(key)
    if names is None:
        names = _kinds[key] = _ALWAYS | {sys.intern(kind.__name__) for kind in key}
    return names


def narrow_escapes(index: FileIndex) -> None:
    """Keep of the names read as values those that can stand for a function, class or module in this file: builtins and data go."""
    module = index.functions[MODULE_SCOPE]
    named = {name for name, found in module.bindings.items() if not _is_data(list(found))}
    named.update(entry.name for entry in index.functions.values())
    named.update(entry.name for entry in index.classes.values())
    for entry in index.functions.values():
        local = {
            name
            for name, found in entry.bindings.items()
            if any(s is not None and s[0] in ("import", "name", "attr", "call", "either", "lambda") for s in found)
        }
        entry.escapes = frozenset([name for name in entry.escapes if "." in name or name in named or name in local])
