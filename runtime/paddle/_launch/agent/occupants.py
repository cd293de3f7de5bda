"""Who uses a folder of this machine: processes that run in it, from it or with what is in it.

It must never signal one. Guarantee: whoever runs a file of the folder, has it as its own folder, has one of
its files open or mapped, or is told of it in its arguments or environment, is found, of all processes that
this user may look into.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

_TEXTS = ("cmdline", "environ", "maps")
_LINKS = ("cwd", "exe")
_MOST = 1 << 24


class Occupant(NamedTuple):
    """One process. ``name``: as `ps` shows it."""

    pid: int
    name: str


def find(folders: Iterable[Path]) -> dict[Path, Occupant]:
    """For every folder that is used somebody who uses it; this process does not count."""
    left = {folder: _mention(folder) for folder in folders}
    found: dict[Path, Occupant] = {}
    for name in os.listdir("/proc") if left else ():  # noqa: PTH208  names are enough
        if not name.isdigit() or int(name) == os.getpid():
            continue
        text = _text(Path("/proc", name))
        for folder in [folder for folder, mention in left.items() if mention.search(text)]:
            found[folder] = Occupant(int(name), _name(Path("/proc", name)))
            del left[folder]
    return found


def _mention(folder: Path) -> re.Pattern[bytes]:
    """The path, as it is written or as it is, whole or as the beginning of another one: JOB12 is not JOB1."""
    names = {os.fsencode(folder), os.fsencode(os.path.realpath(folder))}
    return re.compile(b"(?:%s)(?![\\w.-])" % b"|".join(map(re.escape, names)))


def _text(process: Path) -> bytes:
    """All that shows of a process what it uses; empty where it is over, or another user's."""
    texts = []
    for name in _TEXTS:
        with contextlib.suppress(OSError), (process / name).open("rb") as file:
            texts.append(file.read(_MOST))
    for name in _LINKS:
        with contextlib.suppress(OSError):
            texts.append(os.fsencode(os.readlink(process / name)))  # noqa: PTH115  as it is written
    with contextlib.suppress(OSError):
        for link in os.scandir(process / "fd"):
            with contextlib.suppress(OSError):
                texts.append(os.fsencode(os.readlink(link.path)))  # noqa: PTH115  as it is written
    return b"\0".join(texts)


def _name(process: Path) -> str:
    with contextlib.suppress(OSError):
        return (process / "comm").read_text(errors="replace").strip()
    return "?"
