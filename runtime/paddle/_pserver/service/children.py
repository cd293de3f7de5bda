"""Children: processes forked from this one, ended with it, and their exit statuses as one.

It must never know what a child does.

Guarantee: no child outlives this process, however it ends; after ``wait`` no child is left. A signal that is
meant to end this process ends the children; when one child fails the others are ended. The status is that of
the signal, else of the first child that failed, else 0. A SIGHUP that was ignored before, as under ``nohup``,
stays ignored. The end waits for nobody to read what is logged about it. A child that a signal killed is
started again as often as it may be, each time after a longer pause; that is no failure.
"""

from __future__ import annotations

import contextlib
import ctypes
import logging
import os
import select
import signal
import struct
import time
from collections.abc import Callable, Iterator

_PR_SET_PDEATHSIG = 1
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_STANDARD_ERROR = 2
_GRACE_S = 5.0
_CRASHED = 70  # EX_SOFTWARE
_FIRST_PAUSE_S = 0.25
_LONGEST_PAUSE_S = 8.0  # trainers that come back have patience for a minute
_PID = struct.Struct("<I")
_CHUNK = 1 << 16

Work = Callable[[Callable[[], None]], int]

_log = logging.getLogger("paddle.pserver")


class Children:
    """Processes that live and die together."""

    def __init__(
        self,
        on_death: Callable[[str, str], None] = lambda name, how: None,
        on_restart: Callable[[str, str], None] = lambda name, how: None,
        news: int | None = None,
    ) -> None:
        """``on_death(name, how)`` hears of a child that died or crashed, before the others are ended,
        ``on_restart`` of one that is started again. What comes from ``news``, which does not block, is passed
        on to every child, also to one that is started later: each has it from its ``ear``."""
        self._on_death, self._on_restart = on_death, on_restart
        self._news, self._told = news, b""
        self._mouths: dict[int, int] = {}  # by which those that run are told
        self.ear: int | None = None  # of a child
        self._work: dict[str, Work] = {}
        self._restarts: dict[str, int] = {}  # that are left
        self._names: dict[int, str] = {}  # of those that run
        self._due: dict[str, float] = {}  # when those that were killed are started again
        self._pauses: dict[str, float] = {}  # the last one of each
        self._ready_out, self._ready_in = os.pipe()
        self._unready: set[str] = set()
        self._status: int | None = None
        self._kill_at = float("inf")

    def fork(self, name: str, work: Work, *, restarts: int = 0) -> None:
        """Run ``work(ready)`` in a child that exits with what it returns; it calls ``ready()`` once it
        serves. ``restarts``: how often it is started again where a signal kills it."""
        self._work[name], self._restarts[name] = work, restarts
        self._unready.add(name)
        self._start(name)

    def _start(self, name: str) -> None:
        parent = os.getpid()
        ear, mouth = os.pipe()
        os.set_blocking(ear, False)
        os.set_blocking(mouth, False)
        pid = os.fork()
        if pid:
            os.close(ear)
            self._names[pid], self._mouths[pid] = name, mouth
            _pass_on(mouth, self._told)
            return
        status = _CRASHED
        try:
            _bind_life_to(parent)
            for descriptor in (self._ready_out, mouth, *self._mouths.values()):
                os.close(descriptor)
            self.ear = ear
            status = self._work[name](self._say_ready)
        except BaseException:
            _log.exception("%s crashed", name)
        finally:
            logging.shutdown()
            os._exit(status)

    def _say_ready(self) -> None:
        os.write(self._ready_in, _PID.pack(os.getpid()))
        os.close(self._ready_in)

    def wait(self, on_ready: Callable[[], None]) -> int:
        """Until all children have ended; ``on_ready()`` is called once all of them serve."""
        with _signals() as signals:
            while self._names or self._due:
                watched = [signals]
                if self._unready:
                    watched.append(self._ready_out)
                if self._news is not None:
                    watched.append(self._news)
                patience = max(0.0, min(60.0, min([self._kill_at, *self._due.values()]) - time.monotonic()))
                readable, _, _ = select.select(watched, [], [], patience)
                if self._ready_out in readable:
                    self._hear(os.read(self._ready_out, _PID.size * len(self._names)), on_ready)
                if self._news in readable:
                    self._hear_news(self._news)
                if signals in readable:
                    self._obey(os.read(signals, 64))
                self._reap()
                self._kill_if_due()
                self._start_if_due()
        os.close(self._ready_out)
        os.close(self._ready_in)
        return self._status or 0

    def _hear(self, news: bytes, on_ready: Callable[[], None]) -> None:
        """Children are ready."""
        was_unready = bool(self._unready)
        self._unready -= {self._names.get(pid, "") for (pid,) in _PID.iter_unpack(news)}
        if was_unready and not self._unready:
            on_ready()

    def _hear_news(self, news: int) -> None:
        try:
            data = os.read(news, _CHUNK)
        except OSError:
            data = b""
        self._told += data
        for mouth in self._mouths.values():
            _pass_on(mouth, data)
        if not data:
            self._news = None  # nobody speaks any more

    def _start_if_due(self) -> None:
        for name in [name for name, due in self._due.items() if time.monotonic() >= due]:
            del self._due[name]
            self._start(name)

    def _obey(self, numbers: bytes) -> None:
        for number in numbers:
            if number in _ENDING and self._status is None:  # once, however many come
                self._end(128 + number)
                _say(logging.WARNING, "%s: ends its pservers", signal.Signals(number).name)

    def _kill_if_due(self) -> None:
        if time.monotonic() >= self._kill_at:
            self._signal(signal.SIGKILL)
            self._kill_at = time.monotonic() + _GRACE_S

    def _reap(self) -> None:
        for pid in list(self._names):
            done, wait_status = os.waitpid(pid, os.WNOHANG)
            if done:
                os.close(self._mouths.pop(pid))
                self._ended(self._names.pop(pid), pid, os.waitstatus_to_exitcode(wait_status))

    def _ended(self, name: str, pid: int, code: int) -> None:
        if not code:
            return None
        if code < 0 and self._restarts[name] and self._status is None:
            self._restarts[name] -= 1
            self._pauses[name] = min(2 * self._pauses.get(name, _FIRST_PAUSE_S / 2), _LONGEST_PAUSE_S)
            self._due[name] = time.monotonic() + self._pauses[name]
            again = f"is started again in {self._pauses[name]:g} s, and {self._restarts[name]} times more"
            self._on_restart(name, f"its process {pid} {_how(code)}; it {again}")
            return _say(logging.WARNING, "%s: its process %d %s; it %s", name, pid, _how(code), again)
        _say(logging.ERROR, "%s (process %d) ended with %d", name, pid, code)
        if self._status is None and (code < 0 or code == _CRASHED):
            self._on_death(name, f"its process {pid} {_how(code)}")
        return self._end(code if code > 0 else 128 - code)

    def _end(self, status: int) -> None:
        """End the children that are left; the first reason gives the status."""
        self._due.clear()
        if self._status is None:
            self._status = status
            self._kill_at = time.monotonic() + _GRACE_S
            self._signal(signal.SIGTERM)

    def _signal(self, number: int) -> None:
        for pid in self._names:
            os.kill(pid, number)  # not reaped yet, so the id is still its own


def _pass_on(mouth: int, data: bytes) -> None:
    with contextlib.suppress(OSError):  # it has ended
        os.write(mouth, data)


def _how(code: int) -> str:
    return (
        f"was killed by {signal.Signals(-code).name}" if code < 0 else "crashed; its traceback is in the log"
    )


def _say(level: int, text: str, *about: object) -> None:
    """Log, unless standard error is a pipe that is full: then waiting for room could be for ever."""
    with contextlib.suppress(OSError):  # there is no standard error
        if not select.select([], [_STANDARD_ERROR], [], 0)[1]:
            return
    _log.log(level, text, *about)


def _bind_life_to(parent: int) -> None:
    """In a child: die with the parent; leave to it what a terminal sends to all."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(_CRASHED)
    signal.set_wakeup_fd(-1)  # the parent's, in a child that is started again
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    for number in (signal.SIGTERM, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)


def _heard() -> list[signal.Signals]:
    """What ``wait`` is to hear of."""
    under_nohup = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    return [number for number in (*_ENDING, signal.SIGCHLD) if number != signal.SIGHUP or not under_nohup]


@contextlib.contextmanager
def _signals() -> Iterator[int]:
    """A descriptor from which the numbers of arriving signals are read."""
    out, into = os.pipe()
    os.set_blocking(into, False)
    before = {number: signal.signal(number, lambda *_: None) for number in _heard()}
    wakeup = signal.set_wakeup_fd(into, warn_on_full_buffer=False)
    try:
        yield out
    finally:
        signal.set_wakeup_fd(wakeup)
        for number, handler in before.items():
            signal.signal(number, handler)
        os.close(out)
        os.close(into)
