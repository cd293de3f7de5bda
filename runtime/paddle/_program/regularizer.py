"""Regularizers: what is added to gradients so that parameters stay small, as operators on them.

They must never know an optimizer. Guarantee: a parameter's own regularizer goes before the optimizer's,
and one of 0 appends nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from paddle._program import unique_name


class L2DecayRegularizer:
    """Adds ``regularization_coeff`` times the parameter."""

    _of = "L2Decay"

    def __init__(self, regularization_coeff: float = 0.0) -> None:
        self._regularization_coeff = float(regularization_coeff)

    def _added(self, parameter: Any, gradient: Any) -> tuple[Any, Any]:
        """The parameter, with its gradient and the penalty's."""
        block = gradient.block
        scale = {"scale": self._regularization_coeff}
        penalty = _appended(block, "scale", {"X": [self._direction(block, parameter)]}, scale, parameter)
        return parameter, _appended(block, "sum", {"X": [gradient, penalty]}, {}, parameter)

    def _direction(self, block: Any, parameter: Any) -> Any:
        return parameter

    def __str__(self) -> str:
        return f"{self._of}, regularization_coeff={self._regularization_coeff:f}"


class L1DecayRegularizer(L2DecayRegularizer):
    """Adds ``regularization_coeff`` times the sign of the parameter."""

    _of = "L1Decay"

    def _direction(self, block: Any, parameter: Any) -> Any:
        return _appended(block, "sign", {"X": [parameter]}, {}, parameter)


L1Decay, L2Decay = L1DecayRegularizer, L2DecayRegularizer


def append_regularization_ops(
    parameters_and_grads: list[tuple[Any, Any]], regularization: Any = None
) -> list[Any]:
    """The pairs, with penalties added to their gradients."""
    found = []
    for parameter, gradient in parameters_and_grads:
        own = parameter.regularizer if parameter.regularizer is not None else regularization
        if gradient is None or own is None or getattr(own, "_regularization_coeff", 1) == 0:
            found.append((parameter, gradient))
            continue
        found.append(own._added(parameter, gradient))
    return found


def _appended(block: Any, type: str, inputs: Mapping[str, Any], attrs: Mapping[str, Any], like: Any) -> Any:
    name = unique_name.generate(f"{like.name}.{type}")
    made = block.create_var(name, dtype=like.dtype, shape=like.shape, stop_gradient=True)
    block.append_op(type, inputs=inputs, outputs={"Out": [made]}, attrs=attrs)
    return made
