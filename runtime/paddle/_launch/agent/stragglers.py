"""Ends what is left on a node of a job whose launcher is gone, should its agent not have done so.

It reads a line of JSON on standard input

    {"job", "wait_s", "grace_s"}    its id; how long its agent may take to end it, and roles after SIGTERM

and answers {"ended", "left"}: pid -> command line of those that were signalled, and of those that live on.

It must never know a job by a name. Guarantee: only processes that carry this id in their environment are
signalled, each known by its pid and start time together; one that has got its pid since is left alone.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

from . import end_of_input
from .answers import Answers
from .killer import PATIENCE_S
from .ports import command
from .processes import GIVE_UP_S, Process, look_up, send_signal

VARIABLE = "PADDLE_JOB_ID"  # by which a process shows whose it is
_LOOK_S = 0.05


def main() -> int:
    """End what is left, and say what that was."""
    signal.alarm(PATIENCE_S)
    order = json.loads(sys.stdin.readline())
    end_of_input.notice(lambda: os._exit(0))
    answers = Answers(sys.stdout.fileno())
    with answers.beating():
        ended, left = end(order["job"], order["wait_s"], order["grace_s"])
        answers.say(ended=ended, left=left)
    return 0


def end(job: str, wait_s: float, grace_s: float) -> tuple[dict[int, str], dict[int, str]]:
    """Wait, and end what is left then; gives what was signalled, and what cannot be killed."""
    ended: dict[int, str] = {}
    for signum, patience_s in ((None, wait_s), (signal.SIGTERM, grace_s), (signal.SIGKILL, GIVE_UP_S)):
        for process in of_job(job) if signum else ():
            ended[process.pid] = command(Path("/proc", str(process.pid)))
            send_signal(process, signum or signal.SIGTERM)
        if until(lambda: not of_job(job), patience_s):
            return ended, {}
    return ended, {process.pid: ended.get(process.pid, "") for process in of_job(job)}


def of_job(job: str) -> list[Process]:
    """Give the processes of this machine that carry a job's id, which no other job has."""
    mark = f"{VARIABLE}={job}".encode()
    found = []
    for name in os.listdir("/proc"):  # noqa: PTH208  names are enough
        known = look_up(int(name)) if name.isdigit() else None
        if known is None:
            continue
        try:
            environ = Path("/proc", name, "environ").read_bytes()
        except OSError:  # another user's, or over
            continue
        if mark in environ.split(b"\0"):
            found.append(known[1])
    return found


def until(condition: Callable[[], bool], patience_s: float) -> bool:
    """Wait for it."""
    end_at = time.monotonic() + patience_s
    while not (is_so := condition()) and time.monotonic() < end_at:
        time.sleep(_LOOK_S)
    return is_so
