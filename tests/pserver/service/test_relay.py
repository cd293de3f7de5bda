"""A snapshot that is written in a thread, piece by piece, while the shard goes on."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from functools import partialmethod
from typing import Any

import numpy as np
import pytest

from paddle._engine.exchange import Exchange
from paddle._engine.rows import SparseRows
from paddle._pserver.service.relay import relayed
from paddle._pserver.shard.state import State
from paddle._pserver.tables.streamed import Streamed, pieces
from paddle._pserver.tables.tables import Tables
from paddle._pserver.trainer.local import LocalExchange
from tests.waiting import until

from ..conftest import BIAS, TABLE, Start, update, values_of

MODEL = (BIAS, TABLE)
VALUES = values_of(MODEL, 3)
STEPS = 40


class Disk:
    """Snapshots that are made in memory, one of which lasts until training is far ahead of it."""

    def __init__(self) -> None:
        self.states: dict[int, dict[str, bytes]] = {}
        self.streamed = 0
        self.version = 0  # of training

    def save(self, state: State) -> None:
        version, thread = state.facts.version, threading.current_thread()
        assert thread is not threading.main_thread()
        arrays: dict[str, bytes] = {}
        for name, array in state.arrays.items():
            self.streamed += isinstance(array, Streamed)
            read = b""
            for piece in pieces(array):
                read += piece.tobytes()
                if version == 1 and isinstance(array, Streamed):
                    until(lambda: self.version > STEPS // 2, "training to go on meanwhile")
            arrays[name] = read
        self.states.setdefault(version, {}).update(arrays)  # of both shards

    def state_of(self, version: int) -> State:
        raise AssertionError("nobody goes back")


def gradients(step: int) -> dict[str, Any]:
    random = np.random.default_rng(step)
    ids = np.unique(random.integers(0, 50, 5))
    rows = SparseRows(ids, random.standard_normal((len(ids), 6), np.float32), 50)
    return {"b": random.standard_normal(60, np.float32), "emb": rows}


def test_what_is_written_is_what_there_was_though_training_goes_on(
    start_pservers: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Tables, "cut", partialmethod(Tables.cut, 0))
    monkeypatch.setattr("paddle._pserver.tables.frozen.PIECE_BYTES", 100)
    disk = Disk()
    pservers = start_pservers(ports_num_for_sparse=1, kept=disk)

    def run(exchange: Exchange) -> None:
        exchange.start(MODEL, update("momentum"), VALUES)
        for step in range(1, STEPS + 1):
            disk.version = exchange.step(gradients(step), 1).version

    pservers.train(run)
    local, states = LocalExchange(), dict(disk.states)
    local.start(MODEL, update("momentum"), VALUES)
    assert 1 in states and disk.streamed >= 3
    for step in range(1, STEPS + 1):
        local.step(gradients(step), 1)
        was = local._tables.state()
        for name, read in states.get(step, {}).items():
            assert read == was[name].tobytes(), f"{name} at version {step}"


def test_the_time_that_each_piece_takes_is_told() -> None:
    """It is time in which the loop hears nobody."""

    def slow() -> Iterator[np.ndarray]:
        for _ in range(3):
            end = time.monotonic() + 0.01
            until(lambda: time.monotonic() > end, "a hundredth of a second to pass")  # noqa: B023
            yield np.zeros(2)

    async def read() -> list[np.ndarray]:
        state = State(None, {"t": Streamed(np.dtype(np.float64), (6,), slow)})  # type: ignore[arg-type]
        there = relayed(state, asyncio.get_running_loop(), told.append, lambda: ends.append(len(told))).arrays
        return await asyncio.to_thread(lambda: list(pieces(there["t"])))

    told: list[float] = []
    ends: list[int] = []
    began = time.monotonic()
    assert len(asyncio.run(read())) == 3
    assert len(told) == 4 and ends == [4] and 0.03 <= sum(told) <= time.monotonic() - began
