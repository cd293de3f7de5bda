"""Soak: trainers that train for long at real pservers of this process, whose connections break now and then,
and whose pages are read; what all of it holds is counted. ``python -m tests.faults.soak --seconds 600``.

A week has as many steps as this has in hours: what one step leaves behind is seen in blocks of memory, which
are counted and not guessed, long before it is seen in bytes. Files, threads and connections are what one turn
may leave behind, which has a pass, a connection that broke for each trainer, snapshots and pages in it.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from paddle._engine.exchange import ModeSpec, ParameterSpec, RuleSpec, ScheduleSpec, UpdateSpec
from paddle._engine.rows import SparseRows
from paddle._pserver.options import SnapshotOptions
from paddle._pserver.trainer.trainer_modes import in_mode
from tests.pserver.service.endpoints import TIMEOUT_S, Endpoints

MODES: Mapping[str, ModeSpec] = {
    "sync": ModeSpec(),
    "async": ModeSpec(name="async"),
    "ssp": ModeSpec(name="ssp", staleness=3),
    "half_async": ModeSpec(name="half_async", max_merge_var_num=4),
    "geo": ModeSpec(name="geo", k_steps=4),
    "average": ModeSpec(name="average", k_steps=4),
    "average, async": ModeSpec(name="average", k_steps=4, is_async=True),
    "elastic": ModeSpec(name="elastic_average", k_steps=4, delta_add_rate=0.75),
    "elastic, async": ModeSpec(name="elastic_average", k_steps=4, delta_add_rate=0.75, is_async=True),
}
MODEL = (
    ParameterSpec(name="w", shape=(300,)),
    ParameterSpec(name="t", shape=(500, 4), sparse=True),
    ParameterSpec(name="idle", shape=(500, 4), sparse=True),
)
TRAINERS = 2
_PAGES = ("/v1/status", "/metrics", "/", "/sparse/v1/status")
_LOOKS = 5


@dataclass(frozen=True, slots=True)
class Held:
    """What this process holds after so many ``steps`` of each trainer."""

    steps: int
    blocks: int
    files: int
    threads: int
    bytes: int

    def __str__(self) -> str:
        return (
            f"{self.steps:8} steps  {self.blocks:9} blocks  {self.files:4} files  {self.threads:4} threads  "
            f"{self.bytes / 2**20:8.1f} MiB"
        )


@dataclass(frozen=True, slots=True)
class Growth:
    """Of what is held. ``blocks``: for each step of a trainer."""

    blocks: float
    files: int
    threads: int
    bytes: int


def growth(held: Sequence[Held]) -> Growth:
    """From the first half of some turns to the other: of the least in each, for what is told again to a shard
    that is restored is kept from one snapshot to the next."""
    half = len(held) // 2
    before, after = held[:half], held[half:]

    def grown(what: Callable[[Held], int]) -> int:
        return min(map(what, after)) - min(map(what, before))

    return Growth(
        grown(lambda each: each.blocks) / (after[0].steps - before[0].steps),
        grown(lambda each: each.files),
        grown(lambda each: each.threads),
        grown(lambda each: each.bytes),
    )


def soak(mode: str, folder: Path, turns: int, steps: int) -> Iterator[Held]:
    """What is held after each of ``turns``, of so many ``steps``. Raises what a trainer raises."""
    kept = SnapshotOptions(folder=str(folder), period=5, interval_s=1.0)
    endpoints = Endpoints(1, TRAINERS, snapshots=kept)
    work = _Work(MODES[mode], turns, steps)
    training = threading.Thread(target=work.train, args=(endpoints,), daemon=True)
    training.start()
    for turn in range(1, turns + 1):
        if work.at_rest():
            _read_pages(endpoints.names[0])
            yield _held(turn * steps)
            work.go_on()
    training.join(TIMEOUT_S)
    if work.error is not None:
        raise work.error
    assert endpoints.outcomes() == [True]


class _Work:
    """Trainers that meet after every turn, while nobody trains."""

    def __init__(self, mode: ModeSpec, turns: int, steps: int) -> None:
        self._mode, self._turns, self._steps = mode, turns, steps
        self._met = threading.Barrier(TRAINERS + 1)
        self.error: BaseException | None = None

    def at_rest(self) -> bool:
        """Wait until all are; whether they are, and none has failed."""
        try:
            self._met.wait()
        except threading.BrokenBarrierError:
            return False
        return True

    def go_on(self) -> None:
        """The next turn begins."""
        self.at_rest()

    def train(self, endpoints: Endpoints) -> None:
        try:
            endpoints.train(self._trainer)
        except BaseException as error:
            self.error = error
            self._met.abort()

    def _trainer(self, remote: Any) -> None:
        exchange = in_mode(remote, self._mode, TRAINERS)
        rule = UpdateSpec(rule=RuleSpec(name="momentum"), schedule=ScheduleSpec(learning_rate=0.01))
        values = {p.name: np.zeros(p.shape, np.float32) for p in MODEL}
        exchange.start(MODEL, replace(rule, mode=self._mode), values)
        chances = np.random.default_rng(0)
        for turn in range(self._turns):
            exchange.begin_pass(turn)
            for step in range(self._steps):
                if step == self._steps // 2:
                    remote._shards[turn % len(remote._shards)].line.client.shut()
                _step(exchange, np.unique(chances.integers(0, 500, 8)))
            exchange.end_pass(turn)
            exchange.fetch()
            for _ in range(2):
                if not self.at_rest():
                    return
        if self._mode.is_local:
            exchange.close()


def _step(exchange: Any, ids: np.ndarray) -> None:
    exchange.prefetch({"t": ids})
    gradients = {
        "w": np.full(300, 0.01, np.float32),
        "t": SparseRows(ids, np.full((len(ids), 4), 0.01, np.float32), 500),
        "idle": SparseRows(np.empty(0, np.int64), np.empty((0, 4), np.float32), 500),
    }
    exchange.step(gradients, 8)


def _read_pages(name: str) -> None:
    for page in _PAGES:
        with urllib.request.urlopen(f"http://{name}{page}", timeout=TIMEOUT_S) as answer:
            answer.read()


def _held(steps: int) -> Held:
    """The least of some looks: snapshots are being written, and connections closed."""
    looks: list[Sequence[int]] = []
    gc.collect()
    for _ in range(_LOOKS):
        resident = int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        files = sum(1 for _ in Path("/proc/self/fd").iterdir())
        looks.append((sys.getallocatedblocks(), files, threading.active_count(), resident))
        threading.Event().wait(0.01)
    return Held(steps, *(min(look) for look in zip(*looks, strict=True)))


def main() -> None:
    """All modes, or one."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults.soak", description=__doc__)
    parser.add_argument("--seconds", type=float, default=600.0, help="of all modes together")
    parser.add_argument("--mode", choices=MODES, help="only this one")
    parser.add_argument("--steps", type=int, default=1000, help="of a trainer in a turn")
    asked = parser.parse_args()
    modes = [asked.mode] if asked.mode else list(MODES)
    for mode in modes:
        print(mode, flush=True)
        _soak_for(asked.seconds / len(modes), mode, asked.steps)


def _soak_for(seconds: float, mode: str, steps: int) -> None:
    ends = time.monotonic() + seconds
    with tempfile.TemporaryDirectory() as folder:
        for held in soak(mode, Path(folder), 1 << 20, steps):
            print(held, flush=True)
            if time.monotonic() >= ends:
                break


if __name__ == "__main__":
    main()
