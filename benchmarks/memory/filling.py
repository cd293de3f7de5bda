"""A pserver and a trainer that fills its open table: asked in a line of JSON, as json_process.py does.

The trainer makes rows as in a job, by looking up a batch's ids and pushing a gradient for them, so that
growing, buffers and books are all in the figure.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

from benchmarks.memory.study import WIDTH, Case
from benchmarks.pair import Pair
from paddle._engine.exchange import ParameterSpec, RowsSpec, RuleSpec, ScheduleSpec, UpdateSpec
from paddle._engine.rows import OPEN, SparseRows

_BATCH = 26 * 512
_SMALL = 4 * _BATCH  # rows after which all that a first row brings with it is there
_STRIDE = 1_000_003


class Filling:
    """A table under a rule."""

    def __init__(self, rule: str) -> None:
        spec = ParameterSpec(name="table", shape=(OPEN, WIDTH), sparse=True, rows=RowsSpec())
        update = UpdateSpec(rule=RuleSpec(name=rule), schedule=ScheduleSpec(learning_rate=0.1))
        self.pair, self._made = Pair("sparse"), 0
        self.pair.exchange.start((spec,), update, {})
        self.pair.exchange.begin_pass(0)
        self._gradient = np.ones((_BATCH, WIDTH), np.float32)

    def up_to(self, rows: int) -> None:
        """Make rows until there are so many."""
        while self._made < rows:
            ids = np.arange(self._made, min(rows, self._made + _BATCH)) * _STRIDE
            self.pair.exchange.lookup({"table": ids}, training=True)
            gradient = SparseRows(ids, self._gradient[: len(ids)], height=OPEN)
            self.pair.exchange.step({"table": gradient}, 1)
            self._made += len(ids)


def peak_bytes(case: Case) -> int:
    """What the pserver came to need for a table, at most, over a small one."""
    filling = Filling(case.rule)
    try:
        filling.up_to(_SMALL)
        before = _bytes(filling.pair.servers, "VmRSS")
        filling.up_to(case.rows)
        return _bytes(filling.pair.servers, "VmHWM") - before
    finally:
        filling.pair.close()


def _bytes(pids: tuple[int, ...], kind: str) -> int:
    """``VmRSS``: what processes have in memory; ``VmHWM``: the most that they had."""
    lines = [Path(f"/proc/{pid}/status").read_text().splitlines() for pid in pids]
    return sum(int(line.split()[1]) << 10 for text in lines for line in text if line.startswith(f"{kind}:"))


if __name__ == "__main__":
    print(json.dumps({"peak": peak_bytes(Case(**json.loads(sys.stdin.readline())))}), flush=True)
