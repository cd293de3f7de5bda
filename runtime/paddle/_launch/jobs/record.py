"""The record of a launch: two files in a folder of its own, for whoever asks about it later.

``job.json`` is written once: what the launch is. ``state.json`` is written anew at every change: how it
stands. It must never hold a secret: a plan has none (they go to agents alone), and what a user wrote on the
command line lies in a folder that nobody else may enter.

Guarantee: a file is there whole or not at all, and what is read is of the types that stand here, or refused.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Any

import msgspec

from paddle._launch import bulletins
from paddle._launch.board import Row
from paddle._launch.jobs.launcher import Launcher
from paddle._launch.news import Failed
from paddle._launch.plan import LaunchPlan

FORMAT = 1
_JOB, _STATE = "job.json", "state.json"


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """What a launch is.

    ``id``: its name, and what tells it from others of that name. ``plan``: without what was sent.
    ``conf``: the settings file. ``flags``: of the launcher, as text, all that somebody set; ``arguments``: of
    the training program. ``began``: seconds since 1970. ``resumes``: the job that it goes on from.
    """

    format: int = FORMAT
    id: str
    name: str
    plan: LaunchPlan
    conf: Path
    flags: dict[str, str]
    arguments: tuple[str, ...]
    began: float
    launcher: Launcher
    resumes: str = ""


class State(msgspec.Struct, frozen=True, kw_only=True):
    """How a launch stands. ``since``: when its phase began, seconds since 1970. ``exit_status``: None while
    it runs; ``waiting``: for whom the others wait, in words. ``left``: what its launcher left behind, in
    words; while that is there it is not over."""

    phase: str
    since: float
    rows: tuple[Row, ...]
    waiting: str = ""
    failed: Failed | None = None
    exit_status: int | None = None
    log: str = ""
    curve: str = ""
    model: str = ""
    left: str = ""

    @property
    def is_over(self) -> bool:
        """Whether nothing of it goes on."""
        return self.exit_status is not None and not self.left


def write_record(folder: Path, record: Record) -> None:
    """Write what the launch is."""
    _write(folder / _JOB, record)


def write_state(folder: Path, state: State) -> None:
    """Write how it stands, in place of what was written before."""
    _write(folder / _STATE, state)


def read_record(folder: Path) -> Record:
    """Read what the launch is; raises OSError or ``msgspec.MsgspecError``."""
    return msgspec.json.decode((folder / _JOB).read_bytes(), type=Record, dec_hook=_path)


def read_state(folder: Path) -> State | None:
    """Read how it stood last; None where nothing was written, or nothing that can be read."""
    with contextlib.suppress(OSError, msgspec.MsgspecError):
        return msgspec.json.decode((folder / _STATE).read_bytes(), type=State, dec_hook=_path)
    return None


def _write(place: Path, fields: object) -> None:
    part = place.with_name(f".{place.name}.part")
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(bulletins.encoded(fields))
    part.rename(place)


def _path(kind: type, value: Any) -> Any:
    if kind is Path:
        return Path(value)
    raise NotImplementedError(f"a record has no {kind}")
