"""DataLoader.from_generator and PyReader: a user's generator, as batches for ``feed_list``.

Iterable, a loader is iterated, and gives what ``Executor.run(feed=...)`` takes. Otherwise the program reads
by itself: ``start``, runs without a feed until EOFException, ``reset``.

It must never know a network. Guarantee: batches come in the order of the generator; what it raises comes out
where its batch was to come.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice, repeat
from typing import Any

from paddle._program.errors import BadArgument
from paddle._program.reading.feeders import Feeder, of_arrays, of_samples
from paddle._program.reading.reader import Batches, Reader, fresh_name
from paddle._program.reading.variables import make_reader
from paddle.batch import batch as batched


class GeneratorLoader:
    """``feed_list``: variables of ``fluid.data``, ``layers.data`` or ``static.data``. ``capacity``: how many
    batches upstream's queue has; here one is read ahead. ``return_list``: lists rather than dicts."""

    def __init__(
        self,
        feed_list: Sequence[Any] | None = None,
        capacity: int | None = None,
        use_double_buffer: bool = True,
        iterable: bool = True,
        return_list: bool = False,
        use_multiprocess: bool = False,
        drop_last: bool = True,
    ) -> None:
        if not feed_list:
            raise BadArgument(
                "a loader of a generator needs feed_list: the variables that its batches are for"
            )
        if not iterable and return_list:
            raise BadArgument(
                "return_list is for an iterable loader: one that is not feeds the program itself"
            )
        self._feed_list = list(feed_list)
        self._capacity, self._iterable, self._return_list = capacity, iterable, return_list
        self._drop_last = drop_last
        self._places = 1
        self._reader = Reader(fresh_name()) if iterable else make_reader(self._feed_list)

    @property
    def queue(self) -> Reader:
        """What holds the batches that are read ahead."""
        return self._reader

    @property
    def iterable(self) -> bool:
        """Whether it is iterated, rather than started."""
        return self._iterable

    def set_sample_generator(
        self, reader: Batches, batch_size: int, drop_last: bool = True, places: Any = None
    ) -> GeneratorLoader:
        """``reader()`` gives samples; a shorter last batch is left out where ``drop_last``."""
        if batch_size < 1:
            raise BadArgument(f"batch_size must be 1 or more, it is {batch_size}")
        batches = batched(lambda: iter(reader()), batch_size, drop_last)
        return self._set(lambda: map(_with_fields, batches()), of_samples, places)

    def set_sample_list_generator(self, reader: Batches, places: Any = None) -> GeneratorLoader:
        """``reader()`` gives lists of samples, as ``paddle.batch`` does."""
        return self._set(reader, of_samples, places)

    def set_batch_generator(self, reader: Batches, places: Any = None) -> GeneratorLoader:
        """``reader()`` gives arrays or LoDTensors, one for each of feed_list."""
        return self._set(reader, of_arrays, places)

    def start(self) -> None:
        """Begin a pass of a loader that is not iterable."""
        self._not_iterable("start")
        self._reader.start()

    def reset(self) -> None:
        """End it; after EOFException, and wherever a pass is left."""
        self._not_iterable("reset")
        self._reader.reset()

    def __call__(self) -> Iterator[Any]:
        return iter(self)

    def __iter__(self) -> Iterator[Any]:
        if not self._iterable:
            raise BadArgument("this loader is not iterable: start() it, and run the program without a feed")
        feeds = self._reader.passes()
        while group := list(islice(feeds, self._places)):
            if len(group) == self._places or not self._drop_last:
                yield (
                    [list(feed.values()) for feed in group] if self._return_list else [dict(f) for f in group]
                )

    def _set(
        self, batches: Batches, feeder: Callable[[Sequence[Any]], Feeder], places: Any
    ) -> GeneratorLoader:
        if places is not None and self._iterable:
            self._places = len(places) if isinstance(places, list | tuple) else 1
        self._reader.decorate(batches, feeder(self._feed_list))
        return self

    def _not_iterable(self, what: str) -> None:
        if self._iterable:
            raise BadArgument(f"{what}() is for loaders with iterable=False: this one is iterated")


class PyReader(GeneratorLoader):
    """Fluid's name of such a loader, with its own names for what it reads."""

    def __init__(
        self,
        feed_list: Sequence[Any] | None = None,
        capacity: int | None = None,
        use_double_buffer: bool = True,
        iterable: bool = True,
        return_list: bool = False,
    ) -> None:
        super().__init__(feed_list, capacity, use_double_buffer, iterable, return_list)

    def decorate_sample_generator(
        self, sample_generator: Batches, batch_size: int, drop_last: bool = True, places: Any = None
    ) -> None:
        """See set_sample_generator."""
        self.set_sample_generator(sample_generator, batch_size, drop_last, places)

    def decorate_sample_list_generator(self, reader: Batches, places: Any = None) -> None:
        """See set_sample_list_generator."""
        self.set_sample_list_generator(reader, places)

    def decorate_batch_generator(self, reader: Batches, places: Any = None) -> None:
        """See set_batch_generator."""
        self.set_batch_generator(reader, places)


class DatasetLoader:
    """The batches of a dataset, as feeds: ``DataLoader.from_dataset``."""

    def __init__(self, dataset: Any, places: Any = None, drop_last: bool = True) -> None:
        self._dataset, self._drop_last = dataset, drop_last

    def __call__(self) -> Iterator[Any]:
        return iter(self)

    def __iter__(self) -> Iterator[Any]:
        from paddle._program.reading.feeders import of_records

        size = self._dataset._settings.batch_size
        for stream in self._dataset.streams(1):
            yield from (
                [dict(of_records(found))] for found in stream if len(found) == size or not self._drop_last
            )


def _with_fields(samples: list[Any]) -> Sequence[Any]:
    """Samples as lists of fields; one of one field may come bare."""
    listed = set(map(issubclass, set(map(type, samples)), repeat((list, tuple))))
    if len(listed) > 1:
        return [each if isinstance(each, list | tuple) else (each,) for each in samples]
    return samples if listed == {True} else list(zip(samples, strict=True))
