"""Slots: what one slot of a batch holds, row by row, becomes an array.

It must never know where in a row a slot stands. Guarantee: a value that does not fit is named, with its row,
its slot and the reason; nothing is cut, wrapped or padded to fit, and nothing missing becomes a number.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from paddle._engine.errors import FeedError
from paddle.v2.data_type import SPREAD_LIMIT, DataType, InputType

Column = Sequence[Any] | np.ndarray

_A_TUPLE = "does the reader yield a tuple for each sample, such as (vector,) or (vector, label)?"


def array(name: str, type: InputType, column: Column) -> np.ndarray:
    """The array of a slot: float32 (rows, dim), or int64 (rows, 1) of ids."""
    if type.type == DataType.Index:
        return _ids(name, type, column)
    if type.type == DataType.Dense:
        return _dense(name, type, column)
    return _sparse(name, type, column)


def shown(value: Any) -> str:
    """A value, as errors print it: on one line, and not too long."""
    text = " ".join(repr(value.item() if isinstance(value, np.generic) else value).split())
    return text if len(text) <= 80 else text[:77] + "..."


def _ids(name: str, type: InputType, column: Column) -> np.ndarray:
    try:
        ids = np.asarray(column)
    except ValueError:
        ids = np.empty(0)
    if ids.dtype.kind not in "iub" or ids.size != len(column):
        raise _misfit(name, type, column, _why_no_id)
    ids = np.ascontiguousarray(ids.reshape(-1, 1), np.int64)
    if ids.min() < 0 or ids.max() >= type.dim:
        raise _misfit(name, type, column, _why_no_id)
    return ids


def _why_no_id(type: InputType, value: Any) -> str | None:
    if np.size(value) != 1:
        return f"one integer is needed, not {np.size(value)} values"
    number = np.ravel(value)[0]
    if not isinstance(number, numbers.Integral | np.bool_):
        return f"an integer is needed, not {_kind(number)}"
    return None if 0 <= int(number) < type.dim else f"it is not from 0 to {type.dim - 1}"


def _dense(name: str, type: InputType, column: Column) -> np.ndarray:
    try:
        values: np.ndarray = np.asarray(column, np.float32)
    except (ValueError, TypeError):
        values = np.empty(0)
    if values.size != len(column) * type.dim:
        raise _misfit(name, type, column, _why_not_dense)
    if np.isnan(values).any() and any(map(_lacks_a_number, column)):  # numpy reads None as NaN
        raise _misfit(name, type, column, _why_not_dense)
    return values.reshape(len(column), type.dim)


def _why_not_dense(type: InputType, value: Any) -> str | None:
    if _lacks_a_number(value):
        return "None is no number"
    if np.size(np.asarray(value, np.float32)) == type.dim:
        return None
    if np.ndim(value) == 0:
        return f"one number, where a vector of {type.dim} is needed: {_A_TUPLE}"
    return f"{np.size(value)} values, where {type.dim} are needed"


def _lacks_a_number(value: Any) -> bool:
    return any(each is None for each in np.ravel(np.asarray(value, object)))


def _sparse(name: str, type: InputType, column: Column) -> np.ndarray:
    """Columns of zeros, to which a row adds where it says so: once for each entry."""
    if len(column) * type.dim > SPREAD_LIMIT:
        raise FeedError(
            f"slot {name!r} ({type}): a batch of {len(column)} rows is more than this release takes. It "
            f"spreads sparse slots out, and {len(column)} x {type.dim} numbers are more than {SPREAD_LIMIT}: "
            "make the batch smaller, or feed ids to a data layer of type integer_value and "
            "paddle.layer.embedding"
        )
    values = np.zeros((len(column), type.dim), np.float32)
    for row, entries in zip(values, column, strict=True):
        try:
            places, amounts = _entries(type, entries)
        except (ValueError, TypeError):
            raise _misfit(name, type, column, _why_not_sparse) from None
        np.add.at(row, places, amounts)
    return values


def _entries(type: InputType, entries: Iterable[Any]) -> tuple[np.ndarray, np.ndarray | float]:
    """The columns that a row names, and what it adds to each."""
    places: Sequence[Any] = list(entries)
    amounts: np.ndarray | float = 1.0
    if type.type == DataType.SparseValue:
        places, values = zip(*places, strict=True) if places else ((), ())
        amounts = np.asarray(values)
        if amounts.dtype.kind not in "iuf":
            raise ValueError
    columns = np.asarray(places)
    if not columns.size:
        return columns.astype(np.int64), amounts
    if (
        columns.ndim != 1
        or columns.dtype.kind not in "iu"
        or not 0 <= columns.min() <= columns.max() < type.dim
    ):
        raise ValueError
    return columns, amounts


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
    name: str, type: InputType, column: Column, why: Callable[[InputType, Any], str | None]
) -> FeedError:
    """The error that names the first row that does not fit. ``why`` tells what is wrong with a value."""

    def reason(value: Any) -> str | None:
        try:
            return why(type, value)
        except (ValueError, TypeError):
            return "these are no numbers, or lists of unequal length"

    wrong = ((number, value, reason(value)) for number, value in enumerate(column))
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
