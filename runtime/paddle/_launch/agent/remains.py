"""The remains of a folder that is being removed: it has lost its name first, so nobody takes what is left of
it for the folder.

It must never know who needs what. Guarantee: nothing is removed under its own name, and no link is followed.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
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
    shutil.rmtree(gone, ignore_errors=True)
    place.rename(gone)
    return gone


def remove_rest(root: Path) -> None:
    """Remove what is left of workspaces whose removal was cut short, as far as that can be done."""
    for entry in os.scandir(root):
        if _OF_A_JOB.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path, ignore_errors=True)


def is_folder(place: Path) -> bool:
    """Whether a folder is there, and no link."""
    try:
        return stat.S_ISDIR(place.lstat().st_mode)
    except OSError:
        return False
