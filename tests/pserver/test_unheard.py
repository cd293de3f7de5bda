"""A connection that has ended while its trainer waits elsewhere, with words on it that nobody has heard."""

from __future__ import annotations

import socket
import ssl
import threading
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from paddle._launch.authority import Authority
from paddle._pserver.client import Client
from paddle._pserver.handshake import Stream
from paddle._pserver.line import Line
from paddle._pserver.link import UPGRADE
from paddle._pserver.messages import PROTOCOL, Answer, EndPass, Failure, Hello, Reply, Waiting, Welcome
from paddle._pserver.ports import listen
from paddle._pserver.question import Patience
from paddle._pserver.unheard import is_over

from .hostile import of
from .papers import Files
from .test_tls_socket import pair

WAITS = of(Waiting("waiting since 5 s for trainer 1"))
FAILED = of(Failure("TrainerLost", "trainer 1 failed: no data"))
VALUES = of(Answer(3), bytes(4000))


@pytest.fixture(params=["plain", "tls"])
def ends(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Stream, socket.socket | ssl.SSLSocket]:
    """A trainer's end of a connection, and the shard's."""
    if request.param == "plain":
        return socket.socketpair()
    return pair(Files(tmp_path / "job", Authority("job", datetime.now(UTC)).issue(["127.0.0.1"])))


@pytest.mark.parametrize(
    ("said", "over"),
    [
        (b"", True),
        (WAITS, True),
        (WAITS * 40, True),
        (VALUES, True),
        (WAITS + VALUES[:1000], True),
        (FAILED, False),
        (WAITS + FAILED, False),
    ],
    ids=["nothing", "it waits", "it waits long", "an answer", "half an answer", "a reason", "a late reason"],
)
def test_an_end_is_seen_behind_all_but_a_reason(
    ends: tuple[Stream, socket.socket | ssl.SSLSocket], said: bytes, over: bool
) -> None:
    near, far = ends
    far.sendall(said)
    assert not is_over(near)
    far.close()
    assert is_over(near) is over
    near.settimeout(10)
    heard = b""
    while len(heard) < len(said):
        heard += near.recv(1 << 16)
    assert heard == said, "what was looked at is heard all the same"
    near.close()


class Scripted:
    """A server that answers each connection in turn with its script: all it says once it is greeted, and, in
    the first one, once it is asked; then it ends."""

    def __init__(self, *scripts: tuple[list[Reply], list[Reply]]) -> None:
        self.listener = listen("127.0.0.1", 0)
        self._scripts = scripts
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        for greeting, answers in self._scripts:
            connection, _ = self.listener.accept()
            connection.recv(4096)
            connection.sendall(f"HTTP/1.1 101 Switching Protocols\r\nUpgrade: {UPGRADE}\r\n\r\n".encode())
            for replies in (greeting, answers):
                connection.recv(4096)
                connection.sendall(b"".join(of(reply) for reply in replies))
            connection.close()


def test_a_line_comes_back_though_the_shard_said_before_it_died_that_it_waits() -> None:
    """Its trainer waits at another shard; others wait, at this one, for it to come back."""
    welcome, waits = Welcome(600.0, ready=True, keeps=True), Waiting("waiting since 5 s for trainer 1")
    server = Scripted(([welcome], [waits, waits]), ([welcome], [Answer(7)]))
    notices: list[str] = []

    def client() -> Client:
        port = server.listener.getsockname()[1]
        return Client("127.0.0.1", port, "dense shard", call_timeout_s=30, notice=notices.append)

    line = Line(client, Hello(PROTOCOL, 0, 2, "dense", "it"), notices.append, Patience(30.0, 1 << 20))
    line.connect(time.monotonic() + 30)
    line.greet()
    line.begin(in_step=True)
    line.send(EndPass(0), asking="to end pass 0")
    deadline = time.monotonic() + 30
    while not any("the connection is back" in notice for notice in notices):  # without listening on it
        assert time.monotonic() < deadline, notices
        line.look()
        threading.Event().wait(0.005)
    assert line.answer().version == 7
    line.close()
    server.listener.close()
