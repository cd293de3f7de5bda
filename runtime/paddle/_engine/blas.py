"""BLAS: the library that numpy multiplies matrices with, called for the product that numpy has no words for.

numpy can only write a product over its target; BLAS can add it to what is there. It must never know what the
matrices mean, and never loads a library of its own: two of them would each have their threads.

Guarantee: what is found is tried once on numbers whose product is known; where nothing is found, or it
answers wrongly, numpy computes the product apart and adds it.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from typing import Any

import numpy as np

Step = Callable[[float], object]
"""Called with the number that the product is multiplied by."""

_NAMES = ("scipy_cblas_sgemm64_", "cblas_sgemm64_", "scipy_cblas_sgemm", "cblas_sgemm")
_THREADS = tuple(
    f"{name}_get_num_threads{end}" for name in ("scipy_openblas", "openblas") for end in ("64_", "")
)
_ROW_MAJOR, _AS_IT_IS, _TRANSPOSED = 101, 111, 112
_COUNT, _NUMBER, _ARRAY = ctypes.c_int64, ctypes.c_float, ctypes.c_void_p


def add_product(x: np.ndarray, y: np.ndarray, out: np.ndarray) -> Step:
    """What does ``out += factor * (x.T @ y)``, on these arrays, whenever it is called with a factor.

    All float32: x (n, height), y (n, width), out (height, width), C-contiguous but for x, which may be
    some columns of a larger matrix.
    """
    product = sgemm()
    return apart(x, y, out) if product is None else _Product(product, x, y, out)


def apart(x: np.ndarray, y: np.ndarray, out: np.ndarray) -> Step:
    """The same by numpy alone."""
    change = np.empty_like(out)

    def step(factor: float) -> None:
        np.matmul(x.T, y, change)
        np.multiply(change, np.float32(factor), change)
        np.add(out, change, out)

    return step


def by_transpose(grad: np.ndarray, y: np.ndarray, out: np.ndarray) -> Iterator[Callable[[], object]]:
    """out = grad @ y.T.

    For a small batch before a wide layer, such as a softmax over a dictionary, BLAS takes up to 1.4 times as
    long for it as for y @ grad.T and a copy.
    """
    batch, (height, width) = len(grad), y.shape
    if 2 * batch > height or 2 * height > width:
        yield partial(np.dot, grad, y.T, out)
        return
    transposed = np.empty((height, batch), out.dtype)
    yield partial(np.dot, y, grad.T, transposed)
    yield partial(np.copyto, out, transposed.T)


class _Product:
    """One call of the library: the arguments are made once, but for the factor."""

    def __init__(self, product: Any, x: np.ndarray, y: np.ndarray, out: np.ndarray) -> None:
        self._held = x, y, out
        self._factor = _NUMBER(0.0)
        (depth, height), width = x.shape, y.shape[1]
        stride = max(x.strides[0] // x.itemsize, height, 1)
        self._call = product
        self._arguments = (
            *(ctypes.c_int(word) for word in (_ROW_MAJOR, _TRANSPOSED, _AS_IT_IS)),
            *(_COUNT(size) for size in (height, width, depth)),
            self._factor,
            *(_ARRAY(x.ctypes.data), _COUNT(stride), _ARRAY(y.ctypes.data), _COUNT(width)),
            _NUMBER(1.0),
            *(_ARRAY(out.ctypes.data), _COUNT(width)),
        )

    def __call__(self, factor: float) -> None:
        self._factor.value = factor
        self._call(*self._arguments)


@cache
def sgemm() -> Any:
    """The library's product of float32 matrices, or None."""
    return next(filter(_answers, _functions(_NAMES)), None)


def threads() -> int | None:
    """How many threads OpenBLAS multiplies with, in this process; None where it is another library."""
    function = _counter()
    return None if function is None else int(function())


@cache
def _counter() -> Any:
    return next(_functions(_THREADS), None)


def _functions(names: Iterable[str]) -> Iterator[Any]:
    """Those of the library that have such a name."""
    try:
        library = ctypes.CDLL(
            _extension().__file__
        )  # a symbol is looked for in what this was linked with, too
    except OSError:
        return
    for name in names:
        if (function := getattr(library, name, None)) is not None:
            yield function


def _extension() -> Any:
    """The module of numpy that is linked with its BLAS."""
    core: Any = getattr(np, "_core", None) or np.core
    return core._multiarray_umath


def _answers(function: Any) -> bool:
    # Sizes are handed over with 64 bits: a library that takes 32 finds them where it looks, in the low half.
    function.argtypes = [
        *[ctypes.c_int] * 3,
        *[_COUNT] * 3,
        _NUMBER,
        *[_ARRAY, _COUNT] * 2,
        _NUMBER,
        _ARRAY,
        _COUNT,
    ]
    function.restype = None
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    y, out = x[:, :2].copy() - 1, np.ones((3, 2), np.float32)
    _Product(function, x, y, out)(-2.0)
    return bool(np.array_equal(out, 1 - 2 * (x.T @ y)))
