"""A role: one command of the plan, running, the two pipes that come from it, and one that goes there."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from .lines import LONGEST_LINE, Lines
from .logfile import LogFile
from .processes import Process

LONGEST_REPORT = 1 << 16
CHUNK = 1 << 16

_ROLE = "PADDLE_ROLE_NAME"  # by which a process shows that it is of a role, whoever its parent is by now
_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None)


def die_with_parent(parent: int, signum: int) -> bool:
    """Ask for ``signum`` when the parent dies; False when ``parent`` is dead already."""
    _libc.prctl(_PR_SET_PDEATHSIG, signum)
    return os.getppid() == parent


def remnants(name: str, session: int) -> Callable[[Process], bool]:
    """What tells that a process is of role ``name``, whose own process was ``session``: the session in which
    it was started, or its name in the environment. Who left the one and was given another of the other is no
    copy of the role."""
    mark = f"{_ROLE}={name}".encode()

    def belong(process: Process) -> bool:
        try:
            if os.getsid(process.pid) == session:
                return True
            return mark in Path(f"/proc/{process.pid}/environ").read_bytes().split(b"\0")
        except OSError:  # it is gone, or another user's
            return False

    return belong


class Role:
    """One command of the plan, running. ``told``: variables that the agent sets itself; ``restarts``: how
    often the role was started before."""

    def __init__(
        self,
        name: str,
        plan: Mapping[str, Any],
        workspace: str,
        log: LogFile,
        told: Mapping[str, str],
        restarts: int = 0,
    ) -> None:
        self.name = name
        self.log = log
        self.printed, self.reported = Lines(LONGEST_LINE), Lines(LONGEST_REPORT)
        self.output, stdout = os.pipe()
        self.report, report = os.pipe()
        news, self._news = os.pipe()
        self.open = {self.output, self.report}
        try:
            again = {"PADDLE_RESTARTS": str(restarts)} if restarts else {}
            self.pid = _spawn(plan, workspace, stdout, report, news, {**told, **again, _ROLE: name})
        except (OSError, ValueError):
            for descriptor in (*self.open, self._news):
                os.close(descriptor)
            raise
        finally:
            for descriptor in (stdout, report, news):
                os.close(descriptor)
        for descriptor in (*self.open, self._news):
            os.set_blocking(descriptor, False)

    def tell(self, said: Mapping[str, Any]) -> None:
        """Say something to it. A role that never listens, or is gone, does not hear it."""
        with contextlib.suppress(OSError):
            os.write(self._news, json.dumps(said).encode() + b"\n")

    def ended(self) -> None:
        """It hears nothing any more."""
        os.close(self._news)

    def read(self, descriptor: int) -> bytes | None:
        """One chunk of a pipe, empty when nothing is there yet, None when nothing more will come."""
        try:
            data = os.read(descriptor, CHUNK)
        except BlockingIOError:
            return b""
        if data:
            return data
        self.open.remove(descriptor)
        os.close(descriptor)
        return None


def _spawn(
    plan: Mapping[str, Any], workspace: str, stdout: int, report: int, news: int, told: Mapping[str, str]
) -> int:
    agent = os.getpid()
    pipes = {"PADDLE_REPORT_FD": report} | ({"PADDLE_NEWS_FD": news} if plan.get("hears") else {})
    child = subprocess.Popen(
        plan["argv"],
        cwd=plan.get("folder") or workspace,
        env={**_environment(os.environ, plan), **{name: str(fd) for name, fd in pipes.items()}, **told},
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=subprocess.STDOUT,
        pass_fds=tuple(pipes.values()),
        start_new_session=True,
        preexec_fn=lambda: _begin(agent),
    )
    child.returncode = 0  # the agent reaps all children alike, so Popen must not wait for this one
    return child.pid


def _begin(agent: int) -> None:
    """In the child, before its command: it dies with the agent, and hears what the agent ignores."""
    for signum in (signal.SIGINT, signal.SIGHUP):
        signal.signal(signum, signal.SIG_DFL)
    if not die_with_parent(agent, signal.SIGKILL):
        os.kill(os.getpid(), signal.SIGKILL)


def _environment(base: Mapping[str, str], plan: Mapping[str, Any]) -> dict[str, str]:
    """The node's environment with the plan's changes; ``prepend`` goes before what a path has on the node."""
    changes = plan["env"]
    unset = tuple(name[:-1] for name, value in changes.items() if value is None and name.endswith("*"))
    env = {n: value for n, value in base.items() if n not in changes and not n.startswith(unset)}
    env |= {name: value for name, value in changes.items() if value is not None}
    for name, value in plan["prepend"].items():
        env[name] = os.pathsep.join(filter(None, (value, env.get(name))))
    return env
