"""What a job leaves to read: the nodes' logs and the model, collected, and the curve of the cost.

It must never know how a file comes from a node, nor decide when.

Guarantee: what is collected replaces what an earlier job left under the same name, whole or not at all.
"""

from __future__ import annotations

import contextlib
import csv
import shutil
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from pathlib import Path

from paddle._launch.errors import DeliveryError
from paddle._launch.news import Progress

TAIL = 20
_Ignore = Callable[[str, list[str]], set[str]]
_COLLECTED = ("node-*", ".node-*.part", "loss.*")  # in the log folder of a workspace that is its own home
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


class LossCurve:
    """``loss.csv``, written while the job runs, and ``loss.png``, drawn at its end.

    A row is kept when a two-thousandth of the time so far has passed since the trainer's last one: half a
    minute of training has all of its reports, a day some ten thousand.
    """

    def __init__(self, folder: Path, tell: Callable[[str], None]) -> None:
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
    """Remove the logs and the curve that an earlier job left, but not its model; gives the log folder."""
    folder = home / "log"
    with contextlib.suppress(OSError):  # who writes there next will say what is wrong with it
        folder.mkdir(exist_ok=True)
        for old in folder.glob("loss.*"):
            old.unlink()
    for old in folder.glob("node-*"):
        shutil.rmtree(old, ignore_errors=True)
    return folder


def collect(workspace: Path, home: Path, node: int) -> None:
    """Copy a node's logs, and node 0's output, to where the user looks for them."""
    _replace(workspace / "log", home / "log" / f"node-{node}", shutil.ignore_patterns(*_COLLECTED))
    if node == 0 and (workspace / "output").is_dir() and workspace.resolve() != home.resolve():
        _replace(workspace / "output", home / "output")


def _replace(source: Path, place: Path, ignore: _Ignore | None = None) -> None:
    staging = place.with_name(f".{place.name}.part")
    try:
        shutil.rmtree(staging, ignore_errors=True)
        shutil.copytree(source, staging, symlinks=True, ignore=ignore)
        if place.exists():
            shutil.rmtree(place)
        staging.rename(place)
    except (OSError, shutil.Error) as error:
        shutil.rmtree(staging, ignore_errors=True)
        raise DeliveryError(
            f"cannot collect {source} to {place}: {error}. It can be read where it is."
        ) from error


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
    """A running mean over the last twentieth: the costs of single batches hide where they go."""
    width = max(1, len(costs) // 20)
    sums = [0.0, *accumulate(costs)]
    starts = [max(0, end - width) for end in range(1, len(sums))]
    return [(sums[end] - sums[start]) / (end - start) for end, start in enumerate(starts, 1)]
