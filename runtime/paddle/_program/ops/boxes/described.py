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
    """Where the rows of each image begin and end, as is told, by how many each has or as sequences; all are
    of one where none says so."""
    if op.inputs.get("RoisLod"):
        return as_told(host.input(op, "RoisLod"))
    if op.inputs.get("RoisNum"):
        return from_counts(host.input(op, "RoisNum"))
    value = host.input(op, slot)
    lod = value.lod() if isinstance(value, LoDTensor) else []
    return list(lod[-1]) if lod else [0, len(np.asarray(value))]


def as_told(ends: object) -> list[int]:
    """The same of offsets that a variable holds."""
    return [int(each) for each in np.asarray(ends).reshape(-1)]


def from_counts(counts: object) -> list[int]:
    """Where rows begin and end of which there are so many for each image."""
    return [0, *np.cumsum(np.asarray(counts).reshape(-1).astype(int)).tolist()]
