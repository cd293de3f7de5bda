"""Validation: real runs of up to 16 trainers, and what the simulation says of the same.

All processes of a run share this machine's cores and speak over its loopback device, and so they do in the
simulation: cores shared in equal parts, bytes that cost the processor time that was measured, and nothing
else. Trainers' computation has the same times in both, batch by batch (noise.py).

Where others used the machine during a run it is run again, some times; the least disturbed one counts. How
busy others kept the machine during it stands beside it, and so much less of the cores has the simulation.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from benchmarks.scale.costs import Costs
from benchmarks.scale.job import simulate
from benchmarks.scale.measuring import Measured
from benchmarks.scale.orders import Field, Order, Real, job_of
from benchmarks.scale.result import Result
from benchmarks.scale.workload import Workload
from paddle._engine.exchange import ModeSpec

BOUND = 0.25
"""Goal: in the median of all cases prediction and measurement differ by no more than this."""
BUSY = 0.15
"""Others that keep more of the machine busy than this are an excuse: who shares caches, too, is slower."""
CALM = 0.05
"""With no more than this a run is not tried again."""

LIGHT = Workload(name="exchange", floats=65_536, rows=1000, height=50_000, batch=64, compute_s=0.002)
HEAVY = Workload(name="compute", floats=65_536, rows=1000, height=50_000, batch=64, compute_s=0.01)


@dataclass(frozen=True, slots=True)
class Case:
    """One job, as simulated and as it ran."""

    mode: str
    order: Order
    predicted: Result
    real: Real

    @property
    def ratio(self) -> float:
        """Predicted steps per second for one measured."""
        return self.predicted.steps_per_s / self.real.steps_per_s

    @property
    def cpu_ratio(self) -> float:
        """The same for the processor time of a step's exchange."""
        return self.predicted.cpu_s / self.real.cpu_s


@dataclass(frozen=True, slots=True)
class Verdict:
    """How far off ``what`` is in the median case. ``met``: None where it is not judged: it missed, and
    others kept the machine busy. ``of``: the same for each workload alone, as the speed of a job that mostly
    computes says little of what was predicted."""

    what: str
    error: float
    met: bool | None
    of: Mapping[str, float]


def judge(cases: Sequence[Case]) -> list[Verdict]:
    """Hold all cases to the goals."""
    missed = None if median(case.real.others for case in cases) > BUSY else False
    loads = list(dict.fromkeys(case.order.workload.name for case in cases))

    def verdict(what: str, ratio: Callable[[Case], float]) -> Verdict:
        off = error([ratio(case) for case in cases])
        alone = {
            load: error([ratio(case) for case in cases if case.order.workload.name == load]) for load in loads
        }
        return Verdict(what, off, True if off <= BOUND else missed, alone)

    return [
        verdict("steps/s", lambda case: case.ratio),
        verdict("CPU time of an exchange", lambda case: case.cpu_ratio),
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """``trainers``: numbers of them. ``seconds``: about how long a run lasts."""

    workloads: tuple[Workload, ...]
    trainers: tuple[int, ...]
    seconds: float
    rounds: int

    @property
    def pauses(self) -> list[float]:
        """How long a batch of each computes, in seconds."""
        return sorted({load.compute_s for load in self.workloads})


QUICK = Plan(workloads=(LIGHT, HEAVY), trainers=(1, 4), seconds=0.25, rounds=1)
FULL = Plan(workloads=(LIGHT, HEAVY), trainers=(1, 2, 4, 8, 16), seconds=1.0, rounds=3)


def validate(
    field: Field,
    measured: Measured,
    modes: Mapping[str, ModeSpec],
    plan: Plan,
    on_case: Callable[[Case], None] = lambda case: None,
) -> list[Case]:
    """Run all cases; ``on_case`` hears of each as soon as it is known."""
    cases = []
    for name, order in _orders(modes, plan):
        costs = measured.of(order.workload, order.trainers / len(os.sched_getaffinity(0)))
        case = _case(field, costs, name, order, plan.rounds)
        on_case(case)
        cases.append(case)
    return cases


def error(ratios: Sequence[float]) -> float:
    """By how much, in the median, the greater of prediction and measurement exceeds the other."""
    return median(max(ratio, 1 / ratio) - 1 for ratio in ratios)


def _orders(modes: Mapping[str, ModeSpec], plan: Plan) -> Iterator[tuple[str, Order]]:
    cores = len(os.sched_getaffinity(0))
    for load in plan.workloads:
        for trainers in plan.trainers:
            batch_s = (load.compute_s + 0.002) * max(1.0, trainers / cores)
            batches = max(12, round(plan.seconds / batch_s))
            for name, mode in modes.items():
                yield name, Order(workload=load, mode=mode, trainers=trainers, batches=batches)


def _case(field: Field, costs: Costs, mode: str, order: Order, rounds: int) -> Case:
    real = field.run(order)
    for _ in range(rounds - 1):
        if real.others <= CALM:
            break
        real = min(real, field.run(order), key=lambda run: run.others)
    left = len(os.sched_getaffinity(0)) * (1 - real.others)
    return Case(mode, order, simulate(job_of(order, max(left, 0.1)), costs), real)
