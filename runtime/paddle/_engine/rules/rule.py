"""Rule: how one gradient becomes new parameter values.

A rule is frozen numbers and arithmetic: it owns no array and keeps no count. The keeper of the
parameters holds the values, the slots and the step; a rule must never know shards, trainers or names of
parameters.

Guarantee: every element is computed from that element alone. So a parameter may be cut into blocks
anywhere, and a table of which every step touches every row equals the same values updated as one dense
vector, bit for bit.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from paddle._engine.penalties import Penalties

_ONE_ROW = np.zeros(1, np.int64)


class Rule(ABC):
    """An update rule. Subclasses are frozen dataclasses whose fields are the options of a ``RuleSpec``."""

    @property
    @abstractmethod
    def slots(self) -> tuple[str, ...]:
        """Names of the rule's state: per name one float32 array shaped as the values, zero at the start."""

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
        self.rows(
            values.reshape(1, -1),
            _ONE_ROW,
            gradient.reshape(1, -1),
            [slot.reshape(1, -1) for slot in slots],
            np.array([step - 1], np.int64),
            learning_rate,
            penalties,
            step,
        )

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

        ``table``: float32 (rows, width). ``index``: int64 (n,), each row at most once, within the table.
        ``gradient``: float32 (n, width). ``slots``: arrays like ``table``, in the order of ``self.slots``.
        ``last_step``: int64 (rows,), the step that last touched each row, 0 for none; becomes ``step``
        where touched. All C-contiguous and writable (numba would compile anew for other kinds).
        ``learning_rate``: this step's, already times the parameter's own. ``step``: number of updates so
        far, this one included (the first is 1).

        The penalties of the steps that passed a row by fall due when the row is next touched.
        """
        touched = (
            *(table, index, gradient, last_step, step),
            *(np.float32(penalties.clip), np.float32(penalties.l1), np.float32(penalties.l2)),
        )
        self._update(touched, slots, learning_rate, step)

    @abstractmethod
    def _update(
        self, touched: tuple[Any, ...], slots: Sequence[np.ndarray], learning_rate: float, step: int
    ) -> None:
        """Call this rule's kernel: ``touched`` are the arguments that all kernels begin with."""
