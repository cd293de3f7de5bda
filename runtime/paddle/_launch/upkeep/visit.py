"""A node that is talked to outside of any job: programs of the agent run there, one after another.

It must never know what they do. Guarantee: nothing is installed or written on the node to run one, a node's
shell sees one constant command only (machines/parcel.py), and a program ends when its visitor does.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from paddle._launch.errors import NodeError, NodeUnfit
from paddle._launch.machines import parcel, refusals
from paddle._launch.machines.transport import Line, Stream, Transport
from paddle._launch.settings import Host

_CHUNK = 1 << 16
_LOCAL_S = 600.0


class Visit(Protocol):
    """One."""

    def ask(self, pythons: Sequence[str], entry: str, order: Mapping[str, Any]) -> bytes:
        """Have a program do something; gives what it says. ``pythons``: the first that is there runs it."""
        ...

    def close(self) -> None:
        """Let go of the node."""
        ...


class SshVisit:
    """To another machine; it begins when it is made, and that takes its time. ``name_it``: how the user says
    which Python is meant."""

    def __init__(self, transport: Transport, host: Host, name_it: str) -> None:
        self._name_it = name_it
        self._line: Line = transport.line(host).open()

    def ask(self, pythons: Sequence[str], entry: str, order: Mapping[str, Any]) -> bytes:
        with self.talking(pythons, entry) as stream:
            stream.send(json.dumps(order).encode() + b"\n")
            answer = b""
            while data := stream.receive(_CHUNK):
                answer += data
            if status := stream.status():
                raise refusals.no_program(status, stream.complaint(), tuple(pythons), self._name_it)
            return answer

    @contextlib.contextmanager
    def talking(self, pythons: Sequence[str], entry: str) -> Iterator[Stream]:
        """A program that goes on for as long as it is talked to."""
        stream = self._line.begin(parcel.COMMAND)
        try:
            stream.send(parcel.call(pythons, entry))
            yield stream
        finally:
            stream.close()

    def close(self) -> None:
        self._line.close()


class LocalVisit:
    """To this machine, as one of the nodes that are embedded in it."""

    def ask(self, pythons: Sequence[str], entry: str, order: Mapping[str, Any]) -> bytes:
        done = subprocess.run(
            ["/bin/sh", "-c", parcel.COMMAND],
            input=parcel.call([sys.executable], entry) + json.dumps(order).encode() + b"\n",
            capture_output=True,
            timeout=_LOCAL_S,
            check=False,
        )
        if done.returncode:
            raise refusals.no_program(done.returncode, refusals.last_line(done.stderr), (sys.executable,))
        return done.stdout

    def close(self) -> None:
        pass


def first_fit(visit: Visit, pythons: Sequence[str], entry: str, order: Mapping[str, Any]) -> bytes:
    """Ask by the first Python that is there and new enough; where none is, says why not of the first."""
    failed: list[NodeError] = []
    for python in pythons:
        try:
            return visit.ask([python], entry, order)
        except NodeUnfit as error:
            failed.append(error)
    raise failed[0]
