"""When a shard's state is cut, and who waits for which cut."""

from __future__ import annotations

from paddle._pserver.messages import Mark
from paddle._pserver.options import SnapshotOptions
from paddle._pserver.saving import Saving


def saving_at(version: int, *marks: Mark) -> Saving:
    """A cut of ``version`` is being written."""
    saving = Saving(SnapshotOptions(folder="here", period=1000))
    saving.begin(version, marks, now=0.0)
    return saving


def test_trainers_whose_journals_are_full_at_the_same_push_share_a_cut() -> None:
    saving = saving_at(3, Mark(3), Mark(3))
    over: list[bool] = []
    saving.join(1, Mark(3), over.append)
    assert not saving.wants(3, 0.0, in_step=True)
    _, waiting = saving.end()
    for then in waiting:
        then(True)
    assert over == [True]
    assert not saving.wants(3, 0.0, in_step=True)


def test_a_cut_that_holds_less_of_a_trainer_is_not_shared() -> None:
    saving = saving_at(3, Mark(3), Mark(3))
    saving.join(1, Mark(3, 1), lambda _: None)
    assert saving.end()[1] == []
    assert saving.wants(3, 0.0, in_step=True)


def test_a_cut_that_holds_another_process_of_a_trainer_is_not_shared() -> None:
    saving = saving_at(3, Mark(3), Mark(3))
    saving.forget(1)
    saving.join(1, Mark(3), lambda _: None)
    assert saving.end()[1] == []
