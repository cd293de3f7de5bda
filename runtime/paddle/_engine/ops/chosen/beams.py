"""What a search by beams costs that goes on in several steps: the logarithm of the right way's share.

In each step the elements of sequences have scores, and of each sequence some are chosen; those of the next
step are the chosen ones', in their order. A way is one chosen element of each step, and its score is their
sum. Where the right element is not chosen, its way ends there, is one more of that step, and later steps do
not count. Source of the semantics: v2's ``cross_entropy_over_beam``.

Slot Ends holds the offsets of the sequences of the first step, where each is a sample; then, of each further
step, those of the samples among its sequences, and of these among its rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import prod

import numpy as np

from paddle._engine.errors import FeedError, ShapeError
from paddle._engine.ops import shapes
from paddle._engine.program import Form
from paddle._engine.registry import Call, Forms, Gradient, Kernel, Row, Steps

_NONE = -1
Way = tuple[int, ...]
"""A row of each step, as far as it goes."""


def _shape(forms: Forms) -> Mapping[str, Form]:
    scores, chosen, right = (forms.all(slot) for slot in ("X", "Chosen", "Gold"))
    if not len(scores) == len(chosen) == len(right) or len(forms.all("Ends")) != 2 * len(scores) - 1:
        raise ShapeError(f"{len(scores)} steps have {len(chosen)} choices and {len(right)} right elements")
    if any(len(each.shape) != 2 or each.shape[1] != 1 for each in scores):
        raise ShapeError("an element of a sequence has one score")
    if any(len(each.shape) != 2 for each in chosen):
        raise ShapeError(f"choices of shapes {[list(each.shape) for each in chosen]} are no matrices")
    samples = forms.all("Ends")[0].shape[0]
    if not all(
        shapes.agree(each.shape[0], max(samples - 1, -1)) and prod(each.shape[1:]) == 1 for each in right
    ):
        sizes = [list(each.shape) for each in right]
        raise ShapeError(f"right elements of shapes {sizes} are not one of each of {samples - 1} samples")
    return {"Out": replace(scores[0], shape=(right[0].shape[0], 1))}


class _Beams:
    """All steps of a batch."""

    def __init__(self, call: Call) -> None:
        def arrays(slot: str) -> list[np.ndarray]:
            return [each for each in call.arrays(slot) if each is not None]

        self._call = call
        self._scores, self._chosen, self._right = (arrays(slot) for slot in ("X", "Chosen", "Gold"))
        first, *others = arrays("Ends")
        self._ends = [np.arange(len(first)), first, *others]

    def cost(self) -> None:
        """Of each sample."""
        out = self._call["Out"]
        for sample in range(len(out)):
            _, shares, right = self._shares(sample)
            out[sample, 0] = -np.log(shares[right])

    def slopes(self) -> None:
        """Those of scores."""
        wanted = list(enumerate(self._call.arrays("X@GRAD")))
        for _, slope in wanted:
            if slope is not None:
                slope.fill(0)
        for sample, given in enumerate(self._call["Out@GRAD"][:, 0]):
            ways, shares, right = self._shares(sample)
            shares[right] -= 1
            for step, slope in wanted:
                rows = [way[step] for way in ways if step < len(way)]
                if slope is not None and rows:
                    np.add.at(slope[:, 0], rows, given * shares)

    def _shares(self, sample: int) -> tuple[list[Way], np.ndarray, int]:
        """All ways, the share of each, and which is the right one."""
        ways, right = self._ways(sample)
        scores = np.array([sum(self._scores[step][row, 0] for step, row in enumerate(way)) for way in ways])
        grown = np.exp(scores - scores.max())
        return ways, grown / grown.sum(), right

    def _ways(self, sample: int) -> tuple[list[Way], int]:
        before: list[Way] = [()]
        at, taken = 0, Way()
        for step in range(len(self._scores)):
            starts = self._starts(step, sample, len(before))
            found = list(self._goes_on(step, sample, before, starts))
            row, gold = int(starts[at]), int(self._right[step].reshape(-1)[sample])
            taken = (*taken, row + gold)
            ways = [way for way, _ in found]
            names = [name for _, name in found]
            if (at, gold) not in names:
                return [*ways, taken], len(ways)
            before, at = ways, names.index((at, gold))
        return before, at

    def _starts(self, step: int, sample: int, count: int) -> np.ndarray:
        """Where the sequences of a sample begin, of which there must be so many."""
        samples, rows = self._ends[2 * step : 2 * step + 2]
        first, behind = int(samples[sample]), int(samples[sample + 1])
        if behind - first != count:
            raise FeedError(
                f"step {step} of a search has {behind - first} sequences of sample {sample}, and {count} "
                "were chosen before: read those that kmax_seq_score chose, by sub_nested_seq or seq_slice"
            )
        return rows[first:behind]

    def _goes_on(
        self, step: int, sample: int, before: list[Way], starts: np.ndarray
    ) -> Iterator[tuple[Way, tuple[int, int]]]:
        """The ways of a sample after a step, each with its sequence and the number of its element there."""
        first = int(self._ends[2 * step][sample])
        for number, (way, start) in enumerate(zip(before, starts.tolist(), strict=True)):
            for chosen in self._chosen[step][first + number].astype(np.int64).tolist():
                if chosen != _NONE:
                    yield (*way, start + chosen), (number, chosen)


def _cost(call: Call) -> Steps:
    yield _Beams(call).cost


def _slopes(call: Call) -> Steps:
    yield _Beams(call).slopes


ROWS = (
    Row(
        type="beam_cost",
        inputs=("X*", "Chosen*", "Gold*", "Ends*"),
        shape=_shape,
        forward=Kernel(_cost),
        gradient=Gradient(_slopes, needs=("X", "Chosen", "Gold", "Ends")),
    ),
)
