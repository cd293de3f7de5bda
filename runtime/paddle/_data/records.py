"""Records: samples of slots, side by side: for each slot all values, and where each sample's begin.

It must never know where they come from. Guarantee: what is taken, joined or cut keeps each sample whole.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from paddle._data.slot import Slot


class BadRecord(ValueError):
    """Values do not fit the variable that they are for."""


class Column:
    """The values of one slot; sample i has ``values[offsets[i]:offsets[i + 1]]``. Of a part that was cut the
    offsets are counted from its beginning when they are asked for: a dense slot, of which batches have many,
    asks for none."""

    __slots__ = ("_offsets", "_skipped", "values")

    def __init__(self, values: np.ndarray, offsets: np.ndarray) -> None:
        self.values, self._offsets, self._skipped = values, offsets, 0

    def __len__(self) -> int:
        return len(self._offsets) - 1

    @property
    def offsets(self) -> np.ndarray:
        """See the class's text; int64 (n + 1,), the first is 0."""
        return self._offsets - self._skipped if self._skipped else self._offsets

    def take(self, order: np.ndarray) -> Column:
        """The samples of these numbers, in their order."""
        lengths = np.diff(self.offsets)[order]
        offsets = np.concatenate(([0], np.cumsum(lengths)))
        within = np.arange(offsets[-1]) - np.repeat(offsets[:-1], lengths)
        return Column(self.values[np.repeat(self.offsets[:-1][order], lengths) + within], offsets)

    def cut(self, begin: int, end: int) -> Column:
        """The samples from ``begin`` to before ``end``, without a copy of their values."""
        offsets, skipped = self._offsets, self._skipped
        first, behind = int(offsets[begin]), int(offsets[end])
        part = Column(self.values[first - skipped : behind - skipped], offsets[begin : end + 1])
        part._skipped = first
        return part

    def dense(self, slot: Slot) -> np.ndarray:
        """Samples as rows of the shape that the slot's variable has; one -1 in it is found. Raises
        BadRecord."""
        try:
            return self.values.reshape(len(self), *slot.shape)
        except ValueError:
            found = sorted(set(np.diff(self.offsets).tolist()))
            raise BadRecord(
                f"slot {slot.name} is dense, of shape {list(slot.shape)} a sample, and its samples have "
                f"{', '.join(map(str, found[:5]))} values; declare its variable with lod_level=1 if they are "
                "meant to have any number, or look at what writes the lines"
            ) from None


@dataclass(frozen=True, slots=True)
class Records:
    """A column for each of ``slots``, and one for each text that samples have before these, of its bytes."""

    slots: tuple[Slot, ...]
    columns: tuple[Column, ...]
    texts: tuple[Column, ...] = ()

    def __len__(self) -> int:
        return len(self.columns[0]) if self.columns else 0

    def take(self, order: np.ndarray) -> Records:
        """The samples of these numbers."""
        return self._each(lambda column: column.take(order))

    def cut(self, begin: int, end: int) -> Records:
        """Those from ``begin`` to before ``end``."""
        return self._each(lambda column: column.cut(begin, end))

    def _each(self, part: Callable[[Column], Column]) -> Records:
        return Records(self.slots, tuple(map(part, self.columns)), tuple(map(part, self.texts)))

    def shuffled(self, names: Sequence[str], order: np.ndarray) -> Records:
        """The values of these slots alone, taken from other samples."""
        return Records(
            self.slots,
            tuple(
                column.take(order) if slot.name in names else column
                for slot, column in zip(self.slots, self.columns, strict=True)
            ),
            self.texts,
        )

    def text(self, number: int) -> list[str]:
        """The texts of each sample, those of one kind; none where samples have no such."""
        if number >= len(self.texts):
            return []
        column, bounds = self.texts[number], self.texts[number].offsets.tolist()
        whole = column.values.tobytes()
        parts = itertools.pairwise(bounds)
        return [whole[begin:end].decode("utf-8", "replace") for begin, end in parts]


def joined(slots: tuple[Slot, ...], parts: Sequence[Records]) -> Records:
    """All samples of ``parts``, in their order."""
    if len(parts) == 1:
        return parts[0]
    columns = tuple(_joined(slot.dtype, [part.columns[i] for part in parts]) for i, slot in enumerate(slots))
    many = max((len(part.texts) for part in parts), default=0)
    texts = tuple(_joined(np.uint8, [part.texts[i] for part in parts]) for i in range(many))
    return Records(slots, columns, texts)


def _joined(dtype: Any, columns: list[Column]) -> Column:
    lengths = [np.diff(column.offsets) for column in columns]
    offsets = np.concatenate(([0], np.cumsum(np.concatenate(lengths)))) if lengths else np.zeros(1)
    values = [column.values for column in columns] or [np.empty(0, dtype)]
    return Column(np.concatenate(values), offsets.astype(np.int64))
