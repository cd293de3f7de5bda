"""The port between a training step and the place where its parameters live, and the words spoken through it.

The engine knows this file; the two carriers behind it, in-process and networked, live in ``_pserver``. It
must never know a socket, an address or a trainer other than itself.

Guarantee, of every carrier in synchronous mode: after ``step`` returns, the arrays that ``start`` handed out
hold exactly the parameters after all trainers' gradients for that step, each applied once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, runtime_checkable

import numpy as np

from paddle._engine.entry import Entry
from paddle._engine.row_initial import RowInitial
from paddle._engine.rows import SparseRows, TableRows


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleSpec:
    """An update rule by name (``sgd``, ``momentum``, ``adagrad``, ``adam``...) with its numbers."""

    name: str
    options: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class RowsSpec:
    """How an open table comes to its rows: their first values, and which ids get one. ``seed``: of both.
    ``rule``: the table's own, in the place of the job's."""

    initial: RowInitial = field(default_factory=RowInitial)
    entry: Entry = field(default_factory=Entry)
    seed: int = 0
    rule: RuleSpec | None = field(default=None, hash=False)  # whose options are a dict


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterSpec:
    """What the keeper of one parameter must know about it.

    ``None`` for a rate means the job's own (see :class:`UpdateSpec`); ``learning_rate`` multiplies it.

    A sparse one with ``rows`` is an *open* table, of shape ``(OPEN, width)``: every int64 is an id that may
    have a row, made when it is first asked for. Nobody has all of it, so it is no array.
    """

    name: str
    shape: tuple[int, ...]
    sparse: bool = False
    rows: RowsSpec | None = None
    learning_rate: float = 1.0
    momentum: float | None = None
    l1_rate: float | None = None
    l2_rate: float | None = None
    gradient_clipping_threshold: float | None = None

    @property
    def is_open(self) -> bool:
        """Whether it is a table without a declared height."""
        return self.rows is not None

    @property
    def size(self) -> int:
        """Number of float32 values, of what is no open table."""
        return int(np.prod(self.shape, dtype=np.int64))


@dataclass(frozen=True, slots=True, kw_only=True)
class WarmupSpec:
    """The first ``length`` of a schedule's units: a straight line from ``start`` to ``end`` in its place.

    ``shifts``: the schedule counts from the end of the warm-up (2.x), not from the first step (fluid).
    """

    length: float
    start: float
    end: float
    shifts: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleSpec:
    """A learning rate as a function of how much was done so far: of samples, steps or passes.

    ``unit``: which of these, the schedule's own where empty. ``decay_a``, ``decay_b`` and ``args`` are what
    the documents of v2 call so; ``options`` are the numbers of the schedules of later generations by name.
    """

    name: str = "constant"
    learning_rate: float = 1e-3
    decay_a: float = 0.0
    decay_b: float = 0.0
    args: str = ""
    unit: Literal["", "samples", "steps", "passes"] = ""
    options: Mapping[str, float | tuple[float, ...]] = field(default_factory=dict)
    warmup: WarmupSpec | None = None


ModeName = Literal["sync", "async", "half_async", "ssp", "geo", "average", "elastic_average"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModeSpec:
    """When what trainers learn counts for the others. Each mode takes the numbers that it has a use for.

    ``sync``: a step waits for all trainers. ``async``: none does; ``discard_ratio`` times as many commits as
    there are trainers make a gradient too old. ``half_async``: trainers merge the gradients of up to
    ``max_merge_var_num`` steps, into their sum or mean as ``merge`` says. In both, shards that are told so
    (``compensates``) correct a gradient by how far values have moved since (DC-ASGD). ``ssp``: a trainer is
    ahead of the slowest by ``staleness`` steps at most.

    In the others the rule is applied by each trainer, which meets the others every ``k_steps``. ``geo``: it
    adds its part of what it moved to what they share. ``average``: its parameters become the average of all
    trainers'. ``elastic_average``: they and that average move towards each other. ``delta_add_rate``: how
    far, of 1. In the last two all wait for each other, unless they are ``is_async``.
    """

    name: ModeName = "sync"
    discard_ratio: float = 1.5
    max_merge_var_num: int = 1
    merge: Literal["sum", "mean"] = "sum"
    staleness: int = 0
    k_steps: int = 1
    delta_add_rate: float = 1.0
    is_async: bool = False
    compensates: bool = False

    def __post_init__(self) -> None:
        if self.max_merge_var_num < 1 or self.k_steps < 1 or self.staleness < 0:
            raise ValueError(
                "max_merge_var_num and k_steps must be at least 1, and staleness at least 0, not "
                f"{self.max_merge_var_num}, {self.k_steps} and {self.staleness}"
            )
        if not (self.delta_add_rate > 0 and self.discard_ratio >= 0):
            raise ValueError(
                "delta_add_rate must be above 0 and the discard ratio a number, not "
                f"{self.delta_add_rate} and {self.discard_ratio}"
            )

    @property
    def is_local(self) -> bool:
        """Whether trainers apply the rule by themselves."""
        return self.name in ("geo", "average", "elastic_average")

    @property
    def is_in_step(self) -> bool:
        """Whether every push waits for those of all trainers."""
        return self.name == "sync" or (self.name in ("average", "elastic_average") and not self.is_async)


@dataclass(frozen=True, slots=True, kw_only=True)
class AverageSpec:
    """Over how many steps parameters are averaged (see averages.py); ``window`` is a share of all steps."""

    window: float
    min_window: int
    max_window: int


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateSpec:
    """How gradients become parameters: the same for all parameters of a job."""

    rule: RuleSpec
    schedule: ScheduleSpec
    l1_rate: float = 0.0
    l2_rate: float = 0.0
    gradient_clipping_threshold: float = 0.0
    reduce: Literal["sum", "mean"] = "sum"
    mode: ModeSpec = ModeSpec()
    average: AverageSpec | None = None


@dataclass(frozen=True, slots=True)
class StepReport:
    """What became of one pushed gradient. ``dropped``: how many shards discarded it as stale."""

    version: int
    dropped: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """What a job has left that another one goes on from, besides values. ``steps``: how many were taken,
    which some rules count. ``slots``: what the rule remembers of parameters that are arrays, by parameter and
    slot. ``rows``: those of open tables."""

    steps: int = 0
    slots: Mapping[str, Mapping[str, np.ndarray]] = field(default_factory=dict)
    rows: Mapping[str, TableRows] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.steps or self.slots or self.rows)


class Stepping(Protocol):
    """What a run of a program asks of an exchange."""

    def prefetch(self, rows: Mapping[str, np.ndarray]) -> None:
        """Bring the rows that a batch will use up to date: sparse parameter -> int64 ids, any shape."""
        ...

    def lookup(self, ids: Mapping[str, np.ndarray], *, training: bool) -> Mapping[str, np.ndarray]:
        """Rows of open tables: of each the rows ``ids`` int64 (n,), each once, as new float32 (n, width).

        ``training``: those that are not there are made, or counted as seen (entry.py); what has no row then
        is zero, and so is what a test asks for in vain.
        """
        ...

    def step(
        self, gradients: Mapping[str, np.ndarray | SparseRows], samples: int, *, rate: float | None = None
    ) -> StepReport:
        """Give the gradients of one batch of ``samples``; returns with the dense parameters updated.

        ``rate``: the learning rate of this step, in the place of what the declared schedule says; in step all
        trainers tell the same one.
        """
        ...


class Exchange(Stepping, Protocol):
    """Where a step's gradients go and its parameters come from."""

    def start(
        self, parameters: Sequence[ParameterSpec], update: UpdateSpec, values: Mapping[str, np.ndarray]
    ) -> Mapping[str, np.ndarray]:
        """Declare the parameters and seed them (trainer 0's ``values`` win).

        Returns one float32 array per parameter, C-contiguous, of the declared shape. These arrays are what
        later calls update in place; the caller computes with them and never replaces them. Of a ``sparse``
        parameter only the prefetched rows are meaningful until ``fetch``. Open tables have no values and no
        arrays here: see ``lookup``.
        """
        ...

    def room(self) -> Mapping[str, np.ndarray]:
        """Once started: where dense gradients are best computed, float32 arrays in their parameters' shapes.

        ``step`` need not copy these. There may be none; what there is stays the same.
        """
        ...

    def begin_pass(self, pass_id: int) -> None:
        """Enter a pass over the data."""
        ...

    def end_pass(self, pass_id: int) -> None:
        """Leave a pass; returns when all trainers have, with equal parameters, whatever their batches."""
        ...

    def fetch(self) -> None:
        """Bring every parameter, all rows of sparse ones included, up to date."""
        ...

    def export(self, name: str) -> SparseRows:
        """All rows that an open table has, up to date, by ascending id."""
        ...

    def shrink(self, threshold: int) -> None:
        """With the next step, or end of a pass, ends a day of all open tables: they forget rows that nobody
        has used in ``threshold`` days. To be asked by one trainer."""
        ...

    def averages(self) -> Mapping[str, np.ndarray]:
        """The parameters averaged over the last steps, all rows of sparse ones included, in new arrays.

        Raises ``ExchangeError`` where the job's ``UpdateSpec.average`` is None.
        """
        ...

    def close(self, failure: str | None = None) -> None:
        """Say goodbye; with ``failure``, say why this trainer cannot go on, so that no other waits for it.

        Idempotent; after it only ``close`` may be called.
        """
        ...


@runtime_checkable
class Remembering(Exchange, Protocol):
    """An exchange that can tell what a rule remembers, and go on from what another job has told."""

    def go_on_from(self, past: Past) -> None:
        """Before ``start``: that is to go on from there. Trainer 0's counts."""
        ...

    @property
    def steps(self) -> int:
        """How many steps were applied, as of what was heard last, those of its past included."""
        ...

    def remembered(self, parameter: str, slot: str) -> np.ndarray | None:
        """What the rule remembers of a parameter that is an array, float32 in its shape; None where it
        remembers no such thing."""
        ...

    def rows_of(self, table: str) -> Iterator[TableRows]:
        """All rows of an open table, up to date, in pieces, in no order."""
        ...


@runtime_checkable
class SteppingAhead(Stepping, Protocol):
    """An exchange that sends gradients while others are computed, and brings parameters while others are
    used.

    A step is ``begin_step``, any number of ``give``, ``commit``, and some time later ``settle``: together
    what ``step`` does. Between ``commit`` and ``settle`` parameters are neither the old nor the new ones, and
    gradients must stay as they are. All other methods settle by themselves.
    """

    def begin_step(self) -> None:
        """A batch begins. What was given of one that was never committed is void."""
        ...

    def give(self, name: str, gradient: np.ndarray) -> None:
        """The gradient of a dense parameter is final, and stays so until the next ``begin_step`` at least."""
        ...

    def commit(
        self, gradients: Mapping[str, np.ndarray | SparseRows], samples: int, *, rate: float | None = None
    ) -> None:
        """All gradients of one batch of ``samples`` are there, those that were given among them.

        Returns before they have had their effect; no gradient counts without it.
        """
        ...

    def settle(self, names: Collection[str] | None = None) -> StepReport:
        """Wait until these parameters, all if None, are those of the next step; others are no concern of it.

        Returns what became of the last step that was settled wholly. Raises what went wrong since ``commit``.
        """
        ...


@runtime_checkable
class Overlapping(Exchange, SteppingAhead, Protocol):
    """An exchange that does."""


@runtime_checkable
class Lending(Stepping, Protocol):
    """An exchange that lets its trainer change some parameters itself, as a step would."""

    def lent(self) -> Mapping[str, float]:
        """Once started: dense parameters of which a step subtracts ``rate * multiplier * gradient``, and does
        nothing else to them, each with its multiplier. Whoever does so itself gives ``step`` no gradient."""
        ...

    def rate(self, samples: int) -> float:
        """The learning rate of the next step, which is one of ``samples``, where ``step`` is told none."""
        ...
