"""Noise: how long a batch takes to compute, which is never twice the same.

A trainer is slower or faster than others for good (its machine), and each batch for itself (its data, the
other work of the machine): two lognormal factors, both with mean 1. Guarantee: a seed and a trainer's number
give the same times everywhere, in a simulation and in a real run.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Noise:
    """``trainer_sigma``, ``batch_sigma``: of the logarithm of the two factors."""

    trainer_sigma: float = 0.05
    batch_sigma: float = 0.2
    seed: int = 1

    def times(self, mean_s: float, trainer: int, batches: int) -> list[float]:
        """Seconds for each of a trainer's batches."""
        chance = np.random.default_rng((self.seed, trainer))
        own = _factors(chance, self.trainer_sigma, 1)
        times: list[float] = (mean_s * own * _factors(chance, self.batch_sigma, batches)).tolist()
        return times


def _factors(chance: np.random.Generator, sigma: float, count: int) -> np.ndarray:
    return np.exp(sigma * chance.standard_normal(count) - sigma * sigma / 2)
