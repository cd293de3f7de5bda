"""A node's end of a bridge: what mpirun starts once on every node, so that the launcher can speak with it.

It calls the launcher, and starts whatever command the launcher then names, as sshd would. Its text is an
argument of mpirun, and whom to call a variable: only rank 0 of an MPI job has a standard input. It must never
know what the commands are for.

Guarantee: who does not know the job's secret is told nothing, and nothing is taken from who cannot show the
job's certificate. When the launcher is gone, or says nothing for ``SILENCE_S``, this ends, and with it the
standard input of all that it has started.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import socket
import ssl
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from typing import IO, Any

HEAD = struct.Struct("!BI")  # of a frame: its kind, and how many bytes follow
DATA, ERRORS, END, STATUS = range(4)
SILENCE_S = 30.0
CALL = "PADDLE_BRIDGE"
_CHUNK = 1 << 16
_PATIENCE_S, _TRY_S, _PAUSE_S = 20.0, 5.0, 0.2
_HEAD_OF_OPEN_MPI = "OMPI_MCA_orte_hnp_uri"  # ...;tcp://10.0.0.1,10.1.0.1:34323, the head's addresses


class Bridge:
    """This end. ``call``: port, secret, certificate, addresses of the head, names of all nodes."""

    def __init__(self, call: Mapping[str, Any]) -> None:
        self._call = call
        self._context = ssl.create_default_context(cadata=call["authority"])
        self._context.check_hostname = False  # whom it is for, is whoever has the key
        self._heads = _heads(os.environ.get(_HEAD_OF_OPEN_MPI, "")) + call["heads"]
        self._node = _own(call["nodes"], int(os.environ.get("OMPI_COMM_WORLD_RANK", "0")))

    def run(self) -> None:
        """Do what the launcher says until it is gone."""
        control = self._dial({"node": self._node})
        control.settimeout(SILENCE_S)
        for line in control.makefile("r"):
            said = json.loads(line)
            if "begin" in said:
                threading.Thread(target=self._begin, args=[said], daemon=True).start()

    def _dial(self, hello: Mapping[str, Any]) -> ssl.SSLSocket:
        """A line to the launcher, which is told what it is for."""
        end, why = time.monotonic() + _PATIENCE_S, "it has no address"
        while True:
            for head in self._heads:
                try:
                    plain = socket.create_connection((head, self._call["port"]), _TRY_S)
                    plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    line = self._context.wrap_socket(plain)
                    line.sendall(json.dumps(dict(hello, secret=self._call["secret"])).encode() + b"\n")
                    line.settimeout(None)
                    return line
                except OSError as error:
                    why = f"{head} port {self._call['port']}: {error}"
            if time.monotonic() > end:
                sys.exit(f"no way from here to the launcher: {why}")
            time.sleep(_PAUSE_S)

    def _begin(self, said: Mapping[str, Any]) -> None:
        """Start a command; its input and what it prints go by a line each."""
        number, errors_too = said["begin"], said["errors_too"]
        come = self._dial({"node": self._node, "stream": number, "way": "in"})
        go = self._dial({"node": self._node, "stream": number, "way": "out"})
        process = subprocess.Popen(
            ["/bin/sh", "-c", said["command"]],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if errors_too else subprocess.PIPE,
            env={name: text for name, text in os.environ.items() if name != CALL},
        )
        threading.Thread(target=_feed, args=[come, process], daemon=True).start()
        turn = threading.Lock()
        errors = threading.Thread(target=_tell, args=[process.stderr, go, ERRORS, turn], daemon=True)
        if not errors_too:
            errors.start()
        _tell(process.stdout, go, DATA, turn)
        status = process.wait()
        if not errors_too:
            errors.join(_PAUSE_S)  # who else holds its standard error goes on without us
        with turn, contextlib.suppress(OSError):
            go.sendall(HEAD.pack(STATUS, 4) + struct.pack("!i", status))
        go.close()
        come.close()


def _feed(come: ssl.SSLSocket, process: subprocess.Popen[bytes]) -> None:
    """Hand on to a program what the launcher says to it."""
    assert process.stdin
    frames = come.makefile("rb")
    with contextlib.suppress(OSError, ValueError):
        while True:
            head = frames.read(HEAD.size)
            kind, size = HEAD.unpack(head) if len(head) == HEAD.size else (END, 0)
            if kind == END:
                break
            process.stdin.write(frames.read(size))
            process.stdin.flush()
    with contextlib.suppress(OSError):
        process.stdin.close()


def _tell(pipe: IO[bytes] | None, go: ssl.SSLSocket, kind: int, turn: threading.Lock) -> None:
    """Hand on what a program prints; once the launcher does not listen any more, the pipe breaks."""
    assert pipe
    with pipe, contextlib.suppress(OSError):
        while data := os.read(pipe.fileno(), _CHUNK):
            with turn:
                go.sendall(HEAD.pack(kind, len(data)) + data)


def _heads(uri: str) -> list[str]:
    found = re.search(r"tcp://([^:;]+):", uri)
    return found.group(1).split(",") if found else []


def _own(nodes: Sequence[str], rank: int) -> int:
    """Which node this is: the one whose address can be bound here, or as mpirun counts."""
    for number, name in enumerate(nodes):
        try:
            family, kind, _, _, address = socket.getaddrinfo(name, 0, type=socket.SOCK_STREAM)[0]
            if str(address[0]).startswith("127."):
                continue
            with socket.socket(family, kind) as listener:
                listener.bind(address)
            return number
        except OSError:
            continue
    return rank


def main() -> None:
    """Run one."""
    with contextlib.suppress(OSError, ValueError):  # the launcher is gone
        Bridge(json.loads(os.environ[CALL])).run()
    os._exit(0)  # whatever still runs here has its standard input from this
