"""Edits: how far the tags that alignments say are from the right ones, by what must be changed.

Guarantee: as of every measure. Numbers are the mean over sequences, each over the longer of its two lists of
tags; but for ``sequence_error``, the share of those that are not wholly right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

ENDINGS = (".error", ".deletion_error", ".insertion_error", ".substitution_error", ".sequence_error")


@dataclass(frozen=True, eq=False)
class Edits:
    """Sums in the order of ``ENDINGS``, and the number of sequences."""

    sums: np.ndarray
    count: int

    @classmethod
    def of(cls, rows: np.ndarray, offsets: np.ndarray, tags: np.ndarray, tag_offsets: np.ndarray) -> Edits:
        """Of one batch: what is said is the greatest column of each row; the last one is none."""
        said, right, sums = rows.argmax(1).tolist(), tags.reshape(-1).tolist(), np.zeros(len(ENDINGS))
        spans = zip(offsets, offsets[1:], tag_offsets, tag_offsets[1:], strict=False)
        for first, end, tag_first, tag_end in spans:
            ours = [tag for tag, _ in groupby(said[first:end]) if tag != rows.shape[1] - 1]
            sums += _compared(right[tag_first:tag_end], ours)
        return cls(sums, len(offsets) - 1)

    def __add__(self, other: Edits) -> Edits:
        return Edits(self.sums + other.sums, self.count + other.count)

    def said(self) -> Mapping[str, float]:
        """All of them."""
        return dict(zip(ENDINGS, (self.sums / max(self.count, 1)).tolist(), strict=True))


def _compared(right: Sequence[int], said: Sequence[int]) -> np.ndarray:
    """Fewest edits that make ``right`` of ``said``; where there is a choice, substitutions go first."""
    width = len(said) + 1
    # Each cell: edits, deletions, insertions, substitutions. A deletion is a right tag that nobody said.
    above = [(j, 0, j, 0) for j in range(width)]
    for i, wanted in enumerate(right, 1):
        row = [(i, i, 0, 0)]
        for j in range(1, width):
            e, d, n, s = above[j - 1]
            other = said[j - 1] != wanted
            options = [
                (e + other, d, n, s + other),
                (above[j][0] + 1, above[j][1] + 1, above[j][2], above[j][3]),
                (row[-1][0] + 1, row[-1][1], row[-1][2] + 1, row[-1][3]),
            ]
            row.append(min(options, key=lambda option: option[0]))
        above = row
    edits, *kinds = above[-1]
    longer = max(len(right), len(said), 1)
    return np.array([edits / longer, *(kind / longer for kind in kinds), edits > 0], np.float64)
