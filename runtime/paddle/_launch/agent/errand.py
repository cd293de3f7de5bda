"""An errand: one command that takes its time, and of which nothing is left when it is over.

    python -I -S .../_launch/agent COMMAND [ARGUMENT ...]

It runs in a session of its own, so a terminal's Ctrl+C is for who started it to answer. Exit status: that of
the command, 128 + n where signal n killed it, 143 where the errand was called off, 127 where it cannot run.

Guarantee, by four rules:

1. SIGTERM calls it off: every descendant gets SIGTERM, and SIGKILL after the grace.
2. The death of who started it calls it off, too.
3. What the command leaves running when it ends is ended likewise.
4. When this process is killed, the command is killed.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence

from .processes import become_subreaper, descendants, send_signal, sweep
from .role import die_with_parent

GRACE_S = 1.0
_SCAN_S = 0.02
_CANNOT_RUN = 127


def main() -> int:
    """Run the command of this process's arguments."""
    signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGTERM, signal.SIGCHLD))
    with contextlib.suppress(PermissionError):  # already its leader
        os.setsid()
    for signum in (signal.SIGINT, signal.SIGHUP):
        signal.signal(signum, signal.SIG_IGN)
    become_subreaper()
    if not die_with_parent(os.getppid(), signal.SIGTERM):
        return 128 + signal.SIGTERM
    status = _run(sys.argv[1:])
    _end_the_rest()
    return status


def _run(command: Sequence[str]) -> int:
    errand = os.getpid()
    try:
        child = subprocess.Popen(command, preexec_fn=lambda: _begin(errand))
    except OSError as error:
        print(f"cannot run {command[0]}: {error.strerror}", file=sys.stderr)
        return _CANNOT_RUN
    while signal.sigwait((signal.SIGTERM, signal.SIGCHLD)) == signal.SIGCHLD:
        status = child.poll()
        if status is not None:
            return status if status >= 0 else 128 - status
    return 128 + signal.SIGTERM


def _begin(errand: int) -> None:
    """In the child, before its command: it dies with the errand, and hears what that does not."""
    for signum in (signal.SIGINT, signal.SIGHUP):
        signal.signal(signum, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    if not die_with_parent(errand, signal.SIGKILL):
        os.kill(os.getpid(), signal.SIGKILL)


def _end_the_rest() -> None:
    for process in descendants(os.getpid()):
        send_signal(process, signal.SIGTERM)
    end = time.monotonic() + GRACE_S
    while descendants(os.getpid()) and time.monotonic() < end:
        time.sleep(_SCAN_S)
    sweep(os.getpid())
