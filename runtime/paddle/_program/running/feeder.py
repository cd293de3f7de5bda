"""DataFeeder: from the samples that a reader gives to the tensors that a program is fed.

A sample is a tuple with one field for each variable. Of a variable with LoD level 0 a field is one row; of
level 1 a list of rows; of level 2 a list of such lists.

It must never know what a program computes. Guarantee: what it gives has the variable's dtype, and as many
sizes; rows that have another number of them, or are not all alike, get the sizes that are declared. A field
that holds several such rows gives them all. What cannot be had is refused, naming variable, sample and what
was expected.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain, repeat
from math import prod
from operator import attrgetter, methodcaller, mod
from typing import Any

import numpy as np

from paddle._program.errors import BadFeed
from paddle._program.running.lod_tensor import LoDTensor
from paddle._program.running.ranges import check_range

Array = np.ndarray

_size = attrgetter("size")


@dataclass(frozen=True)
class Slot:
    """What of a variable a feeder must know. ``shape``: that of one row, -1 where any size will do."""

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype
    lod_level: int

    def tensor(self, fields: Sequence[Any]) -> LoDTensor:
        """The tensor of one field of each sample."""
        if self.lod_level == 0:
            return LoDTensor(self._several(fields))
        found = self._flat(fields)
        tensor = LoDTensor(self._rows(found.rows(), found))
        tensor.set_recursive_sequence_lengths(found.lengths)
        return tensor

    def _several(self, fields: Sequence[Any]) -> Array:
        """The rows of samples that are no sequences; each sample may hold several, one after another."""
        numbers = range(len(fields))
        try:
            return self._rows(fields, numbers)
        except BadFeed:
            raise  # each field is one row, and holds what the variable does not
        except ValueError:
            found = self._whole_rows(fields)
            if found is None:
                raise
        if self.dtype.kind in "iu":
            self._check_ranges(fields, numbers)
        return found

    def _whole_rows(self, fields: Sequence[Any]) -> Array | None:
        """All rows of the fields, if each holds some number of them."""
        size = prod(self.shape)
        if size < 1 or -1 in self.shape:
            return None
        with suppress(TypeError, ValueError, OverflowError):
            arrays = list(map(np.asarray, fields, repeat(self.dtype)))
            if not any(map(mod, map(_size, arrays), repeat(size))):
                rows: Array = np.concatenate(list(map(methodcaller("ravel"), arrays)))
                return rows.reshape(-1, *self.shape)
        return None

    def _flat(self, fields: Sequence[Any]) -> _Flat:
        """The sequences of the innermost level, all of a level at once."""
        found = _Flat(fields, range(len(fields)))
        for level in range(self.lod_level):
            if level:
                found = found.inner()
            try:
                found.lengths.append(list(map(len, found.parts)))
            except TypeError:
                raise self._no_sequence(found, self.lod_level - level) from None
        return found

    def _no_sequence(self, found: _Flat, levels: int) -> TypeError:
        """What to say of the first part that has no length. ``levels``: how many it should have."""
        parts = zip(found.numbers, found.parts, strict=True)
        number, value = next(each for each in parts if not _has_length(each[1]))
        nested = "a list of rows" if levels == 1 else "a list of sequences"
        return TypeError(
            f"variable {self.name!r}, sample {number}: {value!r} is given, where LoD level "
            f"{self.lod_level} expects {nested}"
        )

    def _rows(self, rows: Sequence[Any], samples: Iterable[int]) -> Array:
        try:
            array = np.asarray(rows, self.dtype)
        except (TypeError, ValueError, OverflowError):
            array = self._each(rows, samples)
        if self.dtype.kind in "iu":
            self._check_ranges(rows, samples)
        shape = (len(rows), *self.shape)
        if array.ndim == len(shape):
            return array
        sizes = (len(rows), *(self.shape if array.size else tuple(max(each, 0) for each in self.shape)))
        try:
            return array.reshape(sizes)
        except ValueError:
            raise self._refused(rows, samples) from None

    def _check_ranges(self, rows: Any, samples: Iterable[int]) -> None:
        """Refuse arrays of wider numbers that the variable does not hold; of others numpy says so itself."""
        if isinstance(rows, np.ndarray):
            check_range(self.name, rows, self.dtype)
        elif len(rows) and (self.dtype.itemsize < 8 or isinstance(rows[0], np.ndarray | np.generic)):
            with suppress(TypeError, ValueError, OverflowError, BadFeed):
                whole = np.asarray(rows)
                check_range(self.name, whole, self.dtype)
                if whole.dtype.kind in "iu":
                    return
            for row, number in zip(rows, samples, strict=True):  # one of them is wrong, or of its own kind
                check_range(self.name, np.asarray(row), self.dtype, f", sample {number},")

    def _each(self, rows: Sequence[Any], samples: Iterable[int]) -> Array:
        """Rows that are not all written in one way."""
        try:
            return np.stack([np.asarray(row, self.dtype).reshape(self.shape) for row in rows])
        except (TypeError, ValueError, OverflowError):
            raise self._refused(rows, samples) from None

    def _refused(self, rows: Sequence[Any], samples: Iterable[int]) -> ValueError:
        """What to say of the first row that is not as the variable wants it."""
        wanted = f"{self.dtype.name}{list(self.shape)}"
        for row, number in zip(rows, samples, strict=True):
            said = self._wrong(row)
            if said:
                return ValueError(
                    f"variable {self.name!r}, sample {number}: {said}, where each row is {wanted}; look at "
                    "the reader, the order of feed_list and the shape in layers.data"
                )
        return ValueError(
            f"variable {self.name!r}: its {len(rows)} rows are not all of one shape, where each is {wanted}"
        )

    def _wrong(self, row: Any) -> str:
        try:
            found = np.asarray(row, self.dtype)
        except (TypeError, ValueError, OverflowError):
            return f"{_short(row)} is no {self.dtype.name}"
        known, size = prod(each for each in self.shape if each != -1), found.size
        fits = size % known == 0 if -1 in self.shape and known else size == known
        return "" if fits else f"{_short(row)} has the shape {list(found.shape)}"


@dataclass
class _Flat:
    """Sequences one after another, the sample that each is of, and the lengths of each level down to them."""

    parts: Sequence[Any]
    numbers: Sequence[int]
    lengths: list[list[int]] = field(default_factory=list)

    def inner(self) -> _Flat:
        """The sequences that these are sequences of."""
        return _Flat(list(chain.from_iterable(self.parts)), list(self), self.lengths)

    def rows(self) -> Any:
        """All elements of all of them."""
        if self.parts and all(map(isinstance, self.parts, repeat(np.ndarray))):
            try:
                return np.concatenate(self.parts)
            except ValueError:
                pass  # of several shapes: the error names the one that is wrong
        return list(chain.from_iterable(self.parts))

    def __iter__(self) -> Iterator[int]:
        """The sample that each element is of."""
        return chain.from_iterable(map(repeat, self.numbers, map(len, self.parts)))


def _has_length(value: Any) -> bool:
    try:
        len(value)
    except TypeError:
        return False
    return True


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


class SampleFeeder:
    """Turns batches, lists of samples, into what ``Executor.run`` is fed."""

    def __init__(self, slots: Sequence[Slot], places: Callable[[], int] = lambda: 1) -> None:
        self.slots = list(slots)
        self._places = places

    def feed(self, iterable: Iterable[Sequence[Any]]) -> dict[str, LoDTensor]:
        """One batch: a tensor for each variable."""
        samples, count = list(iterable), len(self.slots)
        if set(map(len, samples)) - {count}:
            number, wrong = next((n, each) for n, each in enumerate(map(len, samples)) if each != count)
            raise AssertionError(
                f"sample {number} has {wrong} fields, and feed_list has {count} variables: "
                f"{[slot.name for slot in self.slots]}; the reader gives one field for each"
            )
        columns = zip(*samples, strict=True) if samples else ((),) * len(self.slots)
        return {slot.name: slot.tensor(column) for slot, column in zip(self.slots, columns, strict=True)}

    def feed_parallel(
        self, iterable: Iterable[Iterable[Sequence[Any]]], num_places: int | None = None
    ) -> Iterator[dict[str, LoDTensor]]:
        """Several batches, one for each place."""
        batches, wanted = list(iterable), self._places() if num_places is None else int(num_places)
        if len(batches) != wanted:
            raise ValueError(
                f"{len(batches)} batches are given for {wanted} places: feed_parallel takes one for each"
            )
        return map(self.feed, batches)

    def decorate_reader(
        self,
        reader: Callable[[], Iterable[Any]],
        multi_devices: bool,
        num_places: int | None = None,
        drop_last: bool = True,
    ) -> Callable[[], Iterator[Any]]:
        """A reader of what is fed, from one of batches; ``multi_devices``: of lists, one for each place."""
        places = self._places() if num_places is None else int(num_places)

        def each() -> Iterator[Mapping[str, LoDTensor]]:
            return map(self.feed, reader())

        def several() -> Iterator[list[dict[str, LoDTensor]]]:
            waiting: list[Any] = []
            for batch in reader():
                waiting.append(batch)
                if len(waiting) == places:
                    yield list(self.feed_parallel(waiting, places))
                    waiting = []
            if waiting and not drop_last:
                raise ValueError(
                    f"the reader ends with {len(waiting)} batches left for {places} places: let drop_last be "
                    "True, or give as many as there are places"
                )

        return several if multi_devices else each
