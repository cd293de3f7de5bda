"""A cut that is read later, in pieces, while the table goes on: it is what the table was."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import islice
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paddle._engine.entry import Entry
from paddle._engine.exchange import AverageSpec, ParameterSpec
from paddle._engine.rows import TableRows
from paddle._engine.rules import RULES
from paddle._pserver.protocol.placement import RowRange
from paddle._pserver.tables.cut_room import CutRoom
from paddle._pserver.tables.frozen import Frozen
from paddle._pserver.tables.gradient import Rows
from paddle._pserver.tables.hash_table import HashTable
from paddle._pserver.tables.packed_table import PackedTable
from paddle._pserver.tables.streamed import Streamed, pieces, whole

from ..hashed import IDS, RATE, WIDTH, int64, normal, table, update

HEIGHT = 40
Table = HashTable | PackedTable

EVENTS = st.lists(
    st.one_of(
        st.tuples(st.just("push"), IDS),
        st.tuples(st.just("pull"), IDS),
        st.tuples(st.just("take"), IDS),
        st.tuples(st.just("many"), st.integers(1, 300)),
        st.tuples(st.just("day"), st.integers(1, 2)),
        st.tuples(st.just("all"), st.just(0)),
        st.tuples(st.just("read"), st.integers(1, 20)),
        st.tuples(st.just("cut"), st.just(0)),
        st.tuples(st.just("let go"), st.just(0)),
    ),
    min_size=3,
    max_size=14,
)


class Reader:
    """A cut, and what was read of it so far."""

    def __init__(self, cut: dict[str, Any], was: dict[str, np.ndarray]) -> None:
        self._cut, self._was = cut, was
        self._read: dict[str, list[np.ndarray]] = {kind: [] for kind in cut}
        self._rest = ((kind, piece) for kind, array in cut.items() for piece in pieces(array))

    def read(self, count: int | None) -> None:
        for kind, piece in islice(self._rest, count):
            self._read[kind].append(piece)

    def check(self) -> None:
        self.read(None)
        assert self._cut.keys() == self._was.keys()
        for kind, was in self._was.items():
            read = np.concatenate([was.reshape(-1)[:0], *(piece.reshape(-1) for piece in self._read[kind])])
            assert read.tobytes() == was.tobytes(), kind
            assert (self._cut[kind].shape, self._cut[kind].dtype) == (was.shape, was.dtype)


class Course:
    """A table that goes through events, and readers of what it was."""

    def __init__(self, of: Table) -> None:
        self.table, self.step, self.next_id = of, 0, 0
        self.room: Callable[[], CutRoom] = CutRoom
        self.readers: list[Reader] = []

    def _ids(self, ids: list[int]) -> np.ndarray:
        return np.unique(int64(ids) % HEIGHT) if isinstance(self.table, PackedTable) else int64(ids)

    def go(self, what: str, how: Any) -> None:
        match what:
            case "push" | "many":
                self.step += 1
                ids = self._ids(how if what == "push" else list(range(self.next_id, self.next_id + how)))
                self.next_id += how if what == "many" else 0
                self.table.apply([Rows(ids, normal(self.step, len(ids)))], None, RATE, self.step)
            case "take" if isinstance(self.table, HashTable):
                ids = np.unique(int64(how))
                self.table.take(TableRows(ids, normal(len(ids), len(ids)), {}))
            case "pull":
                self.table.gather(self._ids(how))
            case "day" if isinstance(self.table, HashTable):
                self.table.shrink(how)
            case "all" if isinstance(self.table, PackedTable):
                self.table.refresh()
            case "read":
                for reader in self.readers:
                    reader.read(how)
            case "cut":
                was = {kind: array.copy() for kind, array in self.table.state().items()}
                self.readers.append(Reader(self.table.cut(self.room(), 0), was))
            case "let go":
                self.readers = self.readers[1:]

    def end(self) -> None:
        while self.readers:
            self.readers.pop().check()
        if self.table._frozen.now():
            gc.collect()  # where a kernel was compiled meanwhile, that left its callers to the collector
        assert not self.table._frozen.now()  # whom nobody reads any more costs nothing


@pytest.fixture(autouse=True, scope="module")
def in_small_pieces() -> Iterator[None]:
    """As a table that is worth it, in pieces of a few rows."""
    to = {
        "frozen.PIECE_BYTES": 40,
        "frozen_table.LISTED_AT_ONCE": 3,
    }
    with ExitStack() as stack:
        for name, value in to.items():
            stack.enter_context(patch(f"paddle._pserver.tables.{name}", value))
        yield


def run(of: Table, events: list[tuple[str, Any]]) -> None:
    course = Course(of)
    for what, how in [*events[:2], ("cut", 0), *events[2:]]:
        course.go(what, how)
    course.end()


@pytest.mark.parametrize("name", RULES)
@settings(max_examples=8, deadline=None)
@given(
    events=EVENTS,
    entry=st.sampled_from([Entry(), Entry("count", 2), Entry("probability", 0.5)]),
    l2_rate=st.sampled_from([0.0, 0.1]),
)
def test_an_open_table_is_read_as_it_was(name: str, events: Any, entry: Entry, l2_rate: float) -> None:
    run(table(entry, how=update(name, l2_rate=l2_rate)), events)


@pytest.mark.parametrize("name", RULES)
@settings(max_examples=6, deadline=None)
@given(events=EVENTS, l2_rate=st.sampled_from([0.0, 0.1]), is_averaged=st.booleans())
def test_a_packed_table_is_read_as_it_was(name: str, events: Any, l2_rate: float, is_averaged: bool) -> None:
    average = AverageSpec(window=0.5, min_window=1, max_window=3) if is_averaged else None
    parameter = ParameterSpec(name="t", shape=(HEIGHT, WIDTH), sparse=True)
    of = PackedTable(RowRange(parameter, 0, 1, HEIGHT), update(name, l2_rate=l2_rate, average=average))
    of.values[:] = normal(7, HEIGHT)
    run(of, events)


@pytest.mark.parametrize("name", ["sgd", "adam"])
def test_rows_that_are_given_other_values_meanwhile_are_read_as_they_were(name: str) -> None:
    run(table(how=update(name)), [("many", 30), ("push", [1, 2]), ("take", [2, 3, 40, -1]), ("push", [3])])


def test_rows_are_kept_aside_once_and_others_not_at_all() -> None:
    live = np.arange(12, dtype=np.float32).reshape(6, 2)
    frozen = Frozen(5, lambda: [live], CutRoom())

    def aside() -> list[int]:
        return np.flatnonzero(frozen.is_aside(np.arange(5))).tolist()

    frozen.spare(int64([3, 1, 3, 5]))  # row 5 came later
    assert aside() == [1, 3]
    live[[1, 3]] = -1
    frozen.spare(int64([1, 2]))
    assert aside() == [1, 2, 3]
    live[2] = -1
    assert whole(frozen.streamed(0)).tobytes() == np.arange(10, dtype=np.float32).tobytes()
    assert whole(frozen.streamed(0, slice(1, 2))).ravel().tolist() == [1, 3, 5, 7, 9]


TOLD = "rows that changed meanwhile could not be kept"


@pytest.mark.parametrize(
    ("what", "how", "breaks"),
    [
        ("push", list(range(500)), "memory.pages.Pages.resize"),
        ("push", list(range(500)), "tables.frozen.Frozen.keep"),
        ("push", list(range(500)), "tables.frozen.Frozen.is_aside"),
        ("day", 2, "tables.frozen.Frozen.keep_all"),
        ("day", 2, "tables.frozen_table.FrozenTable._list"),
    ],
)
def test_without_memory_for_rows_that_change_the_table_goes_on_and_who_reads_is_told(
    what: str, how: Any, breaks: str
) -> None:
    course, twin = (Course(table(how=update("momentum", l2_rate=0.1))) for _ in range(2))
    for each in course, twin:
        each.go("many", 500)
        each.go("many", 500)
    course.go("cut", 0)
    with patch(f"paddle._pserver.{breaks}", side_effect=MemoryError):
        course.go(what, how)
    twin.go(what, how)
    course.go("push", [1, 2])  # nothing is kept aside for it any more
    twin.go("push", [1, 2])
    for kind, array in twin.table.state().items():
        assert course.table.state()[kind].tobytes() == array.tobytes(), kind
    with pytest.raises(OSError, match=TOLD):
        course.end()


@pytest.mark.parametrize("is_open", [True, False])
def test_what_a_cut_keeps_aside_is_within_what_tables_leave_it(is_open: bool) -> None:
    """It fails by the row that is one too many, also where a table has taken what was there."""
    parameter = ParameterSpec(name="t", shape=(500, WIDTH), sparse=True)
    of = table() if is_open else PackedTable(RowRange(parameter, 0, 1, 500), update())
    course, most = Course(of), 1 << 20
    course.room = lambda: CutRoom(lambda: most)
    course.go("many", 500)
    course.go("cut", 0)
    course.go("push", list(range(30)))
    course.readers[0].read(2)
    most = 500 * (4 + (8 if is_open else 0)) + 30 * (2 * WIDTH * 4 + (0 if is_open else 8))
    course.readers[0].read(2)
    most -= 1
    with pytest.raises(OSError, match="--memory_limit"):
        course.readers[0].read(None)
    with pytest.raises(OSError, match="--memory_limit"):
        of.cut(CutRoom(lambda: 1000), 0)
    with pytest.raises(OSError, match="--memory_limit"):
        of.cut(CutRoom(lambda: 1000), 1 << 40)
    assert len(of._frozen.now()) == 1


def test_an_array_of_another_order_is_whole_in_its_shape() -> None:
    parts = [np.arange(4.0), np.arange(4.0, 6.0)]
    array = Streamed(np.dtype(np.float64), (2, 3), lambda: iter(parts))
    assert whole(array).tolist() == [[0, 1, 2], [3, 4, 5]]
    assert array.nbytes == 48
