"""Ids in ascending order, held to numpy's own sort."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddle._engine.kernels.ordering import ascending, placed
from paddle._engine.rows import ascends, each_once, put

EDGE = 2**63
IDS = st.one_of(
    st.lists(st.integers(0, 50), min_size=1, max_size=60),
    st.lists(st.integers(-EDGE, EDGE - 1), min_size=1, max_size=60),
    st.lists(st.sampled_from([-EDGE, -1, 0, 1, 2**11, 2**22 - 1, EDGE - 1]), min_size=1, max_size=60),
)


@given(IDS)
def test_ids_stand_in_the_order_of_a_stable_sort(ids):
    given_ids = np.array(ids, np.int64)
    order, keys = ascending(given_ids)
    np.testing.assert_array_equal(order, np.argsort(given_ids, kind="stable"))
    assert [int(key) + min(ids) for key in keys] == sorted(ids)


@given(IDS)
def test_each_id_is_there_once_whatever_the_shape(ids):
    np.testing.assert_array_equal(each_once(np.array(ids, np.int64)[:, None]), np.unique(ids))


@given(IDS)
def test_ids_ascend_where_they_are_each_once_in_order(ids):
    assert ascends(np.array(ids, np.int64)) == (ids == sorted(set(ids)))
    assert ascends(np.unique(ids))


def test_of_no_ids_there_are_none_and_what_cannot_be_written_is_read():
    assert each_once(np.empty((0, 3), np.int64)).shape == (0,)
    ids = np.array([3, 1, 3])
    ids.flags.writeable = False
    assert each_once(ids).tolist() == [1, 3]


@pytest.mark.parametrize("count", [1, 40])
def test_rows_are_put_where_they_belong(count):
    table, ids = np.zeros((50, 3), np.float32), np.random.default_rng(0).permutation(50)[:count]
    rows = np.random.default_rng(1).random((count, 3), np.float32)
    expected = table.copy()
    expected[ids] = rows
    put(table, ids, rows)
    np.testing.assert_array_equal(table, expected)


@given(IDS)
def test_ids_are_found_once_in_order_and_each_has_its_place(ids):
    ids = np.array(ids, np.int64)
    place, found = np.empty_like(ids), np.empty_like(ids)
    count = placed(ids, place, found)
    assert found[:count].tolist() == sorted(set(ids.tolist()))
    assert np.array_equal(found[place], ids)
