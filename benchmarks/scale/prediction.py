"""Prediction: steps per second for up to 1,000 trainers and 100 shards of each role, in every mode.

What is assumed stands in ``assumptions``. Each trainer and each shard has a core of its own; what links they
have is varied.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from benchmarks.scale.costs import Costs
from benchmarks.scale.job import Job, Machines, simulate
from benchmarks.scale.noise import Noise
from benchmarks.scale.result import Result
from benchmarks.scale.workload import Workload
from paddle._engine.exchange import ModeSpec

WIDE_AND_DEEP = Workload(
    name="wide and deep", floats=500_000, rows=13_312, height=10_000_000, batch=512, compute_s=0.0085
)
"""Click-through rates: 26 sparse features of 16 numbers each, three dense layers of 400, batches of 512 and
the time of one on one core."""

NOISE = Noise(trainer_sigma=0.05, batch_sigma=0.2)
LATENCY_S = 30e-6
TRAINERS_ON_A_MACHINE, SHARDS_ON_A_MACHINE = 8, 4
USUAL_GBIT = 25.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """The points that are predicted with links of ``gbit``. ``batches``: of each trainer of up to 100; where
    trainers meet every few batches so many meetings."""

    trainers: tuple[int, ...]
    shards: tuple[int, ...]
    gbit: float = USUAL_GBIT
    batches: int = 16


QUICK = (Grid(trainers=(1, 16, 256), shards=(1, 10, 100), batches=6),)
FULL = (
    Grid(trainers=(1, 2, 4, 8, 16, 32, 64, 125, 250, 500, 1000), shards=(1, 3, 10, 30, 100)),
    Grid(trainers=(1, 10, 100, 1000), shards=(1, 10, 100), gbit=10.0),
    Grid(trainers=(1, 10, 100, 1000), shards=(1, 10, 100), gbit=100.0),
)


@dataclass(frozen=True, slots=True)
class Point:
    """A job of ``trainers`` and ``shards`` of each role, and what the simulation says of it."""

    mode: str
    trainers: int
    shards: int
    gbit: float
    result: Result
    compute_s: float

    @property
    def efficiency(self) -> float:
        """Steps per second for one of trainers that only compute."""
        return self.result.steps_per_s * self.compute_s / self.trainers


def assumptions(load: Workload) -> str:
    """What the prediction is made for, in a paragraph."""
    return (
        f"{load.name}: {load.floats:,} dense floats, {load.rows:,} rows of {load.width} of a table of "
        f"{load.height:,}, batches of {load.batch}, {1e3 * load.compute_s:g} ms of computation each "
        f"(lognormal: sigma {NOISE.batch_sigma:g} from batch to batch, {NOISE.trainer_sigma:g} from trainer "
        f"to trainer). A core for each trainer and each shard; {TRAINERS_ON_A_MACHINE} trainers, or "
        f"{SHARDS_ON_A_MACHINE} dense and {SHARDS_ON_A_MACHINE} sparse shards, share a machine's link; "
        f"{1e6 * LATENCY_S:g} us one way. Plain descent."
    )


def predict(
    costs: Costs,
    load: Workload,
    modes: Mapping[str, ModeSpec],
    grids: Sequence[Grid],
    on_point: Callable[[Point], None] = lambda point: None,
) -> list[Point]:
    """All points; ``on_point`` hears of each as soon as it is known."""
    points = []
    for grid in grids:
        for (name, mode), shards, trainers in product(modes.items(), grid.shards, grid.trainers):
            result = simulate(_job(load, mode, trainers, shards, grid), costs)
            point = Point(name, trainers, shards, grid.gbit, result, load.compute_s)
            on_point(point)
            points.append(point)
    return points


def _job(load: Workload, mode: ModeSpec, trainers: int, shards: int, grid: Grid) -> Job:
    """Longer for few trainers, where one's chance counts; shorter for many, which are many samples."""
    meetings = max(4, round(grid.batches * min(1.0, (100 / trainers) ** 0.5)))
    period = mode.k_steps if mode.is_local else mode.max_merge_var_num
    return Job(
        workload=load,
        mode=mode,
        trainers=trainers,
        dense=shards,
        sparse=shards,
        machines=Machines(
            gbit=grid.gbit,
            latency_s=LATENCY_S,
            trainers=TRAINERS_ON_A_MACHINE,
            shards=min(shards, SHARDS_ON_A_MACHINE),
        ),
        noise=NOISE,
        batches=meetings * period if period > 1 else meetings,
        simulated=4 if trainers <= 200 else 2,
    )
