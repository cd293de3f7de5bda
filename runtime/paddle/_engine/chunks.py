"""Chunks: which stretches of a sequence are one thing, and how many of those that are said are right.

A tag is ``type * parts + part``: in the schemes IOB (begin, inside), IOE (inside, end), IOBES (begin, inside,
end, single) and plain (one part); tags from ``types * parts`` on are outside of all chunks. Guarantee: counts
of parts of a batch, or of batches, add up to those of the whole.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from paddle._engine.errors import FeedError

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
        """The chunks of all sequences of a batch.

        Raises FeedError where the two have not a tag each for every element."""
        from paddle._engine.kernels.tag_chunks import count_chunks  # loads numba

        ours, theirs = (np.array(tags, np.int64).reshape(-1) for tags in (said, right))
        if not len(ours) == len(theirs) == offsets[-1]:
            raise FeedError(
                f"{offsets[-1]} elements of sequences have {len(ours)} tags, and {len(theirs)} right ones"
            )
        found = np.empty(3, np.int64)
        count_chunks(
            ours, theirs, np.array(offsets, np.int64), *self._spelt, self.types, self._left_out, found
        )
        return Chunks(*found.tolist())

    @cached_property
    def _spelt(self) -> tuple[np.ndarray, np.ndarray]:
        """With which parts a chunk begins, and ends, and that one does with no part."""
        begins, ends = (np.array([part in which for part in (*self.parts, "")]) for which in (_BEGINS, _ENDS))
        return begins, ends

    @cached_property
    def _left_out(self) -> np.ndarray:
        return np.array(sorted(self.excluded), np.int64)
