"""Memory that is shared, and trainers that die, or do not see the shard's process: real ones."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace

import pytest

from paddle._engine.exchange import ScheduleSpec
from paddle._pserver.errors import TrainerLost
from paddle._pserver.trainer.remote import RemoteExchange

from .conftest import DENSE_ONLY, ONES, TIMEOUT_S, Pservers, Start, update
from .service.test_service import RUNTIME

DYING = """
import json, os, signal, sys
import numpy as np
from paddle._engine.exchange import *
from paddle._pserver.trainer.remote import RemoteExchange

options, where = json.loads(sys.argv[1]), sys.argv[2]
spec = UpdateSpec(rule=RuleSpec(name="sgd"), schedule=ScheduleSpec(learning_rate=1.0))
options |= {"ports_num_for_sparse": 0, "num_gradient_servers": 2, "trainer_id": 1}
exchange = RemoteExchange(["127.0.0.1"], **options)
exchange.start([ParameterSpec(name="w", shape=(300,))], spec, {"w": np.ones(300, np.float32)})
room = exchange.room()["w"]
room[:] = 1
exchange.step({"w": room}, 1)
room[:150] = 1000  # half of a gradient
if where == "before":
    os.kill(os.getpid(), signal.SIGKILL)
room[150:] = 1000
for shard in exchange._dense:
    shard.line.answer = lambda *a, **k: os.kill(os.getpid(), signal.SIGKILL)  # all is told, nothing heard
exchange.step({"w": room}, 1)
"""


@contextmanager
def dying(pservers: Pservers, where: str) -> Iterator[subprocess.Popen[str]]:
    told = json.dumps({"port": pservers.port, "ports_num": 1, "call_timeout_s": TIMEOUT_S})
    process = subprocess.Popen(
        [sys.executable, "-c", DYING, told, where],
        env={**os.environ, "PYTHONPATH": str(RUNTIME)},
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


OF_DYING = replace(update(), schedule=ScheduleSpec(learning_rate=1.0))


def test_of_a_trainer_that_is_killed_in_the_midst_of_a_gradient_nothing_is_applied(
    start_pservers: Start,
) -> None:
    pservers = start_pservers(num_gradient_servers=2, is_nearby=True)
    (hub,) = pservers.hubs

    def run(exchange: RemoteExchange) -> None:
        arrays = exchange.start(DENSE_ONLY, OF_DYING, ONES)
        exchange.step(ONES, 1)
        assert arrays["w"].tolist() == [-1.0] * 300
        with pytest.raises(TrainerLost, match=r"missing trainer 1 \(its connection from .* broke"):
            exchange.step(ONES, 1)

    with dying(pservers, "before") as process, ThreadPoolExecutor(1) as pool:
        trained = pool.submit(pservers.train, run)
        assert process.wait(TIMEOUT_S) == -signal.SIGKILL
        pservers.lose_patience(hub)
        trained.result(TIMEOUT_S)
    assert hub.shard.tables is not None
    assert hub.shard.tables.values.tolist() == [-1.0] * 300


def test_what_a_trainer_had_told_when_it_was_killed_counts_whole(start_pservers: Start) -> None:
    """Its memory is there as long as the shard has it."""
    pservers = start_pservers(num_gradient_servers=2, is_nearby=True)

    def run(exchange: RemoteExchange) -> None:
        arrays = exchange.start(DENSE_ONLY, OF_DYING, ONES)
        exchange.step(ONES, 1)
        assert process.wait(TIMEOUT_S) == -signal.SIGKILL
        exchange.step(ONES, 1)
        assert arrays["w"].tolist() == [-1002.0] * 300

    with dying(pservers, "after") as process:
        pservers.train(run)


# A trainer that does not see the shard's process.

OF_ANOTHER_NAMESPACE = """
import json, sys
import numpy as np
from paddle._engine.exchange import *
from paddle._pserver.trainer.remote import RemoteExchange

exchange = RemoteExchange(["127.0.0.1"], ports_num_for_sparse=0, num_gradient_servers=1, trainer_id=0,
                          **json.loads(sys.argv[1]))
spec = UpdateSpec(rule=RuleSpec(name="sgd"), schedule=ScheduleSpec(learning_rate=1.0))
arrays = exchange.start([ParameterSpec(name="w", shape=(300,))], spec, {"w": np.ones(300, np.float32)})
client = exchange._dense[0].line.client
assert client.is_near and client._receipt.seen is None
exchange.step({"w": np.full(300, 3, np.float32)}, 1)
assert arrays["w"].tolist() == [-2.0] * 300
exchange.close()
"""


def test_a_trainer_of_another_namespace_of_processes_trains_all_the_same(start_pservers: Start) -> None:
    """As containers have that share a network: the shard sees the trainer, and not the other way round."""
    apart = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc"]
    if os.getuid() or subprocess.run([*apart, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this user may make no namespaces")
    pservers = start_pservers(is_nearby=True)
    told = json.dumps({"port": pservers.port, "ports_num": 1, "call_timeout_s": TIMEOUT_S})
    subprocess.run(
        [*apart, sys.executable, "-c", OF_ANOTHER_NAMESPACE, told],
        env={**os.environ, "PYTHONPATH": str(RUNTIME)},
        check=True,
        timeout=TIMEOUT_S,
    )
    assert pservers.statuses() == [0]
