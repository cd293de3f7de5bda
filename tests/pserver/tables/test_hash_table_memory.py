"""What a table whose rows are made when asked for takes of the memory, and gives back."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import paddle
from paddle._pserver.errors import TableFull
from paddle._pserver.tables.gradient import Rows

from ..hashed import (
    RATE,
    WIDTH,
    int64,
    table,
)


def test_rows_for_which_there_is_no_room_are_refused_before_they_are_made():
    small = table(room_bytes=1 << 20)
    small.gather(np.arange(1000))
    before = small.nbytes
    with pytest.raises(TableFull, match=r"'t' would need 38\.\d MiB"):
        small.gather(np.arange(1_000_000))
    assert (small.rows, small.nbytes) == (1000, before)
    with pytest.raises(TableFull):
        small.apply([Rows(np.arange(10**6), np.ones((10**6, WIDTH), np.float32))], None, RATE, 1)
    small.gather(np.arange(1100))
    small.shrink(1)
    assert small.rows == 1100 and small.nbytes <= 1 << 20


def test_forgetting_rows_gives_their_memory_back():
    large = table()
    large.gather(np.arange(500_000))
    before = large.nbytes, large._store.array.nbytes
    large.apply([Rows(int64([7]), np.ones((1, WIDTH), np.float32))], None, RATE, 1)
    large.shrink(2)
    assert large.rows == 500_000
    large.shrink(1)
    assert large.rows == 0
    assert large.nbytes < before[0] / 100 and large._store.array.nbytes < before[1] / 100


MEMORY = """
import resource, sys
import numpy as np
from paddle._engine.exchange import ParameterSpec, RowsSpec, RuleSpec, ScheduleSpec, UpdateSpec
from paddle._engine.row_initial import RowInitial
from paddle._pserver.tables.hash_table import HashTable
from paddle._pserver.protocol.placement import RowRange
from paddle._pserver.tables.table_room import TableRoom
from paddle._pserver.tables.gradient import Rows

def table():
    rows = RowsSpec(initial=RowInitial("normal", 0.0, 1.0))
    spec = ParameterSpec(name="t", shape=(-1, 16), sparse=True, rows=rows)
    update = UpdateSpec(rule=RuleSpec(name=sys.argv[2]), schedule=ScheduleSpec())
    return HashTable(RowRange(spec, 0, 1, 0), update, TableRoom(1 << 40))

def fill(table, rows):
    ids, gradient = np.arange(8192) * 1_000_003, np.ones((8192, 16), np.float32)
    for step in range(1, rows // 8192 + 1):
        table.gather(ids)
        table.apply([Rows(ids, gradient)], None, 0.1, step)
        ids += 8192 * 1_000_003

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10

fill(table(), 100_000)
before, large = peak(), table()
fill(large, int(sys.argv[1]))
print(large.rows, large.nbytes, peak() - before)
"""


@pytest.mark.parametrize(("name", "parts", "most"), [("sgd", 1, 1.24), ("adagrad", 2, 1.12)])
def test_a_table_that_grows_needs_little_more_than_its_rows(name: str, parts: int, most: float):
    """Peak memory of a process that fills a table batch by batch, over what it needed before."""
    run = subprocess.run(
        [sys.executable, "-c", MEMORY, "2000000", name],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(paddle.__file__).parent.parent,
    )
    rows, counted, measured = map(int, run.stdout.split())
    values_and_slots = rows * parts * 16 * 4
    assert rows > 1_990_000
    assert counted <= most * values_and_slots
    assert measured <= 1.15 * values_and_slots + (64 << 20)
    assert measured <= counted + (16 << 20)  # at no time was there a second copy of anything large
