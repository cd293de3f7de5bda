"""What all distributions have in common: ``Distribution``, and ``ExponentialFamily``.

It must never know one of them. Guarantee: arguments are numbers, lists, arrays or tensors; of numbers alone a
sample has the shape that is asked for, of others that of the arguments behind it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from paddle._program.description.variable import Variable
from paddle.tensor import math
from paddle.tensor.attribute import shape as sizes_at_run
from paddle.tensor.creation import assign
from paddle.tensor.manipulation import cast, concat
from paddle.tensor.placing import broadcast_tensors

__all__ = ["Distribution", "ExponentialFamily", "alike", "numbers", "summed"]


def numbers(*arguments: Any) -> bool:
    """Whether all are numbers."""
    return all(np.isscalar(each) for each in arguments)


def alike(*arguments: Any) -> list[Any]:
    """Arguments as tensors of one shape."""
    found = [
        each if isinstance(each, Variable) else assign(np.atleast_1d(np.asarray(each, np.float32)))
        for each in arguments
    ]
    same = all(tuple(each.shape) == tuple(found[0].shape) for each in found)
    return found if same else list(broadcast_tensors(found))


def summed(value: Any, count: int) -> Any:
    """The sum over the last ``count`` axes."""
    return math.sum(value, list(range(-count, 0))) if count > 0 else value


class Distribution:
    """Derive, and write what it has: ``sample``, ``rsample`` (through which gradients go), ``log_prob``,
    ``entropy``, ``kl_divergence``, ``mean`` and ``variance``. ``batch_shape``: of the distributions;
    ``event_shape``: of what each of them gives."""

    def __init__(self, batch_shape: Sequence[int] = (), event_shape: Sequence[int] = ()) -> None:
        self._batch_shape, self._event_shape = tuple(batch_shape), tuple(event_shape)

    @property
    def batch_shape(self) -> tuple[int, ...]:
        """How many distributions there are, along each axis."""
        return self._batch_shape

    @property
    def event_shape(self) -> tuple[int, ...]:
        """The shape of one event."""
        return self._event_shape

    def _lacks(self, what: str) -> NotImplementedError:
        return NotImplementedError(f"{type(self).__name__} has no {what}")

    @property
    def mean(self) -> Any:
        """The mean."""
        raise self._lacks("mean")

    @property
    def variance(self) -> Any:
        """The variance."""
        raise self._lacks("variance")

    def sample(self, shape: Sequence[int] = ()) -> Any:
        """What is drawn, others in every run; no gradient goes through it."""
        found = self.rsample(shape)
        found.stop_gradient = True
        return found

    def rsample(self, shape: Sequence[int] = ()) -> Any:
        """What is drawn, as a function of the arguments: gradients go back to them."""
        raise self._lacks("rsample")

    def entropy(self) -> Any:
        """How much is left open, in natural units."""
        raise self._lacks("entropy")

    def kl_divergence(self, other: Distribution) -> Any:
        """How far another one is apart."""
        raise self._lacks("kl_divergence")

    def log_prob(self, value: Any) -> Any:
        """The logarithm of ``prob``."""
        raise self._lacks("log_prob")

    def prob(self, value: Any) -> Any:
        """How likely, or dense, values are."""
        return math.exp(self.log_prob(value))

    def probs(self, value: Any) -> Any:
        """``prob`` by its older name."""
        return self.prob(value)

    def _extend_shape(self, sample_shape: Sequence[int]) -> tuple[int, ...]:
        return (*sample_shape, *self._batch_shape, *self._event_shape)

    def _sizes(self, shape: Sequence[int], like: Any) -> Any:
        """Of what is drawn: ``shape`` and that of ``like``, or, of numbers alone, ``shape``. Open sizes are
        those of the run."""
        asked = [int(each) for each in shape]
        if not self._batch_shape and not self._event_shape:
            return asked or [1]
        if -1 not in like.shape:
            return [*asked, *like.shape]
        behind = cast(sizes_at_run(like), "int32")
        return concat([assign(np.array(asked, np.int32)), behind]) if asked else behind

    def _valued(self, value: Any, like: Any) -> Any:
        """A value as a tensor of the arguments' dtype."""
        (found,) = alike(value)
        return found if found.dtype == like.dtype else cast(found, like.dtype)


class ExponentialFamily(Distribution):
    """Derive, and write ``_natural_parameters``, ``_log_normalizer`` of these, and ``_mean_carrier_measure``:
    entropy, and how far one of the kind is apart, follow."""

    @property
    def _natural_parameters(self) -> tuple[Any, ...]:
        raise self._lacks("_natural_parameters")

    def _log_normalizer(self, *parameters: Any) -> Any:
        raise self._lacks("_log_normalizer")

    @property
    def _mean_carrier_measure(self) -> Any:
        raise self._lacks("_mean_carrier_measure")

    def _slopes(self) -> tuple[list[Any], Any, list[Any]]:
        """The parameters, the normalizer of these, and its slopes, which are means."""
        from paddle._program.writing.backward import gradients

        parameters = [each.detach() for each in self._natural_parameters]
        for each in parameters:
            each.stop_gradient = False
        normalizer = self._log_normalizer(*parameters)
        return parameters, normalizer, gradients(math.sum(normalizer), parameters)

    def entropy(self) -> Any:
        """By the slopes of the normalizer."""
        parameters, normalizer, slopes = self._slopes()
        found = normalizer - self._mean_carrier_measure
        for parameter, slope in zip(parameters, slopes, strict=True):
            found = found - parameter * slope
        return found

    def kl_divergence(self, other: Distribution) -> Any:
        """How far another one of the same kind is apart: Bregman's divergence of the normalizer."""
        if type(self) is not type(other):
            raise NotImplementedError(f"{type(self).__name__} and {type(other).__name__} are of two kinds")
        parameters, normalizer, slopes = self._slopes()
        found = other._log_normalizer(*other._natural_parameters) - normalizer
        for one, two, slope in zip(parameters, other._natural_parameters, slopes, strict=True):
            found = found - summed((two - one) * slope, len(self.event_shape))
        return found
