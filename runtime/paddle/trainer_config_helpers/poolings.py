"""v2's poolings by v1's names: ``MaxPooling`` is ``paddle.pooling.Max``."""

from paddle.trainer_config_helpers._spelling import spelled
from paddle.v2 import pooling

_OWN = spelled(pooling, [name for name in pooling.__all__ if name != "BasePoolingType"], "Pooling")
globals().update(_OWN)
BasePoolingType = pooling.BasePoolingType
__all__ = ["BasePoolingType", *_OWN]
