"""Peers that mean harm, or are only slow, at a real pserver: what they cost it, and what others notice."""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from paddle._engine.exchange import ModeSpec, ParameterSpec
from paddle._launch.authority import Authority
from paddle._pserver.errors import TooManyParameters
from paddle._pserver.protocol.framing import FrameReader, bytes_of
from paddle._pserver.protocol.link import SESSION_PATH, UPGRADE
from paddle._pserver.protocol.messages import (
    PROTOCOL,
    Declare,
    Declared,
    Failure,
    Hello,
    Pull,
    Welcome,
    decode,
)
from paddle._pserver.trainer.client import Client
from paddle._pserver.trainer.deadline import Deadline
from paddle._pserver.trainer.remote import RemoteExchange
from paddle._pserver.trust import nearby
from paddle._pserver.trust.tls import read_trust
from paddle._pserver.trust.token_file import read_token
from tests.cluster.by_hand import environment, free_port
from tests.marks import on_demand
from tests.pserver.conftest import update
from tests.pserver.hostile import Hostile, of
from tests.waiting import PATIENCE_S, until

pytestmark = [pytest.mark.cluster, pytest.mark.faults, pytest.mark.patient]

THROWERS = 4
ASYNCHRONOUS = update(mode=ModeSpec(name="async"))
SMALL = (ParameterSpec(name="w", shape=(1000,)),)
GRADIENT = {"w": np.linspace(-1, 1, 1000, dtype=np.float32)}


class Server:
    """A real pserver of one dense shard, in two processes of its own; with a token unless it is ``open``."""

    def __init__(
        self, folder: Path, trainers: int, *flags: str, is_encrypted: bool = False, is_open: bool = False
    ) -> None:
        self.token_file = "" if is_open else str(folder / "token")
        if self.token_file:
            Path(self.token_file).touch(0o600)
            Path(self.token_file).write_text("5ec7e7" * 8)
            flags = (*flags, f"--token_file={self.token_file}")
        self.trainers, self.port = trainers, free_port(["127.0.0.1"], 1)
        self.log = folder / "log"
        self.tls_ca = ""
        if is_encrypted:
            papers = Authority("job", datetime.now(UTC)).issue(["127.0.0.1"])
            for name, text in (("crt", papers.certificate), ("key", papers.key), ("ca", papers.authority)):
                (folder / name).write_text(text)
            self.tls_ca = str(folder / "ca")
            flags = (*flags, f"--tls_cert={folder / 'crt'}", f"--tls_key={folder / 'key'}")
        command = ["pserver", f"--port={self.port}", f"--num_gradient_servers={trainers}", *flags]
        with self.log.open("w") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "paddle", *command],
                env=environment(),
                stdout=log,
                stderr=log,
            )
        until(lambda: "listening on" in self.log.read_text(), "the pserver to listen")

    def close(self) -> None:
        self._process.terminate()
        self._process.wait(PATIENCE_S)

    def status(self) -> dict[str, Any]:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/v1/status", timeout=PATIENCE_S) as answer:
            found: dict[str, Any] = json.load(answer)
        return found

    def resident_bytes(self) -> int:
        """Of the shard's process."""
        return int((self._shard() / "statm").read_text().split()[1]) * 4096

    def busy_ns(self) -> int:
        """The processor time of all its threads."""
        return sum(int(each.read_text().split()[0]) for each in self._shard().glob("task/*/schedstat"))

    def _shard(self) -> Path:
        parent = self._process.pid
        (child,) = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
        return Path("/proc", child)

    def exchange(self, trainer_id: int) -> RemoteExchange:
        return RemoteExchange(
            ["127.0.0.1"],
            port=self.port,
            ports_num=1,
            ports_num_for_sparse=0,
            num_gradient_servers=self.trainers,
            trainer_id=trainer_id,
            token_file=self.token_file,
            tls_ca=self.tls_ca,
        )

    def connected(self) -> Client:
        """Somebody with the token who has said nothing yet."""
        client = Client(
            "127.0.0.1",
            self.port,
            "shard",
            call_timeout_s=PATIENCE_S,
            notice=lambda text: None,
            token=read_token(self.token_file)[0],
            trust=read_trust(self.tls_ca) if self.tls_ca else None,
        )
        client.connect(Deadline(PATIENCE_S))
        return client

    def declared(self, trainer_id: int, parameters: tuple[ParameterSpec, ...]) -> Client:
        """A trainer that has declared the model."""
        client = self.connected()
        client.send(Hello(PROTOCOL, trainer_id, self.trainers, "dense", "a"), asking="to be let in")
        assert isinstance(client.receive(), Welcome)
        client.send(Declare(parameters, ASYNCHRONOUS, 0, 1), asking="to take a model")
        assert isinstance(client.receive(), Declared)
        return client


@contextlib.contextmanager
def server(folder: Path, trainers: int, *flags: str, **options: bool) -> Iterator[Server]:
    folder.mkdir()
    running = Server(folder, trainers, *flags, **options)
    try:
        yield running
    finally:
        running.close()


def trained(running: Server, steps: int, end: threading.Event | None = None) -> tuple[np.ndarray, int]:
    """What trainer 0 has after so many steps, or more until ``end``, which are counted."""
    exchange = running.exchange(0)
    values = exchange.start(SMALL, ASYNCHRONOUS, {"w": np.ones(1000, np.float32)})["w"]
    exchange.begin_pass(0)
    kept = np.empty(0)
    count = 0
    while count < steps or (end is not None and not end.wait(0.005)):
        exchange.step(GRADIENT, 1)
        count += 1
        if count == steps:
            kept = values.copy()
    exchange.close("it has seen enough")
    return kept, count


class Thrower:
    """Somebody who throws frames, each on a connection of its own, every other one as a trainer that has said
    all it should before. ``answers``: what came back last, by name."""

    def __init__(self, running: Server, trainer_id: int) -> None:
        self.answers = Counter[str]()
        self._place = ("127.0.0.1", running.port)
        self._hostile = Hostile(trainer_id, SMALL)
        hello = Hello(PROTOCOL, trainer_id, running.trainers, "dense", "a")
        self._manners = of(hello) + of(Declare(SMALL, ASYNCHRONOUS, 0, 1))

    def throw(self, frames: int) -> None:
        for number in range(frames):
            with socket.create_connection(self._place, timeout=PATIENCE_S) as sock:
                sock.sendall(f"GET {SESSION_PATH} HTTP/1.1\r\nHost: it\r\n{UPGRADES}\r\n".encode())
                head = sock.recv(1 << 14)  # in one piece: it is the first that comes
                assert head.startswith(b"HTTP/1.1 101 ") and head.endswith(b"\r\n\r\n"), head
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                    sock.sendall((self._manners if number % 2 else b"") + self._hostile.frame())
                    sock.shutdown(socket.SHUT_WR)
                self.answers[last_word(sock)] += 1


UPGRADES = f"Connection: Upgrade\r\nUpgrade: {UPGRADE}\r\n"


def last_word(sock: socket.socket) -> str:
    """The last that is said before the end: the kind of an answer, or of an error."""
    reader: FrameReader[Any] = FrameReader(
        lambda kind, meta, length: (decode(kind, meta), [memoryview(bytearray(length))] if length else ())
    )
    said = "nothing"
    with contextlib.suppress(ConnectionResetError):
        while count := sock.recvmsg_into(reader.buffers())[0]:
            reader.received(count)
            while (reply := reader.message()) is not None:
                said = reply.code if isinstance(reply, Failure) else type(reply).__name__
    return said


@pytest.mark.parametrize("frames", [2_000, on_demand(10_000)])
def test_thousands_of_hostile_frames_change_no_bit_of_an_honest_trainers_run(
    tmp_path: Path, frames: int
) -> None:
    steps, trainers = 100, 1 + THROWERS  # less than half of what it makes meanwhile
    with server(tmp_path / "quiet", trainers, is_open=True) as quiet:
        expected, _ = trained(quiet, steps)
    most = 0
    with (
        server(tmp_path / "besieged", trainers, is_open=True) as besieged,
        ThreadPoolExecutor(trainers) as pool,
    ):
        over = threading.Event()
        honest = pool.submit(trained, besieged, steps, over)
        try:
            until(lambda: besieged.status()["version"], "training to begin")
            before = besieged.resident_bytes()
            throwers = [Thrower(besieged, 1 + number) for number in range(THROWERS)]
            thrown = [pool.submit(thrower.throw, frames // THROWERS) for thrower in throwers]
            while wait(thrown, timeout=0.1).not_done:
                most = max(most, besieged.resident_bytes())
            for done in thrown:
                done.result()
            damaged = besieged.status()["damaged_frames"]
        finally:
            over.set()
        values, count = honest.result(PATIENCE_S)
        logged = besieged.log.read_text()
    answers = sum((thrower.answers for thrower in throwers), Counter[str]())
    assert np.array_equal(values, expected)
    assert count > steps, "it trained all the time"
    assert most - before < 32 << 20, f"{(most - before) >> 20} MiB"
    assert answers.total() == frames
    for kind in ("NotAFrame", "ChecksumMismatch", "FrameTooLarge", "BadMessage"):
        assert answers[kind] > frames / 100, answers
    assert damaged > frames / 2
    assert "internal error" not in logged
    assert "Traceback" not in logged
    assert logged.count("closes a connection") < frames / 10, "the log does not fill a disk"


def test_a_model_above_the_memory_that_a_pserver_is_given_is_refused(tmp_path: Path) -> None:
    fits = (ParameterSpec(name="w", shape=(1 << 20,)),)
    with server(tmp_path / "job", 2, "--memory_limit=32") as running:
        with pytest.raises(TooManyParameters, match=r"may have 32 MiB.*--memory_limit"):
            running.declared(0, LARGE)
        running.declared(0, fits).close()


LARGE = (ParameterSpec(name="w", shape=(4 << 20,)),)  # 16 MiB
READERS = 20
QUESTIONS = 50
STEPS = 20


def costed(running: Server, exchange: RemoteExchange, gradient: dict[str, np.ndarray]) -> tuple[int, int]:
    """The version that a step has made, and the processor time that it has cost the shard, in ns."""
    before = running.busy_ns()
    version = exchange.step(gradient, 1).version
    return version, running.busy_ns() - before


def tried_again(
    running: Server, exchange: RemoteExchange, gradient: dict[str, np.ndarray], least_ns: int, most_ns: float
) -> int:
    """The least that a step costs, where others had the memory: it is asked again until it is no more than so
    much, or patience is over."""
    end = time.monotonic() + PATIENCE_S
    while least_ns > most_ns and time.monotonic() < end:
        least_ns = min(least_ns, costed(running, exchange, gradient)[1])
    return least_ns


@pytest.mark.parametrize("is_encrypted", [False, True], ids=["unix", "tls"])
def test_slow_readers_cost_a_pserver_little_memory_and_others_no_progress(
    tmp_path: Path, is_encrypted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Twenty trainers ask for 16 GB in all and read nothing, or a byte for every step of the fast one, whose
    steps cost the pserver no more. (What they last is another matter on a machine with other work to do.)"""
    large = np.zeros(4 << 20, np.float32)
    if is_encrypted:  # which goes over TCP alone
        monkeypatch.setattr(nearby, "connect", lambda *place: None)
    with (
        server(tmp_path / "job", READERS + 1, is_encrypted=is_encrypted) as running,
        contextlib.ExitStack() as stack,
    ):
        exchange = running.exchange(0)
        values = exchange.start(LARGE, ASYNCHRONOUS, {"w": large})["w"]
        exchange.begin_pass(0)
        gradient = {"w": large + 1}
        alone_ns = min(costed(running, exchange, gradient)[1] for _ in range(STEPS))
        slow = [
            stack.enter_context(contextlib.closing(running.declared(1 + id, LARGE))) for id in range(READERS)
        ]
        before = running.resident_bytes()
        for client in slow:
            assert client._socket is not None
            client._socket.sendall(of(Pull()) * QUESTIONS)
        most, least_ns = 0, sys.maxsize
        read = Counter[int]()
        for step in range(STEPS):
            version, cost_ns = costed(running, exchange, gradient)
            least_ns = min(least_ns, cost_ns)
            assert version == STEPS + step + 1, "it alone moves on"
            most = max(most, running.resident_bytes())
            for number, client in enumerate(slow[: READERS // 2]):
                assert client._socket is not None
                client._socket.settimeout(PATIENCE_S)
                read[number] += len(client._socket.recv(1))
        assert set(read.values()) == {STEPS}
        least_ns = tried_again(running, exchange, gradient, least_ns, alone_ns / 0.8)
        assert alone_ns >= 0.8 * least_ns, f"a step costs {least_ns} ns, and did {alone_ns} alone"
        assert np.ptp(values) == 0.0
        assert values[0] < 0, "what it pulled has all its steps"
        # One that reads after all finds every answer whole.
        slow[0].close()
        late = slow[-1]
        room = np.empty(4 << 20, np.float32)
        for _ in range(3):
            late.answer([bytes_of(room)])
            assert np.ptp(room) == 0.0 or room.min() < 0
        exchange.close("it has seen enough")
    assert most - before < 96 << 20, f"{(most - before) >> 20} MiB for {READERS * QUESTIONS * 16} asked for"
