"""What `fab stop` does: has a launch end its job, or, where none is left to ask, ends what it left here.

It must never signal a process by name or by number alone. Guarantee: only the launcher that was written down,
by pid and start time, and processes that carry this job's own id in their environment are signalled; what
it says is done, is done.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from paddle._launch.agent.processes import Process, look_up, send_signal
from paddle._launch.errors import JobError
from paddle._launch.jobs.caller import Caller, NoAnswer
from paddle._launch.jobs.index import Job, Standing
from paddle._launch.plan import JOB_VARIABLE

_USUAL_S = 15.0  # to stop, kill, and begin to collect
_LEASH_S = 3.0  # an agent whose launcher is gone needs two
_LOOK_S = 0.05


def stop(job: Job, *, grace_s: float | None, kill: bool, by: str) -> Iterator[str]:
    """Stop a job; gives what happens, in lines. Raises JobError where it goes on all the same."""
    record = job.record
    match job.standing:
        case Standing.ENDED:
            state = job.state
            yield f"{record.name} has ended already, with status {state.exit_status if state else '?'}"
        case Standing.LOST:
            yield f"{record.name} has lost its launcher, process {record.launcher.pid}: its agents end it"
            yield from _end_the_rest(record.id)
        case Standing.ELSEWHERE:
            raise JobError(
                f"{record.name} was started on {record.launcher.machine}, and only there can it be stopped."
            )
        case Standing.RUNS:
            yield from _ask(job, grace_s=grace_s, kill=kill, by=by)


def _ask(job: Job, *, grace_s: float | None, kill: bool, by: str) -> Iterator[str]:
    record = job.record
    try:
        with Caller(job.folder) as caller:
            caller.stop(grace_s=grace_s, kill=kill, by=by)
            yield f"stopping {record.name}"
            yield from _listen(caller, _USUAL_S + (grace_s or 0.0))
    except (NoAnswer, OSError, msgspec.MsgspecError) as error:
        if job.standing is Standing.RUNS:
            yield from _without_answer(job, str(error), kill=kill)
            return
    if not _until(lambda: not record.launcher.lives, _USUAL_S):
        raise JobError(
            f"{record.name} is being stopped, and its launcher, process {record.launcher.pid}, has not ended "
            f"yet: it collects results. `fab status --job={record.id}` shows it."
        )
    state = job.state
    status = state.exit_status if state else None
    yield f"stopped {record.name}: it ended with status {status}; logs in {record.plan.home / 'log'}"


def _listen(caller: Caller, patience_s: float) -> Iterator[str]:
    """Hand on what the launch says until its end, as long as somebody may be expected to wait."""
    end = time.monotonic() + patience_s
    is_stopping = False
    for told in caller.follow():
        match told:
            case {"event": "phase", "phase": "stop" | "kill" | "collect"}:
                is_stopping = True
            case {"event": "said", "text": str(text)} if is_stopping:
                yield text
            case {"event": "end"}:
                return
        if time.monotonic() > end:
            return


def _without_answer(job: Job, trouble: str, *, kill: bool) -> Iterator[str]:
    """A launcher that hangs is asked as a shell asks; by force its agents lose their leash, and end all."""
    launcher, name = job.record.launcher, job.record.name
    yield trouble
    launcher.signal(signal.SIGKILL if kill else signal.SIGTERM)
    if not _until(lambda: not launcher.lives, _USUAL_S):
        raise JobError(
            f"{name} goes on: its launcher, process {launcher.pid}, does not react to TERM. It hangs, or was "
            f"paused. `fab stop --job={job.record.id} --kill` kills it, and its agents stop everything then."
        )
    yield f"{'killed' if kill else 'stopped'} its launcher, process {launcher.pid}"
    yield from _end_the_rest(job.record.id)


def _end_the_rest(id: str) -> Iterator[str]:
    """Wait until this machine's agents have ended the job; end what is left after that."""
    if _until(lambda: not of_job(id), _LEASH_S):
        yield "no process of it is left on this machine"
        return
    for signum in (signal.SIGTERM, signal.SIGKILL):
        for process in of_job(id):
            yield f"{signum.name} to process {process.pid}, which its agent left"
            send_signal(process, signum)
        if _until(lambda: not of_job(id), _LEASH_S):
            yield "no process of it is left on this machine"
            return
    raise JobError(f"cannot be killed: {', '.join(str(process.pid) for process in of_job(id))}.")


def of_job(id: str) -> list[Process]:
    """Give the processes of this machine that carry a job's id, which no other job has."""
    mark = f"{JOB_VARIABLE}={id}".encode()
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


def _until(condition: Callable[[], bool], patience_s: float) -> bool:
    end = time.monotonic() + patience_s
    while not (is_so := condition()) and time.monotonic() < end:
        time.sleep(_LOOK_S)
    return is_so
