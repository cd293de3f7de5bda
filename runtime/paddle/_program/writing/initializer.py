"""Initializers: each appends the operator that gives a variable its first value, to a startup program.

They must never know what the variable is for. Guarantee: a parameter's first value follows from the seed of
the program and the parameter's name.
"""

from __future__ import annotations

from math import ceil, prod, sqrt
from typing import Any

import numpy as np

from paddle._program.description.block import Block
from paddle._program.description.dtypes import is_float
from paddle._program.description.operator import Operator
from paddle._program.description.variable import Variable
from paddle._program.description.written import now
from paddle._program.errors import BadArgument


class Initializer:
    """Base of all."""

    def __call__(self, variable: Variable, block: Block) -> Operator:
        """Append it."""
        raise NotImplementedError

    def _append(self, block: Block, type: str, variable: Variable, **attrs: Any) -> Operator:
        if not block.has_var(variable.name):
            traits = {"shape": variable.shape, "dtype": variable.dtype, "persistable": True}
            block.create_var(variable.name, **traits)
        attrs = {"shape": list(variable.shape), "dtype": int(variable.dtype), **attrs}
        return block.append_op(type, outputs={"Out": [variable.name]}, attrs=attrs)


class ConstantInitializer(Initializer):
    """Every element is ``value``."""

    def __init__(self, value: float = 0.0, force_cpu: bool = False) -> None:
        self._value = value

    def __call__(self, variable: Variable, block: Block) -> Operator:
        """Append it."""
        return self._append(block, "fill_constant", variable, value=float(self._value))


class UniformInitializer(Initializer):
    """Uniform in [``low``, ``high``)."""

    def __init__(self, low: float = -1.0, high: float = 1.0, seed: int = 0, *others: Any) -> None:
        self._low, self._high, self._seed = low, high, seed

    def __call__(self, variable: Variable, block: Block) -> Operator:
        """Append it."""
        bounds = {"min": float(self._low), "max": float(self._high), "seed": self._seed}
        return self._append(block, "uniform_random", variable, **bounds)


class NormalInitializer(Initializer):
    """Normal with mean ``loc`` and standard deviation ``scale``."""

    def __init__(self, loc: float = 0.0, scale: float = 1.0, seed: int = 0) -> None:
        self._mean, self._std, self._seed = loc, scale, seed

    def __call__(self, variable: Variable, block: Block) -> Operator:
        """Append it."""
        moments = {"mean": float(self._mean), "std": float(self._std), "seed": self._seed}
        return self._append(block, "gaussian_random", variable, **moments)


class XavierInitializer(Initializer):
    """Glorot and Bengio's: variance 2 / (fan in + fan out)."""

    def __init__(
        self, uniform: bool = True, fan_in: float | None = None, fan_out: float | None = None, seed: int = 0
    ) -> None:
        self._uniform, self._fan_in, self._fan_out, self._seed = uniform, fan_in, fan_out, seed

    def __call__(self, variable: Variable, block: Block) -> Operator:
        """Append it."""
        fan_in, fan_out = fans(variable)
        fan_in = fan_in if self._fan_in is None else self._fan_in
        fan_out = fan_out if self._fan_out is None else self._fan_out
        return spread(self, block, variable, 2.0 / (fan_in + fan_out), self._uniform, self._seed)


class MSRAInitializer(Initializer):
    """He and others': variance 2 / fan in."""

    _gain = sqrt(2.0)

    def __init__(self, uniform: bool = True, fan_in: float | None = None, seed: int = 0) -> None:
        self._uniform, self._fan_in, self._seed = uniform, fan_in, seed

    def __call__(self, variable: Variable, block: Block) -> Operator:
        """Append it."""
        fan_in = fans(variable)[0] if self._fan_in is None else self._fan_in
        return spread(self, block, variable, self._gain**2 / fan_in, self._uniform, self._seed)


class TruncatedNormalInitializer(Initializer):
    """Normal, drawn again while it is more than two standard deviations, ``scale``, from ``loc``."""

    def __init__(self, loc: float = 0.0, scale: float = 1.0, seed: int = 0) -> None:
        self._mean, self._std, self._seed = loc, scale, seed

    def __call__(self, variable: Variable, block: Block) -> Operator:
        """Append it."""
        moments = {"mean": float(self._mean), "std": float(self._std), "seed": self._seed}
        return self._append(block, "truncated_gaussian_random", variable, **moments)


class NumpyArrayInitializer(Initializer):
    """A copy of an array: of the parameter's shape, but for sizes of 1, or in a line."""

    def __init__(self, value: np.ndarray) -> None:
        self._value = np.asarray(value)

    def __call__(self, variable: Variable, block: Block) -> Operator:
        """Append it."""
        told = [tuple(size for size in shape if size != 1) for shape in (variable.shape, self._value.shape)]
        is_line = self._value.ndim == 1 and self._value.size == np.prod(variable.shape)
        if told[0] != told[1] and not is_line:
            raise BadArgument(
                f"an array of shape {list(self._value.shape)} is not a value for {variable.name!r}, which "
                f"has {list(variable.shape)}"
            )
        slot = "fp32_values" if is_float(variable.dtype) else "int64_values"
        return self._append(block, "assign_value", variable, **{slot: self._value.reshape(-1).tolist()})


class BilinearInitializer(Initializer):
    """Filters of a transposed convolution that makes images larger, between pixels."""

    def __call__(self, variable: Variable, block: Block) -> Operator:
        """Append it."""
        shape = variable.shape
        if len(shape) != 4 or shape[2] != shape[3]:
            raise BadArgument(f"{variable.name!r} of shape {list(shape)} is not a square filter for images")
        reach = ceil(shape[3] / 2.0)
        middle = (2 * reach - 1 - reach % 2) / (2.0 * reach)
        line = 1 - np.abs(np.arange(shape[3]) / reach - middle)
        whole = np.broadcast_to(np.outer(line, line), shape).astype(np.float32)
        return NumpyArrayInitializer(whole)(variable, block)


_OF_ROWS = {
    "fill_constant": ("constant", "value", ""),
    "uniform_random": ("uniform", "min", "max"),
    "gaussian_random": ("normal", "mean", "std"),
    "truncated_gaussian_random": ("truncated_normal", "mean", "std"),
}


class RowsInitializer(Initializer):
    """How rows of a table begin of which there is no array: each as ``each`` would draw it, when it is made.
    The original's workers have this operator in the place of the one that fills a table."""

    def __init__(self, each: Initializer) -> None:
        self._each = each

    def __call__(self, variable: Variable, block: Block) -> Operator:
        """Append it."""
        made = self._each(variable, block)
        if made.type not in _OF_ROWS:
            raise BadArgument(
                f"rows of {variable.name!r} are made when they are asked for, so they begin with a constant "
                f"or numbers that are drawn, and not by {type(self._each).__name__}"
            )
        (kind, one, other), told = _OF_ROWS[made.type], made.attrs
        block._remove_op(made.idx)
        drawn = {"kind": kind, "one": told[one], "other": told.get(other, 0.0), "seed": told.get("seed", 0)}
        return self._append(block, "fake_init", variable, **drawn)


def fans(variable: Variable) -> tuple[float, float]:
    """Inputs that reach one output, and outputs that one input reaches; beyond two axes, a filter's."""
    shape = variable.shape
    if len(shape) < 2:
        return (shape[0] if shape else 1,) * 2
    if len(shape) == 2:
        return shape[0], shape[1]
    field = prod(shape[2:])
    return shape[1] * field, shape[0] * field


def spread(
    of: Initializer, block: Block, variable: Variable, variance: float, uniform: bool, seed: int
) -> Operator:
    """Draw with mean 0 and that variance."""
    if not uniform:
        return NormalInitializer(0.0, sqrt(variance), seed)(variable, block)
    bound = sqrt(3.0 * variance)
    return UniformInitializer(-bound, bound, seed)(variable, block)


def set_global_initializer(weight_init: Initializer | None, bias_init: Initializer | None = None) -> None:
    """How parameters begin whose attribute does not say."""
    now().weight, now().bias = weight_init, bias_init


def global_initializer(is_bias: bool) -> Initializer | None:
    """What ``set_global_initializer`` said."""
    found: Initializer | None = now().bias if is_bias else now().weight
    return found


Constant, Uniform = ConstantInitializer, UniformInitializer
Normal, Xavier = NormalInitializer, XavierInitializer
MSRA, Bilinear, TruncatedNormal = MSRAInitializer, BilinearInitializer, TruncatedNormalInitializer
