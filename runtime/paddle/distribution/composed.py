"""Transforms made of others, or of shapes: ``ChainTransform``, ``StackTransform`` and their kin.

They must never know a function. Guarantee: how much a chain spreads is the sum of what its transforms do,
over the axes of its events.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from paddle.distribution.distribution import summed
from paddle.distribution.transform import Transform
from paddle.tensor.creation import zeros_like
from paddle.tensor.manipulation import reshape, stack, unstack

__all__ = ["ChainTransform", "IndependentTransform", "ReshapeTransform", "StackTransform"]


class ReshapeTransform(Transform):
    """Events in another shape."""

    def __init__(self, in_event_shape: Sequence[int], out_event_shape: Sequence[int]) -> None:
        self.in_event_shape, self.out_event_shape = tuple(in_event_shape), tuple(out_event_shape)
        if prod(self.in_event_shape) != prod(self.out_event_shape):
            raise ValueError(f"{list(in_event_shape)} and {list(out_event_shape)} are not of one size")
        self._domain_rank, self._codomain_rank = len(self.in_event_shape), len(self.out_event_shape)

    def _forward(self, x: Any) -> Any:
        return reshape(x, [*x.shape[: len(x.shape) - self._domain_rank], *self.out_event_shape])

    def _inverse(self, y: Any) -> Any:
        return reshape(y, [*y.shape[: len(y.shape) - self._codomain_rank], *self.in_event_shape])

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return zeros_like(summed(x, self._domain_rank))

    def _forward_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return self._exchanged(shape, self.in_event_shape, self.out_event_shape)

    def _inverse_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return self._exchanged(shape, self.out_event_shape, self.in_event_shape)

    def _exchanged(
        self, shape: tuple[int, ...], old: tuple[int, ...], new: tuple[int, ...]
    ) -> tuple[int, ...]:
        kept = len(shape) - len(old)
        if kept < 0 or shape[kept:] != old:
            raise ValueError(f"events are {list(old)}, and {list(shape)} does not end so")
        return shape[:kept] + new


class ChainTransform(Transform):
    """One after another."""

    def __init__(self, transforms: Sequence[Transform]) -> None:
        if not all(isinstance(each, Transform) for each in transforms):
            raise TypeError(f"transforms are a list of Transform, and not {transforms!r}")
        self.transforms = list(transforms)
        self._is_one_to_one = all(each._is_one_to_one for each in self.transforms)
        self._domain_rank = self.transforms[-1]._codomain_rank
        for each in reversed(self.transforms):
            self._domain_rank += each._domain_rank - each._codomain_rank
            self._domain_rank = max(self._domain_rank, each._domain_rank)
        self._codomain_rank = self.transforms[0]._domain_rank
        for each in self.transforms:
            self._codomain_rank += each._codomain_rank - each._domain_rank
            self._codomain_rank = max(self._codomain_rank, each._codomain_rank)

    def _forward(self, x: Any) -> Any:
        for each in self.transforms:
            x = each.forward(x)
        return x

    def _inverse(self, y: Any) -> Any:
        for each in reversed(self.transforms):
            y = each.inverse(y)
        return y

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        found, rank = [], self._domain_rank
        for each in self.transforms:
            found.append(summed(each.forward_log_det_jacobian(x), rank - each._domain_rank))
            x = each.forward(x)
            rank += each._codomain_rank - each._domain_rank
        total = found[0]
        for spread in found[1:]:
            total = total + spread
        return total

    def _forward_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        for each in self.transforms:
            shape = each.forward_shape(shape)
        return shape

    def _inverse_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        for each in reversed(self.transforms):
            shape = each.inverse_shape(shape)
        return shape


class IndependentTransform(Transform):
    """``base``, with ``reinterpreted_batch_rank`` more axes to an event."""

    def __init__(self, base: Transform, reinterpreted_batch_rank: int) -> None:
        if not isinstance(base, Transform):
            raise TypeError(f"base is a Transform, and not {type(base).__name__}")
        if reinterpreted_batch_rank <= 0:
            raise ValueError(f"reinterpreted_batch_rank is above 0, and not {reinterpreted_batch_rank}")
        self._base, self._count = base, reinterpreted_batch_rank
        self._is_one_to_one = base._is_one_to_one
        self._domain_rank = base._domain_rank + reinterpreted_batch_rank
        self._codomain_rank = base._codomain_rank + reinterpreted_batch_rank

    def _forward(self, x: Any) -> Any:
        return self._base.forward(x)

    def _inverse(self, y: Any) -> Any:
        return self._base.inverse(y)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return summed(self._base.forward_log_det_jacobian(x), self._count)

    def _forward_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return self._base.forward_shape(shape)

    def _inverse_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return self._base.inverse_shape(shape)


class StackTransform(Transform):
    """To each part along ``axis`` a transform of its own."""

    def __init__(self, transforms: Sequence[Transform], axis: int = 0) -> None:
        if not transforms or not all(isinstance(each, Transform) for each in transforms):
            raise TypeError(f"transforms are a list of Transform, and not {transforms!r}")
        self.transforms, self.axis = list(transforms), axis
        self._is_one_to_one = all(each._is_one_to_one for each in self.transforms)
        before = max(each._domain_rank for each in self.transforms)
        behind = max(each._codomain_rank for each in self.transforms)
        self._domain_rank, self._codomain_rank = (each + (axis + each < 0) for each in (before, behind))

    def _each(self, name: str, value: Any) -> Any:
        if value.shape[self.axis] != len(self.transforms):
            raise ValueError(
                f"there are {len(self.transforms)} transforms, and {value.shape[self.axis]} parts along axis "
                f"{self.axis}"
            )
        pairs = zip(self.transforms, unstack(value, self.axis), strict=True)
        return stack([getattr(each, name)(part) for each, part in pairs], self.axis)

    def _forward(self, x: Any) -> Any:
        return self._each("forward", x)

    def _inverse(self, y: Any) -> Any:
        return self._each("inverse", y)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return self._each("forward_log_det_jacobian", x)
