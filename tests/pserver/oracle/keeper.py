"""What parameters should become, a second time: in float64, from what rules and penalties say of themselves.

The formulas are those of the twins of rules (rule_twins.py and test_rules_fluid.py), which are numpy; what is
written here is what steps make of rows that they pass by. No arithmetic of what is tested is used.

Every parameter is rows by a key: one that is dense is one row, of key 0, which every step touches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from paddle._engine.exchange import AverageSpec, ParameterSpec
from paddle._engine.penalties import Penalties
from tests.engine.rules.rule_twins import EPSILON, RHO
from tests.engine.rules.rule_twins import Twin as TwinOfV2
from tests.engine.rules.test_rules_fluid import Twin as TwinOfFluid

Rows = dict[int, np.ndarray]
"""Of one parameter, by key."""
Rate = Callable[[int, int, int], float]
"""By samples with those of this step, passes that are over, and steps before."""


@dataclass(frozen=True)
class Setting:
    """A rule with its numbers. ``rolls``: a row that steps pass by goes on as if its gradient was 0; else it
    stays, but for penalties, and of ``fading`` slots for those. ``follows``: penalties follow the step."""

    name: str
    options: Mapping[str, float] = field(default_factory=dict)
    is_fluid: bool = False
    rolls: bool = False
    fading: tuple[str, ...] = ()
    follows: bool = False
    counts: str = "step"  # in the twin: its ``step``, or ``c``, or of a row "touches"

    @property
    def told(self) -> dict[str, float]:
        """The options as the rule is told them."""
        return dict(self.options) | ({"sparse": 1.0} if self.rolls and self.name == "momentum" else {})


class Row:
    """One row. ``path``: its value after each step, along a straight line where steps passed it by."""

    def __init__(self, how: Setting, own: ParameterSpec, job: Penalties, values: np.ndarray, at: int) -> None:
        l1, l2 = (
            mine if mine is not None else theirs
            for mine, theirs in ((own.l1_rate, job.l1), (own.l2_rate, job.l2))
        )
        self.penalties = Penalties(l1=l1, l2=l2, clip=own.gradient_clipping_threshold or job.clip)
        self.how, self.multiplier, self.at, self.touches = how, own.learning_rate, at, 0
        self.options = {name: value for name, value in how.options.items() if name not in ("lazy", "sparse")}
        if own.momentum is not None and how.name in HAVE_MOMENTUM:
            self.options["momentum"] = own.momentum
        self.twin: Any = TwinOfFluid(values)
        if not how.is_fluid:
            self.twin = TwinOfV2(how.name, values, self.options.get("momentum", 0.0), self.penalties)
        self.path: list[np.ndarray] = []

    @property
    def w(self) -> np.ndarray:
        found: np.ndarray = self.twin.w
        return found

    def touch(self, gradient: np.ndarray, rate: float) -> None:
        """The next step, which brings this."""
        self.move(gradient, rate)
        self.touches += 1
        self.path.append(self.w.copy())

    def move(self, gradient: np.ndarray, rate: float, *, is_idle: bool = False) -> None:
        rate *= self.multiplier
        if self.how.counts == "touches":
            self.twin.step = self.touches
        else:
            setattr(self.twin, self.how.counts, self.at)
        self.at += 1
        if not self.how.is_fluid:
            self.twin.update(gradient, rate)
            return
        held = np.clip(gradient, -self.penalties.clip, self.penalties.clip)
        decay = {"decay": 0.0} if is_idle and self.how.name == "adamw" else {}
        getattr(self.twin, self.how.name)(held, rate, **self.options | decay)
        self.shrink(rate)

    def shrink(self, rate: Any) -> None:
        """The penalties after a step."""
        size = np.maximum(np.abs(self.w) - rate * self.penalties.l1, 0) / (1 + rate * self.penalties.l2)
        self.twin.w = np.sign(self.w) * size

    def make_up(self, rates: Sequence[float]) -> None:
        """Steps at these rates have passed it by."""
        before = self.w.copy()
        if self.how.rolls:
            for rate in rates:
                self.move(np.zeros_like(before), rate, is_idle=True)
        else:
            for slot in self.how.fading:
                setattr(self.twin, slot, getattr(self.twin, slot) * RHO ** len(rates))
            for rate in rates:
                self.decay(rate * self.multiplier * self.pace())
            self.at += len(rates)
        for passed in range(1, len(rates) + 1):
            self.path.append(before + (self.w - before) * passed / len(rates))

    def decay(self, rate: Any) -> None:
        if self.how.follows or self.penalties.l1 > 0:
            self.shrink(rate)
        else:
            self.twin.w = self.w * (1 - rate * self.penalties.l2)

    def pace(self) -> Any:
        """The rate at which the rule would move each element, over the learning rate."""
        if self.how.is_fluid or self.how.name not in ("adagrad", "decayed_adagrad", "rmsprop", "adadelta"):
            return 1.0
        first, second = self.twin.first, self.twin.second
        if self.how.name == "adadelta":
            return np.sqrt((second + EPSILON) / (first + EPSILON))
        return 1 / np.sqrt(first - (second**2 if self.how.name == "rmsprop" else 0) + EPSILON)


HAVE_MOMENTUM = (
    *("momentum", "adagrad", "decayed_adagrad", "rmsprop", "adadelta"),
    *("fluid_momentum", "lars_momentum", "fluid_rmsprop"),
)


class Keeper:
    """All parameters of a job, and the rule that moves them. ``first``: values of rows that are made."""

    def __init__(
        self,
        model: Sequence[ParameterSpec],
        how: Setting,
        rate: Rate,
        values: Mapping[str, Rows],
        job: Penalties | None = None,
        average: AverageSpec | None = None,
    ) -> None:
        self.model, self.how, self.rate, self.average = {p.name: p for p in model}, how, rate, average
        self.job = job or Penalties()
        self.rows: dict[str, dict[int, Row]] = {name: {} for name in self.model}
        self.rates: list[float] = []
        self.samples = self.passes = self.window = self.before = 0
        for name, rows in values.items():
            self.put(name, rows)

    def put(self, name: str, rows: Rows) -> None:
        """Have rows that were not there."""
        for key, value in rows.items():
            own = self.model[name], self.job
            self.rows[name].setdefault(key, Row(self.how, *own, value, len(self.rates)))

    def look(self, name: str, keys: Iterable[int] | None = None) -> Rows:
        """Rows, all if None, as they are now. To look at one makes up for the steps that passed it by; who
        reads all of an open table leaves it as it is."""
        rows = self.rows[name]
        if keys is None and self.model[name].is_open:
            rows = deepcopy(rows)
        for key in rows if keys is None else keys:
            if missing := self.rates[rows[key].at :]:
                rows[key].make_up(missing)
        return {key: rows[key].w.copy() for key in (rows if keys is None else keys)}

    def all(self) -> dict[str, Rows]:
        return {name: self.look(name) for name in self.rows}

    def dense(self) -> dict[str, np.ndarray]:
        return {name: self.rows[name][0].w.copy() for name, p in self.model.items() if not p.sparse}

    def apply(self, gradients: Mapping[str, Rows], samples: int) -> None:
        """One step."""
        self.samples += samples
        rate = self.rate(self.samples, self.passes, len(self.rates))
        for name, rows in gradients.items():
            self.look(name, rows)
            for key, gradient in rows.items():
                self.rows[name][key].touch(gradient, rate)
        self.rates.append(rate)
        self.window += 1
        if self.average is not None:
            longest = min(self.average.max_window, int(self.average.window * len(self.rates)))
            if self.window >= max(self.average.min_window, longest):
                self.all()
                self.before, self.window = self.window, 0

    def averages(self) -> dict[str, Rows]:
        """Of the values after the last steps."""
        values, last = self.all(), self.window + self.before
        if not last:
            return values
        return {
            name: {key: np.mean(row.path[-last:], axis=0) for key, row in rows.items()}
            for name, rows in self.rows.items()
        }
