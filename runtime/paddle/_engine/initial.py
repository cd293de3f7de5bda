"""Initializers: the first value of a parameter, from its shape and a random generator.

They must never know the parameter's name or a program. Guarantee: the same generator state and shape give
the same float32 array, C-contiguous.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from math import sqrt

import numpy as np

from paddle._engine.errors import ShapeError
from paddle._engine.program import Shape


def generator_for(seed: int, name: str) -> np.random.Generator:
    """The generator of one parameter: it follows from the seed and the name, in every process."""
    digest = hashlib.blake2b(name.encode(), digest_size=8).digest()
    return np.random.default_rng([seed % 2**64, int.from_bytes(digest, "little")])


@dataclass(frozen=True)
class Constant:
    """Every element is ``value``."""

    value: float = 0.0

    def __call__(self, shape: Shape, generator: np.random.Generator) -> np.ndarray:
        return np.full(shape, self.value, np.float32)


@dataclass(frozen=True)
class Uniform:
    """Uniform in [``low``, ``high``)."""

    low: float = -1.0
    high: float = 1.0

    def __call__(self, shape: Shape, generator: np.random.Generator) -> np.ndarray:
        value = generator.random(shape, np.float32)
        value *= np.float32(self.high - self.low)
        value += np.float32(self.low)
        return value


@dataclass(frozen=True)
class Normal:
    """Normal with ``mean`` and standard deviation ``std``."""

    mean: float = 0.0
    std: float = 1.0

    def __call__(self, shape: Shape, generator: np.random.Generator) -> np.ndarray:
        value = generator.standard_normal(shape, np.float32)
        value *= np.float32(self.std)
        value += np.float32(self.mean)
        return value


@dataclass(frozen=True)
class Xavier:
    """Glorot and Bengio's: variance 2 / (fan in + fan out), uniform unless ``uniform`` is false."""

    uniform: bool = True

    def __call__(self, shape: Shape, generator: np.random.Generator) -> np.ndarray:
        fan_in, fan_out = _fans(shape)
        return _spread(2.0 / (fan_in + fan_out), self.uniform)(shape, generator)


@dataclass(frozen=True)
class MSRA:
    """He and others': variance 2 / fan in, uniform unless ``uniform`` is false."""

    uniform: bool = True

    def __call__(self, shape: Shape, generator: np.random.Generator) -> np.ndarray:
        return _spread(2.0 / _fans(shape)[0], self.uniform)(shape, generator)


@dataclass(frozen=True, eq=False)
class Numpy:
    """A copy of ``array``."""

    array: np.ndarray

    def __call__(self, shape: Shape, generator: np.random.Generator) -> np.ndarray:
        if self.array.shape != shape:
            raise ShapeError(
                f"an array of shape {self.array.shape} cannot initialize a parameter of shape {shape}"
            )
        return np.array(self.array, np.float32, order="C")


def _spread(variance: float, uniform: bool) -> Uniform | Normal:
    if not uniform:
        return Normal(0.0, sqrt(variance))
    return Uniform(-sqrt(3.0 * variance), sqrt(3.0 * variance))


def _fans(shape: Shape) -> tuple[int, int]:
    """Inputs that reach one output, and outputs that one input reaches; beyond two dimensions, a filter's."""
    if len(shape) < 2:
        return (shape[0] if shape else 1,) * 2
    if len(shape) == 2:
        return shape[0], shape[1]
    receptive = int(np.prod(shape[2:]))
    return shape[1] * receptive, shape[0] * receptive
