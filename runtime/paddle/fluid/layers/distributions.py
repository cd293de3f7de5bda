"""Distributions: what is drawn of them, how likely values are, what they leave open, how far two are apart.

Their arguments are Variables, all of them, or numbers, lists and arrays of numpy. It must never know an
operator's row. Guarantee: of numbers alone a sample has the shape that is asked for; of others that of the
arguments behind it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from paddle._program.description.variable import Variable
from paddle._program.errors import BadArgument
from paddle.fluid.layers.arithmetic import (
    elementwise_add,
    elementwise_mul,
    elementwise_pow,
    matmul,
    reduce_max,
    reduce_prod,
    reduce_sum,
)
from paddle.fluid.layers.comparing import less_than
from paddle.fluid.layers.drawing import (
    gaussian_random,
    gaussian_random_batch_size_like,
    uniform_random,
    uniform_random_batch_size_like,
)
from paddle.fluid.layers.ops import exp, log
from paddle.fluid.layers.shaping import reshape
from paddle.fluid.layers.tensor import (
    assign,
    cast,
    create_tensor,
    diag,
    fill_constant_batch_size_like,
    ones,
    zeros,
)

__all__ = ["Categorical", "MultivariateNormalDiag", "Normal", "Uniform"]


class Distribution:
    """What all have in common: what it lacks a distribution has no formula for in 1.8 either."""

    def sample(self) -> Any:
        """Values that are drawn, others in every step."""
        raise NotImplementedError

    def entropy(self) -> Any:
        """How much is left open, in natural units."""
        raise NotImplementedError

    def kl_divergence(self, other: Any) -> Any:
        """How far another of the kind is apart."""
        raise NotImplementedError

    def log_prob(self, value: Any) -> Any:
        """The logarithm of how likely values are."""
        raise NotImplementedError

    def _taken(self, kinds: tuple[type, ...], **given: Any) -> list[Any]:
        """The arguments as Variables, of one shape where they are numbers."""
        name = type(self).__name__
        said = ", ".join(each.__name__ for each in kinds)
        for argument, value in given.items():
            if not isinstance(value, kinds):
                raise BadArgument(f"{name}: {argument} is one of {said}, not {value!r:.60}")
        computed = [isinstance(value, Variable) for value in given.values()]
        if any(computed) and not all(computed):
            raise BadArgument(f"{name}: {' and '.join(given)} are Variables, all of them, or none")
        if all(computed):
            return list(given.values())
        arrays = np.broadcast_arrays(
            *(np.atleast_1d(np.asarray(value, "float32")) for value in given.values())
        )
        return [_told(each) for each in arrays]

    def _of_its_kind(self, other: Any) -> Any:
        if not isinstance(other, type(self)):
            name = type(self).__name__
            raise BadArgument(f"{name}.kl_divergence: other is a {name}, not {other!r:.60}")
        return other

    def _value(self, value: Any) -> Variable:
        if not isinstance(value, Variable):
            name = type(self).__name__
            raise BadArgument(f"{name}.log_prob: value is a Variable of the program, not {value!r:.60}")
        return value


def _told(array: np.ndarray) -> Variable:
    made = create_tensor("float32")
    assign(np.ascontiguousarray(array), made)
    return made


def _spread(drawn: Variable, width: Variable, first: Variable) -> Variable:
    """Both are beside the last axes, whatever size the first of theirs has."""
    return elementwise_add(elementwise_mul(drawn, width), first)


class _OfTwo(Distribution):
    """Of two arguments, as ``_NAMES`` calls them."""

    _NAMES = ("", "")

    def __init__(self, one: Any, other: Any) -> None:
        kinds = (float, np.ndarray, Variable, list)
        self._is_computed = isinstance(one, Variable)
        self._is_of_numbers = isinstance(one, float) and isinstance(other, float)
        self._one, self._other = self._taken(kinds, **dict(zip(self._NAMES, (one, other), strict=True)))

    def _behind(self, wanted: Any, seed: Any) -> tuple[list[int], Variable]:
        """The shape of samples, and a variable of the arguments' shape."""
        name = type(self).__name__
        if not isinstance(wanted, list) or not all(isinstance(size, int) for size in wanted):
            raise BadArgument(f"{name}.sample: shape is a list of whole numbers, not {wanted!r:.60}")
        if not isinstance(seed, int):
            raise BadArgument(f"{name}.sample: seed is a whole number, not {seed!r:.60}")
        both = self._one + self._other
        return [*wanted, *both.shape], both


class Uniform(_OfTwo):
    """All numbers from ``low`` to below ``high`` are equally likely."""

    _NAMES = ("low", "high")

    def __init__(self, low: Any, high: Any) -> None:
        super().__init__(low, high)
        self.low, self.high = self._one, self._other

    def sample(self, shape: list[int], seed: int = 0) -> Variable:
        """``shape``: of the samples, before that of the arguments. ``seed`` changes nothing: what is drawn
        follows from the program's ``random_seed`` and the step."""
        whole, both = self._behind(shape, seed)
        if self._is_computed:
            places = {"output_dim_idx": len(shape), "min": 0.0, "max": 1.0, "seed": seed}
            drawn = uniform_random_batch_size_like(both, whole, self.low.dtype, **places)
            return _spread(drawn, self.high - self.low, self.low)
        drawn = uniform_random(whole, min=0.0, max=1.0, seed=seed)
        found = drawn * (zeros(whole, self.low.dtype) + (self.high - self.low)) + self.low
        return reshape(found, shape) if self._is_of_numbers else found

    def log_prob(self, value: Variable) -> Variable:
        """Without bound below where a value is not between the two."""
        value = self._value(value)
        above, below = less_than(self.low, value), less_than(value, self.high)
        inside = cast(above, value.dtype) * cast(below, value.dtype)
        return log(inside) - log(self.high - self.low)

    def entropy(self) -> Variable:
        """The logarithm of how wide it is."""
        return log(self.high - self.low)


class Normal(_OfTwo):
    """The normal distribution about ``loc``, with the deviation ``scale``."""

    _NAMES = ("loc", "scale")

    def __init__(self, loc: Any, scale: Any) -> None:
        super().__init__(loc, scale)
        self.loc, self.scale = self._one, self._other

    def sample(self, shape: list[int], seed: int = 0) -> Variable:
        """``shape``: of the samples, before that of the arguments. ``seed`` changes nothing: what is drawn
        follows from the program's ``random_seed`` and the step."""
        whole, both = self._behind(shape, seed)
        if self._is_computed:
            told = {"output_dim_idx": len(shape), "seed": seed, "dtype": self.loc.dtype}
            return _spread(gaussian_random_batch_size_like(both, whole, **told), self.scale, self.loc)
        drawn = gaussian_random(whole, mean=0.0, std=1.0, seed=seed)
        found = drawn * (zeros(whole, self.loc.dtype) + self.scale) + self.loc
        return reshape(found, shape) if self._is_of_numbers else found

    def entropy(self) -> Variable:
        """The logarithm of the deviation, and what a deviation of 1 has."""
        sizes = list(
            (self.loc + self.scale).shape
        )  # 1.8 adds them twice, and numbers what is behind after that
        zero = fill_constant_batch_size_like(self.loc + self.scale, sizes, self.loc.dtype, 0.0)
        return 0.5 + 0.5 * math.log(2 * math.pi) + log(self.scale + zero)

    def log_prob(self, value: Variable) -> Variable:
        """The logarithm of the density."""
        value = self._value(value)
        variance, size = self.scale * self.scale, log(self.scale)
        away = (value - self.loc) * (value - self.loc)
        return -1.0 * away / (2.0 * variance) - size - math.log(math.sqrt(2.0 * math.pi))

    def kl_divergence(self, other: Any) -> Variable:
        """How far another ``Normal`` is apart."""
        other = self._of_its_kind(other)
        ratio = self.scale / other.scale
        ratio = ratio * ratio
        away = (self.loc - other.loc) / other.scale
        away = away * away
        return 0.5 * (ratio + away - 1.0 - log(ratio))


class Categorical(Distribution):
    """Classes, each as likely as the exponential of its number in the last axis of ``logits``."""

    def __init__(self, logits: Any) -> None:
        (self.logits,) = self._taken((np.ndarray, Variable, list), logits=logits)

    def kl_divergence(self, other: Any) -> Variable:
        """How far another ``Categorical`` is apart; the last axis has size 1."""
        other = self._of_its_kind(other)
        own, others = (each - reduce_max(each, dim=-1, keep_dim=True) for each in (self.logits, other.logits))
        sizes, other_sizes = exp(own), exp(others)
        all_own = reduce_sum(sizes, dim=-1, keep_dim=True)
        all_others = reduce_sum(other_sizes, dim=-1, keep_dim=True)
        likely = sizes / all_own
        apart = own - log(all_own) - others + log(all_others)
        return reduce_sum(likely * apart, dim=-1, keep_dim=True)

    def entropy(self) -> Variable:
        """How much the class is left open; the last axis has size 1."""
        own = self.logits - reduce_max(self.logits, dim=-1, keep_dim=True)
        sizes = exp(own)
        whole = reduce_sum(sizes, dim=-1, keep_dim=True)
        return -1.0 * reduce_sum(sizes / whole * (own - log(whole)), dim=-1, keep_dim=True)


class MultivariateNormalDiag(Distribution):
    """Normal distributions that do not depend on each other: a line of means, and a matrix with the variances
    on its diagonal and 0 elsewhere."""

    def __init__(self, loc: Any, scale: Any) -> None:
        kinds = (np.ndarray, Variable, list)
        self.loc, self.scale = (self._taken(kinds, **{name: each})[0] for name, each in _named(loc, scale))

    def entropy(self) -> Variable:
        """That of all together."""
        count = self.scale.shape[0]
        return 0.5 * (count * (1.0 + math.log(2 * math.pi)) + log(self._det(self.scale)))

    def kl_divergence(self, other: Any) -> Variable:
        """How far another ``MultivariateNormalDiag`` is apart."""
        other = self._of_its_kind(other)
        spread = reduce_sum(self._inv(other.scale) * self.scale)
        beside = matmul(other.loc - self.loc, self._inv(other.scale))
        away = matmul(beside, other.loc - self.loc)
        sizes = log(self._det(other.scale)) - log(self._det(self.scale))
        return 0.5 * (spread + away - self.scale.shape[0] + sizes)

    def _det(self, value: Variable) -> Variable:
        """The product of the diagonal."""
        everywhere, diagonal = self._ones(value)
        return reduce_prod(value + everywhere - diagonal)

    def _inv(self, value: Variable) -> Variable:
        """1 over the diagonal, and 0 elsewhere."""
        everywhere, diagonal = self._ones(value)
        return elementwise_pow(value, everywhere - 2 * diagonal)

    def _ones(self, value: Variable) -> tuple[Variable, Variable]:
        sizes, kind = list(value.shape), self.loc.dtype
        return ones(sizes, kind), diag(ones([sizes[0]], kind))


def _named(loc: Any, scale: Any) -> tuple[tuple[str, Any], tuple[str, Any]]:
    if isinstance(loc, Variable) != isinstance(scale, Variable):
        raise BadArgument("MultivariateNormalDiag: loc and scale are Variables, both, or neither is")
    return ("loc", loc), ("scale", scale)
