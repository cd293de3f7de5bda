"""Ploter: curves that grow while training runs, in a notebook or in a picture file.

It must never compute a value. Guarantee: with ``DISABLE_PLOT=True`` in the environment nothing is drawn and
matplotlib is not needed.
"""

from __future__ import annotations

import os
import warnings
from importlib import import_module
from typing import Any

__all__ = ["Ploter"]


class Ploter:
    """One curve for each title."""

    def __init__(self, *args: str) -> None:
        self._curves: dict[str, tuple[list[float], list[float]]] = {title: ([], []) for title in args}
        self._disabled = os.environ.get("DISABLE_PLOT") == "True"
        self._is_shown = True  # as far as is known

    def append(self, title: str, step: float, value: float) -> None:
        """Add a point to a curve."""
        if title not in self._curves:
            raise ValueError(f"there is no curve {title!r}; there are {', '.join(self._curves)}")
        steps, values = self._curves[title]
        steps.append(step)
        values.append(value)

    def plot(self, path: str | None = None) -> None:
        """Draw the curves in the notebook, or into the picture file ``path``.

        Where there is no notebook, a warning says so, once, and whoever trains goes on.
        """
        if self._disabled:
            return
        if path is not None:
            self._figure().savefig(path)
            return
        if not self._is_shown:
            return
        try:
            display, figure = import_module("IPython.display"), self._figure()
        except ImportError as missing:
            self._is_shown = False
            warnings.warn(
                f"plot() draws in a notebook, and nothing is drawn here ({missing}): give plot(path) a "
                "picture file, or set DISABLE_PLOT=True",
                RuntimeWarning,
                stacklevel=2,
            )
            return
        display.clear_output(wait=True)
        display.display(figure)

    def reset(self) -> None:
        """Begin the curves anew."""
        for steps, values in self._curves.values():
            steps.clear()
            values.clear()

    def _figure(self) -> Any:
        from matplotlib.figure import Figure  # needs no screen

        figure = Figure()
        axes = figure.add_subplot()
        for title, (steps, values) in self._curves.items():
            if steps:
                axes.plot(steps, values, label=title)
        if axes.lines:
            axes.legend(loc="upper left")
        return figure
