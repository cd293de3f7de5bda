"""Rows of a table as text, by their ids."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from paddle._engine.checkpoint import sparse_text
from paddle._engine.errors import BadModelFile

INT64 = st.integers(-(1 << 63), (1 << 63) - 1)
FLOAT32 = st.floats(width=32, allow_nan=False)


@given(st.lists(INT64, unique=True, max_size=20), st.integers(1, 4), st.integers(1, 3), st.data())
def test_what_is_read_is_what_was_written(tmp_path_factory, ids, blocks, width, data) -> None:
    values = data.draw(arrays.arrays(np.float32, (len(ids), width), elements=FLOAT32))
    folder: Path = tmp_path_factory.mktemp("model")
    middle = len(ids) // 2
    keys = np.array(ids, np.int64)
    sparse_text.write(
        folder,
        "a",
        {"Param": width},
        blocks,
        [(keys[:middle], values[:middle]), (keys[middle:], values[middle:])],
    )
    found, columns = sparse_text.read(folder / "a_txt")
    expected = dict(zip(ids, map(np.ndarray.tobytes, values), strict=True))
    assert (
        dict(zip(found.tolist(), map(np.ndarray.tobytes, columns.get("Param", ())), strict=True)) == expected
    )


@pytest.mark.parametrize("text", ["x\t1\t0\t1\t1,2,\n", "7\t1\t0\t1\t1,two,\n", "7\n", "7\t1,2,\n8\t1,\n"])
def test_what_is_no_row_is_said(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.block0.txt").write_text(text)
    with pytest.raises(ValueError, match=r"not a row of a table|not all of one width"):
        sparse_text.read(tmp_path)


def test_a_line_may_have_its_values_only(tmp_path: Path) -> None:
    (tmp_path / "a.block0.txt").write_text("18446744073709551615\t0.5,-2,\n")
    ids, columns = sparse_text.read(tmp_path)
    assert (ids.tolist(), columns["Param"].tolist()) == ([-1], [[0.5, -2.0]])


UPSTREAMS = "param=a\nshard_id=0\nrow_names=Param,Moment1,Beta1Pow\nrow_dims=2,2,1\ncount=1\n"


def test_columns_are_cut_as_the_meta_beside_them_says(tmp_path: Path) -> None:
    (tmp_path / "a.block0.txt").write_text("7\t4\t0\t1\t1,2,3,4,0.9,\n")
    (tmp_path / "a.block0.meta").write_text(UPSTREAMS)
    ids, columns = sparse_text.read(tmp_path)
    assert ids.tolist() == [7]
    assert {name: column.tolist() for name, column in columns.items()} == {
        "Param": [[1.0, 2.0]],
        "Moment1": [[3.0, 4.0]],
        "Beta1Pow": [[np.float32(0.9)]],
    }


@pytest.mark.parametrize(
    ("meta", "said"),
    [
        (UPSTREAMS.replace("count=1", "count=2"), "it is not whole"),
        (UPSTREAMS.replace("2,2,1", "2,2"), "does not tell columns"),
        (UPSTREAMS.replace("2,2,1", "2,2,2"), "not of one table"),
        (UPSTREAMS.replace("Param", "Row"), "no column Param"),
    ],
)
def test_a_meta_that_does_not_fit_its_rows_is_said(tmp_path: Path, meta: str, said: str) -> None:
    (tmp_path / "a.block0.txt").write_text("7\t4\t0\t1\t1,2,3,4,0.9,\n")
    (tmp_path / "a.block0.meta").write_text(meta)
    with pytest.raises(ValueError, match=said):
        sparse_text.read(tmp_path)


def test_rows_that_nobody_wants_are_passed_over(tmp_path: Path) -> None:
    ids = np.arange(10)
    sparse_text.write(tmp_path, "a", {"Param": 1}, 3, [(ids, ids[:, None].astype(np.float32))])
    found, columns = sparse_text.read(tmp_path / "a_txt", lambda ids: ids % 4 == 1)
    assert sorted(found) == [1, 5, 9]
    np.testing.assert_array_equal(columns["Param"][:, 0], found)


@pytest.mark.parametrize("is_told", [True, False])
@pytest.mark.parametrize("lost", [0, 1, 2])
def test_a_file_of_rows_that_is_missing_is_named(tmp_path: Path, lost: int, is_told: bool) -> None:
    """Those of the original do not say how many there are: what remains says it."""
    ids = np.arange(10)
    sparse_text.write(tmp_path, "a", {"Param": 1}, 3, [(ids, ids[:, None].astype(np.float32))])
    for meta in (tmp_path / "a_txt").glob("*.meta"):
        text = meta.read_text()
        assert text.endswith("\n#blocks=3\n")
        meta.write_text(text if is_told else text.replace("#blocks=3\n", ""))
    for ending in ("txt", "meta"):
        (tmp_path / "a_txt" / f"a.block{lost}.{ending}").unlink()
    with pytest.raises(BadModelFile, match=rf"missing, from a\.block{lost}\.txt|has no a\.block{lost}\.txt,"):
        sparse_text.read(tmp_path / "a_txt")


def test_a_folder_without_rows_is_said(tmp_path: Path) -> None:
    (tmp_path / "a_txt").mkdir()
    with pytest.raises(BadModelFile, match=r"has no a\.block0\.txt, and files of rows are numbered 0 to 0"):
        sparse_text.read(tmp_path / "a_txt")
