"""A dispatch, each node by a channel of a Fabric connection that is opened for it."""

from __future__ import annotations

import shlex
import socket
import sys
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from fabric import Config, Connection
from paramiko import Transport

import paddle._launch.agent as agent
from benchmarks.dispatch.field import PLACE, Field
from benchmarks.worker import Work
from paddle._launch import workspace
from paddle._launch.digests import DigestCache
from paddle._launch.dispatch import Dispatch

_COMMAND = (sys.executable, "-I", "-S", "-X", "utf8", str(Path(agent.__file__).parent), "--receive")
_WINDOW = 1 << 24


class _Line:
    """A channel as a dispatch sees it."""

    def __init__(self, connection: Connection) -> None:
        self._channel = connection.transport.open_session(window_size=_WINDOW)
        self._channel.exec_command(shlex.join(_COMMAND))

    def send(self, data: memoryview) -> None:
        self._channel.sendall(data)

    def receive(self) -> bytes:
        return self._channel.recv(1 << 16)


def prepare(settings: Mapping[str, object]) -> Work:
    return Field(settings, _deploy).work()


def _deploy(field: Field, last: Path | None, place: Path) -> None:
    dispatch = Dispatch(
        workspace.listing(field.package),
        root=PLACE,
        nodes=len(field.lab.names),
        digests=DigestCache(field.cache),
        limit=1 << 32,
    )

    def serve(node: int, name: str) -> None:
        with closing(_connection(field, name)) as connection:
            dispatch.deliver(_Line(connection), node, place, replaces=place == last)

    field.each(serve)


def _connection(field: Field, name: str) -> Connection:
    connection = Connection(
        field.lab.nodes[name].address,
        user="root",
        config=Config(overrides={"load_ssh_configs": False}),
        connect_kwargs={
            "key_filename": str(field.lab.home.key),
            "look_for_keys": False,
            "allow_agent": False,
            "transport_factory": _transport,
        },
    )
    connection.open()
    return connection


def _transport(sock: socket.socket, **options: object) -> Transport:
    """With those ciphers first that need no other pass for a checksum: they take half of the time."""
    transport = Transport(sock, **options)
    known = transport.get_security_options()
    known.ciphers = sorted(known.ciphers, key=lambda name: "gcm" not in name)
    return transport
