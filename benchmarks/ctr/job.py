"""A job of one pserver and two workers, as its launcher started it: ordered to train, measured from outside.

It must never know whose launcher that is. Its processes connect to a socket of this one and say what they
are (``programs/orders.py``). Guarantee: a job that is closed leaves no process behind; one whose holder dies
is left by its workers, who hear of it.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TextIO

from benchmarks.cputime import cpu_of, family

_DEADLINE_S = 110.0  # less than a contender has for an answer: what went wrong is told
_LEAVING_S = 15.0
_LOOK_S, _IDLE, _SETTLING_S = 0.05, 0.2, 2.0
_LAST_WORDS = 1500


Process = subprocess.Popen[bytes]
Begin = Callable[[Mapping[str, str], Path], list[Process]]


class JobError(Exception):
    """A job ended, or said nothing; the message has the last words of its processes."""


class Job:
    """``begin`` starts its processes, given what is added to their environment, and a folder for logs."""

    def __init__(self, processes: int, begin: Begin, told: Mapping[str, str]):
        self._folder = tempfile.TemporaryDirectory(prefix="ctr-")
        self._path = Path(self._folder.name)
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(self._path / "orders"))
        self._listener.listen()
        self._listener.settimeout(0.5)
        self._began = time.perf_counter()
        self._started = begin({"CTR_ORDERS": str(self._path / "orders"), **told}, self._path)
        self._connections: list[socket.socket] = []
        self._lines: list[TextIO] = []  # of workers
        self.servers: list[int] = []
        self.workers: list[int] = []
        try:
            for _ in range(processes):
                self._meet()
            self.first = self._hear()
        except BaseException:
            self.close()
            raise

    @property
    def pids(self) -> tuple[int, ...]:
        """All its processes, its launcher's too."""
        found = {*self.servers, *self.workers}
        for started in self._started:
            with suppress(OSError):  # one of them ends just now
                found.update(family(started.pid))
        return tuple(found)

    def cpu_s(self) -> float:
        """Processor time of all its processes so far."""
        total = 0.0
        for pid in self.pids:
            with suppress(OSError):
                total += cpu_of(pid)
        return total

    def settled_cpu_s(self) -> float:
        """The same once it idles: what workers have sent and nobody has dealt with yet is work, too."""
        before, began = self.cpu_s(), time.perf_counter()
        while time.perf_counter() - began < _SETTLING_S:
            time.sleep(_LOOK_S)
            now = self.cpu_s()
            if now - before < _IDLE * _LOOK_S:
                return now
            before = now
        return before

    def ready(self) -> list[dict[str, Any]]:
        """What workers say once they are ready for orders."""
        return self._hear()

    def train(self, blocks: int) -> None:
        """So many blocks of steps by each worker."""
        for each in self._connections:
            with suppress(BrokenPipeError):  # the missing answer will tell it
                each.sendall(json.dumps({"blocks": blocks}).encode() + b"\n")
        self._hear()

    def close(self) -> None:
        """Let it end; kill what does not."""
        pids = self.pids
        for each in self._connections:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        for started in self._started:
            with suppress(subprocess.TimeoutExpired):
                started.wait(_LEAVING_S)
        for pid in pids:
            with suppress(OSError):
                if _is_of(pid, str(self._path)):
                    os.kill(pid, signal.SIGKILL)
        for started in self._started:
            started.wait()
        for each in [self._listener, *self._connections]:
            each.close()
        self._folder.cleanup()

    def _meet(self) -> None:
        """Another process comes and says what it is. A server says no more."""
        connection = self._accepted()
        connection.settimeout(_DEADLINE_S)
        self._connections.append(connection)
        lines = connection.makefile("r")
        said = json.loads(lines.readline())
        if said["role"] == "worker":
            self._lines.append(lines)
        (self.workers if said["role"] == "worker" else self.servers).append(said["pid"])

    def _accepted(self) -> socket.socket:
        while time.perf_counter() - self._began < _DEADLINE_S:
            with suppress(TimeoutError):
                return self._listener.accept()[0]
            if any(started.poll() is not None for started in self._started):
                raise JobError(f"it ended before it began{self._last_words()}")
        raise JobError(f"not all of it came within {_DEADLINE_S:.0f} s{self._last_words()}")

    def _hear(self) -> list[dict[str, Any]]:
        """A line of each worker."""
        try:
            return [json.loads(lines.readline()) for lines in self._lines]
        except (ValueError, OSError) as error:
            raise JobError(f"a worker ended, or said nothing: {error}{self._last_words()}") from error

    def _last_words(self) -> str:
        logs = [path for path in sorted(self._path.rglob("*")) if path.is_file() and "part" not in path.name]
        ends = ((path, path.read_bytes()[-_LAST_WORDS:].decode(errors="replace").strip()) for path in logs)
        return "".join(f"\n--- {path.name}\n{end}" for path, end in ends if end)


def _is_of(pid: int, folder: str) -> bool:
    """Whether a process is still one of this job, and not another one of that number."""
    return f"CTR_ORDERS={folder}/".encode() in Path(f"/proc/{pid}/environ").read_bytes()


def peak_bytes(pids: Sequence[int]) -> int:
    """The most memory that one of these processes had so far."""
    return max(map(_peak, pids))


def _peak(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text().splitlines()
    return int(next(line for line in status if line.startswith("VmHWM:")).split()[1]) << 10
