"""A trainer's socket that encrypts, with another program's at its other end."""

from __future__ import annotations

import socket
import ssl
import threading
import time
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from paddle._launch.authority import Authority
from paddle._pserver.trust.tls import read_trust
from paddle._pserver.trust.tls_socket import TlsSocket
from tests.waiting import PATIENCE_S

from ..papers import ADDRESSES, Files


@pytest.fixture
def papers(tmp_path: Path) -> Files:
    return Files(tmp_path / "job", Authority("job", datetime.now(UTC)).issue(ADDRESSES))


def pair(papers: Files) -> tuple[TlsSocket, ssl.SSLSocket]:
    one, other = socket.socketpair()
    there: list[ssl.SSLSocket] = []
    context = papers.certificate.context
    thread = threading.Thread(target=lambda: there.append(context.wrap_socket(other, server_side=True)))
    thread.start()
    sock = TlsSocket(one, read_trust(papers.ca), "127.0.0.1", "it", time.monotonic() + PATIENCE_S)
    thread.join(PATIENCE_S)
    return sock, there[0]


def test_a_call_ends_within_its_timeout(papers: Files) -> None:
    sock, _ = pair(papers)
    room = [memoryview(bytearray(10))]
    sock.settimeout(0.05)
    with pytest.raises(TimeoutError):
        sock.recvmsg_into(room)
    sock.settimeout(0.0)
    with pytest.raises(BlockingIOError):
        sock.recv(1, socket.MSG_PEEK)
    sock.settimeout(0.05)
    with pytest.raises(TimeoutError):
        sock.sendmsg([memoryview(bytes(64 << 20))])
    sock.close()


def test_what_is_looked_at_is_received_all_the_same(papers: Files) -> None:
    sock, other = pair(papers)
    sock.settimeout(PATIENCE_S)
    other.sendall(b"abcdef")
    assert sock.recv(1, socket.MSG_PEEK) == b"a"
    assert sock.recv(1, socket.MSG_PEEK) == b"a"
    assert sock.recv(2) == b"ab"[:1]
    first, second = bytearray(2), bytearray(10)
    assert sock.recvmsg_into([memoryview(first), memoryview(second)]) == (5,)
    assert (bytes(first), bytes(second[:3])) == (b"bc", b"def")
    other.close()
    assert sock.recv(1, socket.MSG_PEEK) == b""
    assert sock.recvmsg_into([memoryview(first)]) == (0,)
    sock.close()


def test_one_buffer_goes_as_several_do(papers: Files) -> None:
    sock, other = pair(papers)
    sock.settimeout(PATIENCE_S)
    assert sock.send(memoryview(b"abc")) == 3
    assert other.recv(10) == b"abc"
    other.sendall(b"defg")
    room = bytearray(10)
    assert sock.recv_into(memoryview(room)) == 4
    assert bytes(room[:4]) == b"defg"
    other.close()
    assert sock.recv_into(memoryview(room)) == 0
    sock.close()


def test_both_ways_at_once(papers: Files) -> None:
    """As a thread that sends and one that receives do; neither waits for the other."""
    sock, other = pair(papers)
    size = 8 << 20
    sock.settimeout(PATIENCE_S)

    def echo() -> None:
        while data := other.recv(1 << 16):
            other.sendall(data)

    echoing = threading.Thread(target=echo, daemon=True)
    echoing.start()
    sent = np.random.default_rng(0).integers(0, 256, size, np.uint8)
    sending = threading.Thread(target=lambda: sock.sendmsg([sent.data[: size // 2], sent.data[size // 2 :]]))
    sending.start()
    heard = np.zeros(size, np.uint8)
    at = 0
    while at < size:
        at += sock.recvmsg_into([heard.data[at : at + 1000], heard.data[at + 1000 :]])[0]
    sending.join(PATIENCE_S)
    assert np.array_equal(heard, sent)
    sock.close()
    echoing.join(PATIENCE_S)
    assert not echoing.is_alive(), "it heard the end"
