"""Warming: what real runs load and compile, loaded before processes are forked."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np

from paddle._engine.exchange import ParameterSpec
from paddle._engine.rows import SparseRows
from paddle._pserver.service import process  # noqa: F401 - loaded for those that are forked
from paddle._pserver.trainer.local import LocalExchange


def load() -> None:
    """Train a little model; in every mode push a little to a shard, and hear of it where trainers do."""
    from benchmarks.scale import counting
    from benchmarks.scale.modes import MODES
    from benchmarks.scale.script import update_in
    from paddle._engine.exchange import ModeSpec

    exchange = LocalExchange()
    parameters = ParameterSpec(name="w", shape=(4,)), ParameterSpec(name="t", shape=(9, 2), sparse=True)
    values = {parameter.name: np.zeros(parameter.shape, np.float32) for parameter in parameters}
    exchange.start(parameters, update_in(ModeSpec()), values)
    for ids in (np.array([1, 3]), np.array([3, 1, 3])):
        rows = SparseRows(ids, np.ones((len(ids), 2), np.float32), 9)
        exchange.prefetch({"t": ids})
        exchange.step({"w": np.ones(4, np.float32), "t": rows}, 1)
        rows.merged()
    exchange.close()
    for mode in MODES.values():
        little = {"mode": asdict(mode), "trainers": 2, "floats": 4, "rows": 2, "height": 9, "rounds": 1}
        counting.count(little)
        if mode.is_local:
            counting.hear({**little, "pause_s": 0.0})
