"""Ends another agent of this node by force, with all below it: one that does not answer any more.

It reads a line of JSON, {"pid", "start"}, on standard input. Guarantee: a process that has got the number of
one that is gone is not touched.
"""

from __future__ import annotations

import json
import signal
import sys

from .processes import Process, look_up, send_signal, sweep

PATIENCE_S = 60  # with a launcher that says nothing; then this process is gone


def main() -> int:
    """End the one that was named."""
    signal.alarm(PATIENCE_S)
    order = json.loads(sys.stdin.readline())
    end_by_force(Process(order["pid"], order["start"]))
    return 0


def end_by_force(outer: Process) -> None:
    """End an agent, whose outer half this is."""
    found = look_up(outer.pid)
    if found is not None and found[1] == outer:
        sweep(outer.pid)
        send_signal(outer, signal.SIGKILL)
