"""Abstract evaluation of expressions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import libcst as cst

from tflint_graph.flow import operators as ops
from tflint_graph.flow.facts import Staging
from tflint_graph.flow.lattice import branch_join, is_nest, join
from tflint_graph.flow.names import root_of, symbol_of
from tflint_graph.flow.recorder import Recorder
from tflint_graph.flow.scope import Scope
from tflint_graph.flow.values import MISSING, NONE, PYTHON, UNBOUND, UNKNOWN, Kind, Reason, Value
from tflint_graph.flow.world import World
from tflint_graph.index.model import ClassId, FunctionId
from tflint_graph.source.literals import literal_value
from tflint_graph.source.region import Region
from tflint_graph.source.walk import EXPRESSIONS, children

# By name, not bound: an interpreter that holds its own bound methods would be a cycle, kept with its tree until the collector runs.
_METHODS: dict[type, str] = {
    cst.Name: "_name", cst.Attribute: "_attribute", cst.Call: "_call", cst.Subscript: "_subscript", cst.BinaryOperation: "_binary",
    cst.UnaryOperation: "_unary", cst.BooleanOperation: "_boolean", cst.Comparison: "_comparison", cst.IfExp: "_ternary", cst.Tuple: "_display",
    cst.List: "_display", cst.Set: "_display", cst.Dict: "_dict", cst.ListComp: "_comprehension", cst.SetComp: "_comprehension",
    cst.GeneratorExp: "_comprehension", cst.DictComp: "_dict_comprehension", cst.Lambda: "_lambda", cst.Integer: "_literal", cst.Float: "_literal",
    cst.Imaginary: "_literal", cst.SimpleString: "_literal", cst.ConcatenatedString: "_literal", cst.FormattedString: "_formatted", cst.NamedExpr: "_walrus",
    cst.Ellipsis: "_ellipsis",
}  # fmt: skip


def staging_of(value: Value) -> Staging:
    """How a condition or loop iterable with this value is decided."""
    if value.is_staged:
        return Staging.TENSOR
    if value.kind in (Kind.DATASET, Kind.ITERATOR):
        return Staging.DATASET
    if value.kind in (Kind.UNKNOWN, Kind.UNBOUND, Kind.INSTANCE, Kind.TENSORARRAY):
        return Staging.UNKNOWN
    return Staging.PYTHON


class Expressions:
    """The evaluator of expressions; calls and statements are in its subclasses.

    `world` answers everything that lies outside the region; `recorder` keeps what rules will ask (None while a function is only summarised).
    """

    world: World
    region: Region
    recorder: Recorder | None
    scope: Scope

    # -- entry -----------------------------------------------------------------------------------------------------------------------------------------------

    def eval(self, node: cst.CSTNode) -> Value:
        """The value of an expression in the current state; recorded for rules."""
        method = _METHODS.get(type(node))
        if method is None:
            for child in children(node):
                if type(child) in EXPRESSIONS:
                    self.eval(child)
            value = UNKNOWN
        else:
            value = getattr(self, method)(node)
        if self.recorder is not None:
            self.recorder.values[id(node)] = value
        return value

    def line(self, node: cst.CSTNode) -> int:
        return self.region.line(node)

    def reason(self, text: str, node: cst.CSTNode, parent: Reason | None = None) -> Reason:
        return Reason(text, self.region.function.path, self.line(node), parent)

    @property
    def state(self) -> dict[str, Value]:
        found = self.scope.vars
        return found if found is not None else {}

    # -- names -----------------------------------------------------------------------------------------------------------------------------------------------

    def _name(self, node: cst.Name) -> Value:
        return self.read(node.value)

    def read(self, name: str) -> Value:
        """The value of a name: local, enclosing function, module, builtin."""
        if name == "None":
            return NONE
        if name == "True":
            return ops.TRUE
        if name == "False":
            return ops.FALSE
        scope: Scope | None = self.scope
        while scope is not None:
            names = scope.names
            if name in names.bound:
                value = scope.vars.get(name) if scope.vars is not None else None
                if value is None:
                    return UNKNOWN
                return value if not value.maybe_unbound else replace(value, maybe_unbound=False) if scope is not self.scope else value
            if name in names.global_names:
                break
            scope = scope.parent
        return self.world.global_value(self.region.function.path, name)

    def owner_of(self, name: str) -> Scope:
        """The scope in which an assignment to `name` binds it."""
        scope = self.scope
        if name in scope.names.nonlocal_names:
            outer = scope.parent
            while outer is not None:
                if name in outer.names.bound:
                    return outer
                outer = outer.parent
        return scope

    def symbol_value(self, symbol: str) -> Value | None:
        """What the current state holds for an attribute path or item, if anything."""
        scope: Scope | None = self.scope
        root = root_of(symbol)
        while scope is not None:
            if scope.vars is not None and symbol in scope.vars:
                return scope.vars[symbol]
            if root in scope.names.bound:
                return None
            scope = scope.parent
        return None

    # -- literals and displays -------------------------------------------------------------------------------------------------------------------------------

    def _literal(self, node: cst.Integer | cst.Float | cst.Imaginary | cst.SimpleString | cst.ConcatenatedString) -> Value:
        if isinstance(node, cst.ConcatenatedString):
            for part in (node.left, node.right):
                if isinstance(part, (cst.FormattedString, cst.ConcatenatedString)):
                    self.eval(part)
        value = literal_value(node)
        return ops.STR if value is None else ops.constant(value)

    def _ellipsis(self, node: cst.Ellipsis) -> Value:
        return Value(Kind.PYTHON, pytype="ellipsis")

    def _formatted(self, node: cst.FormattedString) -> Value:
        for part in node.parts:
            if isinstance(part, cst.FormattedStringExpression):
                self.eval(part.expression)
                for spec in part.format_spec or ():
                    if isinstance(spec, cst.FormattedStringExpression):
                        self.eval(spec.expression)
        return ops.STR

    def _display(self, node: cst.Tuple | cst.List | cst.Set) -> Value:
        pytype = {cst.Tuple: "tuple", cst.List: "list", cst.Set: "set"}[type(node)]
        items: list[Value] = []
        known = True
        for element in node.elements:
            value = self.eval(element.value)
            if isinstance(element, cst.StarredElement):
                if self.recorder is not None:
                    self.recorder.values[id(element)] = value
                members = value.elements if value.pytype != "TensorShape" else ops.shape_elements(value.shape)
                if members is not None:
                    items.extend(members)
                else:
                    known = False
                    items.append(ops.element_of(value))
            else:
                items.append(value)
        if known:
            return Value(Kind.PYTHON, pytype=pytype, elements=tuple(items), origin=node)
        joined = items[0]
        for value in items[1:]:
            joined = join(joined, value)
        return Value(Kind.PYTHON, pytype=pytype, element=joined, origin=node)

    def _dict(self, node: cst.Dict) -> Value:
        items: list[tuple[Any, Value]] = []
        known = True
        joined: Value | None = None
        for element in node.elements:
            if isinstance(element, cst.StarredDictElement):
                value = self.eval(element.value)
                if value.items is not None:
                    items.extend(value.items)
                else:
                    known = False
                continue
            assert isinstance(element, cst.DictElement)
            key = self.eval(element.key)
            value = self.eval(element.value)
            joined = value if joined is None else join(joined, value)
            if key.const is not MISSING:
                items = [(k, v) for k, v in items if k != key.const]
                items.append((key.const, value))
            else:
                known = False
        if known:
            return Value(Kind.PYTHON, pytype="dict", items=tuple(items), origin=node)
        return Value(Kind.PYTHON, pytype="dict", element=joined, origin=node)

    # -- comprehensions --------------------------------------------------------------------------------------------------------------------------------------

    def _comprehension(self, node: cst.ListComp | cst.SetComp | cst.GeneratorExp) -> Value:
        saved, length = self._comprehension_loops(node.for_in)
        element = self.eval(node.elt)
        self._restore(saved)
        pytype = {cst.ListComp: "list", cst.SetComp: "set", cst.GeneratorExp: "generator"}[type(node)]
        if length is not None and length <= 32 and pytype == "list":
            return Value(Kind.PYTHON, pytype=pytype, elements=(element,) * length, origin=node)
        return Value(Kind.PYTHON, pytype=pytype, element=element, origin=node)

    def _dict_comprehension(self, node: cst.DictComp) -> Value:
        saved, _ = self._comprehension_loops(node.for_in)
        self.eval(node.key)
        value = self.eval(node.value)
        self._restore(saved)
        return Value(Kind.PYTHON, pytype="dict", element=value, origin=node)

    def _comprehension_loops(self, loop: cst.CompFor | None) -> tuple[dict[str, Value | None], int | None]:
        """Bind the targets of a comprehension's loops; gives what they hid and, for one plain loop, the number of rounds."""
        saved: dict[str, Value | None] = {}
        length: int | None = None
        first = loop
        while loop is not None:
            iterable = self.eval(loop.iter)
            if self.recorder is not None:
                self.recorder.stage(loop, staging_of(iterable))
            self._bind_hidden(loop.target, ops.element_of(iterable), saved)
            if loop is first and not loop.ifs and loop.inner_for_in is None:
                length = known_length(iterable)
            for condition in loop.ifs:
                test = self.eval(condition.test)
                if self.recorder is not None:
                    self.recorder.stage(condition, staging_of(test))
            loop = loop.inner_for_in
        return saved, length

    def _bind_hidden(self, target: cst.BaseExpression, value: Value, saved: dict[str, Value | None]) -> None:
        """Bind a comprehension's target in the current state, remembering what it hides."""
        if self.recorder is not None:
            self.recorder.values[id(target)] = value
        if isinstance(target, cst.Name):
            names = self.scope.names.bound
            if target.value not in saved:
                saved[target.value] = self.state.get(target.value) if target.value in names else UNBOUND
            names.add(target.value)
            if self.scope.vars is not None:
                self.scope.vars[target.value] = value
        elif isinstance(target, (cst.Tuple, cst.List)):
            for element, part in zip(target.elements, unpacked(value, len(target.elements), target.elements), strict=True):
                self._bind_hidden(element.value, part, saved)

    def _restore(self, saved: dict[str, Value | None]) -> None:
        for name, value in saved.items():
            if value is UNBOUND:
                self.scope.names.bound.discard(name)
            if self.scope.vars is not None:
                if value is None or value is UNBOUND:
                    self.scope.vars.pop(name, None)
                else:
                    self.scope.vars[name] = value

    # -- operators -------------------------------------------------------------------------------------------------------------------------------------------

    def _binary(self, node: cst.BinaryOperation) -> Value:
        left, right = self.eval(node.left), self.eval(node.right)
        if left.kind is Kind.INSTANCE and isinstance(left.ref, ClassId):
            method = ops.DUNDERS.get(type(node.operator))
            return self.special_method(left, method, [right], node) if method is not None else UNKNOWN
        return ops.binary(node.operator, left, right, eager=self.scope.eager)

    def _unary(self, node: cst.UnaryOperation) -> Value:
        value = self.eval(node.expression)
        if isinstance(node.operator, cst.Not):
            self._stage(node, staging_of(value))
            if value.is_staged and not self.scope.eager:
                return Value(Kind.TENSOR, dtype="bool", shape=value.shape, eager=value.eager, why=value.why)
            known = ops.truth(value)
            return ops.constant(not known) if known is not None else ops.BOOL if not value.is_unknown else UNKNOWN
        return ops.unary(node.operator, value)

    def _stage(self, node: cst.CSTNode, staging: Staging) -> None:
        if self.recorder is not None:
            self.recorder.stage(node, staging)

    def _boolean(self, node: cst.BooleanOperation) -> Value:
        left = self.eval(node.left)
        is_and = isinstance(node.operator, cst.And)
        known = ops.truth(left)
        if known is not None and known is not is_and:
            self._stage(node, Staging.PYTHON)
            return left
        saved = self.scope.vars
        if saved is not None:
            self.scope.vars = dict(saved)
            self.narrow(node.left, is_and)
        right = self.eval(node.right)
        self.scope.vars = saved
        if known is not None:
            self._stage(node, staging_of(left))
            return right
        if left.is_staged and not self.scope.eager:
            self._stage(node, Staging.TENSOR)
            return Value(Kind.TENSOR, dtype="bool", why=left.why or right.why)
        self._stage(node, staging_of(left))
        joined = join(left, right)
        if joined.is_unknown and left.kind is Kind.PYTHON and right.is_staged:
            return Value(Kind.UNKNOWN, why=right.why)
        return joined

    def _comparison(self, node: cst.Comparison) -> Value:
        left = self.eval(node.left)
        result: Value | None = None
        for target in node.comparisons:
            right = self.eval(target.comparator)
            step = ops.compare(target.operator, left, right, eager=self.scope.eager)
            if self.recorder is not None:
                self.recorder.values[id(target)] = step
            if result is None:
                result = step
            elif result.is_staged or step.is_staged:
                result = Value(Kind.TENSOR, dtype="bool", why=result.why or step.why)
            else:
                result = join(result, step)
            left = right
        assert result is not None
        return result

    def _ternary(self, node: cst.IfExp) -> Value:
        test = self.eval(node.test)
        staging = staging_of(test)
        self._stage(node, staging)
        known = ops.truth(test)
        saved = self.scope.vars
        arms: list[Value] = []
        for arm, holds in ((node.body, True), (node.orelse, False)):
            if known is not None and known is not holds:
                continue
            self.scope.vars = None if saved is None else dict(saved)
            self.narrow(node.test, holds)
            arms.append(self.eval(arm))
        self.scope.vars = saved
        if len(arms) == 1:
            return arms[0]
        if staging is Staging.TENSOR and self.scope.converted:
            return branch_join(arms[0], arms[1], self.reason("chosen by a tensor condition", node, test.why))
        return join(arms[0], arms[1])

    def _walrus(self, node: cst.NamedExpr) -> Value:
        value = self.eval(node.value)
        if isinstance(node.target, cst.Name):
            self.assign_name(node.target.value, value)
        return value

    def assign_name(self, name: str, value: Value) -> None:
        """Bind a plain name; what was known of its attributes and items goes."""
        owner = self.owner_of(name)
        if owner.vars is None:
            return
        if owner is not self.scope:
            before = owner.vars.get(name)
            value = join(before, value) if before is not None else value
        elif name in self.scope.names.global_names:
            return
        owner.vars[name] = value
        self.forget_below(owner.vars, name)

    @staticmethod
    def forget_below(state: dict[str, Value], name: str) -> None:
        """Drop what is known of `name.attr` and `name[key]`."""
        stale = [s for s in state if len(s) > len(name) and s.startswith(name) and s[len(name)] in ".["]
        for s in stale:
            del state[s]

    def _lambda(self, node: cst.Lambda) -> Value:
        self.remember_defaults(node)
        return self.closure(node)

    def closure(self, node: cst.CSTNode) -> Value:
        """A function value for a def or lambda of the region."""
        qualname = self.region.names_of_functions.get(id(node))
        function = FunctionId(self.region.function.path, qualname) if qualname is not None else None
        self.remember_closure(node)
        return Value(Kind.FUNCTION, ref=function, origin=node)

    def remember_closure(self, node: cst.CSTNode) -> None:
        raise NotImplementedError

    def remember_defaults(self, node: cst.FunctionDef | cst.Lambda) -> None:
        raise NotImplementedError

    # -- subscripts and attributes ---------------------------------------------------------------------------------------------------------------------------

    def _subscript(self, node: cst.Subscript) -> Value:
        base = self.eval(node.value)
        indices: list[Value | None] = []
        for element in node.slice:
            item = element.slice
            if isinstance(item, cst.Index):
                indices.append(self.eval(item.value))
            else:
                for part in children(item):
                    self.eval(part)
                indices.append(None)
        symbol = symbol_of(node)
        if symbol is not None:
            known = self.symbol_value(symbol)
            if known is not None:
                return known
        if base.kind is Kind.INSTANCE and isinstance(base.ref, ClassId):
            single = indices[0] if len(indices) == 1 and indices[0] is not None else UNKNOWN
            return self.special_method(base, "__getitem__", [single], node)
        return ops.subscript(base, [e.slice for e in node.slice], indices)

    def _attribute(self, node: cst.Attribute) -> Value:
        base = self.eval(node.value)
        symbol = symbol_of(node)
        if symbol is not None:
            known = self.symbol_value(symbol)
            if known is not None:
                return known
        return self.attribute_of(base, node.attr.value, node)

    def attribute_of(self, base: Value, name: str, node: cst.CSTNode) -> Value:
        """`base.name`, looked up in the class, the project or the tables."""
        kind = base.kind
        if kind is Kind.MODULE:
            return self.world.module_member(base, name)
        if kind is Kind.INSTANCE and isinstance(base.ref, ClassId):
            return self.instance_attribute(base, name)
        if kind is Kind.CLASS and isinstance(base.ref, ClassId):
            return self.world.class_member(base, name)
        if kind in (Kind.CLASS, Kind.UNKNOWN) and isinstance(base.ref, str):
            return self.world.api_value(f"{base.ref}.{name}")
        if kind is Kind.UNKNOWN and not is_nest(base):
            return UNKNOWN
        return self.world.library_attribute(base, name, eager=self.scope.eager)

    def instance_attribute(self, base: Value, name: str) -> Value:
        """An attribute of an instance of a project class: a method, a property, or what the class's methods store there."""
        if base.pytype == "super":
            return self.world.inherited_method(base, name, self.scope.vars.get(self.scope.self_name or "") if self.scope.vars is not None else None)
        return self.world.instance_attribute(base, name)

    def narrow(self, test: cst.BaseExpression, holds: bool) -> None:
        """Learn from a condition that holds (or does not): None tests and isinstance."""
        state = self.scope.vars
        if state is None:
            return
        if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
            self.narrow(test.expression, not holds)
        elif isinstance(test, cst.BooleanOperation):
            if isinstance(test.operator, cst.And) is holds:
                self.narrow(test.left, holds)
                self.narrow(test.right, holds)
        elif isinstance(test, cst.Comparison) and len(test.comparisons) == 1:
            target = test.comparisons[0]
            op = target.operator
            if isinstance(op, (cst.Is, cst.IsNot, cst.Equal, cst.NotEqual)) and isinstance(target.comparator, cst.Name) and target.comparator.value == "None":
                symbol = symbol_of(test.left)
                if symbol is not None and isinstance(op, (cst.Is, cst.Equal)) is holds:
                    self._narrow_symbol(symbol, NONE)
                elif symbol is not None:
                    value = self.symbol_value(symbol) or (self.read(symbol) if symbol.isidentifier() else None)
                    if value is not None and value.is_none:
                        self._narrow_symbol(symbol, UNKNOWN)
        elif isinstance(test, cst.Call):
            self._narrow_call(test, holds)

    def _narrow_symbol(self, symbol: str, value: Value) -> None:
        state = self.scope.vars
        if state is not None and root_of(symbol) in self.scope.names.bound:
            state[symbol] = value

    def _narrow_call(self, test: cst.Call, holds: bool) -> None:
        """`isinstance(x, tf.Tensor)`, `tf.is_tensor(x)` and `isinstance(x, (int, float))`."""
        if not test.args or not holds:
            if len(test.args) >= 1 and not holds:
                self._narrow_call_fails(test)
            return
        symbol = symbol_of(test.args[0].value)
        if symbol is None:
            return
        current = self.symbol_value(symbol) or (self.read(symbol) if symbol.isidentifier() else UNKNOWN)
        name = self.world.dotted(self.eval(test.func))
        if name in ("tensorflow.is_tensor", "tensorflow.debugging.is_numeric_tensor"):
            if not current.is_staged:
                self._narrow_symbol(symbol, Value(Kind.TENSOR, why=self.reason("tested to be a tensor", test)))
        elif name == "builtins.isinstance" and len(test.args) == 2:
            found = self._classes_value(self.eval(test.args[1].value))
            if found is not None and current.is_unknown:
                self._narrow_symbol(symbol, found)

    def _narrow_call_fails(self, test: cst.Call) -> None:
        symbol = symbol_of(test.args[0].value)
        if symbol is None or not isinstance(test.func, cst.Name) or test.func.value != "isinstance":
            return
        current = self.symbol_value(symbol)
        if current is not None and is_nest(current):
            self._narrow_symbol(symbol, current)

    def _classes_value(self, classes: Value) -> Value | None:
        if classes.elements is not None:
            found = [self._classes_value(c) for c in classes.elements]
            if not found or any(f is None for f in found):
                return UNKNOWN
            joined = found[0]
            for other in found[1:]:
                assert joined is not None
                assert other is not None
                joined = join(joined, other)
            return joined
        name = self.world.dotted(classes)
        if name is None:
            return Value(Kind.INSTANCE, ref=classes.ref) if classes.kind is Kind.CLASS else UNKNOWN
        if name == "tensorflow.Tensor":
            return Value(Kind.TENSOR)
        if name == "tensorflow.Variable":
            return Value(Kind.VARIABLE)
        if name.startswith("builtins."):
            return Value(Kind.PYTHON, pytype=name[9:])
        if name == "numpy.ndarray":
            return Value(Kind.PYTHON, pytype="ndarray")
        return UNKNOWN

    def _call(self, node: cst.Call) -> Value:
        raise NotImplementedError

    def special_method(self, instance: Value, name: str, args: list[Value], node: cst.CSTNode) -> Value:
        """What an operator, subscript or `with` gets from the special method of an object of the project."""
        raise NotImplementedError


def known_length(v: Value) -> int | None:
    """The number of elements of a Python iterable, where certain."""
    if v.kind is not Kind.PYTHON:
        return None
    if v.elements is not None:
        return len(v.elements)
    if v.items is not None:
        return len(v.items)
    if v.pytype == "range" and isinstance(v.const, int):
        return int(v.const)
    return None


def unpacked(value: Value, count: int, elements: Any) -> list[Value]:
    """The values that unpacking `value` gives to `count` targets, one of which may be starred."""
    starred = [k for k, e in enumerate(elements) if isinstance(e, cst.StarredElement)]
    members = value.elements
    if value.kind is Kind.PYTHON and value.pytype == "TensorShape":
        members = ops.shape_elements(value.shape)
    if members is not None and not starred and len(members) == count:
        return list(members)
    if members is not None and len(starred) == 1 and len(members) >= count - 1:
        at = starred[0]
        take = len(members) - (count - 1)
        middle = Value(Kind.PYTHON, pytype="list", elements=tuple(members[at : at + take]))
        return [*members[:at], middle, *members[at + take :]]
    element = ops.element_of(value) if not is_nest(value) else value
    if value.kind is Kind.PYTHON and value.pytype == "TensorShape":
        element = PYTHON
    return [element if k not in starred else Value(Kind.PYTHON, pytype="list", element=element) for k in range(count)]
