"""Regularizers: what is added to gradients so that parameters stay small."""

from paddle._program.writing.regularizer import (
    L1Decay,
    L1DecayRegularizer,
    L2Decay,
    L2DecayRegularizer,
    WeightDecayRegularizer,
    append_regularization_ops,
)
from paddle.fluid._listed import lacking

__all__ = [
    "L1Decay",
    "L1DecayRegularizer",
    "L2Decay",
    "L2DecayRegularizer",
    "WeightDecayRegularizer",
    "append_regularization_ops",
]

__getattr__ = lacking(__name__)
