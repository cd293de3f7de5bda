"""First values of parameters: ``paddle.nn.initializer``.

It must never draw: an initializer appends an operator to the startup program. Guarantee: the numbers are
those of the fluid generation's initializers of the same arguments.
"""

from __future__ import annotations

from math import sqrt
from typing import Any, NoReturn

from paddle._program.writing import initializer as _of_programs
from paddle._program.writing import shaped as _shaped
from paddle._public_names import missing

__all__ = [
    *("Assign", "Bilinear", "Constant", "Dirac", "KaimingNormal", "KaimingUniform", "Normal", "Orthogonal"),
    *("TruncatedNormal", "Uniform", "XavierNormal", "XavierUniform", "calculate_gain"),
    "set_global_initializer",
]

__path__: list[str] = []  # programs import it by the original's files, such as nn.initializer.constant
set_global_initializer = _of_programs.set_global_initializer
Initializer = _of_programs.Initializer


class Constant(_of_programs.ConstantInitializer):
    """Every element is ``value``."""

    def __init__(self, value: float = 0.0) -> None:
        super().__init__(value=float(value))


class Uniform(_of_programs.UniformInitializer):
    """Uniform in [``low``, ``high``)."""

    def __init__(self, low: float = -1.0, high: float = 1.0, name: str | None = None) -> None:
        super().__init__(low=float(low), high=float(high), seed=0)


class Normal(_of_programs.NormalInitializer):
    """Normal with ``mean`` and standard deviation ``std``."""

    def __init__(self, mean: float = 0.0, std: float = 1.0, name: str | None = None) -> None:
        super().__init__(loc=float(mean), scale=float(std), seed=0)


class TruncatedNormal(_of_programs.TruncatedNormalInitializer):
    """Normal, drawn again while it is more than two standard deviations from ``mean``."""

    def __init__(self, mean: float = 0.0, std: float = 1.0, name: str | None = None) -> None:
        super().__init__(loc=float(mean), scale=float(std), seed=0)


class XavierNormal(_of_programs.XavierInitializer):
    """Glorot and Bengio's: variance 2 / (fan in + fan out)."""

    def __init__(self, fan_in: Any = None, fan_out: Any = None, name: str | None = None) -> None:
        super().__init__(uniform=False, fan_in=fan_in, fan_out=fan_out, seed=0)


class XavierUniform(_of_programs.XavierInitializer):
    """Glorot and Bengio's, uniform: variance 2 / (fan in + fan out)."""

    def __init__(self, fan_in: Any = None, fan_out: Any = None, name: str | None = None) -> None:
        super().__init__(uniform=True, fan_in=fan_in, fan_out=fan_out, seed=0)


class KaimingNormal(_of_programs.MSRAInitializer):
    """He and others': variance gain ** 2 / fan in, of ``calculate_gain(nonlinearity, negative_slope)``."""

    def __init__(self, fan_in: Any = None, negative_slope: float = 0.0, nonlinearity: str = "relu") -> None:
        super().__init__(uniform=False, fan_in=fan_in, seed=0)
        self._gain = calculate_gain(nonlinearity, negative_slope)


class KaimingUniform(_of_programs.MSRAInitializer):
    """He and others', uniform: variance gain ** 2 / fan in; see KaimingNormal."""

    def __init__(self, fan_in: Any = None, negative_slope: float = 0.0, nonlinearity: str = "relu") -> None:
        super().__init__(uniform=True, fan_in=fan_in, seed=0)
        self._gain = calculate_gain(nonlinearity, negative_slope)


class Assign(_of_programs.NumpyArrayInitializer):
    """A copy of ``value``: an array, a list of numbers or of lists."""

    def __init__(self, value: Any, name: str | None = None) -> None:
        super().__init__(value)


class Bilinear(_of_programs.BilinearInitializer):
    """What a transposed convolution with one square filter a channel needs to interpolate."""


class Orthogonal(_shaped.OrthogonalInitializer):
    """Rows, or columns where there are more rows, at right angles to each other, ``gain`` long."""

    def __init__(self, gain: float = 1.0, name: str | None = None) -> None:
        super().__init__(gain=float(gain), seed=0)


class Dirac(_shaped.DiracInitializer):
    """Filters that give their input: 1 in the middle of filter i for channel i, of each of ``groups``."""

    def __init__(self, groups: int = 1, name: str | None = None) -> None:
        super().__init__(groups=groups)


_GAINS = {
    "sigmoid": 1.0,
    "linear": 1.0,
    "conv1d": 1.0,
    "conv2d": 1.0,
    "conv3d": 1.0,
    "conv1d_transpose": 1.0,
    "conv2d_transpose": 1.0,
    "conv3d_transpose": 1.0,
    "tanh": 5.0 / 3,
    "relu": sqrt(2.0),
    "selu": 3.0 / 4,
}


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """By what weights are multiplied before this activation; ``param``: the slope of a leaky ReLU below 0."""
    if nonlinearity == "leaky_relu":
        return sqrt(2.0 / (1 + (0.01 if param is None else float(param)) ** 2))
    if nonlinearity not in _GAINS:
        raise ValueError(f"nonlinearity of calculate_gain is one of {sorted(_GAINS)}, not {nonlinearity!r}")
    return _GAINS[nonlinearity]


def __getattr__(name: str) -> NoReturn:
    raise missing(__name__, name)
