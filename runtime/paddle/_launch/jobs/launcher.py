"""Which process a launch is, so that nobody takes another one for it.

It must never know a job. Guarantee: a process is the launcher only if its pid, its start time, and the boot
of its machine are those that were written down; a pid that was given away since is told from it.
"""

from __future__ import annotations

import os
import signal
import socket
from pathlib import Path

import msgspec

from paddle._launch.agent.processes import Process, look_up, send_signal


class Launcher(msgspec.Struct, frozen=True, kw_only=True):
    """A process for good. ``start``: clock ticks since ``boot``. ``namespace``: in which ``pid`` counts."""

    pid: int
    start: int
    machine: str
    boot: str
    namespace: str

    @property
    def is_of_here(self) -> bool:
        """Whether this machine can know whether it lives."""
        return (self.machine, self.namespace) == (socket.gethostname(), _namespace())

    @property
    def lives(self) -> bool:
        """Whether it runs. To be asked only where it ran."""
        found = look_up(self.pid)
        return self.boot == _boot() and found is not None and found[1] == Process(self.pid, self.start)

    def signal(self, signum: signal.Signals) -> None:
        """Signal this very process; one that has its pid now is left alone."""
        if self.lives:
            send_signal(Process(self.pid, self.start), signum)


def this_one() -> Launcher:
    """Give this process."""
    found = look_up(os.getpid())
    assert found is not None  # it runs
    return Launcher(
        pid=found[1].pid,
        start=found[1].start,
        machine=socket.gethostname(),
        boot=_boot(),
        namespace=_namespace(),
    )


def _boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""


def _namespace() -> str:
    try:
        return str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        return ""
