"""What runs along an axis: ``paddle.cumprod``, ``paddle.cummax``, ``paddle.trapezoid`` and their family.

They must never compute: each function appends operators to the default program. Guarantee: without an axis
they run through all elements in their order.
"""

from __future__ import annotations

from typing import Any

from paddle.tensor import math
from paddle.tensor._append import append, append_all, axis_of, floats_alone
from paddle.tensor.manipulation import cast, flatten
from paddle.tensor.manipulation import slice as part
from paddle.tensor.tallies import diff

__all__ = ["cummax", "cummin", "cumprod", "cumulative_trapezoid", "logcumsumexp", "trapezoid"]


def cumprod(x: Any, dim: int | None = None, dtype: Any = None, name: str | None = None) -> Any:
    """Products of all up to each element along ``dim``; of the flat tensor if None."""
    if dtype is not None:
        x = cast(x, dtype)
    if dim is None:
        x, dim = flatten(x), 0
    return append("cumprod", {"X": x}, {"dim": axis_of(x, dim, "cumprod")}, name=name)


def logcumsumexp(x: Any, axis: int | None = None, dtype: Any = None, name: str | None = None) -> Any:
    """Logarithms of the sums of exp of all up to each element along ``axis``; of the flat tensor if None."""
    if dtype is not None:
        x = cast(x, dtype)
    told = {"axis": -1, "flatten": True} if axis is None else {"axis": axis_of(x, axis, "logcumsumexp")}
    return append("logcumsumexp", {"X": x}, told, name=name)


def cummax(x: Any, axis: int | None = None, dtype: Any = "int64", name: str | None = None) -> tuple[Any, Any]:
    """The largest of all up to each element along ``axis``, and where it is: of equal ones the last."""
    return _extreme("cummax", x, axis, dtype, name)


def cummin(x: Any, axis: int | None = None, dtype: Any = "int64", name: str | None = None) -> tuple[Any, Any]:
    """The smallest of all up to each element along ``axis``, and where it is: of equal ones the last."""
    return _extreme("cummin", x, axis, dtype, name)


def _extreme(type: str, x: Any, axis: int | None, dtype: Any, name: str | None) -> tuple[Any, Any]:
    from paddle._program.description.dtypes import dtype_of

    if axis is None:
        x, axis = flatten(x), 0
    told = {"axis": axis_of(x, axis, type), "dtype": int(dtype_of(dtype))}
    values, places = append_all(
        type, {"x": x}, told, outputs=("out", "indices"), dtypes={"indices": dtype}, name=name
    )
    return values, places


def trapezoid(y: Any, x: Any = None, dx: float | None = None, axis: int = -1, name: str | None = None) -> Any:
    """The area under ``y`` along ``axis``, straight from each point to the next; points lie at ``x``, or
    ``dx`` apart, 1 if None."""
    floats_alone("trapezoid", y=y, x=x)
    return math.sum(_areas(y, x, dx, axis), axis, name=name)


def cumulative_trapezoid(
    y: Any, x: Any = None, dx: float | None = None, axis: int = -1, name: str | None = None
) -> Any:
    """The areas up to each point but the first; see ``trapezoid``."""
    floats_alone("cumulative_trapezoid", y=y, x=x)
    return math.cumsum(_areas(y, x, dx, axis), axis, name=name)


def _areas(y: Any, x: Any, dx: float | None, axis: int) -> Any:
    if x is not None and dx is not None:
        raise ValueError("points lie at x, or dx apart: one of them is given, not both")
    axis %= len(y.shape)
    ahead, behind = part(y, [axis], [1], [2**31 - 1]), part(y, [axis], [0], [-1])
    if x is None:
        return math.scale(math.add(ahead, behind), (1.0 if dx is None else float(dx)) / 2)
    if len(x.shape) == 1 and axis != len(y.shape) - 1:
        from paddle.tensor.manipulation import unsqueeze

        widths = unsqueeze(diff(x), [*range(1, len(y.shape) - axis)])
    else:
        widths = diff(x, axis=axis if len(x.shape) == len(y.shape) else -1)
    return math.scale(math.multiply(math.add(ahead, behind), widths), 0.5)
