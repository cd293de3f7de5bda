"""A layout: at which moment which rows are there, for the offsets of one run.

The longest sequence comes first, so that those which are not over yet are the first ones at each moment, and
rows of a moment are a piece of memory (kernels/timeline.py). What does not change from moment to moment
lies in the same order. It must never know what the rows are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from paddle._engine.errors import FeedError
from paddle._engine.steps.kinds import EACH, SHARED, Kind

Array = np.ndarray


class Layout:
    """Of the sequences that begin at ``offsets``, and of all that there are ``runs`` of: offsets, by name.

    ``order``: the sequences, the longest first; ``moments`` of the longest one; ``counts``: how many are not
    over at each. Where the ``key`` of another layout is the same, pieces are the same.
    """

    def __init__(
        self, offsets: Array, is_reverse: bool, runs: Mapping[str, Array], kinds: Mapping[str, Kind]
    ) -> None:
        from paddle._engine.kernels.timeline import lay_out  # loads numba

        total = int(offsets[-1])
        self.order = np.argsort(-np.diff(offsets), kind="stable")
        self.rows, before, counts = (np.empty(total, np.int64) for _ in range(3))
        self.moments = lay_out(offsets, is_reverse, self.order, self.rows, before, counts)
        self.counts = counts[: self.moments]
        self._at = np.zeros(self.moments + 1, np.int64)
        np.cumsum(self.counts, out=self._at[1:])
        self._sorted: dict[str, Array] = {}
        self._places: dict[str, Array] = {}
        self._pieces: dict[Kind, tuple[list[int], list[int], int]] = {}
        self._moving = frozenset(name for name in runs if kinds[name].varies)
        for name, given in runs.items():
            self._lay_runs(name, given, kinds[name])
        self.key = tuple(array.tobytes() for array in (self.counts, *self._sorted.values()))

    def _lay_runs(self, name: str, offsets: Array, kind: Kind) -> None:
        order = self.rows if kind.varies else self.order
        if kind.of != EACH or len(offsets) != len(order) + 1:
            raise FeedError(
                f"a step sees {len(offsets) - 1} sequences ({name!r}) where it has {len(order)} of its "
                "own: it must see one for each"
            )
        lengths = np.diff(offsets)[order]
        ends = np.zeros(len(order) + 1, np.int64)
        np.cumsum(lengths, out=ends[1:])
        self._sorted[name] = ends
        self._places[name] = np.repeat(offsets[:-1][order] - ends[:-1], lengths) + np.arange(ends[-1])

    def places(self, kind: Kind) -> Array:
        """Which row of the outer program stands at each place here."""
        if kind.of == EACH:
            return self.rows if kind.varies else self.order
        return self._places[kind.of]

    def ends(self, name: str) -> list[Array]:
        """Offsets, of each moment."""
        ends = self._sorted[name]
        if name not in self._moving:
            return [ends[: count + 1] for count in self.counts]
        pairs = zip(self._at[:-1], self._at[1:], strict=True)
        return [ends[first : last + 1] - ends[first] for first, last in pairs]

    def pieces(self, kind: Kind) -> tuple[list[int], list[int], int]:
        """Where the rows of each moment begin and end, and how many there are in all."""
        if kind not in self._pieces:
            first, last, total = self._found(kind)
            self._pieces[kind] = first.tolist(), last.tolist(), int(total)
        return self._pieces[kind]

    def _found(self, kind: Kind) -> tuple[Array, Array, int]:
        none = np.zeros(self.moments, np.int64)
        if kind.of == SHARED:
            return none, none, 0
        if kind.of == EACH:
            return (
                (self._at[:-1], self._at[1:], self._at[-1])
                if kind.varies
                else (none, self.counts, len(self.order))
            )
        ends = self._sorted[kind.of]
        if kind.of in self._moving:
            return ends[self._at[:-1]], ends[self._at[1:]], ends[-1]
        sizes = ends[self.counts]
        if not kind.varies:
            return none, sizes, ends[-1]
        last = np.cumsum(sizes)
        return last - sizes, last, last[-1] if len(last) else 0


def same(offsets: Array, others: Iterable[Array]) -> None:
    """Refuse sequences of different lengths, which no step can walk along together."""
    for other in others:
        if not np.array_equal(offsets, other):
            raise FeedError(
                "a step walks along sequences of unequal lengths: those of its inputs must have as many "
                "elements each as those of the first input; they begin at "
                f"{_shown(offsets)} and at {_shown(other)}"
            )


def _shown(offsets: Array) -> str:
    return f"{offsets[:8].tolist()}" + ("..." if len(offsets) > 8 else "")
