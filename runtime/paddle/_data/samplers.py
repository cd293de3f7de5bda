"""Samplers: which samples of a dataset come when. Chance is ``numpy.random``: a program that seeds it sees
the same order again.

It must never read a sample. Guarantee: but for samplers with replacement, and for what pads the last batch
of a DistributedBatchSampler, a pass has every number once.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from itertools import islice, repeat
from operator import getitem
from typing import Any

import numpy as np

from paddle._launch.environ import trainer_of

__all__ = [
    "BatchSampler",
    "DistributedBatchSampler",
    "RandomSampler",
    "Sampler",
    "SequenceSampler",
    "WeightedRandomSampler",
]


class Sampler:
    """Derive, and write ``__iter__()``: numbers of samples."""

    def __init__(self, data_source: Any = None) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError(f"{type(self).__name__} lacks __iter__(), which gives numbers of samples")


class SequenceSampler(Sampler):
    """0, 1, 2, ..."""

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler):
    """All numbers in an order of chance; or ``num_samples`` draws with ``replacement``. ``generator``:
    numbers, in place of chance; a pass ends where they do."""

    def __init__(
        self,
        data_source: Any,
        replacement: bool = False,
        num_samples: int | None = None,
        generator: Any = None,
    ) -> None:
        super().__init__(data_source)
        if not isinstance(replacement, bool):
            raise TypeError(f"replacement is True or False, not {replacement!r}")
        if num_samples is not None and not replacement:
            raise ValueError(
                "num_samples is for sampling with replacement: without it every sample comes once"
            )
        if num_samples is not None and num_samples < 1:
            raise ValueError(f"num_samples is 1 or more, not {num_samples}")
        self.replacement, self._num_samples, self.generator = replacement, num_samples, generator

    @property
    def num_samples(self) -> int:
        """How many numbers a pass has."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        if self.generator is not None:
            return map(int, islice(self.generator, self.num_samples))
        if self.replacement:
            return iter(np.random.randint(0, len(self.data_source), self.num_samples).tolist())
        return iter(np.random.permutation(len(self.data_source)).tolist())

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler):
    """Each of ``indices`` once, in an order of chance."""

    def __init__(self, indices: Sequence[int]) -> None:
        super().__init__()
        if not len(indices):
            raise ValueError("The length of `indices` in SubsetRandomSampler should be greater than 0.")
        self.indices = indices

    def __iter__(self) -> Iterator[int]:
        return map(getitem, repeat(self.indices), np.random.permutation(len(self.indices)).tolist())

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler):
    """``num_samples`` numbers, drawn by ``weights``."""

    def __init__(self, weights: Sequence[float], num_samples: int, replacement: bool = True) -> None:
        super().__init__()
        found = np.asarray(weights, np.float64)
        if found.ndim != 1 or (found < 0).any() or not found.sum() > 0:
            raise ValueError("weights are a list of numbers, none below 0 and not all 0")
        if num_samples < 1 or (not replacement and num_samples > np.count_nonzero(found)):
            raise ValueError(f"of {np.count_nonzero(found)} weights above 0 cannot be drawn {num_samples}")
        self.weights, self.num_samples, self.replacement = found / found.sum(), num_samples, replacement

    def __iter__(self) -> Iterator[int]:
        drawn = np.random.choice(len(self.weights), self.num_samples, self.replacement, self.weights)
        return iter(drawn.tolist())

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler):
    """Lists of ``batch_size`` numbers, of a ``sampler``, or of ``dataset`` in order or with ``shuffle``."""

    def __init__(
        self,
        dataset: Any = None,
        sampler: Any = None,
        shuffle: bool = False,
        batch_size: int = 1,
        drop_last: bool = False,
    ) -> None:
        if (dataset is None) == (sampler is None):
            raise ValueError("a BatchSampler takes either a dataset or a sampler")
        if not isinstance(batch_size, int | np.integer) or batch_size < 1:
            raise ValueError(f"batch_size is an integer, 1 or more, not {batch_size!r}")
        super().__init__(dataset)
        if sampler is None:
            sampler = RandomSampler(dataset) if shuffle else SequenceSampler(dataset)
        self.sampler, self.batch_size, self.drop_last = sampler, batch_size, drop_last

    def __iter__(self) -> Iterator[list[int]]:
        numbers = iter(self.sampler)
        while batch := list(islice(numbers, self.batch_size)):
            if len(batch) == self.batch_size or not self.drop_last:
                yield batch

    def __len__(self) -> int:
        many = len(self.sampler)
        return many // self.batch_size if self.drop_last else math.ceil(many / self.batch_size)


class DistributedBatchSampler(BatchSampler):
    """The batches of one of ``num_replicas`` trainers, as many for each: the first samples pad the last ones.
    Which trainer this is, and how many there are, is the environment's unless told. ``shuffle`` draws by the
    number of the epoch, so that all trainers draw alike."""

    def __init__(
        self,
        dataset: Any,
        batch_size: int,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = False,
        drop_last: bool = False,
    ) -> None:
        super().__init__(dataset=dataset, batch_size=batch_size, drop_last=drop_last)
        self.dataset, self.shuffle, self.epoch = dataset, shuffle, 0
        own, trainers = (0, 1) if None not in (rank, num_replicas) else trainer_of(os.environ)
        self.nranks = trainers if num_replicas is None else num_replicas
        self.local_rank = own if rank is None else rank
        if not 0 <= self.local_rank < self.nranks:
            raise ValueError(
                f"rank {self.local_rank} is none of {self.nranks} trainers, 0 to {self.nranks - 1}"
            )
        self.num_samples = math.ceil(len(dataset) / self.nranks)
        self.total_size = self.num_samples * self.nranks

    def set_epoch(self, epoch: int) -> None:
        """By what the next pass is drawn."""
        self.epoch = epoch

    def __iter__(self) -> Iterator[list[int]]:
        order = np.arange(len(self.dataset))
        if self.shuffle:
            np.random.RandomState(self.epoch).shuffle(order)
            self.epoch += 1
        order = np.resize(order, self.total_size)
        at_once = self.batch_size * self.nranks
        whole = self.total_size - self.total_size % at_once
        strips = order[:whole].reshape(-1, self.nranks, self.batch_size)[:, self.local_rank]
        last = order[whole:].reshape(self.nranks, -1)[self.local_rank]
        self.sampler = [*strips.ravel().tolist(), *last.tolist()]
        return super().__iter__()

    def __len__(self) -> int:
        many = self.num_samples
        return many // self.batch_size if self.drop_last else math.ceil(many / self.batch_size)
