"""First values of parameters: ``paddle.nn.initializer``.

It must never draw: an initializer appends an operator to the startup program. Guarantee: the numbers are
those of the fluid generation's initializers of the same arguments.
"""

from __future__ import annotations

from typing import Any, NoReturn

from paddle._program.writing import initializer as _of_programs
from paddle._public_names import missing

__all__ = [
    *("Assign", "Bilinear", "Constant", "KaimingNormal", "KaimingUniform", "Normal", "TruncatedNormal"),
    *("Uniform", "XavierNormal", "XavierUniform", "set_global_initializer"),
]

set_global_initializer = _of_programs.set_global_initializer


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
    """He and others': variance 2 / fan in."""

    def __init__(self, fan_in: Any = None) -> None:
        super().__init__(uniform=False, fan_in=fan_in, seed=0)


class KaimingUniform(_of_programs.MSRAInitializer):
    """He and others', uniform: variance 2 / fan in."""

    def __init__(self, fan_in: Any = None) -> None:
        super().__init__(uniform=True, fan_in=fan_in, seed=0)


class Assign(_of_programs.NumpyArrayInitializer):
    """A copy of ``value``: an array, a list of numbers or of lists."""

    def __init__(self, value: Any, name: str | None = None) -> None:
        super().__init__(value)


class Bilinear(_of_programs.BilinearInitializer):
    """What a transposed convolution with one square filter a channel needs to interpolate."""


def __getattr__(name: str) -> NoReturn:
    raise missing(__name__, name)
