"""v2's functions of layers by v1's place for them: ``layer_math.exp`` is ``paddle.op.exp``.

Guarantee: operators between layers are v2's own; ``add``, ``sub``, ``rsub`` and ``mul`` are the same as
functions.
"""

from __future__ import annotations

from typing import Any

from paddle.v2.config_base import Layer
from paddle.v2.op import abs, add, exp, log, reciprocal, relu, sigmoid, sqrt, square, tanh
from paddle.v2.op import multiply as mul

__all__ = ["abs", "add", "exp", "log", "mul", "reciprocal", "relu", "rsub", "sigmoid", "sqrt", "square"]
__all__ += ["sub", "tanh"]


def sub(layeroutput: Layer, other: Any) -> Layer:
    """A layer less a number, or less a layer of its size or of size 1."""
    return layeroutput - other


def rsub(layeroutput: Layer, other: Any) -> Layer:
    """A number or another layer, less a layer."""
    return other - layeroutput
