"""Distributions of shares that make up a whole: ``Dirichlet``, and ``Beta`` of two of them.

They must never know another. Guarantee: no gradient goes through what is drawn, as in the original.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paddle.distribution.distribution import ExponentialFamily, alike, numbers
from paddle.tensor import math
from paddle.tensor._append import append
from paddle.tensor.manipulation import concat, expand, slice, squeeze, stack, unsqueeze
from paddle.tensor.special import digamma, lgamma

__all__ = ["Beta", "Dirichlet"]


class Dirichlet(ExponentialFamily):
    """Shares along the last axis, the nearer to even the larger ``concentration``."""

    def __init__(self, concentration: Any) -> None:
        (self.concentration,) = alike(concentration)
        super().__init__(self.concentration.shape[:-1], self.concentration.shape[-1:])

    @property
    def mean(self) -> Any:
        """The parts of the concentration."""
        return self.concentration / math.sum(self.concentration, -1, keepdim=True)

    @property
    def variance(self) -> Any:
        """Of each share."""
        total = math.sum(self.concentration, -1, keepdim=True)
        over = math.square(total) * math.scale(total, 1.0, 1.0)
        return self.concentration * (total - self.concentration) / over

    def sample(self, shape: Sequence[int] = ()) -> Any:
        """Shares that make up 1."""
        wide = expand(self.concentration, self._sizes(shape, self.concentration))
        return append("dirichlet", {"Alpha": wide}, stop_gradient=True)

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density."""
        told = math.sum(math.log(value) * math.scale(self.concentration, 1.0, -1.0), -1)
        return told - self._log_normalizer(self.concentration)

    def entropy(self) -> Any:
        """How much is left open."""
        total, count = math.sum(self.concentration, -1), float(self.concentration.shape[-1])
        rest = math.scale(self.concentration, 1.0, -1.0) * digamma(self.concentration)
        found = self._log_normalizer(self.concentration) - math.scale(total, -1.0, count) * digamma(total)
        return found - math.sum(rest, -1)

    def kl_divergence(self, other: Any) -> Any:
        """How far another ``Dirichlet`` is apart."""
        total = digamma(math.sum(self.concentration, -1, keepdim=True))
        apart = (self.concentration - other.concentration) * (digamma(self.concentration) - total)
        both = self._log_normalizer(other.concentration) - self._log_normalizer(self.concentration)
        return both + math.sum(apart, -1)

    @property
    def _natural_parameters(self) -> tuple[Any, ...]:
        return (self.concentration,)

    def _log_normalizer(self, *parameters: Any) -> Any:
        (x,) = parameters
        return math.sum(lgamma(x), -1) - lgamma(math.sum(x, -1))


class Beta(ExponentialFamily):
    """A share of two: the first of ``Dirichlet``'s of ``alpha`` and ``beta``."""

    def __init__(self, alpha: Any, beta: Any) -> None:
        self.alpha, self.beta = alike(alpha, beta)
        self._both = Dirichlet(stack([self.alpha, self.beta], -1))
        super().__init__(() if numbers(alpha, beta) else self.alpha.shape)

    @property
    def mean(self) -> Any:
        """alpha / (alpha + beta)."""
        return self.alpha / (self.alpha + self.beta)

    @property
    def variance(self) -> Any:
        """Of the share."""
        total = self.alpha + self.beta
        return self.alpha * self.beta / (math.square(total) * math.scale(total, 1.0, 1.0))

    def sample(self, shape: Sequence[int] = ()) -> Any:
        """From 0 to 1."""
        sizes = self._sizes(shape, self.alpha)
        wide = [unsqueeze(expand(each, sizes), -1) for each in (self.alpha, self.beta)]
        axis = len(wide[0].shape) - 1
        drawn = append("dirichlet", {"Alpha": concat(wide, axis)}, stop_gradient=True)
        return squeeze(slice(drawn, [axis], [0], [1]), axis)

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density."""
        told = self._valued(value, self.alpha)
        return self._both.log_prob(stack([told, math.scale(told, -1.0, 1.0)], -1))

    def entropy(self) -> Any:
        """How much is left open."""
        return self._both.entropy()

    def kl_divergence(self, other: Any) -> Any:
        """How far another ``Beta`` is apart."""
        return self._both.kl_divergence(other._both)

    @property
    def _natural_parameters(self) -> tuple[Any, ...]:
        return self.alpha, self.beta

    def _log_normalizer(self, *parameters: Any) -> Any:
        x, y = parameters
        return lgamma(x) + lgamma(y) - lgamma(x + y)
