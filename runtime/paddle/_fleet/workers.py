"""What the processes of a job do with its parameters: workers meet servers, and servers serve.

It must never know a strategy. Guarantee: a worker that has met the servers says goodbye to them, at the
latest when its process ends.
"""

from __future__ import annotations

from typing import Any

from paddle._engine.exchange import ModeSpec
from paddle._fleet.place import Place, Role


class Workers:
    """Of one process at ``place``, for programs that are trained in ``mode``."""

    def __init__(self, place: Place, mode: ModeSpec) -> None:
        self._place = place
        self._programs: list[Any] = []
        self.mode = mode
        self.carrier: Any = None
        if place.role == Role.WORKER:
            from paddle._program.carrier import Carrier, Cluster

            cluster = Cluster(endpoints=place.servers, trainers=place.workers, trainer_id=place.id, mode=mode)
            self.carrier = Carrier(cluster)

    def take(self, program: Any) -> None:
        """Have a program's parameters kept by the servers."""
        self._programs.append(program)
        if self.carrier is not None:
            program._carrier = self.carrier
            program._bump()

    def begin(self) -> None:
        """Meet the servers with the values that the scope has, if it has any yet."""

    def end(self) -> None:
        """Say goodbye."""
        if self.carrier is not None:
            self.carrier.close()

    def serve_from(self, dirname: str | None, names: Any) -> None:
        """What to begin from."""

    def serve(self) -> None:
        """Serve until all workers have said goodbye."""
        from paddle._program.carrier import serve

        serve(self._place.servers[self._place.id], self._place.workers)
