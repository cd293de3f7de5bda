"""Job: what is trained under random faults, the same in every process, from a seed.

In step: momentum or Adam with decaying rows, so that every bit depends on every step, on its order and on
what was read when. Out of step: every process adds 1 to values of its own with each step, so that a value
counts how often that process' gradients were applied.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec
import numpy as np

from paddle._engine.exchange import ModeSpec, ParameterSpec, RuleSpec, ScheduleSpec, UpdateSpec
from paddle._engine.rows import SparseRows
from paddle._pserver.placement import dense_layout, row_ranges
from paddle._pserver.wire import WireSpec

Gradients = dict[str, np.ndarray | SparseRows]

TRAINERS = 3
SAMPLES = 8
PASS_STEPS = 40
SLOTS = 16  # processes that count for themselves
SHARDS_OF_A_ROLE = 2
_BLOCK = 1024  # dense values that stay together (placement.py)
_ROWS = 60
_MODES: dict[str, ModeSpec] = {
    "sync": ModeSpec(),
    "async": ModeSpec(name="async"),
    "async, patient": ModeSpec(name="async", discard_ratio=1e6),
    "ssp": ModeSpec(name="ssp", staleness=3),
}
_WIRES = (
    WireSpec(),
    WireSpec(name="topk", share=0.05, answers="bfloat16"),
    WireSpec(name="float16"),
)
ModeName = Literal["sync", "async", "async, patient", "ssp"]


class Job(msgspec.Struct, frozen=True):
    """One job. ``trainer_id`` and ``slot``: this process; every process has a slot of its own."""

    seed: int
    mode: ModeName
    folder: str
    port: int
    hosts: tuple[str, ...] = ()
    trainer_id: int = 0
    slot: int = 0

    @property
    def in_step(self) -> bool:
        return self.mode == "sync"

    @property
    def goal(self) -> Path:
        """A file: how many steps trainers may make so far, and whether these are all."""
        return Path(self.folder) / "goal"

    @property
    def count(self) -> Path:
        """A file: the steps that this process had answers to, and the discarded ones by shards."""
        return Path(self.folder) / f"count-{self.slot}"

    @property
    def result(self) -> Path:
        """A file: the parameters in the end, as this process has them."""
        return Path(self.folder) / f"result-{self.slot}.npz"

    @property
    def model(self) -> tuple[ParameterSpec, ...]:
        if self.in_step:
            return (
                ParameterSpec(name="w", shape=(5, 700), l2_rate=0.01),
                ParameterSpec(name="b", shape=(300,)),
                ParameterSpec(name="t", shape=(_ROWS, 4), sparse=True, l2_rate=0.02),
            )
        return (
            ParameterSpec(name="w", shape=(SHARDS_OF_A_ROLE * _BLOCK,)),
            ParameterSpec(name="t", shape=(SHARDS_OF_A_ROLE * SLOTS, 2), sparse=True),
        )

    @property
    def update(self) -> UpdateSpec:
        mode = _MODES[self.mode]
        if not self.in_step:
            return UpdateSpec(rule=RuleSpec(name="sgd"), schedule=ScheduleSpec(learning_rate=1.0), mode=mode)
        rules = (
            RuleSpec(name="momentum", options={"momentum": 0.9}),
            RuleSpec(name="adam", options={"beta1": 0.8, "beta2": 0.99}),
        )
        schedule = ScheduleSpec(name="discexp", learning_rate=0.05, decay_a=0.9, decay_b=20_000)
        return UpdateSpec(rule=rules[self.seed % 2], schedule=schedule, mode=mode)

    @property
    def wire(self) -> WireSpec:
        """In which numbers values travel: as they are, or in another one of the ways where trainers are in
        step."""
        return _WIRES[self.seed // 2 % len(_WIRES)] if self.in_step else WireSpec()

    def values(self) -> dict[str, np.ndarray]:
        """The initial ones."""
        if not self.in_step:
            return {p.name: np.zeros(p.shape, np.float32) for p in self.model}
        random = np.random.default_rng(self.seed)
        return {p.name: random.standard_normal(p.shape).astype(np.float32) for p in self.model}

    def gradients(self, trainer_id: int, step: int) -> Gradients:
        """Of one batch."""
        if not self.in_step:
            return self._ones()
        random = np.random.default_rng([self.seed, trainer_id, step])
        ids = np.unique(random.integers(0, _ROWS, 9))
        rows = SparseRows(ids, random.standard_normal((len(ids), 4), np.float32), _ROWS)
        dense = {p.name: random.standard_normal(p.shape, np.float32) for p in self.model if not p.sparse}
        return {**dense, "t": rows}

    def _ones(self) -> Gradients:
        """Ones, of the rate 1, where this process counts itself; a row for it is on each shard."""
        dense = np.zeros(SHARDS_OF_A_ROLE * _BLOCK, np.float32)
        dense[self.slot :: SLOTS] = -1
        ids = np.arange(SHARDS_OF_A_ROLE, dtype=np.int64) + SHARDS_OF_A_ROLE * self.slot
        rows = SparseRows(ids, np.full((len(ids), 2), -1, np.float32), SHARDS_OF_A_ROLE * SLOTS)
        return {"w": dense, "t": rows}

    def counted(self, result: dict[str, np.ndarray], slot: int) -> dict[str, np.ndarray]:
        """By shard, what every value that counts this process has in the end."""
        found = {}
        for shard in range(SHARDS_OF_A_ROLE):
            (block,) = dense_layout(self.model, shard, SHARDS_OF_A_ROLE).slices
            (rows,) = row_ranges(self.model, shard, SHARDS_OF_A_ROLE)
            found[f"dense {shard}"] = result["w"][block.start : block.stop][slot::SLOTS]
            found[f"sparse {shard}"] = result["t"][SHARDS_OF_A_ROLE * slot + rows.first]
        return found
