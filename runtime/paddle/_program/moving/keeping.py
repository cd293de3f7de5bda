"""Keepers: who moves parameters of a scope, one exchange for each group of update operators.

Programs that move the same parameters by the same rule share a keeper: copies of a program, or the same one
asked for other values. Where another keeper has moved them meanwhile, the one whose turn it is goes on from
their values. It must never know how a gradient is computed.

Guarantee: one name of a scope has one array at a time, the keeper's own, and what a rule remembers is seen
there too, under the program's names.
"""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle._engine.exchange import Exchange
from paddle._engine.executor import Executor as EngineExecutor
from paddle._program.carrier import exchange_of, refresh_of
from paddle._program.errors import NotInitialized
from paddle._program.updates import Group

if TYPE_CHECKING:
    from paddle._program.scope import Scope


class Keeper:
    """One exchange, started with what the scope holds. ``runner`` computes with it."""

    def __init__(self, scope: Scope, group: Group, carrier: Any = None) -> None:
        self.group = group
        self.exchange: Exchange = exchange_of(carrier)
        self._scope = scope
        values = {name: _value(scope, name) for name in group.names}
        update = group.update if carrier is None else carrier.update(group.update)
        self.arrays = dict(self.exchange.start(group.parameters, update, values))
        self.exchange.begin_pass(0)
        self._slots = self._live_slots()
        self._powers = self._first_powers()
        self._shown = 0.0
        self._generation = -1
        for name, array in self._slots.items():
            if (held := scope.value(name)) is not None:
                np.copyto(array, held.reshape(array.shape))
        self.runner = EngineExecutor(scope.engine, self.exchange, self.exchange.room(), group.tables)
        self._bind()

    def take_over(self) -> None:
        """Go on from the values in the scope, where others have replaced or moved them."""
        if self._scope.generation == self._generation:
            return
        for name, array in {**self.arrays, **self._slots}.items():
            held = self._scope.value(name)
            if held is not None and held is not array:
                np.copyto(array, held.reshape(array.shape))
        self._bind()

    @property
    def has_powers(self) -> bool:
        """Whether a program sees the number of steps, as a power."""
        return bool(self._powers)

    def look_at_powers(self) -> None:
        """Go on from another step where the program has said so, by a power that was loaded or begun anew;
        then show those after the step that is about to be taken."""
        power, array = next(iter(self._powers.items()))
        if array[0] != self._shown:
            steps = round(log(max(float(array[0]), 1e-38)) / log(power)) - 1 if 0 < power < 1 else 0
            self.exchange.go_on_from(max(steps, 0))  # type: ignore[attr-defined]
        self._show_powers(1)

    def _show_powers(self, ahead: int = 0) -> None:
        steps = self.exchange.steps + ahead  # type: ignore[attr-defined]
        for power, array in self._powers.items():
            array[0] = power ** (steps + 1)
        self._shown = next(iter(self._powers.values()))[0]

    def _first_powers(self) -> dict[float, np.ndarray]:
        """One array for each number whose powers the program sees."""
        if not hasattr(self.exchange, "go_on_from"):
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
        has_tables = any(each.sparse for each in self.group.parameters)
        fetch = refresh_of(self.exchange, has_tables=has_tables)
        for name, array in self.arrays.items():
            self._scope.adopt(name, array, fetch)
        for name, array in self._slots.items():
            self._scope.adopt(name, array, fetch)
        self._scope.engine.bind(self.arrays)
        self._generation = self._scope.generation

    def _live_slots(self) -> dict[str, np.ndarray]:
        remembered = getattr(self.exchange, "remembered", None)
        if remembered is None or not self.group.remembered:
            return {}
        held, found = remembered(), {}
        for each in self.group.remembered:
            array = held.get(f"slot {each.slot}/{each.parameter}")
            if array is not None:
                shape = self.arrays[each.parameter].shape
                found[each.name] = array if array.shape == shape else array.reshape(shape)
        return found


def keeper_of(scope: Scope, group: Group, carrier: Any = None) -> Keeper:
    """The scope's keeper of a group, made where there is none."""
    found = scope.keepers.get(group.key)
    if found is None:
        found = scope.keepers[group.key] = Keeper(scope, group, carrier)
    return found


def _value(scope: Scope, name: str) -> np.ndarray:
    held = scope.value(name)
    if held is None:
        raise NotInitialized(
            f"parameter {name!r} has no value in this scope: run the startup program first, "
            "exe.run(default_startup_program()), in the scope that this program is run in"
        )
    return np.ascontiguousarray(held, np.float32)
