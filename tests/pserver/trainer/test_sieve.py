"""Which rows live on which shard, found at once, against what each shard picks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddle._engine.exchange import ParameterSpec
from paddle._pserver.protocol.placement import row_ranges, stable_hash
from paddle._pserver.trainer.sieve import Sieve

TABLES = (
    ParameterSpec(name="t", shape=(1 << 40, 2), sparse=True),
    ParameterSpec(name="other", shape=(7, 1), sparse=True),
)


@given(
    ids=st.lists(st.integers(-(1 << 62), 1 << 62), max_size=60),
    few=st.lists(st.integers(0, 6), max_size=9),
    shards=st.integers(1, 12),
)
def test_each_shard_gets_what_it_picks_in_the_order_given(ids, few, shards):
    given_ids = {"t": np.array(ids, np.int64), "other": np.array(few, np.int64)}
    sieve = Sieve(given_ids)
    for shard in range(shards):
        for held in row_ranges(TABLES, shard, shards):
            own = given_ids[held.parameter.name]
            picked = own[held.pick(own)]
            assert own[sieve.positions(held)].tolist() == picked.tolist()


@pytest.mark.parametrize("shards", [1 << 16, (1 << 16) + 1])
def test_numbers_of_shards_are_not_cut_off(shards):
    ids = np.array([shards - 1, 0, 2 * shards - 1, 5], np.int64)
    sieve = Sieve({"t": ids})
    for row in ids.tolist():
        held = row_ranges(TABLES, (row + stable_hash("t")) % shards, shards)[0]
        assert row in ids[sieve.positions(held)].tolist()
