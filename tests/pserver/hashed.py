"""Hash tables for tests: small ones, and what they have together as plain arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from paddle._engine.entry import Entry
from paddle._engine.exchange import ParameterSpec, RowsSpec, RuleSpec, ScheduleSpec, UpdateSpec
from paddle._engine.row_initial import RowInitial, row_key
from paddle._pserver.protocol.placement import RowRange
from paddle._pserver.tables.hash_table import HashTable
from paddle._pserver.tables.table_room import TableRoom

WIDTH, SEED, RATE, MOMENTUM = 3, 5, 0.25, 0.5
INITIAL = RowInitial("uniform", -1.0, 1.0)
EVERYONE = Entry()
POOL = [-(2**63), 2**63 - 1, -1, *(i << 40 for i in range(20)), *range(20)]
IDS = st.lists(st.sampled_from(POOL), max_size=30)


def spec(**changes: Any) -> ParameterSpec:
    rows = RowsSpec(initial=INITIAL, seed=SEED)
    return ParameterSpec(**{"name": "t", "shape": (-1, WIDTH), "sparse": True, "rows": rows, **changes})


def update(name: str = "momentum", **changes: Any) -> UpdateSpec:
    options = {"momentum": MOMENTUM} if name == "momentum" else {}
    return UpdateSpec(rule=RuleSpec(name=name, options=options), schedule=ScheduleSpec(), **changes)


def table(
    entry: Entry = EVERYONE,
    *,
    shard: int = 0,
    shards: int = 1,
    how: UpdateSpec | None = None,
    room_bytes: int = 1 << 40,
    width: int = WIDTH,
    **own: Any,
) -> HashTable:
    """``own``: what stands in the parameter itself."""
    parameter = spec(shape=(-1, width), rows=RowsSpec(initial=INITIAL, entry=entry, seed=SEED), **own)
    return HashTable(RowRange(parameter, shard, shards, 0), how or update(), TableRoom(room_bytes))


def int64(ids: Sequence[int]) -> np.ndarray:
    return np.array(ids, np.int64).reshape(-1)


def first(ids: Sequence[int], width: int = WIDTH) -> np.ndarray:
    out = np.empty((len(ids), width), np.float32)
    INITIAL.fill(row_key(SEED, "t"), int64(ids), out)
    return out


def normal(seed: int, n: int, width: int = WIDTH) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((n, width), np.float32)


def state_of(*tables: HashTable) -> dict[str, np.ndarray]:
    """What some shards of a table have together, by ascending id."""
    states = [each.state() for each in tables]
    ids, candidates = (np.concatenate([each[kind] for each in states]) for kind in ("ids", "candidates"))
    orders = {len(ids): np.argsort(ids)} | {-1: np.argsort(candidates)}
    together = {}
    for kind in states[0]:
        if kind in ("rates", "days"):
            together[kind] = states[0][kind]
            assert all(np.array_equal(each[kind], together[kind]) for each in states)
            continue
        joined = np.concatenate([each[kind] for each in states])
        waits = kind in ("candidates", "seen", "seen_on")
        together[kind] = np.sort(joined) if kind == "entered" else joined[orders[-1 if waits else len(ids)]]
    return together


def assert_equal(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> None:
    assert one.keys() == other.keys()
    for kind in one:
        assert np.array_equal(one[kind], other[kind]), kind


def as_saved(state: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {f"{kind}/t": array for kind, array in state.items()}
