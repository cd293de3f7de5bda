"""Pooling types: how the elements of a sequence, or the pixels under a window, become one.

They are names that layers of a later release take. They must never know a layer. Guarantee: ``name`` is the
word of ModelConfig.
"""

from __future__ import annotations

__all__ = [
    "Avg",
    "BasePoolingType",
    "CudnnAvg",
    "CudnnAvgInclPad",
    "CudnnMax",
    "Max",
    "MaxWithMask",
    "SquareRootN",
    "Sum",
]


class BasePoolingType:
    """A pooling type, by name."""

    name = ""


class Max(BasePoolingType):
    """The largest; with ``output_max_index``, its place instead of its value, where sequences are pooled."""

    name = "max"

    def __init__(self, output_max_index: bool | None = None) -> None:
        self.output_max_index = output_max_index


class MaxWithMask(BasePoolingType):
    """The largest, and its place."""

    name = "max-pool-with-mask"


class CudnnMax(BasePoolingType):
    """The largest."""

    name = "cudnn-max-pool"


class CudnnAvg(BasePoolingType):
    """The mean."""

    name = "cudnn-avg-pool"


class CudnnAvgInclPad(BasePoolingType):
    """The mean, padding included."""

    name = "cudnn-avg-incl-pad-pool"


class Avg(BasePoolingType):
    """The mean; ``strategy`` may make it the sum, or the sum over the square root of the number."""

    name = "average"
    STRATEGY_AVG, STRATEGY_SUM, STRATEGY_SQROOTN = "average", "sum", "squarerootn"

    def __init__(self, strategy: str = STRATEGY_AVG) -> None:
        self.strategy = strategy


class Sum(Avg):
    """The sum."""

    def __init__(self) -> None:
        super().__init__("sum")


class SquareRootN(Avg):
    """The sum over the square root of the number."""

    def __init__(self) -> None:
        super().__init__("squarerootn")
