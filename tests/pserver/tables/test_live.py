"""A cut of which nothing was copied: it is what the tables were, or there is none."""

from __future__ import annotations

import gc

import numpy as np
import pytest

from paddle._engine.exchange import AverageSpec, ParameterSpec, RowsSpec, UpdateSpec
from paddle._engine.rows import OPEN
from paddle._pserver.protocol.placement import dense_layout, row_ranges
from paddle._pserver.tables.gradient import Gradient, Rows
from paddle._pserver.tables.streamed import Streamed, whole
from paddle._pserver.tables.tables import Tables

from ..conftest import update

MODEL = (
    ParameterSpec(name="w", shape=(300,)),
    ParameterSpec(name="v", shape=(7, 3)),
    ParameterSpec(name="t", shape=(50, 4), sparse=True),
)
OPEN_TABLE = ParameterSpec(name="o", shape=(OPEN, 4), sparse=True, rows=RowsSpec())
SPECS = {
    "plain": update("adam"),
    "averaged": update("adam", average=AverageSpec(window=0.5, min_window=1, max_window=3)),
}


def tables(spec: UpdateSpec) -> Tables:
    model = MODEL if spec.average else (*MODEL, OPEN_TABLE)
    made = Tables(spec, dense_layout(model, 0, 1), row_ranges(model, 0, 1), cut_bytes=lambda left: 0)
    made.values[...] = np.arange(made.values.size)
    for number in (1, 2, 3):
        step(made, number)
    return made


def step(of: Tables, number: int) -> None:
    random = np.random.default_rng(number)
    dense = [random.standard_normal(each.size, np.float32) for each in of.layout.segments]
    ids = np.unique(random.integers(0, 50, 9))
    rows = [Rows(ids, random.standard_normal((len(ids), 4), np.float32)) for _ in of.rows]
    for table in of.rows.values():
        table.gather(ids)
    of.apply([Gradient(dense, rows)], samples=number, passes=0, step=number)


@pytest.mark.parametrize("kind", SPECS)
def test_without_room_for_copies_all_of_it_is_read_where_it_lies(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("paddle._pserver.tables.frozen.PIECE_BYTES", 100)
    of = tables(SPECS[kind])
    with pytest.raises(OSError, match="--snapshot_memory"):
        of.cut()
    arrays, room = of.cut(may_stand=True)
    assert room.must_stand
    was = of.state()
    assert arrays.keys() == was.keys()
    for name, array in arrays.items():
        assert whole(array).tobytes() == was[name].tobytes(), name
        assert (array.shape, array.dtype) == (was[name].shape, was[name].dtype)
    assert {name for name, array in arrays.items() if not isinstance(array, Streamed)}.isdisjoint(
        f"values/{each.name}" for each in (*MODEL, OPEN_TABLE)
    )


@pytest.mark.parametrize("kind", SPECS)
def test_what_changes_before_it_was_read_is_never_read(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paddle._pserver.tables.frozen.PIECE_BYTES", 100)
    of, twin = tables(SPECS[kind]), tables(SPECS[kind])
    arrays, _ = of.cut(may_stand=True)
    kinds = ("values/", "slot ")  # what has more than a piece, and changes
    read = [
        array.pieces()
        for name, array in arrays.items()
        if isinstance(array, Streamed) and name.startswith(kinds) and array.nbytes > 100
    ]
    assert len(read) >= 5
    for each in read:
        next(each)
    step(of, 4)
    step(twin, 4)
    for name, array in twin.state().items():
        assert of.state()[name].tobytes() == array.tobytes(), f"{name}: the step is taken all the same"
    for each in read:
        with pytest.raises(OSError, match="values changed before they were written"):
            list(each)


def test_an_averaged_table_changes_with_what_is_read_of_it() -> None:
    of = tables(SPECS["averaged"])
    arrays, _ = of.cut(may_stand=True)
    of.table("t").gather(np.arange(50))
    with pytest.raises(OSError, match="values changed"):
        whole(arrays["values/t"])


def test_whom_nobody_reads_costs_nothing_and_spoils_nothing() -> None:
    of = tables(SPECS["averaged"])
    first, _ = of.cut(may_stand=True)
    del first
    gc.collect()
    assert not of._live.known and not of.table("t")._live.known
    step(of, 4)
    second, _ = of.cut(may_stand=True)
    was = of.state()
    assert all(whole(array).tobytes() == was[name].tobytes() for name, array in second.items())


def test_what_stands_is_not_copied_without_limit() -> None:
    """A table's rows could be kept aside as they change, but there is no room for that."""
    model = (MODEL[2], OPEN_TABLE)
    of = Tables(update("adam"), dense_layout(model, 0, 1), row_ranges(model, 0, 1), cut_bytes=lambda left: 0)
    step(of, 1)
    arrays, room = of.cut(may_stand=True)
    noted = room._taken
    step(of, 2)
    assert noted < room._taken < noted + 4096
    for name in ("values/t", "values/o"):
        with pytest.raises(OSError, match="rows that changed meanwhile could not be kept"):
            whole(arrays[name])
