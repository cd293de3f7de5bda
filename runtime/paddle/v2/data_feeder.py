"""DataFeeder: the rows of a batch, as a reader yields them, become arrays, one for each data layer.

It must never know the network behind the slots, nor how a slot becomes an array. Guarantee: every slot is
read from its own place in a row, and a row that has nothing there is named.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any

import numpy as np

from paddle._engine.errors import FeedError
from paddle.v2._errors import WrongCall
from paddle.v2._feeding.flat import table
from paddle.v2._feeding.packing import arrays
from paddle.v2._feeding.slots import maker, of_images, shown
from paddle.v2.data_type import DataType, InputType, SequenceType

__all__ = ["DataFeeder"]

Row = Sequence[Any]
_LISTS = {list, tuple}


class DataFeeder:
    """Makes ``{slot: array}`` of a list of rows.

    ``data_types``: (slot, type) in the order in which rows hold them. ``feeding`` says otherwise: a mapping
    from slots to places in a row, or the slots in the order of a row. ``images``: the slots that layers read
    as images, and their channels; a batch of images of another size than declared becomes float32 (rows,
    channels, height, width). Arrays: float32 (rows, dim), or int64
    (rows, 1) of ids. Of a sparse slot int64 (n,) are the columns that its rows name, ``NAME@amounts`` what
    each adds to its column and ``NAME@starts`` where those of each row begin. Of sequences these
    are the rows of all of them; ``NAME@offsets``, int64 (n + 1,), says where each begins and the last ends,
    and of nested ones ``NAME@outer`` where samples do among the inner sequences.
    """

    def __init__(
        self,
        data_types: Iterable[tuple[str, InputType]],
        feeding: Mapping[str, int] | Sequence[str] | None = None,
        images: Mapping[str, tuple[int, int, int]] = {},
    ) -> None:
        self._types = dict(data_types)
        self._places = _places(list(self._types), feeding)
        makers = {name: of_images(image) for name, image in images.items()}
        self._slots = [
            (name, type, self._places[name], makers.get(name) or maker(type))
            for name, type in self._types.items()
        ]
        # None where rows are no lists: they are seen as a whole by numbers only.
        numbers = [place for place in self._places.values() if isinstance(place, int)]
        self._last = max(numbers, default=-1) if len(numbers) == len(self._places) else None
        # Rows of ids and nothing else become one table, whose columns are the slots.
        self._all_ids = all(
            type.type == DataType.Index and type.seq_type == SequenceType.NO_SEQUENCE
            for type in self._types.values()
        )

    def __len__(self) -> int:
        return len(self._types)

    def __call__(self, rows: Sequence[Row]) -> dict[str, np.ndarray]:
        """The arrays of a batch."""
        if not hasattr(rows, "__len__"):
            raise FeedError(
                f"a reader yielded {shown(rows)}, not a batch, a list of samples. paddle.batch(reader, "
                "batch_size) makes a reader of batches of one that yields samples"
            )
        if not len(rows):
            raise FeedError("a reader yielded a batch without rows")
        columns = self._columns(rows)
        fed: dict[str, np.ndarray] = {}
        for name, type, place, made in self._slots:
            column = self._column(rows, name) if columns is None else columns[place]
            if made is not None:
                fed[name] = made(name, type, column)
            else:
                fed |= arrays(name, type, column)
        return fed

    convert = __call__

    def _columns(self, rows: Sequence[Row]) -> Sequence[Any] | None:
        """All slots of rows that are of one length, what a row has besides included; else None."""
        last = self._last
        if last is None:
            return None
        if self._all_ids and (ids := table(rows)) is not None:
            return np.ascontiguousarray(ids.T) if ids.shape[1] > last else None
        if isinstance(rows, np.ndarray):
            return rows.swapaxes(0, 1) if rows.ndim > 1 and rows.shape[1] > last else None
        if not set(map(type, rows)) <= _LISTS:
            return None
        try:
            columns = list(zip(*rows, strict=True))
        except ValueError:  # they are of several lengths
            return None
        return columns if len(columns) > last else None

    def _column(self, rows: Sequence[Row], name: str) -> Sequence[Any]:
        """One slot of all rows."""
        place = self._places[name]
        try:
            return list(map(itemgetter(place), rows))
        except (IndexError, TypeError, KeyError):
            number = next(i for i, row in enumerate(rows) if not _has(row, place))
            raise FeedError(
                f"row {number} of the batch has nothing at place {place}, where slot {name!r} "
                f"({self._types[name]}) is read: it is {shown(rows[number])}. A reader yields a tuple for "
                f"each sample; `feeding` says which slot stands where (now {self._places})"
            ) from None


def _places(names: list[str], feeding: Mapping[str, int] | Sequence[str] | None) -> dict[str, int]:
    if feeding is None:
        feeding = names
    if isinstance(feeding, str) or not isinstance(feeding, Mapping | Sequence):
        raise WrongCall(f"feeding is a mapping from slot to place, or a list of slots, not {feeding!r}")
    given = feeding if isinstance(feeding, Mapping) else {name: place for place, name in enumerate(feeding)}
    if missing := [name for name in names if name not in given]:
        raise FeedError(f"feeding {dict(given)} says nothing of the data layers {missing}")
    return {name: given[name] for name in names}


def _has(row: Any, place: int) -> bool:
    try:
        row[place]
    except (IndexError, TypeError, KeyError):
        return False
    return True
