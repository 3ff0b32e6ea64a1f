"""Measure what NumPy, math and operator functions do with a symbolic tensor. Only `generate.py` uses this module.

Each function is first called with arrays (or numbers) until calls succeed; the same calls are then made in a graph with symbolic tensors in their place.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np  # type: ignore[import-not-found,import-untyped,unused-ignore]
from tensorflow.python.framework import func_graph  # type: ignore[import-not-found,import-untyped,unused-ignore]

from tflint_graph.knowledge.generate_calls import Measured, Sample, Sym, Syms, measure

NOT_CALLED = frozenset(
    "save savez savez_compressed savetxt load loadtxt fromfile genfromtxt fromregex memmap seterr seterrcall set_printoptions "
    "setbufsize info test show_config show_runtime printoptions "
    "errstate get_include nested_iters from_dlpack seed set_state get_state bytes frombuffer fromiter fromstring frompyfunc vectorize "
    "apply_along_axis apply_over_axes fromfunction "
    "piecewise putmask put place copyto put_along_axis fill_diagonal shuffle set_bit_generator get_bit_generator isdtype "
    "getbufsize geterr geterrcall get_printoptions busday_count".split()
)


def measure_function(name: str, function: Callable[..., Any], reads: Callable[[Any], Any]) -> tuple[Measured, str]:
    """What the function returns for arrays, and in one word what it does with symbolic tensors (see `symbolic`)."""
    if name.startswith(("math.", "operator.")):
        measured = _measure_numbers(function, reads)
    else:
        measured = measure(function, reads, concrete=True)
        if not any(isinstance(arg, (Sym, Syms)) for sample in measured.samples for arg in sample.args):
            _add_first_argument(function, measured, reads)
    return measured, symbolic(function, measured.samples, reads)


def _measure_numbers(function: Callable[..., Any], reads: Callable[[Any], Any]) -> Measured:
    measured = Measured(concrete=True)
    try:
        measured.params = [p.name for p in inspect.signature(function).parameters.values()]
    except (TypeError, ValueError):
        measured.params = []
    for dtype, number in (("float32", 0.5), ("int32", 3)):
        for count in (1, 2, 3):
            try:
                result = reads(function(*[number] * count))
            except Exception:
                continue
            measured.samples.append(Sample((Sym(dtype, ()),) * count, {}, result, "base"))
    return measured


def _add_first_argument(function: Callable[..., Any], measured: Measured, reads: Callable[[Any], Any]) -> None:
    """For functions without required parameters and types without a signature: a number or an array as the first argument."""
    for arg in (Sym("float32", ()), Sym("float32", (3,)), Sym("int32", (3,))):
        try:
            result = reads(function(arg.make(concrete=True)))
        except Exception:
            continue
        measured.samples.append(Sample((arg,), {}, result, "base"))


def symbolic(function: Callable[..., Any], samples: list[Sample], reads: Callable[[Any], Any]) -> str:
    """ "!X" when every call with symbolic tensors raises X ("!X|Y": one of them), the kind of the result when every call works alike, "mixed", or "" without
    evidence."""
    outcomes = set()
    for sample in samples:
        if sample.changed != "base" or not any(isinstance(arg, (Sym, Syms)) for arg in sample.args):
            continue
        with func_graph.FuncGraph("symbolic").as_default():
            try:
                made = [arg.make() if isinstance(arg, (Sym, Syms)) else arg for arg in sample.args]
                named = {key: arg.make() if isinstance(arg, (Sym, Syms)) else arg for key, arg in sample.keywords.items()}
                outcomes.add(str(reads(function(*made, **named))[0]))
            except Exception as error:
                outcomes.add(f"!{type(error).__name__}")
    if not outcomes:
        return ""
    if all(outcome.startswith("!") for outcome in outcomes):
        return "!" + "|".join(sorted(outcome[1:] for outcome in outcomes))
    return outcomes.pop() if len(outcomes) == 1 else "mixed"


def functions(objects: dict[str, Any]) -> dict[str, Callable[..., Any]]:
    """The NumPy, math and operator functions to measure, scalar types included, by canonical name."""
    found = {}
    for name, value in objects.items():
        last = name.rpartition(".")[2]
        if not callable(value) or last in NOT_CALLED or last.startswith("set_"):
            continue
        if name.startswith(("numpy.", "math.", "operator.")) and (
            not isinstance(value, type) or (issubclass(value, np.generic) and value.__name__ not in ("generic", "void"))
        ):
            found[name] = value
    return found
