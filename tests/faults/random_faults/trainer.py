"""A trainer under random faults, as a process: it trains as far as the goal lets it, and leaves what it has.

Started as ``python -m tests.faults.random_faults.trainer JOB``.
"""

from __future__ import annotations

import os
import sys
import threading

import msgspec
import numpy as np

from paddle._engine.exchange import StepReport
from paddle._engine.rows import SparseRows
from paddle._pserver.remote import RemoteExchange
from tests.faults.random_faults.goal import Goal
from tests.faults.random_faults.job import PASS_STEPS, SAMPLES, TRAINERS, Gradients, Job


def main() -> None:
    job = msgspec.json.decode(sys.argv[1], type=Job)
    exchange = RemoteExchange(
        job.hosts,
        port=job.port,
        ports_num=1,
        ports_num_for_sparse=1,
        num_gradient_servers=TRAINERS,
        trainer_id=job.trainer_id,
        connect_timeout_s=90,
        call_timeout_s=90,
        reconnect_timeout_s=90,
        wire=job.wire,
    )
    try:
        train(job, exchange)
    except BaseException as error:
        print(f"{type(error).__name__}: {error}", flush=True)
        exchange.close(str(error))
        raise
    exchange.close()


def train(job: Job, exchange: RemoteExchange) -> None:
    arrays = exchange.start(job.model, job.update, job.values())
    exchange.begin_pass(0)
    steps = dropped = passes = 0
    with job.count.open("wb", buffering=0) as count:
        while Goal.wait(job.goal, steps):
            gradients = job.gradients(job.trainer_id, steps)
            exchange.prefetch(rows_of(gradients))
            dropped += (overlapping(exchange, gradients) if steps % 3 else step(exchange, gradients)).dropped
            steps += 1
            os.pwrite(count.fileno(), f"{steps:12}{dropped:12}".encode(), 0)
            if job.in_step and steps % PASS_STEPS == 0:
                exchange.end_pass(passes)
                exchange.fetch()
                exchange.begin_pass(passes := passes + 1)
    exchange.end_pass(passes)
    exchange.fetch()
    np.savez(job.result, **arrays)


def step(exchange: RemoteExchange, gradients: Gradients) -> StepReport:
    return exchange.step(gradients, SAMPLES)


def overlapping(exchange: RemoteExchange, gradients: Gradients) -> StepReport:
    """The same, sent and received piece by piece."""
    exchange.begin_step()
    for name, gradient in gradients.items():
        if isinstance(gradient, np.ndarray):
            exchange.give(name, gradient)
    exchange.commit(gradients, SAMPLES)
    exchange.settle({"w"})
    return exchange.settle()


def rows_of(gradients: Gradients) -> dict[str, np.ndarray]:
    return {name: one.ids for name, one in gradients.items() if isinstance(one, SparseRows)}


if __name__ == "__main__":
    threading.current_thread().name = "trainer"
    main()
