"""From measured calls to one line of the table: which VALUE (see grammar.py) is true of every call. Only `generate.py` uses this module.

A result is described as nested tuples: ("tensor", dtype, shape, ragged), ("python", type), ("list" | "tuple", (items...)), ("none",), ("instance", class)
...; a shape
is a tuple whose entries may be None, or None for an unknown rank.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tflint_graph.knowledge.generate_calls import Measured, Sample, Sym, Syms

Description = tuple[Any, ...]


def settle(measured: Measured) -> tuple[str | None, list[str]]:
    """The VALUE that holds in all calls, None when they disagree or none succeeded; and the optional parameters that, when given, change the kind of
    result."""
    samples = measured.samples
    plain = {_outline(sample.result) for sample in samples if not sample.changed.startswith("option:")}
    unless = sorted({sample.changed.split(":")[1] for sample in samples if sample.changed.startswith("option:") and _outline(sample.result) not in plain})
    kept = [sample for sample in samples if not (sample.changed.startswith("option:") and sample.changed.split(":")[1] in unless)]
    value = _settle([_Observed(sample, sample.result) for sample in kept], measured.params) if kept else None
    return value, unless if value else []


def _outline(result: Description) -> tuple[Any, ...]:
    """The kind of a result and of the members of a tuple, and whether it is ragged."""
    if result[0] == "tuple":
        return ("tuple", *(_outline(item) for item in result[1]))
    return (result[0], result[3] if result[0] == "tensor" else None)


class _Observed:
    """A call and the part of its result that is looked at."""

    def __init__(self, sample: Sample, result: Description) -> None:
        self.sample = sample
        self.result = result

    @property
    def args(self) -> tuple[Any, ...]:
        return self.sample.args


def _settle(observed: list[_Observed], params: list[str]) -> str | None:
    kinds = {o.result[0] for o in observed}
    if len(kinds) != 1:
        return None
    kind = kinds.pop()
    if kind == "tensor":
        return _settle_tensor(observed, params)
    if kind == "python":
        return "python:" + "|".join(sorted({o.result[1] for o in observed}))
    if kind == "instance":
        classes = {o.result[1] for o in observed}
        return f"instance:{classes.pop()}" if len(classes) == 1 else None
    if kind in ("list", "tuple"):
        return _settle_sequence(kind, observed, params)
    return str(kind)


def _settle_sequence(kind: str, observed: list[_Observed], params: list[str]) -> str | None:
    """A tuple always of the same length has a fixed structure; lists depend on the arguments, so all that is said of them is what every element is."""
    lengths = {len(o.result[1]) for o in observed}
    if kind == "tuple" and len(lengths) == 1:
        parts = [_settle([_Observed(o.sample, o.result[1][at]) for o in observed], params) or "unknown" for at in range(lengths.pop())]
        return f"{kind}({','.join(parts)})"
    members = [_Observed(o.sample, item) for o in observed for item in o.result[1]]
    element = _settle(members, params) if members else None
    return f"{kind}*({element})" if element else kind


def _settle_tensor(observed: list[_Observed], params: list[str]) -> str | None:
    ragged = {o.result[3] for o in observed}
    dtype, shape = _dtype(observed, params), _shape(observed, params)
    types = f"[{dtype or ''};{shape or ''}]" if dtype or shape else ""
    flag = ragged.pop() if len(ragged) == 1 else "maybe"
    return f"tensor{types}{'/' + flag if flag else ''}"


def _tensor(arg: Any) -> Sym | None:
    """The tensor at an argument; for a list the tensor that its items would make together."""
    if isinstance(arg, Syms):
        first = arg.items[0]
        return Sym(first.dtype, None if first.shape is None else (len(arg.items), *first.shape))
    return arg if isinstance(arg, Sym) else None


def _dtype(observed: list[_Observed], params: list[str]) -> str | None:
    named = {o.sample.changed.split(":")[1] for o in observed if o.sample.changed.startswith("param:")}
    plain = [o for o in observed if not o.sample.changed.startswith("param:")]
    rule = _plain_dtype(plain)
    for name in sorted(named):
        passed = [o for o in observed if o.sample.changed.startswith(f"param:{name}:")]
        if len({o.result[1] for o in passed}) > 1 and all(o.result[1] == o.sample.changed.split(":")[2] for o in passed):
            required = name in params and all(params.index(name) < len(o.args) for o in passed)
            return f"param:{name}:" if required else f"param:{name}:{rule or ''}"
        if len({o.result[1] for o in passed}) > 1:
            return None
    return rule


def _plain_dtype(observed: list[_Observed]) -> str | None:
    if not observed:
        return None
    alike: list[int] = []
    for at in range(max(len(o.args) for o in observed)):
        pairs = [(tensor.dtype, o.result[1]) for o in observed if at < len(o.args) and (tensor := _tensor(o.args[at])) is not None]
        if len({given for given, _ in pairs}) > 1 and all(given == got for given, got in pairs):
            alike.append(at)
    if alike:  # several parameters that must agree: one of them may be a Python number, which takes the dtype of the others
        return f"like:{alike[0]}" if len(alike) == 1 else f"agree:{':'.join(map(str, alike))}"
    seen = {o.result[1] for o in observed}
    tensors = {tuple(t.dtype for arg in o.args if (t := _tensor(arg))) for o in observed}
    # One dtype, whatever went in: a fact about the function, unless static arguments alone decided it and they were never varied.
    if len(seen) != 1 or (tensors == {()} and any(o.args for o in observed)):
        return None
    return str(seen.pop())


def _shape(observed: list[_Observed], params: list[str]) -> str | None:
    if _is_reduction(observed):
        return "reduce"
    plain = [o for o in observed if not o.sample.changed.startswith(("axis", "keepdims"))]
    inputs = {tuple(t.shape for arg in o.args if (t := _tensor(arg))) for o in plain}
    varied = len(inputs) > 2
    named = [o for o in observed if o.sample.changed.startswith(("axis", "keepdims"))]
    everywhere = plain + named
    for at in range(max((len(o.args) for o in plain), default=0)):
        pairs = [(tensor.shape, o.result[2]) for o in everywhere if at < len(o.args) and (tensor := _tensor(o.args[at])) is not None]
        if len({given for given, _ in pairs}) > 2 and all(given == got for given, got in pairs):
            return f"like:{at}"
    if broadcast := _broadcast(plain):
        return broadcast
    for at, name in enumerate(params):
        if name.lstrip("*") in ("shape", "dims", "output_shape"):
            pairs = [(tuple(o.args[at]), o.result[2]) for o in plain if at < len(o.args) and isinstance(o.args[at], list)]
            if len({given for given, _ in pairs}) > 2 and all(given == got for given, got in pairs):
                return f"value:{at}"
    ranks = {None if o.result[2] is None else len(o.result[2]) for o in everywhere}
    if "axis" in params and not named:
        return None  # what an axis does could not be seen
    input_ranks = {tuple(None if shape is None else len(shape) for shape in shapes) for shapes in inputs}
    varied = varied and len({ranks for ranks in input_ranks if None not in ranks}) > 1
    if ranks == {0} and (varied or not any(o.args for o in plain)):
        return "scalar"
    return "vector" if ranks == {1} and varied else None


def _is_reduction(observed: list[_Observed]) -> bool:
    """Scalar without axis, the axis removed with one, ranks kept with keepdims."""
    by_change: dict[str, list[_Observed]] = {}
    for o in observed:
        by_change.setdefault(o.sample.changed, []).append(o)
    if not by_change.get("axis:0") or any(o.result[2] != () for key in ("base", "dtype", "shape", "static") for o in by_change.get(key, ())):
        return False

    def expected(change: str, shape: Callable[[tuple[Any, ...]], tuple[Any, ...]]) -> bool:
        return all(o.result[2] == shape(t.shape) for o in by_change.get(change, ()) if (t := _tensor(o.args[0])) is not None and t.shape)

    return expected("axis:0", lambda s: s[1:]) and expected("keepdims", lambda s: (1,) * len(s)) and expected("axis:0:keepdims", lambda s: (1, *s[1:]))


def _broadcast(observed: list[_Observed]) -> str | None:
    import tensorflow as tf  # type: ignore[import-not-found,import-untyped,unused-ignore]

    mixed = 0
    for o in observed:
        tensors = [t for arg in o.args if (t := _tensor(arg)) is not None]
        if len(tensors) < 2 or any(t.shape is None or None in t.shape for t in tensors):
            continue
        shape = tf.TensorShape(tensors[0].shape)
        for other in tensors[1:]:
            try:
                shape = tf.broadcast_static_shape(shape, tf.TensorShape(other.shape))
            except ValueError:
                return None
        if o.result[2] != tuple(shape.as_list()):
            return None
        mixed += len({t.shape for t in tensors}) > 1
    return "broadcast" if mixed > 1 else None
