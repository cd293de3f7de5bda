"""The job's secrets on a node: files that only the roles' user may read, for as long as the agent lives.

They lie in the workspace and outside what is collected from there. Guarantee: none is readable to others, not
for a moment, and whatever lay in its place is neither followed nor kept.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path

# How the launcher calls a secret: the file that it is in, and the variable by which roles find that.
_KEPT = {
    "token": (".job.token", "PADDLE_TOKEN_FILE"),
    "tls_ca": (".job.ca", "PADDLE_TLS_CA"),
    "tls_cert": (".job.cert", "PADDLE_TLS_CERT"),
    "tls_key": (".job.key", "PADDLE_TLS_KEY"),
}
NAMES = frozenset(name for name, _ in _KEPT.values())


def keep(workspace: Path, secrets: Mapping[str, str]) -> dict[str, str]:
    """Write the files anew; gives the variables that roles are told."""
    forget(workspace)
    told = {}
    for secret, text in secrets.items():
        name, variable = _KEPT[secret]
        path = told[variable] = str(workspace.resolve() / name)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "w") as file:
            os.fchmod(descriptor, 0o600)  # whatever the umask
            file.write(f"{text}\n")
    return told


def forget(workspace: Path) -> None:
    """Remove what ``keep`` wrote."""
    for name in NAMES:
        with contextlib.suppress(OSError):
            (workspace / name).unlink()
