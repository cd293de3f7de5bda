"""Counting: what is trained where trainers are not in step, so that the end tells what became of gradients.

A process moves values of its own, which nobody else does, by 1 with every step. There are such values on
every shard: in the end they tell how many of its gradients count there.

It must never know a file or a process.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from paddle._engine.exchange import ParameterSpec, RowsSpec
from paddle._engine.rows import OPEN, SparseRows
from paddle._pserver.protocol.placement import dense_layout, row_ranges
from tests.faults.random_faults.scenario import Scenario

Gradients = dict[str, np.ndarray | SparseRows]

SLOTS = 16  # processes that count for themselves
SHARDS_OF_A_ROLE = 2
SHARDS = tuple(f"{role} {n}" for role in ("dense", "sparse") for n in range(SHARDS_OF_A_ROLE))
"""In the order in which a trainer has their answers."""
_BLOCK = 1024  # dense values that stay together (placement.py)
_FIRST_ID = 1 << 40  # of the open table
_WIDTH = 2


def model(*, has_open: bool) -> tuple[ParameterSpec, ...]:
    """All values begin as 0."""
    rows = SHARDS_OF_A_ROLE * SLOTS
    known = (
        ParameterSpec(name="w", shape=(SHARDS_OF_A_ROLE * _BLOCK,)),
        ParameterSpec(name="t", shape=(rows, _WIDTH), sparse=True),
    )
    return (*known, _open()) if has_open else known


def _open() -> ParameterSpec:
    return ParameterSpec(name="o", shape=(OPEN, _WIDTH), sparse=True, rows=RowsSpec())


def gradients(slot: int, *, has_open: bool) -> Gradients:
    """Of every step of the process ``slot``, for the rate 1."""
    dense = np.zeros(SHARDS_OF_A_ROLE * _BLOCK, np.float32)
    dense[slot::SLOTS] = -1
    ids = np.arange(SHARDS_OF_A_ROLE, dtype=np.int64) + SHARDS_OF_A_ROLE * slot
    ones = np.full((len(ids), _WIDTH), -1, np.float32)
    found: Gradients = {"w": dense, "t": SparseRows(ids, ones, SHARDS_OF_A_ROLE * SLOTS)}
    return {**found, "o": SparseRows(_FIRST_ID + ids, ones.copy(), OPEN)} if has_open else found


def counted(result: Mapping[str, np.ndarray], slot: int) -> dict[str, np.ndarray]:
    """By shard, what every value of the process ``slot`` has come to in the end."""
    has_open, found = "o" in result, {}
    parameters = model(has_open=has_open)
    for shard in range(SHARDS_OF_A_ROLE):
        (block,) = dense_layout(parameters, shard, SHARDS_OF_A_ROLE).slices
        found[f"dense {shard}"] = result["w"][block.start : block.stop][slot::SLOTS]
        rows, *opened = row_ranges(parameters, shard, SHARDS_OF_A_ROLE)
        values = [result["t"][SHARDS_OF_A_ROLE * slot + rows.first]]
        for table in opened:
            ids = np.arange(SHARDS_OF_A_ROLE) + _FIRST_ID + SHARDS_OF_A_ROLE * slot
            (id,) = ids[table.pick(ids)]
            row = result["o"][result["ids of o"] == id]
            values.append(row[0] if len(row) else np.zeros(_WIDTH, np.float32))
        found[f"sparse {shard}"] = np.concatenate(values)
    return found


def moves(pushed: Mapping[str, np.ndarray | SparseRows]) -> np.ndarray:
    """By how much a push moves what every slot counts with: a row for each of ``SHARDS``."""
    dense, rows = pushed["w"], pushed["t"]
    assert isinstance(dense, np.ndarray) and isinstance(rows, SparseRows)
    parameters, found = model(has_open=False), np.zeros((len(SHARDS), SLOTS), np.float32)
    for shard in range(SHARDS_OF_A_ROLE):
        (block,) = dense_layout(parameters, shard, SHARDS_OF_A_ROLE).slices
        found[shard] = -dense[block.start : block.start + SLOTS]
        (held,) = row_ranges(parameters, shard, SHARDS_OF_A_ROLE)
        mine = held.pick(rows.ids)
        np.subtract.at(
            found[SHARDS_OF_A_ROLE + shard], rows.ids[mine] // SHARDS_OF_A_ROLE, rows.values[mine, 0]
        )
    return found


def moved(scenario: Scenario, steps: int, trainers: int, *, is_ended: bool) -> list[float]:
    """By how much each push of a process moves its values, where all count. ``is_ended``: what is left then
    is pushed, too."""
    mode, each = scenario.spec, scenario.push_steps
    sizes = [each] * (steps // each) + ([steps % each] if is_ended and steps % each else [])
    if not mode.is_local:
        return [float(size) for size in sizes]
    part = 1 / trainers * (1.0 if mode.name == "geo" else mode.delta_add_rate)
    found, ahead = [], 0.0  # of the center
    for size in sizes:
        push = part * (ahead + size)
        found.append(push)
        ahead = {"geo": ahead + size - push, "average": 0.0}.get(mode.name, ahead + size - 2 * push)
    return found
