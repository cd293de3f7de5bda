"""Run: one job under the faults of one seed, from its start until nothing of it is left in /proc.

What must hold meanwhile is the monitor's (monitor.py), what must hold in the end is in ending.py.
"""

from __future__ import annotations

import shlex
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from tests.faults.failing_disk import failing_disk
from tests.faults.random_faults.cluster import Cluster, rest, tail
from tests.faults.random_faults.disk import Disk
from tests.faults.random_faults.ending import wrong
from tests.faults.random_faults.harm import OF_DISKS, Harms
from tests.faults.random_faults.job import Job
from tests.faults.random_faults.monitor import Monitor
from tests.faults.random_faults.scenario import ModeName, Scenario, scenario
from tests.faults.random_faults.schedule import Fault, schedule
from tests.faults.toxic import Links
from tests.waiting import PATIENCE_S, until

STEPS_PER_S = 60
MOST_AHEAD = 2 * STEPS_PER_S
"""So far is the goal ahead of trainers at most: on a busy machine they have not much left in the end."""

BROKEN_S = 1.0  # a disk, while trainers say goodbye
_TAIL_LINES = 12


class Broken(AssertionError):
    """A promise was broken; the text says which, and how to see it again."""


@dataclass(frozen=True, slots=True)
class Ran:
    """A job in which every promise was kept. ``done``: how often each fault came to pass;
    ``passes``: so many of them all had ended with the same bits, in step."""

    seed: int
    scenario: Scenario
    versions: int
    looks: int
    passes: int
    done: Counter[str]

    def __str__(self) -> str:
        kinds = ", ".join(f"{count} x {kind}" for kind, count in sorted(self.done.items()) if count)
        seen = f"{self.versions} steps, {self.looks} looks, {self.passes} passes compared"
        return f"seed {self.seed}, {self.scenario}: {seen}; {kinds}"


def run(seed: int, mode: ModeName, seconds: float, folder: Path, *, defect: str | None = None) -> Ran:
    """Raises Broken. ``defect``: of the pservers, to see that it does."""
    job = Job(seed, scenario(seed, mode), str(folder))
    with (
        failing_disk((disk := Disk()).fails) as calls,
        Links(seed) as links,
        Cluster(job, links, begin=calls.begin, defect=defect) as cluster,
    ):
        faults = schedule(seed, seconds, kinds=job.scenario.faults, shards=len(cluster.shards))
        harms, done = Harms(cluster, disk), []
        try:
            if job.in_step and not job.scenario.spec.is_local:
                cluster.start_undisturbed()
            with Monitor(cluster) as monitor:
                steps = disturb(cluster, harms, monitor, faults, done, seconds)
                broken = wrong(cluster, steps, monitor)
            broken = [*monitor.broken, *broken, *monitor.blind, *harms.idle(monitor.version)]
        except Exception as error:  # of this side; a seed must be told all the same
            broken = [f"{type(error).__name__}: {error}"]
        if broken:
            raise Broken(told(seed, job.scenario, seconds, cluster, done, broken))
        cluster.all_gone(PATIENCE_S)
        return Ran(
            seed, job.scenario, monitor.version, monitor.looks, len(monitor.passes.compared), harms.done
        )


def disturb(
    cluster: Cluster,
    harms: Harms,
    monitor: Monitor,
    faults: list[Fault],
    done: list[Fault],
    seconds: float,
) -> int:
    """Faults while it trains and, where trainers are in step, ends; until a promise is seen to be broken.
    Gives the steps of a trainer."""
    goal = cluster.goal
    goal.raise_to(1)
    first = cluster.trainers[:]
    until(lambda: gone(cluster) or all(cluster.counted(one.slot)[0] for one in first), "the first step", 300)
    began = time.monotonic()
    waiting, is_ended = list(reversed(faults)), False
    while (now := time.monotonic() - began) < seconds and not gone(cluster) and not monitor.broken:
        if now < 0.9 * seconds:
            goal.raise_to(min(1 + int(STEPS_PER_S * now), furthest(cluster) + MOST_AHEAD))
        elif not is_ended:
            is_ended = cluster.job.in_step
            if is_ended:
                harms.let_disks_be(broken=cluster.job.scenario.ends_broken)
                goal.end(at_once=False)
        harms.pass_by(time.monotonic())
        while waiting and waiting[-1].at_s <= now:
            fault = waiting.pop()
            if not (is_ended and fault.kind in OF_DISKS):
                done.append(fault)
                harms.do(fault)
        rest()
    if not cluster.job.in_step:  # one that was replaced after its last push finds that out with another one
        goal.raise_to(goal.steps + cluster.job.scenario.push_steps)
    steps = goal.steps
    harms.heal()
    replaced = [one.output.process for one in cluster.trainers if one.is_replaced]
    until(lambda: all(one.poll() is not None for one in replaced), "replaced trainers to find it out")
    harms.let_disks_be(broken=cluster.job.scenario.ends_broken and not cluster.job.in_step)
    goal.end(at_once=not cluster.job.in_step)
    end = time.monotonic() + BROKEN_S
    while harms.is_disk_broken and time.monotonic() < end and not gone(cluster):
        rest()
    harms.let_disks_be(broken=False)
    return steps


def furthest(cluster: Cluster) -> int:
    """How many steps the trainer has made that has made most."""
    return max(cluster.counted(trainer.slot)[0] for trainer in cluster.trainers)


def gone(cluster: Cluster) -> bool:
    """Whether one that should train has ended."""
    return any(one.output.process.poll() is not None for one in cluster.living)


def told(
    seed: int, job: Scenario, seconds: float, cluster: Cluster, done: list[Fault], broken: list[str]
) -> str:
    """All that one needs to find out why."""
    command = f"python -m tests.faults.random_faults --seconds {seconds:g} --seed {seed} --mode"
    logs = [
        f"--- {output.path.name}\n{tail(output.path, _TAIL_LINES)}"
        for output in cluster.outputs()
        if output.path.exists()
    ]
    return "\n".join(
        [
            f"seed {seed}, {job}: promises were broken:",
            *(f"  * {one}" for one in broken[:20]),
            f"again: {command} {shlex.quote(job.mode)}",
            "faults:",
            *map(str, done),
            *logs,
        ]
    )
