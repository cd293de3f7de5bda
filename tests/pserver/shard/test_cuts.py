"""A state that is cut by the clock, or cannot be for want of memory, and a disk that does not even fail."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import pytest

from paddle._engine.exchange import ModeSpec
from paddle._pserver.options import SnapshotOptions
from paddle._pserver.protocol.messages import Answer, Hold, Keep, Push, Reply, Save, Seed, Waiting
from paddle._pserver.shard.saving import WORD_S
from paddle._pserver.tables.tables import Tables

from ..talk import ONE, TWO, Fails, Talk, update
from .test_arrival import joined

WHO = 9
"""The place of somebody who never said Hello."""


def kept(period: int = 2, **options: float) -> Talk:
    return joined(2, snapshots=SnapshotOptions(folder="a folder", period=period), **options)


def step(talk: Talk) -> None:
    talk.push(0, ONE)
    assert isinstance(talk.push(1, TWO)[0], Answer)


@contextmanager
def no_memory(error: type[Exception] = MemoryError) -> Iterator[None]:
    with patch.object(Tables, "cut", side_effect=error("Unable to allocate 9.00 GiB")):
        yield


@pytest.mark.parametrize("error", [MemoryError, OSError])
def test_a_cut_for_which_there_is_no_memory_fails_that_snapshot_and_nothing_else(
    error: type[Exception],
) -> None:
    talk = kept()
    step(talk)
    with no_memory(error):
        step(talk)
    assert (talk.shard.saving.failed, talk.shard.saving.is_busy, talk.shard.broken) == (1, False, None)
    assert [cut.facts.version for cut in talk.cuts] == [0]
    assert any("could not be written: there is no memory" in note for note in talk.notes)
    step(talk)
    step(talk)
    assert [cut.facts.version for cut in talk.cuts] == [0, 4]
    assert talk.restart().w == talk.w


def test_a_trainer_whose_journal_is_full_goes_on_where_there_is_no_memory_for_a_cut() -> None:
    talk = kept(1000)
    step(talk)
    with no_memory():
        assert [type(reply) for reply in talk.ask(0, Save())] == [Answer]
    step(talk)


def test_one_that_says_goodbye_waits_until_there_is_memory_again() -> None:
    talk = kept(1000)
    step(talk)
    with no_memory():
        assert isinstance(talk.goodbye(0)[0], Waiting)
        talk.wait(1)
    talk.wait(2)
    talk.wait(2)
    assert isinstance(talk.told(0), Answer)
    assert talk.cuts[-1].facts.trainers[0].is_gone


def test_who_wants_a_copy_for_which_there_is_no_memory_is_told_and_may_ask_again() -> None:
    talk = kept(1000)
    step(talk)
    with no_memory():
        assert talk.ask(WHO, Hold(1)) == [Fails("NoSnapshot", "no memory")]
    step(talk)
    assert not talk.shard.saving.is_busy
    talk.ask(WHO, Hold(2))
    assert talk.ask(WHO, Keep()) == [Answer(2)]


def test_without_memory_for_the_first_snapshot_the_job_does_not_begin() -> None:
    talk = Talk(1, snapshots=SnapshotOptions(folder="a folder"))
    talk.hello(0, "process 0")
    talk.declare(0)
    with no_memory():
        talk.ask(0, Seed())
        assert talk.ask(0, Seed("t")) == [Fails("TrainerLost", "no memory")]
    assert talk.shard.broken is not None and talk.shard.broken.is_own


def words(replies: list[tuple[int, Reply]], to: int) -> int:
    return sum(who == to and isinstance(message, Waiting) for who, message in replies)


def test_a_disk_that_hangs_keeps_nobody_who_leaves_for_longer_than_others_are_waited_for() -> None:
    talk = kept(1000, barrier_timeout_s=60)
    step(talk)
    talk.disk_is_slow = True
    first = len(talk.replies)
    talk.goodbye(0)
    for second in range(1, 61):
        assert all(isinstance(said, Waiting) for to, said in talk.replies[first:] if to == 0), second
        talk.wait(1)
    assert isinstance(talk.told(0), Answer) and 0 in talk.closed
    assert words(talk.replies, 0) >= 60 // WORD_S - 1
    assert any("lets trainer 0 go though" in note for note in talk.notes)
    assert isinstance(talk.push(1, ONE)[0], Answer)
    talk.write()  # it does answer in the end, and nobody is told again
    assert isinstance(talk.told(0), Answer)


def test_whoever_waits_for_a_long_write_hears_that_the_shard_is_there() -> None:
    talk = kept(1000)
    step(talk)
    talk.disk_is_slow = True
    assert talk.ask(0, Save()) == []
    for _ in range(20):
        talk.wait(1)
    assert words(talk.replies, 0) == 20 // WORD_S
    talk.write()
    assert isinstance(talk.told(0), Answer)
    for _ in range(20):
        talk.wait(1)
    assert isinstance(talk.told(0), Answer)


def pushed(talk: Talk, trainer: int, *, cut: bool = False) -> Answer | None:
    """The next push of a trainer."""
    talk._steps[trainer] += 1
    told = talk.ask(trainer, Push(talk._steps[trainer], 0, 1, cut=cut), ONE)
    return told[-1] if told and isinstance(told[-1], Answer) else None


def timed(**options: Any) -> Talk:
    snapshots = SnapshotOptions(folder="a folder", period=1000, interval_s=60)
    return joined(2, snapshots=snapshots, **options)


def test_in_step_all_shards_are_cut_after_the_step_that_follows_on_the_word_of_one_of_them() -> None:
    """They have clocks of their own: a trainer that hears one of them tells all."""
    shards = timed(), timed()
    for seconds in (61, 30):
        for shard, passed_s in zip(shards, (seconds, seconds - 20), strict=True):
            shard.wait(passed_s)
            pushed(shard, 0)
        answers = [pushed(shard, 1) for shard in shards]
        assert [answer and answer.wants_cut for answer in answers] == [seconds == 61, False]
        wants = any(answer and answer.wants_cut for answer in answers)
        for trainer in (1, 0):
            answers = [pushed(shard, trainer, cut=wants and trainer == 1) for shard in shards]
        assert not any(answer and answer.wants_cut for answer in answers)
    for shard in shards:
        assert [(cut.facts.version, cut.is_regular) for cut in shard.cuts] == [(0, True), (2, True)]
        assert shard.shard.saving.counts["interval"] == 1
        assert shard.restart(shard.cuts[-1]).w[0] == -2.0


def test_one_whose_disk_is_busy_wants_a_cut_once_it_is_not_and_then_all_have_it() -> None:
    talk = timed()
    talk.disk_is_slow = True
    talk.wait(61)
    step(talk)
    for trainer in (0, 1):
        pushed(talk, trainer, cut=True)  # of which the write takes two minutes
    talk.wait(61)
    step(talk)
    talk.wait(61)
    pushed(talk, 0, cut=True)
    answer = pushed(talk, 1)
    assert answer is not None and not answer.wants_cut
    step(talk)
    talk.write()
    talk.wait(1)
    assert [cut.facts.version for cut in talk.cuts] == [0, 2]
    pushed(talk, 0)
    answer = pushed(talk, 1)
    assert answer is not None and answer.wants_cut
    pushed(talk, 0, cut=True)
    pushed(talk, 1)
    assert [cut.facts.version for cut in talk.cuts] == [0, 2, 7]


def test_who_is_not_in_step_names_no_version_and_is_cut_by_each_shards_own_clock() -> None:
    talk = timed(spec=update(mode=ModeSpec(name="async")))
    pushed(talk, 0, cut=True)
    assert [cut.facts.version for cut in talk.cuts] == [0]
    talk.now += 61
    answer = pushed(talk, 1)
    assert answer is not None and not answer.wants_cut
    assert [cut.facts.version for cut in talk.cuts] == [0, 2]
