"""The keys that hosts show, beside those that this machine knows of them.

It must never know who decides about them, and it never logs in to a host whose key is in question.

Guarantee: what a host is known by is what the launcher would verify it by, from the same files; a host behind
jump hosts is looked at through these only where their own keys are known.
"""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from fabric import Connection
from paramiko import SSHException
from paramiko.ssh_exception import IncompatiblePeer

from paddle._launch.errors import HostKeyChanged, HostKeyUnknown, NodeUnreachable
from paddle._launch.machines import known_hosts, refusals, ways
from paddle._launch.machines.known_hosts import HostKey, Known
from paddle._launch.machines.patience import again
from paddle._launch.machines.refusals import Door
from paddle._launch.settings import Host


@dataclass(frozen=True, slots=True, kw_only=True)
class Hop:
    """A host on the way to a node. ``known``: what is said of it; ``to_write``: the file in which it becomes
    known, its name hashed or not."""

    door: Door
    known: tuple[Known, ...]
    to_write: Path
    hashed: bool

    def judge(self, shown: HostKey) -> HostKeyUnknown | HostKeyChanged | None:
        """Say what is wrong with a key of it."""
        return refusals.host_key(self.door.known_as, shown, self.known, ways.usual())


class Chain:
    """The hosts on the way to a node, in the order in which they are met. Each has its turn; let go of it by
    ``close``."""

    def __init__(self, host: Host) -> None:
        with ways.typed(host):
            self._met = list(ways.hops(ways.connection(host, "known")))[::-1]
            self.hops = tuple(_hop(one) for one in self._met)

    def shown(self, number: int) -> tuple[HostKey, ...]:
        """The keys that a host shows: where it is known the one of that kind, else one of each kind."""
        hop, connection = self.hops[number], self._met[number]
        try:
            return tuple(_shown(connection, hop.known))
        except Exception as error:  # Paramiko raises many kinds
            failed = next((one for one in self._met[:number] if not one.is_connected), connection)
            raise ways.refusal(error, ways.door(failed)) from error

    def close(self) -> None:
        """Let go."""
        ways.close(self._met[-1])


def _hop(connection: Connection) -> Hop:
    door = ways.door(connection)
    return Hop(
        door=door,
        known=known_hosts.find(ways.files_read(connection), door.known_as),
        to_write=ways.file_to_write(connection),
        hashed=ways.hashes(connection),
    )


def _shown(connection: Connection, known: tuple[Known, ...]) -> Iterator[HostKey]:
    passed: set[str] = set()
    is_known = any(not one.is_revoked for one in known)
    while (key := _patiently(connection, known, frozenset(passed))) is not None:
        yield key
        if is_known:
            return
        passed.add(key.kind)


def _patiently(connection: Connection, known: tuple[Known, ...], without: frozenset[str]) -> HostKey | None:
    def may_pass(error: Exception) -> bool:
        if isinstance(error, IncompatiblePeer) or not isinstance(error, (SSHException, EOFError)):
            return False
        refusal = ways.refusal(error, ways.door(connection))
        return isinstance(refusal, NodeUnreachable) and refusal.may_pass

    return again(partial(_look, connection, known, without), may_pass)


def _look(connection: Connection, known: tuple[Known, ...], without: frozenset[str]) -> HostKey | None:
    """Begin to speak with a host, up to its key. None where it has none but those kinds."""
    with contextlib.ExitStack() as stack:
        sock = _socket(connection)
        stack.callback(sock.close)
        protocol = ways.protocol(known, sock)
        stack.callback(protocol.close)
        protocol.banner_timeout = ways.CONNECT_S
        options = protocol.get_security_options()
        options.key_types = [name for name in options.key_types if ways.kind_of(name) not in without]
        if not options.key_types:
            return None
        try:
            protocol.start_client(timeout=ways.CONNECT_S)
        except IncompatiblePeer:
            if without:
                return None
            raise
        return ways.written(protocol.get_remote_server_key())


def _socket(connection: Connection) -> Any:
    if connection.gateway:
        return connection.open_gateway()
    return socket.create_connection((connection.host, int(connection.port)), ways.CONNECT_S)
