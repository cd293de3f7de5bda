"""Ledger: what every push of a process adds to what is counted, and what each shard said to it; in a file.

A push is noted before it is made, and the answers once all shards have answered: so it tells of a killed
process, too, and where all trainers move the values of each, as in elastic averaging, of which no formula
tells what becomes of them.

It must never know what became of a push: see account.py.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from paddle._engine.exchange import StepReport
from paddle._engine.rows import SparseRows
from paddle._pserver.trainer.remote import RemoteExchange
from tests.faults.random_faults.counting import SHARDS, SLOTS, moves

_ENTRY = np.dtype([("moves", "<f4", (len(SHARDS), SLOTS)), ("is_dropped", "?", (len(SHARDS),))])


class NotedExchange(RemoteExchange):
    """Notes every push in the file ``ledger``, if there is to be one."""

    def __init__(self, hosts: Sequence[str], *, ledger: Path | None, **options: Any) -> None:
        super().__init__(hosts, **options)
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        self._ledger = None if ledger is None else os.open(ledger, flags, 0o600)

    def commit(
        self, gradients: Mapping[str, np.ndarray | SparseRows], samples: int, *, rate: float | None = None
    ) -> None:
        """See Overlapping."""
        if self._ledger is not None:
            self.settle()
            os.write(self._ledger, moves(gradients).tobytes())
        super().commit(gradients, samples, rate=rate)

    def settle(self, names: Collection[str] | None = None) -> StepReport:
        """See Overlapping."""
        was_under_way = self._flight.is_under_way
        report = super().settle(names)
        if self._ledger is not None and was_under_way and not self._flight.is_under_way:
            os.write(self._ledger, bytes(answer.dropped for answer in self._flight.end()))
        return report


@dataclass(frozen=True, slots=True)
class Pushes:
    """Those of a process, in order. ``moves``: by push, shard (SHARDS) and slot; ``is_dropped``: by push and
    shard; ``answered``: how many of them all shards have answered."""

    moves: np.ndarray
    is_dropped: np.ndarray
    answered: int


def pushes(ledger: Path) -> Pushes:
    """All that the file tells; an answer that was not noted is one that was not dropped."""
    content = ledger.read_bytes() if ledger.exists() else b""
    answered, rest = divmod(len(content), _ENTRY.itemsize)
    padding = bytes(_ENTRY.itemsize - rest if rest else 0)
    entries = np.frombuffer(content + padding, _ENTRY)
    return Pushes(entries["moves"].astype(np.float64), entries["is_dropped"], answered)
