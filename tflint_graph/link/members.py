"""What attributes mean: members of modules, classes, instances, datasets and library names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tflint_graph.index.model import MODULE_SCOPE, ClassId
from tflint_graph.link.meanings import DEEPEST, NOTHING, Meaning, Meanings, is_class_method, is_property
from tflint_graph.link.memory import remember

if TYPE_CHECKING:
    from tflint_graph.link.evaluator import Evaluator


class Members:
    """Looks up attributes."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self._attributes: dict[tuple[ClassId, str], Meanings] = {}
        self._modules: dict[tuple[str, str, str], Meanings] = {}

    def forget(self) -> None:
        """Drop what was remembered."""
        self._attributes.clear()
        self._modules.clear()

    def of(self, base: Meaning, name: str, depth: int = 0) -> Meanings:
        """What `base.name` means."""
        kind = base.kind
        if kind == "api":
            return (Meaning("api", f"{base.target}.{name}"),)
        if kind == "module":
            return self.of_module(base.target, name, depth)
        if kind in ("instance", "class"):
            return self._of_class(base, name, depth)
        if kind == "super":
            for cls in self.evaluator.project.bases(base.target)[1:]:
                if isinstance(cls, ClassId):
                    method = self.evaluator.project.method_of(cls, name)
                    if method is not None:
                        return (Meaning("function", method, base.target, self.evaluator.definition(method, depth + 1)[0].via),)
            return (Meaning("member", (base.target, name)),)
        if kind == "dataset":
            return (Meaning("method", name, certain=base.certain),)
        if kind == "result":
            return (Meaning("api", f"{base.target}().{name}"),)
        if kind == "function" and name in ("python_function", "__wrapped__"):
            return (base._replace(via=frozenset()),)
        return NOTHING

    def of_module(self, path: str, name: str, depth: int = 0) -> Meanings:
        """What a module of the project gives for a name; nothing when it does not have it."""
        if depth > DEEPEST or path not in self.evaluator.project.files:
            return NOTHING
        key = (path, MODULE_SCOPE, name)
        found = self._modules.get(key)
        if found is not None:
            return found
        if key in self.evaluator.active:
            return ()
        self.evaluator.active.add(key)
        try:
            found = self.evaluator.module_name(path, name, depth + 1)
        finally:
            self.evaluator.active.discard(key)
        if not found:
            submodule = self.evaluator.project.modules.find(f"{self.evaluator.project.files[path].module}.{name}", path)
            if submodule is not None and submodule != path:
                found = (Meaning("module", submodule),) if submodule in self.evaluator.project.files else NOTHING
        if found and not self.evaluator.active:
            remember(self._modules, key, found)
        return found

    def _of_class(self, base: Meaning, name: str, depth: int) -> Meanings:
        cls: ClassId = base.target
        method = self.evaluator.project.method(cls, name)
        if method is not None:
            entry = self.evaluator.project.function(method)
            if entry is not None and base.kind == "instance" and is_property(entry):
                return self.evaluator.call_result(Meaning("function", method, cls), (), {}, depth + 1)
            bound = cls if base.kind == "instance" or (entry is not None and is_class_method(entry)) else None
            own = self.evaluator.definition(method, depth + 1)[0]
            meaning = own._replace(bound=bound)
            assigned = self._assigned(cls, name, depth) if base.kind == "instance" else ()
            return (meaning, *[m for m in assigned if m.kind != "unknown" and m.target != method]) if assigned else (meaning,)
        if name[:1].isupper() and f"{cls.qualname}.{name}" in self.evaluator.project.files[cls.path].classes:
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
        if key in self.evaluator.active or depth > DEEPEST:
            return NOTHING
        if self.evaluator.project.is_widely_written(cls, name):
            remember(self._attributes, key, NOTHING)
            return NOTHING
        self.evaluator.active.add(key)
        try:
            meanings: list[Meaning] = []
            for function, symbol in self.evaluator.project.attribute(cls, name):
                if symbol is None:
                    result = NOTHING
                elif symbol[0] in ("item", "loop", "with"):
                    result = self.evaluator.binding(function.path, function.qualname, name, symbol, None, depth + 1)
                else:
                    result = self.evaluator.value(function.path, function.qualname, symbol, None, depth + 1)
                meanings += [m for m in result if m not in meanings]
        finally:
            self.evaluator.active.discard(key)
        found = tuple(meanings)
        if not self.evaluator.active:
            remember(self._attributes, key, found)
        return found
