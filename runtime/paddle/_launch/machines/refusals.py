"""Why a node cannot be used, in words: one paragraph that says what was tried and what to do next.

It must never know who found out, nor how; a ``Door`` is all that it is told of a connection.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from paddle._launch.errors import (
    HostKeyChanged,
    HostKeyUnknown,
    LoginRefused,
    NodeSilent,
    NodeUnfit,
    NodeUnreachable,
)

_LONGEST = 200


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
        return self.host if self.port == 22 else f"[{self.host}]:{self.port}"

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
        f"cannot speak SSH with {door.name}: {reason}. What listens there is no sshd, or one with too many "
        f"logins at a time (MaxStartups in its sshd_config). `{door.command}` tries the same.",
        may_pass=True,
    )


def unknown_key(name: str, kind: str, fingerprint: str) -> HostKeyUnknown:
    """A host that was never seen. ``name``: as known_hosts has it, ``host`` or ``[host]:port``."""
    return HostKeyUnknown(
        f"its host key is in no known_hosts of this machine: {kind} {fingerprint} for {name}. `fab trust` "
        "shows the keys of all nodes and has them known, once you say that they are those of the machines "
        "(where `ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub` shows the same). Where nobody can stand "
        "between you and the nodes, HOST_KEYS = 'new' in conf.py takes all that are unknown."
    )


def changed_key(name: str, shown: tuple[str, str], known: tuple[str, str], file: str = "") -> HostKeyChanged:
    """A host that has another key than it had. ``shown``, ``known``: kind and fingerprint. ``file``: in which
    it is known, if that is not the usual one."""
    by_file = f" -f {shlex.quote(file)}" if file else ""
    return HostKeyChanged(
        f"its host key has changed: {name} now shows {' '.join(shown)}, and known_hosts of this machine has "
        f"{' '.join(known)}. Either the machine was installed anew, or somebody stands between you and it; "
        "nothing was sent. Once you know that it was the first, forget the old key, "
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


def no_session(door: Door, reason: str) -> NodeUnreachable:
    """Logged in, and no program can be started."""
    return NodeUnreachable(
        f"cannot start a program at {door.name}: {reason}. Its sshd may forbid it for this user "
        "(ForceCommand, MaxSessions in sshd_config)."
    )


def no_program(status: int, complaint: str, pythons: tuple[str, ...]) -> NodeUnfit:
    """What was to run there did not answer: by what the shell said, find out why."""
    names = " or ".join(pythons)
    if status == 127:
        return NodeUnfit(
            f"it has no Python: there is no {names} for this user. Install one of 3.11 or newer (Debian: "
            "apt-get install python3), or say where it is: NODE_PYTHON in conf.py."
        )
    said = f": {complaint.rstrip('.')}" if complaint else ""
    return NodeUnfit(
        f"what was to run there ended with status {status}{said}. Its user needs a login shell that runs "
        f"commands, and {names} must be a Python of 3.11 or newer (NODE_PYTHON in conf.py names another)."
    )


def last_line(data: bytes) -> str:
    """The last line that says something."""
    lines = [line.strip() for line in data.decode("utf-8", "replace").splitlines() if line.strip()]
    return lines[-1][:_LONGEST] if lines else ""
