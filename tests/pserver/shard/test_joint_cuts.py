"""In step there is a version that all shards have, whatever their disks are like: else no job could go on."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paddle._pserver.options import SnapshotOptions
from paddle._pserver.protocol.messages import Answer, Push

from ..talk import ONE, Talk
from .test_arrival import joined

PERIOD, KEEP, TRAINERS = 2, 3, 2
KEPT = SnapshotOptions(folder="a folder", period=PERIOD, interval_s=60, keep=KEEP)


class Disk:
    """That of one shard; ``steps``: so long it writes, ``fails``: and how often that fails."""

    def __init__(self, steps: int, fails: float) -> None:
        self.talk = joined(TRAINERS, snapshots=KEPT)
        self.talk.disk_is_slow = True
        self._steps, self._fails = steps, fails
        self._written, self._left = len(self.talk.cuts), steps
        self.lasting: list[tuple[int, bool]] = [(0, True)]

    def turn(self, random: Random) -> None:
        """A step has passed."""
        if len(self.talk.cuts) == self._written:
            return
        self._left -= 1
        if self._left > 0:
            return
        self._written, self._left = len(self.talk.cuts), self._steps
        fails = random.random() < self._fails
        if not fails:
            self.lasting.append((self.talk.cuts[-1].facts.version, self.talk.cuts[-1].is_regular))
        self.talk.write("the disk is full" if fails else None)

    @property
    def kept(self) -> set[int]:
        """The versions that are there: the newest, and the newest ones that all are to have."""
        return {self.lasting[-1][0], *[version for version, is_regular in self.lasting if is_regular][-KEEP:]}


def step(disks: list[Disk], told: dict[str, bool]) -> dict[str, bool]:
    """All trainers push, and say what shards have said; gives what these say now."""
    answers = []
    for trainer in range(TRAINERS):
        for disk in disks:
            talk: Talk = disk.talk
            talk._steps[trainer] += 1
            talk.ask(trainer, Push(talk._steps[trainer], 0, 1, **told), ONE)
    for disk in disks:
        last = disk.talk.told(0)
        assert isinstance(last, Answer)
        answers.append(last)
    lacking = any(answer.lacking for answer in answers)
    return {"lacking": lacking, "cut": not lacking and any(answer.wants_cut for answer in answers)}


@given(
    writes=st.lists(st.integers(1, 30), min_size=2, max_size=3),
    seconds=st.sampled_from([0.0, 9.0]),
    seed=st.integers(0, 1 << 32),
)
@settings(deadline=None, max_examples=60)
def test_there_is_always_one_that_all_have_however_slow_disks_are(
    writes: list[int], seconds: float, seed: int
) -> None:
    random, told = Random(seed), {"lacking": False, "cut": False}
    disks = [Disk(steps, 0.0) for steps in writes]
    for _ in range(120):
        told = step(disks, told)
        for disk in disks:
            disk.turn(random)
            disk.talk.wait(seconds)
        assert set.intersection(*[disk.kept for disk in disks])


@pytest.mark.parametrize("slowest", [1, 7, 30])
def test_it_is_as_new_as_the_slowest_disk_lets_it_be(slowest: int) -> None:
    disks, told = [Disk(1, 0.0), Disk(slowest, 0.0)], {"lacking": False, "cut": False}
    for steps in range(1, 150):
        told = step(disks, told)
        for disk in disks:
            disk.turn(Random(0))
        common = max(set.intersection(*[disk.kept for disk in disks]))
        assert steps - common <= 2 * (slowest + PERIOD) + 1


def test_a_disk_that_is_mended_soon_has_one_again_and_then_the_others_do() -> None:
    disks, told, random = [Disk(1, 0.0), Disk(1, 1.0)], {"lacking": False, "cut": False}, Random(0)
    for _ in range(40):
        told = step(disks, told)
        for disk in disks:
            disk.turn(random)
    assert max(disks[0].kept) == PERIOD, "it keeps what the other has, or might have had"
    disks[1]._fails = 0.0
    for _ in range(4 * PERIOD):
        told = step(disks, told)
        for disk in disks:
            disk.turn(random)
    assert max(set.intersection(*[disk.kept for disk in disks])) > 40
