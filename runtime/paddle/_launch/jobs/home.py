"""The home folder of who types a command: what the launcher keeps for itself lies below it.

It must never know what that is. Guarantee: where nobody says which folder it is, that is said in words.
"""

from __future__ import annotations

import os
from pathlib import Path

from paddle._launch.errors import UsageError


def below(path: str) -> Path:
    """A place below it. ``path``: such as ``~/.cache``."""
    try:
        return Path(path).expanduser()
    except RuntimeError as error:  # as in some containers
        raise UsageError(
            f"nothing says which folder is your home, and {path} is kept there: user {os.getuid()} has no "
            "name on this machine, and the environment no HOME. Set HOME to a folder that you may write to."
        ) from error
