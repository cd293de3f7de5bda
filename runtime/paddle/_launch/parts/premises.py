"""Where a part of a job runs: the folder of its agent, and the folder of its logs.

Guarantee: the agent's folder is gone when it is left, on whatever way; a log holds what this job printed.
"""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from paddle._launch.errors import UsageError
from paddle._launch.plan import LaunchPlan


@contextlib.contextmanager
def workspace(prefix: str) -> Iterator[Path]:
    """A folder for the agent of this part alone."""
    folder = Path(tempfile.mkdtemp(prefix=prefix)).resolve()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


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
