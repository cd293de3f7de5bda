"""Ledger: what every push of a process adds to the dense values, noted before it is made.

Where trainers are drawn to the center and it to them, each moves the values of all: what becomes of one no
formula tells, but that it is the sum of what was pushed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from paddle._engine.exchange import StepReport
from paddle._engine.rows import SparseRows
from paddle._pserver.trainer.remote import RemoteExchange
from tests.faults.random_faults.counting import SHARDS_OF_A_ROLE, SLOTS, first_values

_SHAPE = (-1, SHARDS_OF_A_ROLE, SLOTS)


class NotedExchange(RemoteExchange):
    """Notes every push in the file ``ledger``, if there is to be one: it tells of a killed process, too."""

    def __init__(self, hosts: Sequence[str], *, ledger: Path | None, **options: Any) -> None:
        super().__init__(hosts, **options)
        self._ledger = ledger

    def step(self, gradients: Mapping[str, np.ndarray | SparseRows], samples: int) -> StepReport:
        """See Exchange."""
        if self._ledger:
            gradient = gradients["w"]
            assert isinstance(gradient, np.ndarray)
            with self._ledger.open("ab") as file:
                file.write(-first_values(gradient))
        return super().step(gradients, samples)


def pushed(ledger: Path, shard: int, slot: int) -> np.ndarray:
    """By how much every push of a process moves the dense values that ``slot`` counts with, in order."""
    content = ledger.read_bytes() if ledger.exists() else b""
    pushes: np.ndarray = np.frombuffer(content, np.float32).reshape(_SHAPE)[:, shard, slot]
    return pushes.astype(np.float64)


def between(pushes: np.ndarray, lost: set[int], *, is_sure: bool, ended_early: bool) -> tuple[float, float]:
    """By how much these pushes have moved a value, at least and at most.

    ``lost``: the numbers, from 1, of those that have not, as far as that ``is_sure``. ``ended_early``: what a
    shard forgot of the last ones nobody has told it again.
    """
    if ended_early:
        sums = np.cumsum([0.0, *pushes])
        return float(sums.min()), float(sums.max())
    is_lost = np.isin(np.arange(1, len(pushes) + 1), list(lost))
    kept, doubted = float(pushes[~is_lost].sum()), pushes[is_lost & (not is_sure)]
    return kept + float(doubted[doubted < 0].sum()), kept + float(doubted[doubted > 0].sum())
