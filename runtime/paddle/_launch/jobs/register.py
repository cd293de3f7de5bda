"""Registers a launch: its record, where its user finds it, and its desk.

It must never know what is launched.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path

import msgspec

from paddle._launch.arguments import Arguments
from paddle._launch.errors import JobError
from paddle._launch.flags import flags_of
from paddle._launch.jobs.desk import Desk
from paddle._launch.jobs.index import Index
from paddle._launch.jobs.launcher import this_one
from paddle._launch.jobs.record import Record
from paddle._launch.plan import LaunchPlan
from paddle._launch.settings import Settings

# Of one call, and not of the job: who goes on from it says these anew.
_OF_A_CALL = frozenset(
    {"conf", "dry_run", "detach", "resume", "format", "show_logs", "grep_logs"}
    | {"job_dispatch_package", "job_workspace", "job_prepare", "shard_data"}
)


def register(
    launch: LaunchPlan, settings: Settings, given: Arguments, conf: Path, environ: Mapping[str, str]
) -> Desk:
    """Make the record of a launch by this process; raises JobError where nothing can be kept."""
    index = Index(environ)
    record = Record(
        id=launch.id,
        name=launch.name,
        plan=msgspec.structs.replace(launch, package=None),
        conf=conf,
        flags=_flags(settings),
        arguments=given.others,
        began=time.time(),
        launcher=this_one(),
        resumes=str(settings["resume"]),
    )
    try:
        return Desk(index.add(record.id), record)
    except OSError as error:
        raise JobError(
            f"nothing can be kept of this job in {index.folder} ({error.strerror}), so no other shell finds "
            "it: fab status, logs and stop do not know it. XDG_STATE_HOME names another folder."
        ) from error


def _flags(settings: Settings) -> dict[str, str]:
    return {
        flag.name: flag.render(settings[flag.name])
        for flag in flags_of("launcher")
        if settings.origins[flag.name] != "default" and flag.name not in _OF_A_CALL
    }
