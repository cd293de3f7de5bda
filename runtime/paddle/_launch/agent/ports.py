"""Ports of a node: whether each could be listened on, by whom it is held, and whether others reach it.

It must never know what will be served there. What listens here meanwhile serves nobody: it says one word, by
which who dials knows that it reached the node that it meant, and closes.

Guarantee: with the process that asks, all of it is gone.
"""

from __future__ import annotations

import contextlib
import errno
import os
import socket
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

_BACKLOG = 1024
_LISTENING = "0A"  # as /proc/net/tcp writes the state
_LONGEST = 160  # of a command line that is shown
_AT_ONCE = 64
_WORD_S = 1.0
_GONE = "a process that has ended meanwhile, or that this user may not look into"


class Listeners:
    """Listens on ports for a while. ``word``: what it says to who dials."""

    def __init__(self, word: str) -> None:
        self._word = word.encode()

    def open(self, address: str, port: int) -> dict[str, Any]:
        """Listen, and say whether that could be done: {"address", "port", "state", "text", "pid"}, the state
        ``free``, ``taken`` or ``refused``."""
        found = {"address": address, "port": port, "state": "free", "text": "", "pid": 0}
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((address, port))
            listener.listen(_BACKLOG)
        except OSError as error:
            listener.close()
            if error.errno != errno.EADDRINUSE:
                return {**found, "state": "refused", "text": error.strerror or str(error)}
            pid, text = _holder(port)
            return {**found, "state": "taken", "text": text, "pid": pid}
        threading.Thread(target=self._answer, args=(listener,), daemon=True).start()
        return found

    def _answer(self, listener: socket.socket) -> None:
        while True:
            with contextlib.suppress(OSError):  # whoever dialled has gone again
                peer, _ = listener.accept()
                with peer:
                    peer.sendall(self._word)


def dial(wanted: Iterable[Any], patience_s: float) -> list[dict[str, Any]]:
    """Try to reach others: of each [name, port] give {"name", "port", "state", "word", "text"}; the state is
    ``open``, ``silent`` where nothing came back, or ``closed``."""
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return list(pool.map(lambda one: _dial(str(one[0]), int(one[1]), patience_s), wanted))


def _dial(name: str, port: int, patience_s: float) -> dict[str, Any]:
    found = {"name": name, "port": port, "state": "open", "word": "", "text": ""}
    try:
        with socket.create_connection((name, port), patience_s) as peer:
            return {**found, "word": _word(peer)}
    except TimeoutError:
        return {**found, "state": "silent", "text": f"no answer within {patience_s:.0f} s"}
    except OSError as error:
        return {**found, "state": "closed", "text": error.strerror or str(error)}


def _word(peer: socket.socket) -> str:
    """What whoever listens there says first, if anything: it may be somebody else."""
    peer.settimeout(_WORD_S)
    with contextlib.suppress(OSError):
        return peer.recv(64).decode("ascii", "replace")
    return ""


def _holder(port: int) -> tuple[int, str]:
    sockets = {f"socket:[{inode}]" for inode in _listening(port)}
    for process in Path("/proc").glob("[0-9]*"):
        if sockets & set(_open_files(process)):
            return int(process.name), f"process {process.name} ({command(process)})"
    return 0, _GONE


def _listening(port: int) -> Iterator[str]:
    tables = [table for table in (Path("/proc/net/tcp"), Path("/proc/net/tcp6")) if table.exists()]
    for line in (line for table in tables for line in table.read_text().splitlines()[1:]):
        fields = line.split()
        if fields[3] == _LISTENING and int(fields[1].rpartition(":")[2], 16) == port:
            yield fields[9]


def _open_files(process: Path) -> Iterator[str]:
    with contextlib.suppress(OSError):  # the process ended meanwhile, or is another user's
        for entry in os.scandir(process / "fd"):
            with contextlib.suppress(OSError):  # so did the descriptor
                yield os.readlink(entry.path)  # noqa: PTH115  as text, thousands of them


def command(process: Path) -> str:
    """Its command line in one short line: arguments may hold whole programs, and what a screen obeys."""
    try:
        text = (process / "cmdline").read_bytes().decode(errors="replace")
    except OSError:
        return "unknown"
    line = " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}..."
