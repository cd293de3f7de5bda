"""What a variable holds, by Paddle's numbers and names, and what of it the engine computes in.

It must never know a variable. Guarantee: every way in which programs name a dtype ("float32", numpy's, the
number of Paddle's VarType) finds the one member of ``VarType``.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np

from paddle._program.errors import BadArgument


class VarType(IntEnum):
    """Kinds of variables, and dtypes of their elements."""

    BOOL = 0
    INT16 = 1
    INT32 = 2
    INT64 = 3
    FP16 = 4
    FP32 = 5
    FP64 = 6
    LOD_TENSOR = 7
    SELECTED_ROWS = 8
    FEED_MINIBATCH = 9
    FETCH_LIST = 10
    STEP_SCOPES = 11
    LOD_RANK_TABLE = 12
    LOD_TENSOR_ARRAY = 13
    PLACE_LIST = 14
    READER = 15
    RAW = 17
    TUPLE = 18
    SIZE_T = 19
    UINT8 = 20
    INT8 = 21

    def __str__(self) -> str:
        return f"VarType.{self.name}"

    __repr__ = __str__


_NUMPY = {
    VarType.BOOL: np.dtype(np.bool_),
    VarType.INT16: np.dtype(np.int16),
    VarType.INT32: np.dtype(np.int32),
    VarType.INT64: np.dtype(np.int64),
    VarType.FP16: np.dtype(np.float16),
    VarType.FP32: np.dtype(np.float32),
    VarType.FP64: np.dtype(np.float64),
    VarType.UINT8: np.dtype(np.uint8),
    VarType.INT8: np.dtype(np.int8),
    VarType.SIZE_T: np.dtype(np.uint64),
}
_BY_NUMPY = {dtype: kind for kind, dtype in _NUMPY.items()}
_FLOATS = frozenset({VarType.FP16, VarType.FP32, VarType.FP64})


def dtype_of(given: Any) -> VarType:
    """The VarType that a program means by ``given``."""
    if isinstance(given, VarType):
        return given
    if isinstance(given, int) and not isinstance(given, bool):
        return VarType(given)
    try:
        return _BY_NUMPY[np.dtype(given)]
    except (KeyError, TypeError):
        known = ", ".join(str(each) for each in _BY_NUMPY)
        raise BadArgument(f"{given!r} is no dtype; there are {known}") from None


def numpy_dtype(dtype: Any) -> np.dtype[Any]:
    """numpy's dtype of it."""
    kind = dtype_of(dtype)
    if kind not in _NUMPY:
        raise BadArgument(f"{kind} is a kind of variable, and no dtype of elements")
    return _NUMPY[kind]


def is_float(dtype: VarType) -> bool:
    """Whether its elements are floating numbers."""
    return dtype in _FLOATS


def engine_dtype(dtype: VarType) -> str:
    """The dtype in which the engine computes what is declared as ``dtype``."""
    return "float32" if dtype in _FLOATS else "int64"
