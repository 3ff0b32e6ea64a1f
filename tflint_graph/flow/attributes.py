"""The values of attributes."""

from __future__ import annotations

from collections.abc import Callable

from tflint_graph.flow.lattice import join
from tflint_graph.flow.parameters import Parameters, default_value
from tflint_graph.flow.portable import portable
from tflint_graph.flow.questions import DEPTH, MAX_CALLER_DEPTH, MAX_EAGER_CALLERS, MAX_SUMMARY_DEPTH
from tflint_graph.flow.statements import Interpreter
from tflint_graph.flow.values import NONE, UNBOUND, UNKNOWN, Kind, Value
from tflint_graph.index.model import ClassId, FunctionId, Symbol
from tflint_graph.knowledge.api import canonical, lookup
from tflint_graph.link.model import Context
from tflint_graph.link.project import Project
from tflint_graph.link.trace_map import TraceMap

MAX_NESTED_WRITES = 2  # attributes that rest on attributes that rest on attributes: objects refer to each other in circles


class Attributes(Parameters):
    """What instances of the project's classes hold under their attributes."""

    def __init__(self, project: Project, trace_map: TraceMap) -> None:
        super().__init__(project, trace_map)
        self._writes: dict[FunctionId, dict[str, Value]] = {}

    def attribute(self, cls: ClassId, name: str, find: Callable[[], Value]) -> tuple[Value, bool]:
        """The answer of `find` to what an attribute is, and whether it may be kept."""
        saved = self._ask()
        value = find()
        return value, self._answer(("attribute", cls, name), saved, outermost=True)

    def stored_attribute(self, cls: ClassId, name: str) -> Value:
        """The join of everything that the methods of a class and its relatives store under an attribute of `self`."""
        joined: Value | None = None
        seen: set[FunctionId] = set()
        sites = self.project.attribute(cls, name)
        told = [self._told_by_symbol(method, symbol) for method, symbol in sites]
        if all(value is not None for value in told):
            values = [value for value in told if value is not None]
        else:
            values = []
            for method, symbol in sites:
                if method not in seen:
                    seen.add(method)
                    known = self.project.function(method) is not None
                    values.append(self._method_writes(method).get(name, UNKNOWN) if known else default_value(symbol) if symbol is not None else UNKNOWN)
        for value in values:
            joined = value if joined is None else join(joined, value)
        if joined is None or joined.is_none:
            return UNKNOWN
        return variable_constant(joined)

    def _told_by_symbol(self, method: FunctionId, symbol: Symbol) -> Value | None:
        """What the linker's symbol alone says of a stored value: an object of a known class. None where the method has to be run."""
        if symbol is None or symbol[0] != "call" or self.project.function(method) is None:
            return None
        entity = self.project.resolve(method.path, method.qualname, symbol[1])
        if entity is None or entity.kind != "api":
            return None
        value = self.world.entity_value(entity)
        api = lookup(value.ref) if value.kind is Kind.CLASS and isinstance(value.ref, str) else None
        return Value(Kind.INSTANCE, ref=api.ref) if api is not None and api.returns == "instance" else None

    def attributes_changed(self, method: FunctionId, depth: int = 3) -> frozenset[str]:
        """The attributes of its object that a method assigns, itself or through methods it calls on the object, `depth` calls deep."""
        owner, index = self.owner_class(method), self.project.function(method)
        cls = self.project.class_index(owner) if owner is not None else None
        if owner is None or cls is None or index is None or not index.params:
            return frozenset()
        found = {name for name, sites in cls.attributes.items() if any(scope == method.qualname for scope, _ in sites)}
        receiver = ("name", index.params[0].name)
        for call in index.calls if depth else ():
            callee = call.symbol[1]
            if callee is not None and callee[0] == "attr" and callee[1] == receiver:
                other = self.project.method(owner, callee[2])
                if other is not None and other != method:
                    found |= self.attributes_changed(other, depth - 1)
        return frozenset(found)

    def _method_writes(self, method: FunctionId) -> dict[str, Value]:
        found = self._writes.get(method)
        if found is not None:
            return found
        if method in self._open_writes:
            self._cut(("writes", method))
            return {}
        if len(self._open_writes) >= MAX_NESTED_WRITES:
            self._cut(DEPTH)
            return {}
        saved = self._ask()
        depths = self._caller_depth, self._eager_depth, self._summary_depth
        # The same depth is left from wherever this is asked, so that the answer is the same.
        self._caller_depth, self._eager_depth, self._summary_depth = MAX_CALLER_DEPTH - 1, MAX_EAGER_CALLERS - 1, MAX_SUMMARY_DEPTH - 1
        self._open_writes.add(method)
        outcome = self._outcomes.get(method)
        try:
            found = outcome.attribute_writes if outcome is not None else self._run_for_writes(method)
        finally:
            self._open_writes.discard(method)
            self._caller_depth, self._eager_depth, self._summary_depth = depths
            whole = self._answer(("writes", method), saved, outermost=True)
        if whole:
            self._writes[method] = found
        return found

    def _run_for_writes(self, method: FunctionId) -> dict[str, Value]:
        region = self.region(method) if self.project.region_of(method) == method else None
        if region is None or region.top is None:
            return {}
        interpreter = Interpreter(self.world, region, recording=False)
        params = self.params(method) if method.qualname.endswith(".__init__") else self.declared(method)
        interpreter.run_top(region.top, self.own_context(method) or Context.EAGER, dict(params), self.owner_class(method))
        return {k: portable(v) for k, v in interpreter.attribute_writes.items()}

    def attribute_before(self, cls: ClassId, name: str, function: FunctionId | None) -> Value:
        """What `self.name` is at the start of a method: UNBOUND only if no other method, base or class body can have set it."""
        entry = self.project.class_index(cls)
        if self.project.method(cls, name) is not None or entry is None or entry.decorators:
            return UNKNOWN
        elsewhere = [symbol for method, symbol in self.project.attribute(cls, name) if method != function]
        stored_outside = self._stored_from_outside(cls, name)
        if not elsewhere and self.project.bases_known(cls):
            bases = [b for b in self.project.bases(cls) if isinstance(b, str)]
            if all(canonical(b) in ("builtins.object", "object", "tensorflow.Module") for b in bases) and not stored_outside:
                return UNBOUND
        if stored_outside:
            return UNKNOWN
        if elsewhere and all(symbol == ("const", None) for symbol in elsewhere):
            return NONE
        return self.world.instance_attribute(Value(Kind.INSTANCE, ref=cls), name)

    def _stored_from_outside(self, cls: ClassId, name: str) -> bool:
        """Whether code other than the class's own methods may set the attribute: `obj.name = ...`, setattr and the like, in a file that can get an instance."""
        project = self.project
        for path in project.files:
            stores = project.files[path].foreign_stores
            if stores and (name in stores or "*" in stores) and project.components.connected(path, cls.path):
                return True
        return False


def variable_constant(value: Value) -> Value:
    """A value that other code may change: its type stays, the constant goes."""
    if value.has_const and value.pytype in ("int", "float", "bool", "str", "bytes"):
        return Value(Kind.PYTHON, pytype=value.pytype, why=value.why)
    if value.is_container and value.pytype not in ("tuple", "namedtuple"):
        return Value(Kind.PYTHON, pytype=value.pytype, element=value.element, elements=None, items=None) if not value.elements and not value.items else value
    return value
