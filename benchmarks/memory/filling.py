"""A pserver and a trainer that fills its open table, or trainers that train its dense parameter: asked in a
line of JSON, as json_process.py does.

The trainer makes rows as in a job, by looking up a batch's ids and pushing a gradient for them, so that
growing, buffers and books are all in the figure.
"""

from __future__ import annotations

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.memory.study import WIDTH, Case
from benchmarks.pair import Pair
from benchmarks.pserver import SNAPSHOT_STEPS
from paddle._engine.exchange import ParameterSpec, RowsSpec, RuleSpec, ScheduleSpec, UpdateSpec
from paddle._engine.rows import OPEN, SparseRows
from paddle._pserver.trainer.remote import RemoteExchange

_BATCH = 26 * 512
_SMALL = 4 * _BATCH  # rows after which all that a first row brings with it is there
_STRIDE = 1_000_003
_STEPS = 2 * SNAPSHOT_STEPS + 1


class Filling:
    """A table under a rule. ``kept``: where snapshots lie, if they are written; ``copies``: see Case."""

    def __init__(self, rule: str, kept: str, copies: str) -> None:
        spec = ParameterSpec(name="table", shape=(OPEN, WIDTH), sparse=True, rows=RowsSpec())
        update = UpdateSpec(rule=RuleSpec(name=rule), schedule=ScheduleSpec(learning_rate=0.1))
        self.pair, self._made = Pair("sparse", "", "", kept, copies), 0
        self.pair.exchange.start((spec,), update, {})
        self.pair.exchange.begin_pass(0)
        self._gradient = np.ones((_BATCH, WIDTH), np.float32)

    def begin_again(self) -> None:
        """All rows are to come once more."""
        self._made = 0

    def up_to(self, rows: int) -> None:
        """Make rows until there are so many."""
        while self._made < rows:
            ids = np.arange(self._made, min(rows, self._made + _BATCH)) * _STRIDE
            self.pair.exchange.lookup({"table": ids}, training=True)
            gradient = SparseRows(ids, self._gradient[: len(ids)], height=OPEN)
            self.pair.exchange.step({"table": gradient}, 1)
            self._made += len(ids)


def trained_bytes(case: Case, rows: int, kind: str, kept: str) -> int:
    """What a pserver had, or has, in memory when trainers have trained a dense parameter of so many rows."""
    pair = Pair("tcp", "", "", kept, case.copies, case.waiting, trainers=case.trainers)
    others = [
        RemoteExchange(
            ["127.0.0.1"],
            port=pair.port,
            ports_num=1,
            ports_num_for_sparse=0,
            num_gradient_servers=case.trainers,
            trainer_id=number,
        )
        for number in range(1, case.trainers)
    ]
    values = np.zeros((rows, WIDTH), np.float32)
    update = UpdateSpec(rule=RuleSpec(name=case.rule), schedule=ScheduleSpec(learning_rate=0.1))

    def train(exchange: RemoteExchange) -> None:
        exchange.start((ParameterSpec(name="dense", shape=values.shape),), update, {"dense": values})
        exchange.begin_pass(0)
        for _ in range(_STEPS):
            exchange.step({"dense": values}, 1)

    try:
        with ThreadPoolExecutor(case.trainers) as trainers:
            list(trainers.map(train, (pair.exchange, *others)))
        return _bytes(pair.servers, kind)
    finally:
        for exchange in others:
            exchange.close()
        pair.close()


def peak_bytes(case: Case) -> int:
    """What the pserver came to need at most, over what it had when there was little to keep."""
    with TemporaryDirectory() as folder:
        kept = [str(Path(folder, name)) if case.snapshots else "" for name in ("small", "large")]
        if case.trainers:
            small = trained_bytes(case, 1, "VmRSS", kept[0])
            return trained_bytes(case, case.rows, "VmHWM", kept[1]) - small
        return filled_bytes(case, kept[1])


def filled_bytes(case: Case, kept: str) -> int:
    """What the pserver came to need for a table, at most, over a small one."""
    filling = Filling(case.rule, kept, case.copies)
    try:
        filling.up_to(_SMALL)
        before = _bytes(filling.pair.servers, "VmRSS")
        filling.up_to(case.rows)
        if kept:  # rows that change while they are written
            filling.begin_again()
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
