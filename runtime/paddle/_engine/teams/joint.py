"""Joint: the product of a batch and a parameter that the threads of a team compute together.

Cut by samples, each thread goes through all of a parameter; where that is larger than what a batch has beside
it, so most of the work is done once a thread. Here each thread has the whole batch, and a part of the
parameter: columns on the way there, rows on the way back, where it also makes these rows of the gradient, or
moves them. It must never know a program, nor how threads wait for each other.

Guarantee: an element is computed by one thread, from the samples in the order of the parts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np

from paddle._engine.exchange import Stepping
from paddle._engine.program import Shape

LEAST = 1 << 18
"""Values of a parameter from which on threads meet four times for it: some 50 microseconds."""


def pays(shape: Shape, samples: int) -> bool:
    """Whether a product with a parameter is better computed jointly: it is larger than what the batch has
    before and behind it."""
    if len(shape) != 2:
        return False
    height, width = shape
    return height * width >= max(LEAST, samples * (height + width))


def span(size: int, number: int, count: int) -> slice:
    """Part ``number`` of ``count`` of so many rows or columns."""
    return slice(size * number // count, size * (number + 1) // count)


class Joint:
    """The whole batch beside one parameter of (height, width), for as long as one step lasts.

    ``x``: (samples, height) what is multiplied; ``out``: (samples, width) the product, then its slope;
    ``below``: (samples, height) the slope of ``x``. ``rows``: of each part. ``gradient``: that of the
    parameter, where it is made.
    """

    def __init__(self) -> None:
        self.x = self.out = self.below = np.empty((0, 0), np.float32)
        self.rows: Sequence[slice] = ()
        self.gradient: np.ndarray | None = None
        self._room: list[np.ndarray] = [np.empty(0, np.float32)] * 3

    def gather(self, parts: Sequence[np.ndarray], width: int) -> None:
        """The parts of a batch have come to the parameter."""
        sizes, height = [len(part) for part in parts], parts[0].shape[1]
        ends = np.cumsum(sizes).tolist()
        self.rows = [slice(end - size, end) for size, end in zip(sizes, ends, strict=True)]
        if self.x.shape != (ends[-1], height):
            self.x = self._sized(0, ends[-1], height)
            self.out = self._sized(1, ends[-1], width)
            self.below = self._sized(2, ends[-1], height)
        np.concatenate(parts, out=self.x)

    def _sized(self, which: int, height: int, width: int) -> np.ndarray:
        if self._room[which].size < height * width:
            self._room[which] = np.empty(height * width, np.float32)
        return self._room[which][: height * width].reshape(height, width)


@runtime_checkable
class Joining(Stepping, Protocol):
    """What a thread of a team takes for its exchange; see share.py.

    ``number``: which one it is; ``count``: of how many; ``samples``: in the whole batch.
    """

    @property
    def number(self) -> int: ...

    @property
    def count(self) -> int: ...

    @property
    def samples(self) -> int: ...

    def joint(self, parameters: Mapping[str, Shape]) -> Mapping[str, float | None]:
        """With which parameters products are computed jointly, in this run and any of as many samples in as
        many parts; each with the multiplier of the rate at which it is moved meanwhile, None where its
        gradient is made."""
        ...

    def product(self, parameter: str) -> Joint:
        """That with a parameter."""
        ...

    def meet(self, brought: Any, act: Callable[[list[Any]], object]) -> None:
        """Wait for all threads. The first one acts upon what each has brought, before any goes on."""
        ...

    def made(self, parameter: str) -> None:
        """The gradient that the first thread gives of it is that of the whole batch."""
        ...

    def rate(self) -> float:
        """The learning rate of the step, where the run is told none; of an exchange that lends."""
        ...
