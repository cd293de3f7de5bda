"""Functions between events that can be undone: ``Transform`` and its kin.

They must never know a distribution's formula. Guarantee: of a transform that spreads events,
``forward_log_det_jacobian`` tells by how much, as a logarithm.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from typing import Any

import numpy as np

from paddle._program.description.variable import Variable
from paddle.distribution.distribution import Distribution
from paddle.nn import functional
from paddle.tensor import math
from paddle.tensor.accumulation import cumprod
from paddle.tensor.creation import assign, zeros
from paddle.tensor.formulas import atanh
from paddle.tensor.manipulation import concat, slice
from paddle.tensor.placing import broadcast_shape

__all__ = [
    *("AbsTransform", "AffineTransform", "ExpTransform", "PowerTransform", "SigmoidTransform"),
    *("SoftmaxTransform", "StickBreakingTransform", "TanhTransform", "Transform"),
]


class Transform:
    """Derive, and write ``_forward``, ``_inverse``, and ``_forward_log_det_jacobian`` or
    ``_inverse_log_det_jacobian``. ``_domain_rank`` and ``_codomain_rank``: how many axes an event has, before
    and behind."""

    _domain_rank = 0
    _codomain_rank = 0
    _is_one_to_one = True

    def __call__(self, input: Any) -> Any:
        """Of a tensor ``forward``; of a distribution the one that it makes, of a transform both in a row."""
        if isinstance(input, Distribution):
            from paddle.distribution.transformed import TransformedDistribution

            return TransformedDistribution(input, [self])
        if isinstance(input, Transform):
            from paddle.distribution.composed import ChainTransform

            return ChainTransform([self, input])
        return self.forward(input)

    def _checked(self, value: Any, rank: int) -> Any:
        if not isinstance(value, Variable):
            raise TypeError(f"{type(self).__name__} takes a tensor, and not {type(value).__name__}")
        if len(value.shape) < rank:
            raise ValueError(
                f"{type(self).__name__} takes {rank} axes at least, and {list(value.shape)} is less"
            )
        return value

    def forward(self, x: Any) -> Any:
        """What becomes of x."""
        return self._forward(self._checked(x, self._domain_rank))

    def inverse(self, y: Any) -> Any:
        """What y was made of."""
        return self._inverse(self._checked(y, self._codomain_rank))

    def forward_log_det_jacobian(self, x: Any) -> Any:
        """By how much it spreads around x, as a logarithm."""
        if not self._is_one_to_one:
            raise NotImplementedError(f"{type(self).__name__} makes the same of several: it spreads nothing")
        told = self._checked(x, self._domain_rank)
        if hasattr(self, "_forward_log_det_jacobian"):
            return self._forward_log_det_jacobian(told)
        return -self._told("_inverse_log_det_jacobian")(self.forward(told))

    def inverse_log_det_jacobian(self, y: Any) -> Any:
        """By how much the way back spreads around y, as a logarithm."""
        told = self._checked(y, self._codomain_rank)
        if hasattr(self, "_inverse_log_det_jacobian"):
            return self._inverse_log_det_jacobian(told)
        return -self._told("_forward_log_det_jacobian")(self.inverse(told))

    def _told(self, name: str) -> Any:
        found = getattr(self, name, None)
        if found is None:
            raise NotImplementedError(
                f"{type(self).__name__} has neither _forward_log_det_jacobian nor _inverse_log_det_jacobian"
            )
        return found

    def forward_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        """The shape of what becomes of ``shape``."""
        return self._forward_shape(tuple(shape))

    def inverse_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        """The shape of what ``shape`` was made of."""
        return self._inverse_shape(tuple(shape))

    def _forward(self, x: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} lacks _forward(x)")

    def _inverse(self, y: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} lacks _inverse(y)")

    def _forward_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return shape

    def _inverse_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return shape


class AbsTransform(Transform):
    """Without its sign; the way back gives both numbers."""

    _is_one_to_one = False

    def _forward(self, x: Any) -> Any:
        return math.abs(x)

    def _inverse(self, y: Any) -> Any:
        return -y, y

    def inverse_log_det_jacobian(self, y: Any) -> Any:
        """Nothing, for both."""
        return zeros([1], y.dtype), zeros([1], y.dtype)


class AffineTransform(Transform):
    """loc + scale * x."""

    def __init__(self, loc: Any, scale: Any) -> None:
        for name, each in (("loc", loc), ("scale", scale)):
            if not isinstance(each, Variable):
                raise TypeError(f"{name} of AffineTransform is a tensor, and not {type(each).__name__}")
        self.loc, self.scale = loc, scale

    def _forward(self, x: Any) -> Any:
        return self.loc + self.scale * x

    def _inverse(self, y: Any) -> Any:
        return (y - self.loc) / self.scale

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return math.log(math.abs(self.scale))

    def _forward_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(broadcast_shape(broadcast_shape(shape, self.loc.shape), self.scale.shape))

    _inverse_shape = _forward_shape


class ExpTransform(Transform):
    """e ** x."""

    def _forward(self, x: Any) -> Any:
        return math.exp(x)

    def _inverse(self, y: Any) -> Any:
        return math.log(y)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return x


class PowerTransform(Transform):
    """x ** power."""

    def __init__(self, power: Any) -> None:
        if not isinstance(power, Variable):
            raise TypeError(f"power of PowerTransform is a tensor, and not {type(power).__name__}")
        self.power = power

    def _forward(self, x: Any) -> Any:
        return math.pow(x, self.power)

    def _inverse(self, y: Any) -> Any:
        return math.pow(y, math.reciprocal(self.power))

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return math.log(math.abs(self.power * math.pow(x, self.power - 1)))

    def _forward_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(broadcast_shape(shape, self.power.shape))

    _inverse_shape = _forward_shape


class SigmoidTransform(Transform):
    """1 / (1 + exp(-x))."""

    def _forward(self, x: Any) -> Any:
        return functional.sigmoid(x)

    def _inverse(self, y: Any) -> Any:
        return math.log(y) - math.log1p(-y)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return -functional.softplus(-x) - functional.softplus(x)


class TanhTransform(Transform):
    """The hyperbolic tangent."""

    def _forward(self, x: Any) -> Any:
        return math.tanh(x)

    def _inverse(self, y: Any) -> Any:
        return atanh(y)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return math.scale(x + functional.softplus(math.scale(x, -2.0)), -2.0, 2 * log(2))


class SoftmaxTransform(Transform):
    """Shares along the last axis; the way back gives logarithms of them."""

    _domain_rank = _codomain_rank = 1
    _is_one_to_one = False

    def _forward(self, x: Any) -> Any:
        return functional.softmax(x)

    def _inverse(self, y: Any) -> Any:
        return math.log(y)


class StickBreakingTransform(Transform):
    """Shares along the last axis, one more than there are numbers: each takes a part of what is left."""

    _domain_rank = _codomain_rank = 1

    def _moved(self, x: Any, sign: float = -1.0) -> Any:
        left = np.log(np.arange(x.shape[-1], 0, -1, dtype=np.float32))
        return x + assign((sign * left).astype(np.float32))

    def _forward(self, x: Any) -> Any:
        part = functional.sigmoid(self._moved(x))
        rest = cumprod(math.scale(part, -1.0, 1.0), -1)
        one = math.scale(slice(x, [len(x.shape) - 1], [0], [1]), 0.0, 1.0)
        return concat([part, one], -1) * concat([one, rest], -1)

    def _inverse(self, y: Any) -> Any:
        shown = slice(y, [len(y.shape) - 1], [0], [-1])
        left = math.scale(math.cumsum(shown, -1), -1.0, 1.0)
        return self._moved(math.log(shown) - math.log(left), 1.0)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        told, made = self._moved(x), self.forward(x)
        shown = slice(made, [len(x.shape) - 1], [0], [-1])
        return math.sum(functional.log_sigmoid(told) - told + math.log(shown), -1)

    def _forward_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return (*shape[:-1], shape[-1] + 1)

    def _inverse_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return (*shape[:-1], shape[-1] - 1)
