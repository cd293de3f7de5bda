"""How a shard goes on from a snapshot: array by array, in pieces, in no memory besides its own."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np

from paddle._engine.exchange import ParameterSpec, RowsSpec
from paddle._engine.rows import OPEN
from paddle._pserver.protocol.messages import Declare
from paddle._pserver.protocol.placement import dense_layout, row_ranges
from paddle._pserver.shard.state import Facts, State
from paddle._pserver.snapshots.snapshot import Snapshots
from paddle._pserver.snapshots.storage import Folder
from paddle._pserver.tables.gradient import Gradient, Rows
from paddle._pserver.tables.tables import Tables

from ..conftest import update

ROWS = 100_000
MODEL = (
    ParameterSpec(name="w", shape=(1_000_000,)),
    ParameterSpec(name="t", shape=(ROWS, 8), sparse=True),
    ParameterSpec(name="o", shape=(OPEN, 8), sparse=True, rows=RowsSpec()),
)
SPEC = update("adam")
MOST = 8 << 20  # pieces, and the ids of a table


def tables() -> Tables:
    return Tables(SPEC, dense_layout(MODEL, 0, 1), row_ranges(MODEL, 0, 1))


def trained() -> Tables:
    made, random = tables(), np.random.default_rng(7)
    for number in (1, 2):
        ids = np.unique(random.integers(0, ROWS, ROWS))
        values = random.standard_normal((len(ids), 8), np.float32)
        dense = [random.standard_normal(MODEL[0].size, np.float32)]
        rows = [Rows(ids, values), Rows(ids * 7 + 3, values)]
        made.apply([Gradient(dense, rows)], samples=number, passes=0, step=number)
    return made


def test_it_takes_pieces_and_no_second_copy(tmp_path: Path) -> None:
    was = trained()
    kept = Snapshots(Folder(tmp_path / "kept"), 3, lambda: None)
    kept.save(State(Facts(Declare(MODEL, SPEC, 0, 1), 2, 2, ()), was.cut().arrays))
    again, bytes_of_all = tables(), sum(array.nbytes for array in was.state().values())
    tracemalloc.start()
    try:
        state = kept.state_of(2)
        again.restore(state.arrays, 2)
        assert tracemalloc.get_traced_memory()[1] < MOST < bytes_of_all / 3
    finally:
        tracemalloc.stop()
    for name, array in was.state().items():
        assert again.state()[name].tobytes() == array.tobytes(), name


def test_what_has_no_name_any_more_can_be_read_to_the_end(tmp_path: Path) -> None:
    was = trained()
    kept = Snapshots(Folder(tmp_path / "kept"), 3, lambda: None)
    kept.save(State(Facts(Declare(MODEL, SPEC, 0, 1), 2, 2, ()), was.cut().arrays))
    state = kept.state_of(2)
    for path in (tmp_path / "kept").iterdir():
        path.unlink()
    again = tables()
    again.restore(state.arrays, 2)
    assert again.values.tobytes() == was.values.tobytes()
