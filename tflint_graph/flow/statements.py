"""Abstract execution of statements: assignments, branches, loops, functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import libcst as cst

from tflint_graph.flow import operators as ops
from tflint_graph.flow.calls import Bound, Calls
from tflint_graph.flow.container_calls import stored
from tflint_graph.flow.expressions import known_length, staging_of, unpacked
from tflint_graph.flow.facts import BranchFacts, LoopFacts, NameFlow, SourceText, Staging
from tflint_graph.flow.lattice import State, branch_join, join, join_states, same_states, staged
from tflint_graph.flow.names import BlockUse, FunctionNames, imported_names, names_of, parameters_of, root_of, symbol_of
from tflint_graph.flow.recorder import Recorder
from tflint_graph.flow.scope import LoopScope, Scope
from tflint_graph.flow.values import NONE, UNBOUND, UNKNOWN, Kind, Reason, Value
from tflint_graph.flow.world import World
from tflint_graph.index.model import ClassId, FunctionId
from tflint_graph.link.model import Context
from tflint_graph.source.region import Region
from tflint_graph.source.walk import children

MAX_DEPTH = 12  # nested activations of functions of one region
MAX_STEPS = 60_000  # statements executed for one region; beyond it nothing more is learned
_EAGER_BLOCKS = frozenset({"tensorflow.init_scope"})


_RUNS: dict[type, str] = {
    cst.Assign: "_assign", cst.AugAssign: "_augmented", cst.AnnAssign: "_annotated", cst.Return: "_return", cst.If: "_if", cst.For: "_loop",
    cst.While: "_loop", cst.With: "_with", cst.Try: "_try", cst.TryStar: "_try", cst.FunctionDef: "_def", cst.ClassDef: "_class", cst.Import: "_import",
    cst.ImportFrom: "_import", cst.Break: "_jump", cst.Continue: "_jump", cst.Raise: "_raise", cst.Assert: "_assert", cst.Match: "_match",
    cst.SimpleStatementLine: "_line", cst.Expr: "_expression", cst.Del: "_del",
}  # fmt: skip


_HOLDING_DIRECTIVES = frozenset({cst.IndentedBlock, cst.SimpleStatementSuite, cst.SimpleStatementLine, cst.Expr, cst.With, cst.If, cst.Else})


class Interpreter(Calls):
    """Runs one region abstractly. With `recording`, facts are kept for rules; without, only the returned value and the effects matter."""

    def __init__(self, world: World, region: Region, *, recording: bool) -> None:
        self.world = world
        self.region = region
        self.recorder = Recorder() if recording else None
        self.eager_calls: set[int] = set()
        self.outgoing: dict[FunctionId, dict[int, dict[str, Value]]] = {}
        self.attribute_writes: dict[str, Value] = {}
        self.signatures: dict[FunctionId, Value] = {}
        self.nested: dict[int, Recorder] = {}
        self.nested_params: dict[int, dict[str, Value]] = {}
        self.nested_returns: dict[int, list[tuple[cst.CSTNode, Value]]] = {}
        self.nested_ends: dict[int, bool] = {}
        self.nested_results: dict[int, Value] = {}
        self.closures: dict[int, Scope] = {}
        self._names: dict[tuple[int, bool], FunctionNames] = {}
        self._active: list[int] = []
        self.steps = 0
        index = world.project.function(region.function)
        self._branches = index is None or not index.kinds.isdisjoint(("If", "For", "While"))
        self._texts: dict[int, str] = {}
        self._defaults: dict[int, dict[str, Value]] = {}

    # -- functions -------------------------------------------------------------------------------------------------------------------------------------------

    def names(self, node: cst.CSTNode, context: Context) -> FunctionNames:
        key = (id(node), context is not Context.EAGER and self._branches)
        found = self._names.get(key)
        if found is None:
            found = self._names[key] = names_of(node, liveness=key[1])
        return found

    def note_call(self, function: FunctionId, node: cst.CSTNode, values: dict[str, Value]) -> None:
        if self.scope.context is Context.EAGER:
            self.eager_calls.add(id(node))
        sites = self.outgoing.setdefault(function, {})
        before = sites.get(id(node))
        if before is None:
            sites[id(node)] = values
        else:
            sites[id(node)] = {k: join(v, before[k]) if k in before else v for k, v in values.items()}

    def defaults_of(self, function: FunctionId) -> Mapping[str, Value]:
        node = self.region.function_nodes.get(function.qualname) if function.path == self.region.function.path else None
        return self._defaults.get(id(node), {})

    def remember_defaults(self, node: cst.FunctionDef | cst.Lambda) -> None:
        self._defaults[id(node)] = {p.name.value: self.eval(p.default) for p in parameters_of(node) if p.default is not None}

    def remember_closure(self, node: cst.CSTNode) -> None:
        self.closures[id(node)] = self.scope

    def run_top(self, node: cst.CSTNode, context: Context, params: dict[str, Value], owner: ClassId | None) -> Value:
        """Run the region's outermost function."""
        scope = Scope(node, self.names(node, context), None, context, self.region.function, owner, _first_parameter(node), dict(params))
        self.scope = scope
        self._active.append(id(node))
        value = self._body(node, scope)
        self._active.pop()
        self.nested_params[id(node)] = params
        self.nested_returns[id(node)] = scope.returns
        return value

    def run_module(self) -> None:
        """Run a module's own statements."""
        tree = self.region.tree
        self.scope = Scope(tree, FunctionNames(bound=set(self.names(tree, Context.EAGER).bound)), None, Context.EAGER, self.region.function)
        for name in list(self.scope.names.bound):
            if not self.world.analysis.is_plain_global(self.region.function.path, name):
                self.scope.names.bound.discard(name)
        self.block(tree.body)

    def enter_decorators(self) -> None:
        """Stand in the module's scope, where the decorators of an outermost function are evaluated."""
        self.scope = Scope(self.region.tree, FunctionNames(), None, Context.EAGER, self.region.function)

    def evaluate_assignment(self, tree: cst.Module, name: str) -> Value:
        """The value that a lone module-level statement gives to `name`; other names come from the module as a whole."""
        self.enter_decorators()
        for line in tree.body:
            for statement in line.body if isinstance(line, cst.SimpleStatementLine) else ():
                if isinstance(statement, cst.Assign):
                    value = self.eval(statement.value)
                    for target in statement.targets:
                        if isinstance(target.target, cst.Name) and target.target.value == name:
                            return value
                        if isinstance(target.target, (cst.Tuple, cst.List)):
                            parts = unpacked(value, len(target.target.elements), target.target.elements)
                            for element, part in zip(target.target.elements, parts, strict=True):
                                if isinstance(element.value, cst.Name) and element.value.value == name:
                                    return part
                elif isinstance(statement, cst.AnnAssign) and statement.value is not None and isinstance(statement.target, cst.Name):
                    return self.eval(statement.value)
        return UNKNOWN

    def _body(self, node: cst.CSTNode, scope: Scope) -> Value:
        if isinstance(node, cst.Lambda):
            value = self.eval(node.body)
            scope.returns.append((node, value))
            return value
        assert isinstance(node, cst.FunctionDef)
        self.block(node.body.body)
        falls_through = scope.vars is not None
        self.nested_ends[id(node)] = self.nested_ends.get(id(node), False) or falls_through
        return _returned(scope, falls_through, self.reason("returned under a tensor condition", node))

    def run_local(self, node: cst.CSTNode, function: FunctionId | None, bound: Bound, receiver: Value | None) -> Value | None:
        if len(self._active) >= MAX_DEPTH or id(node) in self._active or self.steps > MAX_STEPS:
            return None
        outer = self.closures.get(id(node))
        analysis = self.world.analysis
        if function is not None:
            params = analysis.bind(function, bound, receiver, self.defaults_of(function))
            params = analysis.as_traced(function, params, self._signature(node, outer))
            generator = analysis.is_generator(function)
        else:
            params = {p.name.value: UNKNOWN for p in parameters_of(node)} if isinstance(node, (cst.FunctionDef, cst.Lambda)) else {}
            generator = False
        value = self.activate(node, function, params, outer)
        return Value(Kind.PYTHON, pytype="generator") if generator else value

    def activate(self, node: cst.CSTNode, function: FunctionId | None, params: dict[str, Value], outer: Scope | None) -> Value:
        """Run a nested def or lambda once with these parameters; its facts are joined with those of other activations."""
        context = self._context_of(function, self.scope)
        owner, self_name = (outer.owner, outer.self_name) if outer is not None else (None, None)
        if function is not None and (cls := self.world.analysis.owner_class(function)) is not None:
            owner, self_name = cls, _first_parameter(node)
        scope = Scope(node, self.names(node, context), outer, context, function, owner, self_name, dict(params))
        saved_scope, saved_recorder = self.scope, self.recorder
        self.scope = scope
        if saved_recorder is not None:
            self.recorder = Recorder()
        self._active.append(id(node))
        value = self._body(node, scope)
        self._active.pop()
        known_result = self.nested_results.get(id(node))
        self.nested_results[id(node)] = value if known_result is None else join(known_result, value)
        if saved_recorder is not None and self.recorder is not None:
            self.nested.setdefault(id(node), Recorder()).absorb(self.recorder)
            known = self.nested_params.get(id(node))
            self.nested_params[id(node)] = params if known is None else {k: join(v, known[k]) if k in known else v for k, v in params.items()}
            self.nested_returns.setdefault(id(node), []).extend(scope.returns)
        self.scope, self.recorder = saved_scope, saved_recorder
        return value

    def _context_of(self, function: FunctionId | None, caller: Scope) -> Context:
        """A nested function runs in the context of its caller, unless it is itself handed to tf.function."""
        own = self.world.analysis.own_context(function) if function is not None else None
        if own is not None and caller.context is Context.EAGER:
            return own
        return caller.context

    def _signature(self, node: cst.CSTNode, outer: Scope | None) -> Value | None:
        """The value of `input_signature` in the decorators of a nested def."""
        if not isinstance(node, cst.FunctionDef) or outer is None:
            return None
        saved, self.scope = self.scope, outer
        try:
            return self.signature_in(node)
        finally:
            self.scope = saved

    def signature_in(self, node: cst.FunctionDef) -> Value | None:
        """The value of `input_signature` among a def's decorators, evaluated in the current scope."""
        recorder, self.recorder = self.recorder, None
        try:
            for decorator in node.decorators:
                call = decorator.decorator
                if isinstance(call, cst.Call):
                    for k, arg in enumerate(call.args):
                        if (arg.keyword is not None and arg.keyword.value == "input_signature") or (
                            arg.keyword is None and k == 1 and self.world.dotted(self.eval(call.func)) == "tensorflow.function"
                        ):
                            return self.eval(arg.value)
        finally:
            self.recorder = recorder
        return None

    def finish(self) -> None:
        """Run the nested functions that nothing in the region called, and those that other regions or TensorFlow call, and merge all facts."""
        if self.recorder is None:
            return
        analysis = self.world.analysis
        for qualname, node in list(self.region.function_nodes.items()):
            if node is self.region.top or id(node) not in self.closures:
                continue
            function = FunctionId(self.region.function.path, qualname)
            outer = self.closures[id(node)]
            called = id(node) in self.nested
            external = analysis.outside_params(function, called=called)
            if external is None:
                continue
            self.scope = outer
            params = analysis.as_traced(function, external, self._signature(node, outer))
            self.activate(node, function, params, outer)
        for recorder in self.nested.values():
            self.recorder.absorb(recorder)

    # -- statements ------------------------------------------------------------------------------------------------------------------------------------------

    def block(self, statements: Sequence[cst.CSTNode]) -> None:
        for statement in statements:
            if self.scope.vars is None or self.steps > MAX_STEPS:
                return
            self.statement(statement)

    def statement(self, node: cst.CSTNode) -> None:
        """Run one statement; what is not listed (pass, global, type aliases ...) has no effect here."""
        self.steps += 1
        run = _RUNS.get(type(node))
        if run is not None:
            getattr(self, run)(node)

    def _line(self, node: cst.SimpleStatementLine) -> None:
        self.block(node.body)

    def _expression(self, node: cst.Expr) -> None:
        self.eval(node.value)

    def _del(self, node: cst.Del) -> None:
        self._delete(node.target)

    def _assign(self, node: cst.Assign) -> None:
        value = self.eval(node.value)
        for target in node.targets:
            self.bind(target.target, value, node)

    def _annotated(self, node: cst.AnnAssign) -> None:
        if node.value is not None:
            self.bind(node.target, self.eval(node.value), node)

    def _raise(self, node: cst.Raise) -> None:
        for part in (node.exc, node.cause):
            if part is not None:
                self.eval(part if not isinstance(part, cst.From) else part.item)
        self.scope.vars = None

    def _assert(self, node: cst.Assert) -> None:
        test = self.eval(node.test)
        self._stage(node, staging_of(test))
        if node.msg is not None:
            self.eval(node.msg)
        self.narrow(node.test, True)
        if ops.truth(test) is False:
            self.scope.vars = None

    # -- binding ---------------------------------------------------------------------------------------------------------------------------------------------

    def bind(self, target: cst.CSTNode, value: Value, statement: cst.CSTNode) -> None:
        """Assign a value to a target."""
        if self.scope.vars is None:
            return
        kind = type(target)
        if kind is cst.Name:
            assert isinstance(target, cst.Name)
            self.assign_name(target.value, replace(value, maybe_unbound=False) if value.maybe_unbound else value)
            self._record(target, value)
        elif isinstance(target, (cst.Tuple, cst.List)):
            self._record(target, value)
            for element, part in zip(target.elements, unpacked(value, len(target.elements), target.elements), strict=True):
                self.bind(element.value, part, statement)
        elif isinstance(target, cst.Attribute):
            self.eval(target.value)
            self._record(target, value)
            symbol = symbol_of(target)
            if symbol is not None:
                self.scope.vars[symbol] = value
                self.forget_below(self.scope.vars, symbol)
                if isinstance(target.value, cst.Name) and target.value.value == self.scope.self_name:
                    before = self.attribute_writes.get(target.attr.value)
                    self.attribute_writes[target.attr.value] = value if before is None else join(before, value)
        elif isinstance(target, cst.Subscript):
            self._store_item(target, value)
        elif isinstance(target, cst.StarredElement):
            self.bind(target.value, value, statement)

    def _record(self, node: cst.CSTNode, value: Value) -> None:
        if self.recorder is not None:
            self.recorder.values[id(node)] = value

    def _store_item(self, target: cst.Subscript, value: Value) -> None:
        base = self.eval(target.value)
        index: Value | None = None
        for element in target.slice:
            item = element.slice
            if isinstance(item, cst.Index):
                index = self.eval(item.value)
            else:
                for part in children(item):
                    self.eval(part)
        self._record(target, value)
        symbol = symbol_of(target)
        assert self.scope.vars is not None
        holder = symbol_of(target.value)
        if holder is not None and base.is_container and holder in self.scope.vars:
            self.scope.vars[holder] = stored(base, index if len(target.slice) == 1 else None, value)
            self.forget_below(self.scope.vars, holder)
        if symbol is not None:
            self.scope.vars[symbol] = value

    def _augmented(self, node: cst.AugAssign) -> None:
        before = self.eval(node.target)
        change = self.eval(node.value)
        if before.kind is Kind.PYTHON and before.pytype == "list" and isinstance(node.operator, cst.AddAssign) and not change.is_tensor:
            members = change.elements if change.is_python else None
            if before.elements is not None and members is not None and len(before.elements) + len(members) <= 64:
                value = replace(before, elements=before.elements + members)
            else:
                value = stored(before, None, ops.element_of(change))
        else:
            value = ops.binary(node.operator, before, change, eager=self.scope.eager)
            if before.kind is Kind.VARIABLE:
                value = UNKNOWN
        self.bind(node.target, value, node)

    def _delete(self, target: cst.CSTNode) -> None:
        if isinstance(target, (cst.Tuple, cst.List)):
            for element in target.elements:
                self._delete(element.value)
            return
        if self.scope.vars is None:
            return
        if isinstance(target, cst.Name):
            self.scope.vars.pop(target.value, None)
            self.forget_below(self.scope.vars, target.value)
            return
        self.eval(target)
        symbol = symbol_of(target)
        if symbol is not None:
            self.scope.vars.pop(symbol, None)
        if isinstance(target, cst.Subscript):
            holder = symbol_of(target.value)
            if holder is not None and holder in self.scope.vars:
                self.scope.vars[holder] = replace(self.scope.vars[holder], elements=None, items=None, element=None)

    def _import(self, node: cst.Import | cst.ImportFrom) -> None:
        if self.scope.vars is None:
            return
        function = self.scope.function or self.region.function
        for name in imported_names(node):
            self.scope.vars[name] = self.world.analysis.imported_value(function, name)

    def _def(self, node: cst.FunctionDef) -> None:
        self.remember_defaults(node)
        value = self.closure(node)
        for decorator in reversed(node.decorators):
            function = self.eval(decorator.decorator)
            value = self._decorated(value, function, decorator)
        self.assign_name(node.name.value, value)

    def _decorated(self, value: Value, decorator: Value, node: cst.Decorator) -> Value:
        name = self.world.dotted(decorator)
        if name == "tensorflow.function" and value.kind is Kind.FUNCTION:
            return replace(value, traced=True)
        if name in self.world.analysis.harmless_decorators and not isinstance(node.decorator, cst.Call):
            return value
        if isinstance(node.decorator, cst.Call) and name is None and decorator.kind is Kind.FUNCTION and isinstance(value.ref, FunctionId):
            pass
        if isinstance(value.ref, FunctionId):
            if self.world.analysis.is_tf_function(value.ref):
                return replace(value, traced=True)
            if not self.world.analysis.hides_result(value.ref):
                return value
            return replace(value, pytype="decorated")
        return UNKNOWN

    def _class(self, node: cst.ClassDef) -> None:
        for decorator in node.decorators:
            self.eval(decorator.decorator)
        for base in node.bases:
            self.eval(base.value)
        cls = self.world.analysis.local_class(self.region.function, node.name.value, self.line(node))
        for statement in node.body.body:
            if isinstance(statement, cst.FunctionDef):
                self.remember_closure(statement)
        if isinstance(node.body, cst.IndentedBlock) and self.scope.function is not None and self.region.top is None:
            self._class_body(node)
        self.assign_name(node.name.value, Value(Kind.CLASS, ref=cls) if cls is not None else UNKNOWN)

    def _class_body(self, node: cst.ClassDef) -> None:
        """Class-level statements of a module: calls in them count."""
        for statement in node.body.body:
            if isinstance(statement, cst.SimpleStatementLine):
                for small in statement.body:
                    if isinstance(small, (cst.Assign, cst.AnnAssign, cst.Expr)) and small.value is not None:
                        self.eval(small.value)

    # -- control flow ----------------------------------------------------------------------------------------------------------------------------------------

    def _return(self, node: cst.Return) -> None:
        value = self.eval(node.value) if node.value is not None else NONE
        scope = self.scope
        scope.returns = [(n, v) for n, v in scope.returns if n is not node] + [(node, value)]
        if scope.staged_depth:
            scope.staged_returns = True
        scope.vars = None

    def _jump(self, node: cst.Break | cst.Continue) -> None:
        scope = self.scope
        if scope.loops and scope.vars is not None:
            (scope.loops[-1].breaks if isinstance(node, cst.Break) else scope.loops[-1].continues).append(scope.vars)
        scope.vars = None

    def _if(self, node: cst.If) -> None:
        scope = self.scope
        test = self.eval(node.test)
        staging = staging_of(test)
        before = scope.vars
        assert before is not None
        known = ops.truth(test)
        staged_here = staging is Staging.TENSOR and not scope.eager
        scope.staged_depth += staged_here
        ends: list[State | None] = []
        for holds in (True, False):
            if known is not None and known is not holds:
                ends.append(None)
                continue
            scope.vars = dict(before)
            self.narrow(node.test, holds)
            if holds:
                self.block(node.body.body)
            elif isinstance(node.orelse, cst.If):
                self.statement(node.orelse)
            elif node.orelse is not None:
                self.block(node.orelse.body.body)
            ends.append(scope.vars)
        scope.staged_depth -= staged_here
        body, orelse = ends
        if known is not None:
            scope.vars = body if known else orelse
            if self.recorder is not None:
                self.recorder.branches[id(node)] = BranchFacts(Staging.PYTHON, test, {}, body is None, orelse is None)
                self.recorder.stage(node, Staging.PYTHON)
            return
        use = scope.names.blocks.get(id(node), BlockUse())
        if self.recorder is not None:
            facts = BranchFacts(staging, test, self._branch_names(before, body, orelse, use), body is None, orelse is None)
            self.recorder.branches[id(node)] = facts
            self.recorder.stage(node, staging)
        if staged_here and scope.converted and body is not None and orelse is not None:
            scope.vars = self._after_graph_branch(node, test, before, body, orelse, use)
        else:
            scope.vars = join_states(body, orelse)

    def _branch_names(self, before: State, body: State | None, orelse: State | None, use: BlockUse) -> dict[str, NameFlow]:
        found: dict[str, NameFlow] = {}
        for name in (*use.assigned_body, *(n for n in use.assigned_orelse if n not in use.assigned_body)):
            start = before.get(name)
            if start is None:
                start = self._symbol_before(name)
            found[name] = NameFlow(
                name,
                start,
                body.get(name, start) if body is not None else UNBOUND,
                orelse.get(name, start) if orelse is not None else UNBOUND,
                name in use.assigned_body,
                name in use.assigned_orelse,
                name in use.live_after,
                False,
                use.assigned_body.get(name),
                use.assigned_orelse.get(name),
            )
        return found

    def _symbol_before(self, symbol: str) -> Value:
        """What a symbol that the state does not hold is before a statement: UNBOUND only where that is certain."""
        if symbol.isidentifier():
            return UNBOUND if symbol in self.scope.names.bound else UNKNOWN
        root = root_of(symbol)
        holder = self.scope.vars.get(root) if self.scope.vars is not None else None
        if holder is None:
            holder = self.read(root)
        rest = symbol[len(root) :]
        if rest.startswith(".") and rest[1:].isidentifier() and holder.kind is Kind.INSTANCE and isinstance(holder.ref, ClassId):
            return self.world.analysis.attribute_before(holder.ref, rest[1:], self.scope.function)
        if rest.startswith("[") and holder.kind is Kind.PYTHON and holder.items is not None and rest.count("[") == 1 and rest.endswith("]"):
            keys = {repr(k) for k, _ in holder.items}
            if rest[1:-1] in keys:
                return next(v for k, v in holder.items if repr(k) == rest[1:-1])
            return UNBOUND
        return UNKNOWN

    def _after_graph_branch(self, node: cst.If, test: Value, before: State, body: State, orelse: State, use: BlockUse) -> State:
        out: State = {}
        reason: Reason | None = None
        for name in (*body, *(n for n in orelse if n not in body)):
            left, right = body.get(name), orelse.get(name)
            if left is right and left is not None:
                out[name] = left
                continue
            plain = name.isidentifier()
            if left is None:
                left = UNBOUND if plain else UNKNOWN
            if right is None:
                right = UNBOUND if plain else UNKNOWN
            if (name in use.assigned_body or name in use.assigned_orelse) and (not plain or name in use.live_after):
                if reason is None:
                    reason = self.reason(f"assigned under the tensor condition `{self.text(node.test)}`", node, test.why)
                out[name] = branch_join(left, right, reason)
            elif name in use.assigned_body or name in use.assigned_orelse:
                out[name] = join(left, right)
            else:
                out[name] = join(left, right)
        return out

    def text(self, node: cst.CSTNode) -> str:
        """Source text for messages, on one line."""
        found = self._texts.get(id(node))
        if found is None:
            found = self._texts[id(node)] = str(SourceText(self.region.tree, node))
        return found

    def _loop(self, node: cst.For | cst.While) -> None:
        scope = self.scope
        assert scope.vars is not None
        iterable = self.eval(node.iter) if isinstance(node, cst.For) else self.eval(node.test)
        staging = staging_of(iterable)
        staged_here = staging in (Staging.TENSOR, Staging.DATASET) and scope.converted
        use = scope.names.blocks.get(id(node), BlockUse())
        before = dict(scope.vars)
        loop = LoopScope()
        scope.loops.append(loop)
        scope.staged_depth += staged_here
        current = dict(before)
        reason: Reason | None = None
        if staged_here:
            reason = self.reason(
                f"carried by the loop over the tensor `{self.text(node.iter if isinstance(node, cst.For) else node.test)}`", node, iterable.why
            )
            self._enter_graph_loop(current, use, reason)
        end: State | None = None
        test_after: Value | None = None
        first: State | None = None
        for attempt in range(4):
            loop.breaks.clear()
            loop.continues.clear()
            scope.vars = dict(current)
            end = self._round(node, iterable)
            for state in loop.continues:
                end = join_states(end, state)
            if attempt == 0:
                first = end
            if end is None:
                break
            if isinstance(node, cst.While) and attempt == 0:
                scope.vars = dict(end)
                recorder, self.recorder = self.recorder, None
                test_after = self.eval(node.test)
                self.recorder = recorder
            merged = self._merge_round(current, end, use, reason, last=attempt == 2)
            if same_states(merged, current):
                break
            current = merged
        scope.loops.pop()
        scope.staged_depth -= staged_here
        if self.recorder is not None:
            facts = LoopFacts(staging, iterable, self._loop_names(before, end, first, use), test_after, self._invariants(node))
            self.recorder.loops[id(node)] = facts
            self.recorder.stage(node, staging)
        scope.vars = self._after_loop(node, iterable, before, current, end, loop, use, staged_here)
        if node.orelse is not None:
            self.block(node.orelse.body.body)
        if loop.breaks:
            for state in loop.breaks:
                scope.vars = join_states(scope.vars, state)

    def _round(self, node: cst.For | cst.While, iterable: Value) -> State | None:
        scope = self.scope
        if isinstance(node, cst.For):
            self.bind(node.target, ops.element_of(iterable), node)
        else:
            self.eval(node.test)
            self.narrow(node.test, True)
        self.block(node.body.body)
        return scope.vars

    @staticmethod
    def _enter_graph_loop(current: State, use: BlockUse, reason: Reason) -> None:
        """AutoGraph turns every name that the loop rebinds, and that a later round or the code behind reads, into a tensor before the first round."""
        for name in use.assigned_body:
            value = current.get(name)
            if value is not None and (name in use.live_head or name in use.live_after):
                current[name] = staged(value, reason)

    @staticmethod
    def _merge_round(current: State, end: State, use: BlockUse, reason: Reason | None, *, last: bool) -> State:
        merged: State = {}
        for name, value in current.items():
            after = end.get(name)
            if after is value:
                merged[name] = value
            elif reason is not None and name in use.assigned_body and after is not None:
                merged[name] = join(value, staged(after, reason)) if not value.is_none else UNKNOWN
            else:
                merged[name] = join(value, after if after is not None else UNBOUND if name.isidentifier() else UNKNOWN)
            if last and merged[name] is not value and not (merged[name].is_tensor and value.is_tensor):
                merged[name] = Value(merged[name].kind, pytype=merged[name].pytype, maybe_unbound=merged[name].maybe_unbound, origin=merged[name].origin)
        return merged

    def _after_loop(
        self, node: cst.For | cst.While, iterable: Value, before: State, current: State, end: State | None, loop: LoopScope, use: BlockUse, staged_here: bool
    ) -> State | None:
        """The state behind a loop that ended by itself."""
        if end is None:
            # No round reaches its end: either none ran, or the loop was left by break, return or raise.
            count = known_length(iterable) if isinstance(node, cst.For) else None
            always = isinstance(node, cst.While) and ops.truth(iterable) is True
            return None if (count or 0) > 0 or always else before
        if isinstance(node, cst.While) and ops.truth(iterable) is True and not staged_here:
            return None
        if staged_here:
            out = dict(current)
            for name, value in end.items():
                if name not in before and name.isidentifier():
                    out[name] = value if staged_here else replace(value, maybe_unbound=True)
            return out
        count = known_length(iterable) if isinstance(node, cst.For) else None
        if count is not None and count > 0:
            return join_states(end, end)
        return join_states(before, end)

    def _loop_names(self, before: State, end: State | None, first: State | None, use: BlockUse) -> dict[str, NameFlow]:
        found: dict[str, NameFlow] = {}
        for name, statement in use.assigned_body.items():
            start = before.get(name)
            if start is None:
                start = self._symbol_before(name)
            after = end.get(name, UNBOUND if name.isidentifier() else UNKNOWN) if end is not None else UNBOUND
            once = first.get(name, UNKNOWN) if first is not None else UNKNOWN
            carried = name in use.live_head and name in use.read_body
            found[name] = NameFlow(name, start, after, start, True, False, name in use.live_after, carried, statement, None, once)
        return found

    @staticmethod
    def _invariants(node: cst.For | cst.While) -> bool:
        """Whether the loop's own statements set shape invariants; a `with` or `if` may stand around the call."""
        stack: list[cst.CSTNode] = [node.body]
        while stack:
            current = stack.pop()
            if isinstance(current, cst.Call):
                called = (
                    current.func.attr.value if isinstance(current.func, cst.Attribute) else current.func.value if isinstance(current.func, cst.Name) else ""
                )
                if called == "set_loop_options":
                    return any(a.keyword is not None and a.keyword.value == "shape_invariants" for a in current.args)
            elif type(current) in _HOLDING_DIRECTIVES:
                stack.extend(children(current))
        return False

    def _with(self, node: cst.With) -> None:
        scope = self.scope
        saved = scope.context
        swallows = False
        for item in node.items:
            value = self.eval(item.item)
            name = self.world.dotted(value)
            called = self.world.dotted(self.eval(item.item.func)) if isinstance(item.item, cst.Call) else None
            if called in _EAGER_BLOCKS or name in _EAGER_BLOCKS:
                scope.context = Context.EAGER
            if called == "contextlib.suppress":
                swallows = True
            if item.asname is not None:
                entered = value if value.kind is Kind.INSTANCE and isinstance(value.ref, str) else UNKNOWN
                if value.kind is Kind.INSTANCE and isinstance(value.ref, ClassId):
                    entered = self.special_method(value, "__enter__", [], item.item)
                self.bind(item.asname.name, entered, node)
        before = dict(scope.vars) if scope.vars is not None else None
        self.block(node.body.body)
        scope.context = saved
        if swallows:
            scope.vars = join_states(scope.vars, before)

    def _try(self, node: cst.Try | cst.TryStar) -> None:
        scope = self.scope
        assert scope.vars is not None
        before = dict(scope.vars)
        self.block(node.body.body)
        after = scope.vars
        raised = join_states(before, after) if after is not None else before
        ends: list[State | None] = []
        if node.orelse is not None and after is not None:
            self.block(node.orelse.body.body)
            after = scope.vars
        ends.append(after)
        for handler in node.handlers:
            scope.vars = dict(raised) if raised is not None else None
            if handler.type is not None:
                self.eval(handler.type)
            if handler.name is not None and isinstance(handler.name.name, cst.Name):
                self.assign_name(handler.name.name.value, Value(Kind.PYTHON, pytype="exception"))
            self.block(handler.body.body)
            ends.append(scope.vars)
        out: State | None = None
        for state in ends:
            out = join_states(out, state)
        if node.finalbody is not None:
            scope.vars = out if out is not None else dict(raised) if raised is not None else None
            self.block(node.finalbody.body.body)
            if out is None:
                scope.vars = None
        else:
            scope.vars = out

    def _match(self, node: cst.Match) -> None:
        scope = self.scope
        self.eval(node.subject)
        before = scope.vars
        out: State | None = before
        for case in node.cases:
            scope.vars = dict(before) if before is not None else None
            stack: list[cst.CSTNode] = [case.pattern]
            while stack:
                current = stack.pop()
                if isinstance(current, cst.MatchAs) and current.name is not None:
                    self.assign_name(current.name.value, UNKNOWN)
                stack.extend(children(current))
            if case.guard is not None:
                self.eval(case.guard)
            self.block(case.body.body)
            out = join_states(out, scope.vars)
        scope.vars = out


def _first_parameter(node: cst.CSTNode) -> str | None:
    if isinstance(node, cst.FunctionDef):
        params = [*node.params.posonly_params, *node.params.params]
        return params[0].name.value if params else None
    return None


def _returned(scope: Scope, falls_through: bool, reason: Reason) -> Value:
    values = [v for _, v in scope.returns]
    if not values:
        return NONE if falls_through else UNKNOWN
    if falls_through:
        values.append(NONE)
    found = values[0]
    for other in values[1:]:
        found = branch_join(found, other, reason) if scope.staged_returns else join(found, other)
    if len(values) > 1 and scope.staged_returns:
        return staged(found, reason)
    return found
