"""The same elements in another shape or order, more of them, or some."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paddle._program.description import unique_name
from paddle._program.description.variable import Variable
from paddle._program.errors import BadArgument
from paddle._program.writing.layer_helper import LayerHelper
from paddle.fluid.layers.appending import appended, several, size_of, sizes_of

__all__ = [
    "crop",
    "crop_tensor",
    "expand",
    "expand_as",
    "flatten",
    "gather",
    "gather_nd",
    "multiplex",
    "one_hot",
    "pad",
    "pad2d",
    "pad_constant_like",
    "reshape",
    "scatter",
    "scatter_nd",
    "scatter_nd_add",
    "shape",
    "slice",
    "split",
    "squeeze",
    "stack",
    "strided_slice",
    "topk",
    "transpose",
    "unsqueeze",
    "unstack",
    "where",
]


def _numbers(name: str, given: Any) -> list[int]:
    """Sizes or places, which must be numbers."""
    if any(isinstance(each, Variable) for each in given):
        raise BadArgument(
            f"{name} are numbers, or one Variable that says all, and no list that holds Variables"
        )
    return [int(each) for each in given]


def _check_count(place: str, given: Any, count: int, said: str) -> None:
    if not isinstance(given, Variable) and len(given) != count:
        raise BadArgument(f"{place} are {count} numbers, {said}, not {list(given)}")


def reshape(
    x: Variable,
    shape: Sequence[int],
    actual_shape: Variable | None = None,
    act: str | None = None,
    inplace: bool = False,
    name: str | None = None,
) -> Variable:
    """The elements in another shape: 0 is the size that x has there, and one -1 what is left.
    ``actual_shape``: what a run says instead of ``shape``."""
    told = shape if actual_shape is None else actual_shape
    helper = LayerHelper("reshape2", name=name, act=act)
    inputs, sizes = sizes_of(told, whole="Shape", each="ShapeTensor", helper=helper)
    sizes = sizes if actual_shape is None else [int(size) for size in shape]
    out = helper.create_variable_for_type_inference(x.dtype)
    helper.append_op("reshape2", {"X": [x], **inputs}, {"Out": [out]}, {"shape": sizes})
    unique_name.generate(f"{helper.name}.tmp")  # which the original gives to the sizes before
    return helper.append_activation(out)


def squeeze(input: Variable, axes: Sequence[int], name: str | None = None) -> Variable:
    """Without those axes, of size 1."""
    return appended("squeeze2", {"X": input}, {"axes": list(axes)}, name=name, layer="squeeze")


def unsqueeze(input: Variable, axes: int | Sequence[int] | Variable, name: str | None = None) -> Variable:
    """With axes of size 1 put in where they will stand."""
    given = [axes] if isinstance(axes, int) else axes
    told, places = sizes_of(given, whole="AxesTensor", each="AxesTensorList")
    return appended("unsqueeze2", {"X": input, **told}, {"axes": places}, name=name)


def flatten(x: Variable, axis: int = 1, name: str | None = None) -> Variable:
    """A matrix: the axes before ``axis`` are its rows."""
    return appended("flatten2", {"X": x}, {"axis": axis}, name=name, layer="flatten")


def transpose(x: Variable, perm: Sequence[int], name: str | None = None) -> Variable:
    """The axes in another order."""
    return appended("transpose2", {"X": x}, {"axis": list(perm)}, name=name, layer="transpose")


def split(
    input: Variable,
    num_or_sections: int | Sequence[int],
    dim: int | Variable = -1,
    name: str | None = None,
) -> list[Variable]:
    """Equal parts along an axis, or parts of the sizes that are told."""
    equal = isinstance(num_or_sections, int)
    count = num_or_sections if equal else len(num_or_sections)
    told, sections = ({}, []) if equal else sizes_of(num_or_sections, whole="", each="SectionsTensorList")
    along, axis = size_of(dim, "AxisTensor")
    helper = LayerHelper("split", name=name)
    outs = [helper.create_variable_for_type_inference(input.dtype) for _ in range(count)]
    attrs = {"num": count if equal else 0, "sections": sections, "axis": axis}
    helper.append_op("split", {"X": [input], **told, **along}, {"Out": outs}, attrs)
    return outs


def stack(x: Variable | Sequence[Variable], axis: int = 0, name: str | None = None) -> Variable:
    """Variables of one shape along a new axis."""
    return appended("stack", {"X": list(x) if isinstance(x, list | tuple) else [x]}, {"axis": axis}, out="Y")


def unstack(x: Variable, axis: int = 0, num: int | None = None) -> list[Variable]:
    """The parts along an axis, without it."""
    count = x.shape[axis] if num is None else num
    if count < 0:
        raise BadArgument(f"unstack: the size of axis {axis} of {x.name!r} is decided by a feed: tell num")
    helper = LayerHelper("unstack")
    outs = [helper.create_variable_for_type_inference(x.dtype) for _ in range(count)]
    helper.append_op("unstack", {"X": [x]}, {"Y": outs}, {"axis": axis, "num": count})
    return outs


def slice(input: Variable, axes: Sequence[int], starts: Sequence[int], ends: Sequence[int]) -> Variable:
    """From ``starts`` to before ``ends`` of some axes; negative ones are counted from the end."""
    for name, given in {"starts": starts, "ends": ends}.items():
        _check_count(f"slice: {name}", given, len(axes), "one for each of axes")
    first, begins = sizes_of(starts, whole="StartsTensor", each="StartsTensorList")
    last, stops = sizes_of(ends, whole="EndsTensor", each="EndsTensorList")
    attrs = {"axes": list(axes), "starts": begins, "ends": stops}
    return appended("slice", {"Input": input, **first, **last}, attrs)


def strided_slice(
    input: Variable,
    axes: Sequence[int],
    starts: Sequence[int],
    ends: Sequence[int],
    strides: Sequence[int],
) -> Variable:
    """As ``slice``, and of that every so many-th."""
    for name, given in {"starts": starts, "ends": ends, "strides": strides}.items():
        _check_count(f"strided_slice: {name}", given, len(axes), "one for each of axes")
    first, begins = sizes_of(starts, whole="StartsTensor", each="StartsTensorList")
    last, stops = sizes_of(ends, whole="EndsTensor", each="EndsTensorList")
    apart, steps = sizes_of(strides, whole="StridesTensor", each="StridesTensorList")
    attrs = {"axes": list(axes), "starts": begins, "ends": stops, "strides": steps}
    return appended("strided_slice", {"Input": input, **first, **last, **apart}, attrs)


def expand(x: Variable, expand_times: Sequence[int], name: str | None = None) -> Variable:
    """Each axis so many times over."""
    helper = LayerHelper("expand", name=name)
    inputs, times = sizes_of(expand_times, whole="ExpandTimes", each="expand_times_tensor", helper=helper)
    return appended("expand", {"X": x, **inputs}, {"expand_times": times}, helper=helper)


def expand_as(x: Variable, target_tensor: Variable, name: str | None = None) -> Variable:
    """Each axis as often as makes it as long as another variable's."""
    return appended("expand_as", {"X": x, "target_tensor": target_tensor}, name=name)


def pad(x: Variable, paddings: Sequence[int], pad_value: float = 0.0, name: str | None = None) -> Variable:
    """With so many elements before and behind, for each axis."""
    _check_count("pad: paddings", paddings, 2 * x.ndim, "two for each axis")
    return appended("pad", {"X": x}, {"paddings": list(paddings), "pad_value": float(pad_value)}, name=name)


def pad2d(
    input: Variable,
    paddings: Sequence[int] | Variable = (0, 0, 0, 0),
    mode: str = "constant",
    pad_value: float = 0.0,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Variable:
    """Images with a margin: top, bottom, left, right."""
    given = paddings if isinstance(paddings, Variable) else _numbers("pad2d: paddings", paddings)
    told, sizes = sizes_of(given, whole="Paddings", each="")
    attrs = {"paddings": sizes, "mode": mode, "pad_value": float(pad_value), "data_format": data_format}
    return appended("pad2d", {"X": input, **told}, attrs, name=name)


def crop(
    x: Variable,
    shape: Variable | Sequence[int | None],
    offsets: Variable | Sequence[int] | None = None,
    name: str | None = None,
) -> Variable:
    """A part of the sizes of ``shape``, numbers or another variable, from ``offsets`` on, 0 if None."""
    inputs: dict[str, Any] = {"X": x}
    sizes: list[int] = []
    if isinstance(shape, Variable):
        inputs["Y"] = shape
    else:
        sizes = [-1 if size is None else int(size) for size in shape]
    begins, places = sizes_of([0] * len(x.shape) if offsets is None else offsets, whole="Offsets", each="")
    return appended("crop", {**inputs, **begins}, {"shape": sizes, "offsets": places}, name=name)


def crop_tensor(
    x: Variable,
    shape: Variable | Sequence[int] | None = None,
    offsets: Variable | Sequence[int] | None = None,
    name: str | None = None,
) -> Variable:
    """As ``crop``; sizes and offsets may be computed, and a size of -1 is all that is left."""
    told, sizes = sizes_of(list(x.shape) if shape is None else shape, whole="Shape", each="ShapeTensor")
    begins, places = sizes_of(
        [0] * len(x.shape) if offsets is None else offsets, whole="Offsets", each="OffsetsTensor"
    )
    attrs = {"shape": sizes, "offsets": places}
    return appended("crop_tensor", {"X": x, **told, **begins}, attrs, name=name)


def pad_constant_like(x: Variable, y: Variable, pad_value: float = 0.0, name: str | None = None) -> Variable:
    """y with elements behind, until it has the sizes of x."""
    return appended("pad_constant_like", {"X": x, "Y": y}, {"pad_value": float(pad_value)}, name=name)


def shape(input: Variable) -> Variable:
    """The sizes of a variable, as one."""
    made = appended("shape", {"Input": input}, dtype="int32")
    made.stop_gradient = True
    return made


def gather(input: Variable, index: Variable, overwrite: bool = True) -> Variable:
    """The rows that ``index`` names."""
    return appended("gather", {"X": input, "Index": index}, {"overwrite": overwrite})


def gather_nd(input: Variable, index: Variable, name: str | None = None) -> Variable:
    """What the rows of ``index`` name, one axis after another."""
    return appended("gather_nd", {"X": input, "Index": index}, name=name)


def scatter(
    input: Variable, index: Variable, updates: Variable, name: str | None = None, overwrite: bool = True
) -> Variable:
    """The input with some rows replaced, or their sums put there."""
    inputs = {"X": input, "Ids": index, "Updates": updates}
    return appended("scatter", inputs, {"overwrite": overwrite}, name=name)


def scatter_nd_add(ref: Variable, index: Variable, updates: Variable, name: str | None = None) -> Variable:
    """``ref`` with updates added in the places that ``index`` names."""
    return appended("scatter_nd_add", {"X": ref, "Index": index, "Updates": updates}, name=name)


def scatter_nd(index: Variable, updates: Variable, shape: Sequence[int], name: str | None = None) -> Variable:
    """Updates in the places that ``index`` names, and zeros elsewhere."""
    from paddle.fluid.layers.tensor import zeros

    return scatter_nd_add(zeros(shape, updates.dtype), index, updates, name)


def one_hot(input: Variable, depth: int | Variable, allow_out_of_range: bool = False) -> Variable:
    """1 in the place that an integer names: the last axis, of size 1, becomes ``depth``."""
    told, size = size_of(depth, "depth_tensor")
    attrs = {"depth": size, "allow_out_of_range": allow_out_of_range}
    made = appended("one_hot", {"X": input, **told}, attrs, dtype="float32")
    made.stop_gradient = True
    return made


def topk(input: Variable, k: int | Variable, name: str | None = None) -> tuple[Variable, Variable]:
    """The ``k`` greatest of each row, greatest first, and where they stand. No gradient goes through."""
    told, count = size_of(k, "K")
    outs = {"Out": None, "Indices": "int64"}
    values, indices = several("top_k", {"X": input, **told}, outs, {"k": count}, name)
    values.stop_gradient = indices.stop_gradient = True
    return values, indices


def multiplex(inputs: Sequence[Variable], index: Variable) -> Variable:
    """Each row of the input that ``index`` names for it."""
    return appended("multiplex", {"X": list(inputs), "Ids": index})


def where(condition: Variable) -> Variable:
    """Where a condition is so: a row of places for each."""
    return appended("where_index", {"Condition": condition}, dtype="int64")
