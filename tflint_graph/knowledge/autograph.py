"""What builtin and itertools calls do when they meet tensors, variables, datasets and iterators, in converted and in unconverted code.

Measured on TensorFlow 2.21 by tracing each call; tests/test_knowledge.py repeats it. AutoGraph replaces some builtins in converted code
(tensorflow/python/autograph/operators/py_builtins.py); all others, and all in unconverted code, see the tensor with Python's own protocols.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Final

from tflint_graph.knowledge.grammar import Notation, parse

NOT_ALLOWED: Final = "tensorflow.errors.OperatorNotAllowedInGraphError"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What happens: one of the fields is set. `raises` is an exception class as errors.py names it, `hangs` says that tracing does not end, `gives` is the
    result."""

    raises: str | None = None
    hangs: bool = False
    gives: Notation | None = None


# Operand kinds:
#   tensor    a tensor of rank 1 or more        scalar    a tensor of rank 0           variable  a tf.Variable of rank 1 or more
#   dataset   a tf.data.Dataset                 iterator  iter(dataset)                tensors   a Python list, tuple or generator of scalar tensors
#   ragged    a RaggedTensor
# builtin | operands | in converted code | in unconverted code (empty: the same). "!X" raises X, "!" alone NOT_ALLOWED, "hang" never ends, else the result.
_ROWS: Final = """
len | tensor | unknown | !TypeError
len | scalar | !ValueError | !TypeError
len | variable | python:int | !TypeError
len | dataset | tensor[int64;scalar] | !TypeError
len | iterator | !TypeError
len | tensors | python:int
len | ragged | python:int | !TypeError
range | scalar | tensor[;vector] | !TypeError
range | tensor variable | !ValueError | !TypeError
range | dataset iterator tensors | !TypeError
int | tensor scalar | tensor[int32;like:0] | !TypeError
int | variable | tensor[int32;like:0] | !AttributeError
float | tensor scalar | tensor[float32;like:0] | !TypeError
float | variable | unknown | !AttributeError
int float | dataset iterator tensors | !TypeError
abs | tensor scalar variable | tensor[like:0;like:0]
abs | dataset | dataset | !TypeError
abs | iterator tensors | !TypeError
bool | tensor scalar variable | !
bool | dataset iterator tensors | python:bool
bool | ragged | !TypeError
complex | tensor scalar dataset iterator tensors ragged | !TypeError
complex | variable | !AttributeError
sorted | tensor variable | tensor[like:0;like:0] | !
sorted | scalar | !ValueError | !
sorted | dataset iterator | hang | !ValueError
sorted | tensors | !
enumerate zip map filter | tensor scalar variable | !
enumerate zip map filter | dataset | dataset | python:object
enumerate zip map filter | iterator tensors ragged | python:object
any all | tensor scalar variable tensors iterator | !
any all | dataset | unknown | !
sum | tensor scalar variable | !
sum | dataset iterator | hang | !ValueError
sum | tensors | tensor
min max | tensor scalar variable tensors dataset iterator | !
reversed | tensor scalar variable dataset iterator ragged | !TypeError
reversed | tensors | python:object
iter | tensor scalar variable | !
iter | dataset iterator | iterator
iter | tensors ragged | python:object
next | tensor scalar variable dataset tensors ragged | !TypeError
next | iterator | unknown
list tuple | tensor scalar variable | !
list tuple | dataset iterator | hang | !ValueError
list | tensors | list*(tensor)
tuple | tensors | tuple*(tensor)
set frozenset | tensor scalar variable | !
set frozenset | dataset iterator tensors | !TypeError
dict | tensor scalar variable | !
round | tensor scalar | !AttributeError
round | variable dataset iterator tensors ragged | !TypeError
pow | tensor scalar variable | tensor[like:0;like:0]
divmod | tensor scalar variable dataset iterator tensors ragged | !TypeError
hash | tensor scalar variable ragged tensors | !TypeError
chr hex bin oct ord bytes | tensor scalar variable ragged | !TypeError
str repr format | tensor scalar variable dataset iterator tensors ragged | python:str
isinstance hasattr callable | tensor scalar variable dataset iterator tensors ragged | python:bool
print | tensor scalar variable dataset iterator tensors ragged | none
functools.reduce | tensor scalar variable | !TypeError
functools.reduce | dataset | hang | !ValueError
functools.reduce | tensors | unknown
itertools.islice | tensor scalar variable | !
itertools.islice | dataset iterator | python:object
itertools.chain itertools.cycle itertools.zip_longest | tensor scalar variable | !
itertools.product itertools.permutations itertools.combinations | tensor scalar variable | !
itertools.accumulate itertools.groupby itertools.takewhile itertools.dropwhile | tensor scalar variable | !
itertools.starmap itertools.filterfalse itertools.compress | tensor scalar variable | !
"""


@functools.cache
def _table() -> dict[tuple[str, str], tuple[Outcome, Outcome]]:
    table: dict[tuple[str, str], tuple[Outcome, Outcome]] = {}
    for line in _ROWS.strip().splitlines():
        names, operands, *outcomes = (field.strip() for field in line.split(" | "))
        converted, unconverted = _outcome(outcomes[0]), _outcome(outcomes[-1])
        for name in names.split():
            for operand in operands.split():
                table[name if "." in name else f"builtins.{name}", operand] = converted, unconverted
    return table


def _outcome(text: str) -> Outcome:
    if text == "hang":
        return Outcome(hangs=True)
    if text.startswith("!"):
        return Outcome(raises=text[1:] or NOT_ALLOWED)
    return Outcome(gives=parse(text))


def outcome(name: str, operand: str, *, converted: bool) -> Outcome | None:
    """What a call of a builtin ("builtins.len", "itertools.chain") does with such an operand as its (first iterable) argument.

    `operand` is a kind from the list above. None where it was not measured or depends on more than that.
    """
    both = _table().get((name, operand))
    return None if both is None else both[0] if converted else both[1]
