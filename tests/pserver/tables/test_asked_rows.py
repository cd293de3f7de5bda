"""Rows that trainers push are those that they asked for, and are not looked for again."""

from __future__ import annotations

import numpy as np
import pytest

from paddle._pserver.tables.asked_rows import _MOST, FEWEST, AskedRows
from paddle._pserver.tables.gradient import Rows
from paddle._pserver.tables.hash_index import HashIndex
from paddle._pserver.tables.hash_table import HashTable

from ..hashed import WIDTH, assert_equal, normal, state_of, table, update

SCALE = np.float32(0.5)
FIRST, SECOND = np.arange(-40, 2 * FEWEST), np.arange(FEWEST, 4 * FEWEST, 3)


def rows_of(ids: np.ndarray, seed: int = 0) -> Rows:
    return Rows(ids, normal(seed, len(ids)))


def begun() -> HashTable:
    """A table with the rows of both batches, which nobody has asked for in vain."""
    made = table(how=update("sgd"))
    made.gather(FIRST[::-1].copy())
    made.gather(SECOND[::-1].copy())
    return made


@pytest.mark.parametrize("batches", [[FIRST], [FIRST, SECOND], [SECOND, FIRST]])
def test_what_was_asked_for_is_updated_without_a_search(batches: list[np.ndarray], monkeypatch) -> None:
    searched, asked = begun(), begun()
    parts = [rows_of(ids, seed) for seed, ids in enumerate(batches)]
    for ids in batches:
        asked.gather(ids)
    searched.apply(parts, SCALE, 0.1, 1)
    with monkeypatch.context() as patch:
        patch.setattr(HashIndex, "find", None)
        asked.apply(parts, SCALE, 0.1, 1)
    assert_equal(state_of(searched), state_of(asked))


def test_of_other_ids_the_rows_are_searched() -> None:
    searched, asked = begun(), begun()
    asked.gather(FIRST)
    for ids in (FIRST[1:], FIRST + 1, FIRST[::-1].copy()):
        for each in (searched, asked):
            each.apply([rows_of(ids), rows_of(SECOND)], None, 0.1, 1)
    assert_equal(state_of(searched), state_of(asked))


def test_rows_that_are_numbered_anew_are_searched() -> None:
    searched, asked = begun(), begun()
    asked.gather(FIRST)
    for each in (searched, asked):
        each.apply([rows_of(SECOND)], None, 0.1, 1)
        each.shrink(1)
        each.apply([rows_of(FIRST)], None, 0.1, 2)
    assert_equal(state_of(searched), state_of(asked))


@pytest.mark.parametrize("ids", [FIRST[::-1].copy(), np.repeat(FIRST, 2), FIRST[: FEWEST - 1]])
def test_nothing_is_noted_of_few_ids_nor_where_one_may_be_there_twice(ids: np.ndarray) -> None:
    known = AskedRows()
    known.note(ids, np.arange(len(ids)))
    assert known.summed([rows_of(ids)]).rows is None


def test_what_is_noted_is_known_once_and_not_for_ever() -> None:
    known, ids = AskedRows(), FIRST.copy()
    for turn in range(_MOST + 1):
        known.note(ids + turn, np.arange(len(ids)) + turn)
    ids += 1  # the caller's own
    assert known.summed([rows_of(ids - 1)]).rows is None
    brought = known.summed([rows_of(ids)])
    assert brought.rows is brought.ids and np.array_equal(brought.ids, np.arange(len(ids)) + 1)
    assert brought.gradient.shape == (len(ids), WIDTH)
    assert known.summed([rows_of(ids)]).rows is None
