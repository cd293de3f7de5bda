"""What this project has put on a node below ROOT_DIR: how much it is, and whether anybody needs it.

It must never remove anything. Guarantee: nothing is listed that did not come by this project, by these marks:

1. ``.paddle`` is a folder of this user that nobody else writes to; in it only names that the project makes.
2. A JOB folder is one that a dispatch has noted as its own (``.paddle/places``), or one of local nodes, in
   which there is nothing but ``node-0``, ``node-1`` and so on.
3. What is a link, belongs to another user, or has another disk's folder in it, is not listed.

``need`` says who needs it: ``run``, a process; ``wait``, a launch that has sent it and not begun here yet;
``next``, the launch that comes next; or nobody. A job that has ended needs its folder no more; whoever wants
its files may, and what it holds of these is said, too.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from . import occupants
from .environments import Environments
from .occupants import Occupant
from .part import is_held
from .remains import GONE, JOB
from .store import OWN

WAIT_S = 86_400.0  # a launch may be sending to other nodes for long before it begins here
RECENT_S = 60.0  # and it has chosen what jobs run with shortly before it sends
_LOCAL = re.compile(r"node-\d+|\.node-\d+\.part")
_OUTFITS = {
    "venv": r"cp\d+t?-[0-9a-f]{12}",
    "runtime": r"runtime-[0-9a-f]{16}",
    "wheels": r"wheels-[0-9a-f]{16}",
}
_REMAINS = re.compile(rf"\.({JOB.pattern}|{'|'.join(_OUTFITS.values())}){re.escape(GONE)}")
_SHARD = re.compile(r"(dense|sparse)-\d+")
_SNAPSHOT = re.compile(r"\d{6}\.json")
NAMES = frozenset({"objects", "parts", "notes", "notes.new", "lock", "places", "staging", "venvs", "venv"})


class Belonging(NamedTuple):
    """One. ``kind``: job, venv, runtime, wheels, store (files that no folder has), remains (of a removal);
    ``path``: below ROOT_DIR; ``number``: of the folder, whatever gets its name later; ``size``: bytes;
    ``used_s``: when it was used last, since 1970; ``who``: needs it; ``holds``: what a user may want."""

    kind: str
    path: str
    number: int
    size: int
    used_s: float
    need: str = ""
    who: str = ""
    holds: tuple[str, ...] = ()


class Alien(Exception):
    """What looks like ours has something in it, or about it, that is not."""


class Found(NamedTuple):
    """Something with one of our names."""

    kind: str
    place: Path


class Ground:
    """What lies below ``root``. ``now``: seconds since 1970; ``kept``: runtimes that the next launch uses."""

    def __init__(self, root: Path, now: float, kept: Iterable[str] = ()) -> None:
        self.root = root
        self.home = root / OWN
        self._now = now
        self._kept = frozenset(kept)
        self._environments = Environments(self.home)
        self.strange: list[str] = []  # why some of what has our names is not listed

    def belongings(self) -> list[Belonging]:
        """List them, jobs first."""
        found = list(self._found())
        users = occupants.find(one.place for one in found)
        pending = self._pending(found, users)
        folders = [self._measured(one, *self._need(one, users.get(one.place), pending)) for one in found]
        return [one for one in (*folders, *self._store(pending)) if one]

    def need(self, path: str) -> tuple[str, str]:
        """Say again who needs a folder, now."""
        found = list(self._found())
        one = next((one for one in found if one.place == self.root / path), None)
        if one is None:
            return "gone", "nobody: it is gone already"
        users = occupants.find([one.place])
        return self._need(one, users.get(one.place), self._pending(found, users))

    def strangers(self) -> list[str]:
        """Names in ``.paddle`` that the project does not make."""
        with contextlib.suppress(OSError):
            ours = re.compile("|".join((_OUTFITS["runtime"], _OUTFITS["wheels"], _REMAINS.pattern)))
            return sorted(
                one.name
                for one in self.home.iterdir()
                if one.name not in NAMES and not ours.fullmatch(one.name)
            )
        return []

    def _found(self) -> Iterator[Found]:
        for place in _folders(self.root):
            if JOB.fullmatch(place.name) and self._is_ours(place):
                yield Found("job", place)
            elif _REMAINS.fullmatch(place.name):
                yield Found("remains", place)
        for kind, folder in (("venv", self.home / "venvs"), ("runtime", self.home), ("wheels", self.home)):
            for place in _folders(folder):
                if re.fullmatch(_OUTFITS[kind], place.name):
                    yield Found(kind, place)
        for folder in (self.home / "venvs", self.home):
            yield from (Found("remains", one) for one in _folders(folder) if _REMAINS.fullmatch(one.name))

    def _is_ours(self, job: Path) -> bool:
        names = os.listdir(job) if job.is_dir() else []  # noqa: PTH208  names are enough
        return note_of(self.home, job).is_file() or (bool(names) and all(map(_LOCAL.fullmatch, names)))

    def _pending(self, found: Iterable[Found], users: Mapping[Path, Occupant]) -> str | None:
        """A launch that has sent something, and is not seen otherwise."""
        for one in found:
            if one.kind == "job" and self._need_of_job(one.place, users.get(one.place))[0] == "wait":
                return f"{one.place.name}, which may begin yet"
        if any(map(is_held, _folders(self.home / "staging"))):
            return "a dispatch"
        return None

    def _need(self, one: Found, user: Occupant | None, pending: str | None) -> tuple[str, str]:
        """Who needs a folder. Environments, runtimes and wheels are not of one launch alone."""
        if one.kind == "job":
            return self._need_of_job(one.place, user)
        if user:
            return "run", _name(user)
        if one.kind != "remains" and pending:
            return "wait", pending
        if self._is_next(one):
            running = self._running()  # which may be yet to start its roles with it
            return ("run", f"{running}, which runs") if running else ("next", "jobs that begin from now on")
        if one.kind == "venv" and self._now - self._switched_s() < RECENT_S:
            return "wait", "launches that began a moment ago"
        return "", ""

    def _running(self) -> str:
        """A job whose agent runs here."""
        jobs = (one.place for one in self._found() if one.kind == "job")
        return next((job.name for job in jobs if any(map(is_held, _agent_logs(job)))), "")

    def _need_of_job(self, place: Path, user: Occupant | None) -> tuple[str, str]:
        begun = _agent_logs(place)
        if any(map(is_held, begun)):
            return "run", "its agent"
        if user:
            return "run", _name(user)
        if not begun and self._now - place.stat().st_mtime < WAIT_S:
            return "wait", "a launch that has sent it and may begin yet"
        return "", ""

    def _is_next(self, one: Found) -> bool:
        current = self._environments.current()
        match one.kind:
            case "venv":
                return one.place.name == current
            case "runtime":
                return one.place.name in self._kept
            case "wheels":
                return bool(current) and self._environments.wheels_of(str(current)) == str(one.place)
        return False

    def _switched_s(self) -> float:
        """When another environment took the place of the one before."""
        with contextlib.suppress(OSError):
            return (self.home / "venv").lstat().st_mtime
        return 0.0

    def _store(self, pending: str | None) -> Iterator[Belonging]:
        """Files that dispatches keep for later ones, and that are in no folder now."""
        if size := sum(_lone(self.home / "objects")) + sum(_lone(self.home / "parts")):
            status = self.home.lstat()
            need, who = ("wait", pending) if pending else ("", "")
            yield Belonging("store", OWN, status.st_ino, size, status.st_mtime, need, who)

    def _measured(self, one: Found, need: str, who: str) -> Belonging | None:
        place = one.place
        try:
            size, holds = _measure(place)
        except Alien as error:
            self.strange.append(str(error))
            return None
        times = [log.stat().st_mtime for log in _agent_logs(place)] if one.kind == "job" else []
        used_s = max(times, default=place.stat().st_mtime)
        path, number = str(place.relative_to(self.root)), place.lstat().st_ino
        return Belonging(one.kind, path, number, size, used_s, need, who, holds if one.kind == "job" else ())


def note_of(home: Path, job: Path) -> Path:
    """Where a dispatch has noted that a JOB folder is its own."""
    return home / "places" / hashlib.sha256(os.fsencode(job)).hexdigest()


def check_ours(home: Path) -> str:
    """Say why ``.paddle`` is not to be trusted; empty where it is, or is not there."""
    try:
        status = home.lstat()
    except FileNotFoundError:
        return ""
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid() or status.st_mode & 0o022:
        return f"{home} is not a folder that only this user writes to"
    return ""


def _agent_logs(job: Path) -> list[Path]:
    """Of the agents that have begun in a workspace, or in those of local nodes."""
    logs = (folder / "log" / "agent.log" for folder in (job, *_folders(job)))
    return [log for log in logs if log.is_file()]


def _folders(place: Path) -> list[Path]:
    """Folders of this user in a folder, in order; no links."""
    with contextlib.suppress(OSError):
        found = [one for one in os.scandir(place) if one.is_dir(follow_symlinks=False)]
        return sorted(
            Path(one.path) for one in found if one.stat(follow_symlinks=False).st_uid == os.geteuid()
        )
    return []


def _measure(place: Path) -> tuple[int, tuple[str, ...]]:
    """The bytes of a folder, and what is in it that its user may want."""
    disk = place.lstat().st_dev
    size, holds = 0, set[str]()
    for folder, folders, files in os.walk(place):
        here = Path(folder)
        for name in (*folders, *files):
            if (status := _status(here / name)) is None:
                continue
            if stat.S_ISDIR(status.st_mode) and status.st_dev != disk:  # of files, overlays tell another one
                raise Alien(f"{here / name} is on another disk: {place} is left alone")
            size += status.st_blocks * 512
        if _SHARD.fullmatch(here.name) and any(map(_SNAPSHOT.fullmatch, files)):
            holds.add("snapshots")
        if here.name == "output" and (folders or files):
            holds.add("model")
    return size, tuple(sorted(holds))


def _status(path: Path) -> os.stat_result | None:
    """None of what is gone: jobs go on meanwhile, and so may another removal."""
    try:
        return path.lstat()
    except OSError:
        return None


def _lone(folder: Path) -> Iterator[int]:
    """The sizes of files that have no other name."""
    with contextlib.suppress(OSError):
        statuses = [one.stat(follow_symlinks=False) for one in os.scandir(folder)]
        yield from (
            one.st_blocks * 512 for one in statuses if stat.S_ISREG(one.st_mode) and one.st_nlink == 1
        )


def _name(user: Occupant) -> str:
    return f"process {user.pid} ({user.name})"
