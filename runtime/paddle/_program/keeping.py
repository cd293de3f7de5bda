"""Keepers: who moves parameters of a scope, one exchange for each group of update operators.

Programs that move the same parameters by the same rule share a keeper: copies of a program, or the same one
asked for other values. Where another keeper has moved them meanwhile, the one whose turn it is goes on from
their values. It must never know how a gradient is computed.

Guarantee: one name of a scope has one array at a time, the keeper's own, and what a rule remembers is seen
there too, under the program's names.
"""

from __future__ import annotations

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
        self._generation = -1
        for name, array in self._slots.items():
            if (held := scope.value(name)) is not None:
                np.copyto(array, held.reshape(array.shape))
        self.runner = EngineExecutor(scope.engine, self.exchange, self.exchange.room(), group.names)
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

    def _bind(self) -> None:
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
