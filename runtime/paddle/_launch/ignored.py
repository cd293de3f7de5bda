"""``.paddleignore``: what of a package is not sent, in the patterns of ``.gitignore``.

It must never know where files go. Guarantee: the patterns mean what git takes them to mean, the last one that
fits decides, and what lies in a folder that is left out is left out with it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from paddle._launch.errors import WorkspaceError

NAME = ".paddleignore"
Ignores = Callable[[str], bool]  # of a path in the package, that of a folder ending with a slash


def nothing(path: str) -> bool:
    """Leave out nothing."""
    return False


def read(package: Path) -> Ignores:
    """Read the package's patterns, where it has any."""
    path = package / NAME
    if not path.is_file():
        return nothing
    from pathspec import GitIgnoreSpec  # only where it is needed

    try:
        return GitIgnoreSpec.from_lines(path.read_text(encoding="utf-8").splitlines()).match_file
    except ValueError as error:
        raise WorkspaceError(
            f"{path} is not understood: {error}. It has the patterns of .gitignore."
        ) from error
