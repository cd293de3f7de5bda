"""Rows of what gives arrays more around them, zeros, one value or what they have, or cuts some off.

A number of elements below zero is cut off. Of axes whose size is open what is cut or mirrored is that of a
run.
"""

from __future__ import annotations

from paddle._engine.program import Variable as EngineVariable
from paddle._program.description.operator import Operator
from paddle._program.errors import BadProgram
from paddle._program.lowering.lowering import Lowering
from paddle._program.lowering.op_rows import lowers
from paddle._program.ops.layouts import is_last
from paddle._program.ops.shaping import axes_of
from paddle._program.ops.sizes import anything, known_sizes

Around = tuple[tuple[int, int], ...]

_MODES = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}
"""Modes of ``pad3d``, and what the engine calls them."""


def _around(low: Lowering, x: EngineVariable, around: Around, value: float, mode: str) -> EngineVariable:
    """What is cut off goes last: up to there all of an axis is mirrored, or goes round."""
    cut = [axis for axis, ends in enumerate(around) if min(ends) < 0]
    more = tuple((max(before, 0), max(behind, 0)) for before, behind in around)
    if not cut or any(map(any, more)):
        x = low.op("pad", {"paddings": more, "value": value, "mode": mode}, X=x)
    if not cut:
        return x
    starts = tuple(max(-around[axis][0], 0) for axis in cut)
    ends = tuple(around[axis][1] if around[axis][1] < 0 else 2**62 for axis in cut)
    return low.op("slice", {"axes": tuple(cut), "starts": starts, "ends": ends, "clamps": True}, X=x)


@lowers("pad", paddings=(), pad_value=0.0)
def _pad(low: Lowering, op: Operator) -> None:
    told = axes_of(op.attr("paddings"))
    around = tuple(zip(told[::2], told[1::2], strict=True))
    x, value = low.input(op, "X").variable, float(op.attr("pad_value"))
    low.give(op, "Out", _around(low, x, around, value, "constant"))


@lowers("pad_constant_like", pad_value=0.0)
def _pad_like(low: Lowering, op: Operator) -> None:
    """Y behind which elements stand until it has the sizes of X."""
    x, y = low.input(op, "X").variable, low.input(op, "Y").variable
    pairs = list(enumerate(zip(x.shape, y.shape, strict=True)))
    if any(-1 in pair and pair[0] != pair[1] for _, pair in pairs) or (-1 in y.shape and not low.infers):
        pairs = [(axis, (_known(op, x, axis), _known(op, y, axis))) for axis, _ in pairs]
    around = tuple((0, whole - own) for _, (whole, own) in pairs)
    low.give(op, "Out", low.op("pad", {"paddings": around, "value": float(op.attr("pad_value"))}, X=y))


def _known(op: Operator, x: EngineVariable, axis: int) -> int:
    if x.shape[axis] < 0:
        raise BadProgram(f"operator {op.type!r}: the size of axis {axis} of {list(x.shape)} must be known")
    return x.shape[axis]


@lowers("pad2d", paddings=(0, 0, 0, 0), mode="constant", pad_value=0.0, data_format="NCHW")
def _pad2d(low: Lowering, op: Operator) -> None:
    """Of [above, below, left, right]."""
    x, mode = low.input(op, "X").variable, op.attr("mode")
    if mode not in ("constant", "reflect", "edge"):
        raise BadProgram(f"operator 'pad2d': mode is constant, reflect or edge, not {mode!r}")
    first = 1 if is_last(op) else 2
    around = _told(low, op, x, (first, first + 1))
    if around is not None:
        low.give(op, "Out", _around(low, x, around, float(op.attr("pad_value")), mode))


@lowers("pad3d", paddings=(0,) * 6, mode="constant", value=0.0, data_format="NCDHW")
def _pad3d(low: Lowering, op: Operator) -> None:
    """Of [left, right, above, below, before, behind]."""
    x, mode = low.input(op, "X").variable, op.attr("mode")
    if mode not in _MODES or len(x.shape) != 5:
        raise BadProgram(
            f"operator 'pad3d' takes volumes, not {list(x.shape)}, and a mode of {', '.join(_MODES)}, not "
            f"{mode!r}"
        )
    first = 1 if is_last(op) else 2
    around = _told(low, op, x, (first + 2, first + 1, first))
    if around is None:
        return
    if mode == "reflect":
        _check_reflected(low, op, x, around)
    low.give(op, "Out", _around(low, x, around, float(op.attr("value")), _MODES[mode]))


def _told(low: Lowering, op: Operator, x: EngineVariable, axes: tuple[int, ...]) -> Around | None:
    """How much is told along these axes, in their order; None where that is open, and so are their sizes."""
    told = known_sizes(low, op, "paddings", "", "Paddings")
    if told is None:
        shape = tuple(-1 if axis in axes else size for axis, size in enumerate(x.shape))
        low.give(op, "Out", anything(low, shape, x.dtype))
        return None
    if len(told) != 2 * len(axes):
        raise BadProgram(f"operator {op.type!r}: paddings are {2 * len(axes)} numbers, not {list(told)}")
    ends = dict(zip(axes, zip(told[::2], told[1::2], strict=True), strict=True))
    return tuple(ends.get(axis, (0, 0)) for axis in range(len(x.shape)))


def _check_reflected(low: Lowering, op: Operator, x: EngineVariable, around: Around) -> None:
    """Nothing is mirrored that there is not: the line at the mirror itself is not repeated."""
    for axis, ends in enumerate(around):
        if max(ends) <= 0 or (low.infers and x.shape[axis] < 0):
            continue
        if max(ends) >= _known(op, x, axis):
            raise BadProgram(
                f"operator {op.type!r} (written at {op.where}) reflects at most {x.shape[axis] - 1} along "
                f"an axis of {x.shape[axis]}, and is told {max(ends)}: pad less, or in mode 'replicate'"
            )
