"""Plot: what is predicted, a panel for each mode: steps per second over trainers, a line for each number of
shards, and at each point what holds it up."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from textwrap import wrap
from typing import Any

from benchmarks.scale.prediction import Point
from benchmarks.scale.result import WORDS

_MARKERS = {
    "compute": "o",
    "trainer CPU": "v",
    "shard CPU": "s",
    "shard link": "D",
    "trainer link": "P",
    "stragglers": "X",
}
_COLUMNS = 4


def draw(points: Sequence[Point], gbit: float, path: Path, subtitle: str) -> None:
    """Write a picture of the points with links of ``gbit``. Needs matplotlib."""
    from matplotlib.figure import Figure

    shown = [point for point in points if point.gbit == gbit]
    modes = list(dict.fromkeys(point.mode for point in shown))
    rows = -(-(len(modes) + 1) // _COLUMNS)
    figure = Figure(figsize=(3.1 * _COLUMNS, 3.1 * rows + 0.9), layout="constrained")
    panels = figure.subplots(rows, _COLUMNS, sharex=True, sharey=True).flatten()
    for panel, mode in zip(panels, modes, strict=False):
        _panel(panel, [point for point in shown if point.mode == mode], mode)
    for panel in panels[len(modes) :]:
        panel.axis("off")
    _legend(panels[len(modes)], shown)
    figure.suptitle(f"Steps/s of all trainers together, predicted, {gbit:g} Gbit/s links", fontsize=13)
    figure.supxlabel("trainers\n" + "\n".join(wrap(subtitle, 150)), fontsize=9)
    figure.savefig(path, dpi=110)


def _panel(panel: Any, points: Sequence[Point], mode: str) -> None:
    trainers = sorted({point.trainers for point in points})
    panel.plot(trainers, [n / points[0].compute_s for n in trainers], "--", color="0.6", linewidth=1)
    for number, color in _colors(points).items():
        line = sorted((p for p in points if p.shards == number), key=lambda point: point.trainers)
        speeds = [point.result.steps_per_s for point in line]
        panel.plot([point.trainers for point in line], speeds, "-", color=color, linewidth=1.5)
        for point, speed in zip(line, speeds, strict=True):
            marker = _MARKERS[point.result.shares.bottleneck]
            panel.plot(
                point.trainers,
                speed,
                marker,
                color=color,
                markersize=6,
                markeredgecolor="white",
                markeredgewidth=0.6,
            )
    panel.set(xscale="log", yscale="log", title=mode)
    panel.grid(True, which="major", color="0.9")
    for axis in (panel.xaxis, panel.yaxis):
        axis.set_major_formatter(lambda value, _: f"{value:,.0f}" if value >= 1 else f"{value:g}")
    panel.tick_params(labelsize=8, labelleft=True, labelbottom=True)


def _colors(points: Sequence[Point]) -> dict[int, Any]:
    from matplotlib import colormaps

    shards = sorted({point.shards for point in points})
    palette = colormaps["viridis"]
    return {number: palette(0.85 * index / max(1, len(shards) - 1)) for index, number in enumerate(shards)}


def _legend(panel: Any, points: Sequence[Point]) -> None:
    from matplotlib.lines import Line2D

    lines = [
        Line2D([], [], color=color, label=f"{number} shard{'s' * (number > 1)} of each role")
        for number, color in _colors(points).items()
    ]
    lines.append(Line2D([], [], color="0.6", linestyle="--", label="computation alone"))
    seen = {point.result.shares.bottleneck for point in points}
    marks = [
        Line2D([], [], color="0.3", linestyle="", marker=_MARKERS[word], label=f"held up by {word}")
        for word in WORDS.values()
        if word in seen
    ]
    panel.legend(handles=lines + marks, loc="center", fontsize=8.5, frameon=False)
