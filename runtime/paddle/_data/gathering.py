"""Batches of a dataset, in this process or by others: each of these reads every n-th batch, or of an
IterableDataset what it gives there.

It must never know what a batch is for. Guarantee: batches come in the order of the sampler, however long each
takes; what goes wrong in a process comes out where its batch was to come, so does its sudden end; and no
process outlives the iteration, nor by more than a batch the one that iterates.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from paddle._data.processes import End, Processes

__all__ = ["Gathering", "WorkerInfo", "get_worker_info"]


@dataclass(frozen=True, slots=True)
class WorkerInfo:
    """Which of ``num_workers`` processes this is."""

    id: int
    num_workers: int
    dataset: Any
    seed: int


_info: WorkerInfo | None = None


def get_worker_info() -> WorkerInfo | None:
    """In a process of a DataLoader which one it is; None elsewhere."""
    return _info


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathering:
    """``batches``: lists of numbers of samples, without an end perhaps where there are no ``workers``; None
    for an IterableDataset, whose samples are taken ``batch_size`` at a time, or singly where that is None.
    ``together``: makes a batch of numbers of samples, or None where ``collate`` is to make it of the samples.
    ``timeout_s``: how long a batch may take, 0 for ever.
    """

    dataset: Any
    batches: Iterable[Sequence[int]] | None
    batch_size: int | None
    drop_last: bool
    collate: Callable[[Any], Any]
    together: Callable[[Sequence[int]], Any] | None = None
    workers: int = 0
    timeout_s: float = 0.0
    worker_init: Callable[[int], Any] | None = None

    def here(self, which: int = 0, step: int = 1) -> Iterator[Any]:
        """The batches that this process reads."""
        if self.batches is None:
            yield from self._iterated()
            return
        for numbers in islice(self.batches, which, None, step):
            if isinstance(numbers, int):
                yield self.collate(self.dataset[numbers])
                continue
            batch = None if self.together is None else self.together(numbers)
            yield self.collate([self.dataset[number] for number in numbers]) if batch is None else batch

    def _iterated(self) -> Iterator[Any]:
        samples = iter(self.dataset)
        if self.batch_size is None:
            yield from map(self.collate, samples)
            return
        while batch := list(islice(samples, self.batch_size)):
            if len(batch) == self.batch_size or not self.drop_last:
                yield self.collate(batch)

    def __iter__(self) -> Iterator[Any]:
        return self._gathered() if self.workers else self.here()

    def _gathered(self) -> Iterator[Any]:
        seed = int(np.random.randint(0, 2**31 - self.workers))
        works = [partial(self._work, number, seed + number) for number in range(self.workers)]
        with Processes(works, "worker {} of a DataLoader".format) as processes:
            turns = deque(range(self.workers))
            while turns:
                number = turns.popleft()
                batch = processes.heard(number, self.timeout_s)
                if not isinstance(batch, End):
                    turns.append(number)
                    yield batch

    def _work(self, number: int, seed: int) -> Iterator[Any]:
        """In the new process."""
        global _info
        np.random.seed(seed)
        _info = WorkerInfo(number, self.workers, self.dataset, seed)
        if self.worker_init is not None:
            self.worker_init(number)
        yield from self.here(number, self.workers)
