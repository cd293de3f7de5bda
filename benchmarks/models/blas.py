"""Matrix products through numpy's own OpenBLAS that add to what there is: C = alpha A B + beta C."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

_ROW_MAJOR, _AS_IS, _TRANSPOSED = 101, 111, 112


def _routine() -> Callable[..., None]:
    """``cblas_sgemm`` of the library that comes with numpy."""
    folder = Path(np.__file__).parent.parent / "numpy.libs"
    library = ctypes.CDLL(str(next(folder.glob("libscipy_openblas64*"))))
    routine = library.scipy_cblas_sgemm64_
    size, single, pointer = ctypes.c_int64, ctypes.c_float, ctypes.c_void_p
    kinds = [ctypes.c_int] * 3 + [size] * 3 + [single, pointer, size, pointer, size, single, pointer, size]
    routine.argtypes, routine.restype = kinds, None
    return routine


_SGEMM = _routine()


def product(
    a: np.ndarray, b: np.ndarray, out: np.ndarray, alpha: float = 1.0, beta: float = 0.0
) -> Callable[[], None]:
    """A callable that makes ``out`` = alpha a b + beta out; arrays may be transposed views."""
    (a, turn_a), (b, turn_b) = _laid_out(a), _laid_out(b)
    rows, columns = out.shape
    between = a.shape[0] if turn_a == _TRANSPOSED else a.shape[1]
    left, right, target = (_where(each) for each in (a, b, out))
    sizes = rows, columns, between, alpha, *left, *right, beta, *target
    return partial(_SGEMM, _ROW_MAJOR, turn_a, turn_b, *sizes)


def _laid_out(array: np.ndarray) -> tuple[np.ndarray, int]:
    return (array, _AS_IS) if array.strides[1] == array.itemsize else (array.T, _TRANSPOSED)


def _where(array: np.ndarray) -> tuple[int, int]:
    return array.ctypes.data, array.strides[0] // array.itemsize
