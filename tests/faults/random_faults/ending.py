"""Ending: what must hold once a job has been trained to its end, whatever happened to it.

1.  All processes end by themselves in time: pservers and trainers with 0, a trainer that was replaced while
    it stood still with 1, saying that it is stale.
2.  The parameters of all trainers are equal. In step they equal, bit for bit, those of a job to which nothing
    happened (undisturbed.py); so does the version of the newest snapshots.
3.  Out of step every process pushed what it had to, once, and was told what was discarded of it. On every
    shard each push counts once, but for those that the shard said to be discarded or, in its log, to be lost.
    (Of a process that ended early one may be on the way, and a shard that is started again after it forgets
    what its newest snapshot has not.)
4.  The newest snapshots load, and hold what trainers ended with, unless a shard said that it let the last one
    go without; the others that are kept load, too. No shard
    ever met one that is worse than cut short, and no half written one is left that is not the newest.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
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
from tests.faults.random_faults.account import span, together
from tests.faults.random_faults.cluster import Cluster, ShardProcess, TrainerProcess, newest_version, rest
from tests.faults.random_faults.counting import SHARDS, SHARDS_OF_A_ROLE
from tests.faults.random_faults.job import TRAINERS, Job
from tests.faults.random_faults.ledger import Pushes, pushes
from tests.faults.random_faults.monitor import Monitor
from tests.waiting import PATIENCE_S

_END_S = 120.0
_ROUNDED = 0.1
"""How far from the sum of what was pushed a value may be; a push moves it by 1/3 at least."""
_HALF_A_UNIT = {"bfloat16": 2.0**-8, "float16": 2.0**-11}
"""By wire: what rounding may take of a dense value, of which it is a part of the next push."""


def wrong(cluster: Cluster, steps: int, monitor: Monitor | None = None) -> list[str]:
    """What is wrong with a job that ends after so many steps. ``monitor``: it is waited for while that sees
    steps, and nothing wrong."""
    return ended_badly(cluster, monitor) or list(right(cluster, steps))


def ended_badly(cluster: Cluster, monitor: Monitor | None) -> list[str]:
    """Rule 1. In time is so long after the last step that was seen."""
    said: list[str] = []
    end, version = time.monotonic() + _END_S, monitor.version if monitor else 0
    for name, process in processes(cluster):
        while process.poll() is None and time.monotonic() < end and not (monitor and monitor.broken):
            if monitor and monitor.version > version:
                end, version = time.monotonic() + _END_S, monitor.version
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
        if (status := pserver.end(PATIENCE_S))
    ]


def processes(cluster: Cluster) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    for trainer in cluster.trainers:
        yield f"trainer {trainer.id} (process {trainer.slot})", trainer.output.process
    for host, pserver in zip(cluster.hosts, cluster.pservers, strict=True):
        yield f"the pserver at {host}", pserver.process


def trainer_ended(trainer: TrainerProcess) -> list[str]:
    status = trainer.output.end(PATIENCE_S)
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
    yield from cluster.said.torn
    for shard in cluster.shards:
        yield from unsaved(cluster.job, shard, first, is_last=shard.name not in cluster.said.let_go)
        names = sorted(path.name for path in shard.folder.iterdir() if path.name != "lock")
        if not names or any(name.endswith(".new") for name in names if name[:6] < names[-1][:6]):
            yield f"{shard.folder} has half written files: {names}"


def result_of(cluster: Cluster, slot: int) -> Path:
    return cluster.folder / f"result-{slot}.npz"


def different(cluster: Cluster, result: dict[str, np.ndarray], steps: int) -> Iterator[str]:
    """Rule 2."""
    expected = undisturbed.result(cluster, steps)
    yield from (
        f"{name} differs from what a job comes to in {steps} steps to which nothing happens"
        for name in expected
        if result[name].tobytes() != expected[name].tobytes()
    )
    pushes = -(-steps // cluster.job.scenario.push_steps)
    let_go = cluster.said.let_go
    yield from (
        f"the newest snapshot of {shard.name} is of version {newest_version(shard.folder)}, not {pushes}"
        for shard in cluster.shards
        if newest_version(shard.folder) != pushes and shard.name not in let_go
    )


def miscounted(cluster: Cluster, result: dict[str, np.ndarray]) -> Iterator[str]:
    """Rule 3."""
    said = cluster.said
    told = {one.slot: pushes_of(cluster, one) for one in cluster.trainers}
    for trainer in cluster.trainers:
        yield from mistaken(cluster, trainer, told[trainer.slot])
    for number, shard in enumerate(SHARDS):
        fates = {one.slot: cluster.fate(said, shard, one) for one in cluster.trainers}
        is_rounded = shard.startswith("dense")
        kept = _HALF_A_UNIT.get(cluster.job.scenario.wire.name, 0.0) if is_rounded else 0.0
        expected = together(span(told[slot], number, fate, kept) for slot, fate in fates.items())
        for slot, fate in fates.items():
            values, least, most = (
                counting.counted(result, slot)[shard],
                expected.least[slot],
                expected.most[slot],
            )
            if values.min() < least - _ROUNDED or values.max() > most + _ROUNDED:
                yield (
                    f"{shard} moved by {values.min()} to {values.max()} for process {slot}, not by {least} "
                    f"to {most}: of its {len(told[slot].moves)} pushes {sorted(fate.lost)} are said to be "
                    f"lost, and {told[slot].is_dropped[:, number].sum()} to be discarded"
                )


def pushes_of(cluster: Cluster, trainer: TrainerProcess) -> Pushes:
    ledger = msgspec.structs.replace(cluster.job, slot=trainer.slot).ledger
    assert ledger is not None
    return pushes(ledger)


def mistaken(cluster: Cluster, trainer: TrainerProcess, told: Pushes) -> Iterator[str]:
    """Whether a process pushed what it had to push, and heard what was said to it."""
    job, (steps, dropped) = cluster.job.scenario, cluster.counted(trainer.slot)
    who = f"process {trainer.slot} (trainer {trainer.id})"
    steps, is_ended = (steps + job.push_steps, False) if trainer.ended_early else (steps, True)
    expected = np.array(counting.moved(job, steps, TRAINERS, is_ended=is_ended))
    own = told.moves[:, :, trainer.slot]
    if not len(expected) - trainer.ended_early <= len(own) <= len(expected):
        yield f"{who} made {len(own)} pushes of {steps} steps, not {len(expected)}"
    elif job.spec.name != "elastic_average" and far(own, expected[: len(own), None]):
        yield f"{who} pushed {own.sum(0)} in {steps} steps, not {expected.sum()}"
    if not trainer.ended_early and told.answered < len(own):
        yield f"{who} ended with pushes that were not answered"
    if not trainer.ended_early and job.push_steps == 1 and told.is_dropped.sum() != dropped:
        yield f"{who} was told of {dropped} discarded pushes, and shards answered {told.is_dropped.sum()}"


def far(values: np.ndarray, expected: np.ndarray) -> bool:
    """Whether any of them is further than rounding explains."""
    return bool(np.abs(values - expected).max(initial=0) > _ROUNDED)


def unsaved(
    job: Job, process: ShardProcess, result: dict[str, np.ndarray], *, is_last: bool
) -> Iterator[str]:
    """Rule 4, of one shard. ``is_last``: its newest snapshot is of the end."""
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
    yield from (
        f"{process.name} has a snapshot that is damaged: {damaged}"
        for damaged in loaded.damaged
        if "cut short while it was written" not in damaged
    )
    assert loaded.state is not None
    shard.restore(loaded.state, str(process.folder), now=0.0)
    for name, values, expected in (kept if role == "dense" else kept_rows)(job, shard, int(number), result):
        if is_last and values.tobytes() != expected.tobytes():
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
        rows = shard.tables.open_table(name).listed(None, 1 << 62).sorted()
        mine = held.pick(result[f"ids of {name}"])
        yield f"ids of {name}", rows.ids, result[f"ids of {name}"][mine]
        yield name, rows.values, result[name][mine]
