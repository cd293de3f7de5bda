"""What a test may ask of a cluster: programs at its places, faults, and what is left on its nodes.

A place is ``head``, where launchers run, or the name of a node. Back ends say how one gets to a place and how
faults are made; all the rest is here, so that a test never knows which back end it has.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import IO, Any, Self

from tests.lab import namespaces, partition
from tests.lab.home import Home
from tests.lab.processes import Process
from tests.waiting import PATIENCE_S, until

HEAD = "head"
USERS = ("root", "paddle")
PORTS = (22, 2222)  # sshd answers at both
FULL = "/var/full"  # what fills a disk
HEAD_ADDRESS = "10.77.255.254"


@dataclass(frozen=True)
class Node:
    """A machine to log in to."""

    name: str
    address: str
    users: tuple[str, ...] = USERS
    ports: tuple[int, ...] = PORTS


class Cluster(ABC):
    """Nodes by name, in their order. Leave it by ``with``: nothing is left of it then."""

    nodes: dict[str, Node]
    folder: Path  # of the cluster
    home: Home  # of the head
    key: Path  # which lets its owner in
    host_keys: dict[str, str]  # of nodes, as others see them
    shares: tuple[Path, ...] = ()  # folders of this machine that nodes are shown

    def __init__(self) -> None:
        self.host_keys = {}
        self.broken: set[str] = set()
        self.full: set[str] = set()
        self._is_whole = True

    @property
    def names(self) -> list[str]:
        return list(self.nodes)

    @property
    def addresses(self) -> dict[str, str]:
        """Of all places."""
        return {HEAD: HEAD_ADDRESS} | {name: node.address for name, node in self.nodes.items()}

    def hosts(self) -> str:
        """What all places know of each other."""
        return "127.0.0.1 localhost\n" + "".join(f"{at} {name}\n" for name, at in self.addresses.items())

    def new_home(self, folder: Path) -> Home:
        """A home for the head in a folder that is not there yet; a test may spoil it."""
        home = Home(folder)
        addresses = {name: node.address for name, node in self.nodes.items()}
        home.furnish(self.key, addresses, PORTS, self.host_keys)
        return home

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @abstractmethod
    def close(self) -> None:
        """End all that runs, and leave nothing."""

    # What runs

    @abstractmethod
    def way(self, place: str, cwd: str) -> list[str]:
        """What to write before a command so that it runs at a place, in a folder of it."""

    @abstractmethod
    def holder(self, place: str) -> int:
        """The process whose namespaces are the place's."""

    @abstractmethod
    def processes(self, place: str) -> list[Process]:
        """What runs there now, but the place itself (a node's process 1)."""

    def start(
        self,
        *argv: str | Path,
        at: str = HEAD,
        cwd: str | Path = "/",
        environ: Mapping[str, str] | None = None,
        **popen: Any,
    ) -> subprocess.Popen[Any]:
        """Start a program at a place; its environment is the place's, and ``environ``.

        At ``head`` the process is the program itself, to be sent any signal. On a node it is what brought the
        program there: it hands input, output and exit status on; a kill kills both; other signals reach the
        program only by ``os.kill`` of a ``Process.host_pid``.
        """
        popen.setdefault("stdin", subprocess.DEVNULL)
        return subprocess.Popen(
            [*self.way(place=at, cwd=str(cwd)), *map(str, argv)],
            env={**self._environ(at), **(environ or {})},
            **popen,
        )

    def run(
        self,
        *argv: str | Path,
        at: str = HEAD,
        cwd: str | Path = "/",
        environ: Mapping[str, str] | None = None,
        input: str = "",
        check: bool = True,
        timeout_s: float = PATIENCE_S,
    ) -> subprocess.CompletedProcess[str]:
        """Run a program at a place to its end, whoever it leaves behind; where it fails and ``check``, its
        words are in the error."""
        with tempfile.TemporaryFile("w+") as said, tempfile.TemporaryFile("w+") as complained:
            streams = {"stdin": subprocess.PIPE, "stdout": said, "stderr": complained}
            with self.start(*argv, at=at, cwd=cwd, environ=environ, text=True, **streams) as started:
                try:
                    started.communicate(input, timeout=timeout_s)
                finally:
                    started.kill()
            texts = [_whole(said), _whole(complained)]
        done = subprocess.CompletedProcess(argv, started.returncode, *texts)
        assert not check or done.returncode == 0, f"{argv} at {at} ended with {done}"
        return done

    def ssh(
        self, node: str, *command: str, user: str = "root", **how: Any
    ) -> subprocess.CompletedProcess[str]:
        """Run a command on a node by OpenSSH's client at the head."""
        return self.run("ssh", "-F", self.home.ssh_config, f"{user}@{node}", *command, **how)

    def _environ(self, place: str) -> dict[str, str]:
        if place == HEAD:
            return {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "HOME": str(self.home.folder)}
        return {
            "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "LANG": "C.UTF-8",
            "HOME": str(Path("~root").expanduser()),
        }

    # What a place sees of the network

    @contextlib.contextmanager
    def inside(self, place: str = HEAD) -> Iterator[None]:
        """Let this thread, and the threads it starts meanwhile, make their sockets at a place. There names of
        nodes are known to ssh only: use addresses."""
        with namespaces.network(self.holder(place)):
            yield

    def dial(
        self, node: str, port: int = 22, *, at: str = HEAD, timeout_s: float = PATIENCE_S
    ) -> socket.socket:
        """A connection from a place to a node."""
        with self.inside(at):
            return socket.create_connection((self.nodes[node].address, port), timeout_s)

    # What lies on a node

    def path(self, node: str, path: str | Path) -> Path:
        """A file of a node, to be read and written from here. Mind its absolute symbolic links: they lead
        astray."""
        return Path(f"/proc/{self.holder(node)}/root") / str(path).lstrip("/")

    def files(self, node: str, folder: str | Path) -> list[str]:
        """All that lies below a folder of a node, folders with a slash at their end, but for what the node is
        shown of this machine; nothing where there is no such folder."""
        top, root = self.path(node, folder), self.path(node, "/")
        hidden = {root / str(above).lstrip("/") for show in self.shares for above in (show, *show.parents)}
        found: list[Path | str] = []
        for here, folders, files in os.walk(top):
            folders[:] = [name for name in folders if Path(here, name) not in hidden]
            found += [Path(here, name).relative_to(top) for name in files]
            found += [f"{Path(here, name).relative_to(top)}/" for name in folders]
        return sorted(map(str, found))

    def renew_sshd(self, node: str) -> None:
        """Have it read its settings and its key again; who comes from now on meets what it has by then."""
        before = self._listening(node)
        self.run("/bin/kill", "-HUP", "1", at=node)
        until(
            lambda: (now := self._listening(node)) and not now & before, f"the sshd of {node} to listen anew"
        )

    def _listening(self, node: str) -> set[str]:
        """The sockets of its sshd, once it listens at every port."""
        lines = Path(f"/proc/{self.holder(node)}/net/tcp").read_text().splitlines()[1:]
        at = {f":{port:04X}" for port in PORTS}
        found = {row[9] for row in map(str.split, lines) if row[3] == "0A" and row[1][-5:] in at}
        return found if len(found) == len(at) else set()

    def fill_disk(self, node: str, leave_bytes: int = 0) -> None:
        """Leave so much of a node's disk, which is one for its system, home and ``/tmp``."""
        full = self.path(node, FULL)
        self.full.add(node)
        free = shutil.disk_usage(full.parent).free - leave_bytes
        with full.open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, free)

    def free_disk(self, node: str) -> None:
        """Take away what filled it."""
        self.path(node, FULL).unlink()
        self.full.discard(node)

    # Faults

    @abstractmethod
    def kill(self, node: str) -> None:
        """All processes of a node end at once; its peers are told so by its kernel."""

    @abstractmethod
    def power_off(self, node: str) -> None:
        """A node ends without a word to anybody."""

    @abstractmethod
    def reboot(self, node: str) -> None:
        """Start a node, after killing it where it runs. Its disk is as it was, ``/tmp`` is empty, its
        cable a new one."""

    @abstractmethod
    def freeze(self, node: str) -> None:
        """Stop all processes of a node; its kernel goes on answering for them."""

    @abstractmethod
    def thaw(self, node: str) -> None:
        """Let them go on."""

    @abstractmethod
    def cut(self, node: str) -> None:
        """Pull a node's cable."""

    @abstractmethod
    def plug(self, node: str) -> None:
        """Plug it in again."""

    def partition(self, groups: Sequence[Sequence[str]]) -> None:
        """Let through only what places of one group say to each other. Groups may overlap; whoever is in none
        is with all others that are in none."""
        self.filter(partition.rules(self.addresses, groups))
        self._is_whole = not groups

    def heal(self) -> None:
        """End a partition."""
        self.partition([])

    @abstractmethod
    def filter(self, rules: str) -> None:
        """Give rules to the firewall of the bridge that all cables end in."""

    @abstractmethod
    def rate(self, node: str, mbit: float | None) -> None:
        """Let a node's cable carry so much each way, or all it can."""

    @abstractmethod
    def delay(self, node: str, ms: float, jitter_ms: float = 0.0, loss_percent: float = 0.0) -> None:
        """Make a node's cable so long, each way; connections last."""

    def mend(self) -> None:
        """Undo all faults: nodes that had any start anew, with what was on their disks."""
        if not self._is_whole:
            self.heal()
        for node in self.nodes:
            if node in self.broken:
                self.reboot(node)
            if node in self.full:
                self.free_disk(node)
        self.broken.clear()


def breaks(fault: Callable[..., None]) -> Callable[..., None]:
    """A fault of a node, to be mended."""

    @wraps(fault)
    def noted(cluster: Cluster, node: str, *how: Any, **more: Any) -> None:
        cluster.broken.add(node)
        fault(cluster, node, *how, **more)

    return noted


def _whole(file: IO[str]) -> str:
    file.seek(0)
    return file.read()
