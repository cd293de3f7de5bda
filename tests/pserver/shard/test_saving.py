"""When a shard's state is cut, and who waits for which cut."""

from __future__ import annotations

from paddle._pserver.options import SnapshotOptions
from paddle._pserver.protocol.messages import Mark
from paddle._pserver.shard.saving import Cause, Known, Saving


def told(*marks: Mark) -> list[Known]:
    return [Known(f"process {id}", mark) for id, mark in enumerate(marks)]


def saving_at(version: int, *marks: Mark) -> Saving:
    """A cut of ``version`` is being written."""
    saving = Saving(SnapshotOptions(folder="here", period=1000))
    saving.begin(version, told(*marks), now=0.0)
    return saving


def test_trainers_whose_journals_are_full_at_the_same_push_share_a_cut() -> None:
    saving = saving_at(3, Mark(3), Mark(3))
    over: list[bool] = []
    saving.join(1, Known("process 1", Mark(3)), over.append)
    assert not saving.wants(3, 0.0, in_step=True)
    _, waiting = saving.end(lasts=True)
    for then in waiting:
        then(True)
    assert over == [True]
    assert not saving.wants(3, 0.0, in_step=True)


def test_a_cut_that_holds_less_of_a_trainer_is_not_shared() -> None:
    saving = saving_at(3, Mark(3), Mark(3))
    saving.join(1, Known("process 1", Mark(3, 1)), lambda _: None)
    assert saving.end(lasts=True)[1] == []
    assert saving.wants(3, 0.0, in_step=True)


def test_a_cut_that_holds_another_process_of_a_trainer_is_not_shared() -> None:
    saving = saving_at(3, Mark(3), Mark(3))
    saving.join(1, Known("another", Mark(3)), lambda _: None)
    assert saving.end(lasts=True)[1] == []


def test_a_cut_says_why_there_is_one_and_those_that_last_are_counted() -> None:
    saving = Saving(SnapshotOptions(folder="here", period=5, interval_s=60.0))
    saving.ask(Cause("start", "the initial values are there"), lambda _: None)
    assert saving.begin(0, told(Mark()), now=0.0).kind == "start"
    saving.end(lasts=True)
    saving.join(0, Known("process 0", Mark(3)), lambda _: None)
    full = saving.begin(3, told(Mark(3)), now=1.0)
    assert (full.kind, "trainer 0" in full.text, "journal_limit" in full.text) == ("journal", True, True)
    saving.end(lasts=False)
    assert "every 5 steps" in saving.begin(5, told(Mark(5)), now=2.0).text
    saving.end(lasts=True)
    assert saving.begin(6, told(Mark(6)), now=99.0).kind == "interval"
    saving.end(lasts=True)
    assert (saving.failed, saving.counts["journal"]) == (1, 0)
    assert {kind: count for kind, count in saving.counts.items() if count} == {
        "start": 1,
        "period": 1,
        "interval": 1,
    }
