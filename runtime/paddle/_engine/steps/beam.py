"""A beam: the most promising beginnings of sequences that are being generated.

Rules, which are those of v2's generator: 1. Every path goes on with its most probable words, as many as the
beam is wide. A path that took the word which
   ends sequences, or is as long as allowed, is finished.
2. Of the others of one sample, the most probable ones go on, as many as the beam is wide. 3. A finished path
that is less probable than all that go on is dropped. 4. A sample is done when it has as many finished paths
as the beam is wide, none of which is less probable than
   any that could go on; or when none goes on.

How probable a path is, is the sum of the logarithms of its words' probabilities. Of equals the earlier comes
first. It must never know where probabilities come from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

Array = np.ndarray


@dataclass(frozen=True, slots=True, eq=False)
class Path:
    """``words`` so far, of sample ``of``; ``row``: where its last word's probabilities stood."""

    of: int
    words: tuple[int, ...] = ()
    score: float = 0.0
    row: int = 0


class Beam:
    """``live``: the paths that go on, those of a sample beside each other. ``finished``: by sample."""

    def __init__(self, samples: int, width: int, end: int, longest: int) -> None:
        self._width, self._end, self._longest = width, end, longest
        self.live = [Path(number) for number in range(samples)]
        self.finished: list[list[Path]] = [[] for _ in range(samples)]

    def extend(self, probabilities: Array) -> None:
        """Go on by one word: a row for each live path, a column for each word."""
        width = min(self._width, probabilities.shape[1])
        best = np.argsort(-probabilities, axis=1, kind="stable")[:, :width]
        scores = np.log(np.take_along_axis(probabilities, best, 1).astype(np.float64))
        going: dict[int, list[Path]] = {path.of: [] for path in self.live}
        for row, path in enumerate(self.live):
            for word, score in zip(best[row].tolist(), scores[row].tolist(), strict=True):
                longer = Path(path.of, (*path.words, word), path.score + score, row)
                is_over = word == self._end or len(longer.words) >= self._longest
                (self.finished if is_over else going)[path.of].append(longer)
        self.live = [path for of, paths in going.items() for path in self._kept(of, paths)]

    def _kept(self, of: int, paths: Sequence[Path]) -> list[Path]:
        """Those of a sample's paths that go on."""
        kept = sorted(paths, key=_by_score)[: self._width]
        if not kept:
            return []
        finished = self.finished[of] = [each for each in self.finished[of] if each.score >= kept[-1].score]
        is_done = len(finished) >= self._width and min(each.score for each in finished) >= kept[0].score
        return [] if is_done else kept

    def results(self, count: int) -> list[list[Path]]:
        """The most probable finished paths of each sample, ``count`` at most."""
        return [sorted(paths, key=_by_score)[:count] for paths in self.finished]


def _by_score(path: Path) -> float:
    return -path.score
