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
from collections.abc import Callable, Iterable

from . import remains
from .manifest import Refused
from .part import is_held

TYPE_CHECKING = False  # what ``typing`` has is for who reads types: a node would load it for nothing
if TYPE_CHECKING:
    from typing import Any

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2


class Staging:
    """The folder ``tree``, that is to be ``place`` below ``root``. ``home``: what dispatches keep there."""

    def __init__(self, home: str, place: str, *, replaces: bool) -> None:
        self._places, folder = f"{home}/places", f"{home}/staging"
        for own in (self._places, folder):
            os.makedirs(own, exist_ok=True)
        self._notes = f"{self._places}/{hashlib.sha256(os.fsencode(place)).hexdigest()}"
        self._place = place
        self._replaces = replaces and os.path.exists(place)
        self.old = place if self._replaces else None
        _remove_remains(folder)
        remains.remove_rest(os.path.dirname(home))
        self._folder = f"{folder}/{os.urandom(8).hex()}"
        os.mkdir(self._folder, 0o700)
        self._descriptor = os.open(self._folder, os.O_RDONLY | os.O_CLOEXEC)
        fcntl.flock(self._descriptor, fcntl.LOCK_EX)
        self.tree = f"{self._folder}/tree"
        os.mkdir(self.tree)

    def check(self) -> None:
        """Refuse a place that cannot be had."""
        if not self._replaces:
            is_link = os.path.islink(self._place)
            if is_link or (os.path.exists(self._place) and os.listdir(self._place)):
                raise Refused(
                    f"{self._place} exists already: another launch has just made it, so start this one "
                    "again; or another node of HOSTS is this machine by another name, which `fab check` tells"
                )
            return
        is_folder = os.path.isdir(self._place) and not os.path.islink(self._place)
        if not is_folder or self._tops() is None:
            raise Refused(f"{self._place} came by no dispatch, so none replaces it. Move it away")
        if is_held(f"{self._place}/log/agent.log"):
            raise Refused(f"{self._place} is in use by another job; stop that one first")

    def switch(self, tops: Iterable[str], check: Callable[[], None] = lambda: None) -> None:
        """Put the tree in its place; ``tops``: the names at its top. ``check``: called when all of it is on
        the disk, which may have taken long; raises where it is wanted no more."""
        _write(f"{self._folder}/tops", sorted(tops))
        strangers = set(os.listdir(self._place)) - (self._tops() or set()) if self._replaces else set[str]()
        order = {
            "place": self._place,
            "number": os.lstat(self.tree).st_ino,
            "strangers": sorted(strangers),
            "notes": os.path.basename(self._notes),
        }
        _write(f"{self._folder}/switch", order)
        sync(self.tree)
        check()
        if self._replaces:
            _exchange(self.tree, self._place)
        else:
            os.rename(self.tree, self._place)
        with contextlib.suppress(OSError):  # it is in place, whatever the disk says now
            _finish_switch(self._folder)
            for folder in (os.path.dirname(self._place), self._places):
                sync_folder(folder)

    def remove(self) -> None:
        """Remove what is left here."""
        remains.remove(self._folder)
        os.close(self._descriptor)

    def _tops(self) -> set[str] | None:
        """What an earlier dispatch brought to the top of the place; None where none did."""
        try:
            return {str(name) for name in _read(self._notes)}
        except (OSError, ValueError, TypeError):
            return None


def _write(path: str, what: object) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(json.dumps(what))


def _read(path: str) -> Any:
    with open(path, "rb") as file:
        return json.loads(file.read())


def _remove_remains(folder: str) -> None:
    """Remove what is nobody's any more, once what had begun with it is brought to its end."""
    for name in os.listdir(folder):
        if not is_held(path := f"{folder}/{name}"):
            with contextlib.suppress(OSError):
                _finish_switch(path)
                remains.remove(path)


def _finish_switch(folder: str) -> None:
    """After a tree took its place: what no dispatch brought to the one before goes over into it."""
    try:
        order = _read(f"{folder}/switch")
    except (FileNotFoundError, ValueError):
        return
    place = order["place"]
    if not os.path.exists(place) or os.lstat(place).st_ino != order["number"]:
        return  # it had not come to that
    for name in order["strangers"]:
        with contextlib.suppress(FileNotFoundError):
            if not os.path.lexists(f"{place}/{name}"):
                os.rename(f"{folder}/tree/{name}", f"{place}/{name}")
    with contextlib.suppress(FileNotFoundError):
        home = os.path.dirname(os.path.dirname(folder))
        os.rename(f"{folder}/tops", f"{home}/places/{order['notes']}")


def _exchange(one: str, other: str) -> None:
    """Exchange two folders, at once."""
    library = ctypes.CDLL(None, use_errno=True)
    names = (os.fsencode(one), os.fsencode(other))
    if library.renameat2(_AT_FDCWD, names[0], _AT_FDCWD, names[1], _RENAME_EXCHANGE):
        number = ctypes.get_errno()
        if number in (errno.EINVAL, errno.ENOSYS):
            raise Refused(f"the file system of {other} cannot replace a folder at once. Move it away")
        raise OSError(number, os.strerror(number), other)


def sync(tree: str | os.PathLike[str]) -> None:
    """Have the disk keep all that is in ``tree``: the whole file system, which is one wait and not many."""
    descriptor = os.open(tree, os.O_RDONLY | os.O_CLOEXEC)
    try:
        if ctypes.CDLL(None, use_errno=True).syncfs(descriptor):
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number), str(tree))
    finally:
        os.close(descriptor)


def sync_folder(folder: str | os.PathLike[str]) -> None:
    """Have the disk keep the names in ``folder``."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
