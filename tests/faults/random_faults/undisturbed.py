"""Undisturbed: what a job in step comes to where nothing happens to it.

Gradients that travel to pservers: one process computes it, which is given what numpy says arrives, while the
job goes on; it is started as ``python -m tests.faults.random_faults.undisturbed JOB``, and notes what there
is where a pass ends. Trainers that update by themselves: other pservers and trainers, to which nothing
happens, afterwards.
"""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec
import numpy as np

from paddle._pserver.trainer.local import LocalExchange
from tests.engine.wire_twins import Twin
from tests.faults.random_faults.cluster import UNDISTURBED, Cluster
from tests.faults.random_faults.goal import Goal
from tests.faults.random_faults.job import PASS_STEPS, SAMPLES, TRAINERS, Job
from tests.faults.random_faults.trainer import end_pass, look_at
from tests.faults.random_faults.trainer import result as result_of
from tests.faults.toxic import Links
from tests.pserver.protocol.test_wire import arriving
from tests.pserver.test_equality import total

_SLOW_STEP_S = 0.2  # on a machine that has much else to do


def result(cluster: Cluster, steps: int) -> dict[str, np.ndarray]:
    """All that a trainer has after so many steps."""
    if cluster.undisturbed is None:
        return of_pservers(cluster.job, steps)
    if status := cluster.undisturbed.end(120 + steps * _SLOW_STEP_S):
        raise AssertionError(f"the undisturbed job ended with {status}")
    return dict(np.load(msgspec.structs.replace(cluster.job, slot=UNDISTURBED).result))


def main() -> None:
    """As far as the goal lets it."""
    job = msgspec.json.decode(sys.argv[1], type=Job)
    exchange = LocalExchange()
    arrays = exchange.start(job.model, job.update, job.values())
    exchange.begin_pass(number := 0)
    twins, step = [Twin(job.scenario.wire.name, job.scenario.wire.share) for _ in range(TRAINERS)], 0
    while Goal.wait(job.goal, step):
        parts = [job.gradients(id, step) for id in range(TRAINERS)]
        for part in parts:
            look_at(exchange, part)
        arrived = [arriving(twin, part) for twin, part in zip(twins, parts, strict=True)]
        exchange.step(total(arrived, mean=False), SAMPLES * TRAINERS)
        if job.ends_day(step):
            exchange.shrink(1)
        step += 1
        if step % PASS_STEPS == 0:
            end_pass(job, exchange, number, arrays)
            exchange.begin_pass(number := number + 1)
    exchange.end_pass(number)
    np.savez(job.result, **result_of(job, exchange, arrays))


def of_pservers(job: Job, steps: int) -> dict[str, np.ndarray]:
    folder = Path(job.folder) / "undisturbed"
    folder.mkdir()
    with Links() as links, Cluster(msgspec.structs.replace(job, folder=str(folder)), links) as cluster:
        cluster.goal.raise_to(steps)
        cluster.goal.end(at_once=False)
        for output in cluster.outputs():
            if status := output.end(120 + steps * _SLOW_STEP_S):
                raise AssertionError(f"{output.path.name} of the undisturbed job ended with {status}")
        return dict(np.load(cluster.folder / "result-0.npz"))


if __name__ == "__main__":
    main()
