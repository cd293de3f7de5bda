"""The curve of the cost: ``loss.csv``, written while the job runs, and ``loss.png``, drawn at its end.

It must never know where reports come from. Guarantee: whatever is wrong with the disk or with matplotlib,
which not everybody has installed, is said once and ends nothing, and holds nothing up for over a minute; a
picture is there whole or not at all.

A row is kept when a two-thousandth of the time so far has passed since the trainer's last one: half a minute
of training has all of its reports, a day some ten thousand.
"""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
from array import array
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from paddle._launch.news import Progress

_CSV, _PNG, _PART = "loss.csv", "loss.png", ".loss.png.part"
_HEADINGS = ("seconds", "trainer", "pass_id", "batch_id", "cost", "samples_per_s")
_FINE = 2000  # points of the curve in the time so far: dense at first, never too many
_PATIENCE_S = 60.0  # a second on a machine with nothing else to do
_PICTURE = Path(__file__).with_name("picture.py")
_Tell = Callable[[str], None]
_Points = Mapping[str, Sequence[tuple[float, float]]]


class _NotDrawn(Exception):
    """There is no picture; the message says why."""


class LossCurve:
    """Of one job."""

    def __init__(self, folder: Path, tell: _Tell, title: str = "") -> None:
        self._folder, self._tell, self._title = folder, tell, title
        self._points: defaultdict[str, array[float]] = defaultdict(lambda: array("d"))  # seconds, cost, ...
        self._is_failing = False
        self._append("w", _HEADINGS)

    def add(self, progress: Progress, seconds: float) -> None:
        """Take a report that came ``seconds`` after training began."""
        points = self._points[progress.role]
        if points and seconds - points[-2] < seconds / _FINE:
            return
        points.extend((seconds, progress.cost))
        rest = (progress.pass_id, progress.batch_id, progress.cost, f"{progress.samples_per_s:.1f}")
        self._append("a", (f"{seconds:.2f}", progress.role, *rest))

    def draw(self) -> Path | None:
        """Draw the curve, where there is one; gives the file that shows it."""
        if not self._points:
            return None
        points = {role: list(zip(flat[::2], flat[1::2], strict=True)) for role, flat in self._points.items()}
        return _picture(points, self._folder, self._tell, self._title)

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
    except _NotDrawn as error:  # a matplotlib that was built for another numpy, say: the job is over
        tell(f"no {_PNG}: {error}. Costs are in {_CSV}")
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
    """By a process of its own: what matplotlib is built on may crash, or hang and hear no signal, as OpenBLAS
    does where there is little memory. Raises _NotDrawn."""
    told = json.dumps({"title": title, "points": points}).encode()
    call = [sys.executable, "-P", "-B", str(_PICTURE), str(_PATIENCE_S)]
    environ = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    try:
        made = subprocess.run(call, input=told, capture_output=True, env=environ, start_new_session=True)
    except OSError as error:
        raise _NotDrawn(f"no process could be started to draw it: {error.strerror}") from error
    if made.returncode == -signal.SIGALRM:
        raise _NotDrawn(f"matplotlib has not drawn it within {_PATIENCE_S:g} s")
    if made.returncode:
        raise _NotDrawn(made.stderr.decode(errors="replace").strip() or _ended(made.returncode))
    return made.stdout


def _ended(status: int) -> str:
    return f"what draws it ended with {f'signal {-status}' if status < 0 else f'status {status}'}"
