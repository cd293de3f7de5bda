"""Which rows a trainer is told of, against a reference that keeps every change for every trainer."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paddle._engine.exchange import ModeSpec, ParameterSpec, RuleSpec, ScheduleSpec, UpdateSpec
from paddle._pserver.protocol.placement import row_ranges
from paddle._pserver.shard.changes import Changes, PackedPlaces, Places, stamp_bytes
from paddle._pserver.tables.gradient import Rows
from paddle._pserver.tables.open_places import OpenPlaces

TABLES = (
    ParameterSpec(name="t", shape=(400, 2), sparse=True),
    ParameterSpec(name="u", shape=(9, 1), sparse=True),
)
HELD = row_ranges(TABLES, 1, 3)
WIDTHS = [held.width for held in HELD]


def rows(ids: list[int]) -> Rows:
    return Rows(np.array(ids, np.int64), np.zeros((len(ids), 1), np.float32))


def ids_of(index: int) -> list[int]:
    held = HELD[index]
    return list(range(held.first, held.parameter.shape[0], held.stride))


def everything() -> set[tuple[int, int]]:
    return {(table, id) for table in range(len(HELD)) for id in ids_of(table)}


def packed(restored: bool = False) -> list[Places]:
    return [PackedPlaces(held) for held in HELD]


def opened(restored: bool) -> list[Places]:
    """As if the tables had no height, and the same rows."""
    return [
        OpenPlaces(np.array(ids_of(index) if restored else [], np.int64), lambda count, size: None)
        for index in (0, 1)
    ]


PLACES = {"packed": packed, "open": opened}


class Reference:
    """Sets of ids: what each trainer has not been told of, and what was on the way to it last."""

    def __init__(self, trainers: int, *, own: bool, restored: bool) -> None:
        self._own = own
        known = [set(ids_of(index)) if restored else set() for index in range(len(HELD))]
        self._pending = [[set(ids) for ids in known] for _ in range(trainers)]
        self._sent: list[list[set[int]]] = [[set() for _ in HELD] for _ in range(trainers)]

    def add(self, by: int, pushed: list[list[int]]) -> None:
        for trainer, pending in enumerate(self._pending):
            if self._own or trainer != by:
                for ids, changed in zip(pending, pushed, strict=True):
                    ids.update(changed)

    def take(self, trainer: int, *, heard: bool) -> list[list[int]]:
        if not heard:
            for ids, lost in zip(self._pending[trainer], self._sent[trainer], strict=True):
                ids.update(lost)
        self._sent[trainer] = self._pending[trainer]
        self._pending[trainer] = [set() for _ in HELD]
        return [sorted(ids) for ids in self._sent[trainer]]


TRAINER = st.integers(0, 2)
PUSHED = st.tuples(*(st.lists(st.sampled_from(ids_of(index)), unique=True, max_size=6) for index in (0, 1)))
EVENT = st.one_of(st.tuples(TRAINER, PUSHED), st.tuples(TRAINER, st.booleans()))


@pytest.mark.parametrize("kind", PLACES)
@settings(max_examples=200, deadline=None)
@given(events=st.lists(EVENT, max_size=40), own=st.booleans(), restored=st.booleans())
def test_each_trainer_is_told_once_of_what_others_changed_and_again_of_what_was_lost(
    kind, events, own, restored
):
    changes = Changes(3, PLACES[kind](restored), WIDTHS, own=own, restored=restored)
    reference, told = Reference(3, own=own, restored=restored), [0, 0, 0]
    for trainer, what in events:
        if isinstance(what, bool):  # whether it heard what it was told last
            told[trainer] += what and changes.sent(trainer) != []
            heard = what or changes.sent(trainer) == []
            taken = changes.take(trainer, told[trainer])
            assert [ids.tolist() for ids in taken] == reference.take(trainer, heard=heard)
            assert changes.sent(trainer) is taken
        else:
            changes.add(trainer, [rows(ids) for ids in what])
            reference.add(trainer, [list(ids) for ids in what])


class Portions:
    """What three trainers are told in small portions: ``due``: what each has to hear of yet."""

    def __init__(self, changes: Changes, *, own: bool, due: set[tuple[int, int]]) -> None:
        self._changes, self._own = changes, own
        self.due, self._told = [set(due) for _ in range(3)], [0, 0, 0]

    def add(self, by: int, pushed: list[list[int]]) -> None:
        self._changes.add(by, [rows(ids) for ids in pushed])
        changed = {(table, id) for table, ids in enumerate(pushed) for id in ids}
        for trainer in range(3):
            self.due[trainer] |= changed if self._own or trainer != by else set()

    def tell(self, trainer: int, *, comes: bool = True) -> set[tuple[int, int]]:
        taken = self._changes.take(trainer, self._told[trainer])
        assert all(ids.tolist() == sorted(set(ids.tolist())) for ids in taken)
        size = sum(len(ids) * (8 + 4 * width) for width, ids in zip(WIDTHS, taken, strict=True))
        assert size <= PORTION_BYTES + 8 + 4, "as much as a portion, and a row of the last table"
        sent = {(table, id) for table, ids in enumerate(taken) for id in ids.tolist()}
        if comes:
            self._told[trainer] += 1
            self.due[trainer] -= sent
        return sent

    def tell_all(self, trainer: int) -> None:
        """To the end of a telling that has begun, and one more."""
        for _ in range(2):
            self.tell(trainer)
            while self._changes.has_more(trainer):
                self.tell(trainer)


PORTION_BYTES = 50


@pytest.mark.parametrize("kind", PLACES)
@settings(max_examples=200, deadline=None)
@given(events=st.lists(EVENT, max_size=60), own=st.booleans(), restored=st.booleans())
def test_in_portions_it_is_told_of_all_of_it_too(kind, events, own, restored):
    """Whatever is changed, and lost, between two of them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("paddle._pserver.shard.changes.PORTION_BYTES", PORTION_BYTES)
        patch.setattr("paddle._pserver.shard.changes._AT_ONCE", 7)
        changes = Changes(3, PLACES[kind](restored), WIDTHS, own=own, restored=restored)
        portions = Portions(changes, own=own, due=everything() if restored else set())
        for trainer, what in events:
            if isinstance(what, bool):
                portions.tell(trainer, comes=what)
            else:
                portions.add(trainer, what)
        for trainer in range(3):
            portions.tell_all(trainer)
            assert portions.due[trainer] == set()
            assert portions.tell(trainer) == set()


def test_what_nobody_changes_meanwhile_is_told_once_in_all_portions(monkeypatch):
    monkeypatch.setattr("paddle._pserver.shard.changes.PORTION_BYTES", 160)
    changes = Changes(1, packed(restored=True), WIDTHS, own=True, restored=True)
    heard: list[list[int]] = [[], []]
    for told in range(20):
        for ids, more in zip(heard, changes.take(0, told), strict=True):
            ids += more.tolist()
        if not changes.has_more(0):
            break
    assert heard == [ids_of(0), ids_of(1)]
    assert told == (len(ids_of(0)) - 1) // 10
    assert [len(ids) for ids in changes.take(0, told + 1)] == [0, 0]


def test_what_is_pushed_may_be_overwritten_by_the_next_push():
    changes, ids = Changes(2, packed(), WIDTHS, own=False), np.array([ids_of(0)[3]])
    changes.add(0, [Rows(ids, np.zeros((1, 2), np.float32)), rows([])])
    ids[0] = ids_of(0)[5]
    assert changes.take(1, 0)[0].tolist() == [ids_of(0)[3]]


@pytest.mark.parametrize(("mode", "each"), [("geo", 20), ("average", 8), ("elastic_average", 8), ("sync", 0)])
def test_what_is_kept_for_a_row_does_not_grow_with_the_trainers(mode, each):
    update = UpdateSpec(rule=RuleSpec(name="sgd"), schedule=ScheduleSpec(), mode=ModeSpec(name=mode))
    assert stamp_bytes(update) == each
    if each:
        few, many = (Changes(trainers, packed(), WIDTHS, own=mode != "geo") for trainers in (1, 500))
        for changes in (few, many):
            stamps = changes._tables[0]
            kept = (stamps._last, stamps._by, stamps._before)
            assert sum(array.nbytes for array in kept) == each * HELD[0].count


@pytest.mark.parametrize("kind", PLACES)
def test_pushes_that_change_no_row_of_a_table_leave_nothing_behind(kind):
    changes = Changes(2, PLACES[kind](False), WIDTHS, own=False)
    pushed = [rows(ids_of(0)[:6]), rows([])]
    for _ in range(2000):
        changes.add(0, pushed)
    some, none = (len(stamps._list) for stamps in changes._tables)
    assert some <= len(ids_of(0))
    assert none == 0
