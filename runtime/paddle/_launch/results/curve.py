"""The curve of the cost: ``loss.csv``, written while the job runs, and ``loss.png``, drawn at its end.

It must never know where reports come from. Guarantee: whatever is wrong with the disk or with matplotlib,
which not everybody has installed, is said once and ends nothing; a picture is there whole or not at all.

A row is kept when a two-thousandth of the time so far has passed since the trainer's last one: half a minute
of training has all of its reports, a day some ten thousand.
"""

from __future__ import annotations

import csv
import io
import logging
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from math import isfinite, nan
from pathlib import Path

from paddle._launch.news import Progress

_CSV, _PNG, _PART = "loss.csv", "loss.png", ".loss.png.part"
_HEADINGS = ("seconds", "trainer", "pass_id", "batch_id", "cost", "samples_per_s")
_FINE = 2000  # points of the curve in the time so far: dense at first, never too many
_NAMED = 10  # trainers that have a name and a colour of their own
_Tell = Callable[[str], None]
_Points = Mapping[str, Sequence[tuple[float, float]]]


class LossCurve:
    """Of one job."""

    def __init__(self, folder: Path, tell: _Tell, title: str = "") -> None:
        self._folder, self._tell, self._title = folder, tell, title
        self._points: defaultdict[str, list[tuple[float, float]]] = defaultdict(list)
        self._is_failing = False
        self._append("w", _HEADINGS)

    def add(self, progress: Progress, seconds: float) -> None:
        """Take a report that came ``seconds`` after training began."""
        points = self._points[progress.role]
        if points and seconds - points[-1][0] < seconds / _FINE:
            return
        points.append((seconds, progress.cost))
        rest = (progress.pass_id, progress.batch_id, progress.cost, f"{progress.samples_per_s:.1f}")
        self._append("a", (f"{seconds:.2f}", progress.role, *rest))

    def draw(self) -> Path | None:
        """Draw the curve, where there is one; gives the file that shows it."""
        return _picture(self._points, self._folder, self._tell, self._title) if self._points else None

    def _append(self, mode: str, row: tuple[object, ...]) -> None:
        place = self._folder / _CSV
        try:
            with place.open(mode, newline="") as file:
                csv.writer(file).writerow(row)
        except OSError as error:
            if not self._is_failing:
                self._is_failing = True
                self._tell(f"cannot write {place}: {error.strerror}; training goes on without it")


def draw_again(folder: Path, tell: _Tell, title: str = "") -> Path | None:
    """Draw a curve of which only the table is there, as a launcher leaves it that was killed."""
    points: defaultdict[str, list[tuple[float, float]]] = defaultdict(list)
    try:
        with (folder / _CSV).open(newline="", errors="replace") as file:
            for row in csv.DictReader(file):
                points[str(row["trainer"])].append((float(row["seconds"]), float(row["cost"])))
    except (OSError, ValueError, KeyError, TypeError):  # none, or half a line where the disk was full
        pass
    return _picture(points, folder, tell, title) if points else None


def _picture(points: _Points, folder: Path, tell: _Tell, title: str) -> Path:
    try:
        drawn = _drawn(points, title)
    except ImportError:
        tell(f"no {_PNG}: matplotlib is not installed here (pip install matplotlib). Costs are in {_CSV}")
        return folder / _CSV
    except Exception as error:  # a matplotlib that was built for another numpy, say: the job is over
        tell(f"no {_PNG}: matplotlib cannot draw it: {type(error).__name__}: {error}. Costs are in {_CSV}")
        return folder / _CSV
    try:
        (folder / _PART).write_bytes(drawn)
        (folder / _PART).replace(folder / _PNG)
    except OSError as error:
        (folder / _PART).unlink(missing_ok=True)
        tell(f"cannot write {folder / _PNG}: {error.strerror}")
        return folder / _CSV
    return folder / _PNG


def _drawn(points: _Points, title: str) -> bytes:
    from matplotlib.figure import Figure  # a second to import, and not everywhere installed

    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # that it looks for fonts is no news
    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.add_subplot(xlabel="seconds", ylabel="cost", title=title)
    is_named = len(points) <= _NAMED
    for number, role in enumerate(sorted(points)):
        seconds, costs = zip(*points[role], strict=True)
        name = role if is_named else f"{len(points)} trainers" if number == 0 else None
        colour, alpha = (None, 1.0) if is_named else ("tab:blue", 0.4)
        (line,) = axes.plot(seconds, _smooth(costs), label=name, color=colour, alpha=alpha)
        if is_named:
            axes.plot(seconds, costs, linewidth=0.7, alpha=0.3, color=line.get_color())
    if not any(isfinite(cost) for line in points.values() for _, cost in line):
        axes.text(0.5, 0.5, "no cost was a finite number", ha="center", transform=axes.transAxes)
    axes.grid(alpha=0.3)
    axes.legend()
    picture = io.BytesIO()
    figure.savefig(picture, format="png", dpi=120)
    return picture.getvalue()


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
