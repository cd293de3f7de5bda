"""A workspace: the folder in which a node trains, and how a package becomes one.

It must never know a process, a node's number or what is trained in it.

Guarantee: a workspace appears under its name whole or not at all. It is written beside its place, and renamed
when the last byte is there; when that fails or is stopped, nothing of it is left.

What travels is everything in the package but ``log``, ``output`` and ``output.previous`` at its top, which
belong to the jobs that ran in it, ``__pycache__`` anywhere, and what ``.paddleignore`` names. A link that
stays within the package remains a link; one that leads out of it is replaced by what it leads to, because a
node does not have that.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from paddle._launch import ignored
from paddle._launch.agent import private_files
from paddle._launch.errors import DeliveryError, DeliveryStopped, WorkspaceError

PROGRAM = "train.py"
_NOT_SENT_FROM_TOP = frozenset(
    {"log", "output", "output.previous", ".output.part", ".output.old", ".paddle", ignored.NAME}
    | private_files.NAMES
)
_NEVER_SENT = frozenset({"__pycache__"})
_CHUNK = 1 << 24
_ELSEWHERE = "--root_dir=DIR (ROOT_DIR in conf.py) puts JOB folders elsewhere."


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing to send: its ``path`` in the package; ``source``: of its bytes, or where a link leads."""

    path: str
    kind: Literal["folder", "file", "link"]
    source: Path
    size: int = 0


def listing(package: Path, leave_out: Path | None = None, program: str = PROGRAM) -> tuple[Entry, ...]:
    """List a package's content, folders before what is in them, ``leave_out`` aside; refuses what is none."""
    with _reading():
        if not package.is_dir():
            raise WorkspaceError(f"{package} is not a folder. Give the folder that holds your {program}.")
        _check_within(package, program)
        check(package, program)
        root = package.resolve()
        ignores = ignored.read(root)
        if ignores(program):
            raise WorkspaceError(f"{root / ignored.NAME} leaves out {program}, which every trainer runs.")
        return tuple(_walk(root, root, "", frozenset({root}), leave_out, ignores))


def contents(folder: Path) -> tuple[Entry, ...]:
    """List a folder's content, whatever it is, as ``listing`` does."""
    with _reading():
        root = folder.resolve()
        return tuple(_walk(root, root, "", frozenset({root}), None))


@contextlib.contextmanager
def _reading() -> Iterator[None]:
    """What cannot be read is told as whatever else is wrong with a folder."""
    try:
        yield
    except OSError as error:
        raise WorkspaceError(
            f"cannot read {error.filename}: {error.strerror}. Fix it, or remove it from the package."
        ) from error


def check(folder: Path, program: str = PROGRAM) -> None:
    """Refuse a folder in which no training program can run."""
    if not (folder / program).is_file():
        name = Path(program).name
        meant = f" Did you mean --job_program={name}?" if name and (folder / name).is_file() else ""
        raise WorkspaceError(
            f"{folder} has no {program}, which is what every trainer runs. Give the folder that holds it, or "
            f"name another program of it with --job_program.{meant}"
        )
    for name in ("paddle.py", "paddle"):
        if (folder / name).exists():
            raise WorkspaceError(
                f"{folder / name} would hide the paddle that {program} imports. Give it another name."
            )


def _check_within(package: Path, program: str) -> None:
    inner = Path(os.path.normpath(program))
    if not program or inner.is_absolute() or ".." in inner.parts:
        raise WorkspaceError(
            f"--job_program={program}: every node runs a program of its own copy of {package}. Put it there, "
            f"and name it by its path in that folder, such as {inner.name or PROGRAM}."
        )


def locate(folder: Path, nodes: int, program: str = PROGRAM) -> tuple[Path, ...]:
    """Find the workspaces that local nodes have already: ``folder``/node-i; of one node, ``folder``."""
    with _reading():
        return _located(folder, nodes, program)


def _located(folder: Path, nodes: int, program: str) -> tuple[Path, ...]:
    if not folder.is_dir():
        raise WorkspaceError(f"{folder} is not a folder. --job_workspace takes one that is deployed already.")
    own = tuple(folder / f"node-{node}" for node in range(nodes))
    if nodes == 1 and not own[0].is_dir():
        own = (folder,)
    missing = [path for path in own if not path.is_dir()]
    if missing:
        raise WorkspaceError(
            f"{missing[0]} does not exist. {nodes} local nodes cannot share one workspace: --job_workspace "
            f"wants a folder with one for each, node-0 to node-{nodes - 1}, such as the JOB folder of an "
            "earlier launch. --job_dispatch_package makes one."
        )
    for path in own:
        check(path, program)
    return own


class Claim:
    """A folder made for one launch alone, so that two of one second do not take the same."""

    def __init__(self) -> None:
        self._made: list[Path] = []

    def take(self, folder: Path) -> bool:
        """Make ``folder``; False where it is another's. That it cannot be made is told later."""
        missing = [path for path in (folder, *folder.parents) if not path.exists()]
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
            folder.mkdir()
        except FileExistsError:
            return not folder.exists()  # else it is something above that is no folder
        except OSError:
            return True
        self._made = missing
        return True

    def release(self) -> None:
        """Remove what was made and nobody used."""
        for folder in self._made:
            with contextlib.suppress(OSError):
                folder.rmdir()


def check_room(place: Path, size: int) -> None:
    """Refuse a place that is taken, cannot be made, or has not ``size`` bytes of room. Changes nothing."""
    if place.exists():
        raise DeliveryError(f"{place} exists already: another launch has just made it. Start this one again.")
    ground = next(parent for parent in place.parents if parent.exists())
    if not ground.is_dir() or not os.access(ground, os.W_OK | os.X_OK):
        raise DeliveryError(
            f"cannot make {place}: {ground} is not a folder that can be written to. {_ELSEWHERE}"
        )
    disk = shutil.disk_usage(ground)
    if disk.free < size and disk.total:  # what has no size, as /proc, says nothing of its room
        raise DeliveryError(
            f"no room for {place}: it needs {size:,} bytes, {ground} has {disk.free:,} left. Make room "
            f"there, or say where else: {_ELSEWHERE}"
        )


def deliver(entries: tuple[Entry, ...], place: Path, is_stopped: Callable[[], bool]) -> None:
    """Put a package's content in place, whole or not at all."""
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with _staging(place) as staging:
            for entry in entries:
                _put(entry, staging / entry.path, is_stopped)
            staging.rename(place)
    except OSError as error:
        path = error.filename2 or error.filename or place
        raise DeliveryError(
            f"cannot make {place}: {path}: {error.strerror}. Nothing of it was kept. {_ELSEWHERE}"
        ) from error


def remove(place: Path) -> None:
    """Remove a workspace that was delivered, as far as that can be done; half of one is called so."""
    with contextlib.suppress(OSError):
        part = place.rename(_part_of(place))
        shutil.rmtree(part, ignore_errors=True)


@contextlib.contextmanager
def _named(place: Path) -> Iterator[None]:
    """Errors of a descriptor tell of its file."""
    try:
        yield
    except OSError as error:
        error.filename = str(place)
        raise


def copy(source: Path, place: Path, is_stopped: Callable[[], bool] = lambda: False) -> None:
    """Copy a file's bytes, mode and times."""
    with source.open("rb") as reader, place.open("wb") as writer, _named(place):
        while os.sendfile(writer.fileno(), reader.fileno(), None, _CHUNK):
            if is_stopped():
                raise DeliveryStopped(f"{place} was not finished: the launch was stopped.")
    shutil.copystat(source, place)


@contextlib.contextmanager
def _staging(place: Path) -> Iterator[Path]:
    """A folder to fill and rename; removed when that fails, with the JOB folder if nothing else is in it."""
    staging = _part_of(place)
    staging.mkdir()
    try:
        yield staging
    except BaseException:
        shutil.rmtree(staging, ignore_errors=True)
        with contextlib.suppress(OSError):
            place.parent.rmdir()
        raise


def _part_of(place: Path) -> Path:
    return place.with_name(f".{place.name}.part")


def _put(entry: Entry, place: Path, is_stopped: Callable[[], bool]) -> None:
    if is_stopped():
        raise DeliveryStopped(f"{place} was not begun: the launch was stopped.")
    match entry.kind:
        case "folder":
            place.mkdir()
        case "link":
            place.symlink_to(entry.source)
        case "file":
            copy(entry.source, place, is_stopped)


def _walk(
    root: Path,
    folder: Path,
    prefix: str,
    above: frozenset[Path],
    leave_out: Path | None,
    ignores: ignored.Ignores = ignored.nothing,
) -> Iterator[Entry]:
    """List ``folder``; ``above``: the real folders that led here, none of which may come again."""
    for path in sorted(folder.iterdir()):
        name = f"{prefix}{path.name}"
        if path.name in _NEVER_SENT or name in _NOT_SENT_FROM_TOP or path == leave_out:
            continue
        if ignores(f"{name}/" if path.is_dir() else name):
            continue
        if path.is_symlink() and (inside := _inside(path, root, ignores)):
            yield Entry(name, "link", inside)
            continue
        status = path.stat()
        if stat.S_ISREG(status.st_mode):
            if not os.access(path, os.R_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
            yield Entry(name, "file", path, status.st_size)
        elif not stat.S_ISDIR(status.st_mode):
            raise WorkspaceError(f"cannot send {path}: neither file nor folder. Remove it from the package.")
        elif (real := path.resolve()) in above:
            raise WorkspaceError(
                f"cannot send {path}: its link leads to a folder around it. Remove it from the package."
            )
        else:
            yield Entry(name, "folder", path)
            yield from _walk(root, path, f"{name}/", above | {real}, leave_out, ignores)


def _inside(link: Path, root: Path, ignores: ignored.Ignores) -> Path | None:
    """Where a link leads, seen from its own folder, if both are within ``root`` and are sent."""
    target, folder = Path(os.path.realpath(link)), link.parent.resolve()
    if not target.is_relative_to(root) or not folder.is_relative_to(root) or not target.exists():
        return None
    parts = target.relative_to(root).parts
    if not parts or parts[0] in _NOT_SENT_FROM_TOP or _NEVER_SENT & set(parts):
        return None
    steps = ["/".join(parts[: end + 1]) for end in range(len(parts))]
    if any(ignores(f"{step}/" if (root / step).is_dir() else step) for step in steps):
        return None
    return Path(os.path.relpath(target, folder))
