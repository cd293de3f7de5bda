"""The index from ids to rows against a dict, with ids chosen to collide."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from paddle._engine.kernels import cells, hashing
from paddle._pserver.errors import TooManyParameters
from paddle._pserver.tables import hash_index
from paddle._pserver.tables.hash_index import ABSENT, MAX_MARK, PASSED, HashIndex

LEAST, MOST = -(2**63), 2**63 - 1


def with_key(key: int) -> int:
    """The id that is scrambled to ``key``."""
    return int(hashing.unscrambled(np.uint64(key)))


# Homes fall with keys: those near zero crowd at the end of the cells, the largest at their beginning.
AT_THE_END = [with_key(key) for key in range(200)]
AT_THE_BEGINNING = [with_key(2**64 - 1 - key) for key in range(200)]
IN_THE_MIDDLE = [with_key((1 << 63) + key) for key in range(200)]
MODULO = [(i - 100) << 52 for i in range(200)]
PLAIN = [LEAST, MOST, LEAST + 1, MOST - 1, -1, 0, 1, *range(2, 200)]
POOL = AT_THE_END + AT_THE_BEGINNING + IN_THE_MIDDLE + MODULO + PLAIN
IDS = st.lists(st.sampled_from(POOL), max_size=120) | st.sampled_from(
    [AT_THE_END, AT_THE_BEGINNING, IN_THE_MIDDLE, MODULO, PLAIN]
)


def int64(ids: list[int]) -> np.ndarray:
    return np.array(ids, np.int64)


def keys(index: HashIndex) -> list[int]:
    """Those of all cells in use, in their order."""
    words = index._cells
    return [int(words[at, 0]) | int(words[at, 1]) << 32 for at in np.flatnonzero(words[:, 2])]


def assert_in_place(index: HashIndex) -> None:
    """Every cell in use is where its key belongs, and there is one for every place where a search begins."""
    used = np.flatnonzero(index._cells[:, 2])
    assert len(used) == index.used and len(index._cells) - 1 not in used
    assert len(index._cells) > index._larger
    place = -1
    for cell, key in zip(used.tolist(), keys(index), strict=True):
        place = max(place + 1, int(hashing.home(np.uint64(key), index._room)))
        assert cell == place


@dataclass
class Entered:
    row: int
    mark: int
    born: bool = True

    @property
    def signed(self) -> int:
        return -self.mark if self.born else self.mark

    def outlives(self, mark: int) -> bool:
        return self.mark + self.born > mark


class IndexMachine(RuleBasedStateMachine):
    """Whatever is asked in whatever order, the index says what two dicts say."""

    IS_MARKED = True

    def __init__(self) -> None:
        super().__init__()
        self.index, self.day = HashIndex(is_marked=self.IS_MARKED), 0
        self.entered: dict[int, Entered] = {}
        self.waiting: dict[int, tuple[int, int]] = {}  # id -> seen, day

    @rule(ids=IDS, needed=st.integers(0, 3), mark=st.integers(0, MAX_MARK))
    def admit(self, ids: list[int], needed: int, mark: int) -> None:
        born = []
        for id in ids:
            if id in self.entered:
                continue
            seen = self.waiting.pop(id, (0, 0))[0] + 1
            if self.index.is_marked and seen < needed:
                self.waiting[id] = (seen, self.day)
            else:
                self.entered[id] = Entered(len(self.entered), mark)
                born.append(id)
        needs = np.full(len(ids), needed, np.int64)
        assert self.index.admit(int64(ids), needs, day=self.day, mark=mark).tolist() == born

    @rule(ids=IDS)
    def find(self, ids: list[int]) -> None:
        rows, absent = self.index.find(int64(ids))
        expected = [self.entered[id].row if id in self.entered else ABSENT for id in ids]
        assert rows.tolist() == expected
        assert absent == expected.count(ABSENT)

    @precondition(lambda self: not self.index.is_marked)
    @rule(share=st.floats(0, 1), mark=st.integers(0, MAX_MARK))
    def keep_marks(self, share: float, mark: int) -> None:
        first = int(share * len(self.entered))
        self.index.keep_marks(first, mark)
        for known in self.entered.values():
            known.mark, known.born = mark, known.row >= first

    @precondition(lambda self: self.index.is_marked)
    @rule(ids=IDS, mark=st.integers(1, MAX_MARK))
    def visit(self, ids: list[int], mark: int) -> None:
        ids = list(dict.fromkeys(ids))
        rows, marks, absent = self.index.visit(int64(ids), mark)
        for id, row, was in zip(ids, rows.tolist(), marks.tolist(), strict=True):
            if id in self.entered:
                known = self.entered[id]
                assert (row, was) == (known.row, known.signed)
                self.entered[id] = Entered(known.row, mark, born=False)
            else:
                assert row == ABSENT
        assert absent == sum(id not in self.entered for id in ids)

    @precondition(lambda self: self.index.is_marked)
    @rule(ids=IDS, mark=st.integers(-9, MAX_MARK))
    def remark(self, ids: list[int], mark: int) -> None:
        known = [id for id in ids if id in self.entered]
        self.index.remark(int64(known), np.full(len(known), mark, np.int64))
        for id in known:
            self.entered[id].mark = abs(mark)
            self.entered[id].born &= mark <= 0

    @precondition(lambda self: self.index.is_marked)
    @rule(mark=st.integers(0, MAX_MARK), oldest=st.integers(0, 3))
    def retain(self, mark: int, oldest: int) -> None:
        kept, numbers = self.index.retain(mark, self.day - oldest)
        self.waiting = {id: way for id, way in self.waiting.items() if way[1] > self.day - oldest}
        stays = [known.outlives(mark) for known in sorted(self.entered.values(), key=lambda known: known.row)]
        assert kept.tolist() == stays
        survivors = sorted(
            (known.row, id, known) for id, known in self.entered.items() if known.outlives(mark)
        )
        self.entered = {
            id: Entered(new, known.mark, known.born) for new, (_, id, known) in enumerate(survivors)
        }
        assert [int(numbers[row]) for row, _, _ in survivors] == list(range(len(survivors)))
        self.day += 1

    @invariant()
    def it_lists_what_it_has(self) -> None:
        ids, marks = self.index.by_row()
        in_order = sorted(self.entered, key=lambda id: self.entered[id].row)
        assert ids.tolist() == in_order
        if self.index.is_marked:
            assert marks.tolist() == [self.entered[id].signed for id in in_order]
            assert self.index.marks(ids).tolist() == marks.tolist()
        waiting = zip(*(part.tolist() for part in self.index.candidates()), strict=True)
        assert {id: (seen, day) for id, seen, day in waiting} == {
            id: tuple(way) for id, way in self.waiting.items()
        }
        assert (self.index.rows, self.index.used) == (
            len(self.entered),
            len(self.entered) + len(self.waiting),
        )

    @invariant()
    def every_cell_is_where_its_key_belongs(self) -> None:
        assert_in_place(self.index)


class PlainMachine(IndexMachine):
    """It begins to keep marks late or never."""

    IS_MARKED = False


TestIndex = IndexMachine.TestCase
TestPlainIndex = PlainMachine.TestCase
TestIndex.settings = TestPlainIndex.settings = settings(
    max_examples=60, stateful_step_count=12, deadline=None
)


@pytest.mark.parametrize("crowded", [False, True])
@pytest.mark.parametrize("is_marked", [False, True])
def test_an_index_grows_by_no_more_than_new_ids_ask_for_and_is_right_meanwhile(crowded, is_marked):
    """Counted in cells that growing went through. Of crowded ids a third wants to be at one end."""
    ids = np.random.default_rng(9).permutation(40_000) * 1_000_003
    if crowded:
        ids[::3] = [with_key(key) for key in range(1, 1 + len(ids[::3]))]
    index, one = HashIndex(is_marked=is_marked), np.ones(len(ids), np.int64)
    turns = set()
    for begin in range(0, len(ids), 500):
        before = index.passed
        index.admit(ids[begin : begin + 500], one[:500])
        assert index.passed - before <= PASSED * 500
        turns.add(int(index._turn))
        if begin % 2500 == 0 or (index._is_growing and len(turns) % 7 == 0):
            assert index.find(ids[: begin + 500])[0].tolist() == list(range(begin + 500))
            assert_in_place(index)
        if begin > 20_000 and not crowded:
            assert index.nbytes < (16 if is_marked else 12) * index.used / 0.79
    assert len(turns) > 30


@pytest.mark.parametrize("ids", [AT_THE_END, AT_THE_BEGINNING, IN_THE_MIDDLE])
def test_a_crowd_of_ids_is_found_while_the_index_grows_in_small_parts(ids, monkeypatch):
    """Most parts are empty; those at the end have no room there."""
    monkeypatch.setattr(hash_index, "_CELLS_AT_ONCE", 7)
    key = int(hashing.scrambled(ids[0]))
    ids = int64([with_key(key + i) if key < 1 << 63 else with_key(key - i) for i in range(3000)])
    index = HashIndex()
    for begin in range(0, len(ids), 50):
        index.admit(ids[begin : begin + 50], np.ones(50, np.int64))
        assert_in_place(index)
    assert index.find(ids)[0].tolist() == list(range(3000))


def test_the_order_of_cells_does_not_depend_on_the_order_of_ids():
    ids, one, other = int64(POOL), HashIndex(), HashIndex()
    needed = np.ones(len(ids), np.int64)
    one.admit(ids, needed)
    for id in ids[::-1]:
        other.admit(np.array([id]), needed[:1])
    assert keys(one) == keys(other)


def test_a_million_random_ids_are_all_found_again():
    ids = np.random.default_rng(4).integers(LEAST, MOST, 1_000_000)
    index = HashIndex()
    assert np.array_equal(index.admit(ids, np.ones(len(ids), np.int64)), ids)
    rows, absent = index.find(ids)
    assert absent == 0 and np.array_equal(rows, np.arange(len(ids)))
    assert index.find(ids + 1)[1] == len(ids)
    assert 12 * len(ids) / 0.89 < index.nbytes < 12 * len(ids) / 0.79 + (2 << 20)


def test_an_index_that_shrinks_gives_memory_back():
    ids, index = np.arange(500_000), HashIndex(is_marked=True)
    index.admit(ids, np.ones(len(ids), np.int64))
    index.visit(ids[:1000], 2)
    before = index.nbytes
    index.retain(1, 0)
    assert index.nbytes < before / 100
    assert index.by_row()[0].tolist() == list(range(1000))


def test_an_index_that_forgets_its_candidates_has_a_cell_for_every_place_where_a_search_begins():
    index, needed = HashIndex(is_marked=True), np.full(300, 3, np.int64)
    index.admit(np.arange(300), needed)
    index.retain(0, 0)
    assert_in_place(index)
    index.admit(np.arange(300), needed, day=1)
    assert sorted(index.candidates()[0].tolist()) == list(range(300))


def test_more_rows_than_can_be_numbered_are_refused(monkeypatch):
    monkeypatch.setattr(cells, "MAX_ROWS", 50)
    with pytest.raises(TooManyParameters, match="use more pservers"):
        HashIndex().admit(np.arange(60), np.ones(60, np.int64))
