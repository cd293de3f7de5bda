"""Ranks find each other over loopback addresses, each of which is a machine here."""

import contextlib
import itertools
import json
import socket
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from paddle._launch.errors import RanksApart
from paddle._launch.ranks import rally
from paddle._launch.ranks.place import Place
from paddle._launch.ranks.rally import Rally, meet
from tests.waiting import PATIENCE_S

SECRET = b"1ec34423c1bd52c2-4ab519d0ecc27bcb"
MACHINES = ("127.0.5.2", "127.0.5.1")  # rank 0 is on whichever it is


@pytest.fixture
def port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def come(places: Sequence[Place], machines: Sequence[str], port: int, patience_s: float = PATIENCE_S):
    """All of them at once; what each hears, or why not."""
    with ThreadPoolExecutor(len(places)) as pool:
        heard = [pool.submit(meet, place, machines, port, patience_s) for place in places]
        return [each.exception() or each.result() for each in heard]


@pytest.mark.parametrize("secret", [b"", SECRET])
def test_all_ranks_hear_the_same(port, secret) -> None:
    heard = come([Place(rank, 5, secret) for rank in range(5)], ("127.0.5.1",), port)
    assert isinstance(heard[0], Rally)
    assert heard == [heard[0]] * 5
    assert heard[0].addresses == ("127.0.5.1",) * 5
    assert heard[0].job.startswith("ranks-")


def test_a_rank_that_is_alone_meets_nobody(port) -> None:
    assert meet(Place(0, 1), ("127.0.5.1",), port, PATIENCE_S).addresses == ("127.0.5.1",)


def test_rank_0_is_found_on_whichever_machine_it_is(port) -> None:
    with ThreadPoolExecutor(2) as pool:
        host = pool.submit(meet, Place(0, 2), ("127.0.5.1",), port, PATIENCE_S)
        guest = pool.submit(meet, Place(1, 2), ("127.0.5.9", "127.0.5.1"), port, PATIENCE_S)
        assert host.result() == guest.result()


def test_who_does_not_know_the_secret_is_not_heard(port) -> None:
    places = [Place(0, 2, SECRET), Place(1, 2, b"another")]
    host, guest = come(places, ("127.0.5.1",), port, patience_s=1.0)
    assert isinstance(host, RanksApart)
    assert "waited 1 s for rank 1 " in str(host)
    assert isinstance(guest, RanksApart)
    assert "rank 1 has looked 1 s for rank 0" in str(guest)


def test_who_pretends_to_be_rank_0_is_not_believed(port) -> None:
    told = {"addresses": ["10.0.0.1"] * 2, "job": "theirs", "proof": "0" * 64}
    looks = itertools.count()  # a second each: it is tried a few times, with seconds for an answer

    def pretend(listener: socket.socket) -> None:
        with contextlib.suppress(OSError):  # the test is over
            while True:
                line, _ = listener.accept()
                answer(line)

    def answer(line: socket.socket) -> None:
        with line, contextlib.suppress(OSError):
            line.sendall(b'{"nonce": "00"}\n')
            line.recv(1 << 16)
            line.sendall(json.dumps(told).encode() + b"\n")

    with socket.create_server(("127.0.5.1", port)) as listener:
        threading.Thread(target=pretend, args=[listener], daemon=True).start()
        with pytest.raises(RanksApart, match="does not know this job's secret"):
            meet(Place(1, 2, SECRET), ("127.0.5.1",), port, 10.0, clock=lambda: next(looks))


@pytest.mark.parametrize(
    "said", [b"", b"\n", b"GET / HTTP/1.1\r\n\r\n", b"[1]\n", b'{"rank": "x"}\n', b"\xff\n"]
)
def test_a_stranger_keeps_nobody_from_meeting(port, said) -> None:
    with ThreadPoolExecutor(2) as pool:
        host = pool.submit(meet, Place(0, 2), ("127.0.5.1",), port, PATIENCE_S)
        with _reached("127.0.5.1", port) as stranger:
            stranger.sendall(said)
            stranger.shutdown(socket.SHUT_WR)
            guest = pool.submit(meet, Place(1, 2), ("127.0.5.1",), port, PATIENCE_S)
            assert host.result() == guest.result()


def test_who_says_nothing_delays_the_others_but_little(port, monkeypatch) -> None:
    monkeypatch.setattr(rally, "_PATIENCE_S", 0.1)
    with ThreadPoolExecutor(2) as pool:
        host = pool.submit(meet, Place(0, 2), ("127.0.5.1",), port, PATIENCE_S)
        with _reached("127.0.5.1", port):
            guest = pool.submit(meet, Place(1, 2), ("127.0.5.1",), port, PATIENCE_S)
            assert host.result() == guest.result()


def test_a_rank_that_is_slow_to_speak_is_told_to_come_again(port, monkeypatch) -> None:
    monkeypatch.setattr(rally, "_PATIENCE_S", 0.1)
    with ThreadPoolExecutor(2) as pool:
        host = pool.submit(meet, Place(0, 2), ("127.0.5.1",), port, PATIENCE_S)
        with _reached("127.0.5.1", port) as slow:
            slow.settimeout(PATIENCE_S)
            greeting = b"".join(iter(lambda: slow.recv(1 << 16), b""))
            assert json.loads(greeting)["rank"] == 0
        guest = pool.submit(meet, Place(1, 2), ("127.0.5.1",), port, PATIENCE_S)
        assert host.result() == guest.result()


def test_a_port_that_is_taken_is_named(port) -> None:
    with (
        socket.create_server(("127.0.5.1", port)),
        pytest.raises(RanksApart, match=rf"port {port} of 127\.0\.5\.1: .*--rally_port"),
    ):
        meet(Place(0, 2), ("127.0.5.1",), port, PATIENCE_S)


@pytest.mark.parametrize(
    "machines", [("203.0.113.1",), ("203.0.113.1", "203.0.113.2"), ("nowhere.invalid",) * 2]
)
def test_rank_0_is_on_a_machine_of_the_job(port, machines) -> None:
    with pytest.raises(RanksApart, match=f"none of the job's is this one: {machines[0]}"):
        meet(Place(0, 2), machines, port, PATIENCE_S)


def _reached(address: str, port: int) -> socket.socket:
    while True:
        try:
            return socket.create_connection((address, port))
        except ConnectionRefusedError:
            continue


def test_who_knows_no_machine_but_its_own_is_told_how_to_name_the_others(port) -> None:
    for rank in (0, 1):
        with pytest.raises(
            RanksApart, match=r"give all ranks the file that the engine has .*--machine_names="
        ):
            meet(Place(rank, 2), ("127.0.5.1",), port, 0.1)


def test_who_has_looked_on_other_machines_is_not_told_to_name_them(port) -> None:
    with pytest.raises(RanksApart, match=r"127\.0\.5\.1, 192\.0\.2\.1") as told:
        meet(Place(1, 2), ("127.0.5.1", "192.0.2.1"), port, 0.1)
    assert "give all ranks" not in str(told.value)
