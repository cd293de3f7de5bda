"""Whatever trainers do amid their gradients, a step whose gradients come in turn is over in bounded time, or
the job says because of whom it is not; and who did as it should is not to blame."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import cycle
from typing import Any, Literal, NamedTuple

import numpy as np
import pytest
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st

from paddle._engine.exchange import ParameterSpec
from paddle._pserver.protocol.announcing import Announce, Bring
from paddle._pserver.protocol.messages import Answer, Declare, Push, Seed
from paddle._pserver.shard.barrier import Barrier
from paddle._pserver.tables.gradient import Gradient

from ..talk import Talk

SIZE = 4
MODEL = (ParameterSpec(name="w", shape=(SIZE,)),)
PATIENCE_S = 10.0
ENOUGH_S = 20 * PATIENCE_S
"""Of three trainers the first has its time once. Each of the others has it twice, and up to three times those
before it bring theirs: 1, 3 + 2 and 15 + 2 times."""
SLOW_S = PATIENCE_S - 2
"""One that takes no longer is in time."""


@pytest.fixture(autouse=True)
def _every_size(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr("paddle._pserver.options.WORTH_BYTES", 1)
    yield


class Try(NamedTuple):
    """What a trainer does that is told to bring its gradient: so many numbers come, and after some time it
    ends as it ends; after some time more it is back."""

    numbers: int
    ends: Literal["brought", "replaced", "reconnected", "silent"]
    after_s: float = 0.0
    back_s: float = 0.0


class Job(Talk):
    """Trainers of a dense shard whose gradients come in turn."""

    trainers: Sequence[Trainer] = ()

    def __init__(self, trainers: int = 3, early: int = 0, min_trainers: int = 0) -> None:
        super().__init__(
            trainers,
            gradient_bytes=early * 4 * SIZE,
            min_trainers=min_trainers,
            roles=frozenset({"dense"}),
            barrier_timeout_s=PATIENCE_S,
        )
        for id in range(trainers):
            self.come(id)
        assert self.ask(0, Seed()) == [Answer(0)]

    def come(self, id: int, process: str = "process 0") -> None:
        """Also one that comes back."""
        if self.shard.roster.trainers[id].session is not None:
            self.lose(id)
        self.connect(id)
        self.hello(id, process)
        self.ask(id, Declare(MODEL, self.spec, 0, 1))

    def part(self, id: int, numbers: int) -> None:
        """So much of its gradient comes, and all of it is right."""
        model = self.shard.expecting(self.session(id))
        adding = model.adding(self.session(id), 1)
        if adding is not None:
            adding.begin()
            adding.take(4 * numbers)

    def bring(self, *ids: int) -> None:
        """All of it, after they were told to."""
        for id in ids:
            assert self.told(id) == Bring()
            self.ask(id, Push(1, 0, 1), Gradient([np.ones(SIZE, np.float32)]))

    def announce(self, *ids: int) -> None:
        for id in ids:
            self.ask(id, Announce(1))

    def replace(self, id: int, process: str) -> None:
        """It is, amid its gradient."""
        assert self.told(id) == Bring()
        self.part(id, 1)
        self.come(id, process)
        self.announce(id)

    @property
    def left_out(self) -> set[int]:
        return {one.id for one in self.shard.roster.trainers if one.is_left_out}

    @property
    def is_over(self) -> bool:
        return self.shard.broken is not None or self.shard.clocks.version > 0

    def run(self, tries: Sequence[Sequence[Try]]) -> float:
        """Until the step is over or the job is broken, or for too long; how long that was."""
        self.trainers = [Trainer(self, id, mine) for id, mine in enumerate(tries)]
        for half in range(2 * int(ENOUGH_S)):
            for trainer in self.trainers:
                if not self.is_over and trainer.id not in self.left_out:
                    trainer.act()
            if self.is_over:
                break
            self.now += 0.5
            if half % 2:
                self.wait(0)  # a shard looks once a second
        return self.now


class Trainer:
    """One of them, and what it does, over and over."""

    def __init__(self, job: Job, id: int, tries: Sequence[Try]) -> None:
        self.job, self.id, self._tries = job, id, cycle(tries)
        self.is_good = all(each.ends == "brought" and each.after_s <= SLOW_S for each in tries)
        self._try: Try | None = None  # that it is at
        self._until = 0.0
        self._is_away = False
        self._process = 0
        self._heard = self._say(Announce(1))

    def _say(self, message: Any, gradient: Gradient | None = None) -> int:
        """Ask; gives how many replies there were before."""
        heard = len(self.job.replies)
        self.job.ask(self.id, message, *(() if gradient is None else (gradient,)))
        return heard

    def act(self) -> None:
        """What it has come to by now."""
        told = [reply for to, reply in self.job.replies[self._heard :] if to == self.id]
        if self._try is None and Bring() in told:
            self._try = next(self._tries)
            self._until = self.job.now + self._try.after_s
            self.job.part(self.id, self._try.numbers)
        if self._try is not None and self.job.now >= self._until:
            self._end(self._try)

    def _end(self, this: Try) -> None:
        if this.ends == "silent":
            return
        if this.ends == "brought":
            self._try = None
            self._heard = self._say(Push(1, 0, 1), Gradient([np.ones(SIZE, np.float32)]))
            return
        if not self._is_away:
            self.job.lose(self.id)
            self._is_away, self._until = True, self.job.now + this.back_s
        if self.job.now >= self._until:
            self._is_away, self._try = False, None
            self._process += this.ends == "replaced"
            self.job.come(self.id, f"process {self._process}")
            self._heard = self._say(Announce(1))


SECONDS = st.sampled_from([0.0, 0.5, 3.0, SLOW_S, 2 * PATIENCE_S])
IN_TIME = st.sampled_from([0.0, 0.5, 3.0, SLOW_S])
GOOD = st.builds(Try, st.integers(0, SIZE), st.just("brought"), IN_TIME, st.just(0.0))
ANY = st.builds(
    Try,
    st.integers(0, SIZE),
    st.sampled_from(["replaced", "replaced", "reconnected", "silent", "brought"]),
    SECONDS,
    SECONDS,
)
TRIES = st.one_of(st.tuples(GOOD), st.lists(ANY, min_size=1, max_size=3))
ONE_IS_GOOD = st.tuples(st.tuples(GOOD), TRIES, TRIES).flatmap(st.permutations)
AT_ONCE = (Try(0, "brought"),)
AGAIN = (Try(1, "replaced"),)
"""Another process has its place amid its gradient, each time between two looks."""


@given(tries=ONE_IS_GOOD, early=st.integers(0, 1), min_trainers=st.integers(0, 1))
@example(tries=(AT_ONCE, AGAIN, AT_ONCE), early=0, min_trainers=0)
@example(tries=(AT_ONCE, (Try(1, "replaced", 3, 3),), AT_ONCE), early=0, min_trainers=1)
@example(tries=((Try(0, "brought", SLOW_S),), AGAIN, AT_ONCE), early=0, min_trainers=1)
@example(tries=((Try(0, "brought"), Try(0, "silent")), AGAIN, AT_ONCE), early=0, min_trainers=1)
@example(tries=((Try(0, "replaced", SLOW_S),), (Try(0, "brought", 3),), AGAIN), early=1, min_trainers=1)
@settings(max_examples=60, phases=[Phase.explicit, Phase.generate])
def test_a_step_is_over_in_bounded_time_and_who_did_as_it_should_is_in_it(
    tries: Sequence[Sequence[Try]], early: int, min_trainers: int
) -> None:
    job = Job(3, early, min_trainers)
    assert job.run(tries) < ENOUGH_S
    good = {trainer.id for trainer in job.trainers if trainer.is_good}
    assert not good & job.left_out
    assert job.shard.broken is None or not good & set(job.shard.broken.culprits)


@pytest.mark.parametrize("tries", [AGAIN, (Try(1, "replaced", 3, 3),)], ids=["at once", "slowly"])
def test_one_whose_place_others_have_again_and_again_is_found_out(
    tries: Sequence[Try], monkeypatch: pytest.MonkeyPatch
) -> None:
    """So it was: what those ask who bring theirs again began patience anew each time."""
    job = Job()
    assert job.run((AT_ONCE, tries, AT_ONCE)) < 4 * PATIENCE_S
    assert job.shard.broken is not None and job.shard.broken.culprits == (1,)
    monkeypatch.setattr(Barrier, "begin_again", lambda *_: None)
    assert Job().run((AT_ONCE, tries, AT_ONCE)) >= ENOUGH_S


# Nobody is given up for what others did.


def test_one_that_is_replaced_once_has_all_the_patience_there_is_when_it_is_told_again() -> None:
    job = Job()
    job.announce(0, 1, 2)
    job.bring(0)
    job.wait(9)
    job.replace(1, "process 1")
    job.bring(0)
    job.wait(9)
    assert job.shard.broken is None
    job.bring(1, 2)
    assert job.told(1) == Answer(1)


def test_one_whose_place_others_had_is_not_given_up_with_one_that_does_not_bring_its_own_again() -> None:
    job = Job(min_trainers=1)
    job.announce(0, 1, 2)
    job.bring(0)
    job.replace(1, "process 1")
    job.bring(0)
    job.wait(2)
    job.replace(1, "process 2")
    job.wait(9)
    job.wait(2)
    assert job.left_out == {0}
    job.wait(9)
    assert job.left_out == {0}
    job.bring(1, 2)
    assert job.told(1) == Answer(1)


def test_one_that_was_told_to_come_early_and_lost_its_turn_is_told_anew() -> None:
    job = Job(4, early=1, min_trainers=1)
    job.announce(2, 3)
    assert job.told(2) == Bring() != job.told(3)
    job.come(2)
    assert job.told(3) == Bring()
    job.announce(2, 0)
    job.bring(3, 0)
    job.wait(11)  # trainer 1 never comes
    assert job.left_out == {1} and job.told(2) == Bring()
    job.wait(9)
    assert job.left_out == {1}
    job.bring(2)
    assert job.told(0) == Answer(1)


def test_when_one_was_told_to_come_is_forgotten_where_it_ends_its_pass_instead() -> None:
    job = Job()
    job.announce(0)
    job.come(0, "process 1")
    for id in range(3):
        job.end_pass(id)
    job.wait(30)
    job.announce(0, 1)
    assert job.told(0) == Bring()
    job.wait(9)
    assert job.shard.broken is None


def test_those_that_wait_and_lose_their_connections_do_not_begin_patience_anew() -> None:
    job = Job()
    job.announce(0, 1, 2)
    for _ in range(3):
        job.wait(4)
        for id in (1, 2):
            job.come(id)
            job.announce(id)
    assert job.shard.broken is not None and job.shard.broken.culprits == (0,)
