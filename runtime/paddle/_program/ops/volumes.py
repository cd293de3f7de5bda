"""Rows of volumes, (samples, channels, depth, height, width): convolutions and pooling, made of images'.

It must never know how (_engine/volumes.py does). Guarantee: sizes that are open are those of a run; of equal
voxels the first is a window's maximum, as in the original.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from paddle._engine import volumes
from paddle._engine.program import Variable as EngineVariable
from paddle._engine.volumes import Moving, Pass, Pooled
from paddle._program.description.dtypes import VarType
from paddle._program.description.operator import Operator
from paddle._program.errors import BadProgram
from paddle._program.lowering.lowering import Lowering
from paddle._program.lowering.op_rows import lowers
from paddle._program.ops.layouts import as_told, channels_first
from paddle._program.ops.sizes import anything, known_sizes

SAME = "SAME"
_MOVING: dict[str, Any] = {
    "strides": (1, 1, 1),
    "paddings": (0, 0, 0),
    "padding_algorithm": "EXPLICIT",
    "data_format": "NCDHW",
}


def _volume(low: Lowering, op: Operator, slot: str) -> EngineVariable:
    x = channels_first(low, op, low.input(op, slot).variable)
    if len(x.shape) != 5 or -1 in x.shape[1:]:
        raise BadProgram(
            f"operator {op.type!r} takes volumes (samples, channels, depth, height, width) of known sizes, "
            f"not {list(x.shape)}"
        )
    return x


def _three(op: Operator, name: str) -> tuple[int, int, int]:
    given = op.attr(name)
    sides = (given,) * 3 if isinstance(given, int) else tuple(int(each) for each in given)
    if len(sides) != 3:
        raise BadProgram(f"operator {op.type!r}: {name} are three numbers, not {list(sides)}")
    return sides


def _moving(op: Operator, depth: int, window: Sequence[int], apart: Sequence[int] = (1, 1, 1)) -> Moving:
    steps, way, given = _three(op, "strides"), op.attr("padding_algorithm"), op.attr("paddings")
    if way == SAME:  # of neighbours, whatever dilations are told, as of images
        missing = max((-(-depth // steps[0]) - 1) * steps[0] + window[0] - depth, 0)
        zeros = missing // 2, missing - missing // 2
        return Moving(window[0], steps[0], zeros, 1, {"strides": steps[1:], "paddings": SAME})
    sides = [0] * 6 if way == "VALID" else [given] * 6 if isinstance(given, int) else [int(n) for n in given]
    if len(sides) == 3:
        sides = [side for side in sides for _ in range(2)]
    if len(sides) != 6:
        raise BadProgram(f"operator {op.type!r}: paddings are three numbers or six, not {sides}")
    planes = {"strides": steps[1:], "paddings": tuple(sides[2:])}
    return Moving(window[0], steps[0], (sides[0], sides[1]), apart[0], planes)


def _convolving(op: Operator, depth: int, window: Sequence[int]) -> Moving:
    apart = _three(op, "dilations")
    moving = _moving(op, depth, window, apart)
    moving.planes["groups"] = op.attr("groups") or 1
    moving.planes["dilations"] = (1, 1) if moving.planes["paddings"] == SAME else apart[1:]
    return moving


@lowers("conv3d", dilations=(1, 1, 1), groups=1, use_cudnn=True, **_MOVING)
def _conv3d(low: Lowering, op: Operator) -> None:
    x, filters = _volume(low, op, "Input"), low.input(op, "Filter").variable
    channels, depth = x.shape[1:3]
    part, *window = filters.shape[1:]
    moving = _convolving(op, depth, window)
    if moving.places(depth) < 1 or channels != part * moving.planes["groups"]:
        raise BadProgram(
            f"operator 'conv3d': filters {list(filters.shape)} in {moving.planes['groups']} groups, with "
            f"{moving.zeros} zeros before and behind, do not fit {list(x.shape)}"
        )
    low.give(op, "Output", as_told(low, op, volumes.convolved(low.builder, x, filters, moving)))


@lowers(
    "conv3d_transpose",
    dilations=(1, 1, 1),
    groups=1,
    output_size=(),
    output_padding=(),
    use_cudnn=True,
    **_MOVING,
)
def _conv3d_transpose(low: Lowering, op: Operator) -> None:
    x, filters = _volume(low, op, "Input"), low.input(op, "Filter").variable
    depth, window = x.shape[2], filters.shape[2:]
    moving, wanted = _convolving(op, depth, window), tuple(op.attr("output_size") or ())
    more = tuple(op.attr("output_padding") or (0, 0, 0))
    moving.planes.update(output_size=wanted[1:], output_padding=more[1:])
    least = moving.least(depth)
    size = wanted[0] if wanted else least + more[0]
    if not least <= size < least + moving.step:
        raise BadProgram(
            f"operator 'conv3d_transpose': output_size {list(wanted or more)}: {size} is not one of the "
            f"depths from {least} on that fit"
        )
    whole = volumes.laid_down(low.builder, x, filters, moving, size)
    low.give(op, "Output", as_told(low, op, whole))


@lowers(
    "pool3d",
    pooling_type="max",
    ksize=(1, 1, 1),
    global_pooling=False,
    ceil_mode=False,
    exclusive=True,
    adaptive=False,
    use_cudnn=True,
    **_MOVING,
)
def _pool3d(low: Lowering, op: Operator) -> None:
    x, how, window = _volume(low, op, "X"), op.attr("pooling_type"), _three(op, "ksize")
    if how not in ("max", "avg"):
        raise BadProgram(f"operator 'pool3d': pooling_type is 'max' or 'avg', not {how!r}")
    if op.attr("global_pooling"):
        low.give(op, "Out", as_told(low, op, _in_parts(low, x, how, (1, 1, 1))))
        return
    if op.attr("adaptive"):
        low.give(op, "Out", as_told(low, op, _in_parts(low, x, how, window)))
        return
    moving = _moving(op, x.shape[2], window)
    told: dict[str, Any] = {"ceil_mode": bool(op.attr("ceil_mode"))}
    told |= {} if how == "max" else {"exclusive": bool(op.attr("exclusive"))}
    out = volumes.by_axes(low.builder, x, *volumes.passes(how, window, moving, told)).out
    low.give(op, "Out", as_told(low, op, out))


@lowers(
    "max_pool3d_with_index",
    ksize=(1, 1, 1),
    strides=(1, 1, 1),
    paddings=(0, 0, 0),
    global_pooling=False,
    adaptive=False,
    pooling_type="max",
)
def _pool_with_index(low: Lowering, op: Operator) -> None:
    """The greatest of each window, and which voxel of its channel that is, counted along rows and planes."""
    x, window = low.input(op, "X").variable, _three(op, "ksize")
    if op.attr("global_pooling") or op.attr("adaptive"):
        wanted = (1, 1, 1) if op.attr("global_pooling") else window
        passes = _parted("max", wanted[1:]), _parted("max", (wanted[0], wanted[1] * wanted[2]))
    else:
        (deep, *steps), (before, *zeros) = _three(op, "strides"), _three(op, "paddings")
        planes = {"ksize": window[1:], "strides": tuple(steps), "paddings": tuple(zeros)}
        along = {"ksize": (window[0], 1), "strides": (deep, 1), "paddings": (before, 0)}
        passes = ("max_pool2d", planes), ("max_pool2d", along)
    made = volumes.by_axes(low.builder, x, *passes)
    low.give(op, "Out", made.out)
    low.give(op, "Mask", _places(low, made, x.shape), dtype=VarType.INT32)


def _places(low: Lowering, made: Pooled, shape: Sequence[int]) -> EngineVariable:
    """Which voxels of their channels the maxima are: of a plane's pixel, behind all planes before it."""
    assert made.in_planes is not None and made.along is not None
    _, channels, depth, height, width = shape
    before = tuple(number * height * width for number in range(depth))
    told = {"shape": (1, 1, depth, 1), "values": before, "dtype": "int64"}
    lines = (-1, channels, depth, made.along.shape[3])
    pixels = low.op("cast", {"dtype": "int64"}, X=low.op("reshape", {"shape": lines}, X=made.in_planes))
    voxels = low.op("elementwise_add", X=pixels, Y=low.op("assign_value", told))
    flat = low.op("reshape", {"shape": (-1, prod(lines[2:]))}, X=voxels)
    chosen = low.op("cast", {"dtype": "int64"}, X=made.along)
    chosen = low.op("reshape", {"shape": (-1, prod(made.along.shape[2:]))}, X=chosen)
    found = low.op("index_sample", X=flat, Index=chosen)
    return low.op("reshape", {"shape": (-1, *made.out.shape[1:])}, X=found)


def _in_parts(low: Lowering, x: EngineVariable, how: str, wanted: tuple[int, int, int]) -> EngineVariable:
    """So many parts of the depth, the height and the width, each pooled."""
    passes = _parted(how, wanted[1:]), _parted(how, (wanted[0], wanted[1] * wanted[2]))
    return volumes.by_axes(low.builder, x, *passes).out


def _parted(how: str, size: tuple[int, ...]) -> Pass:
    if how == "max":
        return "adaptive_max_pool2d", {"size": size}
    return "bilinear_interp", {"size": size, "method": "average"}


@lowers(
    "trilinear_interp",
    out_d=-1,
    out_h=-1,
    out_w=-1,
    scale=0.0,
    interp_method="trilinear",
    align_corners=True,
    align_mode=1,
    data_layout="NCHW",
)
def _resized(low: Lowering, op: Operator) -> None:
    """Between voxels: each plane is resized, and then lines along the depth."""
    x = channels_first(low, op, low.input(op, "X").variable, "data_layout")
    if low.has(op, "OutSize") or low.has(op, "SizeTensor"):
        sizes = known_sizes(low, op, "", "SizeTensor", "OutSize")
    elif op.attr("scale") and int(op.attr("out_d")) < 1:
        sizes = tuple(int(size * op.attr("scale")) if size > 0 else -1 for size in x.shape[2:])
    else:
        sizes = tuple(int(op.attr(name)) for name in ("out_d", "out_h", "out_w"))
    if sizes is None or -1 in (*sizes, *x.shape[1:]):
        out = anything(low, (*x.shape[:2], *(sizes or (-1, -1, -1))), x.dtype)
        low.give(op, "Out", as_told(low, op, out, "data_layout"))
        return
    told: dict[str, Any] = {"method": "bilinear", "align_corners": bool(op.attr("align_corners"))}
    told["align_mode"] = int(op.attr("align_mode"))
    planes, lines = {**told, "size": sizes[1:]}, {**told, "size": (sizes[0], sizes[1] * sizes[2])}
    out = volumes.by_axes(low.builder, x, ("bilinear_interp", planes), ("bilinear_interp", lines)).out
    low.give(op, "Out", as_told(low, op, out, "data_layout"))
