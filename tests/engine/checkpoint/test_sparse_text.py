"""Rows of a table as text, by their ids."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from paddle._engine.checkpoint import sparse_text

INT64 = st.integers(-(1 << 63), (1 << 63) - 1)
FLOAT32 = st.floats(width=32, allow_nan=False)


@given(st.lists(INT64, unique=True, max_size=20), st.integers(1, 4), st.integers(1, 3), st.data())
def test_what_is_read_is_what_was_written(tmp_path_factory, ids, blocks, width, data) -> None:
    values = data.draw(arrays.arrays(np.float32, (len(ids), width), elements=FLOAT32))
    folder: Path = tmp_path_factory.mktemp("model")
    middle = len(ids) // 2
    keys = np.array(ids, np.int64)
    sparse_text.write(
        folder, "a", width, blocks, [(keys[:middle], values[:middle]), (keys[middle:], values[middle:])]
    )
    found, rows = sparse_text.read(folder / "a_txt")
    expected = dict(zip(ids, map(np.ndarray.tobytes, values), strict=True))
    assert dict(zip(found.tolist(), map(np.ndarray.tobytes, rows), strict=True)) == expected


@pytest.mark.parametrize("text", ["x\t1\t0\t1\t1,2,\n", "7\t1\t0\t1\t1,two,\n", "7\n", "7\t1,2,\n8\t1,\n"])
def test_what_is_no_row_is_said(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.block0.txt").write_text(text)
    with pytest.raises(ValueError, match=r"no row of a table|not all of one width"):
        sparse_text.read(tmp_path)


def test_a_line_may_have_its_values_only(tmp_path: Path) -> None:
    (tmp_path / "a.block0.txt").write_text("18446744073709551615\t0.5,-2,\n")
    ids, rows = sparse_text.read(tmp_path)
    assert (ids.tolist(), rows.tolist()) == ([-1], [[0.5, -2.0]])
