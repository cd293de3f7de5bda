"""Nobody waits for ever for a machine that has gone silent, nor behind others who do."""

from __future__ import annotations

import socket
import threading

import pytest

from paddle._launch.machines.patience import Gate, ImpatientSocket, deadline
from tests.waiting import PATIENCE_S, until

MOMENT_S = 1 / 64


def stuck(patience_s: float) -> tuple[ImpatientSocket, socket.socket]:
    """One whose other end does not read, and which is full."""
    near, far = socket.socketpair()
    impatient = ImpatientSocket(near, patience_s)
    impatient.settimeout(MOMENT_S)
    with pytest.raises(TimeoutError):
        while True:
            impatient.send(bytes(1 << 16))
    return impatient, far


def test_it_breaks_once_nothing_can_be_sent_for_so_long() -> None:
    impatient, far = stuck(patience_s=10 * MOMENT_S)
    for _ in range(8):
        with pytest.raises(TimeoutError):
            impatient.send(b"x")
        assert not impatient.is_stuck
    with pytest.raises(ConnectionAbortedError):
        impatient.send(b"x")
    assert impatient.is_stuck
    impatient.close()
    far.close()


def test_a_byte_that_went_through_is_a_new_beginning() -> None:
    impatient, far = stuck(patience_s=3 * MOMENT_S)
    for _ in range(10):
        with pytest.raises(TimeoutError):
            impatient.send(b"x")
        while len(far.recv(1 << 20)) > 1 << 17:
            pass
        impatient.send(b"x")
        with pytest.raises(TimeoutError):
            while True:
                impatient.send(bytes(1 << 16))
    assert not impatient.is_stuck
    impatient.close()
    far.close()


def connected() -> tuple[socket.socket, socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        near = socket.create_connection(server.getsockname())
        return near, server.accept()[0]


def test_it_says_at_once_that_something_came() -> None:
    """Else who sends one small thing after another waits 40 ms for each second one."""
    near, far = connected()
    with near, far:
        near.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 0)  # as it is where both have spoken a while
        far.sendall(b"x")
        assert ImpatientSocket(near, 1.0).recv(1) == b"x"
        assert near.getsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK) == 1


def test_what_is_no_socket_of_a_network_is_received_from_likewise() -> None:
    near, far = socket.socketpair()
    with near, far:
        far.sendall(b"x")
        assert ImpatientSocket(near, 1.0).recv(1) == b"x"


def test_those_who_only_wait_for_another_machine_keep_nobody_from_his_turn() -> None:
    gate, answers, through = Gate(2, most_s=0.05), threading.Event(), []

    def pass_through(number: int) -> None:
        with gate.passed():
            through.append(number)
            answers.wait(PATIENCE_S)

    threads = [threading.Thread(target=pass_through, args=(number,)) for number in range(7)]
    for thread in threads:
        thread.start()
    until(lambda: len(through) == 7, "all to have had their turn, though nobody answers")
    answers.set()
    for thread in threads:
        thread.join()


def test_who_finds_no_place_waits_until_there_is_one() -> None:
    gate, inside = Gate(2, most_s=PATIENCE_S), []
    with gate.passed(), gate.passed():
        third = threading.Thread(target=lambda: gate.passed().__enter__() or inside.append(3), daemon=True)
        third.start()
        assert inside == []
    until(lambda: inside == [3], "the third, once there is room")


def test_what_is_not_done_in_time_fails_as_it_is_made_to() -> None:
    near, far = socket.socketpair()
    hang_up = deadline(0.05, lambda: far.shutdown(socket.SHUT_RDWR))
    with near, far, pytest.raises(TimeoutError, match="not done within"), hang_up:
        assert near.recv(1) == b""
        raise EOFError
    with pytest.raises(EOFError), deadline(30, lambda: None):
        raise EOFError
