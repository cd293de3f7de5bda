"""Optimizers: what moves parameters against their gradients."""

from paddle._program.moving.averaging import (
    ExponentialMovingAverage,
    LookaheadOptimizer,
    ModelAverage,
    RecomputeOptimizer,
)
from paddle._program.writing.optimizer import Optimizer
from paddle._program.writing.optimizers import (
    AdadeltaOptimizer,
    AdagradOptimizer,
    AdamaxOptimizer,
    AdamOptimizer,
    DecayedAdagradOptimizer,
    DpsgdOptimizer,
    FtrlOptimizer,
    LambOptimizer,
    LarsMomentumOptimizer,
    MomentumOptimizer,
    RMSPropOptimizer,
    SGDOptimizer,
)
from paddle.fluid._listed import lacking

SGD, Momentum, LarsMomentum = SGDOptimizer, MomentumOptimizer, LarsMomentumOptimizer
Adagrad, DecayedAdagrad, Adadelta = AdagradOptimizer, DecayedAdagradOptimizer, AdadeltaOptimizer
Adam, Adamax, Lamb = AdamOptimizer, AdamaxOptimizer, LambOptimizer
RMSProp, Ftrl, Dpsgd = RMSPropOptimizer, FtrlOptimizer, DpsgdOptimizer

__all__ = [
    "SGD",
    "Adadelta",
    "AdadeltaOptimizer",
    "Adagrad",
    "AdagradOptimizer",
    "Adam",
    "AdamOptimizer",
    "Adamax",
    "AdamaxOptimizer",
    "DecayedAdagrad",
    "DecayedAdagradOptimizer",
    "Dpsgd",
    "DpsgdOptimizer",
    "ExponentialMovingAverage",
    "Ftrl",
    "FtrlOptimizer",
    "Lamb",
    "LambOptimizer",
    "LarsMomentum",
    "LarsMomentumOptimizer",
    "LookaheadOptimizer",
    "ModelAverage",
    "Momentum",
    "MomentumOptimizer",
    "Optimizer",
    "RMSProp",
    "RMSPropOptimizer",
    "RecomputeOptimizer",
    "SGDOptimizer",
]

__getattr__ = lacking(__name__)
