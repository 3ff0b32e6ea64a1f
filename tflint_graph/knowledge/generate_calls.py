"""Measure what a function returns: call it in a graph with many arguments and look at the results. Only `generate.py` uses this module.

A function is first called with every combination of plausible values for its required parameters until some calls succeed; then the successful calls are
varied:
other dtypes, other ranks, Python numbers and arrays in place of tensors. A rule ("dtype of parameter 0") is accepted only if it holds in every successful
call
and if the calls could have refuted it.
"""

from __future__ import annotations

import inspect
import itertools
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np  # type: ignore[import-not-found,import-untyped,unused-ignore]
import tensorflow as tf  # type: ignore[import-not-found,import-untyped,unused-ignore]
from tensorflow.python.framework import func_graph  # type: ignore[import-not-found,import-untyped,unused-ignore]

TIME_PER_FUNCTION = 3.0  # seconds of processor time, so that a busy machine measures the same
MOST_TRIES = 250
FLOAT, INT, LONG, BOOL, STRING = "float32", "int32", "int64", "bool", "string"


@dataclass(frozen=True)
class Sym:
    """A symbolic tensor to be made in the graph at hand: dtype, and shape (None: unknown rank)."""

    dtype: str
    shape: tuple[int | None, ...] | None

    def make(self, concrete: bool = False) -> Any:
        """A placeholder in the current graph, or an array of that shape."""
        if not concrete:
            return tf.compat.v1.placeholder(getattr(tf, self.dtype), self.shape)
        if self.shape is None or None in self.shape or self.dtype in ("string", "bfloat16"):
            raise ValueError("no such array")
        sizes = tuple(size for size in self.shape if size is not None)
        array = np.ones(sizes, self.dtype)
        if len(sizes) > 1 and sizes[-1] == sizes[-2] and self.dtype != "bool":
            array += np.eye(sizes[-1], dtype=self.dtype)  # not singular, so that it has an inverse
        return array if sizes else array[()]


@dataclass(frozen=True)
class Syms:
    """A list of symbolic tensors."""

    items: tuple[Any, ...]

    def make(self, concrete: bool = False) -> Any:
        return [item.make(concrete) for item in self.items]


@dataclass
class Sample:
    """One successful call."""

    args: tuple[Any, ...]
    keywords: dict[str, Any]
    result: Any
    changed: str


@dataclass
class Measured:
    """All that was seen of one function."""

    params: list[str] = field(default_factory=list)
    samples: list[Sample] = field(default_factory=list)
    error: str = ""
    concrete: bool = False


M23, V3, S0 = Sym(FLOAT, (2, 3)), Sym(FLOAT, (3,)), Sym(FLOAT, ())
IMAGES, SQUARE = Sym(FLOAT, (2, 8, 8, 3)), Sym(FLOAT, (2, 3, 3))
ANY_TENSOR: tuple[Any, ...] = (
    M23, Sym(INT, (2, 3)), SQUARE, IMAGES, V3, Sym(INT, (3,)), Sym(STRING, (3,)), Sym(STRING, ()), Sym("complex64", (2, 3)), Sym(BOOL, (2, 3)), S0, Sym(INT,
    ()),
    Sym(LONG, (2, 3)), Sym("uint8", (2, 8, 8, 3)), Sym(FLOAT, (2, 8, 3)), Sym(FLOAT, (2, 4, 8, 8, 3)),
)  # fmt: skip
OTHER: tuple[Any, ...] = (Syms((M23, M23, M23)), Syms((M23, M23)), 1, 0, [2, 3], "SAME")

# Plausible values by parameter name, best first.
BY_NAME: dict[str, tuple[Any, ...]] = {
    "axis": (0, -1, 1), "axes": ([0], [0, 1], 1), "dim": (0,), "dims": ([2, 3],), "axis1": (0,), "axis2": (1,), "perm": ([1, 0],), "source": (0, M23),
    "destination": (1,),
    "shape": ([2, 3], [4], Sym(INT, (2,))), "newshape": ([3, 2],), "output_shape": ([2, 16, 16, 3], [2, 3]), "size": ([4, 4], [2, 2, 3], 2, [1, 1]),
    "sizes": (2,),
    "multiples": ([2, 2],), "repeats": (2,), "paddings": ([[1, 1], [0, 0]],), "pad_width": ([[1, 1], [0, 0]],), "begin": ([0, 0],), "end": ([1, 1],),
    "strides": (1, [1, 1], [1, 1, 1, 1]),
    "ksize": (2,), "pool_size": (2,), "kernel_size": (2,), "padding": ("SAME", "valid", [[0, 0], [0, 0]]), "pooling_type": ("MAX",), "window_shape": ([2,
    2],), "block_size": (2,), "block_shape": ([2, 2],), "crops": ([[0, 0], [0, 0]],),
    "dtype": ("float32", tf.float32), "out_type": (tf.float32, tf.int32), "output_type": (tf.int32,), "Tout": (tf.float32,), "type": (tf.uint8,),
    "target_dtype": ("float32",),
    "condition": (Sym(BOOL, (2, 3)),), "cond": (Sym(BOOL, (2, 3)),), "mask": (Sym(BOOL, (2, 3)), Sym(BOOL, (2,))), "pred": (Sym(BOOL, ()),),
    "where": (Sym(BOOL, (2, 3)),),
    "indices": (Sym(INT, (2,)), Sym(INT, (2, 1)), Sym(LONG, (2, 2)), Sym(INT, (2, 3))), "ids": (Sym(INT, (2,)),), "segment_ids": (Sym(INT, (2,)),),
    "num_segments": (2,), "updates": (Sym(FLOAT, (2, 3)), V3, Sym(FLOAT, (2,))),
    "depth": (3,), "k": (1,), "n": (1, 2, 3), "num": (3,), "num_classes": (3,), "num_or_size_splits": ([1, 1], 1), "num_buckets": (5,), "length": (3,),
    "maxlen": (3,), "N": (3,), "M": (3,),
    "seed": ([1, 2], 1), "minval": (0.0,), "maxval": (1.0,), "lam": (1.0,), "alpha": (1.0,), "beta": (1.0,), "counts": (Sym(FLOAT, ()), 5), "probs": (0.5,),
    "num_samples": (2,), "rate": (0.5,), "low": (0.0,), "high": (1.0,), "mean": (0.0, V3), "variance": (1.0, V3), "offset": (0.0, V3, None), "scale": (1.0,
    V3, None), "variance_epsilon": (0.001,), "keep_prob": (0.5,),
    "filters": (Sym(FLOAT, (3, 3, 3, 4)), Sym(FLOAT, (3, 3, 4)), Sym(FLOAT, (3, 3, 3, 3, 4))), "filter": (Sym(FLOAT, (3, 3, 3, 4)), Sym(FLOAT, (3, 3, 4)),
    Sym(FLOAT, (3, 3, 3, 3, 4))), "kernel": (Sym(FLOAT, (3, 3, 3, 4)),), "bias": (V3,), "biases": (V3,), "depthwise_filter": (Sym(FLOAT, (3, 3, 3, 1)),),
    "pointwise_filter": (Sym(FLOAT, (1, 1, 3, 4)),), "depthwise_kernel": (Sym(FLOAT, (3, 3, 3, 1)),), "pointwise_kernel": (Sym(FLOAT, (1, 1, 3, 4)),),
    "filter_sizes": ([3, 3, 3, 4],), "input_sizes": ([2, 8, 8, 3],),
    "equation": ("ij,ij->ij",), "subscripts": ("ij,ij->ij",), "inputs": (M23, Syms((M23, M23, M23)), SQUARE, IMAGES, Sym(STRING, (3,)), Syms((Sym(STRING,
    (3,)), Sym(STRING, (3,))))), "values": (Syms((M23, M23, M23)), M23, V3, Sym(INT, (3,)), Sym(STRING, (3,))), "arrays": (Syms((M23, M23, M23)), M23),
    "tensors": (Syms((M23, M23, M23)),), "tup": (Syms((M23, M23, M23)),), "seq": (Syms((M23, M23, M23)),), "choices": (Syms((M23, M23, M23)),), "data": (M23,
    Syms((M23, M23, M23)), Sym(INT, (2, 3)), SQUARE),
    "xs": (Syms((M23, M23, M23)), M23), "params": (M23, Syms((M23, M23, M23))), "t_list": (Syms((M23, M23, M23)),), "elems": (M23,),
    "contents": (Sym(STRING, ()),), "filename": (Sym(STRING, ()),), "pattern": ("a.*",), "rewrite": ("b",), "input_bytes": (Sym(STRING, (3,)),),
    "serialized": (Sym(STRING, ()), Sym(STRING, (3,))), "message": ("x",), "separator": (",",), "sep": (",",), "string_tensor": (Sym(STRING, (3,)),),
    "template": ("{}",),
    "image": (Sym(FLOAT, (8, 8, 3)), Sym("uint8", (8, 8, 3)), IMAGES), "images": (IMAGES, Sym("uint8", (2, 8, 8, 3))), "boxes": (Sym(FLOAT, (2, 4)),
    Sym(FLOAT, (2, 2, 4))), "scores": (Sym(FLOAT, (2,)),), "box_indices": (Sym(INT, (2,)),), "crop_size": ([4, 4],), "max_output_size": (2,),
    "central_fraction": (0.5,), "delta": (0.1,), "max_delta": (0.1,), "lower": (0.1, 0), "upper": (0.5, 1), "contrast_factor": (2.0,),
    "saturation_factor": (2.0,), "offset_height": (0,), "offset_width": (0,), "target_height": (4,), "target_width": (4,), "max_val": (1.0,),
    "bboxes": (Sym(FLOAT, (2, 2, 4)),), "quality": (90,), "min_jpeg_quality": (50,), "max_jpeg_quality": (90,), "jpeg_quality": (90,), "gamma": (1.0,),
    "image1": (IMAGES,), "image2": (IMAGES,), "img1": (IMAGES,), "img2": (IMAGES,), "transforms": (Sym(FLOAT, (8,)),),
    "clip_value_min": (0.0,), "clip_value_max": (1.0,), "clip_norm": (1.0,), "x_min": (0.0,), "x_max": (1.0,), "a_min": (0.0,), "a_max": (1.0,),
    "min": (0.0,), "max": (1.0,), "value_range": ([0.0, 1.0],), "num_lower": (1,), "num_upper": (1,), "diagonal": (V3, M23), "diag": (V3,),
    "matrix": (SQUARE, M23), "chol": (SQUARE,), "rhs": (Sym(FLOAT, (2, 3, 1)),), "num_rows": (3,), "num_columns": (3,),
    "start": (0, 0.0), "stop": (5, 1.0), "limit": (5,), "lengths": (Sym(INT, (3,)),), "seq_lengths": (Sym(INT, (2,)),), "seq_length": (Sym(INT, (2,)),),
    "seq_axis": (1,), "shift": (1,), "frame_length": (2,), "frame_step": (1,), "window_length": (8,), "fft_length": ([3], [2, 3]),
    "sequence_length": (Sym(INT, (2,)), 2), "sequence_stride": (1,), "name": ("x",), "fill_value": (0.0,), "fill": (0.0,),
    "predictions": (M23, Sym(FLOAT, (2, 3))), "targets": (Sym(INT, (2,)), M23), "labels": (M23, Sym(INT, (2,))), "logits": (M23,), "y_true": (M23, Sym(INT,
    (2,))), "y_pred": (M23,), "sorted_sequence": (M23, V3), "boundaries": ([0.0, 1.0],), "bins": ([0.0, 1.0], 3), "ord": (2,), "norm": (1.0,),
    "num_heads": (2,), "sections": (1,), "indices_or_sections": (1,), "obj": (0,), "new_dtype": ("float32",), "low_bound": (0,),
}  # fmt: skip


class Timeout(Exception):
    """A function took too long to trace."""


def _alarm(*_: object) -> None:
    raise Timeout


def measure(function: Callable[..., Any], reads: Callable[[Any], Any], *, concrete: bool = False) -> Measured:
    """Call the function in many ways. `reads` turns a result into plain data while its graph lives. `concrete` passes arrays instead of symbolic tensors."""
    measured = Measured(concrete=concrete)
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        count = getattr(function, "nin", None)  # NumPy's ufuncs had no signature before 2.4
        if count is None:
            measured.error = "no signature"
            return measured
        names = [inspect.Parameter(f"x{at}", inspect.Parameter.POSITIONAL_ONLY) for at in range(count)]
        signature = inspect.Signature(names)
    measured.params = spell_parameters(signature)
    signal.signal(signal.SIGPROF, _alarm)
    signal.setitimer(signal.ITIMER_PROF, TIME_PER_FUNCTION / 3 if concrete else TIME_PER_FUNCTION)
    try:
        _search(function, signature, measured, reads)
    except Timeout:
        measured.error = measured.error or "timeout"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return measured


def spell_parameters(signature: inspect.Signature) -> list[str]:
    """Parameter names as api.Api.params has them."""
    names: list[str] = []
    starred = False
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            names.append(f"*{parameter.name}")
            starred = True
        elif parameter.kind is parameter.VAR_KEYWORD:
            names.append(f"**{parameter.name}")
        else:
            if parameter.kind is parameter.KEYWORD_ONLY and not starred:
                names.append("*")
                starred = True
            names.append(parameter.name)
    return names


def _search(function: Callable[..., Any], signature: inspect.Signature, measured: Measured, reads: Callable[[Any], Any]) -> None:
    positional = [p for p in signature.parameters.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    required = [p for p in positional if p.default is p.empty]
    if not required and [p.name for p in positional[:2]] == ["labels", "logits"]:
        required = positional[:2]  # optional in the signature only
    keyword_only = {p.name: BY_NAME.get(p.name, (1,))[0] for p in signature.parameters.values() if p.default is p.empty and p.kind is p.KEYWORD_ONLY}
    if not required and any(p.kind is p.VAR_POSITIONAL for p in signature.parameters.values()):
        tries: Iterator[tuple[Any, ...]] = iter([(M23,), (M23, M23), ([2, 3],), ("ij,ij->ij", M23, M23), (1,), ()])
    else:
        tries = _combinations([p.name for p in required])
    bases: list[Sample] = []
    started = time.process_time()
    for count, args in enumerate(tries):
        if count >= MOST_TRIES or len(bases) >= 2 or (bases and time.process_time() - started > TIME_PER_FUNCTION / 4):
            break
        if any(_same_syms(args, base.args) for base in bases):
            continue
        sample = _call(function, args, keyword_only, reads, "base", measured)
        if sample is not None:
            bases.append(sample)
            measured.samples.append(sample)
    if bases:
        measured.error = ""
    for base in bases:
        for args, keywords, changed in _variations(base, signature):
            sample = _call(function, args, {**keyword_only, **keywords}, reads, changed, measured)
            if sample is not None:
                measured.samples.append(sample)


def _same_syms(one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    """Both calls pass tensors of the same dtypes and ranks, so the second teaches nothing new."""
    return [_key(a) for a in one] == [_key(a) for a in other]


def _key(value: Any) -> Any:
    if isinstance(value, Sym):
        return (value.dtype, None if value.shape is None else len(value.shape))
    return "list" if isinstance(value, Syms) else "static"


def _combinations(names: list[str]) -> Iterator[tuple[Any, ...]]:
    """Argument tuples, plausible ones first: all parameters with the same tensor, then each from its own list."""
    if not names:
        yield ()
        return
    own = [BY_NAME.get(name, ANY_TENSOR) for name in names]
    for tensor in ANY_TENSOR[:10]:
        yield tuple(choices[0] if choices is not ANY_TENSOR else tensor for choices in own)
    yield from itertools.islice(itertools.product(*(choices if choices is not ANY_TENSOR else (*ANY_TENSOR, *OTHER) for choices in own)), MOST_TRIES)
    for index in range(len(names)):  # a name may mislead: tensors and lists in place of the first guess
        for value in (*ANY_TENSOR, *OTHER):
            yield tuple(value if at == index else choices[0] for at, choices in enumerate(own))


def _call(
    function: Callable[..., Any], args: tuple[Any, ...], keywords: dict[str, Any], reads: Callable[[Any], Any], changed: str, measured: Measured
) -> Sample | None:
    graph = func_graph.FuncGraph("measured")
    try:
        with graph.as_default():
            made = [arg.make(measured.concrete) if isinstance(arg, (Sym, Syms)) else arg for arg in args]
            named = {key: arg.make(measured.concrete) if isinstance(arg, (Sym, Syms)) else arg for key, arg in keywords.items()}
            result = reads(function(*made, **named))
    except Timeout:
        raise
    except BaseException as error:
        measured.error = measured.error or f"{type(error).__name__}: {str(error).strip()[:80]}"
        return None
    return Sample(args, keywords, result, changed)


DTYPE_PARAMETERS = ("dtype", "out_type", "output_type", "output_dtype", "out_idx")
DTYPES = ("float32", "float64", "float16", "bfloat16", "int32", "int64", "uint8", "bool", "complex64", "complex128", "string")
SHAPES: tuple[tuple[int | None, ...] | None, ...] = ((), (4,), (2, 3), (5, 2), (2, 3, 5), (None, 3), None)


def _variations(base: Sample, signature: inspect.Signature) -> Iterator[tuple[tuple[Any, ...], dict[str, Any], str]]:
    args = base.args
    tensors = [index for index, arg in enumerate(args) if isinstance(arg, (Sym, Syms))]
    for dtype in DTYPES:
        yield tuple(_with_dtype(arg, dtype) for arg in args), {}, "dtype"
        if len(tensors) > 1:
            for index in tensors:
                yield tuple(_with_dtype(arg, dtype) if at == index else arg for at, arg in enumerate(args)), {}, "dtype"
    for shape in SHAPES:
        yield tuple(_with_shape(arg, shape) for arg in args), {}, "shape"
        if len(tensors) > 1:
            for index in tensors:
                yield tuple(_with_shape(arg, shape) if at == index else arg for at, arg in enumerate(args)), {}, "shape"
    if len(tensors) == 2:
        first = tensors[0]
        for one, two in (((3,), (2, 3)), ((2, 3), (3,)), ((2, 1), (1, 3)), ((), (2, 3))):
            yield tuple(_with_shape(arg, one if at == first else two) if at in tensors else arg for at, arg in enumerate(args)), {}, "shape"
    for index in tensors:
        for static in (2, 1.5, True, [1.0, 2.0], np.ones((2, 3), np.float32), np.float32(1.0), "a"):
            yield tuple(static if at == index else arg for at, arg in enumerate(args)), {}, "static"
    for static in (2, 1.5, np.ones((2, 3), np.float32)):
        yield tuple(static if at in tensors else arg for at, arg in enumerate(args)), {}, "static"
    yield from _named_variations(args, signature)


def _named_variations(args: tuple[Any, ...], signature: inspect.Signature) -> Iterator[tuple[tuple[Any, ...], dict[str, Any], str]]:
    names = list(signature.parameters)
    for name in DTYPE_PARAMETERS:
        if name in names:
            for dtype in ("float64", "int32", "int64", "float32", "int8"):
                value = getattr(tf, dtype)
                if (at := names.index(name)) < len(args):
                    yield (*args[:at], value, *args[at + 1 :]), {}, f"param:{name}:{dtype}"
                else:
                    yield args, {name: value}, f"param:{name}:{dtype}"
    yield from _optional_variations(args, signature)
    for at, arg in enumerate(args):
        for other in _other_settings(arg):
            yield (*args[:at], other, *args[at + 1 :]), {}, "setting"
    for name in ("shape", "dims", "output_shape"):
        if name in names and (at := names.index(name)) < len(args):
            for shape in ([4], [3, 2], [2, 3], [1, 2, 3], []):
                yield (*args[:at], shape, *args[at + 1 :]), {}, "value"
    if "axis" in names and names.index("axis") >= len(args):
        yield args, {"axis": 0}, "axis:0"
        yield args, {"axis": 1}, "axis:1"
        yield args, {"axis": [0, 1]}, "axis:01"
        if "keepdims" in names:
            yield args, {"keepdims": True}, "keepdims"
            yield args, {"axis": 0, "keepdims": True}, "axis:0:keepdims"


def _other_settings(arg: Any) -> tuple[Any, ...]:
    """Other values for a static argument: strides, window sizes, padding."""
    if isinstance(arg, (bool, float)) or arg is None:
        return ()
    if isinstance(arg, int):
        return (arg + 1,)
    if arg == "SAME":
        return ("VALID",)
    if isinstance(arg, list) and arg and all(isinstance(item, int) for item in arg):
        return ([item + 1 for item in arg], [*arg[:-1], arg[-1] + 1])
    return ()


def _optional_variations(args: tuple[Any, ...], signature: inspect.Signature) -> Iterator[tuple[tuple[Any, ...], dict[str, Any], str]]:
    """Give each optional parameter in turn: the other flag, another number, a plausible value for None."""
    for at, (name, parameter) in enumerate(signature.parameters.items()):
        if at < len(args) or parameter.default is parameter.empty or name in (*DTYPE_PARAMETERS, "axis", "keepdims", "name"):
            continue
        default = parameter.default
        values: tuple[Any, ...] = ()
        if isinstance(default, bool):
            values = (not default,)
        elif isinstance(default, (int, float)):
            values = (default + 1, default / 2)
        elif default is None:
            values = (*BY_NAME.get(name, ()), M23, S0, V3, 1, True, ([2, 3]))
        for value in values:
            yield args, {name: value}, f"option:{name}"
    required = [p for p in signature.parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
    if len(args) == 1 and len(required) > 2 and required[1].default is None and required[2].default is None:
        # tf.where(condition, x, y), tf.range(start, limit): two optional parameters that go together
        for one, two in ((M23, M23), (Sym("int64", (2, 3)), Sym("int64", (2, 3))), (5, 1), (5.0, 1.0)):
            yield args, {required[1].name: one, required[2].name: two}, f"option:{required[1].name}"


def _with_dtype(arg: Any, dtype: str) -> Any:
    if isinstance(arg, Sym):
        return Sym(dtype, arg.shape)
    return Syms(tuple(_with_dtype(item, dtype) for item in arg.items)) if isinstance(arg, Syms) else arg


def _with_shape(arg: Any, shape: tuple[int | None, ...] | None) -> Any:
    if isinstance(arg, Sym):
        return Sym(arg.dtype, shape)
    return Syms(tuple(_with_shape(item, shape) for item in arg.items)) if isinstance(arg, Syms) else arg
