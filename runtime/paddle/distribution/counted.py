"""Distributions of what is counted: ``Bernoulli``, ``Categorical``, ``Geometric`` and ``Multinomial``.

They must never know another, but ``Multinomial`` draws as ``Categorical``. Guarantee: a chance is held away
from 0 and 1 where its logarithm is asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from paddle.distribution.distribution import Distribution, alike, numbers
from paddle.nn.functional import one_hot, sigmoid, softmax, softplus
from paddle.tensor import math
from paddle.tensor.creation import assign, full_like, ones_like, zeros_like
from paddle.tensor.logic import equal, less_than
from paddle.tensor.manipulation import expand, gather, reshape, transpose
from paddle.tensor.placing import take_along_axis
from paddle.tensor.random import bernoulli, multinomial, rand, uniform
from paddle.tensor.search import where
from paddle.tensor.special import lgamma

__all__ = ["Bernoulli", "Categorical", "Geometric", "Multinomial"]

_EPS = float(np.finfo(np.float32).eps)


class Bernoulli(Distribution):
    """1 with the chance ``probs``, else 0."""

    def __init__(self, probs: Any, name: str | None = None) -> None:
        self.name = name or "Bernoulli"
        self.probs: Any = math.clip(alike(probs)[0], _EPS, 1 - _EPS)
        self.logits = math.log(self.probs) - math.log1p(-self.probs)
        super().__init__(() if numbers(probs) else self.probs.shape)

    @property
    def mean(self) -> Any:
        """``probs``."""
        return self.probs

    @property
    def variance(self) -> Any:
        """probs * (1 - probs)."""
        return self.probs * (1 - self.probs)

    def sample(self, shape: Sequence[int] = ()) -> Any:
        """Zeros and ones."""
        return bernoulli(expand(self.probs, self._sizes(shape, self.probs)))

    def rsample(self, shape: Sequence[int] = (), temperature: float = 1.0) -> Any:
        """Logits of what is drawn, which gradients go through: the less ``temperature``, the surer."""
        noise = rand(self._sizes(shape, self.probs))
        return math.scale(math.log(noise) - math.log1p(-noise) + self.logits, 1.0 / temperature)

    def cdf(self, value: Any) -> Any:
        """How likely it is not to be above ``value``."""
        told = self._valued(value, self.probs)
        like = zeros_like(told + self.probs)
        below = where(less_than(told + like, ones_like(like)), like + (1 - self.probs), ones_like(like))
        return where(less_than(told + like, like), like, below)

    def log_prob(self, value: Any) -> Any:
        """value * log(probs) + (1 - value) * log(1 - probs)."""
        return self._valued(value, self.probs) * self.logits - softplus(self.logits)

    def entropy(self) -> Any:
        """How much is left open."""
        return softplus(self.logits) - self.probs * self.logits

    def kl_divergence(self, other: Any) -> Any:
        """How far another ``Bernoulli`` is apart."""
        share = sigmoid(self.logits)
        apart = share * (self.logits - other.logits)
        return apart - softplus(self.logits) + softplus(other.logits)


class Geometric(Distribution):
    """How often it fails before it succeeds, with the chance ``probs`` each time."""

    def __init__(self, probs: Any) -> None:
        (self.probs,) = alike(probs)
        super().__init__(() if numbers(probs) else self.probs.shape)

    @property
    def mean(self) -> Any:
        """1 / probs - 1."""
        return math.scale(math.reciprocal(self.probs), 1.0, -1.0)

    @property
    def variance(self) -> Any:
        """(1 / probs - 1) / probs."""
        return self.mean / self.probs

    @property
    def stddev(self) -> Any:
        """The root of the variance."""
        return math.sqrt(self.variance)

    def _failing(self, times: Any) -> Any:
        return math.exp(self._valued(times, self.probs) * math.log1p(-self.probs))

    def pmf(self, k: Any) -> Any:
        """How likely ``k`` failures are."""
        return self._failing(k) * self.probs

    def log_pmf(self, k: Any) -> Any:
        """The logarithm of it."""
        return math.log(self.pmf(k))

    log_prob = log_pmf

    def rsample(self, shape: Sequence[int] = ()) -> Any:
        """Counts of failures."""
        noise = uniform(self._sizes(shape, self.probs), min=1.2e-38, max=1.0)
        return math.floor(math.log(noise) / math.log1p(-self.probs))

    def cdf(self, k: Any) -> Any:
        """How likely it is to be ``k`` or less."""
        return math.scale(self._failing(k) * (1 - self.probs), -1.0, 1.0)

    def entropy(self) -> Any:
        """How much is left open."""
        rest = 1 - self.probs
        return -(rest * math.log(rest) + self.probs * math.log(self.probs)) / self.probs

    def kl_divergence(self, other: Any) -> Any:
        """How far another ``Geometric`` is apart, as the original has it: of one try."""
        rest = (1 - self.probs) * math.log((1 - self.probs) / (1 - other.probs))
        return self.probs * math.log(self.probs / other.probs) + rest


class Categorical(Distribution):
    """One of several. As the original has it, ``sample``, ``entropy`` and ``kl_divergence`` take ``logits``
    as logarithms of chances, ``probs`` and ``log_prob`` as weights."""

    def __init__(self, logits: Any, name: str | None = None) -> None:
        self.name = "Categorical" if name is None else name
        (self.logits,) = alike(logits)
        self._prob = self.logits / math.sum(self.logits, -1, keepdim=True)
        super().__init__(self.logits.shape[:-1])

    def sample(self, shape: Sequence[int] = ()) -> Any:
        """Their numbers, int64."""
        *before, classes = self.logits.shape
        rows = reshape(self.logits, [-1, classes]) if before else self.logits
        drawn = multinomial(softmax(rows), prod(shape), replacement=True)
        turned = transpose(drawn, [1, 0]) if before else drawn
        return reshape(turned, [*shape, *before] or [1])

    def _told(self) -> Any:
        apart = self.logits - math.max(self.logits, -1, keepdim=True)
        return apart - math.log(math.sum(math.exp(apart), -1, keepdim=True))

    def kl_divergence(self, other: Any) -> Any:
        """How far another ``Categorical`` is apart, (..., 1)."""
        told = self._told()
        return math.sum(math.exp(told) * (told - other._told()), -1, keepdim=True)

    def entropy(self) -> Any:
        """How much is left open."""
        told = self._told()
        return -math.sum(math.exp(told) * told, -1)

    def probs(self, value: Any) -> Any:
        """The chances of the numbers ``value``: one for each distribution, or the same ones for all."""
        if len(self._prob.shape) == 1:
            return reshape(gather(self._prob, reshape(value, [-1])), list(value.shape))
        if len(value.shape) == 1:
            value = reshape(value, [1] * (len(self._prob.shape) - 1) + [-1])
            value = expand(value, [*self._prob.shape[:-1], -1])
        return take_along_axis(self._prob, value, -1)

    prob = probs

    def log_prob(self, value: Any) -> Any:
        """The logarithms of them."""
        return math.log(self.probs(value))


class Multinomial(Distribution):
    """How often each of several comes in ``total_count`` tries; ``probs`` are weights."""

    def __init__(self, total_count: int, probs: Any) -> None:
        if not isinstance(total_count, int) or total_count < 1:
            raise ValueError(f"total_count is a whole number above 0, and not {total_count!r}")
        (given,) = alike(probs)
        self.probs = given / math.sum(given, -1, keepdim=True)
        self.total_count = total_count
        self._categorical = Categorical(math.log(given))
        super().__init__(given.shape[:-1], given.shape[-1:])

    @property
    def mean(self) -> Any:
        """total_count * probs."""
        return math.scale(self.probs, float(self.total_count))

    @property
    def variance(self) -> Any:
        """total_count * probs * (1 - probs)."""
        return math.scale(self.probs * (1 - self.probs), float(self.total_count))

    def sample(self, shape: Sequence[int] = ()) -> Any:
        """Counts, as floating numbers."""
        drawn = self._categorical.sample([self.total_count, *shape])
        return math.sum(one_hot(drawn, self.probs.shape[-1]), 0)

    def log_prob(self, value: Any) -> Any:
        """The logarithm of how likely counts are."""
        counts = self._valued(value, self.probs)
        like = counts + zeros_like(self.probs)
        chances = self.probs + zeros_like(like)
        told = where(equal(like, zeros_like(like)), zeros_like(like), math.log(chances))
        ways = lgamma(math.scale(math.sum(counts, -1), 1.0, 1.0))
        return ways - math.sum(lgamma(math.scale(counts, 1.0, 1.0)), -1) + math.sum(like * told, -1)

    def entropy(self) -> Any:
        """How much is left open."""
        count = self.total_count
        tries = np.arange(1, count + 1, dtype=np.float32)
        support = assign(tries.reshape(-1, *[1] * len(self.probs.shape)))
        ways = lgamma(assign(np.array([count + 1], np.float32)))
        logits = math.log(self.probs) - math.log1p(-self.probs)
        likely = ways - lgamma(support + 1) - lgamma(full_like(support, count + 1.0) - support)
        shares = math.exp(likely + support * logits - math.scale(softplus(logits), float(count)))
        counted = math.sum(shares * lgamma(support + 1), [0, -1])
        return math.scale(self._categorical.entropy(), float(count)) - ways + counted
