"""Ten thousand frames that nobody should send, thrown at a real pserver before its handshake, after it, and
by one that has said all a trainer should. Each is refused by the name of what is wrong with it, and counted;
no memory is made for what it announces; a trainer trains on meanwhile, to the bits of a quiet run."""

from __future__ import annotations

import contextlib
import secrets
import socket
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from paddle._engine.exchange import ModeSpec, ParameterSpec
from paddle._engine.rows import SparseRows
from paddle._pserver.protocol import framing
from paddle._pserver.protocol.framing import FrameReader
from paddle._pserver.protocol.messages import PROTOCOL, Declare, Failure, Hello, decode
from paddle._pserver.protocol.paths import SESSION_PATH, UPGRADE
from paddle._pserver.service.session import FIRST_MESSAGE
from tests.faults.peers.lone_pserver import Server, server
from tests.marks import on_demand
from tests.pserver.conftest import update
from tests.pserver.hostile import Hostile, header, of
from tests.waiting import PATIENCE_S, until

pytestmark = [pytest.mark.cluster, pytest.mark.faults, pytest.mark.patient]

FRAMES = 10_000
STEPS = 100  # less than half of what a trainer makes meanwhile
THROWERS = 4
MOST_BYTES = 16 << 20  # that all connections at once may cost, whatever comes over them
MOST_ASKED_BYTES = (
    512 << 20
)  # of the system, which gives a thread more than it needs; an announced list has 4 GiB
MODEL = (ParameterSpec(name="w", shape=(1000,)), ParameterSpec(name="t", shape=(50, 4), sparse=True))
VALUES = {"w": np.ones(1000, np.float32), "t": np.ones((50, 4), np.float32)}
UPDATE = update(mode=ModeSpec(name="async", discard_ratio=1e6))  # however many push nothing, and are let
IDS = np.arange(0, 50, 3)
GRADIENT = {
    "w": np.linspace(-1, 1, 1000, dtype=np.float32),
    "t": SparseRows(IDS, np.full((len(IDS), 4), 0.25, np.float32), 50),
}
REFUSALS = ("NotAFrame", "ChecksumMismatch", "FrameTooLarge", "BadMessage")
REQUEST = f"GET {SESSION_PATH} HTTP/1.1\r\nHost: it\r\nConnection: Upgrade\r\nUpgrade: {UPGRADE}\r\n\r\n"


def trained(running: Server, end: threading.Event) -> tuple[list[np.ndarray], int]:
    """What trainer 0 has after ``STEPS`` steps, and how many it has made at the ``end``."""
    exchange = running.exchange(0)
    values = exchange.start(MODEL, UPDATE, VALUES)
    exchange.begin_pass(0)
    kept: list[np.ndarray] = []
    count = 0
    while count < STEPS or not end.wait(0.005):
        exchange.prefetch({"t": IDS})
        exchange.step(GRADIENT, 1)
        count += 1
        if count == STEPS:
            exchange.fetch()
            kept = [values[name].copy() for name in ("w", "t")]
    exchange.close("it has seen enough")
    return kept, count


class Thrower:
    """Somebody who throws frames at both shards, each on a connection of its own: as a trainer that has said
    all it should before, as nobody yet, and now and then instead of the request for a session. ``answers``:
    what came back last, by name; ``to_lengths``: of these, to headers that are good and announce too much for
    somebody who is nobody yet."""

    def __init__(self, running: Server, trainer_id: int, seed: int) -> None:
        self.answers, self.to_lengths = Counter[str](), Counter[str]()
        self._port = running.port
        self._hostile = Hostile(seed + trainer_id, MODEL)
        self._manners = [
            of(Hello(PROTOCOL, trainer_id, running.trainers, role, "a")) + of(Declare(MODEL, UPDATE, 0, 1))
            for role in ("dense", "sparse")
        ]

    def throw(self, frames: int) -> None:
        for number in range(frames):
            shard, frame = number & 1, self._hostile.frame()
            with socket.create_connection(("127.0.0.1", self._port + shard), PATIENCE_S) as sock:
                if number % 16 < 2:
                    sock.sendall(b"GET " + frame + b"\r\n\r\n")
                    self.answers[f"HTTP {sock.recv(1 << 14)[9:12].decode()}"] += 1
                    continue
                upgrade(sock)
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                    sock.sendall((self._manners[shard] if number & 2 else b"") + frame)
                    sock.shutdown(socket.SHUT_WR)
                self.answers[said := last_word(sock)] += 1
                self.to_lengths[said] += not number & 2 and announces_too_much(frame)


def announces_too_much(frame: bytes) -> bool:
    """Whether it begins with a good header of lengths that no first message may have."""
    if len(frame) < framing.HEADER_BYTES:
        return False
    _, _, kind, meta_length, body_length, _ = framing._HEADER.unpack_from(frame)
    is_good = frame.startswith(header(kind, meta_length, body_length))
    return is_good and (meta_length > FIRST_MESSAGE.meta_bytes or body_length > FIRST_MESSAGE.body_bytes)


def upgrade(sock: socket.socket) -> None:
    sock.sendall(REQUEST.encode())
    head = sock.recv(1 << 14)  # in one piece: it is the first that comes
    assert head.startswith(b"HTTP/1.1 101 ") and head.endswith(b"\r\n\r\n"), head


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


@pytest.mark.parametrize("seed", [7, on_demand(None)])
def test_ten_thousand_hostile_frames_are_refused_and_change_no_bit_of_an_honest_trainers_run(
    tmp_path: Path, seed: int | None
) -> None:
    seed = secrets.randbits(32) if seed is None else seed
    print(f"seed {seed}")
    trainers = 1 + THROWERS
    over = threading.Event()
    over.set()
    with server(tmp_path / "quiet", trainers, is_open=True, has_sparse=True) as quiet:
        expected, _ = trained(quiet, over)
    over.clear()
    with (
        server(tmp_path / "besieged", trainers, is_open=True, has_sparse=True) as besieged,
        ThreadPoolExecutor(trainers) as pool,
    ):
        honest = pool.submit(trained, besieged, over)
        try:
            until(lambda: besieged.counted("steps_total", 1)[""] > 1, "training to begin")
            before, asked = besieged.peaks(), besieged.peaks("VmPeak")
            throwers = [Thrower(besieged, 1 + number, seed) for number in range(THROWERS)]
            thrown = [pool.submit(thrower.throw, FRAMES // THROWERS) for thrower in throwers]
            for done in thrown:
                done.result()
            grown, more = besieged.peaks() - before, besieged.peaks("VmPeak") - asked
            counted = sum(besieged.counted("damaged_frames_total", shard)[""] for shard in (0, 1))
        finally:
            over.set()
        values, count = honest.result(PATIENCE_S)
        logged = besieged.log.read_text()
    answers = sum((thrower.answers for thrower in throwers), Counter[str]())
    assert answers.total() == FRAMES
    for kind in (*REFUSALS, "HTTP 400"):
        assert answers[kind] > FRAMES / 100, answers
    to_lengths = sum((thrower.to_lengths for thrower in throwers), Counter[str]())
    assert set(to_lengths) == {"FrameTooLarge"}, to_lengths  # adding Counters leaves out what never came
    assert to_lengths.total() > FRAMES / 100
    # A message that is none is damage to a session, and an answer by the shard where only its time was wrong.
    certain = sum(answers[kind] for kind in REFUSALS[:3])
    assert certain < counted <= certain + answers["BadMessage"], (counted, answers)
    assert grown.max() < MOST_BYTES, grown
    assert more.max() < MOST_ASKED_BYTES, more
    assert count > STEPS, "it trained all the time"
    for now, then in zip(values, expected, strict=True):
        assert np.array_equal(now, then)
    assert "internal error" not in logged
    assert "Traceback" not in logged
    assert logged.count("closes a connection") < FRAMES / 10, "the log does not fill a disk"
