"""Distributions of a place and a width: ``Normal``, ``Uniform``, ``Laplace``, ``Cauchy`` and ``Gumbel``.

They must never know another. Guarantee: gradients go through what ``rsample`` draws.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log, pi
from typing import Any

import numpy as np

from paddle.distribution.distribution import Distribution, alike, numbers
from paddle.tensor import math
from paddle.tensor.creation import full_like
from paddle.tensor.formulas import expm1
from paddle.tensor.logic import less_than, logical_and
from paddle.tensor.manipulation import cast
from paddle.tensor.random import rand, standard_normal, uniform

__all__ = ["Cauchy", "Gumbel", "Laplace", "Normal", "Uniform"]


class _Located(Distribution):
    def __init__(self, loc: Any, scale: Any, name: str | None = None) -> None:
        self.name = type(self).__name__ if name is None else name
        self.loc, self.scale = alike(loc, scale)
        super().__init__(() if numbers(loc, scale) else self.loc.shape)

    @property
    def stddev(self) -> Any:
        """The root of the variance."""
        return math.sqrt(self.variance)

    def _reduced(self, value: Any) -> Any:
        return (self._valued(value, self.loc) - self.loc) / self.scale


class Normal(_Located):
    """Gauss's: around ``loc``, with ``scale`` as standard deviation."""

    @property
    def mean(self) -> Any:
        """``loc``."""
        return self.loc

    @property
    def variance(self) -> Any:
        """The square of ``scale``."""
        return math.square(self.scale)

    def rsample(self, shape: Sequence[int] = ()) -> Any:
        """loc + scale * noise."""
        return self.loc + standard_normal(self._sizes(shape, self.loc)) * self.scale

    def sample(self, shape: Sequence[int] = (), seed: int = 0) -> Any:
        """The same without a gradient. ``seed``: the program's counts, whatever it says."""
        return super().sample(shape)

    def entropy(self) -> Any:
        """(1 + log(2 * pi)) / 2 + log(scale)."""
        return math.scale(math.log(self.scale), 1.0, 0.5 + 0.5 * log(2 * pi))

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density."""
        apart = math.square(self._reduced(value))
        return math.scale(apart, -0.5, -0.5 * log(2 * pi)) - math.log(self.scale)

    def kl_divergence(self, other: Any) -> Any:
        """How far another ``Normal`` is apart."""
        ratio = math.square(self.scale / other.scale)
        apart = math.square((self.loc - other.loc) / other.scale)
        return math.scale(ratio + apart - math.log(ratio), 0.5, -0.5)


class Uniform(Distribution):
    """Each number from ``low`` up to ``high`` as likely."""

    def __init__(self, low: Any, high: Any, name: str | None = None) -> None:
        self.name = "Uniform" if name is None else name
        self.low, self.high = alike(low, high)
        super().__init__(() if numbers(low, high) else self.low.shape)

    @property
    def mean(self) -> Any:
        """The middle."""
        return math.scale(self.low + self.high, 0.5)

    @property
    def variance(self) -> Any:
        """A twelfth of the squared width."""
        return math.scale(math.square(self.high - self.low), 1 / 12)

    def rsample(self, shape: Sequence[int] = ()) -> Any:
        """low + (high - low) * noise."""
        return self.low + rand(self._sizes(shape, self.low)) * (self.high - self.low)

    def sample(self, shape: Sequence[int] = (), seed: int = 0) -> Any:
        """The same without a gradient. ``seed``: the program's counts, whatever it says."""
        return super().sample(shape)

    def _inside(self, value: Any) -> Any:
        told = self._valued(value, self.low)
        return cast(logical_and(less_than(self.low, told), less_than(told, self.high)), "float32")

    def log_prob(self, value: Any) -> Any:
        """-log(high - low); beyond both -inf."""
        return math.log(self._inside(value)) - math.log(self.high - self.low)

    def prob(self, value: Any) -> Any:
        """1 / (high - low); beyond both 0."""
        return self._inside(value) / (self.high - self.low)

    def entropy(self) -> Any:
        """log(high - low)."""
        return math.log(self.high - self.low)


class Laplace(_Located):
    """Two exponential ones, back to back at ``loc``."""

    @property
    def mean(self) -> Any:
        """``loc``."""
        return self.loc

    @property
    def variance(self) -> Any:
        """Twice the square of ``scale``."""
        return math.scale(math.square(self.scale), 2.0)

    def rsample(self, shape: Sequence[int] = ()) -> Any:
        """By the inverse of ``cdf``."""
        return self._at(uniform(self._sizes(shape, self.loc), min=-1.0 + 6e-8, max=1.0 - 6e-8))

    def _at(self, turn: Any) -> Any:
        return self.loc - self.scale * math.sign(turn) * math.log1p(math.scale(math.abs(turn), -1.0))

    def log_prob(self, value: Any) -> Any:
        """-log(2 * scale) - abs(value - loc) / scale."""
        return -math.abs(self._reduced(value)) - math.log(math.scale(self.scale, 2.0))

    def cdf(self, value: Any) -> Any:
        """How likely it is not to be above ``value``."""
        apart = self._reduced(value)
        return math.scale(math.sign(apart) * expm1(-math.abs(apart)), -0.5, 0.5)

    def icdf(self, value: Any) -> Any:
        """What it is not above with the chance ``value``."""
        return self._at(math.scale(self._valued(value, self.loc), 2.0, -1.0))

    def entropy(self) -> Any:
        """1 + log(2 * scale)."""
        return math.scale(math.log(self.scale), 1.0, 1.0 + log(2))

    def kl_divergence(self, other: Any) -> Any:
        """How far another ``Laplace`` is apart."""
        apart = math.abs(self.loc - other.loc)
        near = self.scale * math.exp(-apart / self.scale) + apart
        return math.scale(near / other.scale + math.log(other.scale / self.scale), 1.0, -1.0)


class Cauchy(_Located):
    """Of the tangent of an angle of chance; it has neither a mean nor a variance."""

    @property
    def mean(self) -> Any:
        """There is none."""
        raise ValueError("Cauchy distribution has no mean.")

    @property
    def variance(self) -> Any:
        """There is none."""
        raise ValueError("Cauchy distribution has no variance.")

    @property
    def stddev(self) -> Any:
        """There is none."""
        raise ValueError("Cauchy distribution has no stddev.")

    def rsample(self, shape: Sequence[int] = (), name: str | None = None) -> Any:
        """loc + scale * tan(angle)."""
        angle = math.scale(rand(self._sizes(shape, self.loc)), pi, -pi / 2)
        return self.loc + self.scale * math.tan(angle)

    def sample(self, shape: Sequence[int] = (), name: str | None = None) -> Any:
        """The same without a gradient."""
        return super().sample(shape)

    def log_prob(self, value: Any) -> Any:
        """-log(pi * scale * (1 + ((value - loc) / scale) ** 2))."""
        far = math.log1p(math.square(self._reduced(value)))
        return math.scale(far + math.log(self.scale), -1.0, -log(pi))

    def cdf(self, value: Any) -> Any:
        """How likely it is not to be above ``value``."""
        return math.scale(math.atan(self._reduced(value)), 1 / pi, 0.5)

    def entropy(self) -> Any:
        """log(4 * pi * scale)."""
        return math.scale(math.log(self.scale), 1.0, log(4 * pi))

    def kl_divergence(self, other: Any) -> Any:
        """How far another ``Cauchy`` is apart."""
        both = math.square(self.scale + other.scale) + math.square(self.loc - other.loc)
        return math.log(both) - math.log(math.scale(self.scale * other.scale, 4.0))


class Gumbel(_Located):
    """Of the largest of many."""

    @property
    def mean(self) -> Any:
        """loc + scale * Euler's constant."""
        return self.loc + math.scale(self.scale, float(np.euler_gamma))

    @property
    def variance(self) -> Any:
        """(pi * scale) ** 2 / 6."""
        return math.scale(math.square(self.scale), pi**2 / 6)

    def rsample(self, shape: Sequence[int] = ()) -> Any:
        """loc - scale * log(-log(noise))."""
        noise = uniform(self._sizes(shape, self.loc), min=1.2e-38, max=1.0 - 1.2e-7)
        return self.loc - self.scale * math.log(-math.log(noise))

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density."""
        far = -self._reduced(value)
        return far - math.exp(far) - math.log(self.scale)

    def cdf(self, value: Any) -> Any:
        """How likely it is not to be above ``value``."""
        return math.exp(-math.exp(-self._reduced(value)))

    def entropy(self) -> Any:
        """1 + Euler's constant + log(scale)."""
        return math.log(self.scale) + full_like(self.scale, 1.0 + float(np.euler_gamma))
