"""Regularizers: what is added to gradients so that parameters stay small.

They must never know an optimizer. Guarantee: a parameter's own regularizer goes before the optimizer's.
"""

from __future__ import annotations

from typing import Any


def append_regularization_ops(
    parameters_and_grads: list[tuple[Any, Any]], regularization: Any = None
) -> list[Any]:
    """The pairs, with penalties added to their gradients."""
    found = []
    for parameter, gradient in parameters_and_grads:
        own = parameter.regularizer if parameter.regularizer is not None else regularization
        if gradient is None or own is None:
            found.append((parameter, gradient))
            continue
        found.append((parameter, own._added(parameter, gradient)))
    return found
