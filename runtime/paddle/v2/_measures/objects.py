"""Objects: how many of those in images were found, and how much of what was found is none.

It must never know a network. Guarantee: objects of parts of a batch, and of batches, add up to those of all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from paddle._engine import boxes

WAYS = ("11point", "Integral")
"""How a mean is taken over how much is found: of the best precision from each tenth on, or of all."""

_EQUAL = 1e-6
_NONE = np.zeros((0, 2), np.float32)


@dataclass(frozen=True)
class Objects:
    """Of each class how many objects there are, and of what was found the scores and which are objects."""

    way: str
    there: Mapping[int, int]
    found: Mapping[int, np.ndarray]

    def __add__(self, other: Objects) -> Objects:
        return self.joined([self, other])

    @classmethod
    def joined(cls, parts: Sequence[Objects]) -> Objects:
        """The sum of one or more."""
        there = Counter[int]()
        for each in parts:
            there.update(each.there)
        classes = dict.fromkeys(number for each in parts for number in each.found)
        found = {c: np.concatenate([each.found.get(c, _NONE) for each in parts]) for c in classes}
        return cls(parts[0].way, there, found)

    @classmethod
    def of(cls, values: Sequence[np.ndarray], way: str, least: float, with_difficult: bool) -> Objects:
        """``values``: what was found with its offsets by image, and the labels with theirs. An object is
        found that is overlapped by more than ``least``; difficult ones count only if asked for."""
        found, found_ends, label, label_ends = values
        images = zip(pairwise(found_ends), pairwise(label_ends), strict=True)
        pieces = [(found[first:end], label[start:behind]) for (first, end), (start, behind) in images]
        return cls.joined(
            [cls(way, {}, {}), *(cls._of_image(way, *each, least, with_difficult) for each in pieces)]
        )

    @classmethod
    def _of_image(
        cls, way: str, found: np.ndarray, label: np.ndarray, least: float, with_difficult: bool
    ) -> Objects:
        counts = np.abs(label[:, 5]) < _EQUAL if not with_difficult else np.ones(len(label), bool)
        classes, said = label[:, 0].astype(np.int64), found[:, 1].astype(np.int64)
        there = {int(c): int(counts[classes == c].sum()) for c in np.unique(classes)}
        hits = {}
        for number in np.unique(said).tolist():
            own, right = found[said == number], classes == number
            hits[number] = _hits(own, label[right, 1:5], counts[right], least)
        return cls(way, there, {number: each for number, each in hits.items() if len(each)})

    def said(self) -> Mapping[str, float]:
        """The mean precision over the classes that there are and of which any was found, of 100."""
        means = [
            _mean(self.way, self.found[c], there)
            for c, there in self.there.items()
            if there and c in self.found
        ]
        return {"": 100 * sum(means) / len(means) if means else 0.0}


def _hits(found: np.ndarray, right: np.ndarray, counts: np.ndarray, least: float) -> np.ndarray:
    """What was found of one class in one image, the best first, each object being found once."""
    found = found[np.argsort(-found[:, 2], kind="stable")]
    hits = np.zeros((len(found), 2), np.float32)
    hits[:, 0] = found[:, 2]
    if not len(right):
        return hits
    near, taken, says = boxes.overlaps(found[:, 3:7], right), set[int](), np.ones(len(found), bool)
    for at, best in enumerate(near.argmax(1).tolist()):
        if near[at, best] > least:
            says[at] = counts[best]
            hits[at, 1] = best not in taken
            taken.add(best)
    return hits[says]


def _mean(way: str, hits: np.ndarray, there: int) -> float:
    """The mean of precision over recall; of single floats, as the original's tenths are."""
    true = np.cumsum(hits[np.argsort(-hits[:, 0], kind="stable"), 1], dtype=np.float64)
    precision = true / np.arange(1, len(hits) + 1)
    recall = (true / there).astype(np.float32).astype(np.float64)
    if way == "11point":
        best = [precision[recall >= tenth / 10].max(initial=0.0) for tenth in range(11)]
        return float(sum(best)) / len(best)
    steps = np.diff(recall, prepend=0.0)
    return float((precision * steps)[steps > _EQUAL].sum())
