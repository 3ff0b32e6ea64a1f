"""What expressions mean: symbols to the functions, classes, instances, datasets and library names they can stand for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tflint_graph.index.model import MODULE_SCOPE, ClassId, FunctionId, Symbol
from tflint_graph.link.decorators import Decorators
from tflint_graph.link.meanings import DEEPEST, NOTHING, UNKNOWN, Environment, Meaning, Meanings
from tflint_graph.link.members import Members
from tflint_graph.link.memory import remember
from tflint_graph.link.parameters import Parameters
from tflint_graph.link.results import Results

if TYPE_CHECKING:
    from tflint_graph.link.project import Project

_LONGEST = 4000  # steps of one evaluation


class Evaluator:
    """Evaluates symbols over a project. `active` holds what is being worked out: whatever leads back to it is unknown, and nothing is remembered meanwhile."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.active: set[Any] = set()
        self.decorators = Decorators(self)
        self.members = Members(self)
        self.parameters = Parameters(self)
        self.results = Results(self)
        self._names: dict[tuple[str, str, str], Meanings] = {}
        self._work = 0

    @property
    def arguments(self) -> dict[tuple[FunctionId, str], list[Meaning]]:
        """What parameters are bound to at the calls that linking has looked at."""
        return self.parameters.arguments

    def forget(self) -> None:
        """Drop what was remembered: the arguments known have grown."""
        self._names.clear()
        self.decorators.forget()
        self.members.forget()

    def restart(self) -> None:
        """A new evaluation begins."""
        self._work = 0

    def definition(self, function: FunctionId, depth: int = 0) -> Meanings:
        """What the name of a def means once its decorators have been applied."""
        return self.decorators.definition(function, depth)

    def member(self, base: Meaning, name: str, depth: int = 0) -> Meanings:
        """What `base.name` means."""
        return self.members.of(base, name, depth)

    def call_result(self, callee: Meaning, args: tuple[Meaning, ...], kwargs: dict[str, Meaning], depth: int) -> Meanings:
        """What calling a project function gives back, as far as its return statements tell."""
        return self.results.of_function(callee, args, kwargs, depth)

    # Names

    def name(self, path: str, scope: str, name: str, env: Environment | None = None, depth: int = 0) -> Meanings:
        """What a name means in a scope (the qualname of a function or class, or "<module>")."""
        if env is None:
            key = (path, scope, name)
            found = self._names.get(key)
            if found is not None:
                return found
            if key in self.active or depth > DEEPEST:
                return NOTHING
            self.active.add(key)
            try:
                found = self._name(path, scope, name, None, depth)
            finally:
                self.active.discard(key)
            if not self.active:
                remember(self._names, key, found)
            return found
        key = (path, scope, name)
        if key in self.active or depth > DEEPEST:
            return NOTHING
        self.active.add(key)
        try:
            return self._name(path, scope, name, env, depth)
        finally:
            self.active.discard(key)

    def _name(self, path: str, scope: str, name: str, env: Environment | None, depth: int) -> Meanings:
        index = self.project.files[path]
        current = scope
        first = True
        while current != MODULE_SCOPE:
            entry = index.functions.get(current)
            if entry is not None:
                if name not in entry.globals:
                    symbols = entry.bindings.get(name)
                    if symbols is not None:
                        return self._bindings(path, current, name, symbols, env, depth)
                current = entry.scope
            else:
                cls = index.classes.get(current)
                if cls is None:
                    break
                if first and name in cls.bindings:
                    return self._bindings(path, current, name, cls.bindings[name], env, depth)
                if first and name in cls.methods:
                    return (Meaning("function", FunctionId(path, cls.methods[name])),)
                current = cls.scope
            first = False
        return self.module_name(path, name, depth) or (Meaning("builtin", name),)

    def module_name(self, path: str, name: str, depth: int = 0) -> Meanings:
        """What a name bound in a module means; nothing when the module does not bind it."""
        index = self.project.files[path]
        symbols = index.functions[MODULE_SCOPE].bindings.get(name)
        if symbols is not None:
            return self._bindings(path, MODULE_SCOPE, name, symbols, None, depth)
        for star in index.star_imports:
            module = self.project.modules.find(star, path)
            if module is not None and module != path and depth <= DEEPEST and module in self.project.files:
                found = self.member(Meaning("module", module), name, depth + 1)
                if found and found != NOTHING:
                    return found
        return ()

    def _bindings(self, path: str, scope: str, name: str, symbols: tuple[Symbol, ...], env: Environment | None, depth: int) -> Meanings:
        found: list[Meaning] = []
        imports = 0
        for symbol in symbols:
            if symbol is None:
                meanings = NOTHING
            elif symbol[0] == "import":
                meanings = self.dotted(path, symbol[1], depth + 1)
                imports += 1
            else:
                meanings = self.binding(path, scope, name, symbol, env, depth + 1)
            found += [m for m in meanings if m not in found]
        if imports > 1:  # `try: import a; except ImportError: import b` is one thing: prefer what is known
            known = [m for m in found if m.kind not in ("api", "unknown", "const")] or [m for m in found if m.kind == "api"][:1]
            return tuple(known or found)
        return tuple(found) or NOTHING

    def binding(self, path: str, scope: str, name: str, symbol: Symbol, env: Environment | None, depth: int) -> Meanings:
        """What one binding of a name gives it."""
        kind = symbol[0]
        if kind == "def":
            return self.definition(FunctionId(path, symbol[1]), depth)
        if kind == "class":
            return (Meaning("class", ClassId(path, symbol[1])),)
        if kind == "param":
            return self.parameters.meaning(path, scope, name, env, depth)
        if kind == "item":
            return self._item(path, scope, symbol[1], symbol[2], env, depth)
        if kind == "loop":
            return self._elements(self.value(path, scope, symbol[1], env, depth), env, depth)
        if kind == "with":
            return self._entered(path, scope, symbol[1], env, depth)
        return self.value(path, scope, symbol, env, depth)

    # Expressions

    def value(self, path: str, scope: str, symbol: Symbol, env: Environment | None = None, depth: int = 0) -> Meanings:
        """What an expression in a scope can stand for."""
        if symbol is None or depth > DEEPEST:
            return NOTHING
        if not depth or not self.active:
            self._work = 0
        self._work += 1
        if self._work > _LONGEST:
            return NOTHING
        kind = symbol[0]
        if kind == "name":
            return self.name(path, scope, symbol[1], env, depth + 1)
        if kind == "attr":
            found: list[Meaning] = []
            for meaning in self.value(path, scope, symbol[1], env, depth + 1):
                found += [m for m in self.member(meaning, symbol[2], depth + 1) if m not in found]
            return tuple(found) or NOTHING
        if kind == "call":
            return self.results.of(path, scope, symbol, env, depth)
        if kind == "const":
            return (Meaning("const", symbol[1]),)
        if kind == "lambda":
            return (Meaning("function", FunctionId(path, symbol[1])),)
        if kind == "either":
            either: list[Meaning] = []
            for item in symbol[1]:
                either += [m for m in self.value(path, scope, item, env, depth + 1) if m not in either]
            return tuple(either) or NOTHING
        if kind == "seq":
            return (Meaning("seq", (path, scope, symbol[2])),)
        if kind == "sub":
            return self._elements(self.value(path, scope, symbol[1], env, depth + 1), env, depth + 1)
        return NOTHING

    def _item(self, path: str, scope: str, symbol: Symbol, n: int, env: Environment | None, depth: int) -> Meanings:
        if symbol is None or depth > DEEPEST:
            return NOTHING
        found: list[Meaning] = []
        for meaning in self.value(path, scope, symbol, env, depth + 1):
            if meaning.kind == "seq":
                where, inner, items = meaning.target
                if n < len(items) and not any(i is not None and i[0] == "star" for i in items):
                    found += self.value(where, inner, items[n], env if inner == scope else None, depth + 1)
                    continue
            found.append(UNKNOWN)
        return tuple(found) or NOTHING

    def _elements(self, meanings: Meanings, env: Environment | None, depth: int) -> Meanings:
        found: list[Meaning] = []
        for meaning in meanings:
            if meaning.kind == "seq":
                path, scope, items = meaning.target
                for item in items:
                    if item is not None and item[0] != "const":
                        found += self.value(path, scope, item, None, depth + 1)
                if not found:
                    found.append(UNKNOWN)
            else:
                found.append(UNKNOWN)
        return tuple(dict.fromkeys(found)) or NOTHING

    def _entered(self, path: str, scope: str, symbol: Symbol, env: Environment | None, depth: int) -> Meanings:
        """`with X() as x`: x is what __enter__ gives back, which for a project class is looked up."""
        found: list[Meaning] = []
        for meaning in self.value(path, scope, symbol, env, depth + 1):
            if meaning.kind == "instance":
                enter = self.project.method(meaning.target, "__enter__")
                if enter is not None:
                    found += self.call_result(Meaning("function", enter, meaning.target), (), {}, depth + 1)
                    continue
            found.append(UNKNOWN)
        return tuple(found) or NOTHING

    def dotted(self, path: str, dotted: str, depth: int = 0) -> Meanings:
        """What an imported dotted name means in a file."""
        project = self.project
        head, _, last = dotted.rpartition(".")
        if head:
            module = project.modules.find(head, path)
            if module is not None and module in project.files and depth <= DEEPEST:
                if module != path:
                    found = self.member(Meaning("module", module), last, depth + 1)
                    if found:
                        return found
                submodule = project.modules.find(dotted, path)
                if submodule is not None:
                    return (Meaning("module", submodule),) if submodule in project.files else NOTHING
                return NOTHING
        module = project.modules.find(dotted, path)
        if module is not None:
            return (Meaning("module", module),) if module in project.files else NOTHING
        return (Meaning("api", dotted),)
