"""The one-line notation in which the data files say what a call returns.

VALUE  = KIND [ "*" ] [ "(" VALUE { "," VALUE } ")" ] [ "[" DTYPE ";" SHAPE "]" ] [ "/" RAGGED ] [ ":" DETAIL ]

tensor                          a tensor, dtype and shape unknown
tensor[float32;scalar]          a float32 scalar
tensor[like:0;reduce]           dtype of parameter 0, shape by the axis and keepdims parameters
tensor[agree:0:1;broadcast]     dtype of parameters 0 and 1, which must agree; shape by broadcasting
tensor/ragged                   a RaggedTensor
tuple(tensor,tensor[int32;])    a tuple (or namedtuple) of exactly these
list*(tensor)                   a list of tensors, as many as the arguments say
python:TensorShape              a Python object of that type
instance:keras.Model            an instance of that class
same:0                          whatever parameter 0 is
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_HEAD = re.compile(r"([a-z]+)(\*?)")
_TYPE = re.compile(r"\[([^;\]]*);([^\]]*)\]")
_RAGGED = re.compile(r"/([a-z]+)")
_DETAIL = re.compile(r":([^,()\[\]]+)")


@dataclass(frozen=True, slots=True)
class Notation:
    """A parsed VALUE. `parts` are the outputs of fixed structure; `element` stands for all of a list of unknown length."""

    kind: str
    detail: str | None = None
    parts: tuple[Notation, ...] | None = None
    element: Notation | None = None
    dtype: str | None = None
    shape: str | None = None
    ragged: str | None = None


def parse(text: str) -> Notation:
    """Read one VALUE. Raises ValueError on anything else."""
    value, end = _parse_at(text, 0)
    if end != len(text):
        raise ValueError(f"unexpected {text[end:]!r} in {text!r}")
    return value


def _parse_at(text: str, at: int) -> tuple[Notation, int]:
    head = _HEAD.match(text, at)
    if head is None:
        raise ValueError(f"expected a kind at {text[at:]!r} in {text!r}")
    at = head.end()
    children: list[Notation] | None = None
    if text.startswith("(", at):
        children = []
        while text[at] != ")":
            if text.startswith(")", at + 1):
                at += 1
                break
            child, at = _parse_at(text, at + 1)
            children.append(child)
            if at >= len(text) or text[at] not in ",)":
                raise ValueError(f"expected ',' or ')' in {text!r}")
        at += 1
    dtype = shape = ragged = detail = None
    if typed := _TYPE.match(text, at):
        dtype, shape, at = typed[1] or None, typed[2] or None, typed.end()
    if flagged := _RAGGED.match(text, at):
        ragged, at = flagged[1], flagged.end()
    if detailed := _DETAIL.match(text, at):
        detail, at = detailed[1], detailed.end()
    element = None
    parts = None if children is None else tuple(children)
    if head[2]:
        if parts is None or len(parts) != 1:
            raise ValueError(f"'{head[0]}' takes one element in {text!r}")
        element, parts = parts[0], None
    return Notation(head[1], detail, parts, element, dtype, shape, ragged), at
