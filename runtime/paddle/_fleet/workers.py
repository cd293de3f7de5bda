"""What the processes of a job do with its parameters: workers meet servers, and servers serve.

It must never know a strategy. Guarantee: a worker that has met the servers says goodbye to them, at the
latest when its process ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from paddle._engine.exchange import ModeSpec, ParameterSpec
from paddle._engine.rows import TableRows
from paddle._fleet import commands, tables
from paddle._fleet.errors import FleetError, TooEarly
from paddle._fleet.loading import Apart, loads_later
from paddle._fleet.place import Place, Role
from paddle._program.carrier import Carrier, Cluster, serve
from paddle._program.files.beginnings import Beginning
from paddle._program.lowering.lowering import sparse_tables
from paddle._program.lowering.updates import UPDATES, Group, groups
from paddle._program.moving.keeping import keeper_of
from paddle._program.running.open_table import table_of
from paddle._program.running.scope import global_scope
from paddle._pserver.protocol.placement import lives_on

_KEPT = 1 << 30  # bytes of tables that worker 0 takes along when it stops


class Workers:
    """Of one process at ``place``, for programs that are trained in ``mode``."""

    def __init__(self, place: Place, mode: ModeSpec) -> None:
        self._place = place
        self._programs: list[Any] = []
        self._tables: dict[str, tuple[TableRows, int]] = {}
        self._arrays: dict[str, tuple[tables.Arrays, int]] = {}
        self.mode = mode
        self.is_told = False  # whether the program has said from what servers begin
        self._is_given = False
        self._comes_later = False
        self._is_apart = False
        self.carrier: Carrier | None = None
        if place.role == Role.WORKER:
            cluster = Cluster(endpoints=place.servers, trainers=place.workers, trainer_id=place.id, mode=mode)
            self.carrier = Carrier(cluster, outlives_executors=True)

    def take(self, program: Any) -> None:
        """Have a program's parameters kept by the servers."""
        self._programs.append(program)
        if self.carrier is not None:
            program._carrier = self.carrier
            program._bump()

    def begin(self) -> bool:
        """Meet the servers with the values that the scope has; False where it has none yet. From now on they
        hear, at the latest when the process ends, that it goes."""
        self._comes_later = False
        if self.carrier is not None:
            self.carrier.decline_at_end(self._declared)
        scope, is_met = global_scope(), False
        if self._is_apart:
            return True
        self._give(scope)
        for group in self._groups():
            if all(_is_there(scope, each) for each in group.parameters):
                keeper_of(scope, group, self.carrier)
                is_met = True
        return is_met

    def come_later(self) -> None:
        """Meet them when something needs them: there is more to load before."""
        assert self.carrier is not None
        self._comes_later = True
        self.carrier.decline_at_end(self._declared)

    def hasten(self) -> None:
        """Meet them now, if that is still to be done."""
        if self._comes_later:
            self.begin()

    def go_on_from(self, dirname: str, names: Any) -> None:
        """Have servers begin from what a folder has, all of it or these tables (``names``; none: all that is
        no table). Raises TooEarly where they have begun."""
        if self.carrier is not None and self.carrier.has_begun:
            if self._is_idle and loads_later():  # worker 0, of the same text, has come when it had loaded
                return
            raise TooEarly(
                f"fleet: servers were to begin from {dirname!r}, and have begun: load before "
                "fleet.init_worker(), or behind it in the file that is run, or a module that it has imported "
                "by then, before anything is trained, saved or waited for"
            )
        if names != []:
            self.serve_from(dirname, names)
        if not names:
            self.serve_arrays_from(dirname)
        self.hasten()

    def compute_from(self, dirname: str) -> None:
        """Compute with what a folder has, and train no more."""
        if not self._is_apart and not self.begin():
            raise TooEarly(
                "fleet.load_inference_model() puts values where the startup program has put first ones: "
                "exe.run(startup_program) comes before it"
            )
        scope, self._is_apart = global_scope(), True
        for key, keeper in [each for each in scope.keepers.items() if each[1].is_remote]:
            keeper.leave()
            del scope.keepers[key]
        for program in self._programs:
            program._carrier = Apart(self.carrier, dirname)
            program._bump()
            rows = tables.read(dirname, None, program, _all)
            arrays, more = tables.read_arrays(dirname, program, rows, _all)
            commands.give(scope, program, {**rows, **more}, arrays)

    def end(self) -> None:
        """Say goodbye; who was never met hears it, too, or would wait."""
        if self.carrier is not None:
            self.begin()
            try:
                self._keep_tables()
            finally:
                self.carrier.decline(self._declared())
                self.carrier.close()

    def _keep_tables(self) -> None:
        """Programs save behind ``stop_worker``, too, and then nobody else has the tables."""
        for group in self._groups() if self._place.id == 0 else ():
            if (keeper := global_scope().keepers.get(group.key)) is not None:
                keeper.keep_tables(_KEPT)

    def _declared(self) -> list[Sequence[ParameterSpec]]:
        return [group.parameters for group in self._groups()]

    def fetch(self) -> None:
        """Have the scope hold what the servers have. Raises TooEarly where it is another scope that has met
        them, for what this one has is not what was learned."""
        self.hasten()
        if self._is_apart:
            return
        for group in self._groups():
            keeper = global_scope().keepers.get(group.key)
            if keeper is not None:
                keeper.fetch()
            elif self.carrier is not None and self.carrier.has_begun:
                raise TooEarly(
                    f"worker {self._place.id} was to save, and the global scope has nothing to do with "
                    f"{group.names[0]!r}, which another scope trains: save within "
                    "paddle.static.scope_guard(scope), where scope is the one that exe.run was given"
                )

    def shrink(self, threshold: int) -> None:
        """Have open tables forget rows that nobody has used for so many days."""
        if self._is_apart:
            raise FleetError(
                "fleet.shrink() is for tables that are trained, and fleet.load_inference_model() has put a "
                "saved model into this worker: call shrink() before it, and save what is left"
            )
        self.hasten()
        for group in self._groups() if self._place.id == 0 else ():  # as upstream's: a day has one end
            if not any(each.is_open for each in group.parameters):
                continue
            keeper = global_scope().keepers.get(group.key)
            if keeper is None:
                raise TooEarly(
                    "fleet.shrink() is for tables that are trained: fleet.init_worker() comes before it"
                )
            keeper.exchange.shrink(threshold)

    def _give(self, scope: Any) -> None:
        """Worker 0 of a job whose servers are commands has in its scope what they are to begin from."""
        if not (self._tables or self._arrays) or self._is_given or self.carrier is None:
            return
        if not all(_is_there(scope, each) for group in self._groups() for each in group.parameters):
            raise TooEarly(
                "what fleet.init_server() was to begin from is put where the startup program has put first "
                "values: exe.run(startup_program) comes before fleet.init_worker()"
            )
        self._is_given = True
        for program in self._programs:
            commands.give(scope, program, self._tables, self._arrays)

    def serve_from(self, dirname: str | None, names: Any) -> None:
        """Begin from the tables of a folder."""
        self._tables, self.is_told = {}, bool(dirname)
        for program in self._programs if dirname and not self._is_idle else ():
            self._tables |= tables.read(str(dirname), names, program, self._lives)

    def serve_arrays_from(self, dirname: str) -> None:
        """Begin from what a folder has of all other parameters, and what is remembered of them."""
        for program in () if self._is_idle else self._programs:
            arrays, rows = tables.read_arrays(dirname, program, self._tables, self._lives)
            self._arrays |= arrays
            self._tables |= rows

    def begin_with_what_is_loaded(self, startup: Any) -> None:
        """Have a server begin, too, with what its process loads for its programs, or for the last one's
        ``startup`` program."""
        for program in self._programs if self.carrier is None else ():
            ops = [op for op in program.global_block().ops if op.type in UPDATES]
            shown = {name: [name] for op in ops for name in op.input("Param")}
            program._beginning = startup._beginning = Beginning(program, ops, shown, self._lives)

    @property
    def _is_idle(self) -> bool:
        """Whether what servers begin from is nothing to this process."""
        return self.carrier is not None and self._place.id != 0

    def _lives(self, name: str, ids: Any) -> Any:
        """Which rows of a table live on this server; all, where this is none."""
        if self.carrier is not None:
            return _all(name, ids)
        return lives_on(name, ids, self._place.id, len(self._place.servers))

    def serve(self) -> None:
        """Serve until all workers have said goodbye."""
        own = self._place.servers[self._place.id]
        name = f"server-{self._place.id}"
        loaded = [each for program in self._programs if (each := program._beginning) is not None]
        for each in loaded:
            self._tables |= each.tables
            self._arrays |= each.arrays
        serve(own, self._place.workers, name=name, tables=self._tables, arrays=self._arrays)

    def _groups(self) -> Iterator[Group]:
        if self.carrier is None:
            return
        for program in self._programs:
            block = program.global_block()
            moved = [op for op in block.ops if op.type in UPDATES]
            yield from groups(block, moved, sparse_tables(program))


def _all(name: str, ids: np.ndarray) -> np.ndarray:
    return np.ones(len(ids), bool)


def _is_there(scope: Any, parameter: ParameterSpec) -> bool:
    if parameter.is_open:
        return table_of(scope, parameter.name) is not None
    return scope.value(parameter.name) is not None


def shrink_here(threshold: int) -> None:
    """The same of tables that are kept in this process."""
    for keeper in global_scope().keepers.values():
        if any(each.is_open for each in keeper.group.parameters):
            keeper.exchange.shrink(threshold)
