"""Keepers: who moves parameters of a scope, one exchange for each group of update operators.

Programs that move the same parameters by the same rule share a keeper if they name alike what it remembers:
copies of a program, or the same one asked for other values. Optimizers of two programs remember each for
itself, as those by which a GAN learns what is real and what is made. Where another keeper has moved them
meanwhile, the one whose turn it is goes on from their values. It must never know how a gradient is computed.

Guarantee: one name of a scope has one array at a time, the keeper's own, and what a rule remembers is seen
there too, under the program's names.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle._engine.exchange import ParameterSpec, Past, Remembering
from paddle._engine.executor import Executor as EngineExecutor
from paddle._engine.rows import TableRows
from paddle._engine.rules import Counted
from paddle._program.carrier import exchange_of, refresh_of
from paddle._program.errors import BadArgument, NotInitialized
from paddle._program.lowering.updates import Group, Remembered, steps_after
from paddle._program.running.open_table import OpenTable, table_of

if TYPE_CHECKING:
    from paddle._program.running.scope import Scope


class Keeper:
    """One exchange, started with what the scope holds. ``runner`` computes with it."""

    def __init__(self, scope: Scope, group: Group, carrier: Any = None) -> None:
        self.group = group
        self.exchange: Remembering = exchange_of(carrier)
        self.is_remote, self._carrier = carrier is not None, carrier
        self._scope, self._is_aside, self._has_tables = scope, False, False
        values = {each.name: _value(scope, each.name) for each in group.parameters if not each.is_open}
        self._tables = {each.name: _table(scope, each.name) for each in group.parameters if each.is_open}
        update = group.update if carrier is None else carrier.update(group.update)
        self.exchange.go_on_from(self._past())
        self.arrays = dict(self.exchange.start(self._declared(), update, values))
        self.exchange.begin_pass(0)
        for name, table in self._tables.items():
            table.given, table.source = None, partial(self.exchange.rows_of, name)
        self._slots = self._live_slots()
        self._powers = self._first_powers()
        self._shown = 0.0
        self._generation = -1
        for name, array in self._slots.items():
            if (held := scope.value(name)) is not None:
                np.copyto(array, held.reshape(array.shape))
        self.runner = EngineExecutor(scope.engine, self.exchange, self.exchange.room(), group.tables)
        self._bind()

    def _declared(self) -> list[ParameterSpec]:
        """The parameters, with how rows of open tables begin."""
        return [
            each if (known := self._tables.get(each.name)) is None else _begun(each, known)
            for each in self.group.parameters
        ]

    def _past(self) -> Past:
        """What the scope has besides values. Slots and steps of a keeper in this process are set where they
        lie, whenever the scope has others."""
        rows = {
            each.name: _whole(each, given)
            for each in self.group.parameters
            if each.is_open and (given := self._tables[each.name].given) is not None
        }
        if not self.is_remote:
            return Past(rows=rows)
        slots: dict[str, dict[str, np.ndarray]] = {}
        steps = 0
        for each in self.group.remembered:
            held = self._scope.value(each.name)
            if held is None:
                continue
            if each.power:
                steps = max(steps, steps_after(float(held.flat[0]), each.power))
            elif held.any():
                value = np.ascontiguousarray(held, np.float32)
                slots.setdefault(each.parameter, {})[each.slot] = value
        return Past(steps=steps, slots=slots, rows=rows)

    @property
    def is_aside(self) -> bool:
        """Whether the scope shows other values than servers have, such as averages of them."""
        return self._is_aside

    def step_aside(self, is_aside: bool) -> None:
        """Bring nothing from servers, neither for who reads nor for who only computes, until it is over, or
        it trains again."""
        self._is_aside = is_aside and self.is_remote
        self._scope.change()

    def take_over(self) -> None:
        """Go on from the values in the scope, where others have replaced or moved them."""
        self._is_aside = False
        if self._scope.generation == self._generation:
            return
        self.take_rows()
        for name, array in {**self.arrays, **self._slots}.items():
            held = self._scope.value(name)
            if held is not None and held is not array:
                np.copyto(array, held.reshape(array.shape))
        self._bind()

    def leave(self) -> None:
        """Have the scope's values be its own from now on, as they are."""
        for name, array in {**self.arrays, **self._slots}.items():
            self._scope.adopt(name, array.copy())
        for each in self.group.remembered:
            if each.name not in self._slots and (held := self._scope.value(each.name)) is not None:
                self._scope.adopt(each.name, held.copy())
        for table in self._tables.values():
            table.source = None

    @property
    def has_powers(self) -> bool:
        """Whether a program sees the number of steps, as a power."""
        return bool(self._powers)

    def look_at_powers(self) -> None:
        """Go on from another step where the program has said so, by a power that was loaded or begun anew;
        then show those after the step that is about to be taken."""
        array = self._powers[power := max(self._powers)]  # the one that is nothing last
        if array[0] != self._shown:
            self.exchange.count_from(steps_after(float(array[0]), power))  # type: ignore[attr-defined]
        self._show_powers(1)

    def _show_powers(self, ahead: int = 0) -> None:
        steps = self.exchange.steps + ahead
        for power, array in self._powers.items():
            array[0] = power ** (steps + 1)
        self._shown = self._powers[max(self._powers)][0]

    def _first_powers(self) -> dict[float, np.ndarray]:
        """One array for each number whose powers the program sees."""
        if not hasattr(self.exchange, "count_from"):
            return {}
        found: dict[float, np.ndarray] = {}
        for each in self.group.remembered:
            if each.power and each.power not in found:
                held = self._scope.value(each.name)
                found[each.power] = np.full(1, each.power if held is None else held.flat[0], np.float32)
        return found

    def _bind(self) -> None:
        for each in self.group.remembered:
            if each.power in self._powers:
                self._scope.adopt(each.name, self._powers[each.power], self._show_powers)
            elif each.name not in self._slots:
                self._show_afar(each)
        tables = {each.name for each in self.group.parameters if each.sparse}
        fetch = refresh_of(self.exchange, has_tables=bool(tables))
        for name, array in {**self.arrays, **self._slots}.items():
            self._scope.adopt(name, array, fetch and partial(self._bring, fetch, name, name in tables))
        self._scope.engine.bind(self.arrays)
        self._generation = self._scope.generation

    @property
    def has_left(self) -> bool:
        """Whether servers have been told goodbye: what they keep is out of reach."""
        return self._carrier is not None and not self._carrier.has_begun

    def fetch(self) -> None:
        """Have the scope hold what servers have; after the goodbye, what they had then (``_bring``)."""
        if not (self.has_left or self._is_aside):
            self.exchange.fetch()

    def keep_tables(self, limit: int) -> None:
        """Have the scope hold what servers have of tables, for who reads them after the goodbye, if that is
        no more than ``limit`` bytes."""
        closed = {name for name in self.group.tables if name not in self._tables}
        slots = [each.name for each in self.group.remembered if each.slot and each.parameter in closed]
        held = {name: array for name in (*closed, *slots) if (array := self._scope.value(name)) is not None}
        left = limit - sum(array.nbytes for array in held.values())
        rows: dict[str, list[TableRows]] = {name: [] for name in self._tables}
        for name, table in self._tables.items() if left >= 0 else ():
            for piece in table.pieces():
                rows[name].append(piece)
                left -= piece.ids.nbytes + piece.values.nbytes * (1 + len(piece.slots))
                if left < 0:
                    return
        if left < 0:
            return
        for name in held:
            self._scope.var(name).get_tensor().array()
        for name, table in self._tables.items():
            table.source = partial(iter, rows[name])
        self._has_tables = True

    def _bring(self, fetch: Callable[[], Any], name: str, is_table: bool) -> None:
        """Bring the scope's arrays up to date for who reads one. After the goodbye they are what they were
        then; of a table that was too large to keep this process has but the rows that it has touched."""
        if self._is_aside:
            return
        if not self.has_left:
            fetch()
        elif is_table and not self._has_tables:
            raise NotInitialized(
                f"table {name!r} is kept by servers, and this trainer has said goodbye to them "
                "(fleet.stop_worker(), exe.close()): save or read it before that call. Worker 0 of fleet "
                "keeps what servers have of tables when it stops, up to 1 GiB"
            )

    def _live_slots(self) -> dict[str, np.ndarray]:
        live = getattr(self.exchange, "live", None)
        if live is None or not self.group.remembered:
            return {}
        held, found = live(), {}
        for each in self.group.remembered:
            array = held.get(f"slot {each.slot}/{each.parameter}")
            if array is not None:
                shape = self.arrays[each.parameter].shape
                found[each.name] = array if array.shape == shape else array.reshape(shape)
        return found

    def _show_afar(self, each: Remembered) -> None:
        """Have the scope's array of what is remembered elsewhere be brought up to date for who reads it."""
        array = self._scope.value(each.name)
        if array is None or (each.slot and each.parameter in self._tables):
            return

        def bring() -> None:
            if self.has_left:
                if self._has_tables and each.parameter in self.group.tables:
                    return
                warnings.warn(
                    f"{each.name} is what it was when it was read last: servers have it, and this trainer "
                    "has said goodbye to them. Read or save it before (exe.close(), fleet.stop_worker())",
                    stacklevel=2,
                )
            elif each.power:
                array.fill(each.power ** (self.exchange.steps + 1))
            elif (found := self.exchange.remembered(each.parameter, each.slot)) is not None:
                np.copyto(array, found.reshape(array.shape))

        self._scope.adopt(each.name, array, bring)

    def take_rows(self) -> None:
        """Take rows of open tables that were set or loaded since."""
        for name in self._tables:
            table = self._tables[name] = _table(self._scope, name)
            if table.given is None:
                continue
            if self.is_remote:
                raise BadArgument(
                    f"rows of table {name!r} were loaded into this process after training began, and "
                    "servers keep it: load them before, or have servers do so, fleet.init_server(dirname)"
                )
            declared = next(each for each in self.group.parameters if each.name == name)
            self.exchange.take(name, _whole(declared, table.given))  # type: ignore[attr-defined]
            table.given = None


def keeper_of(scope: Scope, group: Group, carrier: Any = None) -> Keeper:
    """The scope's keeper of a group, made where there is none. Servers have one memory of a parameter,
    whoever moves it."""
    key = group.key if carrier is not None else (group.key, group.remembered)
    found = scope.keepers.get(key)
    if found is None:
        found = scope.keepers[key] = Keeper(scope, group, carrier)
    return found


def _begun(declared: ParameterSpec, table: OpenTable) -> ParameterSpec:
    assert declared.rows is not None
    initial = table.initial if declared.rows.rule is None else declared.rows.initial
    return replace(declared, rows=replace(declared.rows, initial=initial, seed=table.seed))


def _whole(declared: ParameterSpec, given: TableRows) -> TableRows:
    """Rows with all that their table's own rule has of them."""
    if declared.rows is None or declared.rows.rule is None:
        return given
    return Counted(**declared.rows.rule.options).whole(given, declared.shape[1] - Counted.counts)


def _table(scope: Scope, name: str) -> OpenTable:
    found = table_of(scope, name)
    if found is None:
        raise NotInitialized(
            f"table {name!r} is not begun in this scope: run the startup program first, "
            "exe.run(default_startup_program()), in the scope that this program is run in"
        )
    return found


def _value(scope: Scope, name: str) -> np.ndarray:
    held = scope.value(name)
    if held is None:
        raise NotInitialized(
            f"parameter {name!r} has no value in this scope: run the startup program first, "
            "exe.run(default_startup_program()), in the scope that this program is run in"
        )
    return np.ascontiguousarray(held, np.float32)
