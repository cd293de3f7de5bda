"""Readers of files and of random numbers as variables of a program, as fluid had them up to 1.5:
``open_files``, ``open_recordio_file``, ``random_data_generator``, and ``shuffle`` and ``batch`` of these.

It must never know how a file is laid out. Guarantee: nobody starts such a reader. A run begins a pass where
none is begun; the run that finds its end raises EOFException, and the next one begins another.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any

import numpy as np

from paddle._program.errors import BadArgument
from paddle._program.files.records import batches_of
from paddle._program.reading.end import EOFException
from paddle._program.reading.feeders import Feed, of_arrays
from paddle._program.reading.reader import Reader
from paddle._program.reading.variables import ReaderVariable, Shapes, declared
from paddle._program.running.lod_tensor import LoDTensor

Items = Callable[[], Iterable[Sequence[Any]]]
_standing: list[Reader] = []  # programs name them, and nobody else may hold them


class StandingReader(Reader):
    """One that begins its passes by itself."""

    def next(self) -> Feed:
        """The feed of the next run. Raises EOFException once at the end of each pass."""
        if self._pass is None:
            self.start()
        try:
            return super().next()
        except EOFException:
            self.reset()
            raise


class OpenedReader(ReaderVariable):
    """What ``open_files`` and its like return. ``items()``: arrays or LoDTensors, one for each variable."""

    def __init__(self, items: Items, shapes: Shapes) -> None:
        super().__init__([], kind=StandingReader)
        self.items, self.shapes = items, shapes
        _standing.append(self._reader)

    def read(self) -> list[Any]:
        """Its variables, which the default main program reads from now on."""
        if not self.variables:
            self.variables = declared(*self.shapes)
            self._reader.decorate(self.items, of_arrays(self.variables))
        return super().read()


def open_files(
    filenames: str | Sequence[str],
    shapes: Sequence[Sequence[int]],
    lod_levels: Sequence[int] | None,
    dtypes: Sequence[Any],
    thread_num: int | None = None,
    buffer_size: int | None = None,
    pass_num: int = 1,
    is_test: bool | None = None,
) -> OpenedReader:
    """A reader of RecordIO files, in their order, ``pass_num`` times. Files are read by one thread, a batch
    ahead; ``thread_num`` and ``buffer_size`` say nothing else."""
    paths = [filenames] if isinstance(filenames, str) else list(filenames)

    def items() -> Iterator[Sequence[Any]]:
        for path in paths * pass_num:
            yield from batches_of(path)

    return OpenedReader(items, (shapes, dtypes, lod_levels))


def open_recordio_file(
    filename: str,
    shapes: Sequence[Sequence[int]],
    lod_levels: Sequence[int] | None,
    dtypes: Sequence[Any],
    pass_num: int = 1,
    for_parallel: bool = True,
) -> OpenedReader:
    """A reader of a RecordIO file, ``pass_num`` times."""
    return open_files(filename, shapes, lod_levels, dtypes, pass_num=pass_num)


def random_data_generator(
    low: float,
    high: float,
    shapes: Sequence[Sequence[int]],
    lod_levels: Sequence[int] | None,
    for_parallel: bool = True,
) -> OpenedReader:
    """A reader without an end of float32 numbers from ``low`` to ``high`` in these shapes."""
    if low > high:
        raise BadArgument(f"random_data_generator: low is {low}, more than high, which is {high}")

    def items() -> Iterator[Sequence[Any]]:
        while True:
            yield [np.random.uniform(low, high, shape).astype(np.float32) for shape in shapes]

    return OpenedReader(items, (shapes, ["float32"] * len(shapes), lod_levels))


def shuffle(reader: OpenedReader, buffer_size: int) -> OpenedReader:
    """A reader of the same items, ``buffer_size`` at a time in another order (of the module ``random``)."""
    source = _source(reader, "shuffle")

    def items() -> Iterator[Sequence[Any]]:
        for taken in _together(source(), int(buffer_size)):
            random.shuffle(taken)
            yield from taken

    return OpenedReader(items, reader.shapes)


def batch(reader: OpenedReader, batch_size: int) -> OpenedReader:
    """A reader of so many items put together each time, rows below rows. What is left at the end and too few
    for a batch is dropped, as since 1.0."""
    source = _source(reader, "batch")

    def items() -> Iterator[Sequence[Any]]:
        for taken in _together(source(), int(batch_size)):
            if len(taken) == int(batch_size):
                yield [_below(column) for column in zip(*taken, strict=True)]

    return OpenedReader(items, reader.shapes)


def _source(reader: Any, who: str) -> Items:
    if not isinstance(reader, OpenedReader):
        raise BadArgument(
            f"fluid.layers.{who} takes what open_files gave, not {reader!r}; paddle.reader and paddle.batch "
            "are for readers in Python"
        )
    return reader.items


def _together(items: Iterable[Sequence[Any]], size: int) -> Iterator[list[Sequence[Any]]]:
    """So many at a time, at the end as many as are left."""
    rest = iter(items)
    return iter(lambda: list(islice(rest, size)), [])


def _below(tensors: Sequence[Any]) -> LoDTensor:
    """Rows below rows, and the sequences of each after those before."""
    made = LoDTensor(np.concatenate([np.asarray(tensor) for tensor in tensors]))
    levels = [tensor.recursive_sequence_lengths() for tensor in tensors if isinstance(tensor, LoDTensor)]
    made.set_recursive_sequence_lengths([list(chain(*each)) for each in zip(*levels, strict=True)])
    return made
