"""DataFeeder: the rows of a batch, as a reader yields them, become arrays, one for each data layer.

It must never know the network behind the slots. Guarantee: a row that does not fit is named, with its slot
and what was expected; nothing is cut, wrapped or padded to fit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any

import numpy as np

from paddle._engine.errors import FeedError
from paddle.v2.data_type import DataType, InputType

__all__ = ["DataFeeder"]

Row = Sequence[Any]


class DataFeeder:
    """Makes ``{slot: array}`` of a list of rows.

    ``data_types``: (slot, type) in the order in which rows hold them. ``feeding`` says otherwise: a mapping
    from slots to places in a row, or the slots in the order of a row. Arrays: float32 (rows, dim), or int64
    (rows, 1) of ids.
    """

    def __init__(
        self,
        data_types: Iterable[tuple[str, InputType]],
        feeding: Mapping[str, int] | Sequence[str] | None = None,
    ) -> None:
        self._types = dict(data_types)
        self._places = _places(list(self._types), feeding)
        # Rows of ids and nothing else become one table, whose columns are the slots.
        self._all_ids = all(type.type == DataType.Index for type in self._types.values())

    def __len__(self) -> int:
        return len(self._types)

    def __call__(self, rows: Sequence[Row]) -> dict[str, np.ndarray]:
        """The arrays of a batch."""
        if not len(rows):
            raise FeedError("a reader yielded a batch without rows")
        table = _table(rows) if self._all_ids else None
        columns: dict[str, Any]
        if table is not None and table.shape[1] > max(self._places.values(), default=-1):
            columns = {name: table[:, place] for name, place in self._places.items()}
        else:
            columns = {name: self._column(rows, name) for name in self._types}
        return {name: _array(name, self._types[name], column) for name, column in columns.items()}

    convert = __call__

    def _column(self, rows: Sequence[Row], name: str) -> Sequence[Any]:
        """One slot of all rows."""
        place = self._places[name]
        try:
            return list(map(itemgetter(place), rows))
        except (IndexError, TypeError, KeyError):
            number = next(i for i, row in enumerate(rows) if not _has(row, place))
            raise FeedError(
                f"row {number} of the batch has nothing at place {place}, where slot {name!r} "
                f"({self._types[name]}) is read: it is {_shown(rows[number])}. A reader yields a tuple for "
                f"each sample; `feeding` says which slot stands where (now {self._places})"
            ) from None


def _places(names: list[str], feeding: Mapping[str, int] | Sequence[str] | None) -> dict[str, int]:
    if feeding is None:
        feeding = names
    if isinstance(feeding, str) or not isinstance(feeding, Mapping | Sequence):
        raise TypeError(f"feeding is a mapping from slot to place, or a list of slots, not {feeding!r}")
    given = feeding if isinstance(feeding, Mapping) else {name: place for place, name in enumerate(feeding)}
    if missing := [name for name in names if name not in given]:
        raise FeedError(f"feeding {dict(given)} says nothing of the data layers {missing}")
    return {name: given[name] for name in names}


def _table(rows: Sequence[Row]) -> np.ndarray | None:
    """Rows of integers as one array, or None where they are not that."""
    try:
        table: np.ndarray = np.asarray(rows)
    except ValueError:
        return None
    return table if table.ndim == 2 and table.dtype.kind in "iu" else None


def _array(name: str, type: InputType, column: Sequence[Any] | np.ndarray) -> np.ndarray:
    if type.type == DataType.Index:
        return _ids(name, type, column)
    if type.type == DataType.Dense:
        return _dense(name, type, column)
    return _sparse(name, type, column)


def _ids(name: str, type: InputType, column: Sequence[Any] | np.ndarray) -> np.ndarray:
    try:
        ids = np.asarray(column)
    except ValueError:
        ids = np.empty(0)
    if ids.dtype.kind not in "iub" or ids.size != len(column):
        raise _misfit(
            name, type, column, lambda each: np.size(each) == 1 and np.asarray(each).dtype.kind in "iub"
        )
    ids = np.ascontiguousarray(ids.reshape(-1, 1), np.int64)
    if ids.min() < 0 or ids.max() >= type.dim:
        raise _misfit(name, type, column, lambda each: 0 <= int(np.ravel(each)[0]) < type.dim)
    return ids


def _dense(name: str, type: InputType, column: Sequence[Any] | np.ndarray) -> np.ndarray:
    try:
        values: np.ndarray = np.asarray(column, np.float32)
    except (ValueError, TypeError):
        values = np.empty(0)
    if values.size != len(column) * type.dim:
        raise _misfit(name, type, column, lambda each: np.asarray(each, np.float32).size == type.dim)
    return values.reshape(len(column), type.dim)


def _sparse(name: str, type: InputType, column: Sequence[Any] | np.ndarray) -> np.ndarray:
    """Columns of zeros, filled in where a row says so."""
    values = np.zeros((len(column), type.dim), np.float32)
    for number, entries in enumerate(column):
        pairs = entries if type.type == DataType.SparseValue else [(each, 1.0) for each in entries]
        for place, value in pairs:
            if not 0 <= place < type.dim:
                raise FeedError(
                    f"row {number} of the batch, slot {name!r} ({type}): there is no column {place}"
                )
            values[number, place] = value
    return values


def _misfit(name: str, type: InputType, column: Iterable[Any], fits: Any) -> FeedError:
    """The error that names the first row that does not fit."""

    def is_fit(each: Any) -> bool:
        try:
            return bool(fits(each))
        except (ValueError, TypeError):
            return False

    number, wrong = next((i, each) for i, each in enumerate(column) if not is_fit(each))
    size = f" ({np.size(wrong)} values)" if not isinstance(wrong, str) and np.size(wrong) != 1 else ""
    return FeedError(f"row {number} of the batch, slot {name!r} ({type}): {_shown(wrong)}{size} does not fit")


def _has(row: Any, place: int) -> bool:
    try:
        row[place]
    except (IndexError, TypeError, KeyError):
        return False
    return True


def _shown(value: Any) -> str:
    text = " ".join(repr(value.item() if isinstance(value, np.generic) else value).split())
    return text if len(text) <= 80 else text[:77] + "..."
