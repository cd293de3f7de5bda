"""What a role maker says to those of other processes: upstream's names for it, of 1.x and, with an
underscore, of 2.x.

It must never know how they speak: ``meeting`` does (meeting.py, alone.py), from ``fleet.init`` on. Guarantee:
what is said is said as by ``fleet.util``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from paddle._fleet.alone import Alone


class Spoken:
    """Part of every role maker."""

    meeting: Any = Alone()

    def _barrier(self, comm_world: str = "worker") -> None:
        self.meeting.barrier(comm_world)

    def _all_gather(self, input: Any, comm_world: str = "worker") -> Any:
        return self.meeting.all_gather(input, comm_world)

    def _all_reduce(self, input: Any, mode: str = "sum", comm_world: str = "worker") -> Any:
        return self.meeting.all_reduce(input, mode, comm_world)

    def barrier_worker(self) -> None:
        """Until all workers have come; at once for a server."""
        if self.is_worker():  # type: ignore[attr-defined]
            self._barrier("worker")

    def barrier_all(self) -> None:
        """Until all processes have come."""
        self._barrier("all")

    def all_gather(self, input: Any) -> Any:
        """What all workers give."""
        return self._all_gather(input)

    def all_reduce_worker(self, input: Any, output: Any, mode: str = "sum") -> None:
        """Write what all workers give together into ``output``."""
        output[...] = self._all_reduce(np.asarray(input), mode)

    _barrier_worker = barrier_worker
    _barrier_all = barrier_all
    _all_reduce_worker = all_reduce_worker
    _worker_gather = all_gather
