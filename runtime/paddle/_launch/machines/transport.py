"""SSH: connections to nodes, and programs that run there. Only this file, ways.py, host_keys.py and
identities.py know Fabric and Paramiko.

It must never know what a program is for. Users, ports, keys, jump hosts and the rest are those of ``ssh``:
~/.ssh/config, the agent, known_hosts (ways.py).

Guarantee, by five rules:

1. A host's key is verified before anything is sent: one that is unknown is refused, unless HOST_KEYS says
   otherwise, and one that has changed is refused whatever HOST_KEYS says. The same for jump hosts.
2. The only command that a node's shell ever sees is a constant; all that varies travels on standard input.
3. Opening a connection ends by its deadline, with a ``Line`` or a typed error that says what to do, and so
   does every call that speaks with a program: when nothing has gone over its connection for a while.
4. At most so many connections are being opened at a time, so a jump host is not run down; those that wait
   for a machine that does not answer keep no other from its turn.
5. Nothing here may be called from the launcher's main thread, which has signals to answer.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from fabric import Connection
from paramiko import Channel, ChannelException, SSHException

from paddle._launch.errors import NodeLost, NodeUnreachable
from paddle._launch.machines import patience, refusals, ways
from paddle._launch.machines.opening import Opening
from paddle._launch.machines.patience import AT_ONCE, Gate, deadline
from paddle._launch.machines.refusals import Door
from paddle._launch.machines.ways import CONNECT_S
from paddle._launch.settings import Host

TURN_S = 5.0  # then who is being connected to lets others go on
_ENDING_S = 0.5
_WATCH_S = 0.1
_WINDOW = 1 << 24


class Stream:
    """A program on a node: its standard input, and what it prints."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel

    def send(self, data: bytes | memoryview) -> None:
        """Send all of ``data``."""
        with _telling(self._channel):
            self._channel.sendall(data)

    def offer(self, data: bytes) -> None:
        """Send all of ``data`` to a program that may have ended; then its status says why."""
        try:
            self.send(data)
        except NodeLost:
            if self._channel.exit_status < 0:
                raise

    def end(self) -> None:
        """Let the program see the end of its input."""
        with contextlib.suppress(OSError, EOFError):
            self._channel.shutdown_write()

    def receive(self, most: int) -> bytes:
        """What it has printed, at most so many bytes of it; empty where nothing more will come."""
        with _telling(self._channel):
            return bytes(self._channel.recv(most))

    def complaint(self) -> str:
        """The last line that it, or the node's shell, wrote to standard error."""
        with contextlib.suppress(OSError):
            return refusals.last_line(self._channel.recv_stderr(1 << 14)) if self._has_complained() else ""
        return ""

    def status(self) -> int:
        """Its exit status, once it has printed all; -1 where it was killed, or the connection broke."""
        self._channel.status_event.wait(patience.STALL_S)
        return int(self._channel.exit_status)

    def is_patient(self) -> None:
        """Wait for it as long as it takes: what it says is watched over elsewhere."""
        self._channel.settimeout(None)

    def close(self) -> None:
        """Let go of it; others may let go of its connection meanwhile."""
        with contextlib.suppress(OSError, EOFError, SSHException):
            self._channel.close()

    def _has_complained(self) -> bool:
        self._channel.status_event.wait(1.0)
        return bool(self._channel.recv_stderr_ready())


@dataclass(frozen=True, slots=True)
class About:
    """Whom a line leads to. ``kind`` and ``fingerprint``: of the key that the host has shown."""

    door: Door
    kind: str
    fingerprint: str


class Line:
    """An open connection to a node."""

    def __init__(self, connection: Connection, door: Door) -> None:
        self._connection = connection
        self._door = door

    def begin(self, command: str, *, errors_too: bool = False, patience_s: float = CONNECT_S) -> Stream:
        """Begin a program. ``errors_too``: what it writes to standard error comes with what it prints."""
        try:
            channel = patience.again(partial(self._session, patience_s), _may_be_free_soon)
            channel.settimeout(patience.STALL_S)
            channel.set_combine_stderr(errors_too)
            with deadline(patience_s, channel.close):
                channel.exec_command(command)
        except (SSHException, OSError, EOFError, AttributeError) as error:
            reason = str(error) or type(error).__name__
            if reason.startswith("Timeout") or isinstance(error, TimeoutError) or _is_stuck(self._connection):
                raise refusals.silent(patience_s) from error
            raise refusals.no_session(self._door, reason) from error
        return Stream(channel)

    def _session(self, patience_s: float) -> Channel:
        return self._connection.transport.open_session(window_size=_WINDOW, timeout=patience_s)

    @property
    def about(self) -> About:
        """Whom it leads to."""
        key = self._connection.transport.get_remote_server_key()
        return About(self._door, key.get_name(), key.fingerprint)

    @property
    def is_open(self) -> bool:
        """Whether it can be used still, as far as is known here."""
        return bool(self._connection.is_connected)

    def has_broken(self) -> bool:
        """Whether it has ended just now, asked when a program has ended that gave no status."""
        self._connection.transport.join(_ENDING_S)
        return not self.is_open

    def close(self) -> None:
        """Let go, whoever uses it."""
        ways.close(self._connection)


class Transport:
    """Opens lines. ``host_keys``: known, new or any."""

    def __init__(self, host_keys: str, parallel: int = AT_ONCE) -> None:
        self._host_keys = host_keys
        self._gate = Gate(parallel, TURN_S)

    def line(self, host: Host) -> Opening[Line]:
        """Prepare to open a line; nothing is sent yet."""
        door = Door(user=host.user, host=host.name, port=host.ssh_port or 22)
        connect = partial(_opened, host, self._host_keys)
        return Opening(connect, self._gate, partial(refusals.no_answer, door))


def _opened(host: Host, host_keys: str, end: float, is_off: threading.Event) -> Line:
    """Open a line, trying again where that may help."""

    def may_pass(error: Exception) -> bool:
        return isinstance(error, NodeUnreachable) and error.may_pass and time.monotonic() < end

    return patience.again(partial(_opened_once, host, host_keys, end, is_off), may_pass, is_off.wait)


def _opened_once(host: Host, host_keys: str, end: float, is_off: threading.Event) -> Line:
    with ways.typed(host):
        connection = ways.connection(host, host_keys)
    is_over = threading.Event()
    threading.Thread(target=_watch, args=(connection, end, is_off, is_over), daemon=True).start()
    try:
        connection.open()
    except Exception as error:  # Paramiko raises many kinds, and others when it is closed meanwhile
        hops = list(ways.hops(connection))
        failed = next((hop for hop in reversed(hops) if not hop.is_connected), hops[0])
        ways.close(connection)
        raise ways.refusal(error, ways.door(failed)) from error
    finally:
        is_over.set()
    return Line(connection, ways.door(connection))


def _watch(connection: Connection, end: float, is_off: threading.Event, is_over: threading.Event) -> None:
    """Close what takes too long to open, or was called off; again, where it had not begun to open."""
    while not is_over.wait(_WATCH_S):
        if is_off.is_set() or time.monotonic() > end:
            ways.close(connection)


@contextlib.contextmanager
def _telling(channel: Channel) -> Iterator[None]:
    try:
        yield
    except TimeoutError as error:
        raise refusals.silent(patience.STALL_S) from error
    except (OSError, EOFError, SSHException) as error:
        if _is_stuck(channel):  # half of something is on its way, so nothing else can be
            channel.transport.close()
            raise refusals.silent(patience.STALL_S) from error
        raise NodeLost(f"its connection broke: {str(error) or type(error).__name__}.") from error


def _may_be_free_soon(error: Exception) -> bool:
    """An sshd that lets few sessions be (MaxSessions) may not have seen the end of the one before."""
    return isinstance(error, ChannelException)


def _is_stuck(of: Channel | Connection) -> bool:
    return of.transport is not None and bool(of.transport.sock.is_stuck)
