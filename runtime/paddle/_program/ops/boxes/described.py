"""What rows that are computed on the host say of what they give."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from paddle._program.description.operator import Operator
from paddle._program.description.variable import Variable
from paddle._program.running.host import Host
from paddle._program.running.lod_tensor import LoDTensor

Shape = Callable[[Operator], Sequence[int]]


def shape_of(op: Operator, slot: str) -> tuple[int, ...]:
    """The shape of what is in an input slot."""
    return tuple(described(op, slot).shape)


def described(op: Operator, slot: str) -> Variable:
    """The description of what is in a slot."""
    return op.block._var_recursive((op.inputs.get(slot) or op.outputs[slot])[0])


def say(op: Operator, slot: str, shape: Sequence[int], dtype: Any, lod_level: int = 0) -> None:
    """What an output slot has; no gradient comes to it."""
    for name in op.outputs.get(slot, ()):
        made = op.block._var_recursive(name)
        made.shape, made.dtype, made.lod_level = tuple(shape), dtype, lod_level


def array_of(host: Host, op: Operator, slot: str) -> np.ndarray:
    """What is in a slot, without its sequences."""
    return np.asarray(host.input(op, slot))


def ends_of(host: Host, op: Operator, slot: str) -> list[int]:
    """Where the rows of each image begin and end; all are of one where none says so."""
    value = host.input(op, slot)
    lod = value.lod() if isinstance(value, LoDTensor) else []
    return list(lod[-1]) if lod else [0, len(np.asarray(value))]
