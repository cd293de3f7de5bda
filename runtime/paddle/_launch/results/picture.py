"""Draws the curve of the cost, in a process of its own: ``python picture.py SECONDS``, its points on stdin.

It must never write a file, nor import the rest of this package. Guarantee: its stdout is a whole picture, and
its status 0; or its stderr says in a few words why there is none. It is gone after so many seconds.
"""

from __future__ import annotations

import io
import json
import logging
import signal
import sys
from collections.abc import Mapping, Sequence
from itertools import accumulate
from math import isfinite, nan

_NAMED = 10  # trainers that have a name and a colour of their own


def main() -> None:
    """Draw what stdin says."""
    signal.setitimer(signal.ITIMER_REAL, float(sys.argv[1]))  # its signal kills, also within a library
    told = json.load(sys.stdin)
    try:
        picture = _drawn(told["points"], told["title"])
    except ImportError as error:
        why = "is not installed here (pip install matplotlib)"
        sys.exit(f"matplotlib {why if error.name == 'matplotlib' else f'cannot be imported: {error}'}")
    except Exception as error:
        sys.exit(f"matplotlib cannot draw it: {type(error).__name__}: {error}")
    sys.stdout.buffer.write(picture)


def _drawn(points: Mapping[str, Sequence[Sequence[float]]], title: str) -> bytes:
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


if __name__ == "__main__":
    main()
