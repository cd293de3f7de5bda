"""The folder of a node's logs, made fresh for a job.

It must never know what is logged. Guarantee: of what lies there nothing is removed but what roles and agents
make, by its name; the rest is somebody else's, a user's notes or another program's logs. Where the folder is
a link, what it leads to is not this job's at all, and nothing is removed.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path

OWN = "agent.log"
_MADE = frozenset(
    {
        *("server.log", "train.log", "paddle_trainer.INFO", "paddle_pserver2.INFO"),
        *("paddle_trainer.profile.txt", "paddle_trainer.trace.json"),
    }
)


def clear(folder: Path, logs: Iterable[str]) -> str:
    """Remove the logs of the job before; ``logs``: those that roles of this one write. Says what the user
    should know, if anything."""
    if folder.is_symlink():
        where = os.path.realpath(folder)
        return f"{folder} is a link to {where}: nothing is removed there, logs come behind what there is"
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        for name in _MADE | {os.path.basename(log) for log in logs}:  # noqa: PTH119  names are enough
            with contextlib.suppress(FileNotFoundError, IsADirectoryError):
                os.unlink(name, dir_fd=descriptor)
    finally:
        os.close(descriptor)
    return ""


def begin(descriptor: int, folder: Path) -> None:
    """Empty the agent's own log, which it has for itself, unless a link leads to it."""
    if not folder.is_symlink():
        os.ftruncate(descriptor, 0)
