"""First values of parameters: ``paddle.nn.initializer``.

It must never draw: an initializer appends an operator to the startup program. Guarantee: the numbers are
those of the fluid generation's initializers of the same arguments.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from paddle._program import initializer as _of_programs

__all__ = [
    *("Assign", "Bilinear", "Constant", "KaimingNormal", "KaimingUniform", "Normal", "TruncatedNormal"),
    *("Uniform", "XavierNormal", "XavierUniform", "set_global_initializer"),
]


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


class TruncatedNormal(_of_programs.Initializer):
    """Normal, drawn again while it is more than two standard deviations from ``mean``."""

    def __init__(self, mean: float = 0.0, std: float = 1.0, name: str | None = None) -> None:
        self._moments = {"mean": float(mean), "std": float(std), "seed": 0}

    def __call__(self, variable: Any, block: Any) -> Any:
        """Append it."""
        return self._append(block, "truncated_gaussian_random", variable, **self._moments)


class XavierNormal(_of_programs.XavierInitializer):
    """Glorot and Bengio's: variance 2 / (fan in + fan out)."""

    def __init__(self, fan_in: Any = None, fan_out: Any = None, name: str | None = None) -> None:
        super().__init__(uniform=False, fan_in=fan_in, fan_out=fan_out, seed=0)


class XavierUniform(_of_programs.XavierInitializer):
    """Glorot and Bengio's, uniform: variance 2 / (fan in + fan out)."""

    def __init__(self, fan_in: Any = None, fan_out: Any = None, name: str | None = None) -> None:
        super().__init__(uniform=True, fan_in=fan_in, fan_out=fan_out, seed=0)


class KaimingNormal(_of_programs.Initializer):
    """He and others': variance 2 / fan in."""

    _uniform = False

    def __init__(self, fan_in: Any = None) -> None:
        self._fan_in = fan_in

    def __call__(self, variable: Any, block: Any) -> Any:
        """Append it."""
        fan_in = _of_programs.fans(variable)[0] if self._fan_in is None else self._fan_in
        return _of_programs.spread(self, block, variable, 2.0 / fan_in, self._uniform, 0)


class KaimingUniform(KaimingNormal):
    """He and others', uniform: variance 2 / fan in."""

    _uniform = True


class Assign(_of_programs.Initializer):
    """A copy of ``value``: an array, a list of numbers or of lists."""

    def __init__(self, value: Any, name: str | None = None) -> None:
        self._value = np.asarray(value)

    def __call__(self, variable: Any, block: Any) -> Any:
        """Append it."""
        shape = tuple(variable.shape)
        if self._value.shape != shape:
            raise ValueError(
                f"an array of shape {list(self._value.shape)} cannot be the first value of "
                f"{variable.name!r}, which has {list(shape)}"
            )
        slot = "fp32_values" if self._value.dtype.kind == "f" else "int64_values"
        return self._append(block, "assign_value", variable, **{slot: self._value.reshape(-1).tolist()})


class Bilinear(_of_programs.Initializer):
    """What a transposed convolution with one square filter a channel needs to interpolate."""

    def __call__(self, variable: Any, block: Any) -> Any:
        """Append it."""
        shape = tuple(variable.shape)
        if len(shape) != 4 or shape[2] != shape[3]:
            raise ValueError(f"Bilinear is for square filters, and {variable.name!r} has {list(shape)}")
        factor = -(-shape[3] // 2)
        middle = (2 * factor - 1 - factor % 2) / (2.0 * factor)
        line = 1 - np.abs(np.arange(shape[3]) / factor - middle)
        weights = np.broadcast_to(line[:, None] * line, shape).astype(np.float32)
        return Assign(weights)(variable, block)
