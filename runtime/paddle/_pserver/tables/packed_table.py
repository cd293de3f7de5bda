"""PackedTable: one sparse table's share of a shard, of a declared height: its rows packed into one array.

It must never know who sent a gradient or when a step is due. Guarantee: as tables.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from paddle._engine.arena import zeros
from paddle._engine.averages import average_of, state_of
from paddle._engine.exchange import UpdateSpec
from paddle._engine.rates import Rates
from paddle._pserver.errors import BadMessage
from paddle._pserver.protocol.placement import RowRange
from paddle._pserver.tables.cut_room import CutRoom
from paddle._pserver.tables.frozen import Frozen
from paddle._pserver.tables.gradient import Rows
from paddle._pserver.tables.live import Live, Lives
from paddle._pserver.tables.readers import Readers
from paddle._pserver.tables.scratch import Scratch
from paddle._pserver.tables.slots import fill, how, slots_of
from paddle._pserver.tables.streamed import Array, whole


class PackedTable:
    """See the module's text.

    A row that steps pass by is brought up to date when it is next needed; until then its values are those of
    the step that it is at.
    """

    def __init__(self, held: RowRange, update: UpdateSpec, scratch: Scratch | None = None) -> None:
        self.held = held
        self.values = zeros((held.count, held.width))
        self._rule, self._penalties, self._multiplier = how(held.parameter, update)
        self._slots = [zeros(self.values.shape) for _ in self._rule.slots]
        self._last_step = np.zeros(held.count, np.int64)
        self._rates, self._step = Rates(), 0
        self._average = average_of(self.values, update.average)
        self._frozen: Readers[Frozen] = Readers()
        self._live = Lives()
        self._scratch = scratch or Scratch()

    @property
    def name(self) -> str:
        """The parameter's."""
        return self.held.parameter.name

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return self.held.count

    @property
    def nbytes(self) -> int:
        """Bytes of these and their state."""
        return sum(array.nbytes for array in self.state().values())

    @property
    def moves_idle_rows(self) -> bool:
        """Whether steps that pass a row by change it."""
        return self._rule.changes_idle_rows(self._penalties)

    def state(self) -> dict[str, np.ndarray]:
        """See :meth:`Tables.state`."""
        counted = {"last_step": self._last_step, "rates": self._rates.state()}
        slots = slots_of(self._rule, self._slots)
        return {"values": self.values, **slots, **counted, **state_of(self._average)}

    def cut(self, room: CutRoom, worth_bytes: int) -> dict[str, Array]:
        """See :meth:`Tables.cut`. What is averaged changes as a whole."""
        if room.copies and (self._average is not None or self.nbytes < worth_bytes):
            room.take(self.nbytes)
            return {kind: array.copy() for kind, array in self.state().items()}
        if self._average is not None:
            live = Live(room)
            self._live.add(live)
            return live.streamed(self.state())
        frozen = Frozen(self.rows, lambda: [self.values, *self._slots, self._last_step], room)
        self._frozen.add(frozen)
        kinds = ["values", *(f"slot {name}" for name in self._rule.slots), "last_step"]
        streamed = {kind: frozen.streamed(which) for which, kind in enumerate(kinds)}
        return {**streamed, "rates": self._rates.state()}

    def restore(self, state: Mapping[str, Array], step: int) -> None:
        """See :meth:`Tables.restore`."""
        own = self.state()
        del own["rates"]
        fill(own, state, self.name)
        self._rates, self._step = Rates.restored(whole(state[f"rates/{self.name}"])), step

    def begin_after(self, steps: int) -> None:
        """Go on as if so many steps had been taken; to be called on a new table."""
        self._step, self._rates = steps, Rates(steps)
        self._last_step[...] = steps

    def slot(self, name: str) -> np.ndarray | None:
        """What the rule remembers under a name, live; None where there is no such thing."""
        return dict(zip(self._rule.slots, self._slots, strict=True)).get(name)

    def current(self, name: str) -> np.ndarray | None:
        """The same of all rows up to date, while they stay as they are."""
        if name not in self._rule.slots or not self.moves_idle_rows:
            return self.slot(name)
        at = self._rule.slots.index(name)
        values, slots, last_step = self.values.copy(), [s.copy() for s in self._slots], self._last_step.copy()
        how = self._rates, self._penalties, self._step
        self._rule.catch_up(values, None, slots, last_step, *how)
        return slots[at]

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

    def peek(self, ids: np.ndarray) -> np.ndarray:
        """The same: all rows are there."""
        return self.gather(ids)

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
        if self._live.known:
            self._live.spoil()
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
        if self.moves_idle_rows:
            self._spare(local)
        rule.catch_up(self.values, local, self._slots, self._last_step, self._rates, penalties, self._step)

    def _spare(self, local: np.ndarray | None) -> None:
        """These rows are about to change; all if None."""
        for frozen in self._frozen.now():
            if local is None:
                frozen.spare_all()
            else:
                frozen.spare(local)

    def apply(self, parts: Sequence[Rows], scale: np.float32 | None, learning_rate: float, step: int) -> None:
        """Apply the sum of ``parts``, times ``scale``, to the rows they name, which have been checked."""
        rate = learning_rate * self._multiplier
        if self._live.known:
            self._live.spoil()
        self._update(parts, scale, rate, step)
        self._step = step
        self._rates.add(rate)
        if self._average is not None and self._average.end_step():
            self._catch_up(None)
            self._average.roll()

    def _update(self, parts: Sequence[Rows], scale: np.float32 | None, rate: float, step: int) -> None:
        if not any(len(part.ids) for part in parts):
            return
        from paddle._pserver.tables.summed_rows import summed  # numba is loaded only where rows are met

        ids, values = summed(parts, self._scratch)
        if scale is not None:
            values = values * scale
        local = self.held.local(ids)
        self._catch_up(local)
        rule, penalties = self._rule, self._penalties
        self._spare(local)
        rule.rows(self.values, local, values, self._slots, self._last_step, rate, penalties, step)
        if self._average is not None:
            self._average.add_rows(self.values, local, step)
