"""A clock that stands still while its process does.

It must never know who looks at it. Guarantee: seconds in which this process was paused, or its machine slept,
are nobody else's silence; who looks at it in every turn of a loop sees them left out.
"""

from __future__ import annotations

from collections.abc import Callable

_STALL_S = 2.0  # far longer than a turn of a loop takes


class AwakeClock:
    """Seconds without those in which this process stood still.

    It is looked at in every turn of the loop, so a long time between two looks is such a pause.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._looked = clock()
        self._lost = 0.0

    def __call__(self) -> float:
        now = self._clock()
        if now - self._looked > _STALL_S:
            self._lost += now - self._looked
        self._looked = now
        return now - self._lost
