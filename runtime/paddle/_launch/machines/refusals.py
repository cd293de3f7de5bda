"""Why a node cannot be used, in words: one paragraph that says what was tried and what to do next.

It must never know who found out, nor how; a ``Door`` is all that it is told of a connection.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from paddle._launch.errors import (
    HostKeyChanged,
    HostKeyUnknown,
    LoginRefused,
    NodeSilent,
    NodeUnfit,
    NodeUnreachable,
)
from paddle._launch.machines.known_hosts import HostKey, Known

_LONGEST = 200
TOO_OLD = "its Python "  # as agent/memory.py says it, which an older one can read
NAME_IT = "NODE_PYTHON in conf.py"


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """Where a connection goes. ``jump``: the host it goes by, ``user@host:port``, or nothing. ``keys``: what
    was tried to log in."""

    user: str
    host: str
    port: int
    jump: str = ""
    keys: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Say it."""
        by = f" by {self.jump}" if self.jump else ""
        return f"{self.user}@{self.host} port {self.port}{by}"

    @property
    def known_as(self) -> str:
        """Its name in known_hosts: ``host``, or ``[host]:port``."""
        host = self.host.lower()
        return host if self.port == 22 else f"[{host}]:{self.port}"

    @property
    def command(self) -> str:
        """The same by hand."""
        by = f"-J {shlex.quote(self.jump)} " if self.jump else ""
        port = f"-p {self.port} " if self.port != 22 else ""
        return f"ssh {by}{port}{shlex.quote(f'{self.user}@{self.host}')}"


def no_such_host(door: Door, reason: str) -> NodeUnreachable:
    """Its name has no address."""
    return NodeUnreachable(
        f"cannot reach {door.name}: the name {door.host} has no address here ({reason}). Is it written in "
        "HOSTS as in /etc/hosts, ~/.ssh/config or your DNS?"
    )


def nobody_listens(door: Door) -> NodeUnreachable:
    """The connection was refused."""
    return NodeUnreachable(
        f"cannot reach {door.name}: the connection was refused, so no sshd listens there. Start it, or give "
        "its port in HOSTS as user@host:sshport."
    )


def no_way(door: Door, reason: str) -> NodeUnreachable:
    """No network leads there."""
    return NodeUnreachable(
        f"cannot reach {door.name}: {reason}. Is the machine on, and in a network that this one can reach?"
    )


def no_answer(door: Door, after_s: float) -> NodeUnreachable:
    """Nothing came in time."""
    return NodeUnreachable(
        f"cannot reach {door.name}: no answer within {after_s:.0f} s. Is the machine on, and does a firewall "
        f"let you in? `{door.command}` tries the same."
    )


def no_ssh(door: Door, reason: str) -> NodeUnreachable:
    """Somebody answered, and it was no sshd that goes on with us."""
    return NodeUnreachable(
        f"cannot speak SSH with {door.name}: {reason}. What listens there is no sshd, or one that hangs, or "
        f"has too many logins at a time (MaxStartups in its sshd_config). `{door.command}` tries the same.",
        may_pass=True,
    )


def host_key(
    name: str, shown: HostKey, known: Sequence[Known], usual: Path | None = None
) -> HostKeyUnknown | HostKeyChanged | None:
    """What is wrong with the key that a host shows, by what is known of it. ``usual``: the file that is meant
    where none is named."""
    if any(one.is_revoked and one.key == shown for one in known):
        return HostKeyChanged(
            f"its host key is revoked: known_hosts of this machine says of {shown}, which {name} shows, that "
            "it is not to be believed. Make a new one on the machine, and have that known: `fab trust`."
        )
    believed = [one for one in known if not one.is_revoked]
    if not believed:
        return _unknown(name, shown)
    if any(one.key == shown for one in believed):
        return None
    same = [one for one in believed if one.key.kind == shown.kind]
    return _changed(name, shown, (same or believed)[0], usual)


def _unknown(name: str, shown: HostKey) -> HostKeyUnknown:
    return HostKeyUnknown(
        f"its host key is in no known_hosts of this machine: {shown} for {name}. `fab trust` shows the keys "
        "of all nodes and has them known, once you say that they are those of the machines (`ssh-keygen -lf "
        "/etc/ssh/ssh_host_ed25519_key.pub` shows the same there). Where nobody can stand between you and "
        "the nodes, HOST_KEYS = 'new' in conf.py takes all that are unknown."
    )


def _changed(name: str, shown: HostKey, known: Known, usual: Path | None) -> HostKeyChanged:
    by_file = "" if known.file == usual else f" -f {shlex.quote(str(known.file))}"
    return HostKeyChanged(
        f"its host key has changed: {name} now shows {shown}, and known_hosts of this machine has "
        f"{known.key}. Either the machine was installed anew, or somebody stands between you and it; nothing "
        "was sent. Once you know that it was the first, forget the old key, "
        f"`ssh-keygen -R {shlex.quote(name)}{by_file}`, and have the new one known, `fab trust`."
    )


def login_refused(door: Door, reason: str) -> LoginRefused:
    """No key opens."""
    tried = ", ".join(filter(None, door.keys)) or "none, there is no key in ~/.ssh and no ssh agent"
    return LoginRefused(
        f"cannot log in to {door.name}: {reason.rstrip('.')}. Keys tried: {tried}. `ssh-copy-id` brings a "
        f"key to the node; when `{door.command}` logs you in without a password, so will this."
    )


def locked_key(door: Door) -> LoginRefused:
    """A key has a passphrase."""
    return LoginRefused(
        f"cannot log in to {door.name}: a key has a passphrase, and nobody is asked for it here. Keys tried: "
        f"{', '.join(filter(None, door.keys))}. `ssh-add` gives it to your ssh agent."
    )


def silent(after_s: float) -> NodeSilent:
    """Nothing comes or goes any more, and nobody said why."""
    return NodeSilent(
        f"nothing went over its connection for {after_s:.0f} s: the cable is cut, or the machine is off or "
        "hangs."
    )


def late(after_s: float) -> NodeSilent:
    """It goes on, and what was asked for does not come."""
    return NodeSilent(f"it did not answer within {after_s:.0f} s. Try again, or look what keeps it busy.")


def no_session(door: Door, reason: str) -> NodeUnreachable:
    """Logged in, and no program can be started."""
    return NodeUnreachable(
        f"cannot start a program at {door.name}: {reason}. Its sshd may forbid it for this user "
        "(ForceCommand, or MaxSessions below 2, in sshd_config)."
    )


def no_program(status: int, complaint: str, pythons: tuple[str, ...], name_it: str = NAME_IT) -> NodeUnfit:
    """What was to run there did not answer: by what the shell said, find out why. ``name_it``: how the user
    says which Python is meant."""
    names = " or ".join(pythons)
    if status == 127:
        return NodeUnfit(
            f"it has no Python: there is no {names} for this user. Install one of 3.11 or newer (Debian: "
            f"apt-get install python3), or say where it is: {name_it}."
        )
    if complaint.startswith(TOO_OLD):
        return NodeUnfit(
            f"{complaint}, and the oldest that will do is 3.11. Install a newer one there, or say where one "
            f"is: {name_it}."
        )
    said = f": {complaint.rstrip('.')}" if complaint else ""
    return NodeUnfit(
        f"what was to run there ended with status {status}{said}. Its user needs a login shell that runs "
        f"commands, and {names} must be a Python of 3.11 or newer (another one: {name_it})."
    )


def last_line(data: bytes) -> str:
    """The last line that says something."""
    lines = [line.strip() for line in data.decode("utf-8", "replace").splitlines() if line.strip()]
    return lines[-1][:_LONGEST] if lines else ""
