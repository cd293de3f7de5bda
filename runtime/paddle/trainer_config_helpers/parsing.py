"""What read configuration files of v1, of which ``parse_network_config`` alone is there, of layers.

Guarantee: each other name says what a program of v2 writes instead.
"""

from __future__ import annotations

from paddle._absent import absent
from paddle.v2.layer import parse_network

__all__ = ["get_config_arg", "parse_network", "parse_network_config", "parse_trainer_config"]

_PREFIX = "paddle.trainer_config_helpers."
_INSTEAD = "a program of v2 makes its network by paddle.layer and trains it by paddle.trainer.SGD"
parse_network_config = absent(_PREFIX + "parse_network_config", "parse_network takes the layers themselves")
parse_trainer_config = absent(_PREFIX + "parse_trainer_config", _INSTEAD)
get_config_arg = absent(_PREFIX + "get_config_arg", "a program has arguments of its own (sys.argv)")
