"""One port that serves a dense and a sparse shard, in the process that calls."""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from threading import Barrier, Event, Thread
from typing import Any

import numpy as np
import pytest

from paddle._engine.errors import ExchangeError
from paddle._engine.exchange import ParameterSpec, Past
from paddle._engine.rows import SparseRows
from paddle._pserver.errors import JobFailed, PortInUse, PserverError, TrainerLost
from paddle._pserver.options import SnapshotOptions
from paddle._pserver.protocol.messages import Fallen
from paddle._pserver.service.endpoint import EndpointOptions, serve
from paddle._pserver.trainer.fallen import tell
from paddle._pserver.trainer.local import LocalExchange
from paddle._pserver.trainer.places import at_endpoints
from paddle._pserver.trainer.watching import outlives
from tests.pserver.conftest import MODEL, update, values_of
from tests.pserver.service.endpoints import TIMEOUT_S, Endpoints
from tests.waiting import until


def _gradients(model: Sequence[ParameterSpec], step: int) -> dict[str, np.ndarray | SparseRows]:
    values = values_of(model, 10 + step)
    ids = np.array([1, 4])
    return {
        p.name: SparseRows(ids, values[p.name][ids], p.shape[0]) if p.sparse else values[p.name]
        for p in model
    }


def _train(exchange: Any, steps: int = 3) -> dict[str, np.ndarray]:
    arrays = exchange.start(MODEL, update("momentum", reduce="mean"), values_of(MODEL, 1))
    for step in range(steps):
        exchange.step(_gradients(MODEL, step), samples=8)
    exchange.fetch()
    return {name: array.copy() for name, array in arrays.items()}


@pytest.mark.parametrize(("count", "trainers"), [(1, 1), (2, 2)])
def test_a_job_on_endpoints_equals_the_local_one_and_they_end_with_it(count: int, trainers: int) -> None:
    endpoints = Endpoints(count, trainers)
    local = LocalExchange()
    arrays = local.start(MODEL, update("momentum", reduce="mean"), values_of(MODEL, 1))
    for step in range(3):
        local.step(_gradients(MODEL, step), samples=8 * trainers)
    local.fetch()
    for trained in endpoints.train(_train):
        for name, array in arrays.items():
            np.testing.assert_allclose(trained[name], array, rtol=1e-6, atol=1e-7)
    assert endpoints.outcomes() == [True] * count


def test_without_sparse_parameters_the_sparse_shard_ends_with_the_dense_one() -> None:
    endpoints = Endpoints(2)

    def train(exchange: Any) -> None:
        dense = [each for each in MODEL if not each.sparse]
        exchange.start(dense, update(), values_of(dense, 1))
        exchange.step(_gradients(dense, 0), samples=8)

    endpoints.train(train)
    assert endpoints.outcomes() == [True, True]


def test_a_trainer_that_fails_ends_both_shards_and_the_text_names_it() -> None:
    endpoints = Endpoints(1, 2)

    def train(exchange: Any) -> None:
        _train(exchange, 1)
        exchange.close("its disk is full")
        raise AssertionError("over")

    with pytest.raises((AssertionError, TrainerLost)):
        endpoints.train(train)
    with pytest.raises(JobFailed, match=r"trainer \d at .* failed: its disk is full"):
        endpoints.outcomes()


def test_servers_on_which_nothing_lives_count_the_steps_of_the_job_that_goes_on_too() -> None:
    model = [ParameterSpec(name="w", shape=(4,))]
    endpoints = Endpoints(3, 2)

    def train(exchange: Any) -> None:
        exchange.go_on_from(Past(steps=9))
        exchange.start(model, update(), values_of(model, 1))
        assert exchange.step(_gradients(model, 0), samples=8).version == 10

    endpoints.train(train)
    assert endpoints.outcomes() == [True] * 3


def test_a_job_that_goes_on_is_begun_while_a_trainer_has_met_one_server_and_not_the_other() -> None:
    model = [ParameterSpec(name="w", shape=(4,))]
    endpoints, is_begun = Endpoints(2, 2), Event()

    def has_met_the_first() -> bool:
        with urllib.request.urlopen(f"http://{endpoints.names[0]}/v1/status") as answer:
            return bool(json.load(answer)["trainers"][1]["state"] == "joined")

    def train(exchange: Any) -> int:
        exchange.go_on_from(Past(steps=9))
        if exchange._is_first:
            until(has_met_the_first, "trainer 1 at the first server")
        else:
            second = exchange._shards[1].line
            second.connect = partial(_connect_after, is_begun, second.connect)
        exchange.start(model, update(), values_of(model, 1))
        is_begun.set()
        return int(exchange.step(_gradients(model, 0), samples=8).version)

    assert endpoints.train(train) == [10, 10]
    assert endpoints.outcomes() == [True] * 2


def _connect_after(event: Event, connect: Callable[[Any], None], deadline: Any) -> None:
    assert event.wait(TIMEOUT_S)
    connect(deadline)


def _fallen(endpoints: Endpoints, text: str, trainer: int | None = None) -> list[str]:
    return tell(endpoints.names, Fallen(text, trainer), TIMEOUT_S, lambda text: None)


def test_who_has_fallen_is_told_to_trainers_that_wait_for_him_and_ends_the_servers() -> None:
    endpoints = Endpoints(2, 2)
    trained: list[int] = []

    def train(exchange: Any) -> None:
        exchange.start(MODEL, update(), values_of(MODEL, 1))
        trained.append(1)
        if len(trained) == 2:
            assert _fallen(endpoints, "trainer-1 was killed by SIGKILL at b", 1) == []
            exchange.fetch()
        exchange.step(_gradients(MODEL, 0), samples=8)

    with pytest.raises(TrainerLost, match="trainer-1 was killed by SIGKILL at b"):
        endpoints.train(train)
    with pytest.raises(JobFailed, match="broken: trainer-1 was killed by SIGKILL at b"):
        endpoints.outcomes()


def test_a_job_is_over_when_somebody_falls_before_any_trainer_has_come() -> None:
    endpoints = Endpoints(2, 2)
    assert _fallen(endpoints, "pserver-2 ended with status 98 at b") == []
    with pytest.raises(JobFailed, match="broken: pserver-2 ended with status 98 at b"):
        endpoints.outcomes()


def test_a_job_that_is_broken_is_not_broken_again_by_who_falls_because_of_it() -> None:
    endpoints = Endpoints(1, 2)
    ready = Barrier(2)

    def train(exchange: Any) -> None:
        exchange.start(MODEL, update(), values_of(MODEL, 1))
        if ready.wait(TIMEOUT_S):
            exchange.close("its disk is full")
        else:
            with pytest.raises(TrainerLost):
                exchange.step(_gradients(MODEL, 0), samples=8)
            assert _fallen(endpoints, "trainer-0 ended with status 1 at b", 0) == []

    endpoints.train(train)
    with pytest.raises(JobFailed, match="failed: its disk is full"):
        endpoints.outcomes()


def test_a_server_that_is_not_there_is_not_waited_for_where_trainers_have_met_it() -> None:
    untold = tell(["127.0.0.1:9"], Fallen("it fell"), TIMEOUT_S, lambda text: None, insists=False)
    assert len(untold) == 1 and "127.0.0.1:9" in untold[0]


def test_a_machine_that_closes_what_it_is_watched_by_is_not_lost_nor_is_a_server_that_ends() -> None:
    endpoints = Endpoints(1)
    will = Fallen("the machine of trainer-1 is lost", 1, silent_s=5)
    leave = (
        "import sys, threading, os, time\n"
        "from paddle._pserver.protocol.messages import Fallen\n"
        "from paddle._pserver.trainer.watching import outlives\n"
        "will = Fallen('the machine of trainer-1 is lost', 1, silent_s=5)\n"
        "threading.Thread(target=outlives, args=(sys.argv[1], will), daemon=True).start()\n"
        "time.sleep(0.5)\n"
        "os._exit(9)\n"
    )
    lost: list[bool] = []
    watching = Thread(target=lambda: lost.append(outlives(endpoints.names[0], will)))

    def train(exchange: Any) -> None:
        watching.start()
        _train(exchange, 1)
        assert subprocess.run([sys.executable, "-c", leave, endpoints.names[0]], check=False).returncode == 9
        exchange.fetch()

    endpoints.train(train)
    assert endpoints.outcomes() == [True]
    watching.join(TIMEOUT_S)
    assert lost == [False]


def test_both_shards_are_seen_on_the_one_port() -> None:
    endpoints = Endpoints(1)
    seen: list[dict[str, Any]] = []
    pages: list[str] = []

    def look(exchange: Any) -> None:
        _train(exchange, 2)
        for door in ("", "/sparse"):
            with urllib.request.urlopen(f"http://{endpoints.names[0]}{door}/v1/status") as answer:
                seen.append(json.load(answer))
            with urllib.request.urlopen(f"http://{endpoints.names[0]}{door}/") as answer:
                pages.append(answer.read().decode())

    endpoints.train(look)
    where = endpoints.names[0]
    assert [each["name"] for each in seen] == [f"dense shard at {where}", f"sparse shard at {where}"]
    assert f'<a href="/sparse/">sparse {where}</a>' in pages[0]
    assert f'<a href="/">dense {where}</a>' in pages[1]


def test_what_lasts_of_one_endpoint_is_what_the_next_one_goes_on_from(tmp_path: Path) -> None:
    kept = SnapshotOptions(folder=str(tmp_path))
    first = Endpoints(1, snapshots=kept)
    (trained,) = first.train(_train)
    assert first.outcomes() == [True]
    assert {"dense-0", "sparse-0"} <= {path.name for path in tmp_path.iterdir()}
    second = Endpoints(1, snapshots=kept)
    (again,) = second.train(lambda exchange: _train(exchange, 0))
    for name, array in trained.items():
        np.testing.assert_array_equal(again[name], array)


_PROGRAM = """
import sys
from paddle._pserver.protocol.messages import Fallen
from paddle._pserver.service.endpoint import EndpointOptions, serve
from paddle._pserver.trainer.fallen import tell
ready = lambda address, port: print(port, flush=True)
print(serve(EndpointOptions(address="127.0.0.1", port=0), ready), flush=True)
print("went on", flush=True)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_in_order_and_means_afterwards_what_it_meant(number: signal.Signals) -> None:
    process = subprocess.Popen([sys.executable, "-c", _PROGRAM], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert re.fullmatch(r"\d+\n", process.stdout.readline())
    os.kill(process.pid, number)
    assert process.communicate(timeout=TIMEOUT_S)[0] == "False\nwent on\n"
    assert process.returncode == 0


def test_a_port_that_is_taken_is_told_with_its_holder() -> None:
    endpoints = Endpoints(1)
    port = int(endpoints.names[0].rpartition(":")[2])
    with pytest.raises(PortInUse, match=f"port {port} of 127.0.0.1 is in use by process {os.getpid()}"):
        serve(EndpointOptions(address="127.0.0.1", port=port))
    endpoints.train(_train)


@pytest.mark.parametrize(
    ("endpoints", "text"),
    [
        ([], "no parameter server is named"),
        (["ps0"], "'ps0' is not an endpoint"),
        (["ps0:port"], "'ps0:port' is not an endpoint"),
        (["ps0:70000"], "'ps0:70000' is not an endpoint"),
        (["a:1", "b:1", "a:1"], "a:1 is named twice in a:1, b:1, a:1"),
    ],
)
def test_endpoints_that_are_none_are_refused(endpoints: list[str], text: str) -> None:
    with pytest.raises(ExchangeError, match=text):
        at_endpoints(endpoints)


def test_all_groups_of_an_endpoint_are_within_its_memory_together() -> None:
    values = {"w": np.zeros(1 << 20, np.float32)}
    endpoints = Endpoints(1, memory_limit_bytes=15 << 20)
    first, second = endpoints.exchange(), endpoints.exchange(group=1)
    first.start([ParameterSpec(name="w", shape=(1 << 20,))], update("sgd"), values)
    with pytest.raises(PserverError, match="may have"):
        second.start([ParameterSpec(name="w", shape=(1 << 20,))], update("sgd"), values)
    second.close()
    first.close()


def test_an_endpoint_may_have_as_many_connections_as_the_system_allows() -> None:
    before, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(before, 512), most))
    try:
        endpoints = Endpoints(1)
        assert resource.getrlimit(resource.RLIMIT_NOFILE) == (most, most)
        endpoints.exchange().close()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (before, most))
