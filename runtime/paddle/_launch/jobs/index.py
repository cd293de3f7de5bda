"""The index of a user's jobs: a folder with one folder for each launch, and which of them is meant.

It is ``$XDG_STATE_HOME/paddle-fabric/jobs``, ``~/.local/state/paddle-fabric/jobs`` where that is not set: so
a job is found from any folder, also where ROOT_DIR is on other machines. It must never know what a job does.

Guarantee: no other user can enter it. Records of jobs that run are never removed; of others the newest
``MOST`` are kept.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import msgspec

from paddle._launch.errors import JobError
from paddle._launch.jobs import home
from paddle._launch.jobs.record import FORMAT, Record, State, read_record, read_state

MOST = 200


class Standing(StrEnum):
    """Whether a launch goes on. ``lost``: its launcher is gone and did not say how it ended. ``elsewhere``:
    only the machine that it was started on knows."""

    RUNS = "runs"
    ENDED = "ended"
    LOST = "lost"
    ELSEWHERE = "elsewhere"


@dataclass(frozen=True, slots=True)
class Job:
    """A launch, as its record has it."""

    folder: Path
    record: Record

    @property
    def state(self) -> State | None:
        """How it stood when that was last written."""
        return read_state(self.folder)

    @property
    def standing(self) -> Standing:
        """Whether it goes on, now."""
        state = self.state
        if state is not None and state.is_over:
            return Standing.ENDED
        launcher = self.record.launcher
        if not launcher.is_of_here:
            return Standing.ELSEWHERE
        if launcher.lives:
            return Standing.RUNS
        state = self.state  # it may have written its end meanwhile
        return Standing.ENDED if state is not None and state.is_over else Standing.LOST

    @property
    def goes_on(self) -> bool:
        """Whether it runs, or needs no launcher to: Kubernetes keeps its pods until they are taken away."""
        standing = self.standing
        return standing is Standing.RUNS or (standing is Standing.LOST and self.record.plan.pods is not None)


class Index:
    """The jobs of a user; ``environ`` says where."""

    def __init__(self, environ: Mapping[str, str] = os.environ) -> None:
        own = environ.get("XDG_STATE_HOME", "")
        state = Path(own) if own.startswith("/") else home.below("~/.local/state")
        self.folder = state / "paddle-fabric" / "jobs"

    def ground(self) -> Path:
        """Make what all records are in; gives it. Raises OSError, also where it is not this user's alone."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = self.folder.stat()
        if status.st_uid != os.geteuid():
            raise PermissionError(1, "belongs to another user", str(self.folder))
        if status.st_mode & 0o077:
            self.folder.chmod(0o700)
        return self.folder

    def add(self, id: str) -> Path:
        """Make the folder of a launch; gives it. Raises OSError as ``ground`` does."""
        place = self.ground() / id
        self._forget_old()
        place.mkdir(mode=0o700)
        return place

    def jobs(self) -> list[Job]:
        """Give all jobs that can be read, the oldest first; raises JobError where none can, though there may
        be some."""
        try:
            folders = [path for path in self.folder.iterdir() if path.is_dir()]
        except FileNotFoundError:
            return []
        except OSError as error:
            raise JobError(
                f"cannot read {self.folder}, which has the records of jobs: {error.strerror}. They are for "
                "the user who launched them; XDG_STATE_HOME says where yours are."
            ) from error
        found = [job for folder in folders if (job := _read(folder))]
        return sorted(found, key=lambda job: (job.record.began, job.record.id))

    def _forget_old(self) -> None:
        with contextlib.suppress(JobError):
            over = [job for job in self.jobs() if job.standing in (Standing.ENDED, Standing.LOST)]
            for job in over[: max(0, len(over) - MOST + 1)]:
                shutil.rmtree(job.folder, ignore_errors=True)


def choose(jobs: Iterable[Job], name: str, conf: Path | None, *, what: str, running: bool) -> Job:
    """Give the job that is meant: by its name or id; without one the only one of ``conf``.

    ``what`` is to be done with it, in words, and ``running``: that can be done only with one that runs.
    Without a name the only one that runs is meant, or, where none has to run, the newest.
    """
    known = list(jobs)
    if name:
        return _named(known, name)
    mine = [job for job in known if conf is None or job.record.conf == conf]
    whose = f" of {conf}" if conf else ""
    live = [job for job in mine if job.goes_on]
    if len(live) > 1:
        names = ", ".join(job.record.id for job in live)
        raise JobError(f"{len(live)} jobs{whose} run: {names}. Say which one to {what}: --job=NAME.")
    if live:
        return live[0]
    if running or not mine:
        raise JobError(_none(known, mine, conf, what))
    return mine[-1]


def _none(known: list[Job], mine: list[Job], conf: Path | None, what: str) -> str:
    """Say that there is no such job, and which there are."""
    whose = f" of {conf}" if conf else ""
    how = "runs" if mine else "was started by this user"
    if others := [one.record.id for one in known if one not in mine and one.standing is Standing.RUNS]:
        hint = f"Of other settings files there are {', '.join(others)}: --job=NAME."
    elif mine:
        hint = f"The last one, {mine[-1].record.id}, is over: fab status shows it."
    else:
        hint = "`fab status --all` shows all." if known else "`fab start DIR` starts one."
    return f"no job{whose} {how}, so there is nothing to {what}. {hint}"


def _named(jobs: list[Job], name: str) -> Job:
    found = [job for job in jobs if name in (job.record.id, job.record.name)]
    if len(found) == 1:
        return found[0]
    if found:
        ids = ", ".join(job.record.id for job in found)
        raise JobError(f"{len(found)} jobs are called {name}: give one of {ids}.")
    newest = ", ".join(job.record.id for job in jobs[-3:])
    raise JobError(
        f"there is no job {name} of this user" + (f"; the newest are {newest}." if newest else ".")
    )


def _read(folder: Path) -> Job | None:
    """A record of another release, or half of one, is none."""
    try:
        record = read_record(folder)
    except (OSError, msgspec.MsgspecError, NotImplementedError):
        return None
    return Job(folder, record) if record.format == FORMAT else None
