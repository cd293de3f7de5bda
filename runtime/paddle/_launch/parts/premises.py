"""Where a part of a job runs: the folder of its agent, and the folder of its logs.

Guarantee: the agent's folder is gone when it is left, on whatever way, and not before; a log holds what this
job printed.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from paddle._launch.errors import UsageError
from paddle._launch.plan import LaunchPlan


@contextlib.contextmanager
def workspace(prefix: str) -> Iterator[Path]:
    """A folder for the agent of this part alone.

    It is locked: what removes files of ``/tmp`` that nobody has looked at for some days, such as the job's
    token, passes over that (tmpfiles.d(5), Age)."""
    folder = Path(tempfile.mkdtemp(prefix=prefix)).resolve()
    try:
        with _locked(folder):
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with contextlib.suppress(OSError):  # a file system without locks
            fcntl.flock(descriptor, fcntl.LOCK_SH)
        yield
    finally:
        os.close(descriptor)


def empty_logs(launch: LaunchPlan, folder: Path) -> None:
    """Make the folder of the logs, and empty those that are written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for role in launch.nodes[0].roles:
            Path(role.log).write_bytes(b"")
    except OSError as error:
        raise UsageError(
            f"--log_dir: {error.filename}: {error.strerror}. Give a folder that can be written to."
        ) from error


def here() -> Path:
    """The current folder."""
    try:
        return Path.cwd()
    except FileNotFoundError as error:
        raise UsageError("the current folder does not exist any more. cd to one that does.") from error
