"""What `fab stop` does: has a launch end its job, or, where none is left to ask, ends what it left on nodes.

It must never signal a process by name or by number alone. Guarantee: only the launcher that was written down,
by pid and start time, and processes that carry this job's own id in their environment are signalled; what
it says is done, is done.
"""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Iterator
from dataclasses import replace

import msgspec

from paddle._launch.agent.stragglers import until
from paddle._launch.board import GOES_ON
from paddle._launch.errors import JobError
from paddle._launch.jobs import remnants
from paddle._launch.jobs.caller import Caller, NoAnswer
from paddle._launch.jobs.index import Job, Standing
from paddle._launch.jobs.record import Record, write_state
from paddle._launch.kubernetes import after

_USUAL_S = 15.0  # to stop, kill, and begin to collect
_OF_PODS_S = 120.0  # the same, and until Kubernetes has taken all away


def stop(job: Job, *, grace_s: float | None, kill: bool, by: str) -> Iterator[str]:
    """Stop a job; gives what happens, in lines. Raises JobError where it goes on all the same."""
    record = job.record
    match job.standing:
        case Standing.ENDED:
            state = job.state
            yield f"{record.name} has ended already, with status {state.exit_status if state else '?'}"
        case Standing.LOST:
            whose = "its agents end it" if record.plan.pods is None else "its pods go on"
            if (state := job.state) is not None and state.left:
                yield f"{record.name} has ended with status {state.exit_status}, and was not taken away"
            else:
                yield f"{record.name} has lost its launcher, process {record.launcher.pid}: {whose}"
            yield from _end_left(record)
            _note_end(job)
        case Standing.ELSEWHERE:
            raise JobError(
                f"{record.name} was started on {record.launcher.machine}, and only there can it be stopped."
            )
        case Standing.RUNS:
            yield from _ask(job, grace_s=grace_s, kill=kill, by=by)


def _ask(job: Job, *, grace_s: float | None, kill: bool, by: str) -> Iterator[str]:
    record = job.record
    patience_s = _USUAL_S if record.plan.pods is None else _OF_PODS_S
    try:
        with Caller(job.folder) as caller:
            caller.stop(grace_s=grace_s, kill=kill, by=by)
            yield f"stopping {record.name}"
            yield from _listen(caller, patience_s + (grace_s or 0.0))
    except (NoAnswer, OSError, msgspec.MsgspecError) as error:
        if job.standing is Standing.RUNS:
            yield from _without_answer(job, str(error), kill=kill)
            return
    if not until(lambda: not record.launcher.lives, patience_s):
        raise JobError(
            f"{record.name} is being stopped, and its launcher, process {record.launcher.pid}, has not ended "
            f"yet: it collects results. `fab status --job={record.id}` shows it."
        )
    state = job.state
    status = state.exit_status if state else None
    if state and state.left:
        raise JobError(f"{record.name} has ended with status {status}. {state.left}")
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
    if not until(lambda: not launcher.lives, _USUAL_S):
        raise JobError(
            f"{name} goes on: its launcher, process {launcher.pid}, does not react to TERM. It hangs, or was "
            f"paused. `fab stop --job={job.record.id} --kill` kills it, and its agents stop everything then."
        )
    yield f"{'killed' if kill else 'stopped'} its launcher, process {launcher.pid}"
    yield from _end_left(job.record)


def _note_end(job: Job) -> None:
    """Of a job that needs no launcher nobody else could say that it is over."""
    if job.record.plan.pods is not None and (state := job.state) is not None:
        status = 128 + signal.SIGTERM if state.exit_status is None else state.exit_status
        rows = tuple(replace(row, state="stopped") if row.state in GOES_ON else row for row in state.rows)
        with contextlib.suppress(OSError):
            over = msgspec.structs.replace(state, exit_status=status, rows=rows, left="")
            write_state(job.folder, over)


def _end_left(record: Record) -> Iterator[str]:
    """End what a launcher that is gone has left."""
    if record.plan.pods is None:
        yield from remnants.end(record.plan, record.id)
    else:
        yield from after.end(record.plan)
