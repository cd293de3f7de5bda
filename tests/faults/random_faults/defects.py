"""Defects: pservers that break one promise each, to show that it is seen (pserver.py starts them).

Each replaces one thing of the product in this process, before it forks its shards, as a mistake could that
somebody makes there. It must never know how it is found out.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from paddle._pserver.shard.clocks import Clocks
from paddle._pserver.tables.streamed import Array
from paddle._pserver.tables.tables import Cut, Tables

EVERY = 5  # steps of a shard


def twice() -> None:
    """Now and then a step is applied twice."""
    _apply(lambda number: 1 + (number % EVERY == 0))


def never() -> None:
    """Now and then a step is counted, and not applied."""
    _apply(lambda number: int(number % EVERY > 0))


def _apply(times: Callable[[int], int]) -> None:
    apply, numbers = Tables.apply, itertools.count(1)

    def mistaken(self: Tables, gradients: Sequence[Any], **about: Any) -> None:
        for _ in range(times(next(numbers))):
            apply(self, gradients, **about)

    Tables.apply = mistaken  # type: ignore[method-assign, assignment]


def torn() -> None:
    """A snapshot has the counts of one moment and the values of another."""
    cut = Tables.cut
    first: dict[int, dict[str, Array]] = {}

    def mistaken(self: Tables, *, may_stand: bool) -> Cut:
        made = cut(self, may_stand=may_stand)
        return made._replace(arrays=first.setdefault(id(self), made.arrays))

    Tables.cut = mistaken  # type: ignore[method-assign, assignment]


def back() -> None:
    """A shard counts its steps only up to a number, and from 0 again."""
    apply = Clocks.apply

    def mistaken(self: Clocks, samples: int, passes: int) -> None:
        apply(self, samples, passes)
        if self.version == EVERY:
            self.version = self.samples = 0

    Clocks.apply = mistaken  # type: ignore[method-assign]


DEFECTS: dict[str, Callable[[], None]] = {
    "twice": twice,
    "never": never,
    "torn": torn,
    "back": back,
}
