"""NumPy, math and operator functions on symbolic tensors: which raise what, and the TensorFlow function to use instead.

The outcomes are measured (numeric.txt, written by generate.py): every function was called with arrays first and then with symbolic tensors in their place.
A NumPy function that needs the values asks the tensor for an array, and TensorFlow refuses: "NotImplementedError: Cannot convert a symbolic tf.Tensor to a
numpy
array". Functions that only slice or only look at `.shape` work.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tflint_graph.knowledge.api import canonical


@dataclass(frozen=True, slots=True)
class Rewrite:
    """`call` is the TensorFlow function. `exact` says that with a float32 tensor as its only argument both mean the same; `extra` is text to append to the
    arguments."""

    call: str
    exact: bool
    extra: str = ""


@functools.cache
def _outcomes() -> dict[str, str]:
    found = {}
    text = (Path(__file__).parent / "numeric.txt").read_text(encoding="utf-8")
    for line in text.splitlines():
        if not line.startswith("#"):
            outcome, _, names = line.partition("\t")
            found.update(dict.fromkeys(names.split(" "), outcome))
    return found


def raises_on_tensor(dotted: str) -> tuple[str, ...]:
    """The exception classes of which one certainly comes when a NumPy, math or operator function gets a symbolic tensor for an array or number; empty if
    none is certain."""
    outcome = _outcomes().get(canonical(dotted), "")
    return tuple(outcome[1:].split("|")) if outcome.startswith("!") else ()


def works_on_tensor(dotted: str) -> str | None:
    """What a function that works on symbolic tensors gives: "tensor", "python", "tuple" ...; None for all others."""
    outcome = _outcomes().get(canonical(dotted), "!")
    return None if outcome.startswith("!") or outcome == "mixed" else outcome


def rewrite(dotted: str) -> Rewrite | None:
    """The TensorFlow function in place of a NumPy or math function."""
    return REWRITES.get(canonical(dotted))


def _rewrites() -> dict[str, Rewrite]:
    table = {}
    for line in _ROWS.strip().splitlines():
        names, call, exact, extra = (field.strip() for field in line.split("|"))
        for name in names.split():
            last = name.rpartition(".")[2]
            table[canonical(name)] = Rewrite(call.replace("*", last), exact == "exact", extra)
    return table


# functions | TensorFlow call ("*": the function's own name) | exact | appended arguments
_ROWS: Final = """
numpy.sum numpy.mean numpy.max numpy.min numpy.prod numpy.any numpy.all | tf.reduce_* | exact |
numpy.amax | tf.reduce_max | exact |
numpy.amin | tf.reduce_min | exact |
numpy.std | tf.math.reduce_std | exact |
numpy.var | tf.math.reduce_variance | exact |
numpy.sqrt numpy.exp numpy.log numpy.abs numpy.sin numpy.cos numpy.tan numpy.tanh numpy.floor | tf.math.* | exact |
numpy.ceil numpy.square numpy.sign numpy.sinh numpy.cosh numpy.log1p numpy.expm1 | tf.math.* | exact |
numpy.absolute | tf.math.abs | exact |
numpy.arcsin | tf.math.asin | exact |
numpy.arccos | tf.math.acos | exact |
numpy.arctan | tf.math.atan | exact |
numpy.arctan2 | tf.math.atan2 | exact |
numpy.negative numpy.maximum numpy.minimum numpy.add numpy.subtract numpy.multiply | tf.math.* | exact |
numpy.equal numpy.not_equal numpy.less numpy.less_equal numpy.greater numpy.greater_equal | tf.math.* | exact |
numpy.logical_and numpy.logical_or numpy.logical_not | tf.math.* | |
numpy.divide numpy.true_divide | tf.math.divide | |
numpy.power | tf.math.pow | |
numpy.mod numpy.remainder | tf.math.floormod | |
numpy.where | tf.where | exact |
numpy.clip | tf.clip_by_value | exact |
numpy.concatenate | tf.concat | | axis=0
numpy.stack | tf.stack | exact |
numpy.expand_dims | tf.expand_dims | exact |
numpy.squeeze numpy.reshape numpy.transpose numpy.tile numpy.zeros_like numpy.ones_like numpy.roll | tf.* | exact |
numpy.broadcast_to | tf.broadcast_to | exact |
numpy.isnan | tf.math.is_nan | exact |
numpy.isinf | tf.math.is_inf | exact |
numpy.isfinite | tf.math.is_finite | exact |
numpy.array numpy.asarray numpy.asanyarray | tf.convert_to_tensor | exact |
numpy.shape | tf.shape | |
numpy.size | tf.size | |
numpy.ndim | tf.rank | |
numpy.argmax numpy.argmin | tf.* | | axis=0
numpy.argsort numpy.sort numpy.cumsum | tf.* | |
numpy.matmul | tf.linalg.matmul | |
numpy.dot | tf.tensordot | | axes=1
numpy.einsum | tf.einsum | exact |
numpy.take | tf.gather | |
numpy.unique | tf.unique | |
numpy.linalg.norm | tf.norm | exact |
numpy.linalg.inv | tf.linalg.inv | exact |
numpy.linalg.det | tf.linalg.det | exact |
numpy.float16 | tf.cast | exact | tf.float16
numpy.float32 | tf.cast | exact | tf.float32
numpy.float64 | tf.cast | exact | tf.float64
numpy.int8 | tf.cast | exact | tf.int8
numpy.int16 | tf.cast | exact | tf.int16
numpy.int32 | tf.cast | exact | tf.int32
numpy.int64 | tf.cast | exact | tf.int64
numpy.uint8 | tf.cast | exact | tf.uint8
numpy.bool_ numpy.bool | tf.cast | exact | tf.bool
math.sqrt math.exp math.sin math.cos math.tan math.tanh math.sinh math.cosh math.asin math.acos math.atan math.atan2 | tf.math.* | exact |
math.log1p math.expm1 math.erf math.lgamma math.pow | tf.math.* | exact |
math.log | tf.math.log | exact |
math.floor math.ceil | tf.math.* | |
math.fabs | tf.math.abs | exact |
math.isnan | tf.math.is_nan | exact |
math.isinf | tf.math.is_inf | exact |
math.isfinite | tf.math.is_finite | exact |
"""

REWRITES: Final = _rewrites()
