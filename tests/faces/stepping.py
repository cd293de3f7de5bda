"""What a program of fluid fetches step by step. That passes change nothing of it is compared for every plan
(tests/plain)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from paddle import fluid

Step = Callable[[fluid.Executor, int], Sequence[np.ndarray]]
"""Runs the step of a number; gives what it fetched, of which the first numbers count."""


def told(step: Step, steps: int) -> np.ndarray:
    """(steps, fetched) by an executor of its own, by whose steps dropout draws."""
    exe = fluid.Executor(fluid.CPUPlace())
    return np.array(
        [[each.reshape(-1)[0] for each in step(exe, number)] for number in range(steps)], np.float64
    )
