"""SSH: connections to nodes, and programs that run there. The only file that knows Fabric and Paramiko.

It must never know what a program is for. Users, ports, keys, jump hosts and the rest are those of ``ssh``:
~/.ssh/config, the agent, known_hosts.

Guarantee, by five rules:

1. A host's key is verified before anything is sent: one that is unknown is refused, unless HOST_KEYS says
   otherwise, and one that has changed is refused whatever HOST_KEYS says. The same for jump hosts.
2. The only command that a node's shell ever sees is a constant; all that varies travels on standard input.
3. Opening a connection ends by its deadline, with a ``Line`` or a typed error that says what to do.
4. At most so many connections are being opened at a time, so a jump host is not run down.
5. Nothing here may be called from the launcher's main thread, which has signals to answer.
"""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from fabric import Config, Connection
from paramiko import (
    Agent,
    AuthenticationException,
    BadHostKeyException,
    Channel,
    ChannelException,
    MissingHostKeyPolicy,
    PasswordRequiredException,
    PKey,
    SSHClient,
    SSHException,
)
from paramiko import Transport as Protocol
from paramiko.ssh_exception import NoValidConnectionsError

from paddle._launch.errors import NodeError, NodeLost, NodeUnreachable
from paddle._launch.machines import refusals
from paddle._launch.machines.refusals import Door
from paddle._launch.settings import Host

PARALLEL = 16
CONNECT_S = 10.0
OPEN_S = 25.0  # for all of it: connecting, by a jump host perhaps, and logging in
_TRIES, _PAUSE_S = 3, 0.3  # sshd drops connections at random while many log in: MaxStartups
_STALL_S = 15.0
_ENDING_S = 0.5
_WATCH_S = 0.1
_WINDOW = 1 << 24
_KNOWN_HOSTS = ("~/.ssh/known_hosts", "~/.ssh/known_hosts2", "/etc/ssh/ssh_known_hosts")
_KEYS = ("~/.ssh/id_rsa", "~/.ssh/id_ecdsa", "~/.ssh/id_ed25519")

logging.getLogger("paramiko").addHandler(logging.NullHandler())  # else it prints what is raised here anyway
logging.getLogger("paramiko").propagate = False


class Stream:
    """A program on a node: its standard input, and what it prints."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel

    def send(self, data: bytes | memoryview) -> None:
        """Send all of ``data``."""
        with _telling():
            self._channel.sendall(data)

    def end(self) -> None:
        """Let the program see the end of its input."""
        with contextlib.suppress(OSError, EOFError):
            self._channel.shutdown_write()

    def receive(self, most: int) -> bytes:
        """What it has printed, at most so many bytes of it; empty where nothing more will come."""
        with _telling():
            return bytes(self._channel.recv(most))

    def complaint(self) -> str:
        """The last line that it, or the node's shell, wrote to standard error."""
        with contextlib.suppress(OSError):
            return refusals.last_line(self._channel.recv_stderr(1 << 14)) if self._has_complained() else ""
        return ""

    def status(self) -> int:
        """Its exit status, once it has printed all; -1 where it was killed, or the connection broke."""
        self._channel.status_event.wait(_STALL_S)
        return int(self._channel.exit_status)

    def is_patient(self) -> None:
        """Wait for it as long as it takes: what it says is watched over elsewhere."""
        self._channel.settimeout(None)

    def close(self) -> None:
        """Let go of it."""
        self._channel.close()

    def _has_complained(self) -> bool:
        self._channel.status_event.wait(1.0)
        return bool(self._channel.recv_stderr_ready())


class Line:
    """An open connection to a node."""

    def __init__(self, connection: Connection, door: Door) -> None:
        self._connection = connection
        self._door = door

    def begin(self, command: str, *, errors_too: bool = False) -> Stream:
        """Begin a program. ``errors_too``: what it writes to standard error comes with what it prints."""
        try:
            channel = self._connection.transport.open_session(window_size=_WINDOW, timeout=CONNECT_S)
            channel.settimeout(_STALL_S)
            channel.set_combine_stderr(errors_too)
            channel.exec_command(command)
        except (SSHException, OSError, EOFError, AttributeError) as error:
            raise refusals.no_session(self._door, str(error) or type(error).__name__) from error
        return Stream(channel)

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
        _close(self._connection)


class Transport:
    """Opens lines. ``host_keys``: known, new or any."""

    def __init__(self, host_keys: str, parallel: int = PARALLEL) -> None:
        self._host_keys = host_keys
        self._opening = threading.BoundedSemaphore(parallel)

    def line(self, host: Host) -> Opening:
        """Prepare to open a line; nothing is sent yet."""
        return Opening(host, self._host_keys, self._opening)


class Opening:
    """One line being opened, which another thread may call off."""

    def __init__(self, host: Host, host_keys: str, gate: threading.BoundedSemaphore) -> None:
        self._host = host
        self._host_keys = host_keys
        self._gate = gate
        self._is_off = False

    def open(self, patience_s: float = OPEN_S) -> Line:
        """Open it, or say why not."""
        with self._gate:
            return self._try(time.monotonic() + patience_s)

    def _try(self, end: float) -> Line:
        for tries_left in reversed(range(_TRIES)):
            if self._is_off:
                raise NodeLost("it was not reached: the launch was stopped.")
            try:
                return self._open_once(end - time.monotonic())
            except NodeUnreachable as error:
                if not (tries_left and error.may_pass and time.monotonic() < end):
                    raise
            threading.Event().wait(_PAUSE_S)
        raise AssertionError  # the last try returns or raises

    def call_off(self) -> None:
        """Let ``open`` end early, from another thread."""
        self._is_off = True

    def _watch(self, connection: Connection, end: float, is_over: threading.Event) -> None:
        """Close what takes too long to open, or was called off; again, where it had not begun to open."""
        while not is_over.wait(_WATCH_S):
            if self._is_off or time.monotonic() > end:
                _close(connection)

    def _open_once(self, patience_s: float) -> Line:
        with _typed(self._host):
            connection = _connection(self._host, self._host_keys)
        is_over = threading.Event()
        watch = (connection, time.monotonic() + patience_s, is_over)
        threading.Thread(target=self._watch, args=watch, daemon=True).start()
        try:
            connection.open()
        except Exception as error:  # Paramiko raises many kinds, and others when it is closed meanwhile
            hops = list(_hops(connection))
            failed = next((hop for hop in reversed(hops) if not hop.is_connected), hops[0])
            _close(connection)
            raise _refusal(error, _door(failed)) from error
        finally:
            is_over.set()
        return Line(connection, _door(connection))


class _Unknown(MissingHostKeyPolicy):  # type: ignore[misc]  # Paramiko has no types
    """What happens to a host whose key is in no known_hosts."""

    def __init__(self, host_keys: str) -> None:
        self._host_keys = host_keys

    def missing_host_key(self, client: SSHClient, hostname: str, key: PKey) -> None:
        if self._host_keys == "known":
            raise refusals.unknown_key(hostname, key.get_name(), key.fingerprint)
        if self._host_keys == "new":
            _enrol(hostname, key)


def _enrol(hostname: str, key: PKey) -> None:
    """Know a host from now on, as ``ssh`` itself would."""
    place = Path(_KNOWN_HOSTS[0]).expanduser()
    place.parent.mkdir(mode=0o700, exist_ok=True)
    line = f"{hostname} {key.get_name()} {key.get_base64()}\n".encode()
    descriptor = os.open(place, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:  # one write: several nodes may be enrolled at a time
        size = os.fstat(descriptor).st_size
        is_cut = size and os.pread(descriptor, 1, size - 1) != b"\n"
        os.write(descriptor, b"\n" * bool(is_cut) + line)
    finally:
        os.close(descriptor)


def _connection(host: Host, host_keys: str) -> Connection:
    # Fabric's own configuration files are for the user's tasks; those of ssh are for every connection.
    config = Config(overrides={"timeouts": {"connect": int(CONNECT_S)}}, lazy=True)
    config.load_ssh_config()
    patience = {"banner_timeout": CONNECT_S, "auth_timeout": CONNECT_S, "channel_timeout": CONNECT_S}
    connection = Connection(host.name, user=host.user, port=host.ssh_port or None, config=config)
    for hop in _hops(connection):
        only = hop.ssh_config.get("identitiesonly", "no").lower() == "yes"
        hop.connect_kwargs = {
            **dict(hop.connect_kwargs),
            **patience,
            "allow_agent": not only,
            "look_for_keys": not only,
            "transport_factory": _quick,
        }
        hop.client.set_missing_host_key_policy(_Unknown(host_keys))
        for place in _known_hosts(hop):
            hop.client.load_system_host_keys(str(place))
    return connection


def _quick(sock: socket.socket, **options: object) -> Protocol:
    """Prefer ciphers that need no other pass for a checksum: a package costs half of the time here."""
    transport = Protocol(sock, **options)
    known = transport.get_security_options()
    known.ciphers = sorted(known.ciphers, key=lambda name: "gcm" not in name)
    return transport


def _hops(connection: Connection) -> Iterator[Connection]:
    """A connection and the jump hosts that it goes by, the nearest to the node first."""
    while isinstance(connection, Connection):
        yield connection
        connection = connection.gateway


def _known_hosts(hop: Connection) -> list[Path]:
    own = hop.ssh_config.get("userknownhostsfile", "").split()
    names = (*own, _KNOWN_HOSTS[-1]) if own else _KNOWN_HOSTS
    return [place for place in (Path(name).expanduser() for name in names) if place.is_file()]


def _refusal(error: Exception, door: Door) -> NodeError:
    reason = str(error).rstrip(".") or type(error).__name__
    match error:
        case NodeError():
            return error
        case BadHostKeyException():
            name = door.host if door.port == 22 else f"[{door.host}]:{door.port}"
            return refusals.changed_key(name, error.key.get_name(), error.key.fingerprint)
        case PasswordRequiredException():
            return refusals.locked_key(door)
        case AuthenticationException():
            return refusals.login_refused(door, reason)
        case ChannelException():
            return refusals.no_way(door, f"the jump host says: {reason}")
        case socket.gaierror():
            return refusals.no_such_host(door, error.strerror or reason)
        case NoValidConnectionsError():
            return _refusal(next(iter(error.errors.values())), door)
        case TimeoutError():
            return refusals.no_answer(door, CONNECT_S)
        case ConnectionRefusedError():
            return refusals.nobody_listens(door)
        case OSError(errno=errno.EHOSTUNREACH | errno.ENETUNREACH | errno.EHOSTDOWN | errno.ENETDOWN):
            return refusals.no_way(door, error.strerror or reason)
        case SSHException() if reason.startswith("No authentication methods"):
            return refusals.login_refused(door, "there is nothing to log in with")
    return refusals.no_ssh(door, reason)


def _door(hop: Connection) -> Door:
    jump = next(iter(list(_hops(hop))[1:]), None)
    return Door(
        user=hop.user,
        host=hop.host,
        port=int(hop.port),
        jump=f"{jump.user}@{jump.host}:{jump.port}" if jump else "",
        keys=tuple(_keys(hop)),
    )


def _keys(connection: Connection) -> Iterator[str]:
    """What is tried to log in."""
    wanted = connection.connect_kwargs
    yield from wanted.get("key_filename", ())
    if wanted["allow_agent"]:
        with contextlib.suppress(SSHException, OSError):
            count = len(Agent().get_keys())
            yield f"{count} of the ssh agent" if count else ""
    if wanted["look_for_keys"]:
        yield from (name for name in _KEYS if Path(name).expanduser().is_file())


def _close(connection: Connection) -> None:
    """Close it, in whatever state it is; from any thread."""
    for hop in list(_hops(connection)):
        with contextlib.suppress(Exception):  # closing what is half open raises one thing or another
            hop.client.close()


@contextlib.contextmanager
def _typed(host: Host) -> Iterator[None]:
    """What is wrong with the user's own files is told as such."""
    try:
        yield
    except Exception as error:  # of many kinds: configuration files are read by several parsers
        raise NodeError(
            f"cannot be reached as {host.user}@{host.name}: ~/.ssh/config or known_hosts of this machine "
            f"cannot be understood: {type(error).__name__}: {error}. `ssh -v {host.name}` reads the same "
            "files."
        ) from error


@contextlib.contextmanager
def _telling() -> Iterator[None]:
    try:
        yield
    except TimeoutError as error:
        raise NodeLost(
            f"nothing went over its connection for {_STALL_S:.0f} s: it is cut, or hangs."
        ) from error
    except (OSError, EOFError, SSHException) as error:
        raise NodeLost(f"its connection broke: {error or type(error).__name__}.") from error
