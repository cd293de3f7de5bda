"""What programs of both Pythons, 2 and 3, called in place of what the two have otherwise.

It must never know a layer. Guarantee: each is as on Python 3, whatever it was on Python 2.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

__all__ = ["floor_division", "get_exception_message", "long_type", "round", "to_bytes", "to_text"]

long_type = int


def to_text(obj: Any, encoding: str = "utf-8", inplace: bool = False) -> Any:
    """Text for bytes; in a list, a set or a dict for each of its elements. What else there is stays as it is.

    ``inplace``: the list, set or dict is itself changed, and returned.
    """
    return _each(obj, lambda one: one.decode(encoding) if isinstance(one, bytes) else one, inplace)


def to_bytes(obj: Any, encoding: str = "utf-8", inplace: bool = False) -> Any:
    """Bytes for text, as :func:`to_text` makes text of bytes; numbers and None stay as they are."""
    return _each(obj, lambda one: one.encode(encoding) if isinstance(one, str) else one, inplace)


def round(x: float, d: int = 0) -> float:
    """The number of ``d`` digits behind the point that is next to x, of two the one farther from 0."""
    scale = 10.0**d
    return math.copysign(math.floor(abs(x) * scale + 0.5) / scale, x) if x else 0.0


def floor_division(x: Any, y: Any) -> Any:
    """The greatest whole number of times that y goes into x."""
    return x // y


def get_exception_message(exc: BaseException) -> str:
    """What an error says."""
    return str(exc)


def _each(obj: Any, made: Callable[[Any], Any], inplace: bool) -> Any:
    if not isinstance(obj, list | set | dict):
        return made(obj)
    if isinstance(obj, dict):
        changed: Any = {made(key): made(value) for key, value in obj.items()}
    else:
        changed = type(obj)(made(one) for one in obj)
    if not inplace:
        return changed
    obj.clear()
    obj.extend(changed) if isinstance(obj, list) else obj.update(changed)
    return obj
