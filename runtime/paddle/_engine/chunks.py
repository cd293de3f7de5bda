"""Chunks: which stretches of a sequence are one thing, and how many of those that are said are right.

A tag is ``type * parts + part``: in the schemes IOB (begin, inside), IOE (inside, end), IOBES (begin, inside,
end, single) and plain (one part); tags from ``types * parts`` on are outside of all chunks. Guarantee: counts
of parts of a batch, or of batches, add up to those of the whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

ENDINGS = (".precision", ".recall", ".F1-score")
SCHEMES: Mapping[str, str] = {"IOB": "BI", "IOE": "IE", "IOBES": "BIES", "plain": "-"}
"""The parts of a chunk, in the order of their numbers."""

_BEGINS, _ENDS = frozenset("BS"), frozenset("ES")


@dataclass(frozen=True)
class Chunks:
    """How many chunks there were, how many were said, and how many of these are right."""

    there: int
    said_so: int
    right: int

    def __add__(self, other: Chunks) -> Chunks:
        return Chunks(self.there + other.there, self.said_so + other.said_so, self.right + other.right)

    def said(self) -> Mapping[str, float]:
        """Precision, recall and the F1-score of the two."""
        precision = self.right / self.said_so if self.said_so else 0.0
        recall = self.right / self.there if self.there else 0.0
        f1 = 2 * precision * recall / (precision + recall) if self.right else 0.0
        return dict(zip(ENDINGS, (precision, recall, f1), strict=True))


@dataclass(frozen=True)
class Scheme:
    """How tags spell chunks. ``excluded``: types that do not count."""

    parts: str
    types: int
    excluded: frozenset[int] = frozenset()

    def compare(self, said: np.ndarray, right: np.ndarray, offsets: np.ndarray) -> Chunks:
        """The chunks of all sequences of a batch."""
        total = Chunks(0, 0, 0)
        for first, end in pairwise(offsets.tolist()):
            ours, theirs = (set(self.chunks(tags.reshape(-1)[first:end].tolist())) for tags in (said, right))
            total += Chunks(len(theirs), len(ours), len(ours & theirs))
        return total

    def chunks(self, tags: Sequence[int]) -> Iterator[tuple[int, int, int]]:
        """(type, first, last) of each chunk."""
        begun, kind, part = -1, self.types, ""
        for place, tag in enumerate(tags):
            before, last = kind, part
            kind, part = tag // len(self.parts), self.parts[tag % len(self.parts)]
            apart = kind != before or last in _ENDS or part in _BEGINS
            if begun >= 0 and apart:
                yield from self._counted(before, begun, place - 1)
            if apart or begun < 0:
                begun = place if kind < self.types else -1
        if begun >= 0:
            yield from self._counted(kind, begun, len(tags) - 1)

    def _counted(self, kind: int, first: int, last: int) -> Iterator[tuple[int, int, int]]:
        if kind not in self.excluded:
            yield kind, first, last
