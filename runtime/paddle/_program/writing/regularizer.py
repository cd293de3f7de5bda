"""Regularizers: what is added to gradients so that parameters stay small, as operators on them.

They must never know an optimizer. Guarantee: a parameter's own regularizer goes before the optimizer's,
and one of 0 appends nothing.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

from paddle._program.description import unique_name
from paddle._program.description.open_tables import is_open_lookup
from paddle._program.description.operator import level_of_user


class WeightDecayRegularizer:
    """What regularizers derive from: ``__call__`` says the penalty's gradient."""

    def __call__(self, param: Any, grad: Any, block: Any) -> Any:
        """A variable of ``block``, of operators that were appended to it."""
        said = f"{type(self).__name__} says no penalty: define __call__(param, grad, block)"
        raise NotImplementedError(said)

    def _added(self, parameter: Any, gradient: Any) -> tuple[Any, Any]:
        """The parameter, with its gradient, to which the penalty's is added: who fetches it by its name sees
        both, as upstream."""
        block = gradient.block
        penalty = self(parameter, gradient, block)
        block.append_op("sum", inputs={"X": [gradient, penalty]}, outputs={"Out": [gradient]})
        return parameter, gradient


class L2DecayRegularizer(WeightDecayRegularizer):
    """Adds ``regularization_coeff`` times the parameter."""

    _of = "L2Decay"

    def __init__(self, regularization_coeff: float = 0.0) -> None:
        self._regularization_coeff = float(regularization_coeff)

    def __call__(self, param: Any, grad: Any, block: Any) -> Any:
        """See WeightDecayRegularizer."""
        scale = {"scale": self._regularization_coeff}
        return _appended(block, "scale", {"X": [self._direction(block, param)]}, scale, param)

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
    read: dict[str, list[Any]] | None = None
    for parameter, gradient in parameters_and_grads:
        own = parameter.regularizer if parameter.regularizer is not None else regularization
        if gradient is None or own is None or getattr(own, "_regularization_coeff", 1) == 0:
            found.append((parameter, gradient))
            continue
        if read is None:
            read = _lookups(parameter.block)
        is_decayed = _is_decayed(parameter, read.get(parameter.name, []))
        found.append(own._added(parameter, gradient) if is_decayed else (parameter, gradient))
    return found


def _lookups(block: Any) -> dict[str, list[Any]]:
    """The operators of a block by the tables that they look up: gone through once for all parameters."""
    found: dict[str, list[Any]] = {}
    for op in block.ops:
        for name in op.inputs.get("W", ()):
            found.setdefault(name, []).append(op)
    return found


def _is_decayed(parameter: Any, lookups: list[Any]) -> bool:
    """Whether a penalty counts. It is of all rows, as upstream's since 1.3: of a table that is looked up by
    rows, that is news. One without a height has rows that nobody counts, so it has none, as upstream."""
    if any(map(is_open_lookup, lookups)):
        warnings.warn(
            f"table {parameter.name!r} has no height, so it has no decay, as in the original",
            stacklevel=level_of_user(),
        )
        return False
    if any(op.attrs.get("is_sparse") for op in lookups):
        warnings.warn(
            f"the decay of table {parameter.name!r} (looked up at {lookups[0].where}) moves all its rows at "
            "each step, as in the original: its gradients are no longer rows, and with parameter servers it "
            "is sent and kept whole. To have it sparse and without decay, give it "
            "ParamAttr(regularizer=L2Decay(0.0))",
            stacklevel=level_of_user(),
        )
    return True


def _appended(block: Any, type: str, inputs: Mapping[str, Any], attrs: Mapping[str, Any], like: Any) -> Any:
    name = unique_name.generate(f"{like.name}.{type}")
    made = block.create_var(name, dtype=like.dtype, shape=like.shape, stop_gradient=True)
    block.append_op(type, inputs=inputs, outputs={"Out": [made]}, attrs=attrs)
    return made
