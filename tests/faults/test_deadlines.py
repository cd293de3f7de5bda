"""A pserver that stands still (SIGSTOP): every call of a trainer ends by its deadline, saying of which shard
what was asked, at which step, and for how long."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from paddle._engine.exchange import ParameterSpec, RuleSpec, ScheduleSpec, UpdateSpec
from paddle._engine.rows import SparseRows
from paddle._pserver.errors import ShardUnreachable
from paddle._pserver.trainer.remote import RemoteExchange
from tests.cluster.by_hand import free_port, pserver
from tests.waiting import PATIENCE_S

pytestmark = pytest.mark.faults

DEADLINE_S = 1.0
SLACK_S = 10.0  # of a machine that is busy
MODEL = (ParameterSpec(name="w", shape=(4,)), ParameterSpec(name="t", shape=(6, 2), sparse=True))
VALUES = {"w": np.zeros(4, np.float32), "t": np.zeros((6, 2), np.float32)}
UPDATE = UpdateSpec(rule=RuleSpec(name="sgd"), schedule=ScheduleSpec())
ROWS = np.array([1, 4])


def step(exchange: RemoteExchange) -> None:
    rows = SparseRows(ROWS, np.ones((2, 2), np.float32), 6)
    exchange.step({"w": np.ones(4, np.float32), "t": rows}, 1)


CALLS: dict[str, tuple[str, Callable[[RemoteExchange], object], str]] = {
    "prefetch": ("sparse", lambda exchange: exchange.prefetch({"t": ROWS}), "for rows after step 2"),
    "step": ("dense", step, "to take the gradient of step 3"),
    "end_pass": ("sparse", lambda exchange: exchange.end_pass(0), "to end pass 0 after step 2"),
    "fetch": ("dense", lambda exchange: exchange.fetch(), "for all values after step 2"),
}


def test_every_call_to_a_pserver_that_stands_still_ends_by_its_deadline() -> None:
    ports = [free_port(["127.0.0.1"], 2 * len(CALLS)) + 2 * number for number in range(len(CALLS))]
    with ThreadPoolExecutor(len(CALLS)) as pool:
        list(pool.map(call_ends, sorted(CALLS), ports, timeout=PATIENCE_S))


def call_ends(call: str, port: int) -> None:
    role, ask, what = CALLS[call]
    server = pserver("127.0.0.1", port, 1)
    exchange = remote(port)
    try:
        exchange.start(MODEL, UPDATE, VALUES)
        for _ in range(2):  # without haste: this loads kernels
            step(exchange)
        for shard in exchange._shards:
            if shard.line.client.what.startswith(role):  # the other one has as long as it needs
                shard.line.client._call_timeout_s = DEADLINE_S
        pids = Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text().split()
        os.kill(int(pids[role == "sparse"]), signal.SIGSTOP)
        began = time.monotonic()
        with pytest.raises(ShardUnreachable) as caught:
            ask(exchange)
        took = time.monotonic() - began
        assert DEADLINE_S <= took < DEADLINE_S + SLACK_S
        at = f"{role} shard at 127.0.0.1:{port + (role == 'sparse')}"
        assert f"{at} was asked {what}, and no answer came within" in str(caught.value)
        assert DEADLINE_S <= float(re.findall(r"within ([\d.]+) s", str(caught.value))[0]) <= took + 0.1
        exchange.close(str(caught.value))
        assert time.monotonic() - began - took < SLACK_S
    finally:
        exchange.close()
        server.kill()
        server.wait()


def test_a_pserver_that_stands_still_keeps_no_trainer_from_giving_up_to_join() -> None:
    port = free_port(["127.0.0.1"])
    server = pserver("127.0.0.1", port, 1)
    try:
        assert server.stdout is not None and "listening" in server.stdout.readline()
        for pid in Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text().split():
            os.kill(int(pid), signal.SIGSTOP)
        exchange = remote(port, connect_timeout_s=DEADLINE_S)
        began = time.monotonic()
        with pytest.raises(
            ShardUnreachable,
            match=rf"no pserver answers at 127.0.0.1:({port}|{port + 1}) after \d+ s \(timed",
        ):
            exchange.start(MODEL, UPDATE, VALUES)
        exchange.close("it could not start")
        assert time.monotonic() - began < DEADLINE_S + SLACK_S
    finally:
        server.kill()
        server.wait()


def remote(port: int, **more: float) -> RemoteExchange:
    known = {
        "port": port,
        "ports_num": 1,
        "ports_num_for_sparse": 1,
        "num_gradient_servers": 1,
        "trainer_id": 0,
    }
    return RemoteExchange(["127.0.0.1"], **known, call_timeout_s=60.0, notice=lambda text: None, **more)  # type: ignore[arg-type]
