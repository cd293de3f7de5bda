"""Heralding: what failed on one machine of a job is told to the servers of all.

A process that fails tells the servers itself, if it has met them and if it still can. One that was killed, or
has not come that far, cannot, and servers of other machines would wait for it until their patience is over.
So its launcher says it, by a process of its own, before it stops the others: what was the cause comes first.
That process is there as long as the launcher is, and says what became of it, too, should it be killed.
It also watches whether the machines of the other servers are there, as these do with this one: by connections
that end when a machine answers nothing any more.

It must never know a protocol. Guarantee: it delays the end of what runs here by no more than ``_FIRST_S``,
and the launcher's own by no more than ``_LAST_S`` (after a signal: not at all, and ``_HURRIED_S``).
"""

from __future__ import annotations

import json
import os
import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Self

from paddle._launch.fleet.cluster import Cluster, host_of
from paddle._launch.plan import role_name

_FIRST_S, _LAST_S, _HURRIED_S = 5.0, 10.0, 3.0
_LAUNCHER = "a launcher"


class Heralding:
    """Of the part of a job that is at ``cluster.here``. ``folder`` and ``environ``: as of its roles;
    ``silent_s``: after so long a machine that answers nothing is lost. To be entered before anything is
    started, and left when all has ended."""

    def __init__(
        self,
        python: str,
        runtime: Path,
        cluster: Cluster,
        folder: Path,
        environ: Mapping[str, str],
        silent_s: int,
    ) -> None:
        path = os.pathsep.join(filter(None, [str(runtime), environ.get("PYTHONPATH", "")]))
        self._argv = [python, "-P", "-m", "paddle._herald"]
        self._cluster, self._folder, self._silent_s = cluster, folder, silent_s
        self.on_lost: Callable[[str, str], None] = lambda role, text: None
        """Is told of a server whose machine is lost, by its name, and how it is known."""
        self._environ = {**environ, "PYTHONPATH": path}
        self._process: subprocess.Popen[str] | None = None
        self._until = 0.0

    def __enter__(self) -> Self:
        # Where there is no room for another process, they wait until their patience is over.
        with suppress(OSError):
            self._process = subprocess.Popen(
                self._argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                cwd=self._folder,
                env=self._environ,
                text=True,
                start_new_session=True,  # Ctrl+C is the launcher's
            )
            here = self._cluster.here
            self._write(f"the launcher at {here} was killed", None, _LAUNCHER, _LAST_S, insists=True)
            threading.Thread(target=self._listen, args=(self._process,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        """Wait until all are told, or the time is over."""
        try:
            self._wait(self._until - time.monotonic())
        finally:
            if self._process is not None:
                self._process.kill()
                self._process.wait()

    def tell(
        self, text: str, trainer: int | None, other: str = "", *, has_met: bool, hurries: bool = False
    ) -> None:
        """Begin to tell what has fallen: ``trainer``, where it was one, ``other`` role, or the launcher; wait
        a while, unless it ``hurries``. ``has_met``: trainers have come to servers, so those that are not
        there are gone."""
        within_s = _HURRIED_S if hurries else _LAST_S
        self._until = time.monotonic() + within_s
        with suppress(OSError):  # somebody has ended it
            self._write(text, trainer, other or _LAUNCHER, within_s, insists=not has_met)
        if not hurries:
            self._wait(_FIRST_S)

    def _write(self, text: str, trainer: int | None, other: str, within_s: float, *, insists: bool) -> None:
        """The last line that was written is what is told: the first when there is no launcher any more, the
        second at once."""
        told = {
            "servers": self._cluster.servers,
            "text": text,
            "trainer": trainer,
            "other": other,
            "within_s": within_s,
            "insists": insists,
            **self._will(),
        }
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.write(json.dumps(told) + "\n")
            self._process.stdin.flush()

    def _will(self) -> dict[str, object]:
        """What is so when this machine is lost, and whose machines are watched."""
        cluster = self._cluster
        trainers, servers = cluster.own_workers, cluster.own_servers
        names = [role_name("trainer", each) for each in trainers] + [
            role_name("pserver", each) for each in servers
        ]
        return {
            "watched": [number for number in range(len(cluster.servers)) if number not in servers],
            "silent_s": self._silent_s,
            "lost": _lost(", ".join(names), cluster.here, self._silent_s),
            "lost_trainer": trainers[0] if trainers else None,
            "lost_other": "" if trainers else names[0],
        }

    def _listen(self, process: subprocess.Popen[str]) -> None:
        """A line is the number of a server whose machine is lost."""
        for line in process.stdout or ():
            number = int(line)
            role, host = role_name("pserver", number), host_of(self._cluster.servers[number])
            self.on_lost(role, _lost(role, host, self._silent_s))

    def _wait(self, seconds: float) -> None:
        if self._process is not None and seconds > 0:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(seconds)


def _lost(roles: str, host: str, silent_s: int) -> str:
    return f"the machine of {roles}, {host}, has not answered for {silent_s} s: it is off or disconnected"
