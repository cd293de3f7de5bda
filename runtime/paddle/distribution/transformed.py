"""Distributions made of others: ``TransformedDistribution``, ``LogNormal`` and ``Independent``.

They must never draw themselves. Guarantee: densities are those of what is drawn after all transforms.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paddle.distribution.composed import ChainTransform
from paddle.distribution.distribution import Distribution, summed
from paddle.distribution.located import Normal
from paddle.distribution.transform import ExpTransform, Transform
from paddle.tensor import math
from paddle.tensor.formulas import expm1

__all__ = ["Independent", "LogNormal", "TransformedDistribution"]


class Independent(Distribution):
    """The last ``reinterpreted_batch_rank`` axes of distributions as axes of one event."""

    def __init__(self, base: Distribution, reinterpreted_batch_rank: int) -> None:
        if not isinstance(base, Distribution):
            raise TypeError(f"base is a Distribution, and not {type(base).__name__}")
        count = len(base.batch_shape)
        if not 0 < reinterpreted_batch_rank <= count:
            raise ValueError(
                f"reinterpreted_batch_rank is from 1 to {count}, the axes of distributions, and not "
                f"{reinterpreted_batch_rank}"
            )
        self._base, self._count = base, reinterpreted_batch_rank
        shape = (*base.batch_shape, *base.event_shape)
        super().__init__(shape[: count - self._count], shape[count - self._count :])

    @property
    def mean(self) -> Any:
        """The base's."""
        return self._base.mean

    @property
    def variance(self) -> Any:
        """The base's."""
        return self._base.variance

    def sample(self, shape: Sequence[int] = ()) -> Any:
        """The base's."""
        return self._base.sample(shape)

    def rsample(self, shape: Sequence[int] = ()) -> Any:
        """The base's."""
        return self._base.rsample(shape)

    def log_prob(self, value: Any) -> Any:
        """Summed over the axes of an event."""
        return summed(self._base.log_prob(value), self._count)

    def entropy(self) -> Any:
        """Summed over the axes of an event."""
        return summed(self._base.entropy(), self._count)


class TransformedDistribution(Distribution):
    """What ``transforms`` make, one after another, of what ``base`` gives."""

    def __init__(self, base: Distribution, transforms: Sequence[Transform]) -> None:
        if not isinstance(base, Distribution):
            raise TypeError(f"base is a Distribution, and not {type(base).__name__}")
        if not all(isinstance(each, Transform) for each in transforms):
            raise TypeError(f"transforms are a list of Transform, and not {transforms!r}")
        self._base, self._transforms = base, list(transforms)
        if not transforms:
            super().__init__(base.batch_shape, base.event_shape)
            return
        chain = ChainTransform(self._transforms)
        shape = (*base.batch_shape, *base.event_shape)
        if len(shape) < chain._domain_rank and shape:
            raise ValueError(
                f"base gives {list(shape)}, and what is transformed has {chain._domain_rank} axes"
            )
        missing = chain._domain_rank - len(base.event_shape)
        if missing > 0 and shape:
            self._base = base = Independent(base, missing)
        made = tuple(chain.forward_shape(shape))
        rank = chain._codomain_rank + max(len(base.event_shape) - chain._domain_rank, 0)
        super().__init__(made[: len(made) - rank], made[len(made) - rank :])

    def _through(self, drawn: Any) -> Any:
        for each in self._transforms:
            drawn = each.forward(drawn)
        return drawn

    def sample(self, shape: Sequence[int] = ()) -> Any:
        """What is made of what the base draws."""
        found = self._through(self._base.sample(shape))
        found.stop_gradient = True
        return found

    def rsample(self, shape: Sequence[int] = ()) -> Any:
        """The same; gradients go through it."""
        return self._through(self._base.rsample(shape))

    def log_prob(self, value: Any) -> Any:
        """The base's of what it was made of, less how much the transforms spread it."""
        found: Any = None
        rank = len(self.event_shape)
        for each in reversed(self._transforms):
            before = each.inverse(value)
            rank += each._domain_rank - each._codomain_rank
            spread = summed(each.forward_log_det_jacobian(before), rank - each._domain_rank)
            found = spread if found is None else found + spread
            value = before
        told = summed(self._base.log_prob(value), rank - len(self._base.event_shape))
        return told if found is None else told - found


class LogNormal(TransformedDistribution):
    """What has a normal logarithm, of ``loc`` and ``scale``."""

    def __init__(self, loc: Any, scale: Any) -> None:
        self._normal = Normal(loc, scale)
        self.loc, self.scale = self._normal.loc, self._normal.scale
        super().__init__(self._normal, [ExpTransform()])

    @property
    def mean(self) -> Any:
        """exp(loc + scale ** 2 / 2)."""
        return math.exp(self.loc + math.scale(self._normal.variance, 0.5))

    @property
    def variance(self) -> Any:
        """(exp(scale ** 2) - 1) * mean ** 2."""
        return expm1(self._normal.variance) * math.square(self.mean)

    def entropy(self) -> Any:
        """The normal one's, and loc."""
        return self._normal.entropy() + self.loc

    def kl_divergence(self, other: Any) -> Any:
        """The normal ones'."""
        return self._normal.kl_divergence(other._normal)
