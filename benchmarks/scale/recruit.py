"""Recruit: a real trainer of a real run. Its computation is a timed spin of the processor, so that it is
known; all else is what trainers do.

In a run it trains: rows, computation, push, as its mode wants. In a probe it does that over and over
(``train``), or parts of it, ``pull``, ``prefetch``, ``push``, each time after a batch's computation: what has
not been done for a while costs more, as shards have gone to sleep and caches have been emptied.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks.cputime import cpu_of
from benchmarks.scale.noise import Noise
from benchmarks.scale.script import update_in
from benchmarks.scale.workload import Workload
from paddle._engine.exchange import ModeSpec
from paddle._engine.rows import SparseRows
from paddle._pserver.trainer.remote import RemoteExchange
from paddle._pserver.trainer.trainer_modes import in_mode

WARM_BATCHES = 3
_FEWEST = 16  # times that something is done in a probe
_DRAWN = 32  # different batches; then they come again


class Recruit:
    """See the module's text."""

    def __init__(self, order: Mapping[str, Any], id: int, host: str, port: int) -> None:
        load, mode = Workload(**order["workload"]), ModeSpec(**order["mode"])
        self._times = Noise(**order["noise"]).times(load.compute_s, id, order["batches"])
        self._remote = RemoteExchange(
            [host],
            port=port,
            ports_num=order["dense"],
            ports_num_for_sparse=order["sparse"],
            num_gradient_servers=order["trainers"],
            trainer_id=id,
        )
        self._exchange = in_mode(self._remote, mode, order["trainers"])
        values = {parameter.name: np.zeros(parameter.shape, np.float32) for parameter in load.parameters}
        self._exchange.start(load.parameters, update_in(mode), values)
        self._exchange.begin_pass(0)
        self._load = load
        self._dense = {"w": np.full(load.floats, 1e-6, np.float32)} if load.floats else {}
        chance = np.random.default_rng((7, id))
        self._ids = [_drawn(chance, load) for _ in range(_DRAWN if load.rows else 0)]
        self._values = np.full((load.rows, load.width), 1e-6, np.float32)

    def warm(self) -> None:
        """Do what is not measured: the first times are longer."""
        for number in range(WARM_BATCHES):
            self._prefetch(number)
            self._push(number)

    def run(self) -> dict[str, Any]:
        """Train; when each batch ended, and the processor time of all, that of computing left out."""
        ended = []
        cpu = time.process_time()
        for number in range(len(self._times)):
            self._train(number, self._times[number])
            ended.append(time.monotonic())
        computed = sum(self._times)
        return {"ended": ended, "cpu_s": time.process_time() - cpu - computed, "computed_s": computed}

    def probe(self, parts: Sequence[str], for_s: float, shards: Sequence[int]) -> dict[str, Any]:
        """Do each of ``parts`` for so long: the processor time of each time for this trainer, and of one on
        average for all shards."""
        return {part: self._probe(part, for_s, shards) for part in parts}

    def _probe(self, part: str, for_s: float, shards: Sequence[int]) -> dict[str, Any]:
        pause, do = self._load.compute_s, self._part(part)
        took: list[float] = []
        held = sum(map(cpu_of, shards))
        until = time.monotonic() + for_s
        while len(took) < _FEWEST or time.monotonic() < until:
            began = time.process_time()
            do(len(took), pause)
            took.append(time.process_time() - began - pause)
        return {"trainer": took, "shards": (sum(map(cpu_of, shards)) - held) / len(took)}

    def _part(self, part: str) -> Callable[[int, float], None]:
        """What computes for so long and does a part."""
        if part == "train":
            return self._train
        do = {"pull": lambda number: self._remote.pull(), "prefetch": self._prefetch, "push": self._push}[
            part
        ]

        def computed(number: int, seconds: float) -> None:
            _spin(seconds)
            do(number)

        return computed

    def _train(self, number: int, seconds: float) -> None:
        self._prefetch(number)
        _spin(seconds)
        self._push(number)

    def _prefetch(self, number: int) -> None:
        if self._ids:
            self._exchange.prefetch({"t": self._ids[number % _DRAWN]})

    def _push(self, number: int) -> None:
        gradients: dict[str, np.ndarray | SparseRows] = dict(self._dense)
        if self._ids:
            gradients["t"] = SparseRows(self._ids[number % _DRAWN], self._values, self._load.height)
        self._exchange.step(gradients, 1)

    def close(self) -> None:
        """Say goodbye."""
        self._exchange.close()


def _drawn(chance: np.random.Generator, load: Workload) -> np.ndarray:
    return np.sort(chance.choice(load.height, load.rows, replace=False))


def _spin(seconds: float) -> None:
    """Compute for so long, of processor time."""
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        pass
