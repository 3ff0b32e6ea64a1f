"""Stage 1: one file's syntax tree to its FileIndex, in one pass.

Every expression is visited once; the visit gives back its symbol. Statements nest at most a hundred deep (the tokenizer sees to that) and chains of `elif`
and of binary operators are followed in loops, so plain recursion is safe for whatever the parser accepts but for a few monsters, which raise SourceError.
"""

from __future__ import annotations

import ast
import hashlib
import sys
from collections.abc import Callable, Sequence
from typing import Any

from tflint_graph.index.model import MODULE_SCOPE, Assignment, Call, ClassIndex, FileIndex, FunctionIndex, Parameter, Stopper, Symbol
from tflint_graph.index.recorded import is_recorded
from tflint_graph.index.scopes import Scope, finish_function, narrow_escapes
from tflint_graph.index.stoppers import ambiguous_lambdas, foreign_annotations, is_mangled, misplaced_loop_options, options_call_in_place, reads_a_name
from tflint_graph.index.symbols import FOREIGN, annotation_symbol, relative_module
from tflint_graph.source.text import Columns, SourceError, count_lines, parse


def build_index(path: str, module: str, data: bytes, tree: ast.Module | None = None) -> FileIndex:
    """The index of one file. `module` is its dotted name ("pkg.sub" for "pkg/sub/__init__.py" too), against which relative imports are made absolute.

    `tree` is the file's syntax tree where one exists already. Raises SourceError when the file is not Python.
    """
    if tree is None:
        tree = parse(data)
    builder = _Builder(path, module, data)
    try:
        return builder.build(tree)
    except RecursionError:
        raise SourceError(0, "the code is nested too deeply to be analysed") from None


class _Builder:
    """The state of one pass. `fn` is the function (or module) whose body is being read, `scope` where names are bound: `fn` or a class in it."""

    def __init__(self, path: str, module: str, data: bytes) -> None:
        self.columns = Columns(data)
        is_package = path.replace("\\", "/").rpartition("/")[2].startswith("__init__.")
        self.package = module if is_package else module.rpartition(".")[0]
        self.index = FileIndex(path, module, hashlib.blake2b(data, digest_size=16).hexdigest(), count_lines(data))
        self.fn = self.scope = self.module = Scope(MODULE_SCOPE, "", None)
        self.foreign: dict[str, str] = {}
        self.stars: list[str] = []
        self.assignments: dict[str, list[Assignment]] = {}
        self.taken: set[str] = {MODULE_SCOPE}
        self.lambdas: list[tuple[ast.Lambda, str]] = []
        self.annotated: list[tuple[Any, str, Scope]] = []
        self.in_place: set[int] = set()
        self.string_annotations = False
        self.symbols: dict[str, Symbol] = {}
        self.foreign_stores: set[str] = set()

    def build(self, tree: ast.Module) -> FileIndex:
        self.block(tree.body)
        index = self.index
        index.functions[MODULE_SCOPE] = finish_function(
            self.module, FunctionIndex(MODULE_SCOPE, MODULE_SCOPE, MODULE_SCOPE, 1, 1, index.lines, 1), None, self.foreign
        )
        index.star_imports = tuple(self.stars)
        index.foreign_stores = frozenset(self.foreign_stores)
        index.assignments = {name: tuple(found) for name, found in self.assignments.items()}
        ambiguous_lambdas(self.lambdas, index, self.stop_at)
        if not self.string_annotations:
            foreign_annotations(self.annotated, index, self.stop_at)
        narrow_escapes(index)
        return index

    # Statements

    def block(self, statements: Sequence[ast.stmt]) -> None:
        handlers = _STATEMENTS
        kinds = self.fn.kinds
        for statement in statements:
            kind = type(statement)
            kinds.add(kind)
            handler = handlers.get(kind)
            if handler is not None:
                handler(self, statement)
            else:
                self.generic(statement)

    def generic(self, node: ast.AST) -> None:
        """Any other statement, clause or pattern: its expressions and blocks in order."""
        for field in node._fields:
            value = getattr(node, field, None)
            if isinstance(value, list):
                if value and isinstance(value[0], ast.stmt):
                    self.block(value)
                    continue
                for item in value:
                    if isinstance(item, ast.expr):
                        self.expression(item)
                    elif isinstance(item, ast.AST):
                        self.generic(item)
            elif isinstance(value, ast.expr):
                self.expression(value)
            elif isinstance(value, ast.AST):
                self.generic(value)

    def expression_statement(self, node: ast.Expr) -> None:
        value = node.value
        if type(value) is not ast.Constant:
            self.expression(value)

    def assign(self, node: ast.Assign) -> None:
        symbol = self.value(node.value)
        targets = node.targets
        if symbol is not None and symbol[0] == "const" and type(targets[0]) is ast.Subscript:
            self.environment_write(targets[0].value, targets[0].slice, symbol)
        for target in targets:
            if type(target) is ast.Name:
                self.bind(target.id, symbol)
                if self.scope is self.module:
                    self.assignments.setdefault(target.id, []).append(Assignment(node.lineno, node.end_lineno or node.lineno, symbol))
            else:
                if self.scope is self.module and type(target) in (ast.Tuple, ast.List):
                    for element in target.elts:  # type: ignore[attr-defined]
                        if type(element) is ast.Name:
                            self.assignments.setdefault(element.id, []).append(Assignment(node.lineno, node.end_lineno or node.lineno))
                self.target(target, symbol)

    def environment_write(self, holder: ast.expr, key: ast.expr, symbol: Symbol) -> None:
        """`os.environ["K"] = "v"` and `os.environ.setdefault("K", "v")` with literals."""
        named = holder.attr if isinstance(holder, ast.Attribute) else holder.id if isinstance(holder, ast.Name) else ""
        if named == "environ" and isinstance(key, ast.Constant) and isinstance(key.value, str) and symbol is not None and symbol[0] == "const":
            self.index.environment_writes[key.value] = str(symbol[1])

    def annotated_assign(self, node: ast.AnnAssign) -> None:
        if node.value is None:
            if type(node.target) is not ast.Name:
                self.target(node.target, None)
            return
        symbol = self.value(node.value)
        self.target(node.target, symbol)
        if type(node.target) is ast.Name and self.scope is self.module:
            self.assignments.setdefault(node.target.id, []).append(Assignment(node.lineno, node.end_lineno or node.lineno, symbol))

    def augmented(self, node: ast.AugAssign) -> None:
        self.expression(node.value)
        self.target(node.target, None)

    def delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            if type(target) is not ast.Name:
                self.target(target, None)

    def return_(self, node: ast.Return) -> None:
        value = node.value
        if value is None:
            return
        symbol = self.pair(value) if type(value) is ast.Tuple else self.value(value)
        if symbol is not None:
            self.fn.returns.append(symbol)

    def pair(self, node: ast.Tuple) -> Symbol:
        """A tuple that is taken apart where it goes to: names in it do not escape."""
        self.fn.kinds.add(ast.Tuple)
        return ("seq", "tuple", tuple([self.value(item) for item in node.elts]))

    def if_(self, node: ast.If) -> None:
        while True:
            self.whole(node.test)
            self.block(node.body)
            if len(node.orelse) == 1 and type(node.orelse[0]) is ast.If:
                node = node.orelse[0]
                continue
            if node.orelse:
                self.block(node.orelse)
            return

    def for_(self, node: ast.For) -> None:
        if node.orelse:
            self.stop("TFG101", node, node.iter, "for")
        self.target(node.target, ("loop", self.whole(node.iter)))
        self.loop_body(node)

    def while_(self, node: ast.While) -> None:
        if node.orelse:
            self.stop("TFG101", node, node.test, "while")
        self.expression(node.test)
        self.loop_body(node)

    def loop_body(self, node: ast.For | ast.While) -> None:
        placed = options_call_in_place(node)
        if placed is not None:
            self.in_place.add(id(placed))
        self.block(node.body)
        if node.orelse:
            self.block(node.orelse)

    def with_(self, node: ast.With) -> None:
        for item in node.items:
            symbol = self.value(item.context_expr)
            if item.optional_vars is not None:
                self.target(item.optional_vars, ("with", symbol))
        self.block(node.body)

    def try_(self, node: ast.Try) -> None:
        self.block(node.body)
        for handler in node.handlers:
            self.fn.kinds.add(ast.ExceptHandler)
            if handler.type is not None:
                self.expression(handler.type)
            if handler.name is not None:
                self.bind(handler.name, None)
            self.block(handler.body)
        if node.orelse:
            first = node.orelse[0]
            if type(first) is ast.If:
                self.stop("TFG108", first, first.test)
            self.block(node.orelse)
        self.block(node.finalbody)

    def match(self, node: ast.Match) -> None:
        self.stop("TFG104", node, node.subject)
        self.expression(node.subject)
        for case in node.cases:
            for part in ast.walk(case.pattern):
                name = getattr(part, "name", None) or getattr(part, "rest", None)
                if isinstance(name, str):
                    self.bind(name, None)
            self.generic(case.pattern)
            if case.guard is not None:
                self.expression(case.guard)
            self.block(case.body)

    def global_(self, node: ast.Global) -> None:
        self.fn.globals.update(node.names)

    def import_(self, node: ast.Import) -> None:
        for alias in node.names:
            if alias.asname:
                self.bind_import(alias.asname, alias.name)
            else:
                top = alias.name.partition(".")[0]
                self.bind_import(top, top)

    def import_from(self, node: ast.ImportFrom) -> None:
        source = relative_module(self.package, node.level, node.module)
        if source == "__future__":
            self.string_annotations |= any(alias.name == "annotations" for alias in node.names)
            return
        for alias in node.names:
            if alias.name == "*":
                self.stars.append(source)
            else:
                self.bind_import(alias.asname or alias.name, f"{source}.{alias.name}" if source else alias.name)

    def bind_import(self, name: str, dotted: str) -> None:
        if self.scope is self.module:
            self.index.imports.setdefault(name, dotted)
        if dotted.partition(".")[0] in FOREIGN:
            self.foreign[name] = dotted
        self.bind(name, ("import", dotted))

    # Definitions

    def function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        decorators = tuple([self.quiet(d) for d in node.decorator_list])
        params = self.parameters(node.args, annotated=True)
        qualname = self.reserve(self.scope.prefix + node.name, node.lineno)
        owner = self.scope
        is_async = type(node) is ast.AsyncFunctionDef
        first_line = node.decorator_list[0].lineno if node.decorator_list else node.lineno
        entry = FunctionIndex(
            qualname,
            node.name,
            owner.qualname,
            first_line,
            node.lineno,
            node.end_lineno or node.lineno,
            self.columns.column(node.lineno, node.col_offset),
            params,
        )
        entry.decorators = decorators
        entry.is_async = is_async
        if ".<locals>." not in qualname:
            entry.statement_lines = statement_lines(node)
        if owner.is_class:
            entry.class_qualname = owner.qualname
            if owner.methods is not None and not _is_accessor(node):
                owner.methods[node.name] = qualname
        else:
            self.bind(node.name, ("def", qualname))
        inner = Scope(qualname, qualname + ".<locals>.", owner, entry.class_qualname, self.self_name(node, params) if owner.is_class else None)
        self.enter(inner, node.body, entry)
        if node.returns is not None or any(p.annotation is not None for p in params):
            self.annotated.append((node, qualname, inner))
        if is_async and self.fn is not self.module and reads_a_name(node):
            self.stop_at(self.fn, "TFG103", node.lineno, node.col_offset, node.lineno, node.col_offset + len("async def ") + len(node.name), node.name)

    def self_name(self, node: ast.FunctionDef | ast.AsyncFunctionDef, params: tuple[Parameter, ...]) -> str | None:
        """The name of the method's first parameter, where that is the object (for class methods, the class)."""
        for decorator in node.decorator_list:
            if type(decorator) is ast.Name and decorator.id == "staticmethod":
                return None
        return params[0].name if params and params[0].kind == "positional" else None

    def enter(self, inner: Scope, body: Sequence[ast.stmt] | ast.expr, entry: FunctionIndex) -> None:
        outer_fn, outer_scope = self.fn, self.scope
        self.fn = self.scope = inner
        if isinstance(body, ast.expr):
            symbol = self.whole(body)
            if symbol is not None:
                inner.returns.append(symbol)
        else:
            self.block(body)
        self.fn, self.scope = outer_fn, outer_scope
        self.index.functions[entry.qualname] = finish_function(inner, entry, outer_fn, self.foreign)

    def lambda_(self, node: ast.Lambda) -> Symbol:
        params = self.parameters(node.args, annotated=False)
        column = self.columns.column(node.lineno, node.col_offset)
        qualname = self.reserve(f"{self.scope.prefix}<lambda>@{node.lineno}:{column}", 0)
        entry = FunctionIndex(qualname, "<lambda>", self.scope.qualname, node.lineno, node.lineno, node.end_lineno or node.lineno, column, params)
        entry.is_lambda = True
        self.lambdas.append((node, qualname))
        self.enter(Scope(qualname, qualname + ".<locals>.", self.scope), node.body, entry)
        return ("lambda", qualname)

    def parameters(self, args: ast.arguments, *, annotated: bool) -> tuple[Parameter, ...]:
        found: list[Parameter] = []
        self.fn.in_signature += 1
        positional = args.posonlyargs + args.args
        first_default = len(positional) - len(args.defaults)
        for k, arg in enumerate(positional):
            annotation = annotation_symbol(arg.annotation) if annotated and arg.annotation is not None else None
            if k >= first_default:
                found.append(Parameter(arg.arg, "positional", annotation, self.expression(args.defaults[k - first_default]), True))
            else:
                found.append(Parameter(arg.arg, "positional", annotation))
        if args.vararg is not None:
            found.append(Parameter(args.vararg.arg, "args", annotation_symbol(args.vararg.annotation)))
        for arg, default in zip(args.kwonlyargs, args.kw_defaults):
            annotation = annotation_symbol(arg.annotation) if annotated and arg.annotation is not None else None
            if default is not None:
                found.append(Parameter(arg.arg, "keyword", annotation, self.expression(default), True))
            else:
                found.append(Parameter(arg.arg, "keyword", annotation))
        if args.kwarg is not None:
            found.append(Parameter(args.kwarg.arg, "kwargs", annotation_symbol(args.kwarg.annotation)))
        self.fn.in_signature -= 1
        return tuple(found)

    def class_(self, node: ast.ClassDef) -> None:
        decorators = tuple([self.quiet(d) for d in node.decorator_list])
        bases = tuple([self.quiet(b) for b in node.bases])
        for keyword in node.keywords:
            self.expression(keyword.value)
        qualname = self.reserve(self.scope.prefix + node.name, node.lineno)
        self.bind(node.name, ("class", qualname))
        inner = Scope(qualname, qualname + ".", self.scope)
        inner.is_class = True
        fields = tuple(
            [(n.target.id, self.quiet(n.annotation), n.value is not None) for n in node.body if isinstance(n, ast.AnnAssign) and isinstance(n.target, ast.Name)]
        )
        inner.methods = {}
        outer = self.scope
        self.scope = inner
        self.block(node.body)
        self.scope = outer
        self.index.classes[qualname] = ClassIndex(
            qualname,
            node.name,
            outer.qualname,
            node.lineno,
            node.end_lineno or node.lineno,
            bases,
            decorators,
            inner.methods,
            {name: tuple(symbols) for name, symbols in inner.bindings.items()},
            {name: tuple(found) for name, found in inner.attributes.items()},
            fields,
        )

    def reserve(self, qualname: str, line: int) -> str:
        if qualname in self.taken:
            qualname = f"{qualname}@{line}"
            while qualname in self.taken:
                qualname += "+"
        self.taken.add(qualname)
        return qualname

    # Binding

    def bind(self, name: str, symbol: Symbol) -> None:
        scope = self.scope
        if name in scope.globals:
            scope = self.module
            symbol = None
        found = scope.bindings.get(name)
        if found is None:
            scope.bindings[name] = [symbol]
        elif symbol not in found:
            found.append(symbol)

    def target(self, node: ast.expr, symbol: Symbol) -> None:
        kind = type(node)
        if kind is ast.Name:
            self.bind(node.id, symbol)  # type: ignore[attr-defined]
        elif kind is ast.Attribute:
            self.attribute_target(node, symbol)  # type: ignore[arg-type]
        elif kind is ast.Tuple or kind is ast.List:
            items = node.elts  # type: ignore[attr-defined]
            values: Sequence[Symbol] = ()
            if symbol is not None and symbol[0] == "seq" and len(symbol[2]) == len(items) and not any(s is not None and s[0] == "star" for s in symbol[2]):
                values = symbol[2]
            for k, item in enumerate(items):
                self.target(item, values[k] if values else ("item", symbol, k) if symbol is not None else None)
        elif kind is ast.Starred:
            self.target(node.value, None)  # type: ignore[attr-defined]
        else:
            self.release(symbol)
            self.expression(node)

    def attribute_target(self, node: ast.Attribute, symbol: Symbol) -> None:
        self.fn.kinds.add(ast.Attribute)
        if is_mangled(node.attr):
            self.stop("TFG106", node, node, node.attr)
        base = node.value
        fn = self.fn
        if type(base) is ast.Name and base.id == fn.self_name and fn.outer is not None and fn.outer.is_class:
            fn.outer.attributes.setdefault(node.attr, []).append((fn.qualname, symbol))
            return
        self.foreign_stores.add(node.attr)
        self.release(symbol)
        self.value(base)

    def release(self, symbol: Symbol) -> None:
        """The value goes somewhere that is not followed: a function among it escapes."""
        if symbol is not None:
            if symbol[0] == "name":
                self.fn.escapes.add(symbol[1])
            elif symbol[0] == "attr":
                base = symbol[1]
                self.fn.attribute_reads.add((base[1] if base is not None and base[0] == "name" else "", symbol[2]))

    # Expressions

    def expression(self, node: ast.expr) -> Symbol:
        """Visit an expression whose value goes anywhere: a name in this place is read as a value."""
        kind = type(node)
        if kind is ast.Name:
            name = node.id  # type: ignore[attr-defined]
            self.fn.escapes.add(name)
            return self.name(name)
        if kind is ast.Attribute:
            base = node.value  # type: ignore[attr-defined]
            self.fn.attribute_reads.add((base.id if type(base) is ast.Name else "", node.attr))  # type: ignore[attr-defined]
            return self.attribute(node)  # type: ignore[arg-type]
        return self.value(node)

    def quiet(self, node: ast.expr) -> Symbol:
        """As `value`, for decorators and bases: a walrus there is evaluated outside of the function."""
        self.fn.in_signature += 1
        symbol = self.value(node)
        self.fn.in_signature -= 1
        return symbol

    def value(self, node: ast.expr) -> Symbol:
        """Visit an expression whose value is followed (bound, returned, passed): a plain name or attribute in this place does not escape."""
        kind = type(node)
        if kind is ast.Name:
            return self.name(node.id)  # type: ignore[attr-defined]
        if kind is ast.Constant:
            return _constant(node.value)  # type: ignore[attr-defined]
        self.fn.kinds.add(kind)
        if kind is ast.Attribute:
            return self.attribute(node)  # type: ignore[arg-type]
        if kind is ast.Call:
            return self.call(node)  # type: ignore[arg-type]
        handler = _EXPRESSIONS.get(kind)
        if handler is not None:
            return handler(self, node)
        self.generic(node)
        return None

    def name(self, name: str) -> Symbol:
        symbol = self.symbols.get(name)
        if symbol is None:
            symbol = self.symbols[name] = ("name", name)
        return symbol

    def attribute(self, node: ast.Attribute) -> Symbol:
        attr = node.attr
        self.fn.kinds.add(ast.Attribute)
        if attr[:2] == "__" and is_mangled(attr):
            self.stop("TFG106", node, node, attr)
        base = node.value
        if type(base) is ast.Name:
            return ("attr", self.name(base.id), attr)
        symbol = self.value(base)
        return ("attr", symbol, attr) if symbol is not None else None

    def call(self, node: ast.Call) -> Symbol:
        func = node.func
        kind = type(func)
        last: str | None = None
        callee: Symbol
        if kind is ast.Name:
            last = func.id  # type: ignore[attr-defined]
            callee = self.name(last)
        elif kind is ast.Attribute:
            last = func.attr  # type: ignore[attr-defined]
            callee = self.attribute(func)  # type: ignore[arg-type]
            if callee is None:
                callee = ("attr", None, last)
        else:
            callee = self.value(func)
        fn = self.fn
        if last is not None:
            fn.called.add(last)
            if last == "set_loop_options" and misplaced_loop_options(node, self.in_place):
                self.stop("TFG107", node, node)
        value = self.value
        args = tuple([value(a) for a in node.args])
        kwargs = tuple([(k.arg, value(k.value)) for k in node.keywords]) if node.keywords else ()
        symbol = ("call", callee, args, kwargs, node.lineno)
        if last in ("run_functions_eagerly", "experimental_run_functions_eagerly") and fn is self.module and args[:1] == (("const", True),):
            self.index.runs_eagerly = True
        if last in ("setattr", "vars"):
            named = args[1] if last == "setattr" and len(args) > 1 else None
            self.foreign_stores.add(str(named[1]) if named is not None and named[0] == "const" else "*")
        if last == "setdefault" and len(args) == 2:
            self.environment_write(func.value, node.args[0], args[1])  # type: ignore[attr-defined]
        if is_recorded(callee, last, self.foreign):
            fn.calls.append(Call(symbol, node.lineno, self.columns.column(node.lineno, node.col_offset)))
        else:
            for argument in args:
                if argument is not None:
                    self.release(argument)
            for _, argument in kwargs:
                if argument is not None:
                    self.release(argument)
        return symbol

    def subscript(self, node: ast.Subscript) -> Symbol:
        base = self.value(node.value)
        index = node.slice
        if type(index) is not ast.Constant:
            self.expression(index)
        return ("sub", base) if base is not None else None

    def binary(self, node: ast.BinOp) -> Symbol:
        left: ast.expr = node
        while type(left) is ast.BinOp:
            self.expression(left.right)
            left = left.left
        self.expression(left)
        return None

    def bool_op(self, node: ast.BoolOp) -> Symbol:
        return ("either", tuple([self.value(v) for v in node.values]))

    def compare(self, node: ast.Compare) -> Symbol:
        kinds = self.fn.kinds
        for op in node.ops:
            kind = type(op)
            if kind is ast.In or kind is ast.NotIn:
                kinds.add(kind)
        self.expression(node.left)
        for item in node.comparators:
            self.expression(item)
        return None

    def unary(self, node: ast.UnaryOp) -> Symbol:
        operator = type(node.op)
        if operator is ast.Not:
            self.fn.kinds.add(ast.Not)
        symbol = self.expression(node.operand)
        if operator is ast.USub and symbol is not None and symbol[0] == "const" and isinstance(symbol[1], (int, float)):
            return ("const", -symbol[1])
        return None

    def if_expression(self, node: ast.IfExp) -> Symbol:
        self.expression(node.test)
        return ("either", (self.value(node.body), self.value(node.orelse)))

    def display(self, node: ast.Tuple | ast.List | ast.Set) -> Symbol:
        kind = "tuple" if type(node) is ast.Tuple else "list" if type(node) is ast.List else "set"
        return _sequence(kind, tuple([self.expression(item) for item in node.elts]))

    def dictionary(self, node: ast.Dict) -> Symbol:
        for key in node.keys:
            if key is not None and type(key) is not ast.Constant:
                self.expression(key)
        return _sequence("dict", tuple([self.expression(item) for item in node.values]))

    def comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> Symbol:
        scope = self.scope
        for clause in node.generators:
            symbol = ("loop", self.value(clause.iter))
            if scope is self.fn and scope is not self.module:
                self.target(clause.target, symbol)
            for test in clause.ifs:
                self.expression(test)
        if type(node) is ast.DictComp:
            self.expression(node.key)
            self.expression(node.value)
        else:
            self.expression(node.elt)  # type: ignore[union-attr]
        return None

    def walrus(self, node: ast.NamedExpr) -> Symbol:
        if not self.fn.in_signature:
            self.stop("TFG105", node, node, node.target.id)
        symbol = self.value(node.value)
        self.bind(node.target.id, symbol)
        return symbol

    def whole(self, node: ast.expr) -> Symbol:
        """The whole test of an `if` or iterable of a `for`: AutoGraph copies an assignment expression there without looking into it."""
        if type(node) is not ast.NamedExpr:
            return self.value(node)
        self.fn.kinds.add(ast.NamedExpr)
        symbol = self.value(node.value)
        self.bind(node.target.id, symbol)
        return symbol

    def starred(self, node: ast.Starred) -> Symbol:
        symbol = self.expression(node.value)
        return ("star", symbol)

    def yield_(self, node: ast.Yield | ast.YieldFrom) -> Symbol:
        fn = self.fn
        if not fn.is_generator and fn is not self.module:
            fn.is_generator = True
            fn.first_yield = self.make_stopper("TFG102", node, node)
        if node.value is not None:
            self.expression(node.value)
        return None

    def await_(self, node: ast.Await) -> Symbol:
        self.expression(node.value)
        return None

    # Stoppers

    def make_stopper(self, code: str, start: Any, end: Any, detail: str = "") -> Stopper:
        column = self.columns.column
        end_line = end.end_lineno or end.lineno
        return Stopper(code, start.lineno, column(start.lineno, start.col_offset), end_line, column(end_line, end.end_col_offset), detail)

    def stop(self, code: str, start: ast.AST, end: ast.AST, detail: str = "") -> None:
        if self.fn is not self.module:
            self.fn.stoppers.append(self.make_stopper(code, start, end, detail))

    def stop_at(self, holder: Scope | FunctionIndex, code: str, line: int, utf8_column: int, end_line: int, end_utf8_column: int, detail: str) -> None:
        column = self.columns.column
        stopper = Stopper(code, line, column(line, utf8_column), end_line, column(end_line, end_utf8_column), detail)
        if isinstance(holder, Scope):
            holder.stoppers.append(stopper)
        else:
            holder.stoppers = (*holder.stoppers, stopper)


# By node type; tables of plain functions, since bound methods would make a cycle of every builder.
_EXPRESSIONS: dict[type, Callable[[_Builder, Any], Symbol]] = {
    ast.Subscript: _Builder.subscript,
    ast.BinOp: _Builder.binary,
    ast.BoolOp: _Builder.bool_op,
    ast.Compare: _Builder.compare,
    ast.UnaryOp: _Builder.unary,
    ast.IfExp: _Builder.if_expression,
    ast.Tuple: _Builder.display,
    ast.List: _Builder.display,
    ast.Set: _Builder.display,
    ast.Dict: _Builder.dictionary,
    ast.Lambda: _Builder.lambda_,
    ast.ListComp: _Builder.comprehension,
    ast.SetComp: _Builder.comprehension,
    ast.GeneratorExp: _Builder.comprehension,
    ast.DictComp: _Builder.comprehension,
    ast.NamedExpr: _Builder.walrus,
    ast.Starred: _Builder.starred,
    ast.Yield: _Builder.yield_,
    ast.YieldFrom: _Builder.yield_,
    ast.Await: _Builder.await_,
}
_STATEMENTS: dict[type, Callable[[_Builder, Any], None]] = {
    ast.Expr: _Builder.expression_statement,
    ast.Assign: _Builder.assign,
    ast.AugAssign: _Builder.augmented,
    ast.AnnAssign: _Builder.annotated_assign,
    ast.Return: _Builder.return_,
    ast.If: _Builder.if_,
    ast.For: _Builder.for_,
    ast.AsyncFor: _Builder.for_,
    ast.While: _Builder.while_,
    ast.With: _Builder.with_,
    ast.AsyncWith: _Builder.with_,
    ast.Try: _Builder.try_,
    ast.FunctionDef: _Builder.function,
    ast.AsyncFunctionDef: _Builder.function,
    ast.ClassDef: _Builder.class_,
    ast.Import: _Builder.import_,
    ast.ImportFrom: _Builder.import_from,
    ast.Global: _Builder.global_,
    ast.Nonlocal: _Builder.global_,
    ast.Delete: _Builder.delete,
    ast.Match: _Builder.match,
}
if sys.version_info >= (3, 11):
    _STATEMENTS[ast.TryStar] = _Builder.try_


_BODIES: dict[type, tuple[str, ...]] = {
    ast.FunctionDef: ("body",), ast.AsyncFunctionDef: ("body",), ast.ClassDef: ("body",), ast.If: ("body", "orelse"), ast.For: ("body", "orelse"),
    ast.AsyncFor: ("body", "orelse"), ast.While: ("body", "orelse"), ast.With: ("body",), ast.AsyncWith: ("body",),
    ast.Try: ("body", "handlers", "orelse", "finalbody"), ast.ExceptHandler: ("body",), ast.Match: ("cases",), ast.match_case: ("body",),
}  # fmt: skip
if sys.version_info >= (3, 11):
    _BODIES[ast.TryStar] = ("body", "handlers", "orelse", "finalbody")


def statement_lines(node: ast.stmt) -> tuple[int, ...]:
    """The lines on which a statement and all statements in it start, in source order. Expressions hold no statements and are not visited."""
    found: list[int] = []
    stack: list[ast.AST] = [node]
    while stack:
        current = stack.pop()
        if isinstance(current, ast.stmt):
            found.append(current.lineno)
        for name in _BODIES.get(type(current), ()):
            stack.extend(getattr(current, name))
    found.sort()
    return tuple(found)


def _sequence(kind: str, items: tuple[Symbol, ...]) -> Symbol:
    """A display as a symbol; long tables of plain data are left out."""
    if len(items) > _LONG and all(item is None or item[0] == "const" for item in items):
        return None
    return ("seq", kind, items)


_LONG = 24


def _is_accessor(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """`@x.setter` and `@x.deleter`: not what the attribute gives when read."""
    return any(isinstance(d, ast.Attribute) and d.attr in ("setter", "deleter") for d in node.decorator_list)


def _constant(value: Any) -> Symbol:
    """A literal as a symbol; long strings (docstrings, SQL) say nothing to a linker."""
    if value is None or value is True or value is False:
        return _LITERALS[value]
    if isinstance(value, str):
        return ("const", value) if len(value) <= 80 else None
    return ("const", value) if isinstance(value, (int, float)) else None


_LITERALS: dict[Any, Symbol] = {None: ("const", None), True: ("const", True), False: ("const", False)}
