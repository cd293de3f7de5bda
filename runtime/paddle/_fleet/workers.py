"""What the processes of a job do with its parameters: workers meet servers, and servers serve.

It must never know a strategy. Guarantee: a worker that has met the servers says goodbye to them, at the
latest when its process ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from paddle._engine.exchange import ModeSpec
from paddle._fleet import tables
from paddle._fleet.errors import TooEarly
from paddle._fleet.place import Place, Role
from paddle._program.carrier import Carrier, Cluster, serve
from paddle._program.lowering import sparse_tables
from paddle._program.moving.keeping import keeper_of
from paddle._program.scope import global_scope
from paddle._program.updates import UPDATES, Group, groups


class Workers:
    """Of one process at ``place``, for programs that are trained in ``mode``."""

    def __init__(self, place: Place, mode: ModeSpec) -> None:
        self._place = place
        self._programs: list[Any] = []
        self._tables: tables.Tables = {}
        self.mode = mode
        self.carrier: Carrier | None = None
        if place.role == Role.WORKER:
            cluster = Cluster(endpoints=place.servers, trainers=place.workers, trainer_id=place.id, mode=mode)
            self.carrier = Carrier(cluster)

    def take(self, program: Any) -> None:
        """Have a program's parameters kept by the servers."""
        self._programs.append(program)
        if self.carrier is not None:
            program._carrier = self.carrier
            program._bump()

    def begin(self) -> bool:
        """Meet the servers with the values that the scope has; False where it has none yet."""
        scope, is_met = global_scope(), False
        for group in self._groups():
            if all(scope.value(name) is not None for name in group.names):
                keeper_of(scope, group, self.carrier)
                is_met = True
        return is_met

    def end(self) -> None:
        """Say goodbye; who was never met hears it, too, or would wait."""
        if self.carrier is not None:
            self.begin()
            self.carrier.close()

    def fetch(self) -> None:
        """Have the scope hold what the servers have."""
        for group in self._groups():
            if keeper := global_scope().keepers.get(group.key):
                keeper.exchange.fetch()

    def shrink(self, threshold: int) -> None:
        """Have open tables forget rows that nobody has used for so many days."""
        for group in self._groups():
            keeper = global_scope().keepers.get(group.key)
            if keeper is None:
                raise TooEarly(
                    "fleet.shrink() is for tables that are trained: fleet.init_worker() comes before it"
                )
            keeper.exchange.shrink(threshold)

    def serve_from(self, dirname: str | None, names: Any) -> None:
        """Begin from the tables of a folder."""
        self._tables = tables.read(dirname, names) if dirname else {}

    def serve(self) -> None:
        """Serve until all workers have said goodbye."""
        serve(self._place.servers[self._place.id], self._place.workers, tables=self._tables)

    def _groups(self) -> Iterator[Group]:
        if self.carrier is None:
            return
        for program in self._programs:
            block = program.global_block()
            moved = [op for op in block.ops if op.type in UPDATES]
            yield from groups(block, moved, sparse_tables(program))
