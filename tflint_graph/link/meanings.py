"""What an expression can stand for, as data.

An expression has a tuple of possible meanings. UNKNOWN among them says that there may be others. Nothing here knows about tracing beyond "this is a
tf.function of that function", which linking asks for.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from tflint_graph.index.model import ClassId, FunctionIndex
from tflint_graph.index.takers import FUNCTIONS
from tflint_graph.knowledge.api import canonical


class Meaning(NamedTuple):
    """One thing an expression can stand for.

    kind        target                    what
    "api"       dotted name               something of a library, as spelled by the imports
    "result"    dotted name               what calling that gives
    "module"    path                      a module of the project
    "function"  FunctionId                a function; `bound` is the class of the object it was read from
    "class"     ClassId                   a class
    "instance"  ClassId                   an instance of it
    "super"     ClassId                   super() in a method of it
    "member"    (ClassId, name)           an attribute that only a library base of the class can have
    "dataset"   None                      a tf.data.Dataset; `certain` False where only a likeness says so
    "method"    name                      a method of a dataset
    "seq"       (path, scope, items)      a display
    "const"     value                     a literal
    "builtin"   name                      a builtin
    "unknown"   None
    `via` holds "traced" (wrapped by tf.function), "unconverted", "hidden" (lru_cache), "partial", "python" (autograph=False).
    """

    kind: str
    target: Any
    bound: ClassId | None = None
    via: frozenset[str] = frozenset()
    certain: bool = True


Meanings = tuple[Meaning, ...]
Environment = dict[tuple[str, str, str], Meanings]  # (path, function, parameter) -> what it is in this call
UNKNOWN = Meaning("unknown", None)
NOTHING: Meanings = (UNKNOWN,)
DEEPEST = 14  # how far one evaluation follows names, calls and attributes


def taker_name(dotted: str) -> str:
    """The name under which FUNCTIONS may list a library function."""
    if dotted in FUNCTIONS:
        return dotted
    return canonical(dotted)


def is_static(entry: FunctionIndex) -> bool:
    """Decorated with `staticmethod`."""
    return ("name", "staticmethod") in entry.decorators


def is_class_method(entry: FunctionIndex) -> bool:
    """Its first parameter is the class."""
    return ("name", "classmethod") in entry.decorators or entry.name == "__new__"


def is_property(entry: FunctionIndex) -> bool:
    """Decorated with `property` or one of its kin: reading the attribute calls it."""
    for decorator in entry.decorators:
        if decorator is not None and decorator[0] in ("name", "attr") and decorator[-1] in ("property", "cached_property", "abstractproperty"):
            return True
    return False
