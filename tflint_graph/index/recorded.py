"""Which calls an index keeps: those that can matter to linking. Leaving the others out is what keeps an index small."""

from __future__ import annotations

from tflint_graph.index.model import Symbol
from tflint_graph.index.takers import TAKER_NAMES

# Builtins that call nothing of the project's with a meaning of their own. `map`, `filter`, `getattr`, `super` and `setattr` stay.
_BUILTINS = frozenset(
    [
        "abs",
        "all",
        "any",
        "ascii",
        "bin",
        "bool",
        "bytearray",
        "bytes",
        "callable",
        "chr",
        "classmethod",
        "complex",
        "delattr",
        "dict",
        "dir",
        "divmod",
        "enumerate",
        "exec",
        "eval",
        "float",
        "format",
        "frozenset",
        "globals",
        "hasattr",
        "hash",
        "help",
        "hex",
        "id",
        "input",
        "int",
        "isinstance",
        "issubclass",
        "len",
        "list",
        "locals",
        "max",
        "memoryview",
        "min",
        "object",
        "oct",
        "open",
        "ord",
        "pow",
        "print",
        "property",
        "range",
        "repr",
        "reversed",
        "round",
        "set",
        "slice",
        "sorted",
        "staticmethod",
        "str",
        "sum",
        "tuple",
        "vars",
        "zip",
        "iter",
        "next",
        "type",
        "ValueError",
        "TypeError",
        "RuntimeError",
        "NotImplementedError",
        "KeyError",
        "AttributeError",
        "AssertionError",
        "IndexError",
        "ImportError",
        "Exception",
        "StopIteration",
        "OSError",
        "IOError",
    ]
) - {"next", "iter", "type"}

# Methods of strings, containers, arrays and tensors, loggers and argument parsers: a project's own method of such a name is found when the receiver is known.
_DATA_METHODS = frozenset(
    [
        "append",
        "extend",
        "insert",
        "pop",
        "popleft",
        "remove",
        "clear",
        "sort",
        "reverse",
        "index",
        "count",
        "copy",
        "items",
        "keys",
        "values",
        "setdefault",
        "format",
        "join",
        "split",
        "rsplit",
        "strip",
        "lstrip",
        "rstrip",
        "startswith",
        "endswith",
        "replace",
        "lower",
        "upper",
        "encode",
        "decode",
        "find",
        "rfind",
        "splitlines",
        "partition",
        "rpartition",
        "isdigit",
        "title",
        "as_list",
        "numpy",
        "set_shape",
        "get_shape",
        "astype",
        "reshape",
        "transpose",
        "tolist",
        "item",
        "sum",
        "mean",
        "min",
        "max",
        "std",
        "squeeze",
        "flatten",
        "ravel",
        "assertEqual",
        "assertAllClose",
        "assertAllEqual",
        "assertLen",
        "assertTrue",
        "assertFalse",
        "assertRaises",
        "assertRaisesRegex",
        "assertIsNone",
        "assertIsInstance",
        "assertIn",
        "assertEmpty",
        "assertIs",
        "assertNotEqual",
        "assertGreater",
        "assertLess",
        "assertAlmostEqual",
        "assertListEqual",
        "assertDictEqual",
        "assertShapeEqual",
        "add_argument",
        "info",
        "debug",
        "warning",
        "error",
        "exception",
    ]
)


def is_recorded(callee: Symbol, last: str | None, foreign: dict[str, str]) -> bool:
    """Whether a call of `callee`, whose last name is `last`, is kept. `foreign` maps names of the file to what they import from other libraries."""
    if callee is None:
        return False
    if last is None or last in TAKER_NAMES:
        return True
    if callee[0] == "name":
        if last in foreign:
            return foreign[last].rpartition(".")[2] in TAKER_NAMES
        return last not in _BUILTINS
    base = callee[1]
    while base is not None and base[0] == "attr":
        base = base[1]
    if base is not None and base[0] == "name":
        if base[1] in foreign or base[1] == "tf" or base[1] == "np":
            return False
        return last not in _DATA_METHODS or base[1] in ("self", "cls")
    return last not in _DATA_METHODS
