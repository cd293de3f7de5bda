"""A goal: a bound on the ratio of two contenders' figures within one run, and whether a run met it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import median

from benchmarks.samples import Quantity, Sample, ratios

_ROOM = 1.2
"""By so much a figure may be worse than one that was measured on the same kind of processor."""
_WORDS = {"wall": "wall time", "cpu": "CPU time", "speed": "speed", "memory": "memory"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """``contender``'s quantity stands to ``against``'s at most, or at least, as ``bound`` to 1.

    Without ``against`` the quantity itself is bounded, in seconds, units a second or bytes: for how long a
    person may have to wait. That belongs to the machine of a run, and is for what has room.

    ``lacks``: what is known to keep an aim from being reached. Such a one stays as it was set, is judged in
    every run and shown with that reason. ``reached``: the bound of what is reached in spite of it; only a
    miss of that one, too, fails a run. Neither is without the other.

    ``measured``: the ratio on kinds of processors (machine.generation), with little else to do. A run on such
    a one fails where it is more than a fifth worse, too: bounds have room for all processors. ``floor``: what
    that comes to where a run is; see :meth:`on`.
    """

    contender: str
    against: str = ""
    quantity: Quantity
    at_most: float | None = None
    at_least: float | None = None
    lacks: str = ""
    reached: float | None = None
    measured: Mapping[str, float] = field(default_factory=dict, hash=False)
    floor: float | None = None

    def __post_init__(self) -> None:
        if (self.at_most is None) == (self.at_least is None):
            raise ValueError(
                f"the goal of {self.contender} against {self.against} needs one bound: at_most or at_least"
            )
        if bool(self.lacks) != (self.reached is not None) or (self.reached and self.allows(self.reached)):
            raise ValueError(f"{self}: what it lacks, and a looser bound that is reached, go together")

    def __str__(self) -> str:
        sign, bound = ("<=", self.at_most) if self.at_most is not None else (">=", self.at_least)
        of = f" x {self.against}" if self.against else ""
        return f"{self.contender}: {_WORDS[self.quantity]} {sign} {bound:.2f}{of}"

    def on(self, generation: str) -> Goal:
        """The goal on a processor of this kind."""
        if (ratio := self.measured.get(generation)) is None:
            return self
        return replace(self, floor=ratio * _ROOM if self.at_most is not None else ratio / _ROOM)

    def is_held(self, ratio: float) -> bool:
        """Whether a run with this ratio is good: it meets the bound, or misses it by no more than is known;
        and where the processor is known, it is not much worse than it was there."""
        keeps = self.floor is None or self._is_within(ratio, self.floor)
        return keeps and (self.allows(ratio) or self.is_known_to_miss(ratio))

    def allows(self, ratio: float) -> bool:
        """Whether a ratio is within the bound."""
        return self._is_within(ratio, self.at_most if self.at_most is not None else self.at_least)

    def is_known_to_miss(self, ratio: float) -> bool:
        """Whether a ratio is beyond the bound, but within what is reached of it."""
        return self.reached is not None and not self.allows(ratio) and self._is_within(ratio, self.reached)

    def _is_within(self, ratio: float, bound: float | None) -> bool:
        return bound is not None and (ratio <= bound if self.at_most is not None else ratio >= bound)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a run says of a goal. ``ratio`` and ``met`` are None where one of the two did not run."""

    goal: Goal
    ratio: float | None
    met: bool | None

    @property
    def fails(self) -> bool:
        """Whether it was missed, by more than it is known to be; or lost what it had."""
        return self.ratio is not None and not self.goal.is_held(self.ratio)

    @property
    def is_lost(self) -> bool:
        """Whether no bound says so, and it is worse than it was on this kind of processor."""
        ratio, goal = self.ratio, self.goal
        return ratio is not None and self.fails and (goal.allows(ratio) or goal.is_known_to_miss(ratio))

    @property
    def is_stale(self) -> bool:
        """Whether it was met, though something is said to keep it from that."""
        return bool(self.met and self.goal.lacks)


def judge(goal: Goal, samples: Mapping[str, Sequence[Sample]]) -> Verdict:
    """Hold a goal against the samples of a run: the median over rounds of the ratios within a round."""
    if goal.contender not in samples or (goal.against and goal.against not in samples):
        return Verdict(goal, None, None)
    if not goal.against:
        figure = median(sample.value(goal.quantity) for sample in samples[goal.contender])
        return Verdict(goal, figure, goal.allows(figure))
    ratio = median(ratios(samples[goal.contender], samples[goal.against], goal.quantity))
    return Verdict(goal, ratio, goal.allows(ratio))
