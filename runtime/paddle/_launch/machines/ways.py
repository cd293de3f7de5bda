"""The way to a machine, as ``ssh`` itself would go it: user, port, keys, jump hosts and known hosts.

It must never know what is done there. What it says of a way that cannot be gone is in refusals.py.

Guarantee: a connection that this makes verifies the key of every host on its way before it says who it is;
Fabric's default, to take any key, and Fabric's own settings files are out of the way.
"""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import pwd
import socket
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from fabric import Config, Connection
from paramiko import (
    Agent,
    AuthenticationException,
    ChannelException,
    MissingHostKeyPolicy,
    PasswordRequiredException,
    PKey,
    SSHClient,
    SSHException,
)
from paramiko import Transport as Protocol
from paramiko.ssh_exception import NoValidConnectionsError

from paddle._launch.errors import HostKeyUnknown, LaunchError, NodeError
from paddle._launch.machines import identities, known_hosts, patience, refusals
from paddle._launch.machines.known_hosts import HostKey, Known
from paddle._launch.machines.refusals import Door
from paddle._launch.settings import Host

CONNECT_S = 10.0
_UNSENT = 1 << 17  # bytes that the kernel may hold back: once this process is gone it sends them all the same
_OWN_FILES = ("~/.ssh/known_hosts", "~/.ssh/known_hosts2")
_FILES_OF_ALL = ("/etc/ssh/ssh_known_hosts", "/etc/ssh/ssh_known_hosts2")
_RSA = "ssh-rsa"
_KEYS = ("~/.ssh/id_rsa", "~/.ssh/id_ecdsa", "~/.ssh/id_ed25519")

logging.getLogger("paramiko").addHandler(logging.NullHandler())  # else it prints what is raised here anyway
logging.getLogger("paramiko").propagate = False


class Verification(MissingHostKeyPolicy):  # type: ignore[misc]  # Paramiko has no types
    """Decides whether a host is the one that is meant. It is asked about every one: Paramiko itself is told
    of no keys, for it does not understand all that ssh does of its files. ``hop``: the connection."""

    def __init__(self, host_keys: str, hop: Connection) -> None:
        self._host_keys = host_keys
        self._hop = hop
        self.known = known_hosts.find(files_read(hop), door(hop).known_as)

    def missing_host_key(self, client: SSHClient, hostname: str, key: PKey) -> None:
        name, shown = door(self._hop).known_as, written(key)
        match refusals.host_key(name, shown, self.known, usual()):
            case None:
                return
            case HostKeyUnknown() if self._host_keys == "any":
                return
            case HostKeyUnknown() if self._host_keys == "new":
                entry = known_hosts.Entry(name, shown)
                known_hosts.add(file_to_write(self._hop), [entry], hashed=hashes(self._hop))
            case error:
                raise error


def connection(host: Host, host_keys: str) -> Connection:
    """Prepare to connect to a node; nothing is sent yet. ``host_keys``: known, new or any."""
    # Fabric's own configuration files are for the user's tasks; those of ssh are for every connection.
    config = Config(overrides={"timeouts": {"connect": int(CONNECT_S)}}, lazy=True)
    config.load_ssh_config()
    limits = {"banner_timeout": CONNECT_S, "auth_timeout": CONNECT_S, "channel_timeout": CONNECT_S}
    connection = Connection(host.name, user=host.user, port=host.ssh_port or None, config=config)
    for hop in hops(connection):
        only = hop.ssh_config.get("identitiesonly", "no").lower() == "yes"
        hop.connect_kwargs = {
            **dict(hop.connect_kwargs),
            **limits,
            "allow_agent": not only,
            "look_for_keys": not only,
        }
        if only:
            hop.connect_kwargs["pkey"] = identities.of_agent(hop.connect_kwargs.get("key_filename", ()))
        verification = Verification(host_keys, hop)
        hop.client.set_missing_host_key_policy(verification)
        hop.connect_kwargs["transport_factory"] = partial(protocol, verification.known)
    return connection


def protocol(known: Sequence[Known], sock: socket.socket, **options: object) -> Protocol:
    """Begin to speak SSH. Ask a host first for a key of a kind that is known, and prefer ciphers that need no
    other pass for a checksum: a package costs half of the time then. And let little of what was sent wait
    here for a slow network: a node is to hear soon of an end; nor what is small for an answer to what went
    before it, which the other end delays: logging in and a command took 40 ms longer each."""
    with contextlib.suppress(OSError, AttributeError):  # what goes by a jump host is no socket
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, _UNSENT)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    transport = Protocol(patience.ImpatientSocket(sock, patience.STALL_S), **options)
    wanted = transport.get_security_options()
    wanted.ciphers = sorted(wanted.ciphers, key=lambda name: "gcm" not in name)
    kinds = [one.key.kind for one in known if not one.is_revoked]
    wanted.key_types = sorted(wanted.key_types, key=lambda name: kind_of(name) not in kinds)
    return transport


def kind_of(algorithm: str) -> str:
    """The kind of key that signs so, as files have it."""
    return _RSA if algorithm.startswith("rsa-sha2-") else algorithm


def written(key: PKey) -> HostKey:
    """A key as files have it."""
    return HostKey(key.get_name(), key.get_base64())


def hops(connection: Connection) -> Iterator[Connection]:
    """A connection and the jump hosts that it goes by, the nearest to the node first."""
    while isinstance(connection, Connection):
        yield connection
        connection = connection.gateway


def files_read(hop: Connection) -> list[Path]:
    """The files by which a host's key is verified."""
    own = hop.ssh_config.get("userknownhostsfile", "").split() or _OWN_FILES
    all_users = hop.ssh_config.get("globalknownhostsfile", "").split() or _FILES_OF_ALL
    places = (Path(name).expanduser() for name in (*own, *all_users) if name != "none")
    return [place for place in places if place.is_file()]


def file_to_write(hop: Connection) -> Path:
    """The file in which a host becomes known: the one that ``ssh`` would write."""
    return known_hosts.file_to_write(hop.ssh_config.get("userknownhostsfile", ""))


def usual() -> Path:
    """The file that ``ssh-keygen`` means where none is named; it asks for no variable HOME."""
    try:
        return Path(pwd.getpwuid(os.getuid()).pw_dir, ".ssh", "known_hosts")
    except KeyError:  # as in some containers
        return Path(_OWN_FILES[0]).expanduser()


def hashes(hop: Connection) -> bool:
    """Whether names of hosts are to be hashed there."""
    return bool(hop.ssh_config.get("hashknownhosts", "no").lower() == "yes")


def refusal(error: Exception, door: Door) -> NodeError:
    """Why a connection could not be opened."""
    reason = str(error).rstrip(".") or type(error).__name__
    match error:
        case NodeError():
            return error
        case LaunchError():
            return NodeError(str(error))
        case PasswordRequiredException():
            return refusals.locked_key(door)
        case AuthenticationException():
            return refusals.login_refused(door, reason)
        case ChannelException():
            return refusals.no_way(door, f"the jump host says: {reason}")
        case socket.gaierror():
            return refusals.no_such_host(door, error.strerror or reason)
        case NoValidConnectionsError():
            return refusal(next(iter(error.errors.values())), door)
        case TimeoutError():
            return refusals.no_answer(door, CONNECT_S)
        case ConnectionRefusedError():
            return refusals.nobody_listens(door)
        case OSError(errno=errno.EHOSTUNREACH | errno.ENETUNREACH | errno.EHOSTDOWN | errno.ENETDOWN):
            return refusals.no_way(door, error.strerror or reason)
        case SSHException() if reason.startswith("No authentication methods"):
            return refusals.login_refused(door, "there is nothing to log in with")
    return refusals.no_ssh(door, reason)


def door(hop: Connection) -> Door:
    """Where it goes."""
    jump = next(iter(list(hops(hop))[1:]), None)
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
    if wanted.get("pkey"):
        yield "1 of the ssh agent"
    if wanted["allow_agent"]:
        with contextlib.suppress(SSHException, OSError):
            count = len(Agent().get_keys())
            yield f"{count} of the ssh agent" if count else ""
    if wanted["look_for_keys"]:
        yield from (name for name in _KEYS if Path(name).expanduser().is_file())


def close(connection: Connection) -> None:
    """Close it, in whatever state it is; from any thread."""
    for hop in list(hops(connection)):
        with contextlib.suppress(Exception):  # closing what is half open raises one thing or another
            hop.client.close()


@contextlib.contextmanager
def typed(host: Host) -> Iterator[None]:
    """What is wrong with the user's own files is told as such."""
    try:
        yield
    except LaunchError:  # it says so itself
        raise
    except Exception as error:  # of many kinds: configuration files are read by several parsers
        raise NodeError(
            f"cannot be reached as {host.user}@{host.name}: ~/.ssh/config or known_hosts of this machine "
            f"cannot be understood: {type(error).__name__}: {error}. `ssh -v {host.name}` reads the same "
            "files."
        ) from error
