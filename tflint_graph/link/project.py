"""The joined view of all FileIndexes of a project. Names only; no syntax."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from tflint_graph.index.model import MODULE_SCOPE, ClassId, ClassIndex, FileIndex, FunctionId, FunctionIndex, Symbol
from tflint_graph.index.pack import PackedIndexes
from tflint_graph.knowledge.api import canonical
from tflint_graph.link.classes import ClassTable
from tflint_graph.link.components import Components
from tflint_graph.link.evaluator import Evaluator
from tflint_graph.link.keras_evidence import version_written_in
from tflint_graph.link.meanings import Meaning, Meanings
from tflint_graph.link.model import Entity
from tflint_graph.link.modules import Modules

_REMEMBERED = 40_000  # entries of a cache before it starts anew
_MANY_WRITERS = 30


class Project:
    """All indexed files of one project, and what their names mean across modules.

    `complete` says that every file of the project that could matter was read, so that "all call sites" means all. `keras` is the Keras version that something
    outside the code decides (2 or 3), or None; `keras_at` is the one that counts. `telling` are the files whose text may say something about it. `files` may
    be any mapping of
    paths to indexes (see `index.pack.PackedIndexes`) or the indexes themselves. `paths` are all files of the project, indexed or not: they say what is a
    package.
    `read` gives a file's bytes; without it, they are read from disk. `modules`, `classes` and `components` are made from the files where they are not given.
    """

    root: str
    files: Mapping[str, FileIndex]
    complete: bool
    keras: int | None

    def __init__(
        self,
        root: str,
        files: Iterable[FileIndex] | Mapping[str, FileIndex],
        *,
        complete: bool,
        keras: int | None = None,
        read: Callable[[str], bytes] | None = None,
        paths: Iterable[str] | None = None,
        telling: Iterable[str] = (),
        modules: Modules | None = None,
        classes: ClassTable | None = None,
        components: Components | None = None,
    ) -> None:
        self.root = root
        self.files = files if isinstance(files, Mapping) else {index.path: index for index in files}
        self.complete = complete
        self.keras = keras
        self.modules = modules if modules is not None else Modules(root, paths if paths is not None else self.files)
        self.evaluator = Evaluator(self)
        self._read = read
        self._telling = telling
        self.components = components if components is not None else Components(self.modules, self.files.values())
        self._table = classes if classes is not None else ClassTable(self.files.values())
        self._keras_versions: dict[str, int | None] | None = None
        self._bases: dict[ClassId, tuple[tuple[ClassId | str, ...], bool]] = {}
        self._subclasses: dict[ClassId, list[ClassId]] | None = None
        self._attribute_sites: dict[tuple[ClassId, str], tuple[tuple[FunctionId, Symbol], ...]] = {}
        self._methods: dict[tuple[ClassId, str], FunctionId | None] = {}

    def keras_at(self, path: str) -> int | None:
        """The Keras that the code of a file runs with: what the files connected with it say, else what is known from outside; None when nothing decides it."""
        if self._keras_versions is None:
            groups: dict[str, list[FileIndex]] = {}
            for telling in self._telling:
                if telling in self.files:
                    groups.setdefault(self.components.of(telling), []).append(self.files[telling])
            self._keras_versions = {component: version_written_in(files) for component, files in groups.items()}
        own = self._keras_versions.get(self.components.of(path)) if path in self.files else None
        return own if own is not None else self.keras

    def source(self, path: str) -> bytes:
        """The bytes that were indexed for `path` (read again from disk or from the editor's override). Raises OSError."""
        if self._read is not None:
            return self._read(path)
        with open(path, "rb") as file:
            return file.read()

    def function(self, function: FunctionId) -> FunctionIndex | None:
        """The entry of a function, None when there is none."""
        if function.path not in self.files:
            return None
        return self.files[function.path].functions.get(function.qualname)

    def class_index(self, cls: ClassId) -> ClassIndex | None:
        """The entry of a class, None when there is none."""
        if cls.path not in self.files:
            return None
        return self.files[cls.path].classes.get(cls.qualname)

    def region_of(self, function: FunctionId) -> FunctionId:
        """The outermost function around a function: a top-level def or a method of a top-level class (classes may nest); "<module>" for module-level
        lambdas."""
        index = self.files[function.path]
        outermost = MODULE_SCOPE
        current = function.qualname
        while current != MODULE_SCOPE:
            entry = index.functions.get(current)
            if entry is not None:
                if not entry.is_lambda:
                    outermost = current
                current = entry.scope
            else:
                cls = index.classes.get(current)
                if cls is None:
                    break
                current = cls.scope
        return FunctionId(function.path, outermost)

    def rest(self) -> None:
        """Give back the memory that linking a large project took; what is asked for later is worked out again."""
        if isinstance(self.files, PackedIndexes) and self.files.crowded:
            self.files.cool()
            self.evaluator.forget()
            self._methods.clear()
            self._attribute_sites.clear()

    # Names

    def lookup(self, path: str, name: str) -> Entity | None:
        """What a module-level name of a file stands for, imports and re-exports followed. Not builtins: a name not bound in the module gives None."""
        if path not in self.files:
            return None
        meanings = self.evaluator.members.of_module(path, name)
        if not meanings:
            return None
        return self._entity(meanings) or Entity("global", (path, name))

    def member(self, entity: Entity, attribute: str) -> Entity | None:
        """`entity.attribute`: a member of a module, API name, class (bases followed) or instance (methods and bases followed; attributes are values: see
        `attribute`)."""
        kind, target = entity
        if kind == "api":
            return Entity("api", canonical(f"{target}.{attribute}"))
        if kind == "module":
            assert isinstance(target, str)
            found = self.lookup(target, attribute)
            return found or self._entity(self.evaluator.member(Meaning("module", target), attribute))
        if kind in ("class", "instance"):
            assert isinstance(target, ClassId)
            method = self.method(target, attribute)
            if method is not None:
                return Entity("function", method)
            return self._entity(self.evaluator.member(Meaning(kind, target), attribute))
        return None

    def resolve(self, path: str, scope: str, symbol: Symbol) -> Entity | None:
        """What an expression in `scope` (a function's qualname or "<module>") stands for: local and enclosing bindings, `self`, instances made by calling a
        class, attributes of `self`, partials and decorators that keep the function. None when unknown or ambiguous."""
        if path not in self.files:
            return None
        return self._entity(self.evaluator.value(path, scope, symbol))

    def _entity(self, meanings: Meanings) -> Entity | None:
        """The one entity among some meanings; literals (`f = None` before the real thing) do not count."""
        real = {(m.kind, m.target) for m in meanings if m.kind != "const"}
        if len(real) != 1:
            return None
        kind, target = real.pop()
        if kind in ("function", "class", "instance", "module"):
            return Entity(kind, target)
        if kind == "api" and "()" not in target:
            return Entity("api", canonical(target))
        return None

    # Classes

    def bases(self, cls: ClassId) -> Sequence[ClassId | str]:
        """The class and all its bases in method resolution order (an approximation where it is ambiguous); API bases as canonical dotted names."""
        return [base if isinstance(base, ClassId) else canonical(base) for base in self._linearised(cls)[0]]

    def api_bases(self, cls: ClassId) -> Sequence[str]:
        """The library classes among the bases, as the imports spell them."""
        return [base for base in self._linearised(cls)[0] if isinstance(base, str)]

    def bases_known(self, cls: ClassId) -> bool:
        """True when every base of the class was resolved."""
        return self._linearised(cls)[1]

    def _linearised(self, cls: ClassId) -> tuple[tuple[ClassId | str, ...], bool]:
        found = self._bases.get(cls)
        if found is not None:
            return found
        self._bases[cls] = ((cls,), False)  # while in the making: a class among its own bases
        entry = self.class_index(cls)
        if entry is None:
            return self._bases[cls]
        lists: list[list[ClassId | str]] = []
        known = True
        for symbol in entry.bases:
            meanings = [m for m in self.evaluator.value(cls.path, entry.scope, symbol) if m.kind in ("class", "api", "result", "builtin")]
            if len(meanings) != 1:
                known = False
                continue
            base = meanings[0]
            if base.kind == "class" and base.target != cls:
                order, base_known = self._linearised(base.target)
                lists.append(list(order))
                known = known and base_known
            elif base.kind == "api":
                lists.append([base.target])
            elif base.kind == "builtin":
                lists.append([f"builtins.{base.target}"])
            else:
                known = False
        self._bases[cls] = ((cls, *_merge(lists)), known)
        return self._bases[cls]

    def method(self, cls: ClassId, name: str) -> FunctionId | None:
        """The project method that `instance.name` finds first."""
        key = (cls, name)
        if key not in self._methods:
            if len(self._methods) > _REMEMBERED:
                self._methods.clear()
            self._methods[key] = self._find_method(cls, name)
        return self._methods[key]

    def _find_method(self, cls: ClassId, name: str) -> FunctionId | None:
        for base in self._linearised(cls)[0]:
            method = self.method_of(base, name) if isinstance(base, ClassId) else None
            if method is not None:
                return method
        return None

    def method_of(self, cls: ClassId, name: str) -> FunctionId | None:
        """The method that the class itself defines."""
        if not self._table.defines(cls, name):
            return None
        entry = self.class_index(cls)
        qualname = entry.methods.get(name) if entry is not None else None
        return FunctionId(cls.path, qualname) if qualname is not None else None

    def overrides(self, cls: ClassId, name: str) -> Sequence[FunctionId]:
        """The methods of that name in the classes below `cls`."""
        found = [self.method_of(below, name) for below in self._table.definers(name, self.subclasses(cls))]
        return [method for method in found if method is not None]

    def attribute(self, cls: ClassId, name: str) -> Sequence[tuple[FunctionId, Symbol]]:
        """Every assignment to `self.name` in the methods of the class, its bases and its subclasses; class-level bindings have the class body's scope."""
        key = (cls, name)
        found = self._attribute_sites.get(key)
        if found is None:
            sites: list[tuple[FunctionId, Symbol]] = []
            family = [base for base in self._linearised(cls)[0] if isinstance(base, ClassId)]
            for member in self._table.writers(name, [*family, *self.subclasses(cls)]):
                entry = self.class_index(member)
                if entry is None:
                    continue
                sites += [(FunctionId(member.path, qualname), symbol) for qualname, symbol in entry.attributes.get(name, ())]
                sites += [(FunctionId(member.path, member.qualname), symbol) for symbol in entry.bindings.get(name, ())]
            if len(self._attribute_sites) > _REMEMBERED:
                self._attribute_sites.clear()
            found = self._attribute_sites[key] = tuple(sites)
        return found

    def is_widely_written(self, cls: ClassId, name: str) -> bool:
        """So many classes of the family assign the attribute that looking at each would cost more than it tells."""
        family = [base for base in self._linearised(cls)[0] if isinstance(base, ClassId)]
        return len(self._table.writers(name, [*family, *self.subclasses(cls)])) > _MANY_WRITERS

    def subclasses(self, cls: ClassId) -> Sequence[ClassId]:
        """All project classes below `cls`."""
        if self._subclasses is None:
            self._subclasses = {}
            for below in self._table.classes:
                for base in self._linearised(below)[0][1:]:
                    if isinstance(base, ClassId):
                        self._subclasses.setdefault(base, []).append(below)
        return self._subclasses.get(cls, [])


def _merge(lists: list[list[ClassId | str]]) -> list[ClassId | str]:
    """Method resolution order of several bases: a base comes after everything below it, otherwise in the order written."""
    merged: list[ClassId | str] = []
    pending = [list(order) for order in lists if order]
    while pending:
        for order in pending:
            head = order[0]
            if not any(head in other[1:] for other in pending):
                break
        else:
            head = pending[0][0]
        merged.append(head)
        pending = [[base for base in order if base != head] for order in pending]
        pending = [order for order in pending if order]
    return merged
