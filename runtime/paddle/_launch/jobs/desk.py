"""The desk of a launch: keeps its record, and answers who comes to its socket, from whatever shell.

Who comes says, as JSON, a line each, and hears, likewise,

    {"ask": "state"}                          {"event": "state", "state": {...}}      record.py: State
    {"ask": "stop", "grace_s", "kill", "by"}  {"event": "asked"}
    {"ask": "follow"}                         all news from the first that is kept (bulletins.py), to the end
    {"ask": "lines"}                          likewise, what roles print, and nothing else
                                              {"event": "now"}: that was what had been told before
                                              {"event": "missed", "count"}: so many came too early, or fast
                                              {"event": "beat"}: nothing new, every second

It must never decide: what is asked of the launch becomes an event, which the supervisor obeys.

Guarantee: the launch waits for nobody here, neither for a caller nor for the disk of the record. Only its own
user, and root, can come; no more than ``MOST_CALLERS`` at a time.
"""

from __future__ import annotations

import contextlib
import os
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from paddle._launch import bulletins
from paddle._launch.board import Board, rows_of
from paddle._launch.events import Event, StopAsked
from paddle._launch.jobs.chronicle import Chronicle
from paddle._launch.jobs.record import Record, State, write_record, write_state
from paddle._launch.news import Bulletin, Ended, Entered, Failed, Printed

SOCKET = "desk"
MOST_CALLERS = 16
LONGEST_GRACE_S = 3600.0
_LONGEST_ASKED = 1 << 16
_PATIENCE_S = 60.0  # for a caller that does not say or take anything
_BEAT_S = 1.0
_WRITES_S = 0.5  # between two of how the launch stands, in one phase
_LAST_WRITE_S = 2.0
_CREDENTIALS = struct.Struct("3i")


class Asked(msgspec.Struct, frozen=True):
    """What a caller says."""

    ask: str
    grace_s: float | None = None
    kill: bool = False
    by: str = ""


class Desk:
    """See the module's text. ``folder``: of the record, this launch's own. Raises OSError where nothing can
    be kept there."""

    def __init__(self, folder: Path, record: Record, clock: Callable[[], float] = time.time) -> None:
        self._folder, self._clock = folder, clock
        self._chronicle, self._printed = Chronicle(), Chronicle()
        self._board = Board(rows_of(record.plan))
        self._phase, self._since = "begins", clock()
        self._failed: Failed | None = None
        self._ended: Ended | None = None
        self._ask: Callable[[Event], None] = lambda event: None
        self._changed = threading.Condition()
        self._is_new = self._is_urgent = True
        self._callers = threading.Semaphore(MOST_CALLERS)
        write_record(folder, record)
        write_state(folder, self._state())
        self._socket = _listen(folder)
        self._clerk = threading.Thread(target=self._keep, daemon=True)

    def open(self, ask: Callable[[Event], None]) -> None:
        """Serve from now on."""
        self._ask = ask
        self._clerk.start()
        threading.Thread(target=self._welcome, daemon=True).start()

    def tell(self, bulletin: Bulletin) -> None:
        """Take news of the launch."""
        now = self._clock()
        with self._changed:
            self._board.take(bulletin)
            match bulletin:
                case Entered(phase):
                    self._phase, self._since, self._is_urgent = phase, now, True
                case Failed():
                    self._failed = bulletin
                case Ended():
                    self._ended = bulletin
            if not isinstance(bulletin, Printed):
                self._is_new = True
                self._changed.notify_all()
        shelf = self._printed if isinstance(bulletin, Printed) else self._chronicle
        shelf.tell(bulletin, now)

    def close(self) -> None:
        """The launch is over, which was told. What is kept lasts; who still listens hears the end."""
        self._chronicle.close()
        self._printed.close()
        with self._changed:
            self._changed.notify_all()
        if self._clerk.ident is None:  # nobody was ever welcome
            with contextlib.suppress(OSError):
                write_state(self._folder, self._state())
        else:
            self._clerk.join(_LAST_WRITE_S)
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)  # wakes who accepts
            self._socket.close()
            (self._folder / SOCKET).unlink()

    def _state(self) -> State:
        ended = self._ended
        return State(
            phase=self._phase,
            since=round(self._since, 3),
            rows=tuple(self._board.rows()),
            waiting=self._board.waiting,
            failed=self._failed,
            exit_status=ended.status if ended else None,
            log=ended.log if ended else "",
            curve=ended.curve if ended else "",
            model=ended.model if ended else "",
            left=ended.left if ended else "",
        )

    def _keep(self) -> None:
        """Write how the launch stands, when that has changed, and not all the time."""
        is_over = False
        while not is_over:
            with self._changed:
                self._changed.wait_for(lambda: self._is_new)
                self._is_new = self._is_urgent = False
                state, is_over = self._state(), self._ended is not None
            with contextlib.suppress(OSError):  # a full disk: the launch goes on, and its socket tells all
                write_state(self._folder, state)
            if not is_over:
                with self._changed:
                    self._changed.wait_for(lambda: self._is_urgent or self._ended is not None, _WRITES_S)

    # Who comes

    def _welcome(self) -> None:
        while True:
            try:
                caller, _ = self._socket.accept()
            except OSError:  # closed: the launch is over
                return
            if _is_known(caller) and self._callers.acquire(blocking=False):
                threading.Thread(target=self._serve, args=[caller], daemon=True).start()
            else:
                caller.close()

    def _serve(self, caller: socket.socket) -> None:
        caller.settimeout(_PATIENCE_S)
        trouble = (OSError, msgspec.MsgspecError, ValueError)
        try:
            with contextlib.suppress(*trouble), caller, caller.makefile("rb") as lines:
                self._converse(caller, lines)
        finally:  # whatever ended it, there is room for another
            self._callers.release()

    def _converse(self, caller: socket.socket, lines: BinaryIO) -> None:
        is_over = False
        while not is_over and (line := lines.readline(_LONGEST_ASKED)):
            asked = msgspec.json.decode(line, type=Asked)
            for answer in self._answers(asked):
                caller.sendall(answer.encode() + b"\n")
            is_over = asked.ask in ("follow", "lines")  # to the end

    def _answers(self, asked: Asked) -> Iterator[str]:
        match asked.ask:
            case "state":
                with self._changed:
                    state = self._state()
                yield bulletins.encoded({"event": "state", "state": state})
            case "stop":
                grace_s = None if asked.grace_s is None else min(max(asked.grace_s, 0.0), LONGEST_GRACE_S)
                self._ask(StopAsked(grace_s, is_killing=asked.kill, by=asked.by[:200]))
                yield bulletins.encoded({"event": "asked"})
            case "follow":
                yield from self._news(self._chronicle)
            case "lines":
                yield from self._news(self._printed)
            case other:
                yield bulletins.encoded({"event": "refused", "text": f"nothing is known of {other[:40]}"})

    def _news(self, chronicle: Chronicle) -> Iterator[str]:
        cursor, now = 0, chronicle.next
        while cursor >= 0:
            if cursor >= now:
                now = sys.maxsize
                yield bulletins.encoded({"event": "now"})
            news, cursor, missed = chronicle.since(cursor, _BEAT_S)
            if missed:
                yield bulletins.encoded({"event": "missed", "count": missed})
            yield from (bulletins.line(told.bulletin, told.time) for told in news)
            if not news and cursor >= 0:
                yield bulletins.encoded({"event": "beat"})


def _listen(folder: Path) -> socket.socket:
    """A socket that only this user can come to. Its path may be longer than the address of a socket."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    handle = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        path = f"/proc/self/fd/{handle}/{SOCKET}"
        listener.bind(path)
        os.chmod(path, 0o600)  # noqa: PTH101  a path of this process alone
        listener.listen(MOST_CALLERS)
    except OSError:
        listener.close()
        raise
    finally:
        os.close(handle)
    return listener


def _is_known(caller: socket.socket) -> bool:
    """Whether it is this user, or root."""
    told: Any = caller.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    return _CREDENTIALS.unpack(told)[1] in (0, os.geteuid())
