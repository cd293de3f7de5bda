"""Rule: how one gradient becomes new parameter values, and what becomes of rows that get none.

A rule is frozen numbers and arithmetic: it owns no array and keeps no count. The keeper of the
parameters holds the values, the slots and the step; a rule must never know shards, trainers or names of
parameters.

Guarantees. Every element is computed from that element alone (except where a rule ``needs_whole`` rows). So
a parameter may be cut into blocks anywhere, and a table of which every step touches every row equals the same
values updated as one dense vector, bit for bit.

A row that a step brings no gradient is *idle* in it. ``catch_up`` makes up for its idle steps when it is
needed next: before a batch reads it, before a gradient touches it, before the table is read whole. Every rule
goes on with the penalties of idle rows; what else an idle row does, the rule's own text says. Rows of SGD, of
AdaGrad without momentum, of sparse Momentum and of Adam that is not lazy equal, once they have caught up, a
dense parameter whose gradient was zero in these steps.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from math import ceil, log
from typing import Any, ClassVar

import numpy as np

from paddle._engine.penalties import Penalties
from paddle._engine.rates import Rates
from paddle._engine.rules.vector import Vector

_ROWS_AT_ONCE = 1 << 14
_NOTHING = 2.0**-40


@dataclass(frozen=True, slots=True)
class Idle:
    """Rows that steps passed by: ``table[index[i]]``, each once, and the steps: after abs(last_step), to
    ``step``."""

    table: np.ndarray
    index: np.ndarray
    slots: Sequence[np.ndarray]
    last_step: np.ndarray
    step: int
    penalties: Penalties
    runs: tuple[np.ndarray, np.ndarray]

    @property
    def who(self) -> tuple[Any, ...]:
        """The arguments that all kernels of ``idle.py`` begin with."""
        return self.table, self.index, self.last_step, self.step


class Rule(ABC):
    """An update rule. Subclasses are frozen dataclasses whose fields are the options of a ``RuleSpec``."""

    needs_whole: ClassVar[bool] = False
    """Whether an element depends on all others of its row: a dense parameter, one row, lives on one shard."""

    penalties_follow: ClassVar[bool] = False
    """Whether L2 alone follows the step, as with L1 (see penalties.py), and is no part of the gradient."""

    @property
    @abstractmethod
    def slots(self) -> tuple[str, ...]:
        """Names of the rule's state: per name one float32 array shaped as the values, zero at the start."""

    def is_plain(self, penalties: Penalties) -> bool:
        """Whether a step of a dense parameter subtracts rate times gradient, and that is all."""
        return False

    def dense(
        self,
        values: np.ndarray,
        gradient: np.ndarray,
        slots: Sequence[np.ndarray],
        learning_rate: float,
        penalties: Penalties,
        step: int,
    ) -> None:
        """Update flat float32 ``values`` (n,) in place: one row of a table, touched at every step."""
        self.vector(values, slots, penalties).step(gradient, learning_rate, step)

    def vector(self, values: np.ndarray, slots: Sequence[np.ndarray], penalties: Penalties) -> Vector:
        """``dense`` for the same arrays at every step."""
        return Vector(self._update, values, slots, penalties)

    def rows(
        self,
        table: np.ndarray,
        index: np.ndarray,
        gradient: np.ndarray,
        slots: Sequence[np.ndarray],
        last_step: np.ndarray,
        learning_rate: float,
        penalties: Penalties,
        step: int,
    ) -> None:
        """Update rows ``table[index[i]]`` with ``gradient[i]`` in place; the gradient is left as it is.

        ``table``: float32 (rows, width). ``index``: int64 (n,), each row at most once, within the table; all
        caught up with the step before. ``gradient``: float32 (n, width). ``slots``: arrays like ``table``, in
        the order of ``self.slots``. ``last_step``: int64 (rows,), the step that last touched each row, or
        minus the one with which a row caught up that none has touched yet; becomes ``step`` where touched.
        All C-contiguous and writable (numba would compile anew for other kinds). ``learning_rate``: this
        step's, already times the parameter's own. ``step``: number of updates so far, this one included (the
        first is 1).
        """
        seen = last_step[index] if self.changes_idle_rows(penalties) else index  # which nobody looks at
        self.touch(table, index, gradient, slots, seen, learning_rate, penalties, step)
        last_step[index] = step

    def touch(
        self,
        table: np.ndarray,
        index: np.ndarray,
        gradient: np.ndarray,
        slots: Sequence[np.ndarray],
        last_step: np.ndarray,
        learning_rate: float,
        penalties: Penalties,
        step: int,
    ) -> None:
        """As ``rows``, where whoever keeps the rows counts their steps: ``last_step`` int64 (n,) is that of
        row ``index[i]``, and stays as it is. Slots may be other views of the table's memory."""
        self._update((table, index, gradient, last_step, *penalties.numbers), slots, learning_rate, step)

    def fade(self, rows: np.ndarray, days: int) -> tuple[int, np.ndarray]:
        """A day ends for ``rows`` of a table, float32 (n, width and more). In how many days, with the one
        that begins, who stays has been used, ``days`` where the rule does not say, and who goes all the same,
        bool (n,)."""
        return days, np.zeros(len(rows), bool)

    def changes_idle_rows(self, penalties: Penalties) -> bool:
        """Whether a row changes in a step that passes it by; if not, there is nothing to catch up with, and
        nobody looks at ``last_step``."""
        return penalties.l1 > 0 or penalties.l2 > 0

    def catch_up(
        self,
        table: np.ndarray,
        index: np.ndarray | None,
        slots: Sequence[np.ndarray],
        last_step: np.ndarray,
        rates: Rates,
        penalties: Penalties,
        step: int,
    ) -> None:
        """Bring rows ``index`` (any order, also repeated; None: all) to what they are after ``step``.

        ``rates``: of all steps that one of them may lack, times the parameter's own learning rate. The other
        arguments are those of ``rows``. Rows that lack no step stay as they are, bit for bit.
        """
        if not self.changes_idle_rows(penalties):
            return
        for behind in _behind(index, last_step, step):
            self._catch_up(Idle(table, behind, slots, last_step, step, penalties, rates.runs))
            last_step[behind] = np.where(last_step[behind] > 0, step, -step)

    def _catch_up(self, idle: Idle) -> None:
        """What idle steps do to rows: here, penalties alone."""
        self._decay(idle)

    def _decay(self, idle: Idle) -> None:
        """Apply the penalties of idle steps."""
        l1, l2 = idle.penalties.l1, idle.penalties.l2
        if l1 > 0 or l2 > 0:
            from paddle._engine.kernels import idle as kernels

            pace = self._pace([slot[idle.index].astype(np.float64) for slot in idle.slots])
            kernels.decay(*idle.who, l1, l2, l1 > 0 or self.penalties_follow, pace, *idle.runs)

    def _pace(self, slots: Sequence[np.ndarray]) -> np.ndarray | None:
        """Rate over learning rate, per element, of idle rows in this state (float64); None: 1 everywhere."""
        return None

    @abstractmethod
    def _update(
        self, touched: tuple[Any, ...], slots: Sequence[np.ndarray], learning_rate: float, step: int
    ) -> None:
        """Call this rule's kernel: ``touched`` are the arguments that all kernels begin with."""


@cache
def kernels() -> Any:
    """The compiled rules: numba is loaded only where something is updated."""
    from paddle._engine.kernels import rules

    return rules


def steps_to_nothing(keep: float) -> int:
    """Steps after which what keeps the share ``keep`` of itself in each is next to nothing."""
    if keep <= 0:
        return 1
    return ceil(log(_NOTHING) / log(keep)) if keep < 1 else 1 << 62


def _behind(index: np.ndarray | None, last_step: np.ndarray, step: int) -> Iterator[np.ndarray]:
    """The rows among ``index`` that lack steps, each once, ascending; of a whole table, some at a time."""
    if index is not None:
        behind = np.unique(index[np.abs(last_step[index]) < step])
        if behind.size:
            yield behind
        return
    for start in range(0, len(last_step), _ROWS_AT_ONCE):
        behind = np.flatnonzero(np.abs(last_step[start : start + _ROWS_AT_ONCE]) < step)
        if behind.size:
            yield behind + start
