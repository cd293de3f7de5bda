"""Fluid 0.13's name of the schedules of ``fluid.layers``.

It must never hold code of its own. Guarantee: each name is the very function of ``fluid.layers``.
"""

from paddle.fluid.layers.learning_rate_scheduler import (
    cosine_decay,
    exponential_decay,
    inverse_time_decay,
    linear_lr_warmup,
    natural_exp_decay,
    noam_decay,
    piecewise_decay,
    polynomial_decay,
)

__all__ = [
    "cosine_decay",
    "exponential_decay",
    "inverse_time_decay",
    "linear_lr_warmup",
    "natural_exp_decay",
    "noam_decay",
    "piecewise_decay",
    "polynomial_decay",
]
