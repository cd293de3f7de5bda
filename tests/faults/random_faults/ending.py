"""Ending: what must hold once a job has been trained to its end, whatever happened to it.

1.  All processes end by themselves in time: pservers and trainers with 0, a trainer that was replaced while
    it stood still with 1, saying that it is stale.
2.  In step the parameters of all trainers equal, bit for bit, those of a job in one process to which nothing
    happened, and which is given what numpy says arrives; so does the version of the newest snapshots.
3.  Out of step the gradients of a process were applied once each, but for those that it was told to be
    discarded and those that the log says to be lost. (Of a killed process one may be on the way.)
4.  No half written snapshot is left that is not the newest.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from paddle._engine.rows import SparseRows
from paddle._pserver.local import LocalExchange
from tests.engine.wire_twins import Twin
from tests.faults.random_faults.cluster import Cluster, TrainerProcess, rest
from tests.faults.random_faults.job import PASS_STEPS, SAMPLES, TRAINERS, Gradients, Job
from tests.faults.random_faults.monitor import newest_version
from tests.pserver.test_wire import arriving

_END_S = 120.0


def wrong(cluster: Cluster, steps: int, *, is_hopeless: Callable[[], bool] = lambda: False) -> list[str]:
    """What is wrong with a job that ends after so many steps. ``is_hopeless``: not to be waited for."""
    return ended_badly(cluster, is_hopeless) or list(right(cluster, steps))


def ended_badly(cluster: Cluster, is_hopeless: Callable[[], bool]) -> list[str]:
    """Rule 1."""
    end, said = time.monotonic() + _END_S, []
    for name, process in processes(cluster):
        while process.poll() is None and time.monotonic() < end and not is_hopeless():
            rest()
        if process.poll() is None:
            said.append(f"{name} has not ended")
    if said:
        return said
    for trainer in cluster.trainers:
        said += trainer_ended(trainer)
    return said + [
        f"the pserver at {host} ended with {status}"
        for host, pserver in zip(cluster.hosts, cluster.pservers, strict=True)
        if (status := pserver.end(5))
    ]


def processes(cluster: Cluster) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    for trainer in cluster.trainers:
        yield f"trainer {trainer.id} (process {trainer.slot})", trainer.output.process
    for host, pserver in zip(cluster.hosts, cluster.pservers, strict=True):
        yield f"the pserver at {host}", pserver.process


def trainer_ended(trainer: TrainerProcess) -> list[str]:
    status = trainer.output.end(5)
    expected = -9 if trainer.is_killed else 1 if trainer.is_replaced else 0
    said = "".join(trainer.output.lines)
    if status == expected and (not trainer.is_replaced or "Stale: " in said):
        return []
    return [f"trainer {trainer.id} (process {trainer.slot}) ended with {status}, not {expected}"]


def right(cluster: Cluster, steps: int) -> Iterator[str]:
    """Rules 2, 3 and 4."""
    results = {one.slot: dict(np.load(result_of(cluster, one.slot))) for one in cluster.living}
    first, *others = results.values()
    yield from (
        f"trainers end with different {name}"
        for other in others
        for name in first
        if first[name].tobytes() != other[name].tobytes()
    )
    if cluster.job.in_step:
        expected = in_one_process(cluster.job, steps)
        yield from (
            f"{name} differs from what one process computes in {steps} steps"
            for name in first
            if first[name].tobytes() != expected[name].tobytes()
        )
        yield from (
            f"the newest snapshot of {shard.name} is of version {newest_version(shard.folder)}, not {steps}"
            for shard in cluster.shards
            if newest_version(shard.folder) != steps
        )
    else:
        yield from miscounted(cluster, first)
    for shard in cluster.shards:
        names = sorted(path.name for path in shard.folder.iterdir() if path.name != "lock")
        if not names or any(name.endswith(".new") for name in names if name[:6] < names[-1][:6]):
            yield f"{shard.folder} has half written files: {names}"


def result_of(cluster: Cluster, slot: int) -> Path:
    return cluster.folder / f"result-{slot}.npz"


def miscounted(cluster: Cluster, result: dict[str, np.ndarray]) -> Iterator[str]:
    """Rule 3."""
    lost = cluster.lost_steps()
    for trainer in cluster.trainers:
        steps, dropped = cluster.counted(trainer.slot)
        ended_early = trainer.is_killed or trainer.is_replaced
        applied = 0
        for shard, values in cluster.job.counted(result, trainer.slot).items():
            if len(set(values.tolist())) != 1:
                yield f"{shard} applied parts of gradients of process {trainer.slot}: {values}"
            gone = len(lost.get((shard, trainer.slot), ()))
            applied += int(values[0])
            least = 0 if ended_early else steps - gone - dropped
            most = steps + ended_early - (0 if ended_early else gone)
            if not least <= values[0] <= most:
                yield (
                    f"{shard} applied {values[0]:.0f} gradients of process {trainer.slot} (trainer "
                    f"{trainer.id}), not {least} to {most}: it made {steps} steps, {gone} are said to be "
                    f"lost, and {dropped} by all shards to be discarded"
                )
        if not ended_early and not any(lost.values()) and applied != len(cluster.shards) * steps - dropped:
            yield f"{applied} gradients of process {trainer.slot} count, of {steps}, {dropped} discarded"


def in_one_process(job: Job, steps: int) -> dict[str, np.ndarray]:
    """The parameters after so many steps, to which nothing happened."""
    exchange = LocalExchange()
    arrays = exchange.start(job.model, job.update, job.values())
    exchange.begin_pass(passes := 0)
    twins = [Twin(job.wire.name, job.wire.share) for _ in range(TRAINERS)]
    for step in range(steps):
        parts = [arriving(twin, job.gradients(id, step)) for id, twin in enumerate(twins)]
        exchange.prefetch({"t": np.concatenate([part["t"].ids for part in parts])})  # type: ignore[union-attr]
        exchange.step(summed(parts), SAMPLES * TRAINERS)
        if (step + 1) % PASS_STEPS == 0:
            exchange.end_pass(passes)
            exchange.fetch()
            exchange.begin_pass(passes := passes + 1)
    exchange.end_pass(passes)
    exchange.fetch()
    return {name: array.copy() for name, array in arrays.items()}


def summed(parts: list[Gradients]) -> Gradients:
    """Of all trainers, in their order."""
    total: Gradients = {}
    for name, first in parts[0].items():
        if isinstance(first, SparseRows):
            total[name] = SparseRows.concatenate([part[name] for part in parts]).merged()  # type: ignore[misc]
            continue
        total[name] = first.copy()
        for part in parts[1:]:
            total[name] += part[name]  # type: ignore[operator]
    return total
