"""A trainer under random faults, as a process: it trains as far as the goal lets it, and leaves what it has.

Started as ``python -m tests.faults.random_faults.trainer JOB``.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Callable, Mapping

import msgspec
import numpy as np

from paddle._engine.exchange import Exchange, StepReport
from paddle._pserver.trainer.remote import RemoteExchange
from paddle._pserver.trainer.trainer_modes import in_mode
from tests.faults.random_faults import passes
from tests.faults.random_faults.counting import Gradients
from tests.faults.random_faults.goal import Goal
from tests.faults.random_faults.job import PASS_STEPS, SAMPLES, TRAINERS, Job, rows_of, small_portions
from tests.faults.random_faults.ledger import NotedExchange


def main() -> None:
    job = msgspec.json.decode(sys.argv[1], type=Job)
    if job.scenario.takes_turns:
        small_portions()
    remote = NotedExchange(
        job.hosts,
        port=job.port,
        ports_num=1,
        ports_num_for_sparse=1,
        num_gradient_servers=TRAINERS,
        trainer_id=job.trainer_id,
        connect_timeout_s=300,
        call_timeout_s=300,
        reconnect_timeout_s=300,
        wire=job.scenario.wire,
        token_file=job.token_file,
        tls_ca=job.tls_ca,
        ledger=job.ledger,
    )
    exchange = in_mode(remote, job.scenario.spec, TRAINERS)
    try:
        train(job, exchange, lambda: remote.next_pass)
    except BaseException as error:
        print(f"{type(error).__name__}: {error}", flush=True)
        exchange.close(str(error))
        raise
    exchange.close()


def train(job: Job, exchange: Exchange, next_pass: Callable[[], int]) -> None:
    arrays = exchange.start(job.model, job.update, job.values())
    number = next_pass()  # the one after the last that a process before this one has ended
    exchange.begin_pass(number)
    steps, dropped = number * PASS_STEPS if job.in_step else 0, 0
    with job.count.open("wb", buffering=0) as count:
        while Goal.wait(job.goal, steps):
            gradients = job.gradients(job.trainer_id, steps)
            look_at(exchange, gradients)
            dropped += step(exchange, gradients, in_pieces=steps % 3 > 0).dropped
            if job.trainer_id == 0 and job.ends_day(steps):
                exchange.shrink(1)
            steps += 1
            os.pwrite(count.fileno(), f"{steps:12}{dropped:12}".encode(), 0)
            if job.has_passes and steps % PASS_STEPS == 0:
                end_pass(job, exchange, number, arrays)
                exchange.begin_pass(number := number + 1)
    exchange.end_pass(number)
    np.savez(job.result, **result(job, exchange, arrays))


def end_pass(job: Job, exchange: Exchange, number: int, arrays: Mapping[str, np.ndarray]) -> None:
    """Between two passes it stays for as long as that is wanted; shards that come back meanwhile are seen."""
    exchange.end_pass(number)
    if job.in_step:
        exchange.fetch()
        passes.note(job.ends, number, arrays)
    looks = 0
    while job.halt.exists():
        exchange.fetch()
        looks += 1
        with contextlib.suppress(OSError), job.halt.open("r+") as file:
            file.write(f"{looks:12}")
        threading.Event().wait(0.02)


def look_at(exchange: Exchange, gradients: Gradients) -> None:
    """The rows that a batch uses."""
    exchange.prefetch(rows_of(gradients, is_open=False))
    if opened := rows_of(gradients, is_open=True):
        exchange.lookup(opened, training=True)


def step(exchange: Exchange, gradients: Gradients, *, in_pieces: bool) -> StepReport:
    """Where it can be, ``in_pieces``: sent and received piece by piece."""
    if not in_pieces or not isinstance(exchange, RemoteExchange):
        return exchange.step(gradients, SAMPLES)
    exchange.begin_step()
    for name, gradient in gradients.items():
        if isinstance(gradient, np.ndarray):
            exchange.give(name, gradient)
    exchange.commit(gradients, SAMPLES)
    exchange.settle({"w"})
    return exchange.settle()


def result(job: Job, exchange: Exchange, arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """All that there is in the end, with the ids of open tables."""
    exchange.fetch()
    exported = {name: exchange.export(name) for name in job.tables}
    ids = {f"ids of {name}": rows.ids for name, rows in exported.items()}
    return {**arrays, **ids, **{name: rows.values for name, rows in exported.items()}}


if __name__ == "__main__":
    threading.current_thread().name = "trainer"
    main()
