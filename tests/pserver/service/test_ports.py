"""Who has a port that is taken: the one on this address, and no other."""

from __future__ import annotations

import errno
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator

import pytest

from paddle._pserver.errors import NotOurs, PortInUse, PserverError
from paddle._pserver.service.ports import listen

LISTENS = """
import socket, sys
place, both = (sys.argv[1], int(sys.argv[2])), ":" in sys.argv[1]
family = socket.AF_INET6 if both else socket.AF_INET
listener = socket.create_server(place, family=family, dualstack_ipv6=both)
print(listener.getsockname()[1], flush=True)
sys.stdin.read()
"""


class Holders:
    """Processes that listen somewhere."""

    def __init__(self) -> None:
        self.started: list[subprocess.Popen[str]] = []

    def listen(self, address: str, port: int = 0, *arguments: str) -> tuple[int, int]:
        """Gives the pid and the port of one that listens, which has ``arguments`` besides."""
        command = [sys.executable, "-c", LISTENS, address, str(port), *arguments]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.started.append(process)
        assert process.stdout is not None
        return process.pid, int(process.stdout.readline())


@pytest.fixture
def holders() -> Iterator[Holders]:
    running = Holders()
    yield running
    for process in running.started:
        process.communicate()  # the end of their input ends them


def refused(address: str, port: int) -> int:
    """The pid of the one that is named."""
    with pytest.raises(PortInUse) as caught:
        listen(address, port).close()
    named = re.search(r"in use by process (\d+) \(", str(caught.value))
    assert named, str(caught.value)
    return int(named[1])


def test_of_several_with_one_port_the_one_on_this_address_is_named(holders: Holders) -> None:
    first, port = holders.listen("127.0.0.1")
    second, _ = holders.listen("127.0.0.2", port)
    assert (refused("127.0.0.1", port), refused("127.0.0.2", port)) == (first, second)
    assert refused("localhost", port) == first
    listen("127.0.0.3", port).close()


@pytest.mark.parametrize("everywhere", ["0.0.0.0", "::"])
def test_one_that_listens_everywhere_has_every_address(holders: Holders, everywhere: str) -> None:
    if everywhere == "::" and not socket.has_dualstack_ipv6():
        pytest.skip("this machine has no IPv6")
    pid, port = holders.listen(everywhere)
    assert refused("127.0.0.7", port) == pid


def test_whoever_wants_all_addresses_is_told_of_one_that_has_one(holders: Holders) -> None:
    pid, port = holders.listen("127.0.0.4")
    assert refused("0.0.0.0", port) == pid


@pytest.mark.parametrize(
    "argument", ["\n\n".join("lines"), "\x1b[2J\x1b]0;title\x07", "x" * 5000, "\u202eabc", ""]
)
def test_its_command_line_is_shown_short_and_in_one_line(holders: Holders, argument: str) -> None:
    _, port = holders.listen("127.0.0.5", 0, argument)
    with pytest.raises(PortInUse) as caught:
        listen("127.0.0.5", port).close()
    text = str(caught.value)
    assert text.isprintable()
    assert len(text) < 300
    assert sys.executable in text
    assert text.endswith("): stop it, or choose another port")


def test_a_connection_that_has_the_port_is_told_as_what_it_is() -> None:
    """As of a client that the system has given it; nobody listens there."""
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket() as client:
        client.connect(server.getsockname())
        port = client.getsockname()[1]
        with pytest.raises(PortInUse) as caught:
            listen("127.0.0.1", port).close()
    assert f"in use by a connection of process {os.getpid()} (" in str(caught.value)


def test_what_has_the_port_and_is_not_seen_is_not_said_to_be_anothers() -> None:
    with socket.socket() as bound:  # and neither listens nor is connected
        bound.bind(("127.0.0.1", 0))
        with pytest.raises(PortInUse, match="by a connection that is not over yet, or a process that does"):
            listen("127.0.0.1", bound.getsockname()[1]).close()


@pytest.mark.parametrize("address", ["192.0.2.77", "nowhere.invalid", "a..b", "x" * 70])
def test_an_address_of_another_machine_or_none_is_the_users_to_mend(address: str) -> None:
    with pytest.raises(NotOurs, match=f"cannot listen on {address}:7164: .*an address of this machine"):
        listen(address, 7164)


def test_what_the_system_lacks_is_not_the_users_mistake(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: socket.socket, backlog: int) -> None:
        raise OSError(errno.ENOBUFS, "No buffer space available")

    monkeypatch.setattr(socket.socket, "listen", full)
    with pytest.raises(PserverError, match=r"No buffer space available$") as caught:
        listen("127.0.0.1", 0)
    assert (type(caught.value), caught.value.exit_status) == (PserverError, 1)
