"""A node that is talked to: a program of the agent there that answers orders, over SSH or on this machine.

It must never know what is asked. Guarantee: nothing is left of it on the node once it is closed, or this
process is gone.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol

from paddle._launch.agent.survey import ANSWER
from paddle._launch.errors import NodeLost
from paddle._launch.machines import parcel, refusals
from paddle._launch.machines.transport import About, Transport
from paddle._launch.settings import Host

_CHUNK = 1 << 16
_LONGEST_ANSWER = 1 << 22
_SIGN = ANSWER.encode()


class Place(Protocol):
    """It. ``about``: whom an SSH connection leads to; ``took_s``: to open it."""

    about: About | None
    took_s: float

    def ask(self, order: Mapping[str, Any]) -> bytes:
        """Give an order, and wait for the answer."""
        ...

    def close(self) -> None:
        """Let go; from any thread."""
        ...


class SshPlace:
    """Another machine, reached when this is made."""

    def __init__(self, transport: Transport, host: Host, pythons: Sequence[str], entry: str) -> None:
        began = time.monotonic()
        self._pythons = tuple(pythons)
        self._line = transport.line(host).open()
        self.took_s = time.monotonic() - began
        self.about: About | None = self._line.about
        self._stream = self._line.begin(parcel.COMMAND)
        self._stream.offer(parcel.call(pythons, entry))
        self._answers = _Answers(self._stream.receive)

    def ask(self, order: Mapping[str, Any]) -> bytes:
        self._stream.offer(json.dumps(order).encode() + b"\n")
        answer = self._answers.next()
        if answer is None:
            raise refusals.no_program(self._stream.status(), self._stream.complaint(), self._pythons)
        return answer

    def close(self) -> None:
        # saying so may wait for the network
        threading.Thread(target=self._line.close, daemon=True).start()


class LocalPlace:
    """This machine."""

    about: About | None = None
    took_s = 0.0

    def __init__(self, pythons: Sequence[str], entry: str) -> None:
        self._pythons = tuple(pythons)
        self._program = subprocess.Popen(
            ["/bin/sh", "-c", parcel.COMMAND],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd="/",
            start_new_session=True,  # Ctrl+C is for this process
        )
        assert self._program.stdin and self._program.stdout
        self._said = self._program.stdin
        output = self._program.stdout.fileno()
        self._answers = _Answers(partial(os.read, output))
        self._say(parcel.call(pythons, entry))

    def ask(self, order: Mapping[str, Any]) -> bytes:
        self._say(json.dumps(order).encode() + b"\n")
        answer = self._answers.next()
        if answer is None:
            assert self._program.stderr
            complaint = refusals.last_line(self._program.stderr.read())
            raise refusals.no_program(self._program.wait(), complaint, self._pythons)
        return answer

    def close(self) -> None:
        self._program.kill()
        with contextlib.suppress(OSError), self._program:  # what it was not told any more
            pass

    def _say(self, data: bytes) -> None:
        with contextlib.suppress(BrokenPipeError):  # that it has ended is heard
            self._said.write(data)
            self._said.flush()


class _Answers:
    """Takes answers out of what a program, and a login shell before it, have to say."""

    def __init__(self, receive: Callable[[int], bytes]) -> None:
        self._receive = receive
        self._rest = b""

    def next(self) -> bytes | None:
        """The next answer; None where nothing more comes."""
        while True:
            line, end, rest = self._rest.partition(b"\n")
            if end:
                self._rest = rest
                if line.startswith(_SIGN):
                    return line.removeprefix(_SIGN)
                continue
            if len(self._rest) > _LONGEST_ANSWER:
                raise NodeLost("what it says has no end. Does its login shell print something for ever?")
            if not (data := self._receive(_CHUNK)):
                return None
            self._rest += data
