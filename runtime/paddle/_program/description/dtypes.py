"""What a variable holds, by Paddle's numbers and names, and what of it the engine computes in.

It must never know a variable; which of its two ways a dtype is printed says what is being written. Guarantee:
every way in which programs name a dtype ("float32", numpy's, the number of Paddle's VarType) finds the one
member of ``VarType``.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np

from paddle._program.description.written import now
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
    BF16 = 22

    def __str__(self) -> str:
        """2.x has names of its own for dtypes; in programs of 1.x they have those of the enumeration."""
        is_dtype = self in _NUMPY or self is VarType.BF16
        return f"paddle.{_named(self)}" if is_dtype and now().is_static else f"VarType.{self.name}"

    def __repr__(self) -> str:
        return f"<VarType.{self.name}: {self.value}>" if now().is_static else str(self)


dtype = VarType
"""What ``paddle.dtype`` is."""


def _named(kind: VarType) -> str:
    """What 2.x calls a dtype."""
    return "bfloat16" if kind is VarType.BF16 else _NUMPY[kind].name


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
_FLOATS = frozenset({VarType.BF16, VarType.FP16, VarType.FP32, VarType.FP64})


def dtype_of(given: Any) -> VarType:
    """The VarType that a program means by ``given``."""
    if isinstance(given, VarType):
        return given
    if isinstance(given, int) and not isinstance(given, bool):
        return VarType(given)
    if isinstance(given, str) and given == "bfloat16":
        return VarType.BF16
    try:
        return _BY_NUMPY[np.dtype(given)]
    except (KeyError, TypeError):
        known = ", ".join(str(each) for each in _BY_NUMPY)
        if str(given).rpartition(".")[2] in ("complex64", "complex128"):
            raise BadArgument(
                f"{given}: complex numbers are not in this release. Keep the real and the imaginary part in "
                "variables of their own, or side by side along an axis more"
            ) from None
        raise BadArgument(f"{given!r} is not a dtype; there are {known}") from None


def numpy_dtype(dtype: Any) -> np.dtype[Any]:
    """numpy's dtype of it."""
    kind = dtype_of(dtype)
    if kind is VarType.BF16:
        raise BadArgument(
            "arrays of bfloat16 are not in this release, which computes in float32: cast to float32 what is "
            "fed or fetched, and create parameters of float32"
        )
    if kind not in _NUMPY:
        raise BadArgument(f"{kind} is a kind of variable, and no dtype of elements")
    return _NUMPY[kind]


def is_float(dtype: VarType) -> bool:
    """Whether its elements are floating numbers."""
    return dtype in _FLOATS


def engine_dtype(dtype: VarType) -> str:
    """The dtype in which the engine computes what is declared as ``dtype``."""
    return "float32" if dtype in _FLOATS else "int64"
