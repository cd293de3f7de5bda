"""The limit of a step of dense layers: its products of matrices by numpy, and nothing else of it.

Forward one for each layer, backward two: no table, no costs, no rule. Whoever trains the same layers with the
same library for them takes longer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

_Product = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Left, right, result."""


def products(batch: int, weights: Sequence[np.ndarray]) -> Callable[[], None]:
    """Those of a step. ``weights``: float32 (below, above) of each layer, in the order of the layers."""
    layers = [_of_layer(batch, weight) for weight in weights]
    forward = [layer[0] for layer in layers]
    backward = [product for layer in reversed(layers) for product in layer[1:]]

    def multiply() -> None:
        for left, right, result in (*forward, *backward):
            np.matmul(left, right, out=result)

    return multiply


def _of_layer(batch: int, weight: np.ndarray) -> tuple[_Product, _Product, _Product]:
    """Its own, and those of the gradients of its weight and of what it is given."""
    x, y = (np.ones((batch, size), np.float32) for size in weight.shape)
    return (x, weight, np.empty_like(y)), (x.T, y, np.empty_like(weight)), (y, weight.T, np.empty_like(x))
