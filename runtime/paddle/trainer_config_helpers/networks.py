"""v2's networks, whose names are v1's; what a file said of its own inputs and outputs is absent."""

from paddle._absent import absent
from paddle.v2 import networks as _networks
from paddle.v2.networks import *  # noqa: F403

__all__ = ["inputs", "outputs", *_networks.__all__]

_PREFIX = "paddle.trainer_config_helpers."
outputs = absent(
    _PREFIX + "outputs", "the cost is given to paddle.trainer.SGD(cost=...), others as extra_layers"
)
inputs = absent(_PREFIX + "inputs", "rows are fed in the order of data layers, or by feeding={name: place}")
