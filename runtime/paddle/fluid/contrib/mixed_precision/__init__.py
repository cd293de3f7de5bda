"""Numbers of 16 bits, as fluid says them: ``fluid.contrib.mixed_precision``.

It must never compute. Guarantee: a decorated optimizer trains in float32, as the bare one does.
"""

from paddle.fluid._listed import lacking
from paddle.fluid.contrib.mixed_precision.decorator import decorate
from paddle.fluid.contrib.mixed_precision.fp16_lists import AutoMixedPrecisionLists

__all__ = ["AutoMixedPrecisionLists", "decorate"]

__getattr__ = lacking(__name__)
