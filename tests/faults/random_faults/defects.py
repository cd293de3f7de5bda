"""Defects: pservers that break one promise each, to show that it is seen: ``python -m ... NAME pserver ...``.

Each replaces one thing of the product in this process, before it forks its shards, and is that of a mistake
that somebody could make there. It must never know how it is found out.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from paddle.__main__ import main
from paddle._pserver.shard.arrival import Arrivals
from paddle._pserver.snapshots.snapshot import Snapshots
from paddle._pserver.tables.tables import Tables

EVERY = 20  # steps


def twice() -> None:
    """Now and then a step is applied twice."""
    apply, counts = Tables.apply, itertools.count(1)

    def mistaken(self: Tables, gradients: Sequence[Any], **about: Any) -> None:
        for _ in range(1 + (next(counts) % EVERY == 0)):
            apply(self, gradients, **about)

    Tables.apply = mistaken  # type: ignore[method-assign, assignment]


def torn() -> None:
    """A snapshot has the counts of one moment and the values of another."""
    cut = Tables.cut
    before: dict[int, dict[str, np.ndarray]] = {}

    def mistaken(self: Tables) -> dict[str, np.ndarray]:
        now = cut(self)
        then, before[id(self)] = before.get(id(self), now), now
        return then

    Tables.cut = mistaken  # type: ignore[method-assign]


def back() -> None:
    """A shard that is started again goes on from a snapshot that is not its newest."""
    load = Snapshots.load

    def mistaken(self: Snapshots) -> Any:
        loaded = load(self)
        if not loaded.older:
            return loaded
        return type(loaded)(self.state_of(loaded.older[-1]), loaded.damaged, ())

    Snapshots.load = mistaken  # type: ignore[method-assign]


def silent_loss() -> None:
    """Nobody is told which pushes a shard has lost."""
    begin = Arrivals.__init__

    def mistaken(self: Arrivals, *parts: Any) -> None:
        *others, note = parts
        begin(self, *others, lambda text, *level: None if "are lost" in text else note(text, *level))

    Arrivals.__init__ = mistaken  # type: ignore[method-assign]


DEFECTS: dict[str, Callable[[], None]] = {
    "twice": twice,
    "silent loss": silent_loss,
    "torn": torn,
    "back": back,
}

if __name__ == "__main__":
    name, *sys.argv[1:] = sys.argv[1:]
    DEFECTS[name]()
    sys.exit(main())
