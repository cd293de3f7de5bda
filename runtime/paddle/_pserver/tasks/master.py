"""Master: a queue that is saved with every change.

It must never know a connection. Guarantee: what is answered is on disk; where that fails the queue is as
before, and the asker is told why.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from functools import partial
from typing import Protocol, TypeVar

from paddle._pserver.tasks import dataset
from paddle._pserver.tasks.errors import MasterError
from paddle._pserver.tasks.messages import (
    Counted,
    DatasetSet,
    GetTask,
    GiveBack,
    RequestSaveModel,
    SaveModel,
    SetDataset,
    State,
    TaskFailed,
    TaskFinished,
    TaskGiven,
)
from paddle._pserver.tasks.queue import Queue, QueueOptions

_Answer = TypeVar("_Answer")
_log = logging.getLogger("paddle.master")


class Store(Protocol):
    """Where a state is kept."""

    def save(self, state: State) -> None:
        """Keep ``state``, or raise StateNotSaved."""


class Master:
    """Answers what trainers ask. ``store``: None keeps nothing; ``state``: where to go on."""

    def __init__(
        self, options: QueueOptions, clock: Callable[[], float], store: Store | None, state: State | None
    ) -> None:
        self.queue = Queue(options)
        self._clock = clock
        self._store = store
        self._indexing = asyncio.Lock()
        self._saved = state or State()
        self.queue.restore(self._saved, clock())

    async def set_dataset(self, asked: SetDataset) -> DatasetSet:
        """The first one is indexed and served; the others wait for that, and are told what is served."""
        async with self._indexing:
            options = self.queue.options
            found = self.queue.dataset
            if found is None:
                found = await asyncio.to_thread(dataset.index, asked.globs, options.chunks_per_task)
            is_first = self._saving(partial(self.queue.set_dataset, found))
        if is_first:
            _log.info("serves %d tasks of %s", len(found.tasks), ", ".join(found.globs))
        return DatasetSet(is_first=is_first, globs=found.globs, tasks=len(found.tasks))

    def get_task(self, asked: GetTask) -> TaskGiven:
        """Give a task, or raise why there is none."""
        return self._saving(lambda: self.queue.get(asked.client, asked.request, asked.pass_id, self._clock()))

    def task_finished(self, told: TaskFinished) -> Counted:
        """Note that a task was read whole."""
        counted = self._saving(lambda: self.queue.finish(told.task, told.lease, self._clock()))
        return Counted(counted=counted)

    def task_failed(self, told: TaskFailed) -> Counted:
        """Note that a task could not be read."""
        _log.warning("task %d failed: %s", told.task, told.reason)
        return Counted(counted=self._saving(lambda: self.queue.fail(told.task, told.lease, self._clock())))

    def release(self, told: GiveBack) -> Counted:
        """Take back what a client has."""
        self._saving(lambda: self.queue.give_back(told.client))
        return Counted(counted=True)

    def request_save_model(self, asked: RequestSaveModel) -> SaveModel:
        """Say whether the trainer that asks is to save the model."""
        is_saver = self._saving(lambda: self.queue.request_save(asked.trainer, asked.block_s, self._clock()))
        return SaveModel(is_saver=is_saver)

    def _saving(self, work: Callable[[], _Answer]) -> _Answer:
        """Do ``work`` on the queue and save what it changed, also where it raises why it gives nothing."""
        before, counts = self.queue.revision, self.queue.counts()
        try:
            return work()
        finally:
            if self.queue.revision != before:
                self._save(counts)

    def _save(self, counts: dict[str, int]) -> None:
        now = self._clock()
        state = self.queue.state(now)
        try:
            if self._store:
                self._store.save(state)
        except MasterError:
            self.queue.restore(self._saved, now)
            raise
        self._saved = state
        after = self.queue.counts()
        if after["pass"] != counts["pass"]:
            _log.info("pass %d is over", counts["pass"])
        if after["failed"] > counts["failed"]:
            _log.error("a task failed for good in this pass: %s", after)
