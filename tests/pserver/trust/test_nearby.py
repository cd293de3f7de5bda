"""Trainers on the machine of a shard come by its name; wherever that is not right, over TCP."""

from __future__ import annotations

import json
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from aiohttp import web

from paddle._engine.exchange import ParameterSpec
from paddle._pserver.errors import NotAuthorized
from paddle._pserver.service.ports import listen
from paddle._pserver.trainer.approach import Approach, Arrived
from paddle._pserver.trainer.remote import RemoteExchange
from paddle._pserver.trust import nearby
from paddle._pserver.trust.auth import Token

from ..conftest import ONES, TIMEOUT_S, Pservers, Start, free_ports, start, update
from ..service import test_service
from ..service.test_service import RUNTIME
from ..test_equality import assert_same, locally, trainer
from ..test_resets import cut

SECRET = "5ec7e7-5ec7e7-5ec7e7-5ec7e7"


@pytest.fixture
def token_file(tmp_path: Path) -> str:
    path = tmp_path / "job.token"
    path.touch(0o600)
    path.write_text(SECRET)
    return str(path)


def families(exchange: RemoteExchange) -> set[int]:
    sockets = [shard.line.client._socket for shard in exchange._shards]
    return {sock.family for sock in sockets if sock is not None}


def asserting(family: int, work: Callable[[RemoteExchange], Any]) -> Callable[[RemoteExchange], Any]:
    """``work``, and that all connections are of ``family`` then."""

    def run(exchange: RemoteExchange) -> Any:
        result = work(exchange)
        assert families(exchange) == {family}
        return result

    return run


def one_step(exchange: RemoteExchange) -> None:
    start(exchange)
    exchange.step(ONES, 1)


def goes(pservers: Pservers, family: int, **options: Any) -> None:
    """A trainer trains, over a socket of that family."""
    pservers.train(asserting(family, one_step), **options)


def held(pservers: Pservers) -> socket.socket:
    """The name of the only pserver, held by this process."""
    holder = socket.socket(socket.AF_UNIX)
    holder.bind(f"\0paddle-pserver-127.0.0.1-{pservers.port}")
    holder.listen()
    return holder


@pytest.mark.parametrize("is_nearby", [True, False])
@pytest.mark.parametrize("rule", ["momentum", "adam"])
def test_either_way_computes_the_bits_of_one_process(
    start_pservers: Start, is_nearby: bool, rule: str
) -> None:
    spec = update(rule)
    pservers = start_pservers(
        hosts=2, ports_num=2, ports_num_for_sparse=1, num_gradient_servers=2, is_nearby=is_nearby
    )
    family = socket.AF_UNIX if is_nearby else socket.AF_INET
    first, second = pservers.train(*(asserting(family, trainer(id, spec)) for id in range(2)))
    assert_same(first, second)
    assert_same(first, locally(spec, trainers=2))


@pytest.mark.parametrize("is_nearby", [True, False])
def test_bodies_are_checked_where_they_leave_the_memory_of_one_machine(
    start_pservers: Start, is_nearby: bool
) -> None:
    pservers = start_pservers(is_nearby=is_nearby)

    def run(exchange: RemoteExchange) -> set[bool]:
        one_step(exchange)
        sessions = [session for hub in pservers.hubs for session in hub._sessions.values()]
        readers = [session._reader for session in sessions]
        readers += [shard.line.client._reader for shard in exchange._shards]
        assert len(readers) == 2
        return {reader.checks_body for reader in readers if reader is not None}

    (checks,) = pservers.train(run)
    assert checks == {not is_nearby}


def test_a_body_of_many_slices_arrives_whole(start_pservers: Start) -> None:
    """More than the buffers of both sides hold, in both directions at once."""
    model = (ParameterSpec(name="w", shape=(3_000_000,)),)
    values = {"w": np.arange(3_000_000, dtype=np.float32)}

    def run(exchange: RemoteExchange) -> np.ndarray:
        arrays = exchange.start(model, update(), values)
        exchange.step(values, 1)
        return arrays["w"].copy()

    (there,) = start_pservers(is_nearby=True).train(asserting(socket.AF_UNIX, run))
    (over_tcp,) = start_pservers().train(asserting(socket.AF_INET, run))
    assert np.array_equal(there, over_tcp)
    assert there[-1] < values["w"][-1]


def test_a_broken_connection_comes_back_by_the_name(start_pservers: Start) -> None:
    notices: list[str] = []

    def run(exchange: RemoteExchange) -> list[int]:
        start(exchange)
        versions = []
        for _ in range(3):
            versions.append(exchange.step(ONES, 1).version)
            cut(exchange)
        exchange.end_pass(0)
        return versions

    pservers = start_pservers(ports_num=2, is_nearby=True)
    assert pservers.train(asserting(socket.AF_UNIX, run), notice=notices.append) == [[1, 2, 3]]
    assert any("the connection is back" in notice for notice in notices)


def test_the_token_is_proved_there_too(start_pservers: Start, token_file: str) -> None:
    pservers = start_pservers(token=Token(SECRET.encode()), is_nearby=True)
    goes(pservers, socket.AF_UNIX, token_file=token_file)
    with urllib.request.urlopen(f"http://127.0.0.1:{pservers.port}/v1/status") as answer:
        assert json.load(answer)["door"] == {"locked": True, "challenges": 1, "admitted": 1, "denied": {}}


def test_who_lacks_the_token_is_told_as_over_tcp(start_pservers: Start) -> None:
    with pytest.raises(NotAuthorized, match="with a token only, and this one has none"):
        start(start_pservers(token=Token(SECRET.encode()), is_nearby=True).exchange(0))


def test_who_comes_by_the_name_may_look_and_is_shown_as_on_this_machine(start_pservers: Start) -> None:
    pservers = start_pservers(is_nearby=True)

    def run(exchange: RemoteExchange) -> bytes:
        start(exchange)
        sock = nearby.connect("127.0.0.1", pservers.port, 10)
        assert sock is not None
        with closing(sock):
            sock.sendall(b"GET /v1/status HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            return b"".join(iter(lambda: sock.recv(1 << 16), b""))

    (answer,) = pservers.train(run)
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert b"127.0.0.1 (same machine)" in answer


# Where it is not right.


def test_a_silent_holder_of_the_name_keeps_nobody_out(
    start_pservers: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("paddle._pserver.trainer.approach.NEAR_S", 0.05)
    pservers = start_pservers()
    notices: list[str] = []
    with closing(held(pservers)):
        goes(pservers, socket.AF_INET, notice=notices.append)
    assert sum("is met over TCP, though it is on this machine" in notice for notice in notices) == 1


def test_a_shard_that_begins_to_serve_late_is_met_by_its_name(
    start_pservers: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It listens at its port and its name, and is silent at both until the name has been given up."""
    monkeypatch.setattr("paddle._pserver.trainer.approach.NEAR_S", 0.05)
    pservers = start_pservers(is_nearby=True)
    given_up, silent = threading.Event(), threading.Event()

    def stand_still() -> None:
        silent.set()
        assert given_up.wait(TIMEOUT_S)

    by_port = Approach._by_port

    def then_goes_on(approach: Approach, deadline: float) -> Arrived:
        monkeypatch.setattr("paddle._pserver.trainer.approach.NEAR_S", TIMEOUT_S)
        given_up.set()
        return by_port(approach, deadline)

    monkeypatch.setattr(Approach, "_by_port", then_goes_on)
    pservers.loop.call_soon_threadsafe(stand_still)
    assert silent.wait(TIMEOUT_S)
    notices: list[str] = []
    goes(pservers, socket.AF_UNIX, notice=notices.append)
    assert given_up.is_set()
    assert not any("over TCP" in notice for notice in notices)


def test_another_service_under_the_name_keeps_nobody_out(start_pservers: Start) -> None:
    right, wrong = start_pservers(), start_pservers(token=Token(SECRET.encode()))
    wrong._on_loop(web.SockSite(wrong.runners[0], held(right)).start())
    goes(right, socket.AF_INET)


def test_a_name_that_is_another_users_is_not_believed(
    start_pservers: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    pservers = start_pservers(is_nearby=True)
    monkeypatch.setattr("os.geteuid", lambda: os.getuid() + 1)
    goes(pservers, socket.AF_INET)


NOBODY = 65534


def came_by(near: socket.socket, user: int) -> int | None:
    """Whom the holder of a name sees where a process of that user comes; it is 0 where that is wrong."""
    near.settimeout(TIMEOUT_S)
    child = os.fork()
    if not child:
        try:
            os.setuid(user)
            with closing(socket.socket(socket.AF_UNIX)) as sock:
                sock.connect(near.getsockname())
                sock.recv(1)  # its end
        finally:
            os._exit(0)
    try:
        with closing(near.accept()[0]) as came:
            seen = nearby.neighbour(came)
    finally:
        os.waitpid(child, 0)
    return seen if seen in (None, child) else 0


def test_a_neighbour_is_a_process_of_this_user_alone() -> None:
    with closing(listen("127.0.0.1", 0)) as listener:
        near = nearby.beside(listener)
    assert near is not None
    with closing(near):
        assert came_by(near, os.geteuid())
        if os.geteuid():
            pytest.skip("only root may be another user")
        assert came_by(near, NOBODY) is None


class Ended:
    """A socket by whose other end the kernel says that process and that user are."""

    def __init__(self, process: int, user: int, family: int = socket.AF_UNIX) -> None:
        self.family, self._end = family, struct.pack("3i", process, user, 0)

    def getsockopt(self, level: int, option: int, length: int, /) -> bytes:
        assert (level, option, length) == (socket.SOL_SOCKET, socket.SO_PEERCRED, len(self._end))
        return self._end


def test_who_is_a_neighbour_goes_by_what_the_kernel_says_of_it() -> None:
    me = os.geteuid()
    assert nearby.neighbour(Ended(7, me)) == 7
    assert nearby.neighbour(Ended(7, me + 1)) is None
    assert nearby.neighbour(Ended(0, me)) is None, "a process that is not seen from here"
    assert nearby.neighbour(Ended(7, me, socket.AF_INET)) is None


def test_a_host_that_is_another_machine_is_not_looked_for_here() -> None:
    """192.0.2.1 is nobody's (RFC 5737), and a process here says it is at that address."""
    with closing(socket.socket(socket.AF_UNIX)) as holder:
        holder.bind("\0paddle-pserver-192.0.2.1-7164")
        holder.listen()
        assert nearby.connect("192.0.2.1", 7164, 10) is None


def test_a_name_that_is_taken_is_left_to_its_holder() -> None:
    with closing(listen("127.0.0.1", 0)) as listener:
        first = nearby.beside(listener)
        assert first is not None
        with closing(first):
            assert nearby.beside(listener) is None
        again = nearby.beside(listener)
        assert again is not None
        again.close()


def test_where_else_a_shard_listens_is_known_of_this_machine_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(listen("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        with closing(nearby.beside(listener)):  # type: ignore[type-var]
            assert nearby.elsewhere("127.0.0.2", port) == [], "embedded nodes have an address each"
            monkeypatch.setattr(nearby, "_is_loopback", lambda address: False)
            assert nearby.elsewhere("127.0.0.2", port) == ["127.0.0.1"]
            for host, other in (("127.0.0.1", port), ("127.0.0.2", port + 1), ("192.0.2.77", port)):
                assert nearby.elsewhere(host, other) == []
    assert nearby.elsewhere("127.0.0.2", port) == []


@pytest.mark.parametrize(
    ("listens_on", "asked_for"), [("0.0.0.0", "127.0.0.1"), ("127.0.0.1", "localhost"), ("::", "::1")]
)
def test_one_that_listens_on_all_addresses_is_found_at_each(listens_on: str, asked_for: str) -> None:
    with closing(listen(listens_on, 0)) as listener:
        port = listener.getsockname()[1]
        near = nearby.beside(listener)
        assert near is not None
        with closing(near):
            sock = nearby.connect(asked_for, port, 10)
            assert sock is not None
            assert nearby.place(sock.getpeername()) == (listens_on, port)
            sock.close()


IN_ANOTHER_NETWORK = """
import fcntl, socket, struct, sys
from paddle._pserver.trust import nearby
from paddle._pserver.service.ports import listen

with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as device:  # as `ip link set lo up` does
    fcntl.ioctl(device, 0x8914, struct.pack("16sh14x", b"lo", 1))
port = int(sys.argv[1])
assert nearby.connect("127.0.0.1", port, 10) is None
near = nearby.beside(listen("127.0.0.1", port))
assert near is not None, "the name is free there"
assert nearby.connect("127.0.0.1", port, 10) is not None
"""


def test_a_name_is_not_seen_from_another_network(start_pservers: Start) -> None:
    """Where the loopback device is another one the same address and port are somebody else's."""
    if subprocess.run(["unshare", "-rn", "true"], capture_output=True, check=False).returncode:
        pytest.skip("this user may make no network namespaces")
    pservers = start_pservers(is_nearby=True)
    subprocess.run(
        ["unshare", "-rn", sys.executable, "-c", IN_ANOTHER_NETWORK, str(pservers.port)],
        env={**os.environ, "PYTHONPATH": str(RUNTIME)},
        check=True,
        timeout=TIMEOUT_S,
    )


# Pservers as processes.


@pytest.mark.cluster
def test_every_shard_process_has_a_name_and_gives_it_back() -> None:
    with test_service.pservers(ports_num=2, ports_num_for_sparse=1) as (process, options):
        exchange = test_service.trainer(options)
        exchange.start(test_service.MODEL, update(), test_service.VALUES)
        assert families(exchange) == {socket.AF_UNIX}
        exchange.close()
        _, log = process.communicate(timeout=TIMEOUT_S)
        assert process.returncode == 0, log
        assert "trainer 0 joined from 127.0.0.1 (same machine)" in log
    for port in range(options["port"], options["port"] + 3):
        with closing(socket.socket(socket.AF_UNIX)) as free:
            free.bind(f"\0paddle-pserver-127.0.0.1-{port}")


@pytest.mark.cluster
def test_a_pserver_whose_name_is_taken_says_so_and_serves_over_tcp() -> None:
    (probe,) = free_ports(("127.0.0.1",), 1, is_given=True)
    port = probe.getsockname()[1]
    with closing(nearby.beside(probe)):  # type: ignore[type-var]
        probe.close()
        with test_service.pservers(port=port) as (process, options):
            exchange = test_service.trainer(options)
            exchange.start(test_service.MODEL[:1], update(), {"w": test_service.VALUES["w"]})
            assert families(exchange) == {socket.AF_INET}
            exchange.close()
            _, log = process.communicate(timeout=TIMEOUT_S)
    assert f"127.0.0.1:{port}: another process has the name of its unix socket" in log
    assert process.returncode == 0


@pytest.mark.cluster
def test_a_shard_without_a_name_serves_as_before() -> None:
    with test_service.pservers(is_nearby=False) as (process, options):
        with closing(socket.socket(socket.AF_UNIX)) as free:
            free.bind(f"\0paddle-pserver-127.0.0.1-{options['port']}")
        process.send_signal(signal.SIGTERM)
        _, log = process.communicate(timeout=TIMEOUT_S)
    assert "another process" not in log
