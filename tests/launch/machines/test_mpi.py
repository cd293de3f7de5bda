"""Lines by bridges that mpirun has started: here a program of a few lines, which starts them all here."""

import contextlib
import json
import os
import socket
import ssl
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from paddle._launch.agent.processes import look_up
from paddle._launch.errors import NodeLost, NodeUnreachable
from paddle._launch.machines import mpi
from paddle._launch.machines.bridged import Bridged
from paddle._launch.machines.mpi import MpiWay
from paddle._launch.settings import Host
from tests.waiting import until

HOSTS = (Host("127.0.6.1", "somebody"), Host("127.0.6.2", "somebody"))
PRETENDS = f"""#!{sys.executable}
import os, subprocess, sys
at = sys.argv.index("-np")
command = sys.argv[sys.argv.index("sh"):]
os.makedirs({{0!r}}, exist_ok=True)
open({{0!r}} + "/machines", "w").write(open(sys.argv[sys.argv.index("--hostfile") + 1]).read())
ranks = [
    subprocess.Popen(command, env={{{{**os.environ, "OMPI_COMM_WORLD_RANK": str(rank)}}}})
    for rank in range(int(sys.argv[at + 1]))
]
sys.exit(max(rank.wait() for rank in ranks))
"""


@pytest.fixture
def mpirun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which what it was told is written."""
    program = tmp_path / "bin" / "mpirun"
    program.parent.mkdir()
    program.write_text(PRETENDS.format(str(tmp_path / "told")))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    return tmp_path / "told"


@pytest.fixture
def way(mpirun: Path) -> MpiWay:
    return MpiWay(HOSTS, ["/nowhere/python", sys.executable], [])


@pytest.fixture
def line(way: MpiWay) -> Iterator[Bridged]:
    opened = [way.line(host).open() for host in HOSTS]
    yield opened[0]
    for each in opened:
        each.close()


def test_a_program_reads_what_is_sent_and_what_it_prints_comes_back(line) -> None:
    sent = os.urandom(1 << 20)
    stream = line.begin("cat; echo complains >&2; exit 7")
    sender = threading.Thread(target=lambda: [stream.send(memoryview(sent)), stream.end()])
    sender.start()
    heard = b""
    while data := stream.receive(1 << 14):
        assert len(data) <= 1 << 14
        heard += data
    sender.join()
    assert heard == sent
    assert (stream.status(), stream.complaint()) == (7, "complains")


def test_no_file_is_left_even_where_nobody_is_left_to_remove_it(way, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    with closing(way.line(HOSTS[0]).open()):
        assert list((tmp_path / "temporary").iterdir()) == []


def test_each_node_has_a_bridge_of_its_own_from_one_mpirun(way, mpirun) -> None:
    lines = [way.line(host).open() for host in HOSTS]
    pids = set()
    for each in lines:
        stream = each.begin("echo $PPID")
        pids.add(stream.receive(100))
        assert stream.status() == 0
        each.close()
    assert len(pids) == 2
    assert (mpirun / "machines").read_text() == "".join(
        f"{host.name} slots=1 username=somebody\n" for host in HOSTS
    )


def test_errors_come_with_what_is_printed_where_that_is_asked_for(line) -> None:
    stream = line.begin("echo out; echo err >&2", errors_too=True)
    heard = b""
    while data := stream.receive(100):
        heard += data
    assert sorted(heard.split()) == [b"err", b"out"]
    assert stream.complaint() == ""


def test_a_killed_program_has_no_status(line) -> None:
    assert line.begin("kill -9 $$").status() == -1


def test_what_is_offered_to_a_program_that_has_ended_is_not_missed(line) -> None:
    stream = line.begin("exit 3")
    assert stream.status() == 3
    stream.offer(b"too late")


def test_a_program_is_not_shown_the_secret(line) -> None:
    stream = line.begin("env")
    heard = b""
    while data := stream.receive(1 << 16):
        heard += data
    assert b"OMPI_COMM_WORLD_RANK=" in heard
    assert b"PADDLE_BRIDGE" not in heard


def test_a_line_that_is_let_go_of_ends_its_bridge_and_the_input_of_its_programs(way) -> None:
    first, second = (way.line(host).open() for host in HOSTS)
    stream = first.begin("echo $PPID; cat; sleep 0.1")
    bridge = int(stream.receive(100))
    first.close()
    assert not first.is_open
    until(lambda: look_up(bridge) is None, "the end of the bridge")
    with pytest.raises(NodeLost, match="what mpirun had started there is gone"):
        first.begin("true")
    assert second.begin("exit 4").status() == 4
    second.close()


def test_who_asks_again_has_a_line_of_another_mpirun(way) -> None:
    first = way.line(HOSTS[0]).open()
    stream = first.begin("cat; kill -9 $PPID; sleep 9")
    stream.end()
    assert stream.status() == -1
    assert first.has_broken()
    again = way.line(HOSTS[0]).open()
    assert again.begin("exit 5").status() == 5
    again.close()


def test_a_stranger_is_no_bridge(way, monkeypatch) -> None:
    ports: list[int] = []
    real = socket.create_server
    monkeypatch.setattr(mpi.socket, "create_server", lambda *a, **k: _noted(real(*a, **k), ports))
    line = way.line(HOSTS[0]).open()
    with socket.create_connection(("127.0.0.1", ports[0])) as stranger:
        stranger.sendall(b"GET / HTTP/1.1\r\n\r\n")
        with contextlib.suppress(ConnectionResetError):
            assert b"HTTP" not in stranger.recv(100)
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with context.wrap_socket(socket.create_connection(("127.0.0.1", ports[0]))) as stranger:
        stranger.sendall(json.dumps({"secret": "guessed", "node": 1}).encode() + b"\n")
        with contextlib.suppress(OSError):
            assert stranger.recv(100) == b""
    assert line.begin("exit 6").status() == 6
    line.close()


def _noted(listener: socket.socket, ports: list[int]) -> socket.socket:
    ports.append(listener.getsockname()[1])
    return listener


def test_without_mpirun_it_is_said_what_to_install(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NodeUnreachable, match=r"mpirun cannot be started here: .*openmpi-bin"):
        MpiWay(HOSTS, [sys.executable], []).line(HOSTS[0]).open()


def test_what_mpirun_says_first_is_why_a_node_is_not_reached(mpirun) -> None:
    program = mpirun.parent / "bin" / "mpirun"
    program.write_text(
        "#!/bin/sh\necho 'ssh: no route' >&2\necho '-----'\necho 'Usually this is' \nexit 255\n"
    )
    with pytest.raises(NodeUnreachable, match=r"ended with status 255\. It says: ssh: no route$"):
        MpiWay(HOSTS, [sys.executable], []).line(HOSTS[1]).open()


def test_a_node_without_a_python_says_so(mpirun) -> None:
    with pytest.raises(NodeUnreachable, match="It says: no Python is there: /nowhere/python"):
        MpiWay(HOSTS, ["/nowhere/python"], []).line(HOSTS[0]).open()
