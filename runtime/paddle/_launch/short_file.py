"""A short file that a user names, settings or a list of machines: what is no such file is not read for ever.

It must never know what is in it. Guarantee: a device without an end, a file of gigabytes and a pipe that
nobody writes to are refused after some seconds; a pipe that somebody holds to write to it, however slowly, is
read to its end.
"""

from __future__ import annotations

import errno
import os
import select
from pathlib import Path

_MOST = 1 << 22
_CHUNK = 1 << 16
_PATIENCE_S = 10.0


def read(path: Path, patience_s: float = _PATIENCE_S) -> bytes:
    """Read all of it. Raises OSError, whose ``strerror`` says what it is instead."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        found = bytearray()
        while data := _next(descriptor, patience_s):
            found += data
            if len(found) > _MOST:
                raise OSError(errno.EFBIG, f"it has more than {_MOST:,} bytes")
        return bytes(found)
    finally:
        os.close(descriptor)


def _next(descriptor: int, patience_s: float) -> bytes:
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    while True:
        has_come = poll.poll(patience_s * 1000)
        try:
            data = os.read(descriptor, _CHUNK)
        except BlockingIOError:  # somebody will write
            continue
        if not data and not has_come:
            raise OSError(errno.ETIMEDOUT, f"nobody has written to it for {patience_s:g} s")
        return data
