"""What a job leaves to read: the nodes' logs and the model, collected, and the curve of the cost.

It must never know how a file comes from a node, nor decide when.

Guarantee: what is collected replaces what an earlier job left under the same name, whole or not at all, and
the earlier job's model is kept beside it. What cannot be collected is told, and stays where it is.
"""

from __future__ import annotations

import contextlib
import csv
import os
import shutil
import stat
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import accumulate
from math import isfinite, nan
from pathlib import Path

from paddle._launch.errors import DeliveryError
from paddle._launch.news import Progress
from paddle._launch.plan import LaunchPlan

TAIL = 20
LAUNCHER = "launcher.log"  # of one that went into the background (jobs/background.py)
_Tell = Callable[[str], None]
Fetch = Callable[[Path, Path], bool]  # a node's folder, to a place here that is made; False: it has none
_PART, _OLD, _PREVIOUS = ".{}.part", ".{}.old", "{}.previous"
# In the log folder of a workspace that is its own home:
_COLLECTED = ("node-*", "loss.*", _PART.format("node-*"), _OLD.format("node-*"))
_NOT_OF_NODES = (*_COLLECTED, LAUNCHER)
_FINE = 2000  # points of the curve in the time so far: dense at first, never too many


class Tails:
    """The last lines of every role, for the moment when one fails."""

    def __init__(self) -> None:
        self._lines: defaultdict[str, deque[str]] = defaultdict(lambda: deque(maxlen=TAIL))

    def add(self, role: str, lines: Iterable[str]) -> None:
        """Keep the last of ``lines``."""
        self._lines[role].extend(lines)

    def of(self, role: str) -> tuple[str, ...]:
        """Give the last lines of a role."""
        return tuple(self._lines[role])


class Arriving:
    """What roles print, written beside the collected logs while the job runs: ``log/node-i/train.log``.

    It is as whole as what the launcher hears, which may lack lines where it is late; what is collected takes
    its place.
    """

    def __init__(self, plan: LaunchPlan, tell: _Tell) -> None:
        self._places = {
            role.name: plan.home / "log" / f"node-{node.node}" / Path(role.log).name
            for node in plan.nodes
            for role in node.roles
        }
        self._tell = tell
        self._is_failing = False

    def add(self, role: str, lines: Iterable[str]) -> None:
        """Write ``lines`` behind those before."""
        place = self._places[role]
        try:
            place.parent.mkdir(exist_ok=True)
            with place.open("a", errors="backslashreplace") as file:
                file.writelines(f"{line}\n" for line in lines)
        except OSError as error:
            if not self._is_failing:
                self._is_failing = True
                self._tell(f"cannot write {place}: {error.strerror}; logs are collected at the end only")


class LossCurve:
    """``loss.csv``, written while the job runs, and ``loss.png``, drawn at its end.

    A row is kept when a two-thousandth of the time so far has passed since the trainer's last one: half a
    minute of training has all of its reports, a day some ten thousand.
    """

    def __init__(self, folder: Path, tell: _Tell) -> None:
        self._csv, self._png = folder / "loss.csv", folder / "loss.png"
        self._tell = tell
        self._points: defaultdict[str, list[tuple[float, float]]] = defaultdict(list)
        self._is_failing = False
        self._append("w", ("seconds", "trainer", "pass_id", "batch_id", "cost", "samples_per_s"))

    def add(self, progress: Progress, seconds: float) -> None:
        """Take a report that came ``seconds`` after training began."""
        points = self._points[progress.role]
        if points and seconds - points[-1][0] < seconds / _FINE:
            return
        points.append((seconds, progress.cost))
        rest = (progress.pass_id, progress.batch_id, progress.cost, f"{progress.samples_per_s:.1f}")
        self._append("a", (f"{seconds:.2f}", progress.role, *rest))

    def draw(self) -> Path | None:
        """Draw the curve where there is one and matplotlib is installed; gives the file that shows it."""
        if not self._points:
            return None
        try:
            _draw(self._points, self._png)
        except ImportError:
            return self._csv
        except OSError as error:
            self._tell(f"cannot write {self._png}: {error.strerror}")
            return self._csv
        return self._png

    def _append(self, mode: str, row: tuple[object, ...]) -> None:
        try:
            with self._csv.open(mode, newline="") as file:
                csv.writer(file).writerow(row)
        except OSError as error:
            if not self._is_failing:
                self._is_failing = True
                self._tell(f"cannot write {self._csv}: {error.strerror}; training goes on without it")


def clear(home: Path) -> Path:
    """Remove the logs, the curve and any half collection of an earlier job, not its model; gives ``log``."""
    folder = home / "log"
    with contextlib.suppress(OSError):  # who writes there next will say what is wrong with it
        folder.mkdir(exist_ok=True)
    for old in [path for pattern in _COLLECTED for path in folder.glob(pattern)]:
        _remove(old)
    output = _real(home / "output")
    for unfinished in (_PART, _OLD):
        _remove(output.with_name(unfinished.format(output.name)))
    return folder


def collect(
    workspace: Path, home: Path, node: int, tell: _Tell, fetch: Fetch | None = None, saver: int = 0
) -> tuple[str, ...]:
    """Bring a node's logs, and the output of the one that is ``saver``, to where the user looks; gives which
    are there now.

    ``fetch``: how folders come from the node; None where they are copied, within this machine.
    """
    log, output = workspace / "log", workspace / "output"
    is_home = fetch is None and workspace.resolve() == home.resolve()
    fetch = fetch or partial(_copied, tell=tell)
    there = ["log"] if _replace(log, home / "log" / f"node-{node}", tell, fetch) else []
    if node == saver:
        if is_home:
            is_there = output.is_dir()
        else:
            is_there = _replace(output, home / "output", tell, fetch, keeps_previous=True)
        there += ["output"] if is_there else []
    return tuple(there)


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
        tell(f"cannot collect {source} to {place}: {error}. It can be read where it is.")
    _remove(old)
    return is_there


def _copied(source: Path, part: Path, tell: _Tell) -> bool:
    """Copy a folder; one that is missing is worth a word where it is that of the logs."""
    if source.name == "output" and not source.is_dir():
        return False
    leave_out = _NOT_OF_NODES if source.name == "log" else ()
    shutil.copytree(source, part, symlinks=True, ignore=_all_but(leave_out, tell))
    return True


def _all_but(patterns: Sequence[str], tell: _Tell) -> Callable[[str, list[str]], set[str]]:
    """What a copy leaves out: names of a pattern, and what cannot be copied, such as a pipe; that is told."""
    named = shutil.ignore_patterns(*patterns)

    def ignored(folder: str, names: list[str]) -> set[str]:
        special = {name for name in names if _is_special(Path(folder, name))}
        for name in sorted(special):
            tell(f"{Path(folder, name)} is not collected: it is neither file nor folder")
        return named(folder, names) | special

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


def _draw(points: dict[str, list[tuple[float, float]]], place: Path) -> None:
    from matplotlib.figure import Figure  # a second to import, and not everywhere installed

    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.add_subplot(xlabel="seconds", ylabel="cost")
    for role in sorted(points):
        seconds, costs = zip(*points[role], strict=True)
        (line,) = axes.plot(seconds, _smooth(costs), label=role)
        axes.plot(seconds, costs, linewidth=0.7, alpha=0.3, color=line.get_color())
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(place, dpi=120)


def _smooth(costs: Sequence[float]) -> list[float]:
    """A running mean over the last twentieth: the costs of single batches hide where they go.

    A cost that is no number counts for nothing, so the curve goes on behind it.
    """
    width = max(1, len(costs) // 20)
    sums = [0.0, *accumulate(cost if isfinite(cost) else 0.0 for cost in costs)]
    counts = [0, *accumulate(isfinite(cost) for cost in costs)]
    spans = [(max(0, end - width), end) for end in range(1, len(sums))]
    numbers = [counts[end] - counts[start] for start, end in spans]
    return [
        (sums[end] - sums[start]) / number if number else nan
        for (start, end), number in zip(spans, numbers, strict=True)
    ]
