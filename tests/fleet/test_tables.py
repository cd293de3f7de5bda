"""Tables on disk: written by some servers, read by however many."""

import numpy as np
import pytest

from paddle._fleet import tables
from paddle._fleet.errors import FleetError


def test_a_table_is_read_whole_by_however_many_it_was_written(tmp_path) -> None:
    rows = np.random.default_rng(0).normal(size=(7, 3)).astype(np.float32)
    tables.write(str(tmp_path), "emb", rows, servers=3)
    assert sorted(path.name for path in (tmp_path / "emb_txt").iterdir()) == [
        f"emb.block{block}.{ending}" for block in range(3) for ending in ("meta", "txt")
    ]
    ids, values = tables.read(str(tmp_path))["emb"]
    assert sorted(ids) == list(range(7))
    np.testing.assert_array_equal(values, rows[ids])


def test_tables_are_chosen_by_name_and_what_is_missing_is_named(tmp_path) -> None:
    for name in ("a", "b"):
        tables.write(str(tmp_path), name, np.ones((2, 1), np.float32), servers=1)
    assert list(tables.read(str(tmp_path), ["b"])) == ["b"]
    assert list(tables.read(str(tmp_path), "a")) == ["a"]
    with pytest.raises(FleetError, match="there is no table 'c' in it; there are a, b"):
        tables.read(str(tmp_path), ["c"])
    with pytest.raises(FleetError, match="there is no such folder here"):
        tables.read(str(tmp_path / "none"))
