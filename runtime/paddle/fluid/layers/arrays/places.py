"""Layers that pick elements by their place, move them, or say where they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from paddle._program.description import unique_name
from paddle._program.description.variable import Variable
from paddle._program.errors import BadArgument
from paddle._program.writing.layer_helper import LayerHelper
from paddle.fluid.layers.appending import appended
from paddle.fluid.layers.arrays.products import named
from paddle.fluid.layers.shaping import reshape, slice, where
from paddle.fluid.layers.windows import Sides

__all__ = [
    "add_position_encoding",
    "allclose",
    "elementwise_equal",
    "flip",
    "index_sample",
    "index_select",
    "meshgrid",
    "nonzero",
    "random_crop",
    "roll",
    "similarity_focus",
    "unfold",
]


def add_position_encoding(input: Variable, alpha: float, beta: float, name: str | None = None) -> Variable:
    """Words, (n, length, width) or in sequences, times ``alpha``, and ``beta`` times waves that say where in
    a sentence each stands: sines in the first half of its numbers, cosines in the second."""
    attrs = {"alpha": alpha, "beta": beta}
    return appended("add_position_encoding", {"X": input}, attrs, name=name)


def allclose(
    input: Variable,
    other: Variable,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    equal_nan: bool = False,
    name: str | None = None,
) -> Variable:
    """Whether all elements are apart by ``atol`` and a share ``rtol`` of the other's size at the most;
    ``equal_nan``: whether two that are no numbers are alike."""
    attrs = {"rtol": rtol, "atol": atol, "equal_nan": equal_nan}
    return appended("allclose", {"Input": input, "Other": other}, attrs, dtype="bool", name=name)


def elementwise_equal(x: Variable, y: Variable, name: str | None = None) -> Variable:
    """Which elements are alike."""
    helper = LayerHelper("elementwise_equal", name=name)
    out = helper.create_variable_for_type_inference("bool", stop_gradient=True)
    helper.append_op("equal", {"X": [x], "Y": [y]}, {"Out": [out]}, {"force_cpu": False})
    return out


def flip(input: Variable, dims: Sequence[int], name: str | None = None) -> Variable:
    """The elements from the last to the first, along axes."""
    if not dims:
        raise BadArgument("flip: dims holds one axis or more")
    helper = LayerHelper("flip", name=name)
    out = named(helper, input.dtype, name)
    helper.append_op("flip", {"X": input}, {"Out": [out]}, {"dims": list(dims)})
    return out


def index_sample(x: Variable, index: Variable) -> Variable:
    """Of each row the elements at the places of its row of ``index``."""
    return appended("index_sample", {"X": x, "Index": index})


def index_select(input: Variable, index: Variable, dim: int = 0) -> Variable:
    """The slices of an axis at those places."""
    if input.has_shape and not -input.ndim <= dim < input.ndim:
        raise BadArgument(f"index_select: dim is one of {input.ndim} axes, not {dim}")
    return appended("index_select", {"X": input, "Index": index}, {"dim": dim})


def meshgrid(input: list[Variable], name: str | None = None) -> list[Variable]:
    """Of vectors, a list, one array each that goes along its own axis and is repeated along the others."""
    if not isinstance(input, list) or not all(isinstance(each, Variable) for each in input):
        raise BadArgument(f"meshgrid: input is a list of Variables, not {input!r:.60}")
    helper = LayerHelper("meshgrid", name=name)
    made = [helper.create_variable_for_type_inference(each.dtype) for each in input]
    helper.append_op("meshgrid", {"X": input}, {"Out": made})
    return made


def nonzero(input: Variable, as_tuple: bool = False) -> Variable | tuple[Variable, ...]:
    """Where what is not 0 stands, a row of places each; ``as_tuple``: as one column for each axis."""
    places = where(input)
    if not as_tuple:
        return places
    if input.ndim == 1:
        return (places,)
    return tuple(slice(places, axes=[1], starts=[at], ends=[at + 1]) for at in range(input.ndim))


def random_crop(x: Variable, shape: Sequence[int], seed: int | Variable | None = None) -> Variable:
    """Parts of that shape, of the last axes, cut out of each image at a place that is drawn. ``seed``: a
    number for the first step, or a variable, that keeps the next step's; None is any."""
    helper = LayerHelper("random_crop")
    out = helper.create_variable_for_type_inference(x.dtype)
    attrs: dict[str, Any] = {"shape": [int(size) for size in shape]}
    first = int(np.random.randint(-65536, 65536)) if seed is None else seed
    if isinstance(first, Variable):
        kept = first
    else:
        attrs["startup_seed"] = int(first)
        name = unique_name.generate("random_crop_seed")
        kept = helper.create_variable(name=name, dtype="int64", persistable=True)
    helper.append_op("random_crop", {"X": x, "Seed": kept}, {"Out": [out], "SeedOut": [kept]}, attrs)
    return out


def roll(input: Variable, shifts: Sides, dims: int | Sequence[int] | None = None) -> Variable:
    """The elements moved on by so many places along axes, those that leave at one end coming in at the other;
    without ``dims`` in the order in which they lie."""
    helper, count = LayerHelper("roll"), [shifts] if isinstance(shifts, int) else list(shifts)
    out = helper.create_variable_for_type_inference(input.dtype)
    if dims is not None and dims != []:
        axes = [dims] if isinstance(dims, int) else list(dims)
        if len(axes) != len(count):
            raise BadArgument(f"roll: shifts has a number for each of dims, {axes}, not {count}")
        helper.append_op("roll", {"X": input}, {"Out": [out]}, {"dims": axes, "shifts": count})
        return out
    rolled = helper.create_variable_for_type_inference(input.dtype)
    attrs = {"dims": [0], "shifts": [sum(count)]}
    helper.append_op("roll", {"X": reshape(input, [-1, 1])}, {"Out": [rolled]}, attrs)
    helper.append_op("reshape2", {"X": [rolled]}, {"Out": [out]}, {"shape": list(input.shape)})
    return out


def similarity_focus(input: Variable, axis: int, indexes: Sequence[int], name: str | None = None) -> Variable:
    """1 where images, at those places of an axis, have their greatest elements, no two in one row or column,
    for the whole axis; 0 elsewhere."""
    if axis not in (1, 2, 3) or not indexes:
        raise BadArgument(
            f"similarity_focus: axis is 1, 2 or 3 and indexes holds a place, not {axis}, {indexes}"
        )
    attrs = {"axis": axis, "indexes": list(indexes)}
    return appended("similarity_focus", {"X": input}, attrs, name=name)


def unfold(
    x: Variable,
    kernel_sizes: Sides,
    strides: Sides = 1,
    paddings: Sides = 0,
    dilations: Sides = 1,
    name: str | None = None,
) -> Variable:
    """Each window of an image as a column. ``paddings``: of all sides, of two axes, or top, left, bottom and
    right."""
    attrs = {
        "kernel_sizes": _sides("kernel_sizes", kernel_sizes),
        "strides": _sides("strides", strides),
        "paddings": _sides("paddings", paddings, (2, 4)),
        "dilations": _sides("dilations", dilations),
    }
    return appended(
        "unfold", {"X": x}, {**attrs, "paddings": (attrs["paddings"] * 2)[:4]}, out="Y", name=name
    )


def _sides(name: str, given: Sides, counts: tuple[int, ...] = (2,)) -> list[int]:
    several = [given] * 2 if isinstance(given, int) else list(given)
    if len(several) not in counts:
        raise BadArgument(f"unfold: {name} is one number or {' or '.join(map(str, counts))}, not {several}")
    return several
