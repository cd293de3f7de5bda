"""What numbers of a dtype can be: ``paddle.finfo`` and ``paddle.iinfo``.

It must never know a variable. Guarantee: the values are numpy's, as numbers of Python.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from paddle._program.description.dtypes import VarType, dtype_of, is_float, numpy_dtype
from paddle._program.errors import BadArgument

_WHOLE = frozenset({VarType.UINT8, VarType.INT8, VarType.INT16, VarType.INT32, VarType.INT64})


class finfo:  # noqa: N801  Paddle's name
    """Of a dtype of floating point numbers: ``min``, ``max``, ``eps``, ``resolution``, ``tiny`` (which
    is ``smallest_normal``), ``bits`` and the dtype's name."""

    def __init__(self, dtype: Any) -> None:
        kind = _kind(dtype, "finfo")
        if not is_float(kind):
            raise BadArgument(
                f"paddle.finfo is of floating point numbers, and {dtype!r} is not: paddle.iinfo"
            )
        found = np.finfo(numpy_dtype(kind))
        self.min, self.max, self.eps = float(found.min), float(found.max), float(found.eps)
        self.resolution = float(str(found.resolution))
        self.tiny = self.smallest_normal = float(found.tiny)
        self.bits, self.dtype = int(found.bits), numpy_dtype(kind).name

    def __repr__(self) -> str:
        return (
            f"paddle.finfo(min={self.min:g}, max={self.max:g}, eps={self.eps:g}, "
            f"resolution={self.resolution:g}, smallest_normal={self.smallest_normal:g}, tiny={self.tiny:g}, "
            f"bits={self.bits}, dtype={self.dtype})"
        )


class iinfo:  # noqa: N801  Paddle's name
    """Of a dtype of whole numbers: ``min``, ``max``, ``bits`` and the dtype's name."""

    def __init__(self, dtype: Any) -> None:
        kind = _kind(dtype, "iinfo")
        if kind not in _WHOLE:
            raise BadArgument(f"paddle.iinfo is of whole numbers, and {dtype!r} is not: paddle.finfo")
        found = np.iinfo(numpy_dtype(kind))
        self.min, self.max = int(found.min), int(found.max)
        self.bits, self.dtype = int(found.bits), numpy_dtype(kind).name

    def __repr__(self) -> str:
        return f"paddle.iinfo(min={self.min}, max={self.max}, bits={self.bits}, dtype={self.dtype})"


def _kind(dtype: Any, what: str) -> VarType:
    if isinstance(dtype, bool) or dtype is None:
        raise BadArgument(f"paddle.{what} takes a dtype, and not {dtype!r}")
    return dtype_of(dtype)
