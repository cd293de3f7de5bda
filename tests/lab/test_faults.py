"""Each fault does what it says, as a peer of the node sees it."""

from __future__ import annotations

import contextlib
import errno
import os
import select
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from tests.lab.cluster import HEAD, Cluster
from tests.lab.lab import Lab
from tests.waiting import until

PORT = 5000
BURST_BYTES = 128 * 1024 + 64 * 1024
ECHO = f"""
import socket, threading
def serve(peer):
    while got := peer.recv(1 << 16):
        peer.sendall(got)
listener = socket.create_server(("", {PORT}))
print("here", flush=True)
while True:
    threading.Thread(target=serve, args=listener.accept()[:1], daemon=True).start()
"""


@contextlib.contextmanager
def echo(lab: Cluster, node: str) -> Iterator[subprocess.Popen[bytes]]:
    """A service of a node that says what it hears."""
    with lab.start(sys.executable, "-S", "-c", ECHO, at=node, stdout=subprocess.PIPE) as program:
        try:
            assert program.stdout and program.stdout.readline() == b"here\n"
            yield program
        finally:
            program.kill()


@contextlib.contextmanager
def peer_of(lab: Cluster, node: str) -> Iterator[socket.socket]:
    """A connection to it that has been used."""
    with echo(lab, node), lab.dial(node, PORT) as peer:
        answers(peer)
        yield peer


def answers(peer: socket.socket) -> float:
    """Ask, wait for the answer, and give the time it took, in seconds."""
    begin = time.monotonic()
    peer.sendall(b"?")
    assert peer.recv(1) == b"?"
    return time.monotonic() - begin


def hears_nothing(peer: socket.socket) -> bool:
    """Neither a byte, nor an end, nor an error: as far as it knows the other is well."""
    return not select.select([peer], [], [], 0)[0]


def is_acknowledged(peer: socket.socket) -> bool:
    """Whether the other's kernel has all that was sent."""
    unacknowledged: int = struct.unpack_from(
        "I", peer.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 192), 24
    )[0]
    return unacknowledged == 0


def test_peers_of_a_killed_node_are_told(cluster: Cluster) -> None:
    with peer_of(cluster, "n1") as peer:
        cluster.kill("n1")
        with contextlib.suppress(ConnectionResetError):
            assert peer.recv(1) == b""
    assert cluster.processes("n1") == []
    with pytest.raises(ProcessLookupError, match="n1 is down"):
        cluster.files("n1", "/tmp")


def test_peers_of_a_node_without_power_hear_nothing(cluster: Cluster) -> None:
    with (
        peer_of(cluster, "n1") as far,
        cluster.dial("n1", PORT, at="n2") as near,
        peer_of(cluster, "n2") as other,
    ):
        answers(near)
        cluster.power_off("n1")
        far.sendall(b"?")
        near.sendall(b"?")
        for _ in range(20):
            answers(other)
        assert cluster.processes("n1") == []
        assert hears_nothing(near) and hears_nothing(far)
        assert not is_acknowledged(near) and not is_acknowledged(far)
        near.close()


def test_a_node_comes_up_again_with_its_disk(cluster: Cluster) -> None:
    cluster.run(
        "sh",
        "-c",
        "echo kept >~/kept; echo kept >/var/kept; touch /tmp/lost /run/lost; sleep 1000 &",
        at="n1",
    )
    assert cluster.processes("n1")
    for end in (cluster.power_off, cluster.kill, cluster.freeze):
        end("n1")
        cluster.reboot("n1")
        assert cluster.processes("n1") == []
        assert (
            cluster.ssh("n1", "cat ~/kept /var/kept; ls /tmp/lost /run/lost", check=False).stdout
            == "kept\n" * 2
        )


def test_a_frozen_nodes_kernel_answers_and_its_programs_do_not(cluster: Cluster) -> None:
    with peer_of(cluster, "n1") as peer:
        cluster.freeze("n1")
        peer.sendall(b"?")
        until(lambda: is_acknowledged(peer), "the kernel's acknowledgement")
        assert hears_nothing(peer)
        cluster.thaw("n1")
        assert peer.recv(1) == b"?"
    cluster.reboot("n1")
    assert cluster.ssh("n1", "hostname").stdout == "n1\n"


def pull_and_plug(cluster: Cluster, peer: socket.socket) -> None:
    cluster.cut("n1")
    peer.sendall(b"?")
    assert hears_nothing(peer) and not is_acknowledged(peer)
    cluster.plug("n1")
    assert peer.recv(1) == b"?"


def test_a_connection_outlives_a_cable_that_is_pulled(cluster: Cluster) -> None:
    with peer_of(cluster, "n1") as peer:
        pull_and_plug(cluster, peer)


def test_a_connection_outlives_a_long_cable_that_is_pulled(make_lab: Callable[..., Lab]) -> None:
    lab = make_lab(1)
    with peer_of(lab, "n1") as peer:
        lab.delay("n1", 1)
        pull_and_plug(lab, peer)


def test_a_partition_parts_groups_and_nobody_else(cluster: Cluster) -> None:
    with echo(cluster, "n1"), echo(cluster, "n3"), contextlib.ExitStack() as stack:
        ways = {
            (place, node): stack.enter_context(cluster.dial(node, PORT, at=place))
            for place, node in [(HEAD, "n1"), (HEAD, "n3"), ("n2", "n1"), ("n2", "n3")]
        }
        cluster.partition([["n1", "n2"]])
        for peer in ways.values():
            peer.sendall(b"?")
        open_ways = {(HEAD, "n3"), ("n2", "n1")}
        for way in open_ways:
            assert ways[way].recv(1) == b"?"
        assert all(hears_nothing(peer) for way, peer in ways.items() if way not in open_ways)
        cluster.heal()
        for way in set(ways) - open_ways:
            assert ways[way].recv(1) == b"?"


def test_a_node_may_be_reached_only_by_another(cluster: Cluster) -> None:
    cluster.partition([[HEAD, "n1"], ["n1", "n2"]])
    with pytest.raises(OSError) as unanswered:
        cluster.dial("n2", timeout_s=0.2)
    in_time, for_long = None, errno.EHOSTUNREACH  # the kernel says so of one that does not answer for long
    assert unanswered.value.errno in (in_time, for_long)
    said = cluster.run("ssh", "-F", cluster.home.ssh_config, "-J", "root@n1", "root@n2", "hostname")
    assert said.stdout == "n2\n"


def test_a_partition_of_places_that_are_not_there_is_refused(cluster: Cluster) -> None:
    with pytest.raises(KeyError, match="n9"):
        cluster.partition([["n1", "n9"]])


def test_a_long_cable_takes_its_time_and_connections_last(make_lab: Callable[..., Lab]) -> None:
    cluster = make_lab(1)
    with peer_of(cluster, "n1") as peer:
        for delay_ms in (20, 5, 40):
            cluster.delay("n1", delay_ms)
            assert answers(peer) >= 2 * delay_ms / 1e3
        cluster.delay("n1", 0, loss_percent=100)
        peer.sendall(b"?")
        assert hears_nothing(peer) and not is_acknowledged(peer)
        cluster.delay("n1", 0, jitter_ms=1, loss_percent=1)
        payload = bytes(range(256)) * 4000
        sender = threading.Thread(target=peer.sendall, args=(payload,))
        sender.start()
        assert _receive(peer, len(payload) + 1) == b"?" + payload
        sender.join()
    cluster.reboot("n1")
    assert cluster.ssh("n1", "hostname").stdout == "n1\n"


def test_a_narrow_cable_carries_no_more_than_it_can(cluster: Cluster) -> None:
    with peer_of(cluster, "n1") as peer:
        cluster.rate("n1", 8)
        begin = time.monotonic()
        sender = threading.Thread(target=peer.sendall, args=(bytes(400_000),))
        sender.start()
        _receive(peer, 400_000)
        sender.join()
        assert time.monotonic() - begin >= (400_000 - BURST_BYTES) / 1e6  # each way, both at the same time
        cluster.rate("n1", None)
        answers(peer)


def test_a_disk_is_full_everywhere_at_once(make_lab: Callable[..., Lab]) -> None:
    lab = make_lab(2, disk_mb=16)
    writes = [f"head -c 100000 /dev/zero >{place}/new" for place in ("/tmp", "/var", "/srv/paddle", "~")]
    lab.fill_disk("n1", leave_bytes=8192)
    for write in writes:
        assert os.strerror(errno.ENOSPC) in lab.run("sh", "-c", write, at="n1", check=False).stderr
        lab.run("sh", "-c", write, at="n2")
    lab.free_disk("n1")
    for write in writes:
        lab.run("sh", "-c", write, at="n1")


def _receive(peer: socket.socket, size: int) -> bytes:
    heard = bytearray()
    while len(heard) < size:
        heard += (got := peer.recv(1 << 16))
        assert got, f"an end after {len(heard)} of {size} bytes"
    return bytes(heard)
