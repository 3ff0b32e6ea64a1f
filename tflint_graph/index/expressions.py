"""Reading expressions: every one is visited once, and the visit gives back its symbol."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Callable, Sequence
from typing import Any

from tflint_graph.index.model import MODULE_SCOPE, Assignment, Call, FileIndex, FunctionIndex, Parameter, Stopper, Symbol
from tflint_graph.index.recorded import is_recorded
from tflint_graph.index.scopes import Scope, finish_function
from tflint_graph.index.stoppers import is_mangled, misplaced_loop_options
from tflint_graph.index.symbols import annotation_symbol
from tflint_graph.source.text import Columns, count_lines


class ExpressionReader:
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

    def environment_write(self, holder: ast.expr, key: ast.expr, symbol: Symbol) -> None:
        """`os.environ["K"] = "v"` and `os.environ.setdefault("K", "v")` with literals."""
        named = holder.attr if isinstance(holder, ast.Attribute) else holder.id if isinstance(holder, ast.Name) else ""
        if named == "environ" and isinstance(key, ast.Constant) and isinstance(key.value, str) and symbol is not None and symbol[0] == "const":
            self.index.environment_writes[key.value] = str(symbol[1])

    def lambda_(self, node: ast.Lambda) -> Symbol:
        params = self.parameters(node.args, annotated=False)
        column = self.columns.column(node.lineno, node.col_offset)
        qualname = self.reserve(f"{self.scope.prefix}<lambda>@{node.lineno}:{column}", 0)
        entry = FunctionIndex(qualname, "<lambda>", self.scope.qualname, node.lineno, node.lineno, node.end_lineno or node.lineno, column, params)
        entry.is_lambda = True
        self.lambdas.append((node, qualname))
        inner = Scope(qualname, qualname + ".<locals>.", self.scope)
        outer_fn, outer_scope = self.open(inner)
        symbol = self.whole(node.body)
        if symbol is not None:
            inner.returns.append(symbol)
        self.close(inner, entry, outer_fn, outer_scope)
        return ("lambda", qualname)

    def open(self, inner: Scope) -> tuple[Scope, Scope]:
        """From here on `inner` is read. Gives what was read so far, for `close`."""
        outer = (self.fn, self.scope)
        self.fn = self.scope = inner
        return outer

    def close(self, inner: Scope, entry: FunctionIndex, outer_fn: Scope, outer_scope: Scope) -> None:
        """The body of a def or lambda has been read."""
        self.fn, self.scope = outer_fn, outer_scope
        self.index.functions[entry.qualname] = finish_function(inner, entry, outer_fn, self.foreign)

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

    def pair(self, node: ast.Tuple) -> Symbol:
        """A tuple that is taken apart where it goes to: names in it do not escape."""
        self.fn.kinds.add(ast.Tuple)
        return ("seq", "tuple", tuple([self.value(item) for item in node.elts]))

    def generic(self, node: ast.AST) -> None:
        """Any other expression, clause or pattern: the expressions in it, in order."""
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.expression(child)
            else:
                self.generic(child)

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
_EXPRESSIONS: dict[type, Callable[[ExpressionReader, Any], Symbol]] = {
    ast.Subscript: ExpressionReader.subscript,
    ast.BinOp: ExpressionReader.binary,
    ast.BoolOp: ExpressionReader.bool_op,
    ast.Compare: ExpressionReader.compare,
    ast.UnaryOp: ExpressionReader.unary,
    ast.IfExp: ExpressionReader.if_expression,
    ast.Tuple: ExpressionReader.display,
    ast.List: ExpressionReader.display,
    ast.Set: ExpressionReader.display,
    ast.Dict: ExpressionReader.dictionary,
    ast.Lambda: ExpressionReader.lambda_,
    ast.ListComp: ExpressionReader.comprehension,
    ast.SetComp: ExpressionReader.comprehension,
    ast.GeneratorExp: ExpressionReader.comprehension,
    ast.DictComp: ExpressionReader.comprehension,
    ast.NamedExpr: ExpressionReader.walrus,
    ast.Starred: ExpressionReader.starred,
    ast.Yield: ExpressionReader.yield_,
    ast.YieldFrom: ExpressionReader.yield_,
    ast.Await: ExpressionReader.await_,
}


def _sequence(kind: str, items: tuple[Symbol, ...]) -> Symbol:
    """A display as a symbol; long tables of plain data are left out."""
    if len(items) > _LONG and all(item is None or item[0] == "const" for item in items):
        return None
    return ("seq", kind, items)


_LONG = 24


def _constant(value: Any) -> Symbol:
    """A literal as a symbol; long strings (docstrings, SQL) say nothing to a linker."""
    if value is None or value is True or value is False:
        return _LITERALS[value]
    if isinstance(value, str):
        return ("const", value) if len(value) <= 80 else None
    return ("const", value) if isinstance(value, (int, float)) else None


_LITERALS: dict[Any, Symbol] = {None: ("const", None), True: ("const", True), False: ("const", False)}
