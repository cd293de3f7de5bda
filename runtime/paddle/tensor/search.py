"""Where something is: ``paddle.argmax`` and its family.

It must never compute: each function appends operators to the default program. Guarantee: indices are int64
unless another dtype is asked for.
"""

from __future__ import annotations

from typing import Any

from paddle.tensor._append import append, append_all

__all__ = [
    *("argmax", "argmin", "argsort", "index_sample", "index_select", "masked_select", "nonzero", "sort"),
    *("topk", "where"),
]


def _extreme(type: str, x: Any, axis: int | None, keepdim: bool, dtype: Any, name: str | None) -> Any:
    from paddle._program.description.dtypes import dtype_of as of
    from paddle.tensor.manipulation import reshape

    kind = of(dtype)
    attrs = {"axis": 0 if axis is None else axis, "flatten": axis is None, "keepdims": keepdim}
    found = append(type, {"X": x}, {**attrs, "dtype": kind}, dtype=kind, stop_gradient=True, name=name)
    if axis is None and keepdim and len(x.shape) > 1:
        return reshape(found, [1] * len(x.shape))
    return found


def argmax(
    x: Any, axis: int | None = None, keepdim: bool = False, dtype: Any = "int64", name: str | None = None
) -> Any:
    """Where the largest is along ``axis``, in the flat tensor if None."""
    return _extreme("arg_max", x, axis, keepdim, dtype, name)


def argmin(
    x: Any, axis: int | None = None, keepdim: bool = False, dtype: Any = "int64", name: str | None = None
) -> Any:
    """Where the smallest is along ``axis``, in the flat tensor if None."""
    return _extreme("arg_min", x, axis, keepdim, dtype, name)


def _sorted(x: Any, axis: int, descending: bool, name: str | None) -> list[Any]:
    attrs = {"axis": axis, "descending": descending}
    kinds = {"Indices": "int64"}
    return append_all("argsort", {"X": x}, attrs, outputs=("Out", "Indices"), dtypes=kinds, name=name)


def argsort(x: Any, axis: int = -1, descending: bool = False, name: str | None = None) -> Any:
    """The indices in the order in which ``x`` is sorted."""
    return _sorted(x, axis, descending, name)[1]


def sort(x: Any, axis: int = -1, descending: bool = False, name: str | None = None) -> Any:
    """``x`` sorted along ``axis``."""
    return _sorted(x, axis, descending, name)[0]


def topk(
    x: Any,
    k: int,
    axis: int | None = None,
    largest: bool = True,
    sorted: bool = True,
    name: str | None = None,
) -> tuple[Any, Any]:
    """The ``k`` largest (smallest) along ``axis``, the last if None, and their indices."""
    attrs = {"k": int(k), "axis": -1 if axis is None else axis, "largest": largest, "sorted": sorted}
    values, indices = append_all(
        "top_k_v2", {"X": x}, attrs, outputs=("Out", "Indices"), dtypes={"Indices": "int64"}, name=name
    )
    return values, indices


def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Any:
    """x where ``condition`` holds and y elsewhere, tensors or numbers (of these int64 or float64 is made);
    without both as ``nonzero(condition, as_tuple=True)``."""
    if x is None and y is None:
        return nonzero(condition, as_tuple=True)
    if x is None or y is None:
        raise ValueError("where takes both x and y, or neither")
    x, y = _tensor(x), _tensor(y)
    return append("where", {"Condition": condition, "X": x, "Y": y}, dtype=x.dtype, name=name)


def _tensor(given: Any) -> Any:
    """A tensor as it is; a number as a line of one, of the dtype that Python's own have."""
    if not isinstance(given, (bool, int, float)):
        return given
    from paddle.tensor.creation import full

    return full([1], given, "float64" if isinstance(given, float) else "int64")


def nonzero(x: Any, as_tuple: bool = False) -> Any:
    """The indices of what is not zero, (n, axes); as a tuple, one (n, 1) for each axis."""
    found = append("where_index", {"Condition": x}, dtype="int64", stop_gradient=True)
    if not as_tuple:
        return found
    from paddle.tensor.manipulation import slice

    return tuple(slice(found, [1], [axis], [axis + 1]) for axis in range(len(x.shape)))


def index_select(x: Any, index: Any, axis: int = 0, name: str | None = None) -> Any:
    """What ``index`` names along ``axis``."""
    from paddle.tensor.manipulation import gather

    return gather(x, index, axis, name)


def index_sample(x: Any, index: Any) -> Any:
    """Row i is row i of ``x`` at the places that row i of ``index`` names."""
    return append("index_sample", {"X": x, "Index": index})


def masked_select(x: Any, mask: Any, name: str | None = None) -> Any:
    """The elements where ``mask`` holds, one after another."""
    return append("masked_select", {"X": x, "Mask": mask}, outputs=("Y",), name=name)
