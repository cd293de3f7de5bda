"""Where a workspace is made before it has its place, and how it gets there: at once, or not at all.

It must never know what is in it. Rules:

1. It is made in a folder of its own in ``.paddle`` of ROOT_DIR, which nobody else can look into, and takes
   its place by one operation of the file system once all of it is on the disk.
2. What a kill or a power cut left there, the next dispatch removes, and what is left of workspaces whose
   removal was cut short.
3. A workspace is replaced only where it came by a dispatch and no job runs in it. What jobs left at its top,
   which no dispatch brought, goes over into the new one.

Guarantee: under the name of the place there is what was there before, or all of what was sent.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from . import remains
from .manifest import Refused
from .part import is_held

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2


class Staging:
    """The folder ``tree``, that is to be ``place`` below ``root``. ``home``: what dispatches keep there."""

    def __init__(self, home: Path, place: Path, *, replaces: bool) -> None:
        self._notes = home / "places" / hashlib.sha256(os.fsencode(place)).hexdigest()
        self._notes.parent.mkdir(exist_ok=True)
        self._place = place
        self._replaces = replaces and place.exists()
        self.old = place if self._replaces else None
        folder = home / "staging"
        folder.mkdir(exist_ok=True)
        _remove_remains(folder)
        remains.remove_rest(home.parent)
        self._folder = Path(tempfile.mkdtemp(dir=folder))
        self._descriptor = os.open(self._folder, os.O_RDONLY | os.O_CLOEXEC)
        fcntl.flock(self._descriptor, fcntl.LOCK_EX)
        self.tree = self._folder / "tree"
        self.tree.mkdir()

    def check(self) -> None:
        """Refuse a place that cannot be had."""
        if not self._replaces:
            if self._place.is_symlink() or (self._place.exists() and any(self._place.iterdir())):
                raise Refused(
                    f"{self._place} exists already: another launch has just made it. Start this one again"
                )
            return
        if self._place.is_symlink() or not self._place.is_dir() or self._tops() is None:
            raise Refused(f"{self._place} came by no dispatch, so none replaces it. Move it away")
        if is_held(self._place / "log" / "agent.log"):
            raise Refused(f"{self._place} is in use by another job; stop that one first")

    def switch(self, tops: Iterable[str], check: Callable[[], None] = lambda: None) -> None:
        """Put the tree in its place; ``tops``: the names at its top. ``check``: called when all of it is on
        the disk, which may have taken long; raises where it is wanted no more."""
        (self._folder / "tops").write_text(json.dumps(sorted(tops)))
        strangers = _names(self._place) - (self._tops() or set()) if self._replaces else set[str]()
        order = {
            "place": str(self._place),
            "number": self.tree.lstat().st_ino,
            "strangers": sorted(strangers),
            "notes": self._notes.name,
        }
        (self._folder / "switch").write_text(json.dumps(order))
        sync(self.tree)
        check()
        if self._replaces:
            _exchange(self.tree, self._place)
        else:
            self.tree.rename(self._place)
        with contextlib.suppress(OSError):  # it is in place, whatever the disk says now
            _finish_switch(self._folder)
            for folder in (self._place.parent, self._notes.parent):
                sync_folder(folder)

    def remove(self) -> None:
        """Remove what is left here."""
        shutil.rmtree(self._folder, ignore_errors=True)
        os.close(self._descriptor)

    def _tops(self) -> set[str] | None:
        """What an earlier dispatch brought to the top of the place; None where none did."""
        try:
            return {str(name) for name in json.loads(self._notes.read_bytes())}
        except (OSError, ValueError, TypeError):
            return None


def _names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def _remove_remains(folder: Path) -> None:
    """Remove what is nobody's any more, once what had begun with it is brought to its end."""
    for path in folder.iterdir():
        if not is_held(path):
            with contextlib.suppress(OSError):
                _finish_switch(path)
                shutil.rmtree(path, ignore_errors=True)


def _finish_switch(folder: Path) -> None:
    """After a tree took its place: what no dispatch brought to the one before goes over into it."""
    try:
        order = json.loads((folder / "switch").read_bytes())
    except (FileNotFoundError, ValueError):
        return
    place = Path(order["place"])
    if not place.exists() or place.lstat().st_ino != order["number"]:
        return  # it had not come to that
    for name in order["strangers"]:
        with contextlib.suppress(FileNotFoundError):
            if not os.path.lexists(place / name):
                (folder / "tree" / name).rename(place / name)
    with contextlib.suppress(FileNotFoundError):
        (folder / "tops").rename(folder.parent.parent / "places" / order["notes"])


def _exchange(one: Path, other: Path) -> None:
    """Exchange two folders, at once."""
    library = ctypes.CDLL(None, use_errno=True)
    names = (os.fsencode(one), os.fsencode(other))
    if library.renameat2(_AT_FDCWD, names[0], _AT_FDCWD, names[1], _RENAME_EXCHANGE):
        number = ctypes.get_errno()
        if number in (errno.EINVAL, errno.ENOSYS):
            raise Refused(f"the file system of {other} cannot replace a folder at once. Move it away")
        raise OSError(number, os.strerror(number), str(other))


def sync(tree: Path) -> None:
    """Have the disk keep all that is in ``tree``: the whole file system, which is one wait and not many."""
    descriptor = os.open(tree, os.O_RDONLY | os.O_CLOEXEC)
    try:
        if ctypes.CDLL(None, use_errno=True).syncfs(descriptor):
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number), str(tree))
    finally:
        os.close(descriptor)


def sync_folder(folder: Path) -> None:
    """Have the disk keep the names in ``folder``."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
