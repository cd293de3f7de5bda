"""Which rows a trainer is told of that updates by itself."""

from __future__ import annotations

from typing import Any

import pytest

from paddle._engine.exchange import ModeSpec
from paddle._pserver.options import SnapshotOptions
from paddle._pserver.protocol.messages import CountChanges, PullChanges

from ..talk import ONE, Fails, Talk
from ..trainer.test_modes_local import update


def talk(mode: ModeSpec) -> Talk:
    return Talk(2, update(mode)).start()


def changed(job: Talk, trainer: int, told: int) -> list[int]:
    job.ask(trainer, CountChanges(told))
    count, more = job.bodies[trainer][0].tolist()
    assert not more
    job.ask(trainer, PullChanges((count,)))
    ids: list[int] = job.bodies[trainer][0].tolist()
    assert job.bodies[trainer][1].shape == (count, 2)
    return ids


def rows(*ids: int) -> Any:
    from ..talk import gradient as of

    return of([1, 0, 0, 0], ids=ids)


def test_a_trainer_hears_once_of_rows_that_others_changed() -> None:
    job = talk(ModeSpec(name="geo"))
    job.push(0, rows(3, 1))
    job.push(0, rows(1, 4))
    job.push(1, rows(0))
    assert changed(job, 1, 0) == [1, 3, 4]
    assert changed(job, 1, 1) == []
    assert changed(job, 0, 0) == [0]
    job.push(0, rows(2))
    assert changed(job, 1, 2) == [2]


def test_what_was_lost_on_the_way_is_told_again() -> None:
    job = talk(ModeSpec(name="geo"))
    job.push(0, rows(3))
    assert changed(job, 1, 0) == [3]
    job.push(0, rows(1))
    assert changed(job, 1, 0) == [1, 3]
    assert changed(job, 1, 1) == []


def test_a_restored_shard_tells_all_rows_also_from_before_the_first_step() -> None:
    job = Talk(2, update(ModeSpec(name="geo")), snapshots=SnapshotOptions(folder="here", period=1))
    for trainer in range(2):
        job.hello(trainer, f"process {trainer}")
        job.declare(trainer)
    job.seed()
    job.push(0, rows(3))
    for cut in job.cuts:
        again = job.restart(cut)
        again.hello(1, "process 1")
        again.declare(1)
        assert changed(again, 1, 4) == [0, 1, 2, 3, 4], cut.facts.version
    assert {cut.facts.version for cut in job.cuts} == {0, 1}


def test_who_averages_hears_of_its_own_rows_too() -> None:
    job = talk(ModeSpec(name="average", is_async=True))
    job.push(0, rows(3))
    assert changed(job, 0, 0) == [3]


def test_ids_that_nobody_hears_of_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paddle._pserver.shard.changes.LOOK_AT_ALL", 1)
    job = talk(ModeSpec(name="geo"))
    for _ in range(50):
        job.push(0, rows(0, 1, 2))
    training = job.shard._beginning.training
    assert training is not None
    assert training._changes is not None
    (stamps,) = training._changes._tables
    assert stamps._listed == sum(len(places) for _, places in stamps._list) <= 5
    assert changed(job, 1, 0) == [0, 1, 2]


def test_changes_are_no_matter_of_other_modes() -> None:
    job = talk(ModeSpec(name="async"))
    assert job.ask(0, CountChanges(0)) == [Fails("BadMessage", "do not update by themselves")]


def test_rows_that_were_not_counted_are_refused() -> None:
    job = talk(ModeSpec(name="geo"))
    job.push(0, ONE)
    assert job.ask(1, PullChanges((3,))) == [Fails("NotCounted", "not counted")]
    assert job.closed == []
    assert changed(job, 1, 0) == []
