"""Trainer: a simulated one. It computes, and asks what its script says, as RemoteExchange would ask it.

It asks all servers before it waits for any, in the order of remote.py: sparse ones before dense ones in a
push, whose answers are taken in the opposite order. It must never know whom it waits for, or why.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Any

from benchmarks.scale.agenda import Wait
from benchmarks.scale.connection import Connection
from benchmarks.scale.cores import Thread
from benchmarks.scale.costs import ModeCosts, TrainerCosts
from benchmarks.scale.script import Batch, Call
from benchmarks.scale.workload import Workload

Steps = Generator[Wait, Any, None]


class Trainer:
    """See the module's text. ``on_batch(trainer)`` is called after each batch."""

    def __init__(
        self,
        id: int,
        dense: Sequence[Connection],
        sparse: Sequence[Connection],
        *,
        workload: Workload,
        costs: TrainerCosts,
        mode_costs: ModeCosts,
        hears_own: bool,
        thread: Thread,
        on_batch: Callable[[int], None],
    ) -> None:
        self.id = id
        self._dense, self._sparse, self._work = dense, sparse, thread.work
        self._load, self._costs, self._extra = workload, costs, mode_costs
        self._hears_own, self._on_batch = hears_own, on_batch

    def run(self, script: Sequence[Batch], times: Sequence[float]) -> Steps:
        """Train on as many batches as ``times`` has."""
        load, extra = self._load, self._extra
        batch_s = extra.batch_s + load.floats * extra.batch_float_s
        batch_s += load.rows * extra.batch_row_s + bool(load.rows) * extra.batch_table_s
        for batch, computing_s in zip(script, times, strict=True):
            for call in batch.before:
                yield from self._call(call, batch)
            yield self._work(computing_s + batch_s)
            for call in batch.after:
                yield from self._call(call, batch)
            self._on_batch(self.id)

    def _call(self, call: Call, batch: Batch) -> Steps:
        match call:
            case "prefetch" if self._sparse:
                yield self._work(self._costs.prefetch_s + self._sifting_s(self._load.rows))
                yield from self._exchange(self._sparse, Connection.ask_rows)
            case "push":
                yield from self._push(batch.merged)
            case "pull":
                yield self._work(self._costs.pull_s)
                yield from self._exchange(self._dense, lambda to: to.ask_values(is_push=False))
            case "changes" if self._sparse:
                own, told_row_s = self._hears_own, self._extra.told_row_s
                yield from self._exchange(self._sparse, lambda to: to.count_changes(batch.merged, own=own))
                yield from self._exchange(self._sparse, lambda to: to.ask_changes(told_row_s))

    def _push(self, batches: int) -> Steps:
        load, extra = self._load, self._extra
        rows = load.touched(batches) if batches > 1 else load.rows
        meeting_s = extra.meeting_s + load.floats * extra.meeting_float_s
        meeting_s += rows * extra.meeting_row_s + bool(rows) * extra.meeting_table_s
        yield self._work(self._costs.step_s + self._sifting_s(rows) + meeting_s)
        for sparse in self._sparse:
            yield from sparse.push_rows(batches)
        for dense in self._dense:
            yield from dense.ask_values(is_push=True)
        for connection in (*self._dense, *self._sparse):
            yield from connection.hear()

    def _sifting_s(self, rows: float) -> float:
        """To find the rows of each shard."""
        return rows * self._costs.sift_s if sum(one.weight for one in self._sparse) > 1 else 0.0

    def _exchange(self, targets: Sequence[Connection], ask: Callable[[Connection], Steps]) -> Steps:
        for target in targets:
            yield from ask(target)
        for target in targets:
            yield from target.hear()
