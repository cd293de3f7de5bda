"""Outlet: values of a shard's answers in the numbers in which they travel (wire.py), one for all sessions.

Only what a trainer computes the next batch with is rounded: the answer to a push, and rows that it fetches
for a batch. What it tests or saves with (the values at the end of a pass, pulls of everything, averages) is
told as it is. It must never know a session's bytes, nor change what the shard keeps.

Guarantee: equal values are rounded equally, for whomever and however often; the dense ones of a step once for
all trainers.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from paddle._pserver.protocol.announcing import Announce
from paddle._pserver.protocol.messages import Answer, PullRows, Push, Reply, Request
from paddle._pserver.protocol.wire import WireSpec


class Outlet:
    """See the module's text."""

    def __init__(self) -> None:
        self._asked: dict[int, Request] = {}
        self._rounded: tuple[np.ndarray, int, np.ndarray] | None = None  # of which array, its version, and it

    def asked(self, session: int, message: Request) -> None:
        """The question that is open on a session."""
        self._asked[session] = message

    def lost(self, session: int) -> None:
        """It is gone."""
        self._asked.pop(session, None)

    def body(
        self, session: int, reply: Reply, values: Sequence[np.ndarray], wire: WireSpec | None
    ) -> Sequence[np.ndarray] | None:
        """What goes out on a session in place of ``values``; None: these themselves."""
        if wire is None or wire.answers == "float32" or not isinstance(reply, Answer):
            return None
        match self._asked.get(session):
            case Push() | Announce() if values:
                (dense,) = values
                return (self._once(dense, reply.version),)
            case PullRows(peeks=False, again=None):
                return [_rounded(rows) for rows in values]
        return None

    def _once(self, values: np.ndarray, version: int) -> np.ndarray:
        """``values`` are those of ``version``."""
        if self._rounded is None or self._rounded[0] is not values or self._rounded[1] != version:
            self._rounded = values, version, _rounded(values)
        return self._rounded[2]


def _rounded(values: np.ndarray) -> np.ndarray:
    from paddle._engine.kernels.halves import round_bfloat16  # numba is loaded only where it is needed

    halves = np.empty(values.shape, np.uint16)
    round_bfloat16(values.reshape(-1), halves.reshape(-1))
    return halves
