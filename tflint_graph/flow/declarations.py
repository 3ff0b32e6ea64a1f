"""What the functions and classes of a project declare."""

from __future__ import annotations

from typing import NamedTuple

from tflint_graph.flow.questions import Questions
from tflint_graph.flow.values import UNKNOWN, Kind, Reason, Value
from tflint_graph.index.model import MODULE_SCOPE, ClassId, FunctionId, FunctionIndex, Parameter, Symbol
from tflint_graph.knowledge.api import canonical
from tflint_graph.link.keras import keras_class
from tflint_graph.link.model import Context
from tflint_graph.link.project import Project
from tflint_graph.link.trace_map import TraceMap


class Field(NamedTuple):
    """A field of a dataclass or named tuple, and the class that declares it."""

    name: str
    annotation: Symbol
    owner: ClassId


class Fields(NamedTuple):
    """All fields of a class in the order of its generated constructor."""

    fields: tuple[Field, ...]
    is_tuple: bool


class Declarations(Questions):
    """What functions and classes say of themselves: how TensorFlow runs them, their decorators, annotations and fields."""

    def __init__(self, project: Project, trace_map: TraceMap) -> None:
        super().__init__(project, trace_map)
        self._decorators: dict[FunctionId, frozenset[str]] = {}

    def is_tf_function(self, function: FunctionId) -> bool:
        """Whether the function itself is handed to tf.function."""
        traced = self.trace_map.traced.get(function)
        return traced is not None and any(way.role == "root" for way in traced.ways)

    def own_context(self, function: FunctionId) -> Context | None:
        """In which context TensorFlow runs the function's body; None when nothing is known to trace it."""
        traced = self.trace_map.traced.get(function)
        if traced is None:
            return None
        contexts = traced.contexts()
        for context in (Context.CONVERTED, Context.TRACED):
            if context in contexts:
                return context
        return None

    def owner_class(self, function: FunctionId) -> ClassId | None:
        index = self.project.function(function)
        return ClassId(function.path, index.class_qualname) if index is not None and index.class_qualname is not None else None

    def keras_version(self, function: FunctionId) -> int | None:
        """The Keras that calls a function, where something certain decides it."""
        owner = self.owner_class(function)
        kind = keras_class(self.project, owner) if owner is not None else None
        return kind.version if kind is not None else self.project.keras_at(function.path)

    def is_generator(self, function: FunctionId) -> bool:
        index = self.project.function(function)
        return index is not None and index.is_generator

    def decorator_names(self, function: FunctionId) -> frozenset[str]:
        """Canonical names of a function's decorators; project decorators as "project"; unknown ones as "unknown"."""
        found = self._decorators.get(function)
        if found is None:
            index = self.project.function(function)
            names: set[str] = set()
            for symbol in index.decorators if index is not None else ():
                names.add(self._decorator_name(function.path, index.scope if index is not None else MODULE_SCOPE, symbol))
            found = self._decorators[function] = frozenset(names)
        return found

    def _decorator_name(self, path: str, scope: str, symbol: Symbol) -> str:
        if symbol is None:
            return "unknown"
        if symbol[0] == "call":
            inner = self.project.resolve(path, scope, symbol[1])
            if inner is not None and inner.kind == "api" and inner.target == "functools.partial" and symbol[2]:
                return self._decorator_name(path, scope, symbol[2][0])
            symbol = symbol[1]
        if symbol is not None and symbol[0] == "attr" and symbol[2] in ("setter", "getter", "deleter"):
            return "builtins.property"
        entity = self.project.resolve(path, scope, symbol)
        if entity is None:
            return (
                f"builtins.{symbol[1]}"
                if symbol is not None and symbol[0] == "name" and symbol[1] in ("staticmethod", "classmethod", "property")
                else "unknown"
            )
        return canonical(entity.target) if entity.kind == "api" and isinstance(entity.target, str) else "project"

    def gives_gradient_too(self, function: FunctionId) -> bool:
        """Whether the function's own result is (result, gradient function), of which callers see the first."""
        return "tensorflow.custom_gradient" in self.decorator_names(function)

    def hides_result(self, function: FunctionId) -> bool:
        """Whether a decorator that we do not know stands between a caller and the function's own result."""
        return bool(self.decorator_names(function) - self.harmless_decorators) and not self.is_tf_function(function)

    def declared(self, function: FunctionId) -> dict[str, Value]:
        """What a function's own text says of its parameters: the object of a method, tensor annotations."""
        index = self.project.function(function)
        values: dict[str, Value] = {}
        if index is None:
            return values
        owner = self.owner_class(function)
        for k, parameter in enumerate(index.params):
            value = UNKNOWN
            if k == 0 and owner is not None and "builtins.staticmethod" not in self.decorator_names(function):
                kind = Kind.CLASS if "builtins.classmethod" in self.decorator_names(function) else Kind.INSTANCE
                value = Value(kind, ref=owner)
            elif parameter.kind == "args":
                value = Value(Kind.PYTHON, pytype="tuple")
            elif parameter.kind == "kwargs":
                value = Value(Kind.PYTHON, pytype="dict")
            elif parameter.annotation is not None:
                value = self._annotated(function, index, parameter)
            values[parameter.name] = value
        return values

    def declared_objects(self, function: FunctionId) -> dict[str, Value]:
        return {k: v for k, v in self.declared(function).items() if not v.is_unknown}

    def _annotated(self, function: FunctionId, index: FunctionIndex, parameter: Parameter) -> Value:
        return self._annotated_value(function.path, index.scope, parameter.annotation, f"`{parameter.name}`", index.line)

    def _annotated_value(self, path: str, scope: str, annotation: Symbol, what: str, line: int) -> Value:
        """The value that an annotation promises: a tensor, variable, dataset, an object of the project, a named tuple of such; UNKNOWN otherwise."""
        entity = self.project.resolve(path, scope, annotation)
        if entity is None:
            return UNKNOWN
        if entity.kind == "api" and isinstance(entity.target, str):
            name = canonical(entity.target)
            why = Reason(f"{what} is annotated {name.replace('tensorflow', 'tf', 1)}", path, line)
            if name in ("tensorflow.Tensor", "tensorflow.RaggedTensor", "tensorflow.SparseTensor"):
                ragged = {"tensorflow.RaggedTensor": "ragged", "tensorflow.SparseTensor": "sparse"}.get(name)
                return Value(Kind.TENSOR, ragged=ragged, why=why)
            if name == "tensorflow.Variable":
                return Value(Kind.VARIABLE, why=why)
            if name == "tensorflow.data.Dataset":
                return Value(Kind.DATASET, why=why)
        if entity.kind == "class" and isinstance(entity.target, ClassId):
            fields = self.constructor_fields(entity.target)
            if fields is None or not fields.is_tuple:
                return Value(Kind.INSTANCE, ref=entity.target)
            values = tuple(self._annotated_value(f.owner.path, MODULE_SCOPE, f.annotation, f"`{f.name}`", line) for f in fields.fields)
            return Value(Kind.PYTHON, pytype="namedtuple", const=tuple(f.name for f in fields.fields), elements=values)
        return UNKNOWN

    def constructor_fields(self, cls: ClassId) -> Fields | None:
        """The fields that the generated constructor of a dataclass or typing.NamedTuple takes; None for classes with a constructor of their own."""
        is_tuple = False
        found: list[Field] = []
        for base in reversed(self.project.bases(cls)):
            index = self.project.class_index(base) if isinstance(base, ClassId) else None
            if isinstance(base, str) and base.endswith("typing.NamedTuple"):
                is_tuple = True
            if index is None or not isinstance(base, ClassId):
                continue
            if not is_tuple and not any(self._decorator_name(base.path, index.scope, d).endswith("dataclasses.dataclass") for d in index.decorators):
                continue
            for name, annotation, _ in index.fields:
                found = [f for f in found if f.name != name] + [Field(name, annotation, base)]
        return Fields(tuple(found), is_tuple) if found else None

    def annotated_field(self, cls: ClassId, name: str) -> Value:
        """A field of a dataclass whose annotation says that it is a tensor; UNKNOWN otherwise."""
        fields = self.constructor_fields(cls)
        for each in fields.fields if fields is not None else ():
            if each.name == name:
                index = self.project.class_index(each.owner)
                line = index.line if index is not None else 1
                return self._annotated_value(each.owner.path, MODULE_SCOPE, each.annotation, f"`{name}`", line)
        return UNKNOWN

    def local_class(self, region: FunctionId, name: str, line: int) -> ClassId | None:
        """The ClassId of a class statement inside a region."""
        index = self.project.files.get(region.path)
        if index is None:
            return None
        candidates = [c for c in index.classes.values() if c.name == name]
        exact = [c for c in candidates if c.line == line]
        if exact or len(candidates) == 1:
            return ClassId(region.path, (exact or candidates)[0].qualname)
        return None
