"""One file or folder in two places, without its bytes twice where the disk has files of two names.

It must never know what is in them. Guarantee: a file that is shown is whole at any moment, whoever
else shows it there at the same time.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path


def show(own: Path, there: Path) -> None:
    """Have a file in another place, too, instead of what is there; folders are made."""
    there.parent.mkdir(parents=True, exist_ok=True)
    new = there.with_name(f".{there.name}.{os.urandom(8).hex()}.new")
    try:
        _link(own, new)
        new.replace(there)
    finally:
        new.unlink(missing_ok=True)  # a name is not replaced by another one of the same file


def show_all(own: Path, there: Path) -> None:
    """Have the files of a folder in a new one, too."""
    shutil.copytree(own, there, copy_function=_link)


def _link(own: str | Path, there: str | Path) -> None:
    """Have a file in a place where none is: the same one, or a copy."""
    try:
        os.link(own, there)
    except FileExistsError:
        raise
    except OSError:
        shutil.copyfile(own, there)
