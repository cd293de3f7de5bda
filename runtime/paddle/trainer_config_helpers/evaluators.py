"""v2's evaluators by v1's names: ``sum_evaluator`` is ``paddle.evaluator.sum``."""

from paddle.trainer_config_helpers._spelling import spelled
from paddle.v2 import evaluator

_OWN = spelled(evaluator, evaluator.__all__, "_evaluator")
globals().update(_OWN)
__all__ = [*_OWN]
