"""v2's optimizers by v1's names: ``AdamOptimizer`` is ``paddle.optimizer.Adam``."""

from paddle._absent import absent
from paddle.trainer_config_helpers._spelling import spelled
from paddle.v2 import optimizer
from paddle.v2.optimizer import L2Regularization, ModelAverage

_RULES = ("Momentum", "Adamax", "Adam", "AdaGrad", "RMSProp", "DecayedAdaGrad", "AdaDelta")
_OWN = spelled(optimizer, _RULES, "Optimizer")
globals().update(_OWN)
settings = absent(
    "paddle.trainer_config_helpers.settings",
    "give learning_rate and the like to the optimizer, paddle.optimizer.Adam(learning_rate=1e-3), and "
    "that to paddle.trainer.SGD(update_equation=...)",
)
__all__ = ["L2Regularization", "ModelAverage", "settings", *_OWN]
