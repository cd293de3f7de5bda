"""What a declared model will take, against what it takes."""

from __future__ import annotations

import numpy as np
import pytest

from paddle._engine.exchange import ModeSpec, ParameterSpec, RuleSpec, ScheduleSpec, UpdateSpec
from paddle._pserver.protocol.placement import dense_layout, row_ranges
from paddle._pserver.protocol.wire import WireSpec
from paddle._pserver.shard import declaration
from paddle._pserver.tables.tables import Tables

MODEL = (
    ParameterSpec(name="w", shape=(30, 40)),
    ParameterSpec(name="own", shape=(500,), momentum=0.9),
    ParameterSpec(name="t", shape=(700, 1), sparse=True),
    ParameterSpec(name="u", shape=(90, 8), sparse=True, momentum=0.5),
)


def kept(tables: Tables) -> int:
    """The bytes of all arrays in ``tables``."""
    parts = [*tables._blocks, *tables.rows.values()]
    slots = [slot for part in parts for slot in part._slots]
    rows = [array for table in tables.rows.values() for array in (table.values, table._last_step)]
    return sum(array.nbytes for array in [tables.values, *slots, *rows])


@pytest.mark.parametrize("name", ["sgd", "momentum", "adam", "adagrad"])
@pytest.mark.parametrize("is_async", [False, True])
def test_the_memory_that_is_asked_for_is_the_memory_that_is_taken(name: str, is_async: bool) -> None:
    update = UpdateSpec(
        rule=RuleSpec(name=name), schedule=ScheduleSpec(), mode=ModeSpec(name="async" if is_async else "sync")
    )
    layout, ranges = dense_layout(MODEL, 0, 1), row_ranges(MODEL, 0, 1)
    inlets = 3 * np.zeros(layout.size, np.float32).nbytes
    snapshot = layout.size * 4 if is_async else 0
    expected = kept(Tables(update, layout, ranges)) + inlets + snapshot
    assert declaration.need_bytes(update, layout, ranges, 3) == expected


@pytest.mark.parametrize(
    ("wire", "expected"),
    [
        (WireSpec(), 0),
        (WireSpec(name="bfloat16"), 2 * 1700),
        (WireSpec(name="topk", share=0.1), 8 * 120 + 4 * 500),  # the smaller one comes whole
        (WireSpec(name="topk", share=1.0), 8 * 1200 + 4 * 500),
        (WireSpec(name="float16", answers="bfloat16"), 2 * 1700 + 2 * 1700),
    ],
)
def test_gradients_in_other_numbers_are_asked_memory_for_before_they_are_decoded(
    wire: WireSpec, expected: int
) -> None:
    assert declaration.coded_bytes(wire, dense_layout(MODEL, 0, 1)) == expected
