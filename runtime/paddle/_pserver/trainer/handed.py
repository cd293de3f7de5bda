"""Handed: the dense gradients that a trainer hands over with a step, as they travel.

A trainer computes most gradients into the same arrays, step after step. What is made of an array (that it
fits its parameter, where its bytes lie) holds as long as that array comes again, and is not made anew: of a
small model that would be most of what a step costs. Large ones are not held on to: where each step brings
new arrays the last ones would be in memory beside them.

It must never know a shard. Guarantee: what is given is that of the gradients at hand, whether they came in
the same arrays or not; as long as they do, it is the same object.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from paddle._engine.exchange import ParameterSpec
from paddle._pserver.memory.gradient_room import GradientRoom
from paddle._pserver.protocol.encoding import Coded, Encoder
from paddle._pserver.trainer import given

SMALL_BYTES = 1 << 18
"""So much of gradients is held on to."""


class Handed:
    """See the module's text. ``parameters``: the dense ones; ``room``: where shards of this machine read
    gradients."""

    def __init__(
        self, parameters: Sequence[ParameterSpec], encoder: Encoder, room: GradientRoom | None = None
    ) -> None:
        self._parameters, self._encoder, self._room = parameters, encoder, room
        self._arrays: Mapping[str, np.ndarray] = {}  # that came last, where they may come again
        self._coded: Mapping[str, Coded] | None = None  # and what was made of them
        self._is_small = 4 * sum(parameter.size for parameter in parameters) <= SMALL_BYTES

    def coded(self, gradients: given.Gradients) -> Mapping[str, Coded]:
        """The dense ones among ``gradients``; good until the next ones are asked for."""
        if self._coded is None:
            return self._made(gradients)
        for name, array in self._arrays.items():
            if gradients.get(name) is not array:
                return self._made(gradients)
        return self._coded

    def _made(self, gradients: given.Gradients) -> Mapping[str, Coded]:
        arrays = {p.name: given.dense(gradients, p) for p in self._parameters}
        where: Mapping[str, np.ndarray] = {name: array.reshape(-1) for name, array in arrays.items()}
        if self._room is not None:
            where = self._room.hold(arrays)
        coded = {p.name: self._encoder.dense(p, where[p.name]) for p in self._parameters}
        can_stay = self._is_small and not self._encoder.keeps
        stays = can_stay and all(map(np.may_share_memory, arrays.values(), where.values()))
        self._arrays, self._coded = (arrays, coded) if stays else ({}, None)
        return coded
