"""Batches of a dataset, in this process or by others: each of these reads every n-th batch, or of an
IterableDataset what it gives there.

It must never know what a batch is for. Guarantee: batches come in the order of the sampler, however long each
takes; what goes wrong in a process comes out where its batch was to come, so does its sudden end; and no
process outlives the iteration, nor by more than a batch the one that iterates.
"""

from __future__ import annotations

import multiprocessing
import signal
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

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


@dataclass(frozen=True, slots=True)
class _Failed:
    """What a process says in place of a batch."""

    error: BaseException | None
    said: str


_END = "end of the batches"


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathering:
    """``batches``: lists of numbers of samples; None for an IterableDataset, whose samples are taken
    ``batch_size`` at a time, or singly where that is None. ``timeout_s``: how long a batch may take, 0 for
    ever.
    """

    dataset: Any
    batches: Sequence[Sequence[int]] | None
    batch_size: int | None
    drop_last: bool
    collate: Callable[[Any], Any]
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
            else:
                yield self.collate([self.dataset[number] for number in numbers])

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
        context = multiprocessing.get_context("fork")  # datasets need not be picklable
        seed = int(np.random.randint(0, 2**31 - self.workers))
        pipes = [context.Pipe(duplex=False) for _ in range(self.workers)]
        processes = []
        for number, (_, end) in enumerate(pipes):
            others = [each for pair in pipes for each in pair if each is not end]
            processes.append(
                context.Process(target=self._work, args=(number, end, others, seed + number), daemon=True)
            )
            processes[-1].start()
        for _, end in pipes:
            end.close()
        try:
            yield from self._in_turns([pipe for pipe, _ in pipes], processes)
        finally:
            for process in processes:
                process.kill()
            for (pipe, _), process in zip(pipes, processes, strict=True):
                process.join()
                pipe.close()

    def _in_turns(self, pipes: list[Connection], processes: list[Any]) -> Iterator[Any]:
        left = list(range(len(pipes)))
        while left:
            for number in list(left):
                said = self._heard(number, pipes[number], processes[number])
                if said is _END or (isinstance(said, str) and said == _END):
                    left.remove(number)
                elif isinstance(said, _Failed):
                    raise _raised(number, said)
                else:
                    yield said[0]

    def _heard(self, number: int, pipe: Connection, process: Any) -> Any:
        if self.timeout_s and not pipe.poll(self.timeout_s):
            raise RuntimeError(
                f"worker {number} of a DataLoader (process {process.pid}) gave no batch for "
                f"{self.timeout_s:g} s, its timeout"
            )
        try:
            return pipe.recv()
        except EOFError:
            process.join()
            raise RuntimeError(
                f"worker {number} of a DataLoader (process {process.pid}) ended in the midst of its batches "
                f"with exit code {process.exitcode} (below 0: the signal that killed it)"
            ) from None

    def _work(self, number: int, end: Connection, others: Sequence[Connection], seed: int) -> None:
        """In the new process."""
        global _info
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # who iterates hears it, and ends this process
        for each in others:
            each.close()
        np.random.seed(seed)
        _info = WorkerInfo(number, self.workers, self.dataset, seed)
        with suppress(BrokenPipeError):  # nobody iterates any more
            try:
                if self.worker_init is not None:
                    self.worker_init(number)
                for batch in self.here(number, self.workers):
                    end.send((batch,))
                end.send(_END)
            except BrokenPipeError:
                raise
            except BaseException as error:
                end.send(_Failed(_sendable(error), traceback.format_exc()))


def _raised(number: int, failed: _Failed) -> BaseException:
    if failed.error is None:
        return RuntimeError(f"worker {number} of a DataLoader failed:\n{failed.said}")
    failed.error.add_note(f"in worker {number} of a DataLoader:\n{failed.said}")
    return failed.error


def _sendable(error: BaseException) -> BaseException | None:
    """None for an error that does not survive being sent."""
    try:
        pickled = multiprocessing.reduction.ForkingPickler.dumps(error)
        multiprocessing.reduction.ForkingPickler.loads(pickled)
    except Exception:
        return None
    return error
