"""What a job leaves to read: the nodes' logs and the model, collected.

It must never know how a file comes from a node, nor decide when.

Guarantee: what is collected replaces what an earlier job left under the same name, whole or not at all, and
the earlier job's model is kept beside it. What cannot be collected is told, and what becomes of it.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import stat
from collections import defaultdict, deque
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from paddle._launch.errors import DeliveryError
from paddle._launch.results import tenancy

TAIL = 20
LAUNCHER = "launcher.log"  # of one that went into the background (jobs/background.py)
_Tell = Callable[[str], None]
Fetch = Callable[[Path, Path], bool]  # a node's folder, to a place here that is made; False: it has none
_STAYS = "It can be read where it is."
_PART, _OLD, _PREVIOUS = ".{}.part", ".{}.old", "{}.previous"
# In the log folder of a workspace that is its own home:
_MODEL_OF = ".model"  # of which workspace the model is that was collected last
_COLLECTED = re.compile(
    rf"node-\d+|\.node-\d+\.(part|old)|loss\.(csv|png)|\.loss\.png\.part|{re.escape(_MODEL_OF)}"
)
_NOT_OF_NODES = re.compile(rf"{_COLLECTED.pattern}|JOB\d+|{re.escape(LAUNCHER)}|{re.escape(tenancy.MARK)}")


class Tails:
    """The last lines of every role, for the moment when one fails. ``aside``: how lines begin that say
    nothing of the role's program, and count only where there is nothing else; none by default."""

    def __init__(self, aside: str = "") -> None:
        self._aside = aside
        self._lines: defaultdict[str, deque[str]] = defaultdict(lambda: deque(maxlen=TAIL))
        self._besides: defaultdict[str, deque[str]] = defaultdict(lambda: deque(maxlen=TAIL))

    def add(self, role: str, lines: Iterable[str]) -> None:
        """Keep the last of ``lines``."""
        for line in lines:
            is_aside = bool(self._aside) and line.startswith(self._aside)
            (self._besides if is_aside else self._lines)[role].append(line)

    def of(self, role: str) -> tuple[str, ...]:
        """Give the last lines of a role."""
        return tuple(self._lines[role] or self._besides[role])


def clear(home: Path, id: str) -> Path:
    """Remove the logs, the curve and any half collection of an earlier job, not its model; gives ``log``,
    which is that of the job ``id`` from now on. What others have there stays, and so does all that a link
    leads to where no job has said that it is its own."""
    folder = home / "log"
    with contextlib.suppress(OSError):  # who writes there next will say what is wrong with it
        folder.mkdir(exist_ok=True)
    is_ours = bool(tenancy.tenant(home)) or not folder.is_symlink()
    tenancy.settle(home, id)
    with contextlib.suppress(OSError):
        for old in [path for path in folder.iterdir() if is_ours and _COLLECTED.fullmatch(path.name)]:
            _remove(old)
    output = _real(home / "output")
    for unfinished in (_PART, _OLD):
        _remove(output.with_name(unfinished.format(output.name)))
    return folder


def collect(
    workspace: Path,
    home: Path,
    node: int,
    tell: _Tell,
    fetch: Fetch | None = None,
    saver: int = 0,
    else_: str = _STAYS,
) -> tuple[str, ...]:
    """Bring a node's logs, and the output of the one that is ``saver``, to where the user looks; gives which
    are there now.

    ``fetch``: how folders come from the node; None where they are copied, within this machine.
    ``else_``: what becomes of a folder that cannot be brought.
    """
    log, output = workspace / "log", workspace / "output"
    is_home = fetch is None and workspace.resolve() == home.resolve()
    fetch = fetch or partial(_copied, tell=tell, leave_out=_NOT_OF_NODES if is_home else None)

    def complain(text: str) -> None:
        tell(f"{text} {else_}")

    there = ["log"] if _replace(log, home / "log" / f"node-{node}", complain, fetch) else []
    if node == saver:
        is_there = output.is_dir() if is_home else _replace_model(workspace, home, complain, fetch)
        there += ["output"] if is_there else []
    return tuple(there)


def _replace_model(workspace: Path, home: Path, tell: _Tell, fetch: Fetch) -> bool:
    """Collect the model. One that was collected from the same job before is no earlier job's, to be kept."""
    mark = home / "log" / _MODEL_OF
    is_again = False
    name = os.fsencode(workspace)  # a path may hold any bytes, in any locale
    with contextlib.suppress(OSError):
        is_again = mark.read_bytes() == name
    is_there = _replace(workspace / "output", home / "output", tell, fetch, keeps_previous=not is_again)
    if is_there:
        with contextlib.suppress(OSError):  # then one model too many is kept
            mark.write_bytes(name)
    return is_there


def _replace(source: Path, place: Path, tell: _Tell, fetch: Fetch, *, keeps_previous: bool = False) -> bool:
    """Put a copy of ``source`` in place, if that can be done; gives whether it is there.

    Whenever this is cut short, all that was there is there still.
    """
    place = _real(place)
    part, old, previous = (place.with_name(name.format(place.name)) for name in (_PART, _OLD, _PREVIOUS))
    is_there = False
    try:
        for unfinished in (part, old):
            _remove(unfinished)
        if not fetch(source, part):
            return False
        if place.exists():
            if keeps_previous and previous.exists():
                previous.rename(old)
            place.rename(previous if keeps_previous else old)
        part.rename(place)
        is_there = True
    except (OSError, shutil.Error, DeliveryError) as error:
        _remove(part)
        tell(f"cannot collect {source} to {place}: {_why(error)}.")
    _remove(old)
    return is_there


def _why(error: Exception) -> str:
    """Say in words what went wrong; of many files the first will do."""
    causes = error.args[0] if isinstance(error, shutil.Error) else None
    if isinstance(causes, list) and causes:
        path, _, said = causes[0]
        words = str(said).rpartition("[Errno")[2].partition("] ")[2].partition(": ")[0] or said
        more = f", and {len(causes) - 1} more" if len(causes) > 1 else ""
        return f"{Path(path).name}: {words}{more}"
    return str((isinstance(error, OSError) and error.strerror) or error).rstrip(".")


def _copied(source: Path, part: Path, *, tell: _Tell, leave_out: re.Pattern[str] | None) -> bool:
    """Copy a folder; one that is missing is worth a word where it is that of the logs. ``leave_out``: what a
    launch itself has put in a log folder."""
    if source.name == "output" and not source.is_dir():
        if source.exists():
            tell(f"{source} is not collected: it is no folder")
        return False
    own = source if source.name == "log" else None
    shutil.copytree(source, part, symlinks=True, ignore=_all_but(leave_out, own, tell))
    return True


def _all_but(
    pattern: re.Pattern[str] | None, top: Path | None, tell: _Tell
) -> Callable[[str, list[str]], set[str]]:
    """What a copy leaves out: names of a pattern in the folder ``top``, and what cannot be copied anywhere,
    such as a pipe; that is told."""

    def ignored(folder: str, names: list[str]) -> set[str]:
        special = {name for name in names if _is_special(Path(folder, name))}
        for name in sorted(special):
            tell(f"{Path(folder, name)} is not collected: it is neither file nor folder")
        own = filter(pattern.fullmatch, names) if pattern and Path(folder) == top else ()
        return special.union(own)

    return ignored


def _is_special(path: Path) -> bool:
    mode = path.lstat().st_mode
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode))


def _real(place: Path) -> Path:
    """Where ``place`` is, should it be a link: a user may keep the models on another disk."""
    return Path(os.path.realpath(place))


def _remove(path: Path) -> None:
    """Remove what is there, as far as that can be done."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):
            path.unlink()
