"""Meetings about rows, held to numpy's operations bit for bit."""

import numpy as np
import pytest

from paddle._engine.kernels.drifts import follow, give_up, show


@pytest.fixture
def tables():
    """A trainer's own, the shared one, and rows that batches touched."""
    random = np.random.default_rng(3)
    mine, shared = random.standard_normal((2, 40, 17), np.float32)
    return mine, shared, np.sort(random.permutation(40)[:30])


@pytest.mark.parametrize("pull", [0.0, 0.3])
def test_what_is_given_is_the_share_of_the_way_with_its_sign_turned(tables, pull):
    mine, shared, ids = tables
    own, center, share, pull = mine.copy(), shared.copy(), np.float32(1 / 3), np.float32(pull)
    moved = own[ids] - center[ids]
    own[ids] -= pull * moved
    moved *= share
    center[ids] += moved
    given = np.empty_like(moved)
    give_up(mine, shared, ids, pull, share, given)
    for found, expected in ((given, -moved), (mine, own), (shared, center)):
        np.testing.assert_array_equal(found, expected)


def test_own_rows_move_as_those_of_all_have_moved(tables):
    mine, shared, ids = tables
    center = np.random.default_rng(4).standard_normal((30, 17), np.float32)
    own = mine.copy()
    own[ids] = own[ids] + (center - shared[ids])
    follow(mine, shared, ids, center)
    np.testing.assert_array_equal(mine, own)
    np.testing.assert_array_equal(shared[ids], center)


@pytest.mark.parametrize("count", [0, 1, 40])
def test_what_is_shown_can_be_taken_back(tables, count):
    _, shared, _ = tables
    mine = shared.copy()
    changed = np.sort(np.random.default_rng(5).permutation(40)[:count])
    mine[changed, 16] += 1
    own = mine.copy()
    ids, aside = show(mine, shared)
    assert ids.tolist() == changed.tolist()
    np.testing.assert_array_equal(mine, shared)
    mine[ids] = aside
    np.testing.assert_array_equal(mine, own)
