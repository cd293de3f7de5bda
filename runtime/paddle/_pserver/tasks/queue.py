"""Queue: who has which task, and when it is given to another.

It must never know a clock, a file or a connection: every call says what time it is, in seconds.

Guarantee: each task of a data set is todo, pending under one lease, done or failed, and in a pass each is
finished under exactly one lease, or failed more often than ``failure_max``. A task is handed out again only
when its lease ran out, failed or was given back; without these, every task is handed out exactly once in a
pass. ``restore(state())`` goes on from there.

Rules:
 1. The first data set counts; another changes nothing.
 2. A lease ends ``timeout_s`` after it was given. That is noticed at the next call, and counts as a failure.
 3. Only the lease that a task is pending under can finish or fail it.
 4. A task that failed is handed out last; after more than ``failure_max`` failures it is failed for the pass.
 5. A pass is over when none is todo or pending and one is done: the next has all tasks, without failures.
 6. When all are failed no pass is left: whoever asks is told so, for good.
 7. A client has one task at most: when it asks anew, the one it had is todo again, first, and did not fail.
 8. A request that is repeated is answered with the lease that it was given.
 9. Who asks for the pass after the present one helps with what is todo of the present one, else waits.
10. One trainer saves the model: the first to ask, until its time is over; it may ask again.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from paddle._pserver.tasks.errors import (
    AllTaskFailed,
    NoDataset,
    NoMoreAvailable,
    PassAfter,
    PassBefore,
    PassUnknown,
)
from paddle._pserver.tasks.messages import Dataset, Lease, Place, Saver, State, TaskGiven


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueOptions:
    """``chunks_per_task`` is for who makes the tasks; the queue takes them as they come."""

    timeout_s: float = 1200.0
    failure_max: int = 3
    chunks_per_task: int = 10


@dataclass(frozen=True, slots=True)
class _Pending:
    lease: int
    client: str
    request: int
    until: float


class Queue:
    """The tasks of one data set."""

    def __init__(self, options: QueueOptions) -> None:
        self.options = options
        self.revision = 0  # counts changes, so that the owner knows when to save
        self.dataset: Dataset | None = None
        self.pass_id = 0
        self._leases = 0
        self._todo: deque[int] = deque()
        self._pending: dict[int, _Pending] = {}
        self._done: list[int] = []
        self._failed: list[int] = []
        self._failures: list[int] = []
        self._saver = ""
        self._save_until = 0.0

    # -- the data set ---------------------------------------------------------------------------------------

    def set_dataset(self, dataset: Dataset) -> bool:
        """Whether it is the first (rule 1)."""
        if self.dataset is not None:
            return False
        self.dataset = dataset
        self.revision += 1
        self._begin_pass(0)
        return True

    # -- tasks ----------------------------------------------------------------------------------------------

    def get(self, client: str, request: int, pass_id: int, now: float) -> TaskGiven:
        """Give ``client`` a task, or raise why there is none for it."""
        self.expire(now)
        if self.dataset is None:
            raise NoDataset("no data set is set: a trainer calls set_dataset with the paths of its files")
        for task, held in self._pending.items():
            if (held.client, held.request) == (client, request):
                return self._given(task, held.lease)
        self.give_back(client)
        self._check_pass(pass_id)
        task = self._todo.popleft()
        self._leases += 1
        self._pending[task] = _Pending(self._leases, client, request, now + self.options.timeout_s)
        self.revision += 1
        return self._given(task, self._leases)

    def finish(self, task: int, lease: int, now: float) -> bool:
        """Whether it counts (rule 3)."""
        self.expire(now)
        if not self._is_held(task, lease):
            return False
        del self._pending[task]
        self._done.append(task)
        self._settle()
        return True

    def fail(self, task: int, lease: int, now: float) -> bool:
        """Whether it counts (rule 3)."""
        self.expire(now)
        if not self._is_held(task, lease):
            return False
        self._count_failure(task)
        return True

    def give_back(self, client: str) -> None:
        """Rule 7."""
        for task in [task for task, held in self._pending.items() if held.client == client]:
            del self._pending[task]
            self._todo.appendleft(task)
            self.revision += 1

    def expire(self, now: float) -> None:
        """End the leases whose time is over (rule 2), the oldest first."""
        for task in [task for task, held in self._pending.items() if held.until <= now]:
            self._count_failure(task)

    # -- the model ------------------------------------------------------------------------------------------

    def request_save(self, trainer: str, block_s: float, now: float) -> bool:
        """Whether ``trainer`` is to save the model (rule 10)."""
        if self._saver not in ("", trainer) and now < self._save_until:
            return False
        self._saver = trainer
        self._save_until = now + block_s
        self.revision += 1
        return True

    # -- all of it ------------------------------------------------------------------------------------------

    def counts(self) -> dict[str, int]:
        """How many tasks are where, in which pass."""
        queues = {"todo": self._todo, "pending": self._pending, "done": self._done, "failed": self._failed}
        return {"pass": self.pass_id, **{name: len(tasks) for name, tasks in queues.items()}}

    def state(self, now: float) -> State:
        """Give the queue as a value."""
        return State(
            dataset=self.dataset,
            pass_id=self.pass_id,
            leases=self._leases,
            todo=tuple(self._todo),
            pending=tuple(
                Lease(task=task, lease=it.lease, client=it.client, request=it.request, left_s=it.until - now)
                for task, it in self._pending.items()
            ),
            done=tuple(self._done),
            failed=tuple(self._failed),
            failures=tuple(self._failures),
            saver=Saver(trainer=self._saver, left_s=self._save_until - now) if self._saver else None,
        )

    def restore(self, state: State, now: float) -> None:
        """Go on from a value; what was left of leases is left again."""
        self.dataset = state.dataset
        self.pass_id = state.pass_id
        self._leases = state.leases
        self._todo = deque(state.todo)
        self._pending = {
            it.task: _Pending(it.lease, it.client, it.request, now + it.left_s) for it in state.pending
        }
        self._done = list(state.done)
        self._failed = list(state.failed)
        self._failures = list(state.failures)
        self._saver = state.saver.trainer if state.saver else ""
        self._save_until = now + (state.saver.left_s if state.saver else 0.0)

    def _begin_pass(self, pass_id: int) -> None:
        tasks = range(len(self.dataset.tasks)) if self.dataset else range(0)
        self.pass_id = pass_id
        self._todo, self._done, self._failed = deque(tasks), [], []
        self._failures = [0 for _ in tasks]

    def _check_pass(self, pass_id: int) -> None:
        """Raise why the pass has no task for who asks for it."""
        if pass_id < self.pass_id:
            raise PassBefore(f"pass {pass_id} is over, the present one is {self.pass_id}")
        if pass_id > self.pass_id + 1:
            raise PassUnknown(
                f"the present pass is {self.pass_id} and pass {pass_id} was asked for. Has the master been "
                "started anew without its --state_file?"
            )
        if self._todo:
            return
        if not self._pending and not self._done:
            raise AllTaskFailed(
                f"all {len(self._failed)} tasks failed more than {self.options.failure_max} times each: "
                "the log of the master says why. Repair the files and start the master anew"
            )
        if pass_id > self.pass_id:
            raise PassAfter(f"pass {pass_id} begins when {len(self._pending)} tasks of others are finished")
        raise NoMoreAvailable(f"all tasks of pass {pass_id} are finished, failed or with others")

    def _given(self, task: int, lease: int) -> TaskGiven:
        assert self.dataset is not None
        chunks = tuple(Place(self.dataset.files[spot.file], spot.offset) for spot in self.dataset.tasks[task])
        return TaskGiven(task=task, lease=lease, timeout_s=self.options.timeout_s, chunks=chunks)

    def _is_held(self, task: int, lease: int) -> bool:
        return task in self._pending and self._pending[task].lease == lease

    def _count_failure(self, task: int) -> None:
        """Rule 4."""
        del self._pending[task]
        self._failures[task] += 1
        (self._failed if self._failures[task] > self.options.failure_max else self._todo).append(task)
        self._settle()

    def _settle(self) -> None:
        """A change was made; the pass may be over (rule 5)."""
        self.revision += 1
        if self._done and not self._todo and not self._pending:
            self._begin_pass(self.pass_id + 1)
