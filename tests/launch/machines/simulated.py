"""Nodes that are simulated, as many as a test wants: what SSH would carry goes to threads of this process.

All of the launcher is real but the two libraries that speak SSH. Of a node the receiver of dispatches is real
and writes to a folder of its own; its agent and its roles are words only.
"""

from __future__ import annotations

import json
import re
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec import to_builtins

from paddle._launch.agent.answers import line_of
from paddle._launch.agent.premises import look
from paddle._launch.agent.receiver import Cut, Receiver, Source
from paddle._launch.backends import carrier
from paddle._launch.launch import Launch
from paddle._launch.machines import transport, ways
from paddle._launch.plan import LaunchPlan
from paddle._launch.settings import Host
from tests.launch.nodes.visits import SEEN
from tests.launch.test_launch import Silent
from tests.waiting import PATIENCE_S

CALLED = re.compile(r"\((\d+), .*, '([\w.]+)'\)\)")  # Python 3.11 parses in one thread at a time only
BELONGING = {
    "kind": "job",
    "path": "JOB20260101000000",
    "number": 7,
    "size": 1000,
    "used_s": 1e9,
    "need": "",
    "who": "",
    "holds": [],
}
NODES = 64
NAME = "simulated"  # of the threads that are no launcher's
FACTS = {
    "python": "/usr/bin/python3",
    "version": [3, 11, 2],
    "packages": dict.fromkeys(("aiohttp", "msgspec", "numpy", "xxhash"), "99")
    | dict.fromkeys(("cryptography", "numba"), "99"),
    "is_there": False,
    "has_program": False,
    "has_runtime": False,
    "ground": "/srv",
    "is_writable": True,
    "free": 1 << 40,
    "free_files": None,
    "devices": {"eth0": "10.0.0.1"},
}


class Net:
    """All nodes. ``folder``: has a disk of each. ``on``: called with a node's name and what begins there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.on: Callable[[str, str], None] = lambda _node, _what: None
        self.opens: Callable[[str], None] = lambda _node: None  # raises, or waits, as connecting does
        self.lies: dict[tuple[str, str], Callable[[Program], None]] = {}  # node, entry: what it does instead
        self.begun: list[tuple[str, str]] = []
        self.opening = self.most_opening = self.most_threads = 0
        self._lock = threading.Lock()

    def install(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Have all connections lead here."""
        monkeypatch.setattr(ways, "connection", lambda host, _: _Connection(self, host))
        monkeypatch.setattr(ways, "hops", lambda connection: iter([connection]))
        monkeypatch.setattr(transport, "_is_stuck", lambda _: False)

    def disk(self, node: str) -> Path:
        return self.folder / node

    def files(self) -> list[Path]:
        """All that is on any disk."""
        return list(self.folder.rglob("*"))

    def count(self, opening: int = 0) -> None:
        """Look at how much the launcher uses now."""
        with self._lock:
            self.opening += opening
            self.most_opening = max(self.most_opening, self.opening)
            own = [one for one in threading.enumerate() if not one.name.startswith(NAME)]
            self.most_threads = max(self.most_threads, len(own))

    def begin(self, node: str, what: str) -> None:
        with self._lock:
            self.begun.append((node, what))
        self.on(node, what)


class _Connection:
    """One to a node, as Fabric's."""

    def __init__(self, net: Net, host: Host) -> None:
        self._net = net
        self.host, self.user, self.port, self.gateway = host.name, host.user, 22, None
        self.connect_kwargs = {"allow_agent": False, "look_for_keys": False}
        self.is_connected = False
        self.closed = threading.Event()
        self.client = self.transport = self.sock = self

    def open(self) -> None:
        self._net.count(opening=1)
        try:
            self._net.opens(self.host)
            if self.closed.is_set():
                raise EOFError
            self.is_connected = True
        finally:
            self._net.count(opening=-1)

    def open_session(self, **_: object) -> _Channel:
        return _Channel(self._net, self.host, self)

    def get_remote_server_key(self) -> _Connection:
        return self

    def get_name(self) -> str:
        return "ssh-ed25519"

    fingerprint = "SHA256:x"

    def join(self, _: float) -> None:
        """As of Paramiko's thread: there is none."""

    def close(self) -> None:
        self.is_connected = False
        self.closed.set()


class _Channel:
    """A program on a node, as Paramiko's."""

    def __init__(self, net: Net, node: str, connection: _Connection) -> None:
        self._net, self._node = net, node
        self.transport = connection
        self.status_event = threading.Event()
        self.exit_status = -1
        self._near, self._far = socket.socketpair()

    def exec_command(self, _: str) -> None:
        threading.Thread(target=self._work, name=f"{NAME} {self._node}", daemon=True).start()

    def _work(self) -> None:
        with self._far:
            program = Program(self._net, self._node, self._far)
            self.exit_status = program.run()
            self.status_event.set()

    def settimeout(self, seconds: float | None) -> None:
        self._near.settimeout(seconds)

    def set_combine_stderr(self, _: bool) -> None:
        """There is none."""

    def sendall(self, data: bytes) -> None:
        self._near.sendall(data)

    def recv(self, most: int) -> bytes:
        self._net.count()
        return self._near.recv(most)

    def recv_stderr_ready(self) -> bool:
        return False

    def shutdown_write(self) -> None:
        self._near.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        try:
            self._near.shutdown(socket.SHUT_RDWR)
        except OSError:
            return  # it is closed


class Program:
    """What runs there: a module of the agent, or what pretends to be one."""

    def __init__(self, net: Net, node: str, far: socket.socket) -> None:
        self._net, self._node, self._far = net, node, far
        self._source = Source(far.fileno())
        self._source.patience_s = 60.0

    def run(self) -> int:
        try:
            self._act(self._entry())
        except (OSError, EOFError, Cut):
            return -1
        return 0

    def _entry(self) -> str:
        while self._source.line():
            pass  # names of Pythons
        size = int(self._source.exactly(8))
        self._source.exactly(32)
        call = self._source.exactly(size).rsplit(b"run(r.read, *", 1)[1].strip()
        size, entry = CALLED.fullmatch(call.decode()).groups()  # type: ignore[union-attr]
        self._source.exactly(int(size))
        return entry

    def _act(self, entry: str) -> None:
        self._net.begin(self._node, entry)
        if lie := self._net.lies.get((self._node, entry)):
            lie(self)
            return
        acts: dict[str, Callable[[], None]] = {
            "agent.cleaner": self._clean,
            "agent.installer": lambda: self.answer(done=bool(self.order())),
            "agent.premises": lambda: self.answer(**look(Path(self.order()["root"]))),
            "agent.probe": self._probe,
            "agent.survey": self._survey,
            "agent.receiver": self._receive,
            "agent.halves": self._pretend,
            "agent.sender": lambda: self.answer(kind="none"),
            "agent.remover": lambda: None,
        }
        acts[entry]()

    def order(self) -> Any:
        """The next one that is heard."""
        return json.loads(self._source.line())

    def answer(self, **words: object) -> None:
        """Answer, as programs do."""
        self.say(line_of(words))

    def say(self, data: bytes) -> None:
        """Say anything."""
        self._far.sendall(data)

    def _say(self, **words: object) -> None:
        """Say a frame, as agents do."""
        self.say(json.dumps(words).encode() + b"\n")

    def _clean(self) -> None:
        if self.order()["remove"] is None:
            self.answer(belonging=BELONGING)
        else:
            self.answer(removed=BELONGING["path"], size=BELONGING["size"])

    def _survey(self) -> None:
        """All nodes are one that has nothing to hide, but each another."""
        answers = {
            "look": lambda: {**to_builtins(SEEN), "network": self._node},
            "clock": lambda: {"now": time.time()},
            "dial": lambda: {"dialled": []},
        }
        while True:
            self.answer(**answers[self.order()["do"]]())

    def _probe(self) -> None:
        names = self.order()["names"]
        addresses = {name: [FACTS["devices"]["eth0"]] for name in names}  # type: ignore[index]
        self.answer(**FACTS, addresses=addresses)

    def _receive(self) -> None:
        order = self.order()
        for name in ("root", "place"):
            order[name] = f"{self._net.disk(self._node)}{order[name]}"
        source = _Preset(self._far.fileno(), json.dumps(order).encode() + b"\n", self._source)
        Receiver(source, self._far.fileno(), 1e9).run()

    def _pretend(self) -> None:
        """An agent whose pservers are ready at once, and whose trainers are done at once."""
        self._say(event="begun", pid=1, start=1)
        while line := self._source.line():
            match json.loads(line):
                case {"do": "plan"}:
                    self._say(event="up")
                case {"do": "start", "role": str(role)} if role.startswith("pserver"):
                    self._say(event="report", role=role, report={"report": "ready"})
                case {"do": "start", "role": role}:
                    self._say(event="exit", role=role, status=0)
                case {"do": "stop"}:
                    self._say(event="ended", why="asked by the launcher")
                    return


class _Preset(Source):
    """A source that goes on behind a line that was read already."""

    def __init__(self, descriptor: int, line: bytes, before: Source) -> None:
        super().__init__(descriptor)
        self._rest: Any = line + before._rest


class Running:
    """A launch in a thread."""

    def __init__(self, plan: LaunchPlan, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("paddle._launch.launch._signals_to", lambda _: threading.Lock())
        self.before = threading.active_count()
        self.launch = Launch(plan, Silent(), carrier)  # type: ignore[arg-type]
        self._thread = threading.Thread(target=self.launch.run, daemon=True)
        self._thread.start()

    def end(self) -> Launch:
        self._thread.join(PATIENCE_S)
        assert not self._thread.is_alive()
        return self.launch
