"""What one file tells the linker: a small, picklable FileIndex, made from the standard library's syntax tree.

No tree node survives in here. Expressions that matter for linking are kept as *symbols*: nested tuples that say how a value is spelled.

    ("name", "x")                       a name
    ("attr", SYM, "field")              SYM.field
    ("call", SYM, ARGS, KWARGS, LINE)   a call; ARGS a tuple of symbols, KWARGS a tuple of (keyword or None for **, symbol)
    ("const", VALUE)                    None, a bool, a number or a string literal
    ("lambda", QUALNAME)                a lambda, indexed as a function under that qualified name
    ("seq", KIND, ITEMS)                a list, tuple, set or dict display; KIND is "list", "tuple", "set" or "dict" (ITEMS are a dict's values)
    ("either", ITEMS)                   one of ITEMS: `a if c else b`, `a or b`
    ("sub", SYM)                        an element of SYM
    ("star", SYM)                       *SYM in a call or display
    ("param", "x")                      a parameter of the function at hand (only as a binding)
    ("item", SYM, N)                    the N-th element unpacked from SYM (only as a binding)
    ("loop", SYM)                       the target of a loop over SYM (only as a binding)
    ("with", SYM)                       the target of `with SYM as x` (only as a binding)
    ("import", DOTTED)                  an import (only as a binding)
    ("def", QUALNAME)                   a def (only as a binding)
    ("class", QUALNAME)                 a class statement (only as a binding)
    None                                anything else

Lines are 1-based. Columns are 1-based and count characters.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

Symbol = Any  # a tuple as described above, or None

MODULE_SCOPE = "<module>"


class FunctionId(NamedTuple):
    """A function of the project: the file's path as given to the engine and the function's qualified name in it."""

    path: str
    qualname: str


class ClassId(NamedTuple):
    """A class of the project."""

    path: str
    qualname: str


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter. `kind` is "positional", "keyword", "args" or "kwargs"; `default` is None when there is none."""

    name: str
    kind: str
    annotation: Symbol = None
    default: Symbol = None
    has_default: bool = False


@dataclass(frozen=True, slots=True)
class Stopper:
    """A construct that makes AutoGraph give up on the whole outermost function (see the rules TFG101 to TFG109 and TFG113).

    `detail` is the name a message quotes: the mangled attribute, the walrus target, the annotation.
    """

    code: str
    line: int
    column: int
    end_line: int
    end_column: int
    detail: str = ""


class Call(NamedTuple):
    """A call that can matter to linking: its symbol is always a ("call", ...) tuple."""

    symbol: Symbol
    line: int
    column: int


@dataclass(slots=True)
class FunctionIndex:
    """A def or lambda.

    `qualname` is Python's `__qualname__`, with "<lambda>@LINE:COLUMN" for lambdas (1-based) and "name@LINE" for every further def of the same name in
    the same scope. `first_line` includes decorators. `scope` is the qualname of the enclosing function or class, "<module>" at the top.
    `kinds` names the kinds of statements and expressions in the body, nested functions included, by `ast` class name ("If", "Return", "ListComp");
    operators, comparators and contexts are left out, but "Not", "In" and "NotIn" are kept. `called_names` holds the last part of every called name or
    attribute in the body ("append", "reduce_sum"), nested functions included. `calls` leaves out what cannot matter to linking: builtins, methods that only
    data has ("append"), and library functions that take no callbacks. `globals` are the names declared `global` or `nonlocal`.
    """

    qualname: str
    name: str
    scope: str
    first_line: int
    line: int
    end_line: int
    column: int
    params: tuple[Parameter, ...] = ()
    decorators: tuple[Symbol, ...] = ()
    class_qualname: str | None = None
    is_async: bool = False
    is_generator: bool = False
    is_lambda: bool = False
    stoppers: tuple[Stopper, ...] = ()
    kinds: frozenset[str] = frozenset()
    called_names: frozenset[str] = frozenset()
    calls: tuple[Call, ...] = ()
    globals: frozenset[str] = frozenset()
    bindings: dict[str, tuple[Symbol, ...]] = field(default_factory=dict)
    returns: tuple[Symbol, ...] = ()
    statement_lines: tuple[int, ...] = ()
    # For functions that are not nested in others: the lines on which the function's statements start, nested ones and the def included, in source order.
    escapes: frozenset[str] = frozenset()
    # Names read other than as the callee of a call, as a direct argument of a call in `calls`, or as the whole value of a binding or a return: a function
    # among them is used as a value. "x.name" stands for an attribute of a name read in such a place, ".name" for one of anything else. Names that can only
    # be data and attributes of other libraries are left out.


@dataclass(slots=True)
class ClassIndex:
    """A class: bases as symbols, its methods' qualnames, class-level bindings, and what is assigned to attributes of `self` in its methods.

    `attributes` maps an attribute name to the (method qualname, symbol) pairs that assign it through the method's first parameter.
    """

    qualname: str
    name: str
    scope: str
    line: int
    end_line: int
    bases: tuple[Symbol, ...] = ()
    decorators: tuple[Symbol, ...] = ()
    methods: dict[str, str] = field(default_factory=dict)
    bindings: dict[str, tuple[Symbol, ...]] = field(default_factory=dict)
    attributes: dict[str, tuple[tuple[str, Symbol], ...]] = field(default_factory=dict)
    fields: tuple[tuple[str, Symbol, bool], ...] = ()
    # Annotated names of the class body in order: name, annotation, whether it has a value. The fields of a dataclass or typing.NamedTuple.


@dataclass(slots=True)
class Assignment:
    """A module-level or class-level assignment statement to one plain name: enough to parse it again on its own."""

    line: int
    end_line: int
    symbol: Symbol = None


@dataclass(slots=True)
class FileIndex:
    """Everything the linker knows of one file.

    `imports` maps a module-level name to the dotted name it stands for ("tf" -> "tensorflow", "C" -> "tensorflow.constant" through an import only);
    relative imports are made absolute with `module`. Imports inside functions are bindings of that function: ("import", DOTTED).
    `star_imports` lists modules imported with `*`. `assignments` holds every module-level assignment to a plain name, in order.
    `functions` includes the pseudo-function "<module>" whose calls and bindings are those of the module's own statements (class bodies included).
    """

    path: str
    module: str
    digest: str
    lines: int
    imports: dict[str, str] = field(default_factory=dict)
    star_imports: tuple[str, ...] = ()
    functions: dict[str, FunctionIndex] = field(default_factory=dict)
    classes: dict[str, ClassIndex] = field(default_factory=dict)
    assignments: dict[str, tuple[Assignment, ...]] = field(default_factory=dict)
    runs_eagerly: bool = False
    # The module's own statements call tf.config.run_functions_eagerly(True): its tf.functions are never traced.
    foreign_stores: frozenset[str] = frozenset()
    # Attributes that are set on anything but a method's own object: `obj.name = ...`, `setattr(obj, "name", ...)`; "*" where the name is not known.
    environment_writes: dict[str, str] = field(default_factory=dict)
    # Environment variables that the module sets to a literal, e.g. TF_USE_LEGACY_KERAS -> "1".
