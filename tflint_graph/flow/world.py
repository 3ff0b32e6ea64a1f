"""Everything that lies outside the region at hand: module-level names, other functions and classes of the project, libraries.

The interpreter asks; the answers come from the linked project and the knowledge tables, and for values of other regions from the Analysis that runs the
interpreter.
"""

from __future__ import annotations

import builtins
from dataclasses import replace
from typing import TYPE_CHECKING

from tflint_graph.flow.operators import INT, constant, dimension
from tflint_graph.flow.results import Arguments, result_of
from tflint_graph.flow.values import PYTHON, UNKNOWN, Kind, Value
from tflint_graph.index.model import ClassId, FunctionId
from tflint_graph.knowledge.api import Api, canonical, is_subclass, lookup, method
from tflint_graph.link.model import Entity
from tflint_graph.link.project import Project

if TYPE_CHECKING:
    from tflint_graph.flow.analysis import Analysis

_BUILTINS = frozenset(dir(builtins))
_BUILTIN_VALUES = {name: Value(Kind.CLASS if isinstance(getattr(builtins, name), type) else Kind.FUNCTION, ref=f"builtins.{name}") for name in _BUILTINS}
_TABLE_OF_KIND = {Kind.VARIABLE: "variable", Kind.DATASET: "dataset", Kind.ITERATOR: "iterator", Kind.TENSORARRAY: "tensorarray"}
_EAGERLY = {"tensorflow.executing_eagerly": True, "tensorflow.inside_function": False}


class World:
    """Answers about names and attributes that do not depend on the state of the region."""

    def __init__(self, project: Project, analysis: Analysis) -> None:
        self.project = project
        self.analysis = analysis
        self._globals: dict[tuple[str, str], Value] = {}
        self._apis: dict[str, Value] = {}
        self._attributes: dict[tuple[ClassId, str], Value] = {}

    # -- names -----------------------------------------------------------------------------------------------------------------------------------------------

    def global_value(self, path: str, name: str) -> Value:
        """The value of a module-level or builtin name."""
        key = (path, name)
        found = self._globals.get(key)
        if found is None:
            self._globals[key] = UNKNOWN  # a definition that needs itself
            entity = self.project.lookup(path, name)
            if entity is None:
                found = _BUILTIN_VALUES.get(name, UNKNOWN)
            else:
                found = self.entity_value(entity)
            self._globals[key] = found
        return found

    def entity_value(self, entity: Entity) -> Value:
        """An entity of the linker as a value."""
        target = entity.target
        match entity.kind:
            case "api":
                assert isinstance(target, str)
                return self.api_value(target)
            case "module":
                return Value(Kind.MODULE, ref=("path", target))
            case "function":
                assert isinstance(target, FunctionId)
                return Value(Kind.FUNCTION, ref=target, traced=self.analysis.is_tf_function(target))
            case "class":
                return Value(Kind.CLASS, ref=target)
            case "instance":
                return Value(Kind.INSTANCE, ref=target)
            case "global":
                assert isinstance(target, tuple)
                return self.analysis.module_level_value(target[0], target[1])
        return UNKNOWN

    def api_value(self, dotted: str) -> Value:
        """A library's object by its dotted name."""
        found = self._apis.get(dotted)
        if found is None:
            name = canonical(dotted)
            found = self._apis[dotted] = self._make_api_value(name)
        return found

    def _make_api_value(self, name: str) -> Value:
        if name.startswith("builtins."):
            return _BUILTIN_VALUES.get(name[9:], UNKNOWN)
        api = lookup(name)
        if api is None:
            return Value(Kind.UNKNOWN, ref=name)
        if api.kind == "module":
            return Value(Kind.MODULE, ref=name)
        if api.kind == "class":
            return Value(Kind.CLASS, ref=name)
        if api.kind == "function":
            return Value(Kind.FUNCTION, ref=name)
        if api.returns == "python" and api.pytype == "DType":
            return Value(Kind.PYTHON, pytype="DType", dtype=name.rpartition(".")[2])
        value = result_of(api, Arguments(api, (), {}), eager=True, why=None)
        return replace(value, ref=name) if value.kind in (Kind.UNKNOWN, Kind.PYTHON) else value

    @staticmethod
    def dotted(value: Value) -> str | None:
        """The canonical API name of a function, class or module value."""
        return value.ref if isinstance(value.ref, str) else None

    # -- members ---------------------------------------------------------------------------------------------------------------------------------------------

    def module_member(self, base: Value, name: str) -> Value:
        if isinstance(base.ref, str):
            return self.api_value(f"{base.ref}.{name}")
        entity = self.project.member(Entity("module", base.ref[1]), name)
        return self.entity_value(entity) if entity is not None else UNKNOWN

    def class_member(self, base: Value, name: str) -> Value:
        """`Class.name`: a method, or a class-level binding."""
        assert isinstance(base.ref, ClassId)
        found = self.project.method(base.ref, name)
        if found is not None:
            index = self.project.function(found)
            decorators = self.analysis.decorator_names(found) if index is not None else frozenset()
            bound = base if "builtins.classmethod" in decorators else None
            return Value(Kind.FUNCTION, ref=found, bound=bound, traced=self.analysis.is_tf_function(found))
        if any(isinstance(b, str) and b.startswith("enum.") for b in self.project.bases(base.ref)):
            return Value(Kind.PYTHON, pytype="object")
        return self.instance_attribute(Value(Kind.INSTANCE, ref=base.ref), name)

    def instance_attribute(self, base: Value, name: str) -> Value:
        """`instance.name` for an instance of a project class."""
        assert isinstance(base.ref, ClassId)
        cls = base.ref
        for key, stored in base.items or ():
            if key == name:
                return stored
        found = self.project.method(cls, name)
        if found is not None:
            decorators = self.analysis.decorator_names(found)
            if decorators & {"builtins.property", "functools.cached_property"}:
                return self.analysis.property_value(found, base)
            if decorators - self.analysis.harmless_decorators and not self.analysis.is_tf_function(found):
                return Value(Kind.FUNCTION, ref=found, bound=base, pytype="decorated")
            static = "builtins.staticmethod" in decorators
            return Value(Kind.FUNCTION, ref=found, bound=None if static else base, traced=self.analysis.is_tf_function(found))
        key = (cls, name)
        value = self._attributes.get(key)
        if value is None:
            value, whole = self.analysis.attribute(cls, name, lambda: self._find_attribute(cls, name))
            if whole:
                self._attributes[key] = value
        return value

    def _find_attribute(self, cls: ClassId, name: str) -> Value:
        value = self.analysis.stored_attribute(cls, name)
        if value is UNKNOWN:
            value = self._library_base_attribute(cls, name)
        return self.analysis.annotated_field(cls, name) if value is UNKNOWN else value

    def inherited_method(self, base: Value, name: str, receiver: Value | None) -> Value:
        """`super().name`: the method that the next class in line defines."""
        for cls in self.project.bases(base.ref)[1:]:
            entry = self.project.class_index(cls) if isinstance(cls, ClassId) else None
            if isinstance(cls, ClassId) and entry is not None and name in entry.methods:
                found = FunctionId(cls.path, entry.methods[name])
                return Value(Kind.FUNCTION, ref=found, bound=receiver or base, traced=self.analysis.is_tf_function(found))
        return UNKNOWN

    def _library_base_attribute(self, cls: ClassId, name: str) -> Value:
        for base in self.project.bases(cls):
            if isinstance(base, str):
                found = method(canonical(base), name)
                if found is not None:
                    return self._attribute_value(found, Value(Kind.INSTANCE, ref=cls), f"{canonical(base)}.{name}", eager=False)
        return UNKNOWN

    def library_base(self, cls: ClassId, *candidates: str) -> str | None:
        """The first of the candidate library classes that a project class certainly derives from."""
        for base in self.project.bases(cls):
            if isinstance(base, str):
                for candidate in candidates:
                    if is_subclass(base, candidate):
                        return candidate
        return None

    def library_attribute(self, base: Value, name: str, *, eager: bool) -> Value:
        """An attribute or method of a tensor, variable, dataset, builtin value or instance of a library class."""
        if base.kind is Kind.INSTANCE and base.items is not None:
            for key, stored in base.items:
                if key == name:
                    return stored
        table = self._table(base)
        if table is None:
            return UNKNOWN
        special = self._shape_attribute(base, name)
        if special is not None:
            return special
        api = method(table, name)
        label = f"{_label(table)}.{name}"
        if api is None:
            return Value(Kind.FUNCTION, ref=label, bound=base) if table in ("tensor", "ragged", "sparse") and name in ("numpy",) else UNKNOWN
        return self._attribute_value(api, base, label, eager=eager)

    @staticmethod
    def _attribute_value(api: Api, base: Value, label: str, *, eager: bool) -> Value:
        if api.kind == "function":
            return Value(Kind.FUNCTION, ref=label, bound=base)
        return result_of(api, Arguments(api, (), {}, base), eager=eager, why=base.why)

    @staticmethod
    def _table(base: Value) -> str | None:
        if base.kind is Kind.TENSOR:
            return base.ragged or "tensor"
        if base.kind in _TABLE_OF_KIND:
            return _TABLE_OF_KIND[base.kind]
        if base.kind is Kind.UNKNOWN:
            return "tensor"  # a tensor or a structure of tensors
        if base.kind is Kind.PYTHON:
            return base.pytype
        if base.kind is Kind.INSTANCE and isinstance(base.ref, str):
            return base.ref
        if base.kind is Kind.FUNCTION and base.traced:
            return "function"
        return None

    @staticmethod
    def _shape_attribute(base: Value, name: str) -> Value | None:
        """Attributes whose value is part of what the analysis tracks: shapes, ranks and dtypes."""
        if base.kind in (Kind.TENSOR, Kind.VARIABLE) or (base.kind is Kind.PYTHON and base.pytype == "ndarray"):
            if name == "shape":
                if base.kind is Kind.PYTHON:
                    elements = None if base.shape is None else tuple(dimension(d) for d in base.shape)
                    return Value(Kind.PYTHON, pytype="tuple", elements=elements)
                return Value(Kind.PYTHON, pytype="TensorShape", shape=base.shape, why=base.why)
            if name == "dtype":
                return Value(Kind.PYTHON, pytype="DType", dtype=base.dtype)
            if name == "ndim":
                return constant(len(base.shape)) if base.shape is not None else INT
        elif base.kind is Kind.PYTHON and base.pytype == "namedtuple" and isinstance(base.const, tuple) and base.elements is not None:
            if name in base.const:
                return base.elements[base.const.index(name)]
            if name in ("_replace", "_asdict"):
                return Value(Kind.FUNCTION, ref=f"namedtuple.{name}", bound=base)
        elif base.kind is Kind.PYTHON and base.pytype == "TensorShape":
            if name in ("rank", "ndims"):
                return constant(len(base.shape)) if base.shape is not None else PYTHON
        elif base.kind is Kind.UNKNOWN:
            if name == "shape":
                return Value(Kind.PYTHON, pytype="TensorShape", why=base.why)
            if name == "dtype":
                return Value(Kind.PYTHON, pytype="DType")
        return None


def _label(table: str) -> str:
    """The prefix of a method's dotted name: "tensor" for ragged and sparse tensors too, the canonical class for instances."""
    return "tensor" if table in ("ragged", "sparse") else table
