"""Failing disk: system calls of a real process, and of its children, that fail when the test says so.

A seccomp filter hands every fsync and rename to the test, which lets it go on or has it fail; so nothing of
the process is changed, and neither root nor a debugger is needed. Linux on x86_64 and aarch64.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import os
import platform
import select
import socket
import struct
import threading
from collections import Counter
from collections.abc import Callable, Iterator

_CALLS = {
    "x86_64": (0xC000003E, {74: "fsync", 82: "rename", 264: "rename", 316: "rename"}),
    "aarch64": (0xC00000B7, {82: "fsync", 38: "rename", 276: "rename"}),
}
_PR_SET_NO_NEW_PRIVS = 38
_SECCOMP = {"x86_64": 317, "aarch64": 277}
_SET_MODE_FILTER, _NEW_LISTENER = 1, 1 << 3
_ALLOW, _ASK = 0x7FFF0000, 0x7FC00000
_NOTIFICATION = struct.Struct("<QIIiIQ6Q")  # id, pid, flags; number, architecture, pointer, arguments
_REPLY = struct.Struct("<QqiI")  # id, value, error, flags
_RECEIVE, _SEND = 0xC0502100, 0xC0182101
_CONTINUE = 1

Fails = Callable[[int, str, int], bool]
"""Whether a call fails: of which process, which one, and how many were made before it by all of them."""


def _program() -> bytes:
    """Load the architecture, then the number of the call; ask for those of interest."""
    architecture, calls = _CALLS[platform.machine()]
    load, equal, leave = 0x20, 0x15, 0x06
    lines = [(load, 0, 0, 4), (equal, 0, len(calls) + 1, architecture), (load, 0, 0, 0)]
    lines += [(equal, len(calls) - at, 0, number) for at, number in enumerate(calls)]
    lines += [(leave, 0, 0, _ALLOW), (leave, 0, 0, _ASK)]
    return b"".join(struct.pack("<HBBI", *line) for line in lines)


def _begin(sender: socket.socket) -> None:
    """In the process that is to be watched, before it becomes another program."""
    libc = ctypes.CDLL(None, use_errno=True)
    code = ctypes.create_string_buffer(_program())
    program = struct.pack("<HxxxxxxQ", len(code.raw) // 8, ctypes.addressof(code))
    libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    number = _SECCOMP[platform.machine()]
    listener = libc.syscall(number, _SET_MODE_FILTER, _NEW_LISTENER, ctypes.create_string_buffer(program))
    if listener < 0:
        raise OSError(ctypes.get_errno(), "seccomp")
    socket.send_fds(sender, [b"."], [listener])
    os.close(listener)


class FailingDisk:
    """``begin`` is for ``preexec_fn`` of one process. ``calls``: how many there were; ``failed``: of which
    kind failed."""

    def __init__(self, fails: Fails) -> None:
        self.calls = 0
        self.failed: Counter[str] = Counter()
        self._fails = fails
        self._receiver, self._sender = socket.socketpair()
        self._over, self._end = os.pipe()
        self._thread = threading.Thread(target=self._run, name="failing disk", daemon=True)
        self._thread.start()

    def begin(self) -> None:
        _begin(self._sender)

    def close(self) -> None:
        os.close(self._end)
        self._thread.join()
        for end in (self._receiver, self._sender):
            end.close()
        os.close(self._over)

    def _run(self) -> None:
        select.select([self._receiver, self._over], [], [])
        if not select.select([self._receiver], [], [], 0)[0]:
            return
        _, (listener,), _, _ = socket.recv_fds(self._receiver, 1, 1)
        try:
            while not self._is_over(listener):
                with contextlib.suppress(FileNotFoundError):  # whoever called was killed meanwhile
                    self._decide(listener)
        finally:
            os.close(listener)

    def _is_over(self, listener: int) -> bool:
        poll = select.poll()
        poll.register(listener, select.POLLIN)
        poll.register(self._over, select.POLLIN)
        events = dict(poll.poll())
        return self._over in events or bool(events.get(listener, 0) & select.POLLHUP)

    def _decide(self, listener: int) -> None:
        raw = bytearray(_NOTIFICATION.size)
        fcntl.ioctl(listener, _RECEIVE, raw)
        id, pid, _, number, *_ = _NOTIFICATION.unpack(raw)
        name = _CALLS[platform.machine()][1][number]
        fails = self._fails(pid, name, self.calls)
        self.calls += 1
        self.failed[name] += fails
        reply = _REPLY.pack(id, 0, -errno.EIO if fails else 0, 0 if fails else _CONTINUE)
        fcntl.ioctl(listener, _SEND, bytearray(reply))


@contextlib.contextmanager
def failing_disk(fails: Fails) -> Iterator[FailingDisk]:
    disk = FailingDisk(fails)
    try:
        yield disk
    finally:
        disk.close()
