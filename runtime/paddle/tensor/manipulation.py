"""Tensors in other shapes, orders and pieces: ``paddle.reshape`` and its family.

It must never compute: each function appends an operator to the default program. Guarantee: the first axis may
be of any size (-1 in a declaration) wherever the result does not depend on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paddle._program.description.dtypes import dtype_of
from paddle._program.description.variable import Variable
from paddle.tensor._append import append, append_all, append_many, axes_of, sizes_of

__all__ = [
    *("broadcast_to", "cast", "chunk", "concat", "crop", "expand", "expand_as", "flatten", "flip", "gather"),
    *(
        "gather_nd",
        "reshape",
        "reverse",
        "roll",
        "scatter",
        "scatter_nd",
        "scatter_nd_add",
        "slice",
        "split",
        "squeeze",
        "stack",
    ),
    *("strided_slice", "t", "tile", "transpose", "unbind", "unique", "unsqueeze", "unstack", "shard_index"),
]


def cast(x: Any, dtype: Any) -> Any:
    """``x`` in another dtype."""
    from paddle._program.description.dtypes import dtype_of as of

    kind = of(dtype)
    return append("cast", {"X": x}, {"in_dtype": x.dtype, "out_dtype": kind}, dtype=kind)


def concat(x: Sequence[Any], axis: Any = 0, name: str | None = None) -> Any:
    """Several tensors in one, one after another along ``axis``."""
    inputs, attrs = _along(axis)
    return append("concat", {"X": list(x), **inputs}, attrs, name=name)


def _along(axis: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """An axis as an operator takes it: a slot for one that is computed, and the attribute."""
    return ({"AxisTensor": axis}, {"axis": 0}) if isinstance(axis, Variable) else ({}, {"axis": int(axis)})


def reshape(x: Any, shape: Any, name: str | None = None) -> Any:
    """``x`` in another shape: -1 takes what is left, 0 is the size of x on that axis."""
    if not isinstance(shape, (list, tuple)):
        return append(
            "reshape2", {"X": x, "Shape": shape}, {"shape": []}, outputs=("Out", "XShape"), name=name
        )
    sizes, variables = sizes_of(shape)
    inputs = {"X": x, "ShapeTensor": list(shape)} if variables else {"X": x}
    if variables:
        inputs["ShapeTensor"] = _all_variables(shape)
    return append("reshape2", inputs, {"shape": sizes}, outputs=("Out", "XShape"), name=name)


def _all_variables(shape: Sequence[Any]) -> list[Any]:
    from paddle.tensor.creation import full

    return [size if isinstance(size, Variable) else full([1], int(size), "int32") for size in shape]


def _told(given: Any, *, whole: str, each: str) -> tuple[dict[str, Any], list[int]]:
    """Sizes or places, numbers or computed: what goes into an operator's slots, and its attribute.

    ``whole``: the slot of a variable that says all; ``each``: that of one variable for each.
    """
    if isinstance(given, Variable):
        return {whole: given}, []
    sizes, variables = sizes_of(given)
    return ({each: _all_variables(given)} if variables else {}), sizes


def squeeze(x: Any, axis: Any = None, name: str | None = None) -> Any:
    """``x`` without its axes of size 1, or without those of ``axis`` that are."""
    axes = [] if axis is None else axes_of(axis)
    return append("squeeze2", {"X": x}, {"axes": axes}, outputs=("Out", "XShape"), name=name)


def unsqueeze(x: Any, axis: Any, name: str | None = None) -> Any:
    """``x`` with axes of size 1 at ``axis``."""
    return append("unsqueeze2", {"X": x}, {"axes": axes_of(axis)}, outputs=("Out", "XShape"), name=name)


def flatten(x: Any, start_axis: int = 0, stop_axis: int = -1, name: str | None = None) -> Any:
    """``x`` with the axes from ``start_axis`` to ``stop_axis`` as one."""
    attrs = {"start_axis": start_axis, "stop_axis": stop_axis}
    return append("flatten_contiguous_range", {"X": x}, attrs, outputs=("Out", "XShape"), name=name)


def transpose(x: Any, perm: Sequence[int], name: str | None = None) -> Any:
    """Axis i of the result is axis perm[i] of ``x``."""
    attrs = {"axis": list(perm)}
    return append("transpose2", {"X": x}, attrs, outputs=("Out", "XShape"), name=name)


def t(input: Any, name: str | None = None) -> Any:
    """A matrix transposed; what has fewer axes as it is."""
    return transpose(input, [1, 0], name) if len(input.shape) == 2 else input


def stack(x: Sequence[Any], axis: int = 0, name: str | None = None) -> Any:
    """Several tensors of one shape along a new axis."""
    tensors = list(x) if isinstance(x, (list, tuple)) else [x]
    return append("stack", {"X": tensors}, {"axis": axis}, outputs=("Y",), name=name)


def unstack(x: Any, axis: int = 0, num: int | None = None) -> list[Any]:
    """The tensors along ``axis``, without it."""
    count = x.shape[axis] if num is None else num
    return append_many("unstack", {"X": x}, {"axis": axis, "num": count}, count=count, slot="Y")


def unbind(input: Any, axis: int = 0) -> list[Any]:
    """The tensors along ``axis``, without it."""
    return unstack(input, axis)


def split(x: Any, num_or_sections: Any, axis: Any = 0, name: str | None = None) -> list[Any]:
    """``x`` in so many equal parts, or in parts of these sizes (one may be -1), along ``axis``."""
    inputs, attrs = _along(axis)
    if isinstance(num_or_sections, int):
        told = {"num": num_or_sections, "sections": [], **attrs}
        return append_many("split", {"X": x, **inputs}, told, count=num_or_sections)
    sections, variables = sizes_of(num_or_sections)
    if variables:
        inputs["SectionsTensorList"] = _all_variables(num_or_sections)
    told = {"num": 0, "sections": sections, **attrs}
    return append_many("split", {"X": x, **inputs}, told, count=len(sections))


def chunk(x: Any, chunks: int, axis: Any = 0, name: str | None = None) -> list[Any]:
    """``x`` in so many equal parts along ``axis``."""
    return split(x, chunks, axis, name)


def slice(input: Any, axes: Sequence[int], starts: Any, ends: Any) -> Any:
    """From ``starts`` up to ``ends`` along each of ``axes``; below 0 counts from the end."""
    first, begins = _told(starts, whole="StartsTensor", each="StartsTensorList")
    last, stops = _told(ends, whole="EndsTensor", each="EndsTensorList")
    attrs = {"axes": list(axes), "starts": begins, "ends": stops}
    return append("slice", {"Input": input, **first, **last}, attrs)


def strided_slice(
    x: Any, axes: Sequence[int], starts: Any, ends: Any, strides: Any, name: str | None = None
) -> Any:
    """As ``slice``, in steps of ``strides``."""
    first, begins = _told(starts, whole="StartsTensor", each="StartsTensorList")
    last, stops = _told(ends, whole="EndsTensor", each="EndsTensorList")
    apart, steps = _told(strides, whole="StridesTensor", each="StridesTensorList")
    attrs = {"axes": list(axes), "starts": begins, "ends": stops, "strides": steps}
    return append("strided_slice", {"Input": x, **first, **last, **apart}, attrs, name=name)


def gather(x: Any, index: Any, axis: Any = None, name: str | None = None) -> Any:
    """The rows of ``x`` that ``index`` names, or what lies along another axis."""
    return append("gather", {"X": x, "Index": index}, {"axis": int(axis or 0), "overwrite": False}, name=name)


def gather_nd(x: Any, index: Any, name: str | None = None) -> Any:
    """What each row of ``index`` names in ``x``."""
    return append("gather_nd", {"X": x, "Index": index}, name=name)


def scatter(x: Any, index: Any, updates: Any, overwrite: bool = True, name: str | None = None) -> Any:
    """``x`` with the rows that ``index`` names replaced by ``updates``, or by their sums."""
    inputs = {"X": x, "Ids": index, "Updates": updates}
    return append("scatter", inputs, {"overwrite": overwrite}, name=name)


def scatter_nd_add(x: Any, index: Any, updates: Any, name: str | None = None) -> Any:
    """``x`` and what ``updates`` adds where each row of ``index`` says."""
    return append("scatter_nd_add", {"X": x, "Index": index, "Updates": updates}, name=name)


def scatter_nd(index: Any, updates: Any, shape: Any, name: str | None = None) -> Any:
    """Zeros of ``shape``, and what ``updates`` adds where each row of ``index`` says."""
    from paddle.tensor.creation import zeros

    return scatter_nd_add(zeros(shape, updates.dtype), index, updates, name)


def tile(x: Any, repeat_times: Any, name: str | None = None) -> Any:
    """``x`` repeated along each axis, as often as numbers or variables say."""
    told, times = _told(repeat_times, whole="RepeatTimes", each="repeat_times_tensor")
    return append("tile", {"X": x, **told}, {"repeat_times": times}, name=name)


def expand(x: Any, shape: Any, name: str | None = None) -> Any:
    """``x`` with axes of size 1, and new ones in front, repeated to ``shape``; -1 leaves an axis as it is."""
    told, sizes = _told(shape, whole="Shape", each="expand_shapes_tensor")
    return append("expand_v2", {"X": x, **told}, {"shape": sizes}, name=name)


broadcast_to = expand


def expand_as(x: Any, y: Any, name: str | None = None) -> Any:
    """``x`` expanded to the shape of ``y``."""
    attrs = {"target_shape": list(y.shape)}
    return append("expand_as_v2", {"X": x, "Y": y}, attrs, name=name)


def flip(x: Any, axis: Any, name: str | None = None) -> Any:
    """``x`` the other way round along ``axis``."""
    return append("flip", {"X": x}, {"axis": axes_of(axis)}, name=name)


reverse = flip


def roll(x: Any, shifts: Any, axis: Any = None, name: str | None = None) -> Any:
    """``x`` rolled along ``axis``: what leaves at one end comes in at the other."""
    attrs = {"axis": [] if axis is None else axes_of(axis), "shifts": axes_of(shifts)}
    return append("roll", {"X": x}, attrs, name=name)


def crop(x: Any, shape: Any = None, offsets: Any = None, name: str | None = None) -> Any:
    """The block of ``shape`` that begins at ``offsets``; -1 takes what is left."""
    axes = list(range(len(x.shape)))
    begin = [0 for _ in axes] if offsets is None else offsets
    sizes = list(x.shape) if shape is None else shape
    if isinstance(begin, Variable) or isinstance(sizes, Variable):
        begin, sizes = (_each(given) for given in (begin, sizes))
    ends = [_end(first, n) for first, n in zip(begin, sizes, strict=True)]
    return slice(x, axes, begin, ends)


def _each(given: Any) -> list[Any]:
    """Numbers that are told, or computed, one by one."""
    return unbind(given) if isinstance(given, Variable) else list(given)


def _end(first: Any, size: Any) -> Any:
    """Where a block of that size ends; -1 takes what is left."""
    if not isinstance(size, Variable) and size == -1:
        return 2**31 - 1
    if isinstance(first, Variable) or isinstance(size, Variable):
        return size + first if isinstance(size, Variable) else first + size
    return first + size


def unique(
    x: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: Any = None,
    dtype: Any = "int64",
    name: str | None = None,
) -> Any:
    """The values of ``x``, each once, ascending."""
    attrs = {
        "return_index": return_index,
        "return_inverse": return_inverse,
        "return_counts": return_counts,
        "axis": [] if axis is None else [axis],
        "is_sorted": True,
        "dtype": int(dtype_of(dtype)),
    }
    slots = ("Out", "Indices", "Index", "Counts")
    kinds = dict.fromkeys(slots[1:], dtype)
    found = append_all("unique", {"X": x}, attrs, outputs=slots, dtypes=kinds, stop_gradient=True, name=name)
    wanted = (True, return_index, return_inverse, return_counts)
    chosen = [variable for variable, want in zip(found, wanted, strict=True) if want]
    return chosen[0] if len(chosen) == 1 else tuple(chosen)


def shard_index(input: Any, index_num: int, nshards: int, shard_id: int, ignore_value: int = -1) -> Any:
    """Ids as a shard counts them, ``ignore_value`` for those of others."""
    attrs = {"index_num": index_num, "nshards": nshards, "shard_id": shard_id, "ignore_value": ignore_value}
    return append("shard_index", {"X": input}, attrs, stop_gradient=True)
