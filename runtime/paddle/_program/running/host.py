"""Host: what an operator sees that is computed between two engine programs, value by value.

It must never know a segment. Guarantee: a host operator reads and writes names of its block only through
this, so persistable variables end up in the scope and all others in the run.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle._program.errors import NotInitialized
from paddle._program.running.lod_tensor import LoDTensor

if TYPE_CHECKING:
    from paddle._program.description.block import Block
    from paddle._program.description.operator import Operator
    from paddle._program.description.variable import Variable
    from paddle._program.running.scope import Scope


class Host:
    """``values``: those of the run, by name: arrays, LoDTensors where there are sequences, lists.
    ``seed`` and ``step``: all the randomness that there is. ``run_block``: runs another block on the same
    values."""

    def __init__(
        self,
        block: Block,
        scope: Scope,
        values: MutableMapping[str, Any],
        seed: int,
        step: int,
        run_block: Any = None,
    ) -> None:
        self.block, self.scope, self.values = block, scope, values
        self.seed, self.step = seed, step
        self.run_block = run_block

    def has(self, name: str) -> bool:
        """Whether a name has a value."""
        found = None if name in self.values else self.scope.find_var(name)
        return name in self.values or (found is not None and found.is_initialized())

    def get(self, name: str) -> Any:
        """The value of a name."""
        if name in self.values:
            return self.values[name]
        found = self.scope.find_var(name)
        if found is None or not found.is_initialized():
            raise NotInitialized(
                f"variable {name!r} has no value: no operator of this run has written it and the scope "
                "holds none; was the startup program run in this scope?"
            )
        tensor = found.get_tensor()
        if found.value is not None:
            return found.value
        return tensor if tensor._lod else tensor.array()

    def put(self, name: str, value: Any) -> None:
        """Give a name a value: in the scope where it outlives the run."""
        described = self.block._find_var_recursive(name)
        if described is None or not described.persistable:
            self.values[name] = value
            return
        held = self.scope.var(name)
        if isinstance(value, np.ndarray | LoDTensor):
            held.get_tensor().set(np.asarray(value))
            if isinstance(value, LoDTensor):
                held.get_tensor().set_lod(value.lod())
        else:
            held.value = value
        self.values.pop(name, None)

    def input(self, op: Operator, slot: str) -> Any:
        """The value of the one variable in an input slot, None where there is none."""
        names = op.inputs.get(slot)
        return self.get(names[0]) if names else None

    def inputs(self, op: Operator, slot: str) -> list[Any]:
        """The values of the variables in an input slot."""
        return [self.get(name) for name in op.inputs.get(slot, ())]

    def give(self, op: Operator, slot: str, value: Any, index: int = 0) -> None:
        """Say what the variable in an output slot is."""
        names = op.outputs.get(slot, ())
        if index < len(names):
            self.put(names[index], value)

    def described(self, op: Operator, slot: str) -> Variable:
        """The description of the variable in a slot."""
        return self.block._var_recursive((op.inputs.get(slot) or op.outputs[slot])[0])
