"""Parts: a batch that was fed is cut into parts, for the threads of a trainer.

It must never know a network. Guarantee: parts follow each other as samples do, none is empty, and what
belongs to a sample is in its part; sizes differ by one sample at most.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

import numpy as np

from paddle._engine.teams.team import Part
from paddle.v2._lowering.output import AMOUNTS, OFFSETS, OUTER, STARTS

Feed = Mapping[str, np.ndarray]

_LEVELS = (OUTER, OFFSETS, STARTS)
"""What is fed beside a slot to say where what is in it begins, the outermost first."""


def parts(feed: Feed, samples: int, count: int) -> Sequence[Part]:
    """The parts of a batch, ``count`` of them where there are that many samples.

    One part, the batch, where a part would have sequences without any element.
    """
    count = min(count, samples)
    bounds = [samples * number // count for number in range(count + 1)]
    made = [_part(feed, first, end) for first, end in pairwise(bounds)]
    if count == 1 or any(_lacks_elements(part.feed) for part in made):
        return [Part(feed, samples)]
    return made


def _part(feed: Feed, first: int, end: int) -> Part:
    cut = {key: value for slot in _slots(feed) for key, value in _cut(feed, slot, first, end)}
    return Part(cut, end - first)


def _slots(feed: Feed) -> list[str]:
    return [name for name in feed if not name.endswith((*_LEVELS, AMOUNTS))]


def _cut(feed: Feed, slot: str, first: int, end: int) -> Iterator[tuple[str, np.ndarray]]:
    """What the samples from ``first`` to ``end`` have in a slot."""
    for level in (slot + each for each in _LEVELS if slot + each in feed):
        begins = feed[level][first : end + 1]
        first, end = int(begins[0]), int(begins[-1])
        yield level, begins - first
    for key in (slot, slot + AMOUNTS):
        if key in feed:
            yield key, feed[key][first:end]


def _lacks_elements(feed: Feed) -> bool:
    return any(name.endswith((OUTER, OFFSETS)) and not feed[name][-1] for name in feed)
