"""Slots: what one slot of a batch holds, row by row, becomes arrays.

It must never know where in a row a slot stands. Guarantee: a value that does not fit is named, with its row,
its slot and the reason; nothing is cut, wrapped or padded to fit, and nothing missing becomes a number. Rows
are looked at one by one only to find what is wrong with them.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, repeat
from math import prod
from typing import Any

import numpy as np

from paddle._engine.errors import FeedError
from paddle.v2._feeding.flat import (
    floats,
    has_none,
    integers,
    joined,
    lacks_a_number,
    pictures,
    shapes,
    vectors,
)
from paddle.v2._lowering.output import AMOUNTS, STARTS
from paddle.v2.data_type import ANY_INTEGER, DataType, InputType, SequenceType

Column = Sequence[Any] | np.ndarray

_A_TUPLE = "does the reader yield a tuple for each sample, such as (vector,) or (vector, label)?"


Maker = Callable[[str, InputType, Column], np.ndarray]


def maker(type: InputType) -> Maker | None:
    """What makes the array of a slot that is fed one only; None where it is fed several."""
    if type.seq_type != SequenceType.NO_SEQUENCE:
        return None
    return {DataType.Index: _ids, DataType.Dense: _dense}.get(type.type)


def of_images(image: tuple[int, int, int]) -> Maker:
    """What makes the array of a dense slot that layers read as images of declared (channels, height, width):
    float32 (rows, dim), or (rows, channels, height, width) of images with other sides."""
    channels, *sides = image

    def made(name: str, type: InputType, column: Column) -> np.ndarray:
        seen = _sides(column)
        if len(seen) > 1:
            raise FeedError(
                f"slot {name!r}: images of {' and '.join(f'{h} x {w}' for h, w in sorted(seen))} are in one "
                "batch: a batch has images of one size; resize them (paddle.image) or batch like ones"
            )
        ways = [lambda: vectors(column, type.dim), lambda: pictures(column, channels)]
        other = seen - {(sides[0], sides[1])}
        for way in reversed(ways) if other else ways:
            if (found := way()) is not None:
                return found
        of_batch = channels * prod(*other) if other else type.dim
        return _read_closely(name, type, column, partial(of_row, type.dim), lambda value: of_batch)

    def of_row(dim: int, value: Any) -> int:
        other = _sides([value]) - {(sides[0], sides[1])}
        return channels * prod(*other) if other else dim

    return made


def _sides(images: Column) -> set[tuple[int, int]]:
    """Heights and widths with which images come; one pixel high or wide they are flat."""
    return {shape[-2:] for shape in shapes(images) if len(shape) > 1 and min(shape[-2:]) > 1}


def arrays(name: str, type: InputType, column: Column) -> Mapping[str, np.ndarray]:
    """What a slot is fed, by name: float32 (rows, dim), or int64 (rows, 1) of ids.

    Of a sparse slot the columns that its rows name, int64 (n,), one row after another; float32
    ``NAME@amounts``, what each adds to its column; and int64 ``NAME@starts``, (rows + 1,), where the entries
    of each row begin and those of the last end.
    """
    if type.type == DataType.Index:
        return {name: _ids(name, type, column)}
    if type.type == DataType.Dense:
        return {name: _dense(name, type, column)}
    columns, amounts, starts = _entries(name, type, column)
    return {name: columns, name + AMOUNTS: amounts, name + STARTS: starts}


def shown(value: Any) -> str:
    """A value, as errors print it: on one line, and not too long."""
    text = " ".join(repr(value.item() if isinstance(value, np.generic) else value).split())
    return text if len(text) <= 80 else text[:77] + "..."


def _ids(name: str, type: InputType, column: Column) -> np.ndarray:
    ids = None if isinstance(column, np.ndarray) else integers(column)
    if ids is None:
        ids = _converted(column)
        if ids.dtype.kind not in "iub" or ids.size != len(column):
            raise _misfit(name, type, column, _why_no_id)
        ids = np.ascontiguousarray(ids.reshape(-1), np.int64)
    if not _is_below(type.dim, ids):
        raise _misfit(name, type, column, _why_no_id)
    return ids.reshape(-1, 1)


def _converted(column: Column) -> np.ndarray:
    try:
        return np.asarray(column)
    except ValueError:
        return np.empty(0)


def _is_below(dim: int, ids: np.ndarray) -> bool:
    """Whether all are from 0 to ``dim`` - 1."""
    return not ids.size or int(ids.view(np.uint64).max()) < dim  # negative ones are greater than any other


def _why_no_id(type: InputType, value: Any) -> str | None:
    if np.size(value) != 1:
        return f"one integer is needed, not {np.size(value)} values"
    number = np.ravel(value)[0]
    if not isinstance(number, numbers.Integral | np.bool_):
        return f"an integer is needed, not {_kind(number)}"
    if 0 <= int(number) < type.dim:
        return None
    return "it is not 0 or more" if type.dim == ANY_INTEGER else f"it is not from 0 to {type.dim - 1}"


def _dense(name: str, type: InputType, column: Column) -> np.ndarray:
    made = vectors(column, type.dim)
    return _read_closely(name, type, column, lambda value: type.dim) if made is None else made


def _read_closely(name: str, type: InputType, column: Column, *needed: Callable[[Any], int]) -> np.ndarray:
    """Rows that are not all of one kind, as numpy reads them. ``needed``: how many numbers a row should have;
    errors name the first one that lacks them by the first, or else by the second."""

    def why(many: Callable[[Any], int], type: InputType, value: Any) -> str | None:
        return _why_not_dense(replace(type, dim=many(value)), value)

    try:
        values: np.ndarray = np.asarray(column, np.float32)
    except (ValueError, TypeError):
        values = np.empty(0)
    if values.size != len(column) * type.dim or lacks_a_number(values, column):
        raise _misfit(name, type, column, *(partial(why, many) for many in needed))
    return values.reshape(len(column), type.dim)


def _why_not_dense(type: InputType, value: Any) -> str | None:
    if has_none(value):
        return "None is not a number"
    if np.size(np.asarray(value, np.float32)) == type.dim:
        return None
    if np.ndim(value) == 0:
        return f"one number, where a vector of {type.dim} is needed: {_A_TUPLE}"
    return f"{np.size(value)} values, where {type.dim} are needed"


def _entries(name: str, type: InputType, column: Column) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The columns that all rows name, what each adds to its column, and where those of each row begin."""
    try:
        if not all(map(hasattr, column, repeat("__len__"))):
            column = list(map(list, column))
        counts = np.fromiter(map(len, column), np.int64, len(column))
        flat = joined(column)
        columns, amounts = _pairs(flat) if type.type == DataType.SparseValue else (_columns(flat), None)
    except (ValueError, TypeError):
        raise _misfit(name, type, column, _why_not_sparse) from None
    if not _is_below(type.dim, columns):
        raise _misfit(name, type, column, _why_not_sparse)
    starts = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=starts[1:])
    return columns, np.ones(len(columns), np.float32) if amounts is None else amounts, starts


def _columns(places: Column) -> np.ndarray:
    columns = None if isinstance(places, np.ndarray) else integers(places)
    if columns is None:
        columns = np.asarray(places)
    if columns.ndim != 1 or (columns.size and columns.dtype.kind not in "iu"):
        raise ValueError
    return np.ascontiguousarray(columns, np.int64)


def _pairs(entries: Column) -> tuple[np.ndarray, np.ndarray]:
    """Columns and amounts of (column, amount) pairs."""
    if set(map(len, entries)) - {2}:
        raise ValueError
    flat = list(chain.from_iterable(entries))
    amounts = floats(flat[1::2])
    if amounts is None:
        read = np.asarray(flat[1::2])
        if read.dtype.kind not in "iuf":
            raise ValueError
        amounts = read.astype(np.float32)
    return _columns(flat[::2]), amounts


def _why_not_sparse(type: InputType, value: Any) -> str | None:
    paired = type.type == DataType.SparseValue
    needed = f"a list of {'(column, value) pairs' if paired else 'columns'} is needed"
    if isinstance(value, str) or not isinstance(value, Iterable):
        return f"{needed}, not {_kind(value)}: {_A_TUPLE}"
    for entry in value:
        if paired and np.shape(entry) != (2,):
            return f"{needed}, {shown(entry)} is none"
        place, amount = entry if paired else (entry, 1.0)
        if not isinstance(place, numbers.Integral):
            return f"a column is an integer, not {_kind(place)}"
        if not 0 <= int(place) < type.dim:
            return f"there is no column {place}"
        if not isinstance(amount, numbers.Real):
            return f"the value of column {place} is a number, not {_kind(amount)}"
    return None


def _misfit(
    name: str, type: InputType, column: Column, *whys: Callable[[InputType, Any], str | None]
) -> FeedError:
    """The error that names the first row that does not fit. ``whys`` tell what is wrong with a value, each
    where those before it find nothing wrong with any."""

    def reason(why: Callable[[InputType, Any], str | None], value: Any) -> str | None:
        try:
            return why(type, value)
        except (ValueError, TypeError):
            return "these are not numbers, or lists of unequal length"

    wrong = ((number, value, reason(why, value)) for why in whys for number, value in enumerate(column))
    number, value, text = next(
        (each for each in wrong if each[2]), (0, column[0], "the rows of the batch are not of one form")
    )
    return FeedError(
        f"row {number} of the batch, slot {name!r} ({type}): {shown(value)} does not fit: {text}"
    )


def _kind(value: Any) -> str:
    if value is None:
        return "None"
    name = type(value.item() if isinstance(value, np.generic) else value).__name__
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"
