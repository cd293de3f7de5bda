"""Flat: many Python values become one array, in a call or two and not one by one.

It must never know a slot, nor say what is wrong with a value. Guarantee: an array that it makes is the one
that numpy makes of the values; where they are not all of one kind it makes none, and who asked looks closer.
"""

from __future__ import annotations

import struct
from collections.abc import Collection, Sequence
from itertools import chain
from operator import attrgetter
from typing import Any

import numpy as np

_dtype, _shape = attrgetter("dtype"), attrgetter("shape")
_LISTS = {list, tuple}
_WIDE = 128  # from here on a row by itself costs less than the list of all numbers that there would be else


def integers(values: Collection[Any]) -> np.ndarray | None:
    """int64 (n,) of integers."""
    return _packed("q", values, np.empty(len(values), np.int64))


def floats(values: Collection[Any]) -> np.ndarray | None:
    """float32 (n,) of numbers."""
    return _packed("f", values, np.empty(len(values), np.float32))


def _packed(kind: str, values: Collection[Any], into: np.ndarray) -> np.ndarray | None:
    """``struct`` takes no integer for a text, nor a float for an integer, as numpy does where one asks it for
    a dtype; and it takes half as long as numpy does where one does not."""
    try:
        struct.pack_into(f"{len(values)}{kind}", into, 0, *values)
    except (struct.error, OverflowError, TypeError):  # TypeError: an array of one number
        return None
    return into


def vectors(rows: Sequence[Any] | np.ndarray, width: int) -> np.ndarray | None:
    """float32 (n, width) of rows that are arrays, lists or tuples of that many numbers, or of one array."""
    if isinstance(rows, np.ndarray):
        fits = rows.dtype.kind in "fiub" and rows.size == len(rows) * width
        return np.ascontiguousarray(rows, np.float32).reshape(len(rows), width) if fits else None
    kinds = set(map(type, rows))
    if kinds == {np.ndarray}:
        return _stacked(rows, width)
    if not kinds <= _LISTS:
        flat = floats(rows) if width == 1 else None  # a column of numbers
        return None if flat is None else flat.reshape(-1, 1)
    return _listed(rows, width) if set(map(len, rows)) == {width} else None


def _listed(rows: Sequence[Any], width: int) -> np.ndarray | None:
    made = np.empty((len(rows), width), np.float32)
    if width < _WIDE:
        return None if _packed("f", list(chain.from_iterable(rows)), made) is None else made
    packed = (_packed("f", row, into) for row, into in zip(rows, made, strict=True))
    return None if any(each is None for each in packed) else made


def table(rows: Sequence[Any] | np.ndarray) -> np.ndarray | None:
    """Rows of integers, all of one length, as integers (n, length)."""
    if not isinstance(rows, np.ndarray) and set(map(type, rows)) <= _LISTS:
        lengths = set(map(len, rows))
        flat = integers(list(chain.from_iterable(rows))) if len(lengths) == 1 else None
        return None if flat is None else flat.reshape(len(rows), *lengths)
    try:
        made: np.ndarray = np.asarray(rows)
    except ValueError:
        return None
    return made if made.ndim == 2 and made.dtype.kind in "iu" else None


def pictures(rows: Sequence[Any] | np.ndarray, channels: int) -> np.ndarray | None:
    """float32 (n, channels, height, width) of images of one size, (height, width) or with channels before."""
    try:
        made: np.ndarray = np.asarray(rows, np.float32)
    except (ValueError, TypeError):
        return None
    height, width = made.shape[-2:] if made.ndim in (3, 4) else (0, 0)
    fits = height and made.size == len(made) * channels * height * width
    return made.reshape(len(made), channels, height, width) if fits else None


def joined(parts: Sequence[Any]) -> Sequence[Any] | np.ndarray:
    """The elements of all parts, one part after another: an array where all parts are arrays of one kind."""
    are_arrays = set(map(type, parts)) == {np.ndarray} and len(set(map(_dtype, parts))) == 1
    if are_arrays and parts[0].ndim and len({shape[1:] for shape in set(map(_shape, parts))}) == 1:
        return np.concatenate(parts)
    return list(chain.from_iterable(parts))


def _stacked(arrays: Sequence[np.ndarray], width: int) -> np.ndarray | None:
    try:
        if len(set(map(len, arrays))) != 1:
            return None
        made = np.concatenate(arrays, dtype=np.float32, casting="same_kind")
    except (TypeError, ValueError):  # of objects or texts; numbers alone; of unequal shapes
        return None
    return made.reshape(len(arrays), width) if made.size == len(arrays) * width else None
