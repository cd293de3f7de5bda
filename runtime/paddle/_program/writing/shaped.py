"""First values with a form: rows at right angles to each other, and filters that change nothing.

It must never draw: each appends the operator that does to a startup program. Guarantee: a parameter's first
value follows from the seed of the program and the parameter's name.
"""

from __future__ import annotations

import numpy as np

from paddle._program.description.block import Block
from paddle._program.description.operator import Operator
from paddle._program.description.variable import Variable
from paddle._program.errors import BadArgument
from paddle._program.writing.initializer import Initializer, NumpyArrayInitializer


class OrthogonalInitializer(Initializer):
    """Rows, or columns where there are more rows, at right angles to each other, ``gain`` long."""

    def __init__(self, gain: float = 1.0, seed: int = 0) -> None:
        self._gain, self._seed = gain, seed

    def __call__(self, variable: Variable, block: Block) -> Operator:
        """Append it."""
        if len(variable.shape) < 2:
            raise BadArgument(f"{variable.name!r} of shape {list(variable.shape)} has no rows and columns")
        told = {"gain": float(self._gain), "seed": self._seed}
        return self._append(block, "orthogonal_random", variable, **told)


class DiracInitializer(Initializer):
    """Filters that give their input: 1 in the middle of filter i for channel i, of each of ``groups``."""

    def __init__(self, groups: int = 1) -> None:
        if not isinstance(groups, int) or groups < 1:
            raise BadArgument(f"groups of Dirac is a whole number above 0, not {groups!r}")
        self._groups = groups

    def __call__(self, variable: Variable, block: Block) -> Operator:
        """Append it."""
        shape = variable.shape
        if len(shape) not in (3, 4, 5) or shape[0] % self._groups:
            raise BadArgument(
                f"{variable.name!r} of shape {list(shape)} is not a filter of {self._groups} groups"
            )
        filters, each = np.zeros(shape, np.float32), shape[0] // self._groups
        middle = tuple(size // 2 for size in shape[2:])
        for group in range(self._groups):
            for at in range(min(each, shape[1])):
                filters[(group * each + at, at, *middle)] = 1
        return NumpyArrayInitializer(filters)(variable, block)
