"""mpirun: starts a bridge (agent/bridge.py) on every node, by which this launcher speaks with it.

It must never know what a program is for. How mpirun comes to machines (SSH as a rule, or the daemons of a
batch system) is mpirun's; so are its settings, ``OMPI_MCA_*`` and MPIRUN_FLAGS.

Guarantee, by six rules:

1. One mpirun serves all nodes of a launch, from the first line that is opened. Who asks for a line when it
   has ended gets one of its own: files come back also then.
2. Bridges call this machine, by TLS: what they trust is a certificate made for this launch, and they show a
   secret made for it. Both travel in their environment, which is no other user's to read.
3. When a line is let go of, its bridge ends, and with the last of them mpirun; and so they do when this
   process is gone.
4. A terminal's Ctrl+C is for this process to answer, not mpirun's.
5. What mpirun says is told where a node is not reached.
6. A machine that is cut off is noticed by mpirun, and mpirun's end by the machine, in twenty seconds.
"""

from __future__ import annotations

import contextlib
import getpass
import json
import os
import secrets
import signal
import socket
import ssl
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from datetime import UTC, datetime
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import IO, Any

import paddle._launch.agent as agent
from paddle._launch.agent.bridge import CALL
from paddle._launch.agent.role import die_with_parent
from paddle._launch.errors import NodeUnreachable
from paddle._launch.machines import patience
from paddle._launch.machines.bridged import Bridged
from paddle._launch.machines.opening import Opening
from paddle._launch.machines.patience import AT_ONCE, Gate
from paddle._launch.settings import Host

_HELLO_S = 10.0
_LOOK_S = 0.05
_LONGEST = 1 << 16  # bytes of a hello
_TURN_S = 5.0
_MOST_COMPLAINT = 1 << 14
_WARNING = "plm:rsh: Warning: setpgid"  # which harms nothing
_SHOWN = 600  # letters of what mpirun says
_KEPT_ALIVE = {  # rule 6; whoever sets these otherwise has it so
    "OMPI_MCA_oob_tcp_keepalive_time": "5",
    "OMPI_MCA_oob_tcp_keepalive_intvl": "5",
    "OMPI_MCA_oob_tcp_keepalive_probes": "3",
}
# sh becomes the first of the Pythons that is there, which runs the text.
_FIND = (
    't=$1; shift; for p; do command -v "$p" >/dev/null 2>&1 && exec "$p" -I -S -B -c "$t"; done; '
    'echo "no Python is there: $*" >&2; exit 127'
)


class MpiWay:
    """Opens lines by mpirun to ``hosts``. ``pythons``: what may run a bridge, the first that a node has.
    ``flags``: of mpirun, beside those that it needs."""

    def __init__(self, hosts: Sequence[Host], pythons: Sequence[str], flags: Sequence[str]) -> None:
        self._hosts = tuple(hosts)
        self._begin = partial(_Mpirun, pythons=tuple(pythons), flags=tuple(flags))
        self._gate = Gate(max(AT_ONCE, len(self._hosts)), _TURN_S)
        self._turn = threading.Lock()
        self._first: _Mpirun | None = None
        self._asked: dict[str, _Mpirun] = {}  # of each host the last one

    def line(self, host: Host) -> Opening[Bridged]:
        """Prepare to open a line; nothing is started yet."""
        return Opening(partial(self._open, host), self._gate, partial(self._late, host))

    def _open(self, host: Host, end: float, is_off: threading.Event) -> Bridged:
        with self._turn:
            if self._first is None:
                self._first = self._begin(self._hosts)
            run = self._first
        if run.is_over_for(host):
            run = self._begin((host,))
        self._asked[host.name] = run
        return run.line(host, end, is_off)

    def _late(self, host: Host, after_s: float) -> NodeUnreachable:
        asked = self._asked.get(host.name)
        said = asked.words if asked else ""
        return NodeUnreachable(
            f"mpirun has not brought a process to {host.name} within {after_s:.0f} s"
            f"{f'. It says: {said}' if said else '; it says nothing'}. Does `mpirun -host {host.name} "
            "hostname` come back?"
        )


class _Mpirun:
    """One of them, and who listens for its bridges."""

    def __init__(self, hosts: Sequence[Host], *, pythons: Sequence[str], flags: Sequence[str]) -> None:
        self._names = [host.name for host in hosts]
        self._secret = secrets.token_hex(32)
        self._lines: dict[int, Future[Bridged]] = {number: Future() for number in range(len(hosts))}
        self.is_first_hour = True  # until a line was open: then its end is why nodes are not reached
        from paddle._launch.authority import Authority  # takes a moment to load

        papers = Authority("this launch", datetime.now(UTC)).issue(["launcher"])
        self._context = _shown(papers.certificate, papers.key)
        self._listener = socket.create_server(("", 0), backlog=1024)
        call = {
            "port": self._listener.getsockname()[1],
            "secret": self._secret,
            "authority": papers.authority,
            "heads": [socket.gethostname(), "127.0.0.1"],
            "nodes": self._names,
        }
        self._said = tempfile.TemporaryFile()  # noqa: SIM115  for its life
        self._process: Future[subprocess.Popen[bytes]] = Future()
        command = _command(len(hosts), pythons, flags)
        threading.Thread(target=self._run, args=[hosts, command, json.dumps(call)], daemon=True).start()

    @property
    def has_ended(self) -> bool:
        """Whether it has."""
        return self._process.result().poll() is not None

    def is_over_for(self, host: Host) -> bool:
        """Whether it had brought a bridge to a node, which is gone."""
        coming = self._lines[self._names.index(host.name)]
        return (coming.done() and not coming.result().is_open) or (self.has_ended and not self.is_first_hour)

    @property
    def words(self) -> str:
        """What it, ssh or a bridge said first: what mpirun frames is what it makes of that."""
        said = os.pread(self._said.fileno(), _MOST_COMPLAINT, 0).decode("utf-8", "replace")
        lines = [line.strip() for line in said.splitlines() if line.strip() and _WARNING not in line]
        first = list(takewhile(lambda line: line.strip("-"), lines)) or [
            each for each in lines if each.strip("-")
        ]
        return " ".join(first)[:_SHOWN]

    def line(self, host: Host, end: float, is_off: threading.Event) -> Bridged:
        """Wait for a node's bridge."""
        coming = self._lines[self._names.index(host.name)]
        while not coming.done() and not is_off.is_set() and time.monotonic() < end:
            if self.has_ended:
                raise NodeUnreachable(
                    f"mpirun brought no process to {host.name}: it ended with status "
                    f"{self._process.result().returncode}. It says: {self.words or 'nothing'}"
                )
            with contextlib.suppress(TimeoutError):
                coming.result(_LOOK_S)
        self.is_first_hour = False
        return coming.result(0)

    def _run(self, hosts: Sequence[Host], command: Sequence[str], call: str) -> None:
        """Start mpirun and welcome bridges until it has ended. A process that is to die with its parent dies
        with the thread that started it: with this one, which lasts as long as the launcher."""
        with self._listener, tempfile.TemporaryFile("w") as machines:  # nobody may be left to remove a name
            machines.writelines(_entry(host) for host in hosts)
            machines.flush()
            try:
                self._process.set_result(_started(command, machines.fileno(), call, self._said))
            except OSError as error:
                self._process.set_exception(_no_mpirun(error))
                return
            while not self.has_ended:
                self._listener.settimeout(_LOOK_S)
                with contextlib.suppress(TimeoutError):
                    plain, _ = self._listener.accept()
                    threading.Thread(target=self._welcome, args=[plain], daemon=True).start()

    def _welcome(self, plain: socket.socket) -> None:
        """Hear who calls; whoever does not say so in time, or not the secret, is no bridge."""
        plain.settimeout(_HELLO_S)
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            line = self._context.wrap_socket(plain, server_side=True)
            hello = json.loads(_first_line(line))
            if secrets.compare_digest(str(hello["secret"]), self._secret):
                self._introduced(line, hello)
                return
        plain.close()

    def _introduced(self, line: ssl.SSLSocket, hello: Mapping[str, Any]) -> None:
        line.settimeout(patience.STALL_S)
        coming = self._lines[hello["node"]]
        if "stream" not in hello:
            coming.set_result(Bridged(line))
            return
        coming.result(0).welcome(int(hello["stream"]), hello["way"] == "in", line)


def _entry(host: Host) -> str:
    """A node in a file of machines."""
    user = "" if host.user == getpass.getuser() else f" username={host.user}"
    return f"{host.name} slots=1{user}\n"


def _command(nodes: int, pythons: Sequence[str], flags: Sequence[str]) -> list[str]:
    """How mpirun is called, but for its machines."""
    text = Path(agent.__file__).with_name("bridge.py").read_text(encoding="utf-8") + "\nmain()\n"
    as_root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    once_each = ["-np", str(nodes), "--map-by", "ppr:1:node"]
    return ["mpirun", *once_each, "-x", CALL, *as_root, *flags, "sh", "-c", _FIND, "sh", text, *pythons]


def _started(command: Sequence[str], machines: int, call: str, said: IO[bytes]) -> subprocess.Popen[bytes]:
    parent = os.getpid()

    def prepare() -> None:
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        if not die_with_parent(parent, signal.SIGTERM):
            os._exit(1)

    return subprocess.Popen(
        [command[0], "--hostfile", f"/dev/fd/{machines}", *command[1:]],
        pass_fds=[machines],
        stdin=subprocess.DEVNULL,
        stdout=said,
        stderr=said,
        env={**_KEPT_ALIVE, **os.environ, CALL: call},
        start_new_session=True,  # rule 4
        preexec_fn=prepare,
    )


def _no_mpirun(error: OSError) -> NodeUnreachable:
    return NodeUnreachable(
        f"mpirun cannot be started here: {error.strerror}. Install Open MPI on this machine and on every "
        "node (Debian: openmpi-bin), or leave out --platform=mpi: nodes are reached over SSH then."
    )


def _shown(certificate: str, key: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.num_tickets = 0  # a bridge never reads them, and who closes on what was not read breaks the line
    with tempfile.NamedTemporaryFile("w", suffix=".pem") as papers:
        papers.write(certificate + key)
        papers.flush()
        context.load_cert_chain(papers.name)
    return context


def _first_line(line: ssl.SSLSocket) -> bytes:
    """All up to the first newline, and nothing behind it."""
    said = b""
    while not said.endswith(b"\n") and len(said) < _LONGEST:
        if not (byte := line.recv(1)):
            break
        said += byte
    return said
