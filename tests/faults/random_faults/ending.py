"""Ending: what must hold once a job has been trained to its end, whatever happened to it.

1.  All processes end by themselves in time: pservers and trainers with 0, a trainer that was replaced while
    it stood still with 1, saying that it is stale.
2.  The parameters of all trainers are equal. In step they equal, bit for bit, those of a job to which nothing
    happened (undisturbed.py); so does the version of the newest snapshots.
3.  Out of step the pushes of a process were applied once each, but for those that it was told to be discarded
    and those that the log says to be lost. (Of a killed process one may be on the way.)
4.  The newest snapshots load, and hold what trainers ended with; so do the others that are kept. No half
    written one is left that is not the newest.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import numpy as np

from paddle._pserver.errors import NoValidCheckpoint
from paddle._pserver.options import ShardOptions
from paddle._pserver.protocol.placement import dense_layout, row_ranges
from paddle._pserver.shard.shard import Shard
from paddle._pserver.snapshots.snapshot import Snapshots
from paddle._pserver.snapshots.storage import Folder
from tests.faults.random_faults import counting, undisturbed
from tests.faults.random_faults.cluster import Cluster, ShardProcess, TrainerProcess, newest_version, rest
from tests.faults.random_faults.counting import SHARDS_OF_A_ROLE
from tests.faults.random_faults.job import TRAINERS, Job
from tests.faults.random_faults.ledger import between, pushed

_END_S = 120.0
_ROUNDED = 0.1
"""How far from the sum of what was pushed a value may be; a push moves it by 1/3 at least."""


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
        yield from different(cluster, first, steps)
    else:
        yield from miscounted(cluster, first)
    for shard in cluster.shards:
        yield from unsaved(cluster.job, shard, first)
        names = sorted(path.name for path in shard.folder.iterdir() if path.name != "lock")
        if not names or any(name.endswith(".new") for name in names if name[:6] < names[-1][:6]):
            yield f"{shard.folder} has half written files: {names}"


def result_of(cluster: Cluster, slot: int) -> Path:
    return cluster.folder / f"result-{slot}.npz"


def different(cluster: Cluster, result: dict[str, np.ndarray], steps: int) -> Iterator[str]:
    """Rule 2."""
    expected = undisturbed.result(cluster.job, steps)
    yield from (
        f"{name} differs from what a job comes to in {steps} steps to which nothing happens"
        for name in expected
        if result[name].tobytes() != expected[name].tobytes()
    )
    pushes = -(-steps // cluster.job.scenario.push_steps)
    yield from (
        f"the newest snapshot of {shard.name} is of version {newest_version(shard.folder)}, not {pushes}"
        for shard in cluster.shards
        if newest_version(shard.folder) != pushes
    )


def miscounted(cluster: Cluster, result: dict[str, np.ndarray]) -> Iterator[str]:
    """Rule 3."""
    for trainer in cluster.trainers:
        ended_early = trainer.is_killed or trainer.is_replaced
        dropped, missing = cluster.counted(trainer.slot)[1], 0.0
        for shard, values in counting.counted(result, trainer.slot).items():
            if np.ptp(values) > _ROUNDED:
                yield f"{shard} applied parts of pushes of process {trainer.slot}: {values}"
            lost, (least, most) = cluster.lost_pushes(shard, trainer), bounds(cluster, trainer, shard)
            missing += most - float(values[0]) if least == most else 0.0
            if not least - dropped - _ROUNDED <= values[0] <= most + _ROUNDED:
                yield (
                    f"{shard} moved by {values[0]} for process {trainer.slot} (trainer {trainer.id}), not by "
                    f"{least - dropped} to {most}: it made {cluster.counted(trainer.slot)[0]} steps, pushes "
                    f"{sorted(lost)} are said to be lost, and {dropped} by all shards to be discarded"
                )
        if not ended_early and not cluster.says_lost and abs(missing - dropped) > _ROUNDED:
            yield f"{missing} steps of process {trainer.slot} do not count, and {dropped} are discarded"


def bounds(cluster: Cluster, trainer: TrainerProcess, shard: str) -> tuple[float, float]:
    """By how much a process must have moved a shard at least, where none is discarded, and at most."""
    job, ended_early = cluster.job.scenario, trainer.is_killed or trainer.is_replaced
    if cluster.job.ledger and shard.startswith("dense"):
        return drawn(cluster, trainer.slot, shard)
    steps, lost = cluster.counted(trainer.slot)[0], cluster.lost_pushes(shard, trainer)
    if ended_early:
        return 0.0, sum(counting.moved(job, steps + job.push_steps, TRAINERS, is_ended=False))
    pushes = counting.moved(job, steps, TRAINERS, is_ended=True)
    gone = sum(size for number, size in enumerate(pushes, 1) if number in lost)
    # Who looks where the center is before it pushes gives again what was lost; of a near one it may be
    # another's.
    is_sure = job.spec.name != "elastic_average" and bool(trainer.links)
    return sum(pushes) - gone, sum(pushes) - (gone if is_sure else 0.0)


def drawn(cluster: Cluster, slot: int, shard: str) -> tuple[float, float]:
    """By how much all must have moved what one process counts with, at least and at most."""
    least = most = 0.0
    for one in cluster.trainers:
        ledger = msgspec.structs.replace(cluster.job, slot=one.slot).ledger
        assert ledger is not None
        low, high = between(
            pushed(ledger, int(shard.split()[1]), slot),
            cluster.lost_pushes(shard, one),
            is_sure=bool(one.links),
            ended_early=one.is_killed or one.is_replaced,
        )
        least, most = least + low, most + high
    return least, most


def unsaved(job: Job, process: ShardProcess, result: dict[str, np.ndarray]) -> Iterator[str]:
    """Rule 4, of one shard."""
    role, number = process.name.split()
    snapshots = Snapshots(Folder(process.folder))
    shard = Shard(ShardOptions(num_gradient_servers=TRAINERS, roles={role}))  # type: ignore[arg-type]
    try:
        loaded = snapshots.load()
        for version in loaded.older:
            snapshots.state_of(version)
    except (OSError, ValueError, NoValidCheckpoint) as error:
        yield f"snapshots of {process.name} do not load: {error}"
        return
    assert loaded.state is not None
    shard.restore(loaded.state, str(process.folder), now=0.0)
    for name, values, expected in (kept if role == "dense" else kept_rows)(job, shard, int(number), result):
        if values.tobytes() != expected.tobytes():
            yield f"the newest snapshot of {process.name} has not the {name} that trainers ended with"


Kept = Iterator[tuple[str, np.ndarray, np.ndarray]]
"""Names, what a shard has of it, and what a trainer has of the same."""


def kept(job: Job, shard: Shard, number: int, result: dict[str, np.ndarray]) -> Kept:
    assert shard.tables is not None
    at = 0
    for part in dense_layout(job.model, number, SHARDS_OF_A_ROLE).slices:
        size = part.stop - part.start
        yield (
            part.name,
            shard.tables.values[at : at + size],
            result[part.name].reshape(-1)[part.start : part.stop],
        )
        at += size


def kept_rows(job: Job, shard: Shard, number: int, result: dict[str, np.ndarray]) -> Kept:
    assert shard.tables is not None
    for held in row_ranges(job.model, number, SHARDS_OF_A_ROLE):
        name = held.parameter.name
        if not held.parameter.is_open:
            yield name, shard.tables.table(name).refresh(), result[name][held.rows]
            continue
        ids, values = shard.tables.open_table(name).export(None, 1 << 62)
        mine, order = held.pick(result[f"ids of {name}"]), np.argsort(ids)
        yield f"ids of {name}", ids[order], result[f"ids of {name}"][mine]
        yield name, values[order], result[name][mine]
