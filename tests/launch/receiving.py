"""A node's receiver near at hand: in a thread of the test or in a process, at the other end of a line."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import paddle._launch.agent as agent
from paddle._launch import workspace
from paddle._launch.agent.answers import BEAT, SIGN
from paddle._launch.agent.receiver import Receiver, Source
from paddle._launch.digests import DigestCache
from paddle._launch.dispatch import Dispatch
from paddle._launch.errors import NodeLost
from tests.waiting import PATIENCE_S

COMMAND = (sys.executable, "-I", "-S", "-X", "utf8", str(Path(agent.__file__).parent), "--receive")


def answer(said: bytes) -> Any:
    """The last that is said in answer, but for beats: one may come when it has been said."""
    words = [line for line in said.splitlines() if line != BEAT]
    return json.loads(words[-1].removeprefix(SIGN))


class ThreadLine:
    """A line to a receiver in a thread; it is cut after ``lives`` bytes, if that is given."""

    def __init__(self, lives: int | None = None, now: float = 1e9) -> None:
        self._left = lives
        self.sent = 0
        self._near, far = socket.socketpair()
        self._thread = threading.Thread(target=self._work, args=(far, now), daemon=True)
        self._thread.start()

    def _work(self, far: socket.socket, now: float) -> None:
        with far:
            self.status = Receiver(Source(far.fileno()), far.fileno(), now).run()

    def send(self, data: memoryview) -> None:
        if self._left is not None and len(data) > self._left:
            self._push(data[: self._left])
            self._left = 0
            self._near.shutdown(socket.SHUT_WR)
            raise NodeLost("cut")
        if self._left is not None:
            self._left -= len(data)
        self._push(data)

    def _push(self, data: memoryview) -> None:
        self.sent += len(data)
        try:
            self._near.sendall(data)
        except OSError as error:
            raise NodeLost(str(error)) from error

    def receive(self, most: int = 1 << 16) -> bytes:
        try:
            return self._near.recv(most)
        except ConnectionResetError:  # it ended, and had not read all
            return b""

    def receive_all(self) -> bytes:
        return b"".join(iter(self.receive, b""))

    def close(self) -> int:
        with contextlib.suppress(OSError):
            self._near.shutdown(socket.SHUT_WR)
        self._thread.join(PATIENCE_S)
        assert not self._thread.is_alive()
        self._near.close()
        return self.status


class ProcessLine:
    """A line to a receiver as it runs on a node."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)

    def send(self, data: memoryview) -> None:
        try:
            while data:
                data = data[os.write(self.process.stdin.fileno(), data) :]
        except OSError as error:
            raise NodeLost(str(error)) from error

    def receive(self, most: int) -> bytes:
        return os.read(self.process.stdout.fileno(), most)

    def close(self) -> int:
        self.process.stdin.close()
        status = self.process.wait(PATIENCE_S)
        self.process.stdout.close()
        return status


def dispatch_of(package: Path, root: Path, cache: Path | None = None, **options) -> Dispatch:
    """A dispatch of ``package`` to one node, or so many as ``nodes`` says."""
    options = {"nodes": 1, "limit": 1 << 40, **options}
    digests = DigestCache(cache or root.with_name(f"{root.name}.digests"))
    return Dispatch(workspace.listing(package), root=root, digests=digests, **options)


def tree(folder: Path) -> dict[str, tuple[object, ...]] | None:
    """All there is below a folder: contents, modes, times, links; None where it is not there."""
    if not folder.exists():
        return None
    return {str(path.relative_to(folder)): _seen(path) for path in folder.rglob("*")}


def _seen(path: Path) -> tuple[object, ...]:
    if path.is_symlink():
        return ("link", str(path.readlink()))
    if path.is_dir():
        return ("folder",)
    status = path.stat()
    return ("file", path.read_bytes(), status.st_mode & 0o777, status.st_mtime_ns)
