"""Room: what is kept beyond the least, while there is memory for it."""

from __future__ import annotations

import numpy as np
import pytest

from paddle._engine.plans import room
from paddle._engine.plans.room import Kept, Room


@pytest.fixture
def spent(monkeypatch: pytest.MonkeyPatch) -> Room:
    found = Room()
    monkeypatch.setattr(room, "ROOM", found)
    monkeypatch.setattr(room, "MOST", 100)
    return found


def _keys(kept: Kept[int]) -> list[int]:
    return sorted(kept)


def test_all_are_kept_until_room_is_spent(spent: Room) -> None:
    kept: Kept[int] = Kept(2)
    for number in range(5):
        kept.put(number, number)
    assert _keys(kept) == [0, 1, 2, 3, 4]
    spent.grown = 100
    kept.put(5, 5)
    assert len(kept) == 4, "two go: the process has grown since"
    kept.put(6, 6)
    assert len(kept) == 4


def test_those_used_last_stay_and_the_least_in_any_case(spent: Room) -> None:
    kept: Kept[int] = Kept(8)
    for number in range(12):
        kept.put(number, number)
    for number in range(12, 40):
        spent.grown += 100
        assert kept.get(0) == 0
        kept.put(number, number)
    assert len(kept) == 8
    assert {0, 39} <= set(kept)


def test_of_shapes_that_come_in_turn_most_are_found(spent: Room) -> None:
    kept: Kept[int] = Kept(40)
    spent.grown = 100
    found = 0
    for number in [*range(44)] * 10:
        if kept.get(number) is None:
            kept.put(number, number)
        else:
            found += 1
    assert found > 0.6 * 440


def test_what_the_process_grows_by_is_counted_but_for_what_is_counted_elsewhere() -> None:
    made = Room()
    with made.growing(lambda: 0):
        kept = np.ones(1 << 22)
    assert 1 << 24 < made.grown < 1 << 26
    before, elsewhere = made.grown, 0
    with made.growing(lambda: elsewhere):
        more = np.ones(1 << 22)
        elsewhere = more.nbytes
    assert made.grown - before < 1 << 22
    assert kept.nbytes == elsewhere
