"""The job's token on a node: a file that only the roles' user may read, for as long as the agent lives.

It lies in the workspace and outside what is collected from there. Guarantee: it is never readable to others,
not for a moment, and whatever lay in its place is neither followed nor kept.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

VARIABLE = "PADDLE_TOKEN_FILE"
NAME = ".job.token"


def keep(workspace: Path, token: str) -> str:
    """Write the file anew; gives its path."""
    path = workspace.resolve() / NAME
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        os.fchmod(descriptor, 0o600)  # whatever the umask
        file.write(f"{token}\n")
    return str(path)


def forget(path: str) -> None:
    """Remove the file that ``keep`` wrote."""
    if path:
        with contextlib.suppress(OSError):
            Path(path).unlink()
