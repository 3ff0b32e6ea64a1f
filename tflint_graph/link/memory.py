"""A bounded memory for answers that are asked for again and again."""

from __future__ import annotations

from typing import TypeVar

_Key = TypeVar("_Key")
_Answer = TypeVar("_Answer")
_REMEMBERED = 40_000  # a name's meanings cost half a kilobyte


def remember(cache: dict[_Key, _Answer], key: _Key, found: _Answer) -> None:
    """Note an answer. A cache that has grown too long starts anew."""
    if len(cache) > _REMEMBERED:
        cache.clear()
    cache[key] = found
