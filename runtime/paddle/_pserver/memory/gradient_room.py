"""Gradient room: where a trainer's dense gradients lie, so that shards of its machine read them there.

It is laid out parameter after parameter as they were declared, each at the beginning of a cache line; shards
are told where each begins. It must never know a shard.

Guarantee: a gradient that was computed in it is not copied, any other one once. Whoever pushes must leave it
as it is until all shards have answered.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from paddle._engine.exchange import ParameterSpec
from paddle._pserver.memory import region
from paddle._pserver.memory.region import Region

_LINE_BYTES = 64


class GradientRoom:
    """See the module's text. ``arrays``: per parameter the place of its gradient, in the parameter's
    shape."""

    def __init__(self, at: Region, parameters: Sequence[ParameterSpec], starts: dict[str, int]) -> None:
        self.lies, self.starts = at.lies, starts
        self.arrays: dict[str, np.ndarray] = {
            p.name: at.array(np.float32, starts[p.name], p.size).reshape(p.shape) for p in parameters
        }
        self._flat = {name: array.reshape(-1) for name, array in self.arrays.items()}

    def hold(self, gradients: Mapping[str, np.ndarray]) -> Mapping[str, np.ndarray]:
        """Have ``gradients`` here, each in the shape of its parameter; where they are then, flat."""
        for name, array in self.arrays.items():
            if gradients[name] is not array:
                np.copyto(array, gradients[name])
        return self._flat


def room_for(parameters: Sequence[ParameterSpec]) -> GradientRoom | None:
    """Room for the gradients of the dense ones among ``parameters``; None where there is none."""
    dense = [parameter for parameter in parameters if not parameter.sparse]
    starts: dict[str, int] = {}
    end = 0
    for parameter in dense:
        starts[parameter.name] = end
        end += -(-4 * parameter.size // _LINE_BYTES) * _LINE_BYTES
    at = region.make(end) if end else None
    return None if at is None else GradientRoom(at, dense, starts)
