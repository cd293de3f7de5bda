"""Tables: the values of one shard, their optimizer state, and a step's gradients applied to them.

Dense values are one flat array, in the canonical order of placement.py; of every sparse table the shard's
rows are packed into one array. It must never know who sent a gradient or when a step is due.

Guarantee: gradients are added in the order given, and clipped, scaled and applied element by element, so that
neither arrival order nor the number of shards changes a bit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from paddle._engine.averages import average_of, state_of
from paddle._engine.exchange import ParameterSpec, UpdateSpec
from paddle._engine.penalties import Penalties, penalties
from paddle._engine.rates import Rates
from paddle._engine.rules import Rule, rule
from paddle._engine.schedules import Progress, schedule
from paddle._pserver.errors import BadMessage
from paddle._pserver.placement import DenseLayout, RowRange, Segment


@dataclass(frozen=True, slots=True)
class Rows:
    """Gradient rows of one table: ``ids`` int64 (n,) in the whole table, ``values`` float32 (n, width)."""

    ids: np.ndarray
    values: np.ndarray


@dataclass(frozen=True, slots=True)
class Gradient:
    """What one push brings to one shard.

    ``dense``: per segment of the layout a flat float32 array, which folding with others may overwrite.
    ``rows``: per table its rows.
    """

    dense: Sequence[np.ndarray] = ()
    rows: Sequence[Rows] = ()


NOTHING = Gradient()


class Tables:
    """All that one shard keeps."""

    def __init__(self, update: UpdateSpec, layout: DenseLayout, ranges: Sequence[RowRange]) -> None:
        self.layout = layout
        self.values = np.zeros(layout.size, np.float32)
        self.rows = {held.parameter.name: Table(held, update) for held in ranges}
        self._blocks = [_Blocks(segment, update, self.values[segment.span]) for segment in layout.segments]
        self._learning_rate = schedule(update.schedule)
        self.is_averaged = update.average is not None
        self._mean = update.reduce == "mean"

    def table(self, name: str) -> Table:
        """The part of the table ``name`` that lives here."""
        if name not in self.rows:
            raise BadMessage(f"this shard keeps no rows of {name!r}")
        return self.rows[name]

    def apply(self, gradients: Sequence[Gradient], *, samples: int, passes: int, step: int) -> None:
        """Apply the sum (or mean) of ``gradients`` as update number ``step``, each step once, in order.

        ``samples``: processed so far, ``passes``: finished; the learning rate depends on them.
        """
        learning_rate = self._learning_rate(Progress(samples, passes, step - 1))
        scale = np.float32(1 / len(gradients)) if self._mean and len(gradients) > 1 else None
        for index, blocks in enumerate(self._blocks):
            total = _sum([gradient.dense[index] for gradient in gradients], scale)
            blocks.apply(total, learning_rate, step)
        for index, table in enumerate(self.rows.values()):
            table.apply([gradient.rows[index] for gradient in gradients], scale, learning_rate, step)

    def averages(self) -> np.ndarray:
        """What ``values`` would be if they were the averages of the last steps; a new array."""
        parts = [blocks.average() for blocks in self._blocks]
        return np.concatenate(parts) if parts else np.zeros(0, np.float32)

    def state(self) -> dict[str, np.ndarray]:
        """Everything there is, by kind and parameter, as in ``values/w``; these arrays change with the
        next step."""
        parts: list[_Blocks | Table] = [*self._blocks, *self.rows.values()]
        return {f"{kind}/{part.name}": array for part in parts for kind, array in part.state().items()}

    def restore(self, state: Mapping[str, np.ndarray], step: int) -> None:
        """Become what gave ``state`` after update number ``step``. Raises ValueError where it does not
        fit."""
        for part in self._blocks:
            _fill(part.state(), state, part.name)
        for table in self.rows.values():
            table.restore(state, step)


class _Blocks:
    """One dense parameter's share of a shard."""

    def __init__(self, segment: Segment, update: UpdateSpec, values: np.ndarray) -> None:
        self.name = segment.parameter.name
        self._values = values
        self._rule, self._penalties, self._multiplier = _how(segment.parameter, update)
        self._slots = [np.zeros_like(values) for _ in self._rule.slots]
        self._average = average_of(values, update.average)

    def apply(self, gradient: np.ndarray, learning_rate: float, step: int) -> None:
        rate = learning_rate * self._multiplier
        self._rule.dense(self._values, gradient, self._slots, rate, self._penalties, step)
        if self._average is not None:
            self._average.add(self._values)
            if self._average.end_step():
                self._average.roll()

    def average(self) -> np.ndarray:
        return self._values if self._average is None else self._average.mean(self._values)

    def state(self) -> dict[str, np.ndarray]:
        slots = _slots(self._rule, self._slots)
        return {"values": self._values, **slots, **state_of(self._average)}


class Table:
    """One sparse table's share of a shard.

    A row that steps pass by is brought up to date when it is next needed; until then its values are those of
    the step that it is at.
    """

    def __init__(self, held: RowRange, update: UpdateSpec) -> None:
        self.held = held
        self.values = np.zeros((held.count, held.width), np.float32)
        self._rule, self._penalties, self._multiplier = _how(held.parameter, update)
        self._slots = [np.zeros_like(self.values) for _ in self._rule.slots]
        self._last_step = np.zeros(held.count, np.int64)
        self._rates, self._step = Rates(), 0
        self._average = average_of(self.values, update.average)

    @property
    def name(self) -> str:
        """The parameter's."""
        return self.held.parameter.name

    def state(self) -> dict[str, np.ndarray]:
        """See :meth:`Tables.state`."""
        counted = {"last_step": self._last_step, "rates": self._rates.state()}
        slots = _slots(self._rule, self._slots)
        return {"values": self.values, **slots, **counted, **state_of(self._average)}

    def restore(self, state: Mapping[str, np.ndarray], step: int) -> None:
        """See :meth:`Tables.restore`."""
        own = self.state()
        del own["rates"]
        _fill(own, state, self.name)
        self._rates, self._step = Rates.restored(state[f"rates/{self.name}"]), step

    def check(self, ids: np.ndarray) -> None:
        """Whether all ``ids`` are rows that live here; raises BadMessage."""
        held = self.held
        height = held.parameter.shape[0]
        if len(ids) and (ids.min() < 0 or ids.max() >= height or not held.pick(ids).all()):
            raise BadMessage(
                f"an id of {held.parameter.name!r} is outside 0..{height - 1} or belongs to another shard"
            )

    def gather(self, ids: np.ndarray) -> np.ndarray:
        """A copy of rows ``ids``, which have been checked, up to date."""
        local = self.held.local(ids)
        self._catch_up(local)
        return self.values.take(local, axis=0)

    def refresh(self, ids: np.ndarray | None = None) -> np.ndarray:
        """Bring rows ``ids``, all if None, up to date in ``values``, and return these."""
        self._catch_up(None if ids is None else self.held.local(ids))
        return self.values

    def average(self) -> np.ndarray:
        """What ``refresh`` of all rows would return if they were the averages of the last steps; a new
        array."""
        values = self.refresh()
        return values.copy() if self._average is None else self._average.mean(values)

    def _catch_up(self, local: np.ndarray | None) -> None:
        if self._average is None:
            self._make_up(local)
        else:
            for rows in self._average.behind(local, self._step):
                before = self.values[rows]
                self._make_up(rows)
                self._average.add_idle(rows, before, self.values[rows], self._step)
        if local is None:
            self._rates.forget()

    def _make_up(self, local: np.ndarray | None) -> None:
        rule, penalties = self._rule, self._penalties
        rule.catch_up(self.values, local, self._slots, self._last_step, self._rates, penalties, self._step)

    def apply(self, parts: Sequence[Rows], scale: np.float32 | None, learning_rate: float, step: int) -> None:
        """Apply the sum of ``parts``, times ``scale``, to the rows they name, which have been checked."""
        rate = learning_rate * self._multiplier
        self._update(parts, scale, rate, step)
        self._step = step
        self._rates.add(rate)
        if self._average is not None and self._average.end_step():
            self._catch_up(None)
            self._average.roll()

    def _update(self, parts: Sequence[Rows], scale: np.float32 | None, rate: float, step: int) -> None:
        ids = parts[0].ids if len(parts) == 1 else np.concatenate([part.ids for part in parts])
        if not len(ids):
            return
        values = parts[0].values if len(parts) == 1 else np.concatenate([part.values for part in parts])
        if not (ids[1:] > ids[:-1]).all():
            from paddle._engine.kernels.rows import merge_rows  # numba is loaded only where rows meet

            ids, values = merge_rows(ids, values)
        if scale is not None:
            values = values * scale
        local = self.held.local(ids)
        self._catch_up(local)
        rule, penalties = self._rule, self._penalties
        rule.rows(self.values, local, values, self._slots, self._last_step, rate, penalties, step)
        if self._average is not None:
            self._average.add_rows(self.values, local, step)


def _slots(rule: Rule, slots: Sequence[np.ndarray]) -> dict[str, np.ndarray]:
    return {f"slot {name}": slot for name, slot in zip(rule.slots, slots, strict=True)}


def _fill(own: Mapping[str, np.ndarray], state: Mapping[str, np.ndarray], name: str) -> None:
    """Write what ``state`` has of a parameter into its ``own`` arrays."""
    for kind, array in own.items():
        given = state.get(f"{kind}/{name}")
        if given is None or given.shape != array.shape or given.dtype != array.dtype:
            found = "missing" if given is None else f"{given.dtype} {given.shape}"
            raise ValueError(f"{kind} of {name!r} should be {array.dtype} {array.shape}, and is {found}")
        array[...] = given


def _how(parameter: ParameterSpec, update: UpdateSpec) -> tuple[Rule, Penalties, float]:
    chosen = rule(update.rule, parameter.momentum)
    return chosen, penalties(parameter, update), parameter.learning_rate


def _sum(gradients: Sequence[np.ndarray], scale: np.float32 | None) -> np.ndarray:
    """Their sum times ``scale``, in the first one's memory when there are several."""
    total = gradients[0]
    for other in gradients[1:]:
        np.add(total, other, out=total)
    return total if scale is None else np.multiply(total, scale, out=total)
