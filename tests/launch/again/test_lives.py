"""Whether a whole job begins again, how often and when."""

from __future__ import annotations

import pytest

from paddle._launch.again.lives import Lives


def begun(most: int = 2) -> Lives:
    lives = Lives(most, keeps_snapshots=True)
    lives.has_met = True
    return lives


def test_it_is_said_when_it_begins_again_from_what_and_how_often_it_still_may() -> None:
    lives = begun()
    said = [lives.take("trainer-1 was killed by SIGKILL", 10.0)]
    assert (lives.is_due(10.9), lives.is_due(11.0), lives.begin()) == (False, True, 2)
    said.append(lives.take("node 1 was lost", 20.0))
    assert (lives.is_due(21.9), lives.is_due(22.0), lives.begin()) == (False, True, 3)
    what = "from the newest snapshot that all shards have,"
    assert said == [
        f"the whole job begins again in 1 s, {what} and once more",
        f"the whole job begins again in 2 s, {what} for the last time",
    ]
    assert lives.why_not() == (
        "the whole job had begun again 2 times (--max_restart=2), the last time as node 1 was lost"
    )


def test_pauses_do_not_grow_for_ever() -> None:
    lives = begun(most=9)
    for _ in range(8):
        lives.take("node 1 was lost", 0.0)
        lives.begin()
    lives.take("node 1 was lost", 100.0)
    assert (lives.is_due(107.9), lives.is_due(108.0)) == (False, True)


@pytest.mark.parametrize(("most", "keeps", "has_met"), [(0, True, True), (2, False, True), (2, True, False)])
def test_where_there_is_nothing_to_go_on_from_nobody_wonders(most: int, keeps: bool, has_met: bool) -> None:
    lives = Lives(most, keeps_snapshots=keeps)
    lives.has_met = has_met
    assert lives.why_not() == ""
