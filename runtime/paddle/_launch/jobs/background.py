"""A launcher that goes into the background once its job trains (``--detach``).

Two processes: the one behind, which is the launcher, in a session of its own and with a file to print to; and
the one before, which shows that file and answers the terminal, until it leaves.

It must never know a job. Guarantee, by three rules:

1. Until it leaves, the job is in the foreground: a signal to the one before ends it, and so does its death.
2. It leaves at the first step of a trainer, or, where trainers do not say how far they are, ``PATIENCE_S``
   after they were started. If the launcher ends before, its status and its words are those of the one before,
   which says it where that was killed.
3. After that, nothing of the terminal reaches the launcher.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from paddle._launch.cause import how_ended
from paddle._launch.errors import JobError
from paddle._launch.news import Bulletin, Changed, Entered, Progress
from paddle._launch.signals import Stopped
from paddle._streams import complain

PATIENCE_S = 20.0
_LOOK_S = 0.05
_TRAINS, _STEPS, _GO = b"t", b"s", b"g"
_CHUNK = 1 << 16


class Background:
    """The launcher's side: hears all news, and lets the other side know when it may leave."""

    def __init__(self, other: socket.socket) -> None:
        self._other = other
        self._has_stepped = False
        threading.Thread(target=self._watch, daemon=True).start()

    def tell(self, bulletin: Bulletin) -> None:
        """Take news of the launch."""
        match bulletin:
            case Entered("train"):
                self._say(_TRAINS)
            case Progress() | Changed(_, "ended") if not self._has_stepped:
                self._has_stepped = True
                self._say(_STEPS)

    def _say(self, word: bytes) -> None:
        with contextlib.suppress(OSError):  # it has left
            self._other.sendall(word)

    def _watch(self) -> None:
        """Rule 1: a death without a word is a signal."""
        try:
            word = self._other.recv(1)
        except OSError:
            word = b""
        if word != _GO:
            os.kill(os.getpid(), signal.SIGTERM)


@dataclass
class Foreground:
    """The terminal's side."""

    launcher: int
    log: Path
    other: socket.socket
    patience_s: float = PATIENCE_S
    _shown: int = field(default=0, init=False)

    def wait(self) -> int | None:
        """Show what the launcher prints; gives its status if it ended, None if it trains behind now. A signal
        that came meanwhile is raised again once the job is over."""
        leave_at = float("inf")
        stopped: Stopped | None = None
        while True:
            try:
                word = self._hear()
                is_time = stopped is None and (word == _STEPS or time.monotonic() >= leave_at)
                if word != b"" and is_time and self._leave():
                    return None
                if word == b"" or is_time:
                    break
                if word == _TRAINS and stopped is None:
                    leave_at = time.monotonic() + self.patience_s
            except Stopped as signalled:
                stopped, leave_at = signalled, float("inf")
                os.kill(self.launcher, signal.SIGTERM)  # not reaped yet, so the number is still its own
        status = os.waitstatus_to_exitcode(os.waitpid(self.launcher, 0)[1])
        self._show()
        if stopped is not None:
            raise stopped
        if status >= 0:
            return status
        complain(
            f"paddle.py: the launcher, process {self.launcher}, {how_ended(status)}. What runs of "
            "the job ends by itself within seconds; `fab logs` and `fab collect` have what its roles left"
        )
        return 128 - status

    def _hear(self) -> bytes | None:
        """A word of the launcher, empty at its end, or None where it says nothing for a moment."""
        self._show()
        if not select.select([self.other], [], [], _LOOK_S)[0]:
            return None
        try:
            return self.other.recv(1)
        except ConnectionResetError:
            return b""

    def _leave(self) -> bool:
        """Let it go on behind; False where it has ended meanwhile: this side may have been held up."""
        try:
            self.other.sendall(_GO)
        except (BrokenPipeError, ConnectionResetError):
            return False
        self._show()
        return True

    def _show(self) -> None:
        """Print what the launcher printed since."""
        with contextlib.suppress(OSError), self.log.open("rb") as file:
            file.seek(self._shown)
            while data := file.read(_CHUNK):
                self._shown += len(data)
                sys.stdout.write(data.decode("utf-8", "replace"))
            sys.stdout.flush()


def split(log: Path) -> Background | Foreground:
    """Become two processes. To be called before there is any thread."""
    try:
        log.parent.mkdir(exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND | os.O_CLOEXEC
        printed = os.open(log, flags, 0o644)
    except OSError as error:
        raise JobError(
            f"--detach: cannot write {log}, which what the launcher says would go to: {error.strerror}. "
            "Nothing was started."
        ) from error
    before, behind = socket.socketpair()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    launcher = os.fork()
    if launcher:
        os.close(printed)
        behind.close()
        return Foreground(launcher, log, before)
    before.close()
    os.setsid()
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as under nohup: a terminal that is closed is nothing to it
    nothing = os.open(os.devnull, os.O_RDONLY)
    for descriptor, place in ((nothing, 0), (printed, 1), (printed, 2)):
        os.dup2(descriptor, place)
    os.close(nothing)
    os.close(printed)
    return Background(behind)
