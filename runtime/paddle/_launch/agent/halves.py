"""The two halves of the agent: the inner runs the roles, the outer ends what a killed inner one left, and one
that hangs: it moves every second, unless it waits for something that it cannot do without, such as a disk on
which a role is to be started.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import threading
from pathlib import Path

from . import private_files
from .logfile import LogFile
from .loop import OUTER_DIED, Agent
from .processes import become_subreaper, look_up, sweep
from .role import CHUNK, die_with_parent

HANGS_S = 30.0  # the launcher has long given it up, then
_LOOK_S, _LAST_S = 1.0, 1.0
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)  # who starts an agent may hold them back from it


def main() -> int:
    """Become two halves in a session of their own: a terminal's Ctrl+C is for the launcher to answer."""
    with contextlib.suppress(PermissionError):  # already its leader, as under sshd
        os.setsid()
    for signum in (*SIGNALS, signal.SIGPIPE):
        signal.signal(signum, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)  # those that waited are forgotten
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    become_subreaper()
    will, testament = os.pipe()
    pulse, heart = os.pipe()
    outer = os.getpid()
    if found := look_up(outer):
        begun = {"event": "begun", "pid": outer, "start": found[1].start}
        os.write(1, json.dumps(begun).encode() + b"\n")
    inner = os.fork()
    if inner:
        os.close(testament)
        os.close(heart)
        return _guard(inner, will, pulse)
    os.close(will)
    os.close(pulse)
    become_subreaper()
    return Agent(testament, heart).run() if die_with_parent(outer, OUTER_DIED) else 1


def _guard(inner: int, will: int, pulse: int) -> int:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())  # they are for this thread
    threading.Thread(target=_feel, args=[pulse], daemon=True).start()
    signal.pthread_sigmask(signal.SIG_SETMASK, before)
    signal.signal(signal.SIGTERM, lambda *_: os.kill(inner, signal.SIGTERM))
    while (ended := _first_to_end()) != inner:
        os.waitpid(ended, 0)  # an orphan that passed by an inner half just dying
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # before another process can get the inner half's number
    status = os.waitstatus_to_exitcode(os.waitpid(inner, 0)[1])
    sweep(os.getpid())
    path = os.fsdecode(os.read(will, CHUNK))
    if status != 0 and path:
        last = threading.Thread(target=_say_last, args=[path, status], daemon=True)
        last.start()
        last.join(_LAST_S)  # the disk may stand still
    return abs(status)


def _say_last(path: str, status: int) -> None:
    private_files.forget(Path(path).parent.parent)
    LogFile(path, lambda _: None).say(f"stopped: the inner half ended with status {status}")


def _feel(pulse: int) -> None:
    """End all once the inner half has not moved for ``HANGS_S`` in which this one did."""
    still_s = 0.0
    while still_s < HANGS_S:
        if not select.select([pulse], [], [], _LOOK_S)[0]:
            still_s += _LOOK_S
        elif os.read(pulse, CHUNK):
            still_s = 0.0
        else:
            return  # it has ended
    sweep(os.getpid())


def _first_to_end() -> int:
    """Wait for a child's end; its pid remains its own, for it is not reaped."""
    found = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)
    assert found is not None  # it waits
    return found.si_pid
