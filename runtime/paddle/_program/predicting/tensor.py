"""Tensor: one input or output of a predictor, to which arrays are copied and from which they are.

It must never know a model. Guarantee: what was copied to it is its own, and what is copied from it is the
caller's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from paddle._program.errors import BadArgument
from paddle._program.predicting.kinds import NUMPY, DataType, PlaceType, kind_of
from paddle._program.running.lod_tensor import Lod, LoDTensor


class Tensor:
    """``name``: the variable's."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._tensor = LoDTensor()
        self._sizes = [0]

    def name(self) -> str:
        """The variable's name."""
        return self._name

    def reshape(self, shape: Sequence[int] | int) -> None:
        """Say which sizes the next array has; it says them itself, too."""
        self._sizes = [int(each) for each in (shape if isinstance(shape, Sequence) else [shape])]

    def shape(self) -> list[int]:
        """Its sizes."""
        return self._tensor.shape() or self._sizes

    def type(self) -> DataType:
        """What it holds: float32 before anything is there."""
        return kind_of(self._tensor.array().dtype) if self._tensor._is_initialized() else DataType.FLOAT32

    def place(self) -> PlaceType:
        """Where it lies."""
        return PlaceType.CPU

    def lod(self) -> Lod:
        """Where its sequences begin, level by level."""
        return self._tensor.lod()

    def set_lod(self, lod: Sequence[Sequence[int]]) -> None:
        """Say where sequences begin, by offsets."""
        self._tensor.set_lod(lod)

    def copy_from_cpu(self, data: Any) -> None:
        """Take a copy of an array. Raises TypeError where it is none, or of numbers that no model takes."""
        if not isinstance(data, np.ndarray):
            raise _NoArray(
                f"copy_from_cpu: {self._name!r} is given a {type(data).__name__}, and not an array"
            )
        self._hold(np.array(data, NUMPY[kind_of(data.dtype)], order="C", copy=True))

    def share_external_data(self, data: Any) -> None:
        """Compute with an array or a LoDTensor itself, which stays the caller's."""
        if not isinstance(data, np.ndarray | LoDTensor):
            raise _NoArray(
                f"share_external_data: {self._name!r} is given a {type(data).__name__}, and not a LoDTensor "
                "or an array"
            )
        array = data.array() if isinstance(data, LoDTensor) else data
        kind_of(array.dtype)
        self._hold(array)
        if isinstance(data, LoDTensor):
            self._tensor.set_lod(data.lod())

    def copy_to_cpu(self) -> np.ndarray:
        """A copy of what it holds."""
        if not self._tensor._is_initialized():
            raise BadArgument(f"{self._name!r} holds nothing yet: run the predictor, or copy to it, before")
        return np.array(self._tensor.array(), copy=True)

    def _hold(self, array: np.ndarray) -> None:
        lod = self._tensor.lod()
        self._tensor = LoDTensor(array, lod)


class _NoArray(BadArgument):
    """What is no array."""
