"""The task queue: each rule, and any order of calls against a reference written from the guarantee."""

from __future__ import annotations

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from paddle._pserver.tasks.errors import (
    AllTaskFailed,
    MasterError,
    NoDataset,
    NoMoreAvailable,
    PassAfter,
    PassBefore,
    PassUnknown,
)
from paddle._pserver.tasks.messages import Dataset, Place, Spot, TaskGiven
from paddle._pserver.tasks.queue import Queue, QueueOptions

TIMEOUT_S = 10.0
FAILURE_MAX = 1


def dataset(tasks: int) -> Dataset:
    """One chunk per task, at the byte of the task's number."""
    return Dataset(globs=("*",), files=("data",), tasks=tuple((Spot(0, number),) for number in range(tasks)))


def queue_of(tasks: int) -> Queue:
    queue = Queue(QueueOptions(timeout_s=TIMEOUT_S, failure_max=FAILURE_MAX))
    queue.set_dataset(dataset(tasks))
    return queue


class Asker:
    """A client that counts its requests."""

    def __init__(self, queue: Queue, name: str) -> None:
        self.queue, self.name, self.requests = queue, name, 0

    def get(self, now: float = 0.0, pass_id: int = 0) -> TaskGiven:
        self.requests += 1
        return self.queue.get(self.name, self.requests, pass_id, now)


def test_two_trainers_get_every_task_once_in_every_pass() -> None:
    queue = queue_of(5)
    askers = [Asker(queue, "a"), Asker(queue, "b")]
    for pass_id in range(3):
        seen = []
        for turn in range(5):
            given = askers[turn % 2].get(pass_id=pass_id)
            seen += [place.offset for place in given.chunks]
            assert queue.finish(given.task, given.lease, 0.0)
        assert sorted(seen) == [0, 1, 2, 3, 4]
    assert queue.counts() == {"pass": 3, "todo": 5, "pending": 0, "done": 0, "failed": 0}


def test_what_is_given_back_is_a_change_that_lasts() -> None:
    """Else a master that is started again waits for a client that has left in order."""
    queue = queue_of(2)
    Asker(queue, "a").get()
    before = queue.revision
    queue.give_back("b")
    assert queue.revision == before, "it had none"
    queue.give_back("a")
    assert queue.revision > before


def test_a_task_says_where_its_chunks_are() -> None:
    assert Asker(queue_of(1), "a").get().chunks == (Place("data", 0),)


def test_only_the_first_data_set_counts() -> None:
    queue = queue_of(2)
    assert not queue.set_dataset(dataset(7))
    assert queue.counts()["todo"] == 2


def test_without_a_data_set_there_is_no_task() -> None:
    with pytest.raises(NoDataset):
        Asker(Queue(QueueOptions()), "a").get()


def test_a_task_that_takes_too_long_is_another_trainers_and_the_first_cannot_finish_it() -> None:
    queue = queue_of(1)
    slow, quick = Asker(queue, "slow"), Asker(queue, "quick")
    first = slow.get(now=0.0)
    with pytest.raises(NoMoreAvailable):
        quick.get(now=TIMEOUT_S - 0.1)
    second = quick.get(now=TIMEOUT_S)
    assert (second.task, second.lease == first.lease) == (first.task, False)
    assert not queue.finish(first.task, first.lease, TIMEOUT_S)
    assert queue.finish(second.task, second.lease, TIMEOUT_S)


def test_a_task_that_failed_comes_last_and_is_left_out_after_too_many_failures() -> None:
    queue = queue_of(2)
    a = Asker(queue, "a")
    bad = a.get()
    queue.fail(bad.task, bad.lease, 0.0)
    good = a.get()
    assert good.task != bad.task
    again = a.get()  # and the good one is todo again
    assert again.task == good.task
    queue.finish(again.task, again.lease, 0.0)
    last = a.get()
    assert last.task == bad.task
    queue.fail(last.task, last.lease, 0.0)
    assert queue.counts() == {"pass": 1, "todo": 2, "pending": 0, "done": 0, "failed": 0}


def test_when_every_task_failed_everybody_is_told_whatever_pass_is_asked_for() -> None:
    queue = queue_of(1)
    a = Asker(queue, "a")
    for _ in range(FAILURE_MAX + 1):
        given = a.get()
        assert queue.fail(given.task, given.lease, 0.0)
    for pass_id in (0, 1):
        with pytest.raises(AllTaskFailed, match="all 1 tasks failed more than 1 times"):
            a.get(pass_id=pass_id)


def test_who_is_ahead_helps_with_what_is_left_of_the_pass_then_waits() -> None:
    queue = queue_of(2)
    a, b = Asker(queue, "a"), Asker(queue, "b")
    mine = a.get()
    b.get(now=5.0)  # and b is heard of no more
    queue.finish(mine.task, mine.lease, 5.0)
    with pytest.raises(NoMoreAvailable):
        a.get(now=5.0)
    with pytest.raises(PassAfter):
        a.get(now=5.0, pass_id=1)
    left = a.get(now=5.0 + TIMEOUT_S, pass_id=1)
    queue.finish(left.task, left.lease, 5.0 + TIMEOUT_S)
    assert queue.pass_id == 1


def test_passes_that_are_over_or_cannot_be_known_are_told_apart() -> None:
    queue = queue_of(1)
    a = Asker(queue, "a")
    given = a.get()
    queue.finish(given.task, given.lease, 0.0)
    with pytest.raises(PassBefore):
        a.get(pass_id=0)
    with pytest.raises(PassUnknown, match="--state_file"):
        a.get(pass_id=3)


def test_a_request_that_comes_twice_is_answered_alike() -> None:
    queue = queue_of(2)
    assert queue.get("a", 1, 0, 0.0) == queue.get("a", 1, 0, 1.0)
    assert queue.counts()["pending"] == 1


def test_what_a_client_gives_back_is_next_and_did_not_fail() -> None:
    queue = queue_of(2)
    a, b = Asker(queue, "a"), Asker(queue, "b")
    for _ in range(FAILURE_MAX + 2):
        given = a.get()
        queue.give_back("a")
        assert queue.counts()["pending"] == 0
    assert b.get().task == given.task


def test_one_trainer_saves_the_model_until_its_time_is_over() -> None:
    queue = Queue(QueueOptions())
    assert queue.request_save("0", 5.0, now=0.0)
    assert not queue.request_save("1", 5.0, now=4.9)
    assert queue.request_save("0", 5.0, now=4.9)
    assert not queue.request_save("1", 5.0, now=9.8)
    assert queue.request_save("1", 5.0, now=9.9)


CLIENTS = st.sampled_from(["a", "b", "c"])


class AnyOrder(RuleBasedStateMachine):
    """The reference: sets, and the times at which leases end. It does not know an order of tasks."""

    def __init__(self) -> None:
        super().__init__()
        self.queue = Queue(QueueOptions(timeout_s=TIMEOUT_S, failure_max=FAILURE_MAX))
        self.now = 0.0
        self.tasks: set[int] = set()
        self.pass_id = 0
        self.todo: set[int] = set()
        self.held: dict[int, tuple[int, str, int, float]] = {}  # lease: task, client, request, until
        self.done: set[int] = set()
        self.failures: dict[int, int] = {}
        self.requests = 0
        self.given: list[TaskGiven] = []
        self.saver: tuple[str, float] = ("", 0.0)

    @rule(count=st.integers(1, 4))
    def set_dataset(self, count: int) -> None:
        assert self.queue.set_dataset(dataset(count)) is not bool(self.tasks)
        if not self.tasks:
            self.tasks = set(range(count))
            self._begin(0)

    @rule(seconds=st.integers(1, 12))
    def wait(self, seconds: int) -> None:
        self.now += seconds

    @rule(client=CLIENTS, ahead=st.integers(-1, 2), repeat=st.booleans())
    def get(self, client: str, ahead: int, repeat: bool) -> None:
        self._expire()
        held = [(lease, it) for lease, it in self.held.items() if it[1] == client]
        pass_id = max(0, self.pass_id + ahead)
        if repeat and held:
            (lease, (task, _, request, _)) = held[0]
            given = self.queue.get(client, request, pass_id, self.now)
            assert (given.task, given.lease) == (task, lease)
            return
        self.requests += 1
        if self.tasks:
            self._give_back(client)
        expected = self._refusal(pass_id)
        if expected:
            with pytest.raises(expected):
                self.queue.get(client, self.requests, pass_id, self.now)
            return
        given = self.queue.get(client, self.requests, pass_id, self.now)
        assert given.lease not in {old.lease for old in self.given}
        assert [place.offset for place in given.chunks] == [given.task]
        self.todo.remove(given.task)
        self.held[given.lease] = (given.task, client, self.requests, self.now + TIMEOUT_S)
        self.given.append(given)

    @precondition(lambda self: self.given)
    @rule(data=st.data(), well=st.booleans())
    def end(self, data: st.DataObject, well: bool) -> None:
        self._expire()
        given = data.draw(st.sampled_from(self.given))
        counts = (self.queue.finish if well else self.queue.fail)(given.task, given.lease, self.now)
        assert counts == (given.lease in self.held)
        if counts and well:
            del self.held[given.lease]
            self.done.add(given.task)
            self._settle()
        elif counts:
            self._fail(given.lease)

    @rule(client=CLIENTS)
    def give_back(self, client: str) -> None:
        self.queue.give_back(client)
        self._give_back(client)

    @rule(client=CLIENTS, seconds=st.integers(0, 12))
    def save(self, client: str, seconds: int) -> None:
        saver, until = self.saver
        mine = saver in ("", client) or self.now >= until
        assert self.queue.request_save(client, seconds, self.now) == mine
        if mine:
            self.saver = (client, self.now + seconds)

    @rule(later=st.integers(-100, 100))
    def go_on_from_the_state_on_another_clock(self, later: int) -> None:
        state = self.queue.state(self.now)
        self.now += later
        self.queue = Queue(self.queue.options)
        self.queue.restore(state, self.now)
        assert self.queue.state(self.now) == state
        self.held = {lease: (*it[:3], it[3] + later) for lease, it in self.held.items()}
        self.saver = (self.saver[0], self.saver[1] + later)

    @invariant()
    def every_task_is_where_the_reference_has_it(self) -> None:
        self._expire()
        self.queue.expire(self.now)
        state = self.queue.state(self.now)
        assert set(state.todo) == self.todo
        assert {it.lease: it.task for it in state.pending} == {le: it[0] for le, it in self.held.items()}
        assert set(state.done) == self.done
        assert set(state.failed) == self._failed()
        assert state.pass_id == self.pass_id
        assert sorted(
            [*state.todo, *[it.task for it in state.pending], *state.done, *state.failed]
        ) == sorted(self.tasks)

    def _refusal(self, pass_id: int) -> type[MasterError] | None:
        if not self.tasks:
            return NoDataset
        if pass_id < self.pass_id:
            return PassBefore
        if pass_id > self.pass_id + 1:
            return PassUnknown
        if self.todo:
            return None
        if self._failed() == self.tasks:
            return AllTaskFailed
        return NoMoreAvailable if pass_id == self.pass_id else PassAfter

    def _failed(self) -> set[int]:
        return {task for task, count in self.failures.items() if count > FAILURE_MAX}

    def _expire(self) -> None:
        for lease in [lease for lease, it in self.held.items() if it[3] <= self.now]:
            if lease in self.held:
                self._fail(lease)

    def _fail(self, lease: int) -> None:
        task = self.held.pop(lease)[0]
        self.failures[task] = self.failures.get(task, 0) + 1
        if self.failures[task] <= FAILURE_MAX:
            self.todo.add(task)
        self._settle()

    def _give_back(self, client: str) -> None:
        for lease in [lease for lease, it in self.held.items() if it[1] == client]:
            self.todo.add(self.held.pop(lease)[0])

    def _settle(self) -> None:
        if self.done and not self.todo and not self.held:
            self._begin(self.pass_id + 1)

    def _begin(self, pass_id: int) -> None:
        self.pass_id, self.todo, self.done, self.failures = pass_id, set(self.tasks), set(), {}


TestAnyOrder = AnyOrder.TestCase
