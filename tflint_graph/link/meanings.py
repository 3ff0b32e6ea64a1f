"""What expressions mean: symbols to the functions, classes, instances, datasets and library names they can stand for.

An expression has a tuple of possible meanings. UNKNOWN among them says that there may be others. Nothing here knows about tracing beyond "this is a
tf.function of that function", which linking asks for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from tflint_graph.index.model import MODULE_SCOPE, ClassId, FunctionId, FunctionIndex, Symbol
from tflint_graph.index.takers import FUNCTIONS, Treatment
from tflint_graph.knowledge.api import canonical
from tflint_graph.link.datasets import DATASET_RESULTS, is_dataset_api, is_dataset_like

if TYPE_CHECKING:
    from tflint_graph.link.project import Project


class Meaning(NamedTuple):
    """One thing an expression can stand for.

    kind        target                    what
    "api"       dotted name               something of a library, as spelled by the imports
    "result"    dotted name               what calling that gives
    "module"    path                      a module of the project
    "function"  FunctionId                a function; `bound` is the class of the object it was read from
    "class"     ClassId                   a class
    "instance"  ClassId                   an instance of it
    "super"     ClassId                   super() in a method of it
    "member"    (ClassId, name)           an attribute that only a library base of the class can have
    "dataset"   None                      a tf.data.Dataset; `certain` False where only a likeness says so
    "method"    name                      a method of a dataset
    "seq"       (path, scope, items)      a display
    "const"     value                     a literal
    "builtin"   name                      a builtin
    "unknown"   None
    `via` holds "traced" (wrapped by tf.function), "unconverted", "hidden" (lru_cache), "partial", "python" (autograph=False).
    """

    kind: str
    target: Any
    bound: ClassId | None = None
    via: frozenset[str] = frozenset()
    certain: bool = True


UNKNOWN = Meaning("unknown", None)
Meanings = tuple[Meaning, ...]
_NOTHING: Meanings = (UNKNOWN,)
_DEPTH = 14
_LONGEST = 4000  # steps of one evaluation
_REMEMBERED = 40_000  # entries of a cache before it starts anew; a name costs half a kilobyte
_TRACED = frozenset({"traced"})
_PYTHON = frozenset({"traced", "python"})
_VIA = {Treatment.UNCONVERTED: frozenset({"unconverted"}), Treatment.HIDDEN: frozenset({"hidden"}), Treatment.PASSES: frozenset({"partial"})}
_VIA[Treatment.CALLBACK] = frozenset({"callback"})
_KEEPS = frozenset({"tensorflow.custom_gradient", "tensorflow.recompute_grad"})
Environment = dict[tuple[str, str, str], Meanings]  # (path, function, parameter) -> what it is in this call


def taker_name(dotted: str) -> str:
    """The name under which FUNCTIONS may list a library function."""
    if dotted in FUNCTIONS:
        return dotted
    return canonical(dotted)


class Evaluator:
    """Evaluates symbols over a project."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self._names: dict[tuple[str, str, str], Meanings] = {}
        self._attributes: dict[tuple[ClassId, str], Meanings] = {}
        self._definitions: dict[FunctionId, Meanings] = {}
        self._active: set[Any] = set()
        self._work = 0
        self.arguments: dict[tuple[FunctionId, str], list[Meaning]] = {}
        # What parameters are bound to at the calls that linking has looked at.

    def forget(self) -> None:
        """Drop what was remembered: the arguments known have grown."""
        self._names.clear()
        self._attributes.clear()
        self._definitions.clear()

    # Names

    def name(self, path: str, scope: str, name: str, env: Environment | None = None, depth: int = 0) -> Meanings:
        """What a name means in a scope (the qualname of a function or class, or "<module>")."""
        if env is None:
            key = (path, scope, name)
            found = self._names.get(key)
            if found is not None:
                return found
            if key in self._active or depth > _DEPTH:
                return _NOTHING
            self._active.add(key)
            try:
                found = self._name(path, scope, name, None, depth)
            finally:
                self._active.discard(key)
            if not self._active:
                _remember(self._names, key, found)
            return found
        key = (path, scope, name)
        if key in self._active or depth > _DEPTH:
            return _NOTHING
        self._active.add(key)
        try:
            return self._name(path, scope, name, env, depth)
        finally:
            self._active.discard(key)

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
            if module is not None and module != path and depth <= _DEPTH and module in self.project.files:
                found = self.member(Meaning("module", module), name, depth + 1)
                if found and found != _NOTHING:
                    return found
        return ()

    def _bindings(self, path: str, scope: str, name: str, symbols: tuple[Symbol, ...], env: Environment | None, depth: int) -> Meanings:
        found: list[Meaning] = []
        imports = 0
        for symbol in symbols:
            if symbol is None:
                meanings = _NOTHING
            elif symbol[0] == "import":
                meanings = self.dotted(path, symbol[1], depth + 1)
                imports += 1
            else:
                meanings = self._binding(path, scope, name, symbol, env, depth + 1)
            found += [m for m in meanings if m not in found]
        if imports > 1:  # `try: import a; except ImportError: import b` is one thing: prefer what is known
            known = [m for m in found if m.kind not in ("api", "unknown", "const")] or [m for m in found if m.kind == "api"][:1]
            return tuple(known or found)
        return tuple(found) or _NOTHING

    def _binding(self, path: str, scope: str, name: str, symbol: Symbol, env: Environment | None, depth: int) -> Meanings:
        kind = symbol[0]
        if kind == "def":
            return self.definition(FunctionId(path, symbol[1]), depth)
        if kind == "class":
            return (Meaning("class", ClassId(path, symbol[1])),)
        if kind == "param":
            return self.parameter(path, scope, name, env, depth)
        if kind == "item":
            return self._item(path, scope, symbol[1], symbol[2], env, depth)
        if kind == "loop":
            return self._elements(self.value(path, scope, symbol[1], env, depth), env, depth)
        if kind == "with":
            return self._entered(path, scope, symbol[1], env, depth)
        return self.value(path, scope, symbol, env, depth)

    def definition(self, function: FunctionId, depth: int = 0) -> Meanings:
        """What the name of a def means once its decorators have been applied."""
        known = self._definitions.get(function)
        if known is not None:
            return known
        entry = self.project.function(function)
        if entry is None:
            return _NOTHING
        via: set[str] = set()
        for decorator in entry.decorators:
            via |= self._decorator_effect(function, entry, decorator, depth)
        found = (Meaning("function", function, None, frozenset(via)),)
        if not self._active:
            _remember(self._definitions, function, found)
        return found

    def _decorator_effect(self, function: FunctionId, entry: FunctionIndex, decorator: Symbol, depth: int) -> set[str]:
        if decorator is None or depth > _DEPTH:
            return set()
        effects: set[str] = set()
        key = ("decorator", function, decorator)
        if key in self._active:
            return set()
        if not self._active:
            self._work = 0
        self._active.add(key)
        try:
            for meaning in self.value(function.path, entry.scope, decorator, None, depth + 1):
                if meaning.kind == "api":
                    taker = FUNCTIONS.get(taker_name(meaning.target))
                    if taker is None:
                        continue
                    if taker.treatment is Treatment.ROOT:
                        effects |= _PYTHON if "python" in meaning.via or _has_autograph_false(decorator) else _TRACED
                    elif taker.treatment in _VIA and (taker.treatment is not Treatment.CALLBACK or taker_name(meaning.target) in _KEEPS):
                        effects |= _VIA[taker.treatment]
                elif meaning.kind == "function":
                    if "hidden" in meaning.via and self._is_wrapt(meaning.target):
                        effects.add("hidden")
                    given = Meaning("function", function)
                    for result in self.call_result(meaning, (given,), {}, depth + 1):
                        if result.kind == "function" and result.target == function:
                            effects |= result.via
                        elif result.kind == "api" and "traced" in result.via:
                            effects |= _TRACED
                        elif result.kind == "function" and "traced" in result.via:
                            effects |= {"traced-wrapper"}
        finally:
            self._active.discard(key)
        return effects

    def _is_wrapt(self, decorator: FunctionId) -> bool:
        """A decorator made by `wrapt.decorator`."""
        entry = self.project.function(decorator)
        return entry is not None and any(d is not None and d[0] in ("attr", "name") and d[-1] == "decorator" for d in entry.decorators)

    def parameter(self, path: str, scope: str, name: str, env: Environment | None, depth: int) -> Meanings:
        """What a parameter can be: the object of a method, what its annotation says, what calls pass, and a function given as default."""
        if env is not None:
            given = env.get((path, scope, name))
            if given is not None:
                return given
        entry = self.project.files[path].functions.get(scope)
        if entry is None:
            return _NOTHING
        if entry.class_qualname is not None and entry.params and entry.params[0].name == name and not is_static(entry):
            cls = ClassId(path, entry.class_qualname)
            return (Meaning("class" if is_class_method(entry) else "instance", cls),)
        found: list[Meaning] = list(self.arguments.get((FunctionId(path, scope), name), ()))
        for param in entry.params:
            if param.name == name and param.kind in ("positional", "keyword"):
                annotated = self._annotated(path, entry.scope, param.annotation, depth)
                if annotated is not None:
                    found.append(annotated)
                    return tuple(found)
                if param.default is not None and param.default[0] in ("name", "attr", "lambda"):
                    found += [m for m in self.value(path, entry.scope, param.default, None, depth + 1) if m.kind in ("function", "class")]
        return (*found, UNKNOWN)

    def _annotated(self, path: str, scope: str, annotation: Symbol, depth: int) -> Meaning | None:
        if annotation is None:
            return None
        if annotation[0] == "sub" and len(annotation) == 3:
            items = annotation[2]
            spelled = annotation[1][-1] if annotation[1] is not None else ""
            return self._annotated(path, scope, items[0], depth) if spelled == "Optional" and items else None
        if annotation[0] == "either":
            options = [a for a in annotation[1] if a is not None and a != ("const", None)]
            return self._annotated(path, scope, options[0], depth) if len(options) == 1 else None
        if annotation[0] not in ("name", "attr"):
            return None
        for meaning in self.value(path, scope, annotation, None, depth + 1):
            if meaning.kind == "class":
                return Meaning("instance", meaning.target)
            if meaning.kind == "api":
                dotted = canonical(meaning.target)
                if dotted in ("tensorflow.data.Dataset", "tensorflow.compat.v1.data.Dataset"):
                    return Meaning("dataset", None)
                if dotted.startswith("tensorflow.distribute.") and dotted.endswith("Strategy"):
                    return Meaning("result", meaning.target)
        return None

    def _item(self, path: str, scope: str, symbol: Symbol, n: int, env: Environment | None, depth: int) -> Meanings:
        if symbol is None or depth > _DEPTH:
            return _NOTHING
        found: list[Meaning] = []
        for meaning in self.value(path, scope, symbol, env, depth + 1):
            if meaning.kind == "seq":
                where, inner, items = meaning.target
                if n < len(items) and not any(i is not None and i[0] == "star" for i in items):
                    found += self.value(where, inner, items[n], env if inner == scope else None, depth + 1)
                    continue
            found.append(UNKNOWN)
        return tuple(found) or _NOTHING

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
        return tuple(dict.fromkeys(found)) or _NOTHING

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
        return tuple(found) or _NOTHING

    # Expressions

    def value(self, path: str, scope: str, symbol: Symbol, env: Environment | None = None, depth: int = 0) -> Meanings:
        """What an expression in a scope can stand for."""
        if symbol is None or depth > _DEPTH:
            return _NOTHING
        if not depth or not self._active:
            self._work = 0
        self._work += 1
        if self._work > _LONGEST:
            return _NOTHING
        kind = symbol[0]
        if kind == "name":
            return self.name(path, scope, symbol[1], env, depth + 1)
        if kind == "attr":
            found: list[Meaning] = []
            for meaning in self.value(path, scope, symbol[1], env, depth + 1):
                found += [m for m in self.member(meaning, symbol[2], depth + 1) if m not in found]
            return tuple(found) or _NOTHING
        if kind == "call":
            return self._call(path, scope, symbol, env, depth)
        if kind == "const":
            return (Meaning("const", symbol[1]),)
        if kind == "lambda":
            return (Meaning("function", FunctionId(path, symbol[1])),)
        if kind == "either":
            either: list[Meaning] = []
            for item in symbol[1]:
                either += [m for m in self.value(path, scope, item, env, depth + 1) if m not in either]
            return tuple(either) or _NOTHING
        if kind == "seq":
            return (Meaning("seq", (path, scope, symbol[2])),)
        if kind == "sub":
            return self._elements(self.value(path, scope, symbol[1], env, depth + 1), env, depth + 1)
        return _NOTHING

    def _call(self, path: str, scope: str, symbol: Symbol, env: Environment | None, depth: int) -> Meanings:
        _, callee, args, kwargs, _ = symbol
        if callee is None:
            return _NOTHING
        if callee == ("name", "super"):
            cls = self._enclosing_class(path, scope)
            return (Meaning("super", cls),) if cls is not None else _NOTHING
        callees = self.value(path, scope, callee, env, depth + 1)
        if callees == _NOTHING:
            return _NOTHING
        found: list[Meaning] = []
        for meaning in callees:
            if meaning.kind == "api" or meaning.kind == "builtin":
                result = self._api_call(path, scope, meaning, args, kwargs, env, depth)
            elif meaning.kind == "function":
                given = tuple(self._argument(path, scope, a, env, depth) for a in args)
                named = {k: self._argument(path, scope, a, env, depth) for k, a in kwargs if k is not None}
                result = self.call_result(meaning, given, named, depth + 1)
            elif meaning.kind == "class":
                result = (Meaning("instance", meaning.target),)
            elif meaning.kind == "instance":
                call = self.project.method(meaning.target, "__call__")
                result = self.call_result(Meaning("function", call, meaning.target), (), {}, depth + 1) if call is not None else _NOTHING
            elif meaning.kind == "method":
                result = (Meaning("dataset", None, certain=meaning.certain),) if meaning.target in DATASET_RESULTS else _NOTHING
            else:
                result = _NOTHING
            found += [m for m in result if m not in found]
        return tuple(found) or _NOTHING

    def _argument(self, path: str, scope: str, symbol: Symbol, env: Environment | None, depth: int) -> Meaning:
        """One argument as a single meaning; only what is worth handing into the callee."""
        if symbol is None or symbol[0] in ("const", "seq", "sub"):
            return UNKNOWN
        meanings = [m for m in self.value(path, scope, symbol, env, depth + 1) if m.kind in ("function", "class", "instance", "api", "dataset")]
        return meanings[0] if len(meanings) == 1 else UNKNOWN

    def _api_call(self, path: str, scope: str, callee: Meaning, args: tuple[Symbol, ...], kwargs: Any, env: Environment | None, depth: int) -> Meanings:
        dotted = taker_name(callee.target) if callee.kind == "api" else callee.target
        taker = FUNCTIONS.get(dotted)
        if taker is not None:
            return self._taker_call(path, scope, callee, dotted, args, kwargs, env, depth)
        if callee.kind == "builtin":
            return _NOTHING
        if is_dataset_api(dotted):
            return (Meaning("dataset", None),)
        if is_dataset_like(dotted):
            return (Meaning("dataset", None, certain=False),)
        return (Meaning("result", callee.target),)

    def _taker_call(
        self, path: str, scope: str, callee: Meaning, dotted: str, args: tuple[Symbol, ...], kwargs: Any, env: Environment | None, depth: int
    ) -> Meanings:
        taker = FUNCTIONS[dotted]
        python = any(k == "autograph" and v == ("const", False) for k, v in kwargs) or "python" in callee.via
        function = args[taker.positions[0]] if taker.positions and taker.positions[0] < len(args) else next((v for k, v in kwargs if k in taker.keywords), None)
        if function is None or function[0] == "const":  # lru_cache(None)
            if taker.treatment is Treatment.ROOT:  # tf.function(input_signature=...) waits for its function
                return (Meaning("api", callee.target, None, _PYTHON if python else _TRACED),)
            if taker.treatment in (Treatment.UNCONVERTED, Treatment.HIDDEN):
                return (Meaning("api", callee.target),)
            return _NOTHING
        meanings = self.value(path, scope, function, env, depth + 1)
        if taker.treatment is Treatment.ROOT:
            via = _PYTHON if python else _TRACED
            return tuple(m._replace(via=m.via | via) if m.kind in ("function", "instance", "class", "member") else m for m in meanings)
        if dotted == "functools.partial":
            if python:
                return tuple(m._replace(via=m.via | {"python"}) if m.kind == "api" else m for m in meanings)
            return tuple(m._replace(via=m.via | {"partial"}) if m.kind == "function" else m for m in meanings)
        if taker.treatment in _VIA and taker.treatment is not Treatment.CALLBACK:
            return tuple(m._replace(via=m.via | _VIA[taker.treatment]) if m.kind == "function" else m for m in meanings)
        if dotted in _KEEPS:
            return tuple(m._replace(via=m.via | {"callback"}) if m.kind == "function" else m for m in meanings)
        return (Meaning("result", callee.target),)

    def call_result(self, callee: Meaning, args: tuple[Meaning, ...], kwargs: dict[str, Meaning], depth: int) -> Meanings:
        """What calling a project function gives back, as far as its return statements tell."""
        function: FunctionId = callee.target
        if not self._active:
            self._work = 0
        key = ("result", function)
        if depth > _DEPTH or key in self._active:
            return _NOTHING
        entry = self.project.function(function)
        if entry is None or entry.is_generator or entry.is_async or not entry.returns:
            return _NOTHING
        env: Environment | None = None
        params = list(entry.params)
        if callee.bound is not None and params and not is_static(entry):
            params = params[1:]
        for param, given in zip([p for p in params if p.kind == "positional"], args):
            if given.kind != "unknown":
                env = {} if env is None else env
                env[(function.path, function.qualname, param.name)] = (given,)
        for param in params:
            given_by_name = kwargs.get(param.name)
            if given_by_name is not None and given_by_name.kind != "unknown":
                env = {} if env is None else env
                env[(function.path, function.qualname, param.name)] = (given_by_name,)
        self._active.add(key)
        try:
            found: list[Meaning] = []
            for symbol in entry.returns:
                found += [m for m in self.value(function.path, function.qualname, symbol, env, depth + 1) if m not in found]
            return tuple(found) or _NOTHING
        finally:
            self._active.discard(key)

    def _enclosing_class(self, path: str, scope: str) -> ClassId | None:
        index = self.project.files[path]
        while scope != MODULE_SCOPE:
            entry = index.functions.get(scope)
            if entry is None:
                return None
            if entry.class_qualname is not None:
                return ClassId(path, entry.class_qualname)
            scope = entry.scope
        return None

    # Attributes and dotted names

    def dotted(self, path: str, dotted: str, depth: int = 0) -> Meanings:
        """What an imported dotted name means in a file."""
        project = self.project
        head, _, last = dotted.rpartition(".")
        if head:
            module = project.modules.find(head, path)
            if module is not None and module in project.files and depth <= _DEPTH:
                if module != path:
                    found = self.member(Meaning("module", module), last, depth + 1)
                    if found:
                        return found
                submodule = project.modules.find(dotted, path)
                if submodule is not None:
                    return (Meaning("module", submodule),) if submodule in project.files else _NOTHING
                return _NOTHING
        module = project.modules.find(dotted, path)
        if module is not None:
            return (Meaning("module", module),) if module in project.files else _NOTHING
        return (Meaning("api", dotted),)

    def member(self, base: Meaning, name: str, depth: int = 0) -> Meanings:
        """What `base.name` means."""
        kind = base.kind
        if kind == "api":
            return (Meaning("api", f"{base.target}.{name}"),)
        if kind == "module":
            return self._module_member(base.target, name, depth)
        if kind in ("instance", "class"):
            return self._class_member(base, name, depth)
        if kind == "super":
            for cls in self.project.bases(base.target)[1:]:
                if isinstance(cls, ClassId):
                    method = self.project.method_of(cls, name)
                    if method is not None:
                        return (Meaning("function", method, base.target, self.definition(method, depth + 1)[0].via),)
            return (Meaning("member", (base.target, name)),)
        if kind == "dataset":
            return (Meaning("method", name, certain=base.certain),)
        if kind == "result":
            return (Meaning("api", f"{base.target}().{name}"),)
        if kind == "function" and name in ("python_function", "__wrapped__"):
            return (base._replace(via=frozenset()),)
        return _NOTHING

    def _module_member(self, path: str, name: str, depth: int) -> Meanings:
        if depth > _DEPTH or path not in self.project.files:
            return _NOTHING
        key = (path, MODULE_SCOPE, name)
        found = self._names.get(key)
        if found is not None:
            return found
        if key in self._active:
            return ()
        self._active.add(key)
        try:
            found = self.module_name(path, name, depth + 1)
        finally:
            self._active.discard(key)
        if not found:
            submodule = self.project.modules.find(f"{self.project.files[path].module}.{name}", path)
            if submodule is not None and submodule != path:
                found = (Meaning("module", submodule),) if submodule in self.project.files else _NOTHING
        if found and not self._active:
            _remember(self._names, key, found)
        return found

    def _class_member(self, base: Meaning, name: str, depth: int) -> Meanings:
        cls: ClassId = base.target
        method = self.project.method(cls, name)
        if method is not None:
            entry = self.project.function(method)
            if entry is not None and base.kind == "instance" and is_property(entry):
                return self.call_result(Meaning("function", method, cls), (), {}, depth + 1)
            bound = cls if base.kind == "instance" or (entry is not None and is_class_method(entry)) else None
            own = self.definition(method, depth + 1)[0]
            meaning = own._replace(bound=bound)
            assigned = self._assigned(cls, name, depth) if base.kind == "instance" else ()
            return (meaning, *[m for m in assigned if m.kind != "unknown" and m.target != method]) if assigned else (meaning,)
        if name[:1].isupper() and f"{cls.qualname}.{name}" in self.project.files[cls.path].classes:
            return (Meaning("class", ClassId(cls.path, f"{cls.qualname}.{name}")),)
        found = self._assigned(cls, name, depth)
        if found:
            return found
        return (Meaning("member", (cls, name)),)

    def _assigned(self, cls: ClassId, name: str, depth: int) -> Meanings:
        """What is assigned to `self.name` anywhere in the class, its bases and its subclasses."""
        key = (cls, name)
        found = self._attributes.get(key)
        if found is not None:
            return found
        if key in self._active or depth > _DEPTH:
            return _NOTHING
        self._active.add(key)
        try:
            meanings: list[Meaning] = []
            for function, symbol in self.project.attribute(cls, name):
                if symbol is None:
                    result = _NOTHING
                elif symbol[0] in ("item", "loop", "with"):
                    result = self._binding(function.path, function.qualname, name, symbol, None, depth + 1)
                else:
                    result = self.value(function.path, function.qualname, symbol, None, depth + 1)
                meanings += [m for m in result if m not in meanings]
        finally:
            self._active.discard(key)
        found = tuple(meanings)
        if not self._active:
            _remember(self._attributes, key, found)
        return found


def _remember(cache: dict[Any, Meanings], key: Any, found: Meanings) -> None:
    if len(cache) > _REMEMBERED:
        cache.clear()
    cache[key] = found


def is_static(entry: FunctionIndex) -> bool:
    """Decorated with `staticmethod`."""
    return ("name", "staticmethod") in entry.decorators


def is_class_method(entry: FunctionIndex) -> bool:
    """Its first parameter is the class."""
    return ("name", "classmethod") in entry.decorators or entry.name == "__new__"


def is_property(entry: FunctionIndex) -> bool:
    """Decorated with `property` or one of its kin: reading the attribute calls it."""
    for decorator in entry.decorators:
        if decorator is not None and decorator[0] in ("name", "attr") and decorator[-1] in ("property", "cached_property", "abstractproperty"):
            return True
    return False


def _has_autograph_false(decorator: Symbol) -> bool:
    return decorator[0] == "call" and any(k == "autograph" and v == ("const", False) for k, v in decorator[3])
