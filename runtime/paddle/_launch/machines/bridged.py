"""A line to a node by a bridge (agent/bridge.py), and programs there, as transport.py has them by SSH.

It must never know who started the bridge. Guarantee: every call that speaks with a program ends with what it
said or a typed error; a line that is let go of ends its bridge.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import socket
import ssl
import struct
import threading
import time
from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any

from paddle._launch.agent.bridge import DATA, END, ERRORS, HEAD, SILENCE_S, STATUS
from paddle._launch.errors import NodeLost
from paddle._launch.machines import patience, refusals

_BEAT_S = SILENCE_S / 6
_ENDING_S, _LOOK_S = 0.5, 0.01
_BROKEN = "its connection broke: what mpirun had started there is gone."
_CHUNK = 1 << 16
_MOST_COMPLAINT = 1 << 14


class Bridged:
    """An open line to a node; see transport.Line."""

    def __init__(self, control: ssl.SSLSocket) -> None:
        self._control = control
        self._turn = threading.Lock()
        self._awaited: dict[tuple[int, bool], Future[ssl.SSLSocket]] = {}
        self._number = 0
        self._is_over = threading.Event()
        for task in (self._beat, self._watch):
            threading.Thread(target=task, daemon=True).start()

    def begin(self, command: str, *, errors_too: bool = False, patience_s: float = 10.0) -> BridgedStream:
        """Begin a program."""
        with self._turn:
            self._number += 1
            number = self._number
            lines = [self._awaited.setdefault((number, is_input), Future()) for is_input in (True, False)]
        self._say({"begin": number, "command": command, "errors_too": errors_too})
        end = time.monotonic() + patience_s
        while not all(line.done() for line in lines):
            if self._is_over.wait(_LOOK_S):
                raise NodeLost(_BROKEN)
            if time.monotonic() > end:
                raise refusals.silent(patience_s)
        come, go = (line.result() for line in lines)
        return BridgedStream(come, go)

    def welcome(self, number: int, is_input: bool, line: ssl.SSLSocket) -> None:
        """Take a program's line."""
        with self._turn:
            awaited = self._awaited.pop((number, is_input))
        awaited.set_result(line)

    @property
    def is_open(self) -> bool:
        """Whether it can be used still, as far as is known here."""
        return not self._is_over.is_set()

    def has_broken(self) -> bool:
        """Whether it has ended just now, asked when a program has ended that gave no status."""
        return self._is_over.wait(_ENDING_S)

    def close(self) -> None:
        """Let go, whoever uses it; the bridge ends."""
        self._is_over.set()
        with contextlib.suppress(OSError):
            self._control.shutdown(socket.SHUT_RDWR)
        self._control.close()

    def _say(self, what: Mapping[str, Any]) -> None:
        if self._is_over.is_set():
            raise NodeLost(_BROKEN)
        try:
            with self._turn:
                self._control.sendall(json.dumps(what).encode() + b"\n")
        except OSError as error:
            self._is_over.set()
            raise NodeLost(f"its connection broke: {error.strerror or error}.") from error

    def _beat(self) -> None:
        with contextlib.suppress(NodeLost):
            while not self._is_over.wait(_BEAT_S):
                self._say({})

    def _watch(self) -> None:
        """Notice its end: a bridge says nothing by this line."""
        with contextlib.suppress(OSError, ValueError):
            descriptor = os.dup(self._control.fileno())
            try:
                while select.select([descriptor], [], []) and os.read(descriptor, _CHUNK):
                    pass  # TLS itself may have something to say
            finally:
                os.close(descriptor)
        self._is_over.set()


class BridgedStream:
    """A program on a node; see transport.Stream."""

    def __init__(self, come: ssl.SSLSocket, go: ssl.SSLSocket) -> None:
        self._come, self._go = come, go
        self._frames = go.makefile("rb")
        self._printed = b""
        self._complained = b""
        self._status: int | None = None
        self._has_ended = False

    def send(self, data: bytes | memoryview) -> None:
        """Send all of ``data``."""
        try:
            self._come.sendall(HEAD.pack(DATA, len(data)))
            self._come.sendall(data)
        except TimeoutError as error:
            raise refusals.silent(patience.STALL_S) from error
        except (OSError, ValueError) as error:
            raise NodeLost(f"its connection broke: {error}.") from error

    def offer(self, data: bytes) -> None:
        """Send all of ``data`` to a program that may have ended; then its status says why."""
        try:
            self.send(data)
        except NodeLost:
            if self.status() < 0:
                raise

    def end(self) -> None:
        """Let the program see the end of its input."""
        with contextlib.suppress(OSError, ValueError):
            self._come.sendall(HEAD.pack(END, 0))

    def receive(self, most: int) -> bytes:
        """What it has printed, at most so many bytes of it; empty where nothing more will come."""
        while not self._printed and not self._has_ended:
            self._hear()
        data, self._printed = self._printed[:most], self._printed[most:]
        return data

    def complaint(self) -> str:
        """The last line that it, or the node's shell, wrote to standard error."""
        with contextlib.suppress(NodeLost):
            while not self._has_ended:
                self._hear()
        return refusals.last_line(self._complained)

    def status(self) -> int:
        """Its exit status, once it has printed all; -1 where it was killed, or the connection broke."""
        with contextlib.suppress(NodeLost):
            while not self._has_ended:
                self._hear()
        return -1 if self._status is None else max(-1, self._status)

    def is_patient(self) -> None:
        """Wait for it as long as it takes: what it says is watched over elsewhere."""
        self._go.settimeout(None)

    def close(self) -> None:
        """Let go of it."""
        for line in (self._come, self._go):
            with contextlib.suppress(OSError):
                line.shutdown(socket.SHUT_RDWR)
            line.close()

    def _hear(self) -> None:
        try:
            head = self._frames.read(HEAD.size)
            kind, size = HEAD.unpack(head) if len(head) == HEAD.size else (END, 0)
            data = self._frames.read(size)
        except TimeoutError as error:
            raise refusals.silent(patience.STALL_S) from error
        except (OSError, ValueError):
            kind, data = END, b""
        match kind:
            case _ if kind == DATA:
                self._printed += data
            case _ if kind == ERRORS:
                self._complained = (self._complained + data)[-_MOST_COMPLAINT:]
            case _ if kind == STATUS:
                (self._status,) = struct.unpack("!i", data)
                self._has_ended = True
            case _:
                self._has_ended = True
