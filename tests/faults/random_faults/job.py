"""Job: what is trained under random faults, the same in every process, from a seed.

In step: momentum or Adam with decaying rows, so that every bit depends on every step, on its order and on
what was read when. Out of step gradients are counted (counting.py).
"""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np

from paddle._engine.entry import Entry
from paddle._engine.exchange import ParameterSpec, RowsSpec, RuleSpec, ScheduleSpec, UpdateSpec
from paddle._engine.row_initial import RowInitial
from paddle._engine.rows import OPEN, SparseRows
from paddle._pserver.protocol import framing
from tests.faults.random_faults import counting
from tests.faults.random_faults.counting import Gradients
from tests.faults.random_faults.scenario import MEETS, Scenario

TRAINERS = 3
SAMPLES = 8
PASS_STEPS = 5 * MEETS
SHRINK_STEPS = 25  # between days of an open table that end
_ROWS = 60
_POOL = np.array([-(2**63), 2**63 - 1, -1, *(1 << 40 << np.arange(6)), *range(7, 60)], np.int64)


class Job(msgspec.Struct, frozen=True):
    """One job. ``trainer_id`` and ``slot``: this process; every process has a slot of its own. ``token_file``
    and ``tls_ca``: of one that is locked."""

    seed: int
    scenario: Scenario
    folder: str
    port: int = 0
    hosts: tuple[str, ...] = ()
    trainer_id: int = 0
    slot: int = 0
    token_file: str = ""
    tls_ca: str = ""

    @property
    def in_step(self) -> bool:
        return self.scenario.in_step

    @property
    def has_passes(self) -> bool:
        """Whether there is more than one."""
        return self.in_step or self.scenario.has_passes

    @property
    def goal(self) -> Path:
        """A file: how many steps trainers may make so far, and whether these are all."""
        return Path(self.folder) / "goal"

    @property
    def count(self) -> Path:
        """A file: the steps that this process had answers to, and the discarded ones by shards."""
        return Path(self.folder) / f"count-{self.slot}"

    @property
    def halt(self) -> Path:
        """A file: while it is there this process goes no further than to the end of its pass, and tells in it
        how often it has seen all shards since."""
        return Path(self.folder) / f"halt-{self.slot}"

    @property
    def ledger(self) -> Path | None:
        """A file, out of step: what this process has pushed; see ledger.py."""
        return None if self.in_step else Path(self.folder) / f"ledger-{self.slot}"

    @property
    def ends(self) -> Path:
        """A file, in step: what the parameters were where each pass ended; see passes.py."""
        return Path(self.folder) / f"ends-{self.slot}"

    @property
    def result(self) -> Path:
        """A file: the parameters in the end, as this process has them."""
        return Path(self.folder) / f"result-{self.slot}.npz"

    @property
    def model(self) -> tuple[ParameterSpec, ...]:
        if not self.in_step:
            return counting.model(has_open=self.scenario.has_open)
        known = (
            ParameterSpec(name="w", shape=(200 if self.scenario.takes_turns else 5, 700), l2_rate=0.01),
            ParameterSpec(name="b", shape=(300,)),
            ParameterSpec(name="t", shape=(_ROWS, 4), sparse=True, l2_rate=0.02),
        )
        return (*known, self._open()) if self.scenario.has_open else known

    def _open(self) -> ParameterSpec:
        """Trainers that update by themselves take up every row, and forget none."""
        entry = Entry() if self.scenario.spec.is_local else Entry("count", 3)
        rows = RowsSpec(initial=RowInitial("uniform", -1.0, 1.0), entry=entry, seed=self.seed)
        return ParameterSpec(name="o", shape=(OPEN, 3), sparse=True, rows=rows, l2_rate=0.01)

    @property
    def update(self) -> UpdateSpec:
        mode = self.scenario.spec
        if not self.in_step:
            return UpdateSpec(rule=RuleSpec(name="sgd"), schedule=ScheduleSpec(learning_rate=1.0), mode=mode)
        rules = (
            RuleSpec(name="momentum", options={"momentum": 0.9}),
            RuleSpec(name="adam", options={"beta1": 0.8, "beta2": 0.99}),
        )
        schedule = ScheduleSpec(name="discexp", learning_rate=0.05, decay_a=0.9, decay_b=20_000)
        return UpdateSpec(rule=rules[self.seed % 2], schedule=schedule, mode=mode)

    @property
    def tables(self) -> list[str]:
        """The open ones."""
        return ["o"] if self.scenario.has_open else []

    def ends_day(self, step: int) -> bool:
        """Whether open tables forget what was not used, once the next push has been made."""
        forgets = self.scenario.has_open and self.in_step and not self.scenario.spec.is_local
        return forgets and step % SHRINK_STEPS == SHRINK_STEPS - 1

    def values(self) -> dict[str, np.ndarray]:
        """The initial ones."""
        shapes = {p.name: p.shape for p in self.model if not p.is_open}
        if not self.in_step:
            return {name: np.zeros(shape, np.float32) for name, shape in shapes.items()}
        random = np.random.default_rng(self.seed)
        return {name: random.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}

    def gradients(self, trainer_id: int, step: int) -> Gradients:
        """Of one batch."""
        if not self.in_step:
            return counting.gradients(self.slot, has_open=self.scenario.has_open)
        random = np.random.default_rng([self.seed, trainer_id, step])
        ids = np.unique(random.integers(0, _ROWS, 9))
        rows = SparseRows(ids, random.standard_normal((len(ids), 4), np.float32), _ROWS)
        found: Gradients = {
            p.name: random.standard_normal(p.shape, np.float32) for p in self.model if not p.sparse
        }
        found["t"] = rows
        if self.scenario.has_open:
            ids = np.unique(random.choice(_POOL, 7))
            found["o"] = SparseRows(ids, random.standard_normal((len(ids), 3), np.float32), OPEN)
        return found


def small_portions() -> None:
    """Have bodies checked in these, on both sides; no smaller than what is received ahead."""
    framing.PORTION_BYTES = 1 << 16


def rows_of(gradients: Gradients, *, is_open: bool) -> dict[str, np.ndarray]:
    """The rows that a batch uses, of tables that are open or of the others."""
    return {
        name: one.ids
        for name, one in gradients.items()
        if isinstance(one, SparseRows) and (one.height == OPEN) == is_open
    }
