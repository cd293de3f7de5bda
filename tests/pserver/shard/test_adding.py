"""A gradient that is added while it comes is added once, and where its trainer does not come back the others
bring theirs again."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddle._engine.exchange import ParameterSpec
from paddle._pserver.protocol.announcing import Announce, Bring
from paddle._pserver.protocol.framing import PORTION_BYTES, FrameReader, bytes_of, pieces
from paddle._pserver.protocol.messages import Answer, Declare, Push, Reply, Seed, encode
from paddle._pserver.shard.adding import Adding
from paddle._pserver.shard.inlet import Inbound, Inlet
from paddle._pserver.shard.loan import Loan

from ..talk import Fails, Talk, update

SIZE = PORTION_BYTES // 2 + 300  # two portions, and a little more
PARAMETERS = (ParameterSpec(name="a", shape=(7,)), ParameterSpec(name="w", shape=(SIZE - 7,)))
RATE = np.float32(0.5)


@pytest.fixture(autouse=True)
def _every_size(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr("paddle._pserver.options.WORTH_BYTES", 1)
    yield


def numbers(trainer: int) -> np.ndarray:
    return np.random.default_rng(trainer).standard_normal(SIZE).astype("f4")


class Line:
    """A trainer's connection: what it sends is received by an inlet, as a session does it."""

    def __init__(self, talk: Talk, trainer: int) -> None:
        self.talk, self.trainer = talk, trainer
        self.inlet = Inlet(talk.shard, talk.session(trainer), Loan())
        self.reader: FrameReader[Inbound] = FrameReader(self.inlet.place)
        self.targets: list[int] = []

    def send(self, values: np.ndarray, *, portions: int | None = None, step: int = 1) -> list[Reply]:
        """Push them; only so many portions arrive where that is given."""
        data = b"".join(map(bytes, _views(step, values)))
        if portions is not None:
            data = data[: 200 + portions * (PORTION_BYTES + 8)]
        at, found = 0, list[Reply]()
        while at < len(data):
            room = self.reader.buffers()[0]
            part = data[at : at + room.nbytes]
            room[: len(part)] = part
            at += len(part)
            self.reader.received(len(part))
            while (inbound := self.reader.message()) is not None:
                if inbound.decode is not None:
                    inbound.decode()
                found += self.talk.ask_as_it_is(self.trainer, inbound.message, inbound.gradient)
            if self.inlet.adding is not None and self.reader.checked:
                self.inlet.adding.take(self.reader.checked)
        return found


def _views(step: int, values: np.ndarray) -> Iterator[memoryview]:
    for group in pieces(*encode(Push(step, 0, 1)), [bytes_of(values)]):
        yield from group


class Job(Talk):
    """Trainers of a dense shard of two parameters, each with a process that comes back."""

    def __init__(self, trainers: int = 3, **options: Any) -> None:
        super().__init__(trainers, update(), roles=frozenset({"dense"}), **({"gradient_bytes": 0} | options))
        for trainer in range(trainers):
            self.hello(trainer, f"process {trainer}")
            self.declare(trainer)
        assert self.ask(0, Seed()) == [Answer(0)]

    def declare(self, trainer: int) -> list[Reply]:
        return self.ask(trainer, Declare(PARAMETERS, self.spec, 0, 1))

    def ask_as_it_is(self, trainer: int, message: Any, gradient: Any) -> list[Reply]:
        effects = self.shard.handle(self.session(trainer), message, gradient, now=self.now)
        return self._take(effects, trainer)

    def line(self, trainer: int) -> Line:
        """After it was told to bring its gradient."""
        assert self.told(trainer) == Bring()
        return Line(self, trainer)

    def announce(self, *trainers: int, step: int = 1) -> None:
        for trainer in trainers:
            self.ask(trainer, Announce(step))

    def back(self, trainer: int, process: str = "") -> None:
        self.lose(trainer)
        self.connect(trainer)
        self.hello(trainer, process or f"process {trainer}")
        self.declare(trainer)

    def has_stepped(self, gradients: Sequence[np.ndarray]) -> bool:
        total = gradients[0].copy()
        for other in gradients[1:]:
            total += other
        assert self.shard.tables is not None
        return self.shard.tables.values.tobytes() == (-RATE * total).tobytes()


def test_it_is_added_portion_by_portion_to_what_is_there() -> None:
    job = Job()
    job.announce(2, 1, 0)
    job.line(0).send(numbers(0))
    line = job.line(1)
    assert line.send(numbers(1), portions=1) == []
    assert line.inlet.adding is not None and line.inlet.adding.has_begun
    job.back(1)
    job.announce(1)
    job.line(1).send(numbers(1))
    job.line(2).send(numbers(2))
    assert job.told(0) == job.told(1) == job.told(2) == Answer(1)
    assert job.has_stepped([numbers(0), numbers(1), numbers(2)])


@pytest.mark.parametrize("portions", [0, 1, 2])
def test_what_was_added_is_passed_over_when_it_comes_again_by_another_way(portions: int) -> None:
    job = Job()
    job.announce(0, 1, 2)
    job.line(0).send(numbers(0))
    job.line(1).send(numbers(1), portions=portions)
    job.back(1)
    again = numbers(1)
    job.ask_as_it_is(1, Push(1, 0, 1), _gradient(again))  # as from its own memory
    job.line(2).send(numbers(2))
    assert job.has_stepped([numbers(0), again, numbers(2)])


def _gradient(values: np.ndarray) -> Any:
    from paddle._pserver.tables.gradient import Gradient

    values.setflags(write=False)
    return Gradient([values[:7], values[7:]])


@pytest.mark.parametrize("portions", [0, 1, 2])
def test_where_it_is_left_out_the_others_bring_theirs_again(portions: int) -> None:
    job = Job(4, min_trainers=1, barrier_timeout_s=10)
    job.announce(0, 1, 2, 3)
    job.line(0).send(numbers(0))
    job.line(1).send(numbers(1))
    job.line(2).send(numbers(2), portions=portions)
    job.lose(2)
    first = len(job.replies)
    job.wait(11)
    if portions:
        assert any("trainer 2 has not brought all of its gradient" in note for note in job.notes)
        assert [id for id, reply in job.replies[first:] if reply == Bring()] == [0]  # in turn
        job.line(0).send(numbers(0))
        job.line(1).send(numbers(1))
    job.line(3).send(numbers(3))
    assert job.told(0) == job.told(1) == job.told(3) == Answer(1)
    assert job.has_stepped([numbers(0), numbers(1), numbers(3)])


@pytest.mark.parametrize("is_same", [True, False])
def test_one_that_loses_its_connection_whenever_it_is_told_to_come_is_left_out_all_the_same(
    is_same: bool,
) -> None:
    """``is_same``: process; else another one has its place each time."""
    job = Job(min_trainers=1, barrier_timeout_s=10)
    job.announce(1, 2)
    for attempt in range(3):
        job.back(0, f"process {is_same or attempt}")
        job.announce(0)
        assert job.told(0) == Bring()
        job.wait(4)
    assert job.dropped == [0]
    assert job.told(1) == Bring()


def test_those_that_bring_theirs_again_have_all_the_patience_there_is() -> None:
    job = Job(4, min_trainers=1, barrier_timeout_s=10)
    job.announce(0, 1, 2, 3)
    job.line(0).send(numbers(0))
    job.line(1).send(numbers(1))
    job.line(2).send(numbers(2), portions=1)
    job.wait(11)
    assert job.dropped == [2] and job.told(0) == Bring()
    job.wait(9)
    assert job.dropped == [2]
    job.line(0).send(numbers(0))
    assert job.told(1) == Bring()
    job.wait(9)
    job.line(1).send(numbers(1))
    job.wait(9)
    job.line(3).send(numbers(3))
    assert job.told(0) == job.told(1) == job.told(3) == Answer(1)
    assert job.has_stepped([numbers(0), numbers(1), numbers(3)])


def test_where_another_process_has_its_place_too() -> None:
    job = Job()
    job.announce(0, 1, 2)
    job.line(0).send(numbers(0))
    job.line(1).send(numbers(1), portions=1)
    job.back(1, "a newer process")
    job.announce(1)
    assert job.told(1) != Bring()
    job.line(0).send(numbers(0))
    job.line(1).send(numbers(7))  # of other data
    job.line(2).send(numbers(2))
    assert job.has_stepped([numbers(0), numbers(7), numbers(2)])
    assert job.shard.clocks.pushes == [1, 1, 1]


def test_one_that_is_to_bring_its_gradient_again_may_lose_its_connection() -> None:
    job = Job()
    job.announce(0, 1, 2)
    job.line(0).send(numbers(0))
    job.line(1).send(numbers(1), portions=1)
    job.lose(0)
    job.back(1, "a newer process")
    job.connect(0)
    job.hello(0, "process 0")
    job.declare(0)
    job.announce(1, 0)
    job.line(0).send(numbers(0))
    job.line(1).send(numbers(1))
    job.line(2).send(numbers(2))
    assert job.has_stepped([numbers(0), numbers(1), numbers(2)])


@pytest.mark.parametrize("step", [1, 3])
def test_a_push_that_will_be_in_no_step_is_not_added(step: int) -> None:
    job = Job()
    for each in range(3):
        job.push(each, _gradient(numbers(each)))
    job.announce(0, step=2)
    Line(job, 0).send(numbers(0), step=2)
    line = Line(job, 1)
    line.send(numbers(1), step=step, portions=1)
    assert line.inlet.adding is None


def test_what_was_decided_is_not_taken_for_what_is_to_come_again() -> None:
    job = Job(min_trainers=1)
    for each in range(3):
        job.push(each, _gradient(numbers(each)))
    job.announce(0, 1, 2, step=2)
    Line(job, 0).send(numbers(3), step=2)
    Line(job, 1).send(numbers(4), step=2, portions=1)
    first = len(job.replies)
    job.goodbye(1, "KeyboardInterrupt")
    assert (0, Bring()) in job.replies[first:]
    assert Line(job, 0).send(numbers(0), step=1) == [Answer(1)]  # as one that tells all again
    Line(job, 0).send(numbers(3), step=2)
    assert job.shard.clocks.pushes[0] == 2


def test_one_that_has_left_meanwhile_is_not_in_that_step() -> None:
    job = Job(4, min_trainers=1)
    job.announce(0, 1, 2, 3)
    job.line(0).send(numbers(0))
    job.line(1).send(numbers(1))
    job.goodbye(0, "KeyboardInterrupt")
    job.line(2).send(numbers(2), portions=1)
    job.goodbye(2, "KeyboardInterrupt")
    job.line(1).send(numbers(1))
    job.line(3).send(numbers(3))
    assert job.told(1) == job.told(3) == Answer(1)
    assert job.has_stepped([numbers(1), numbers(3)])


def test_where_all_that_had_come_have_left_it_is_said_so() -> None:
    job = Job(3, min_trainers=1)
    job.announce(0, 1, 2)
    job.line(0).send(numbers(0))
    job.goodbye(0, "KeyboardInterrupt")
    job.line(1).send(numbers(1), portions=1)
    job.goodbye(1, "KeyboardInterrupt")
    assert any("is brought again by nobody, as all of them have left" in note for note in job.notes)
    job.line(2).send(numbers(2))
    assert job.has_stepped([numbers(2)])


def test_what_comes_for_a_sum_that_is_void_is_not_added() -> None:
    total = np.zeros(4, np.float32)
    adding = Adding([total])
    (room,) = adding.begin()
    room[:] = bytes_of(np.ones(4, np.float32))
    adding.give_up()
    adding.take(16)
    assert not total.any()


def test_a_sum_that_is_void_is_kept_by_nobody_though_its_connection_is_still_there() -> None:
    job = Job(min_trainers=1)
    job.announce(0, 1, 2)
    job.line(0).send(numbers(0))
    line = job.line(1)
    line.send(numbers(1), portions=1)
    adding = line.inlet.adding
    assert adding is not None and adding.has_begun
    kept = [weakref.ref(array) for array in adding._total]
    job.goodbye(1, "KeyboardInterrupt")
    gc.collect()
    assert line.inlet.adding is adding and [array() for array in kept] == [None] * len(kept)


def test_what_is_next_on_the_connection_is_not_added() -> None:
    job = Job(min_trainers=1)
    job.announce(0, 1, 2)
    job.line(0).send(numbers(0))
    line = job.line(1)
    line.send(numbers(1))
    job.line(2).send(numbers(2))
    assert job.has_stepped([numbers(0), numbers(1), numbers(2)])
    job.announce(0, 1, step=2)
    Line(job, 0).send(numbers(3), step=2)
    assert line.inlet.adding is not None and line.inlet.adding._total == ()
    line.send(numbers(4), step=2, portions=1)
    assert line.inlet.adding is not None and line.inlet.adding.has_begun


def test_a_trainer_that_breaks_the_job_while_it_brings_its_gradient_is_told_of() -> None:
    job = Job()
    job.announce(0, 1, 2)
    job.line(0).send(numbers(0))
    job.line(1).send(numbers(1), portions=1)
    job.goodbye(1, "KeyboardInterrupt")
    assert job.told(0) == job.told(2) == Fails("TrainerLost", "trainer 1 at host1 failed: KeyboardInterrupt")


@given(
    sizes=st.lists(st.integers(1, 40), min_size=1, max_size=5),
    breaks=st.lists(st.integers(0, 8), max_size=4),
    cuts=st.lists(st.integers(1, 60), max_size=6),
    is_whole=st.booleans(),
)
def test_each_number_is_added_once_wherever_it_was_broken_off(
    sizes: list[int], breaks: list[int], cuts: list[int], is_whole: bool
) -> None:
    size, chances = sum(sizes), np.random.default_rng(len(cuts))
    was, values = (chances.standard_normal(size).astype("f4") for _ in range(2))
    ends = np.cumsum(sizes)[:-1]
    flat = was.copy()
    adding = Adding(np.split(flat, ends))
    adding._room = room = np.empty(16, np.float32)
    for portions in [*breaks, 1 << 10]:
        adding._come = at = 0
        if is_whole and portions == 1 << 10:
            adding.add_rest(np.split(values, sorted({min(cut, size) for cut in cuts})))
            break
        while at < size and portions:
            step = min(16, size - at)
            room[:step] = values[at : at + step]
            at, portions = at + step, portions - 1
            adding.take(4 * at)
            adding.take(4 * at)  # it is looked now and then
    assert flat.tobytes() == (was + values).tobytes()
