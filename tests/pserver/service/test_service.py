"""Pservers as processes: they serve all ports or none, end together, and say how it went."""

from __future__ import annotations

import json
import os
import re
import select
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from paddle._engine.exchange import ParameterSpec
from paddle._pserver.errors import PortInUse
from paddle._pserver.service.ports import listen
from paddle._pserver.service.service import ServerOptions, serve
from paddle._pserver.trainer.remote import RemoteExchange
from tests.waiting import PATIENCE_S

from ..conftest import HOSTS, free_ports, update

RUNTIME = Path(__file__).parents[3] / "runtime"
MODEL = (ParameterSpec(name="w", shape=(3000,)), ParameterSpec(name="t", shape=(9, 2), sparse=True))
VALUES = {p.name: np.ones(p.shape, np.float32) for p in MODEL}

PROGRAM = """
import json, logging, sys
logging.basicConfig(level=logging.INFO, format="%(message)s")
from paddle._pserver.service.service import ServerOptions, serve
from paddle._pserver.watcher import Unwatched

class Watcher(Unwatched):
    def broken(self, shard, reason, trainers, *, is_own):
        print("broken:", shard, reason, trainers, is_own, file=sys.stderr, flush=True)

options = json.loads(sys.argv[1])
options["addresses"] = tuple(options["addresses"])
assert "numpy" not in sys.modules, "the parent is small"
ready = lambda ports: print(json.dumps(ports), flush=True)
sys.exit(serve(ServerOptions(**options), ready, Watcher()))
"""


@contextmanager
def pservers(
    stderr: int = subprocess.PIPE, **options: Any
) -> Iterator[tuple[subprocess.Popen[str], dict[str, Any]]]:
    """A pserver process that serves, and what it was told."""
    ports = options.get("ports_num", 1) + options.get("ports_num_for_sparse", 0)
    options.setdefault("addresses", HOSTS[:1])
    listeners = free_ports(options["addresses"], ports, is_given=True)
    options.setdefault("port", listeners[0].getsockname()[1])
    for listener in listeners:
        listener.close()
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, json.dumps(options)],
        env={**os.environ, "PYTHONPATH": str(RUNTIME)},
        stdout=subprocess.PIPE,
        stderr=stderr,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert len(json.loads(process.stdout.readline())) == ports * len(options["addresses"])
        yield process, options
    finally:
        process.kill()
        process.communicate()


def trainer(options: dict[str, Any]) -> RemoteExchange:
    return RemoteExchange(
        options["addresses"],
        port=options["port"],
        ports_num=options.get("ports_num", 1),
        ports_num_for_sparse=options.get("ports_num_for_sparse", 0),
        num_gradient_servers=1,
        trainer_id=0,
        call_timeout_s=PATIENCE_S,
    )


def children_of(process: subprocess.Popen[str]) -> list[int]:
    text = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()
    return [int(pid) for pid in text.split()]


def ended(pid: int) -> bool:
    """Whether a process that is no child of ours is gone, or goes."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([descriptor], [], [], PATIENCE_S)[0])
    finally:
        os.close(descriptor)


@pytest.mark.cluster
def test_a_job_trains_and_the_pservers_end_well() -> None:
    with pservers(addresses=HOSTS, ports_num=2, ports_num_for_sparse=1) as (process, options):
        exchange = trainer(options)
        arrays = exchange.start(MODEL, update(), VALUES)
        assert len(children_of(process)) == 6
        exchange.step({"w": VALUES["w"]}, 1)
        assert np.allclose(arrays["w"], 0.9)
        exchange.close()
        _, log = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 0, log
    for line in (
        "serves 1 trainers",
        "trainer 0 joined from",
        "trainer 0 said goodbye after 1 steps",
        "ends: all",
    ):
        assert log.count(line) == 6, log


@pytest.mark.cluster
def test_every_process_shows_itself_and_links_the_others() -> None:
    with pservers(ports_num=2, ports_num_for_sparse=1) as (_, options):
        places = [f"127.0.0.1:{options['port'] + i}" for i in range(3)]
        for own in places:
            with urllib.request.urlopen(f"http://{own}/", timeout=PATIENCE_S) as response:
                shown = response.read().decode()
                assert "default-src 'none'" in response.headers["Content-Security-Policy"]
            assert re.findall(r'href="http://([\d.:]+)/"', shown) == [one for one in places if one != own]
            assert f"shard at {own}" in shown


@pytest.mark.cluster
def test_a_broken_job_is_said_and_ends_with_1() -> None:
    with pservers() as (process, options):
        exchange = trainer(options)
        exchange.start(MODEL[:1], update(), VALUES)
        exchange.close("ValueError: no")
        _, log = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 1
    assert "ends: the job is broken: trainer 0 at " in log
    assert "failed: ValueError: no (0,) False" in log


@pytest.mark.cluster
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_all_processes(number: signal.Signals) -> None:
    with pservers(ports_num=2) as (process, _):
        children = children_of(process)
        process.send_signal(number)
        process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 128 + number
        assert all(ended(pid) for pid in children)


@pytest.mark.cluster
def test_pservers_under_nohup_survive_the_terminal() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # which the process inherits
    try:
        with pservers() as (process, options):
            process.send_signal(signal.SIGHUP)
            exchange = trainer(options)
            exchange.start(MODEL[:1], update(), VALUES)
            exchange.close()
            process.communicate(timeout=PATIENCE_S)
            assert process.returncode == 0
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.cluster
def test_pservers_end_though_their_standard_error_is_a_full_pipe() -> None:
    read, write = os.pipe()
    with pservers(stderr=write) as (process, _):
        children = children_of(process)
        os.set_blocking(write, False)
        with pytest.raises(BlockingIOError):
            while True:
                os.write(write, bytes(1 << 12))
        os.set_blocking(write, True)
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE_S) == 128 + signal.SIGTERM
        assert all(ended(pid) for pid in children)
    os.close(read)
    os.close(write)


@pytest.mark.cluster
def test_no_pserver_outlives_its_parent() -> None:
    with pservers(ports_num=2) as (process, _):
        children = children_of(process)
        process.kill()
        assert all(ended(pid) for pid in children)


@pytest.mark.cluster
def test_a_pserver_that_dies_takes_the_others_along() -> None:
    with pservers(ports_num=2) as (process, _):
        first, second = children_of(process)
        os.kill(first, signal.SIGKILL)
        _, log = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 128 + signal.SIGKILL
        assert ended(second)
    assert f"(process {first}) ended with -9" in log
    assert f"its process {first} was killed by SIGKILL () True" in log
    assert log.count("\nbroken: ") == 1


def test_a_taken_port_is_told_with_its_holder_before_anything_is_served() -> None:
    first, taken = free_ports(HOSTS[:1], 2, is_given=True)
    port = first.getsockname()[1]
    first.close()
    served: list[object] = []
    try:
        with pytest.raises(
            PortInUse, match=rf"port {port + 1} of 127\.0\.0\.1 is in use by process {os.getpid()} \("
        ):
            serve(ServerOptions(addresses=HOSTS[:1], port=port, ports_num=2), served.append)
    finally:
        taken.close()
    assert not served
    listen("127.0.0.1", port).close()  # nothing holds the first one


@pytest.mark.parametrize(
    "wrong",
    [
        {"addresses": ()},
        {"ports_num": 0},
        {"ports_num": -1},
        {"num_gradient_servers": 0},
        {"barrier_timeout_s": 0.0},
    ],
)
def test_options_that_cannot_work_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"pserver|trainers|barrier"):
        ServerOptions(**({"addresses": HOSTS} | wrong))
