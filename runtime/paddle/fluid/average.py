"""Fluid's mean of values with weights.

It must never know where values come from. Guarantee: ``eval`` is the mean of what was added since ``reset``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["WeightedAverage"]


class WeightedAverage:
    """``add(value, weight)``, then ``eval()``: numbers, or arrays of one shape."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Begin again."""
        self.numerator: Any = None
        self.denominator: Any = None

    def add(self, value: Any, weight: Any) -> None:
        """Take a value and its weight."""
        for name, given in (("value", value), ("weight", weight)):
            if np.asarray(given).dtype.kind not in "iufb":
                raise ValueError(f"the {name} of a WeightedAverage is a number or an array, not {given!r}")
        if self.numerator is None:
            self.numerator, self.denominator = value * weight, weight
        else:
            self.numerator = self.numerator + value * weight
            self.denominator = self.denominator + weight

    def eval(self) -> Any:
        """The mean."""
        if self.numerator is None or not np.any(self.denominator):
            raise ValueError("a WeightedAverage of nothing: call add(value, weight) first")
        return self.numerator / self.denominator
