"""Fit: costs per unit from what whole exchanges took, by least squares of relative errors, none negative."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Observation:
    """``seconds`` that so many of each ``units`` took."""

    units: Mapping[str, float]
    seconds: float


@dataclass(frozen=True, slots=True)
class Fit:
    """Seconds for one of each unit. ``error``: the median of the relative errors, ``worst``: the greatest."""

    seconds: Mapping[str, float]
    error: float
    worst: float


def fit(observations: Sequence[Observation]) -> Fit:
    """Costs of all units that were observed. A unit that would cost less than nothing costs nothing."""
    names = sorted({name for observation in observations for name in observation.units})
    counts = np.array([[one.units.get(name, 0.0) for name in names] for one in observations])
    seconds = np.array([observation.seconds for observation in observations])
    relative = counts / seconds[:, None]
    size = np.where(relative.any(axis=0), np.abs(relative).max(axis=0), 1.0)
    costs = _not_negative(relative / size, np.ones(len(seconds))) / size
    errors = np.abs(relative @ costs - 1)
    return Fit(dict(zip(names, costs.tolist(), strict=True)), float(np.median(errors)), float(errors.max()))


def _not_negative(matrix: np.ndarray, goal: np.ndarray) -> np.ndarray:
    """Least squares without negative unknowns: drops the most negative one until there is none."""
    kept = list(range(matrix.shape[1]))
    while kept:
        found = np.linalg.lstsq(matrix[:, kept], goal, rcond=None)[0]
        if found.min() >= 0:
            break
        del kept[int(found.argmin())]
    costs = np.zeros(matrix.shape[1])
    if kept:
        costs[kept] = found
    return costs
