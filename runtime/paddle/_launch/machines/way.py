"""What a launch asks of whatever leads to its nodes: SSH (transport.py), or mpirun (mpi.py).

A ``Way`` opens lines to nodes, a ``Line`` begins programs there, and a ``Stream`` is one of them.
"""

from __future__ import annotations

from typing import Protocol

from paddle._launch.machines.opening import Opening
from paddle._launch.settings import Host


class Stream(Protocol):
    """A program on a node: its standard input, and what it prints. See transport.Stream."""

    def send(self, data: bytes | memoryview) -> None: ...

    def offer(self, data: bytes) -> None: ...

    def end(self) -> None: ...

    def receive(self, most: int) -> bytes: ...

    def complaint(self) -> str: ...

    def status(self) -> int: ...

    def is_patient(self) -> None: ...

    def close(self) -> None: ...


class Line(Protocol):
    """An open connection to a node. See transport.Line."""

    def begin(self, command: str, *, errors_too: bool = False) -> Stream: ...

    @property
    def is_open(self) -> bool: ...

    def has_broken(self) -> bool: ...

    def close(self) -> None: ...


class Way(Protocol):
    """What opens them. See transport.Transport."""

    def line(self, host: Host) -> Opening[Line]: ...
