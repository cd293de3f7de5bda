"""Pruning: parameters of which a share is zero and stays so, as the original's update hook has it.

Which values stay is decided once, by whoever trains, from the values with which training begins: those that
are largest, in absolute terms. Of the others value and gradient are zero at every step, and so no rule,
penalty or average moves them.

It must never know where parameters live. Guarantee: a mask taken of pruned values is the mask that pruned
them. So all trainers have the one of the values that trainer 0 gave, and sums of their gradients are those of
one process, bit for bit.
"""

from __future__ import annotations

from collections.abc import Container, Sequence

import numpy as np

from paddle._engine.appending import Appending
from paddle._engine.exchange import ParameterSpec
from paddle._engine.initial import Constant
from paddle._engine.program import Parameter, Program, Variable

MASK = "@MASK"
"""What is appended to a parameter's name for the variable that says which values stay: 1, others 0."""
PRUNED = "@PRUNED"


def mask_of(values: np.ndarray, sparsity_ratio: float) -> np.ndarray:
    """1 where ``values`` stay, and 0 for the share ``sparsity_ratio`` of them that does not; float32. Of
    equals those that come first stay."""
    stay = int(values.size * (1 - sparsity_ratio) + 1e-6)
    order = np.argsort(-np.abs(values.reshape(-1)), kind="stable")
    mask = np.zeros(values.size, np.float32)
    mask[order[:stay]] = 1
    return mask.reshape(values.shape)


def pruned(values: np.ndarray, sparsity_ratio: float) -> np.ndarray:
    """``values`` as training begins with them; a new array."""
    return np.where(mask_of(values, sparsity_ratio) > 0, values, np.float32(0))


def append_pruning(
    program: Program, pairs: Sequence[tuple[Parameter, Variable]], which: Container[str]
) -> list[tuple[Parameter, Variable]]:
    """Append what prunes the gradients of the parameters ``which``; returns the pairs with these in their
    place. Whoever runs the program binds ``NAME@MASK``."""
    append = Appending(program)
    found: list[tuple[Parameter, Variable]] = []
    for parameter, gradient in pairs:
        kept = gradient
        if parameter.name in which:
            mask = program.main.add(_mask(parameter))
            kept = append("prune", gradient.name + PRUNED, {}, X=[gradient], Mask=[mask])
        found.append((parameter, kept))
    return found


def _mask(parameter: Parameter) -> Parameter:
    name = parameter.name + MASK
    spec = ParameterSpec(name=name, shape=parameter.shape)
    return Parameter(name, parameter.shape, initializer=Constant(1.0), spec=spec, is_static=True)
