"""Sends a folder of this node to the launcher: logs, a model. Files may grow and shrink meanwhile.

It reads a line of JSON, {"folder"}, on standard input, and answers (answers.py)

    {"kind": "none", "instead"}                               there is no such folder, and nothing follows;
                                                              instead: the path, where it is something else
    {"kind": "folder", "path", "mode", "mtime_ns"}            path: below the folder
    {"kind": "link", "path", "target"}
    {"kind": "special", "path"}                               neither file nor folder: not sent
    {"kind": "file", "path", "mode", "mtime_ns", "size"}      behind it the bytes
    {"kind": "end"}                                           that was all

The bytes of a file come in pieces, each behind its length (4 bytes, most significant first); a length of 0
ends them, ``BROKEN`` says that the rest could not be read. Guarantee: no more of a file is sent than it had
when it was begun, and no link is followed.
"""

from __future__ import annotations

import json
import os
import signal
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from .answers import line_of
from .killer import PATIENCE_S
from .role import CHUNK

BROKEN = (1 << 32) - 1
_PIECE = CHUNK * 4


def main() -> int:
    """Send the folder that was asked for."""
    signal.alarm(PATIENCE_S)
    order = json.loads(sys.stdin.readline())
    with os.fdopen(sys.stdout.fileno(), "wb", buffering=_PIECE, closefd=False) as out:
        send(Path(order["folder"]), out, lambda: signal.alarm(PATIENCE_S))
    return 0


def send(folder: Path, out: BinaryIO, go_on: Callable[[], object] = lambda: None) -> None:
    """Send a folder; ``go_on`` is called before every piece, which may be the last that is waited for."""
    if not folder.is_dir():
        _say(out, kind="none", instead=str(folder) if folder.exists() else "")
        return
    _send_below(folder, "", out, go_on)
    _say(out, kind="end")


def _send_below(folder: Path, prefix: str, out: BinaryIO, go_on: Callable[[], object]) -> None:
    for path in sorted(folder.iterdir()):
        name = f"{prefix}{path.name}"
        try:
            status = path.lstat()
        except FileNotFoundError:  # meanwhile
            continue
        mode = stat.S_IMODE(status.st_mode)
        if stat.S_ISDIR(status.st_mode):
            _say(out, kind="folder", path=name, mode=mode, mtime_ns=status.st_mtime_ns)
            _send_below(path, f"{name}/", out, go_on)
        elif stat.S_ISLNK(status.st_mode):
            _say(out, kind="link", path=name, target=os.readlink(path))  # noqa: PTH115  as it is written
        elif stat.S_ISREG(status.st_mode):
            _send_file(path, name, out, go_on)
        else:
            _say(out, kind="special", path=name)


def _send_file(path: Path, name: str, out: BinaryIO, go_on: Callable[[], object]) -> None:
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return
    try:
        status = os.fstat(file)
        mode, left = stat.S_IMODE(status.st_mode), status.st_size
        _say(out, kind="file", path=name, mode=mode, mtime_ns=status.st_mtime_ns, size=left)
        while left and (data := os.read(file, min(left, _PIECE))):
            go_on()
            out.write(len(data).to_bytes(4, "big"))
            out.write(data)
            left -= len(data)
        out.write(b"\0\0\0\0")
    except OSError:
        out.write(BROKEN.to_bytes(4, "big"))
    finally:
        os.close(file)


def _say(out: BinaryIO, **words: object) -> None:
    out.write(line_of(words))
