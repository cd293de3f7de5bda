"""v2's activations by v1's names: ``TanhActivation`` is ``paddle.activation.Tanh``."""

from paddle.trainer_config_helpers._spelling import spelled
from paddle.v2 import activation

_OWN = spelled(activation, [name for name in activation.__all__ if name != "Base"], "Activation")
globals().update(_OWN)
BaseActivation = activation.BaseActivation
__all__ = ["BaseActivation", *_OWN]
