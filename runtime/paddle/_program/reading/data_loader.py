"""DataLoader: the batches of a Dataset, for ``Executor.run(feed=...)`` or as lists; and what makes loaders of
generators and of files.

It must never know a program. Guarantee: each pass is drawn anew, and has its batches in the order of its
sampler.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from paddle._data.collating import default_collate_fn, default_convert_fn
from paddle._data.gathering import Gathering
from paddle._data.samplers import BatchSampler
from paddle._data.samples import Dataset, IterableDataset, TensorDataset, together
from paddle._program.errors import BadArgument
from paddle._program.reading.feeders import Feeder, of_arrays
from paddle._program.reading.loader import DatasetLoader, GeneratorLoader

__all__ = ["DataLoader"]


class Batch(list[Any]):
    """The fields of a batch, which ``Executor.run(feed=...)`` takes, too: ``named`` is what it feeds."""

    def __init__(self, fields: Iterable[Any], feeder: Feeder) -> None:
        super().__init__(fields)
        self._feeder = feeder

    @property
    def named(self) -> Mapping[str, Any]:
        """The fields by the names of the variables that they are for."""
        return self._feeder(list(self))


class DataLoader:
    """``dataset``: a Dataset or IterableDataset. ``feed_list``: variables that its fields are for.
    ``return_list``: a batch is a list of its fields, as it is from 2.2 on, which may be fed where there is a
    feed_list, as to 2.1; or else a list of one dict. ``num_workers``: processes that read; 0 for none."""

    def __init__(
        self,
        dataset: Any,
        feed_list: Sequence[Any] | None = None,
        places: Any = None,
        return_list: bool = True,
        batch_sampler: Any = None,
        batch_size: int | None = 1,
        shuffle: bool = False,
        drop_last: bool = False,
        collate_fn: Callable[[Any], Any] | None = None,
        num_workers: int = 0,
        use_buffer_reader: bool = True,
        prefetch_factor: int = 2,
        use_shared_memory: bool = True,
        timeout: float = 0,
        worker_init_fn: Callable[[int], Any] | None = None,
        persistent_workers: bool = False,
    ) -> None:
        is_iterable = isinstance(dataset, IterableDataset)
        if is_iterable and (shuffle or batch_sampler is not None):
            raise ValueError(
                "an IterableDataset gives its samples in its own order: no shuffle, no batch_sampler"
            )
        if num_workers < 0 or timeout < 0:
            raise ValueError("num_workers and timeout of a DataLoader are 0 or more")
        if batch_sampler is not None and (batch_size not in (1, None) or shuffle or drop_last):
            raise ValueError("batch_size, shuffle and drop_last are the batch_sampler's where there is one")
        if batch_sampler is None and not is_iterable and batch_size is not None:
            batch_sampler = BatchSampler(dataset, shuffle=shuffle, batch_size=batch_size, drop_last=drop_last)
        self.dataset, self.batch_sampler, self.batch_size = dataset, batch_sampler, batch_size
        self.feed_list, self.return_list, self.drop_last = feed_list, return_list, drop_last
        self.num_workers, self.timeout, self.worker_init_fn = num_workers, timeout, worker_init_fn
        self.collate_fn = collate_fn or (default_convert_fn if self._is_single else default_collate_fn)
        self._feeder = of_arrays(feed_list) if feed_list else None

    @property
    def _is_single(self) -> bool:
        """Whether samples come one by one, in no batches."""
        return self.batch_sampler is None and self.batch_size is None

    def __len__(self) -> int:
        if self.batch_sampler is not None:
            return len(self.batch_sampler)
        return len(self.dataset)

    def __iter__(self) -> Iterator[Any]:
        for batch in self._gathering():
            fields = batch if isinstance(batch, list | tuple | Mapping) else [batch]
            if self._feeder is None or (self.return_list and isinstance(fields, Mapping)):
                yield fields
            else:
                yield Batch(fields, self._feeder) if self.return_list else [self._feeder(batch)]

    def __call__(self) -> Iterator[Any]:
        return iter(self)

    def _gathering(self) -> Gathering:
        batches: Any = None
        if not isinstance(self.dataset, IterableDataset):
            batches = range(len(self.dataset)) if self._is_single else iter(self.batch_sampler)
            batches = list(batches) if self.num_workers else batches  # the same in each
        is_at_once = type(self.dataset) is TensorDataset and self.collate_fn is default_collate_fn
        return Gathering(
            dataset=self.dataset,
            batches=batches,
            batch_size=self.batch_size,
            drop_last=self.drop_last,
            collate=self.collate_fn,
            together=partial(together, self.dataset) if is_at_once else None,
            workers=self.num_workers,
            timeout_s=self.timeout,
            worker_init=self.worker_init_fn,
        )

    @staticmethod
    def from_generator(
        feed_list: Sequence[Any] | None = None,
        capacity: int | None = None,
        use_double_buffer: bool = True,
        iterable: bool = True,
        return_list: bool = False,
        use_multiprocess: bool = False,
        drop_last: bool = True,
    ) -> GeneratorLoader:
        """A loader of a Python generator, which is told it by ``set_sample_generator`` and its kin."""
        return GeneratorLoader(
            feed_list, capacity, use_double_buffer, iterable, return_list, use_multiprocess, drop_last
        )

    @staticmethod
    def from_dataset(dataset: Any, places: Any = None, drop_last: bool = True) -> DatasetLoader:
        """A loader of the batches of a QueueDataset or InMemoryDataset."""
        if isinstance(dataset, Dataset) or not hasattr(dataset, "streams"):
            raise BadArgument("from_dataset takes a QueueDataset or an InMemoryDataset")
        return DatasetLoader(dataset, places, drop_last)
