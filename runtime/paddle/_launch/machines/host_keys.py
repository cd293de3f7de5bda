"""The keys that hosts show, beside those that this machine knows of them.

It must never know who decides about them, and it never logs in to a host whose key is in question.

Guarantee: what a host is known by is what the launcher would verify it by, from the same files; a host behind
jump hosts is looked at through these only where their own keys are known.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fabric import Connection
from paramiko import HostKeys, PKey, SSHException
from paramiko import Transport as Protocol
from paramiko.ssh_exception import IncompatiblePeer

from paddle._launch.errors import NodeUnreachable
from paddle._launch.machines import ways
from paddle._launch.machines.refusals import Door
from paddle._launch.settings import Host

_TRIES, _PAUSE_S = 3, 0.3  # sshd drops connections at random while many come at once
_MOST_KINDS = 8
_RSA = "ssh-rsa"  # what a key is called in files, whatever its signatures are


@dataclass(frozen=True, slots=True)
class HostKey:
    """A host's key. ``key``: its bytes in base64; ``fingerprint``: as ssh shows it."""

    kind: str
    key: str
    fingerprint: str

    def __str__(self) -> str:
        return f"{self.kind} {self.fingerprint}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Hop:
    """A host on the way to a node. ``known``: the keys that the launcher holds it to, first the one that it
    asks for; ``file``: which has that. ``to_write``: the file in which it becomes known, hashed or not."""

    door: Door
    known: tuple[HostKey, ...]
    file: Path | None
    to_write: Path
    hashed: bool

    def expected(self, shown: HostKey) -> HostKey | None:
        """What a host that shows this key should have shown, where it should have shown another."""
        same = [key for key in self.known if key.kind == shown.kind]
        held_to = next(iter(same or self.known), None)
        return held_to if held_to != shown else None


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
    known, files = HostKeys(), ways.files_read(connection)
    for file in files:
        known.load(str(file))
    found = known.lookup(door.known_as)
    return Hop(
        door=door,
        known=tuple(_written(found[kind]) for kind in dict.fromkeys(found.keys())) if found else (),
        file=next((file for file in files if HostKeys(str(file)).lookup(door.known_as)), None),
        to_write=ways.file_to_write(connection),
        hashed=ways.hashes(connection),
    )


def _shown(connection: Connection, known: tuple[HostKey, ...]) -> Iterator[HostKey]:
    passed: set[str] = set()
    for _ in range(_MOST_KINDS):
        key = _patiently(connection, known[0].kind if known else "", frozenset(passed))
        if key is None:
            return
        yield key
        if known:
            return
        passed.add(key.kind)


def _patiently(connection: Connection, first: str, without: frozenset[str]) -> HostKey | None:
    for tries_left in reversed(range(_TRIES)):
        try:
            return _look(connection, first, without)
        except (SSHException, EOFError) as error:
            refusal = ways.refusal(error, ways.door(connection))
            is_dropped = isinstance(refusal, NodeUnreachable) and refusal.may_pass
            if not (tries_left and is_dropped) or isinstance(error, IncompatiblePeer):
                raise
        threading.Event().wait(_PAUSE_S)
    raise AssertionError  # the last try returns or raises


def _look(connection: Connection, first: str, without: frozenset[str]) -> HostKey | None:
    """Begin to speak with a host, up to its key. None where it has none but those ``without`` which it is."""
    with contextlib.ExitStack() as stack:
        sock = _socket(connection)
        stack.callback(sock.close)
        protocol = Protocol(sock)
        stack.callback(protocol.close)
        protocol.banner_timeout = ways.CONNECT_S
        options = protocol.get_security_options()
        kinds = [kind for kind in options.key_types if _family(kind) not in without]
        if not kinds:
            return None
        options.key_types = sorted(kinds, key=lambda kind: _family(kind) != first)
        try:
            protocol.start_client(timeout=ways.CONNECT_S)
        except IncompatiblePeer:
            if without:
                return None
            raise
        return _written(protocol.get_remote_server_key())


def _socket(connection: Connection) -> Any:
    if connection.gateway:
        return connection.open_gateway()
    return socket.create_connection((connection.host, int(connection.port)), ways.CONNECT_S)


def _family(kind: str) -> str:
    """The kind of key that signs so."""
    return _RSA if kind.startswith(("rsa-sha2-", _RSA)) else kind


def _written(key: PKey) -> HostKey:
    return HostKey(key.get_name(), key.get_base64(), key.fingerprint)
