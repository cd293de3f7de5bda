"""Kinds of numbers, precisions and places, by the numbers that predictors of 1.x and 2.x have for them.

It must never know a model. Guarantee: each is the number that the original prints.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np

from paddle._program.errors import BadArgument


class Kind(IntEnum):
    """A number that reads as its name."""

    def __str__(self) -> str:
        return f"{type(self).__name__}.{self.name}"


class DataType(Kind):
    """What a tensor of a predictor holds."""

    FLOAT32 = 0
    INT64 = 1
    INT32 = 2
    UINT8 = 3
    INT8 = 4
    FLOAT16 = 5
    BOOL = 6
    FLOAT64 = 7


class PlaceType(Kind):
    """Where a tensor lies. Here it is always the CPU."""

    UNK = -1
    CPU = 0
    GPU = 1
    XPU = 2
    CUSTOM = 4


class PrecisionType(Kind):
    """In which numbers a part of a model is to be computed. Here it is always Float32."""

    Float32 = 0
    Int8 = 1
    Half = 2
    Bfloat16 = 3


NUMPY: dict[DataType, np.dtype[Any]] = {
    DataType.FLOAT32: np.dtype(np.float32),
    DataType.INT64: np.dtype(np.int64),
    DataType.INT32: np.dtype(np.int32),
    DataType.UINT8: np.dtype(np.uint8),
    DataType.INT8: np.dtype(np.int8),
    DataType.FLOAT16: np.dtype(np.float16),
    DataType.BOOL: np.dtype(np.bool_),
    DataType.FLOAT64: np.dtype(np.float64),
}
_BY_NUMPY = {dtype: kind for kind, dtype in NUMPY.items()}


def kind_of(dtype: np.dtype) -> DataType:
    """The kind of an array, of int16 that of int32, in which it is held. Raises BadArgument where a predictor
    takes none such."""
    try:
        return _BY_NUMPY[np.dtype(np.int32) if dtype == np.int16 else dtype]
    except KeyError:
        known = ", ".join(each.name for each in NUMPY.values())
        raise BadArgument(f"a predictor takes arrays of {known}, and not of {dtype}") from None


def get_num_bytes_of_data_type(dtype: DataType) -> int:
    """How many bytes one number takes."""
    return NUMPY[DataType(dtype)].itemsize
