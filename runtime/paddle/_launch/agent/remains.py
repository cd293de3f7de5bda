"""The remains of a folder that is being removed: it has lost its name first, so nobody takes what is left of
it for the folder.

It must never know who needs what. Guarantee: nothing is removed under its own name, and no link is followed.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat

TYPE_CHECKING = False  # a dispatch does without pathlib, and comes by here
if TYPE_CHECKING:
    from pathlib import Path

GONE = ".gone"
JOB = re.compile(r"JOB\d{14}")
_OF_A_JOB = re.compile(rf"\.{JOB.pattern}{re.escape(GONE)}")


def begin(place: Path) -> Path:
    """Take a folder's name away; gives the one by which the rest of it is to be removed. What has such a name
    keeps it."""
    if place.name.endswith(GONE):
        return place
    gone = place.with_name(f".{place.name}{GONE}")
    remove(gone)
    place.rename(gone)
    return gone


def remove_rest(root: str) -> None:
    """Remove what is left of workspaces whose removal was cut short, as far as that can be done."""
    for entry in os.scandir(root):
        if _OF_A_JOB.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False):
            remove(entry.path)


def remove(folder: str | os.PathLike[str]) -> None:
    """Remove a folder and what is below, as far as that can be done. No link is followed, whoever makes one
    meanwhile."""
    with contextlib.suppress(OSError):
        for _, folders, files, descriptor in os.fwalk(folder, topdown=False):
            for name in files:
                _unlink(name, descriptor)
            for name in folders:
                _remove_folder(name, descriptor)
        os.rmdir(folder)


def _unlink(name: str, descriptor: int) -> None:
    with contextlib.suppress(OSError):
        os.unlink(name, dir_fd=descriptor)


def _remove_folder(name: str, descriptor: int) -> None:
    """Remove a folder that is empty, or a link to one."""
    try:
        os.rmdir(name, dir_fd=descriptor)
    except OSError:
        _unlink(name, descriptor)


def is_folder(place: Path) -> bool:
    """Whether a folder is there, and no link."""
    try:
        return stat.S_ISDIR(place.lstat().st_mode)
    except OSError:
        return False
