"""Ends another agent of this node by force, with all below it: one that does not answer any more.

It reads a line of JSON, {"pid", "start", "workspace"}, on standard input. Guarantee: a process that has got
the number of one that is gone is not touched, nor is a workspace that another agent has.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import signal
import sys
from pathlib import Path

from . import private_files
from .logfile import LogFile
from .processes import Process, kill, look_up, sweep

PATIENCE_S = 60  # with a launcher that says nothing; then this process is gone


def main() -> int:
    """End the one that was named."""
    signal.alarm(PATIENCE_S)
    order = json.loads(sys.stdin.readline())
    end_by_force(Process(order["pid"], order["start"]))
    bury(Path(order["workspace"]))
    return 0


def end_by_force(outer: Process) -> None:
    """End an agent, whose outer half this is."""
    found = look_up(outer.pid)
    if found is not None and found[1] == outer:
        sweep(outer.pid)
        kill(outer)


def bury(workspace: Path) -> None:
    """Do what an agent that was killed would have done last: its secrets are gone, and its log says how."""
    place = workspace / "log" / "agent.log"
    if not place.is_file():
        return  # it had not come so far
    with contextlib.suppress(OSError):
        log = LogFile(str(place), lambda _: None)
        try:
            fcntl.flock(log.descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)  # fails where it is another's by now
            private_files.forget(workspace)
            log.say("stopped: killed by the launcher")
        finally:
            os.close(log.descriptor)
