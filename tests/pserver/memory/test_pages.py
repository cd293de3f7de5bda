"""An array that grows where it is."""

from __future__ import annotations

import numpy as np
import pytest

from paddle._pserver.memory.pages import Pages


def test_what_was_written_stays_while_rows_are_added_and_taken_away():
    pages = Pages(np.float32, 3, 10)
    pages.array[:10] = 7
    pages.resize(1_000_000)
    assert len(pages.array) >= 1_000_000
    assert (pages.array[:10] == 7).all() and not pages.array[10:].any()
    pages.resize(10)
    assert (pages.array[:10] == 7).all() and len(pages.array) < 10_000


def test_wider_rows_are_as_many_and_what_was_written_is_where_it_was():
    pages = Pages(np.uint32, 3, 10)
    pages.array[:10] = np.arange(30).reshape(10, 3)
    rows = len(pages.array)
    pages.widen(4)
    assert len(pages.array) >= rows and pages.array.shape[1] == 4
    assert pages.array.reshape(-1)[:30].tolist() == list(range(30))


def test_a_view_that_only_the_collector_can_take_away_does_not_keep_it_from_growing():
    """As after the first call of a kernel, which compiles it."""
    pages, cycle = Pages(np.float32, 3, 10), []
    cycle.append((cycle, pages.array))
    del cycle
    pages.resize(1_000_000)
    assert len(pages.array) >= 1_000_000


def test_a_view_that_somebody_holds_does():
    pages = Pages(np.float32, 3, 10)
    held = pages.array[:2]
    with pytest.raises(BufferError):
        pages.resize(1_000_000)
    assert held.shape == (2, 3)
