"""Flat: many Python values become one array, in a few calls however many they are.

It must never know a slot, nor say what is wrong with a value. Guarantee: an array that it makes is the one
that numpy makes of the values; where they are not all of one kind it makes none, and who asked looks closer.
What it calls grows with the kinds of values that there are, not with the values.
"""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain, compress, repeat, starmap
from operator import attrgetter, eq, is_, itemgetter
from typing import Any

import numpy as np

_dtype, _shape, _size = attrgetter("dtype"), attrgetter("shape"), attrgetter("size")
_SINGLE = {np.dtype(np.float32)}
_LISTS = {list, tuple}


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
    """float32 (n, width) of rows that are arrays, lists or tuples of that many numbers, or of one array.

    Of arrays of float32 the bytes are joined, in a third of the time that numpy takes to look at each.
    """
    if isinstance(rows, np.ndarray):
        fits = rows.dtype.kind in "fiub" and rows.size == len(rows) * width
        return np.ascontiguousarray(rows, np.float32).reshape(len(rows), width) if fits else None
    if type(rows[0] if rows else None) is np.ndarray:
        try:
            if set(map(_dtype, rows)) == _SINGLE and set(map(_size, rows)) == {width}:
                return np.ndarray((len(rows), width), np.float32, bytearray().join(rows))
        except (AttributeError, TypeError):
            pass  # there are others than arrays, or such as have gaps between their numbers
    return _of_a_kind(rows, width)


def _of_a_kind(rows: Sequence[Any], width: int) -> np.ndarray | None:
    kinds = set(map(type, rows))
    if kinds == {np.ndarray}:
        return _stacked(rows, width)
    if not kinds <= _LISTS:
        flat = floats(rows) if width == 1 else None  # a column of numbers
        return None if flat is None else flat.reshape(-1, 1)
    return _listed("f", rows, width, np.float32)


def _listed(kind: str, rows: Sequence[Any], width: int, dtype: type) -> np.ndarray | None:
    """(n, width) of rows that are lists or tuples. See ``_packed``; each is packed by itself, as a list of
    all numbers would take longer to make than they to pack."""
    try:
        packed = bytearray().join(starmap(struct.Struct(f"{width}{kind}").pack, rows))
    except (struct.error, OverflowError, TypeError):
        return None
    return np.frombuffer(packed, dtype).reshape(len(rows), width)


def table(rows: Sequence[Any] | np.ndarray) -> np.ndarray | None:
    """Rows of integers, all of one length, as integers (n, length)."""
    if not isinstance(rows, np.ndarray) and set(map(type, rows)) <= _LISTS:
        return _listed("q", rows, len(rows[0]), np.int64)
    try:
        made: np.ndarray = np.asarray(rows)
    except ValueError:
        return None
    return made if made.ndim == 2 and made.dtype.kind in "iu" else None


def pictures(rows: Sequence[Any] | np.ndarray, channels: int) -> np.ndarray | None:
    """float32 (n, channels, height, width) of images of one size, (height, width) or with channels before;
    none of numbers that are missing."""
    try:
        made: np.ndarray = np.asarray(rows, np.float32)
    except (ValueError, TypeError):
        return None
    height, width = made.shape[-2:] if made.ndim in (3, 4) else (0, 0)
    if not made.size or made.size != len(made) * channels * height * width or lacks_a_number(made, rows):
        return None
    return made.reshape(len(made), channels, height, width)


def shapes(values: Iterable[Any]) -> set[tuple[int, ...]]:
    """The shapes that values have; a list has its length and then the shape of its first element."""
    if isinstance(values, np.ndarray) and values.dtype != object:
        return {values.shape[1:]}
    found: set[tuple[int, ...]] = set()
    for kind, same in _alike(values, map(type, values)):
        if not issubclass(kind, list | tuple):
            found.update(map(tuple, map(getattr, same, repeat("shape"), repeat(()))))
            continue
        for length, lists in _alike(same, map(len, same)):
            inner = shapes(list(map(itemgetter(0), lists))) if length else {()}
            found |= {(length, *each) for each in inner}
    return found


def _alike(values: Iterable[Any], keys: Iterable[Any]) -> Iterator[tuple[Any, Iterable[Any]]]:
    """Each key, and the values that have it."""
    keys = list(keys)
    kinds = set(keys)
    for kind in kinds:
        yield kind, values if len(kinds) == 1 else list(compress(values, map(eq, keys, repeat(kind))))


def lacks_a_number(made: np.ndarray, values: Any) -> bool:
    """Whether there is a None among the values that numpy made these floats of, where it reads NaN."""
    return bool(np.isnan(made).any()) and has_none(values)


def has_none(values: Any) -> bool:
    """Whether there is a None among values, or among those of arrays and lists."""
    return any(map(is_, np.ravel(np.asarray(values, object)), repeat(None)))


def has_text(values: Iterable[Any]) -> bool:
    """Whether there is a text among values."""
    return any(map(issubclass, set(map(type, values)), repeat(str)))


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
