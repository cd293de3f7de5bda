"""A trainer whose goodbye was heard, and the answer to it not: it comes back to say it again."""

from __future__ import annotations

import pytest

from paddle._engine.exchange import ModeSpec
from paddle._pserver.options import SnapshotOptions
from paddle._pserver.protocol.messages import Answer, Mark, Waiting

from ..talk import ONE, Talk, update
from .test_arrival import joined, welcome

SELDOM = SnapshotOptions(folder="a folder", period=1000)
MODES = [ModeSpec(), ModeSpec(name="async"), ModeSpec(name="ssp", staleness=1)]


def leaving(mode: ModeSpec, *, ends_pass: bool) -> Talk:
    """Of two trainers that have pushed once one says goodbye, and its connection breaks before the answer."""
    talk = joined(2, spec=update(mode=mode), snapshots=SELDOM, barrier_timeout_s=10)
    talk.push(0, ONE)
    talk.push(1, ONE)
    if ends_pass:
        talk.end_pass(0)
        talk.end_pass(1)
    talk.disk_is_slow = True
    assert talk.goodbye(0) == []
    talk.lose(0)
    talk.disk_is_slow = False
    talk.write()
    return talk


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: str(mode.name))
@pytest.mark.parametrize("ends_pass", [False, True])
@pytest.mark.parametrize("is_restarted", [False, True])
def test_it_hears_that_the_shard_has_all_it_told(mode: ModeSpec, ends_pass: bool, is_restarted: bool) -> None:
    talk = leaving(mode, ends_pass=ends_pass)
    if is_restarted:
        talk = talk.restart()
        welcome(talk, 1, "process 1", Mark(1, int(ends_pass)))
    told = Mark(1, int(ends_pass))
    settled = welcome(talk, 0, "process 0", told).settled
    assert (settled.pushes, settled.passes) == (told.pushes, told.passes)
    assert isinstance(talk.goodbye(0)[0], Answer)
    assert isinstance(talk.push(1, ONE)[0], Answer)  # which waits for nobody
    talk.end_pass(1)
    talk.goodbye(1)
    assert talk.shard.outcome is not None and talk.shard.outcome.exit_status == 0


def test_nobody_waits_for_it_where_its_connection_breaks_again() -> None:
    talk = leaving(ModeSpec(), ends_pass=True)
    welcome(talk, 0, "process 0", Mark(1, 1))
    assert isinstance(talk.push(1, ONE)[0], Answer)
    assert isinstance(talk.end_pass(1)[0], Answer)  # and a pass begins while it is here
    talk.lose(0)
    assert isinstance(talk.push(1, ONE)[0], Answer)
    talk.goodbye(1)
    assert talk.shard.outcome is not None and talk.shard.outcome.exit_status == 0


def waits(reply: object) -> bool:
    return isinstance(reply, Waiting) and "a snapshot that lasts" in reply.text


def full_disk(trainers: int = 2) -> Talk:
    """Trainers that have pushed once, and then a disk on which nothing can be written any more."""
    talk = joined(trainers, snapshots=SELDOM, barrier_timeout_s=60)
    for id in range(trainers):
        talk.push(id, ONE)
    talk.disk_is_slow = True
    return talk


def test_where_no_snapshot_can_be_written_it_is_tried_again_and_who_leaves_waits_for_that() -> None:
    talk = full_disk()
    assert talk.goodbye(0) == []
    for pause_s in (1, 2, 4):
        talk.write("the disk is full")
        assert waits(talk.told(0))
        talk.wait(pause_s)
    assert isinstance(talk.push(1, ONE)[0], Answer)  # meanwhile nobody waits for it
    talk.write()
    assert isinstance(talk.told(0), Answer)
    again = talk.restart()
    welcome(again, 1, "process 1", Mark(2))
    assert isinstance(again.push(1, ONE)[0], Answer)  # nor does anybody at one that is started again


def test_it_is_let_go_where_that_lasts_too_long_and_what_that_means_is_told() -> None:
    talk = full_disk()
    talk.goodbye(0)
    talk.write("the disk is full")
    while not isinstance(talk.told(0), Answer):
        cuts = len(talk.cuts)
        talk.wait(1.0)
        if len(talk.cuts) > cuts:
            talk.write("the disk is full")
    assert talk.now == 60
    assert any("lets trainer 0 go though no snapshot could be written in 60 s" in note for note in talk.notes)
    assert 0 in talk.closed


def test_once_the_last_has_left_nobody_waits_for_a_disk() -> None:
    talk = full_disk()
    talk.goodbye(0)
    talk.write("the disk is full")
    assert talk.goodbye(1) == []
    assert waits(talk.told(0))  # one more is on its way
    talk.write("the disk is full")
    assert isinstance(talk.told(0), Answer)
    assert isinstance(talk.told(1), Answer)
    assert talk.shard.outcome is not None and talk.shard.outcome.exit_status == 0


def test_one_that_waits_for_a_disk_and_is_gone_is_not_answered() -> None:
    talk = full_disk()
    talk.goodbye(0)
    talk.write("the disk is full")
    talk.lose(0)
    talk.wait(61)
    assert waits(talk.told(0))


def test_a_job_that_breaks_keeps_nobody_who_leaves() -> None:
    talk = full_disk()
    talk.goodbye(0)
    talk.write("the disk is full")
    talk.goodbye(1, "it failed")
    assert isinstance(talk.told(0), Answer)
