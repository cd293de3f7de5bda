"""Shapes of arguments that have to fit each other: what the original refuses when a layer is written, too.

Only what is known when it is written is looked at: an open size fits any. It must never know how a layer is
computed; what an operator itself cannot take it says (lowering.py). Guarantee: what is refused is told before
anything is appended, by the names of arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

from paddle._program.description.variable import Variable
from paddle._program.errors import BadArgument

__all__: list[str] = []

Given: TypeAlias = Mapping[str, Any]
Fit: TypeAlias = "Callable[[str, Given], None]"


def _refuse(layer: str, says: str, *shown: tuple[str, Any]) -> None:
    told = " and ".join(f"{name} has {value.shape}" for name, value in shown)
    raise BadArgument(f"{layer}: {says}, and {told}")


def _agree(size: int, other: int) -> bool:
    return size == other or min(size, other) < 0


def _alike(shape: Sequence[int], other: Sequence[int]) -> bool:
    return len(shape) == len(other) and all(map(_agree, shape, other))


def _same_shape(one: str, *others: str, layer: str, given: Given) -> None:
    for other in others:
        if not _alike(given[one].shape, given[other].shape):
            says = f"{one} and {other} have the same shape"
            _refuse(layer, says, (one, given[one]), (other, given[other]))


def _same(one: str, *others: str) -> Fit:
    return lambda layer, given: _same_shape(one, *others, layer=layer, given=given)


def _soft(one: str) -> Fit:
    """A label that has a share for each class."""

    def check(layer: str, given: Given) -> None:
        if given["soft_label"]:
            _same_shape(one, "label", layer=layer, given=given)

    return check


def _column(layer: str, given: Given) -> None:
    for name in ("label", "left", "right"):
        if given[name].shape[-1] not in (1, -1):
            _refuse(layer, f"{name} has one number for each sample", (name, given[name]))


def _ranked(layer: str, given: Given) -> None:
    _same_shape("label", "left", "right", layer=layer, given=given)
    _column(layer, given)


def _rows_before(argument: str, count: str, layer: str, given: Given) -> None:
    """So many first axes are rows, and one at least is left."""
    several = given[argument]
    for each in several if isinstance(several, list | tuple) else [several]:
        if each.has_shape and given[count] >= each.ndim:
            says = f"{count}, {given[count]}, is less than the number of axes"
            _refuse(layer, says, (argument, each))


def _mul(layer: str, given: Given) -> None:
    for argument in ("x", "y"):
        _rows_before(argument, f"{argument}_num_col_dims", layer, given)


def _matmul(layer: str, given: Given) -> None:
    x, y = given["x"], given["y"]
    if min(x.ndim, y.ndim) > 2 and not _alike(x.shape[:-2], y.shape[:-2]):
        _refuse(layer, "x and y have as many matrices, in axes of the same sizes", ("x", x), ("y", y))


def _cos_sim(layer: str, given: Given) -> None:
    x, y = given["X"], given["Y"]
    if not _alike(x.shape[1:], y.shape[1:]):
        _refuse(layer, "X and Y have the same sizes behind the first", ("X", x), ("Y", y))


def _axes(layer: str, given: Given) -> None:
    _axes_of("dim", "input", layer, given)


def _axes_of(argument: str, of: str, layer: str, given: Given) -> None:
    told, rank = given[argument], given[of].ndim
    for axis in told if isinstance(told, list | tuple) else [told]:
        if isinstance(axis, int) and not -rank <= axis < rank:
            _refuse(layer, f"{argument} {axis} is none of {rank} axes", (of, given[of]))


def _axis_of_two(layer: str, given: Given) -> None:
    rank = max(given["x"].ndim, given["y"].ndim)
    if not -1 <= given["axis"] < max(rank, 1):
        _refuse(layer, f"axis {given['axis']} is none of {rank} axes", ("x", given["x"]), ("y", given["y"]))


def _reshape(layer: str, given: Given) -> None:
    shape = given["shape"]
    if isinstance(shape, list | tuple) and any(isinstance(each, int) and each < -1 for each in shape):
        raise BadArgument(f"{layer}: of shape, {list(shape)}, no size is less than -1, which is what is left")


def _expand(layer: str, given: Given) -> None:
    times, x = given["expand_times"], given["x"]
    if isinstance(times, list | tuple) and len(times) != x.ndim:
        _refuse(layer, f"expand_times has a number for each axis, not {len(times)}", ("x", x))


def _gather_nd(layer: str, given: Given) -> None:
    if given["index"].ndim < 2:
        _refuse(layer, "index has 2 axes or more", ("index", given["index"]))


def _scatter(layer: str, given: Given) -> None:
    index, updates = given["index"], given["updates"]
    if not _alike(index.shape[:1], updates.shape[:1]):
        _refuse(layer, "index and updates have as many rows", ("index", index), ("updates", updates))


def _split(layer: str, given: Given) -> None:
    parts, x, dim = given["num_or_sections"], given["input"], given["dim"]
    _axes(layer, given)
    if not isinstance(parts, list | tuple) or not isinstance(dim, int):
        return
    size = x.shape[dim]
    if size >= 0 and all(isinstance(each, int) and each >= 0 for each in parts) and sum(parts) != size:
        says = f"num_or_sections, {list(parts)}, add up to the size of axis {dim}, which is {size}"
        _refuse(layer, says, ("input", x))


def _slice(layer: str, given: Given) -> None:
    x, cuts = given["input"], [given[name] for name in ("axes", "starts", "ends")]
    if any(isinstance(each, Variable) for each in cuts):
        return
    for axis, start, end in zip(*cuts, strict=False):
        if not all(isinstance(each, int) for each in (axis, start, end)) or not -x.ndim <= axis < x.ndim:
            continue
        size = x.shape[axis]
        begin, stop, _ = slice(start, end).indices(max(size, 0))
        if size > 0 and stop <= begin:
            _refuse(layer, f"nothing lies from {start} to {end} in axis {axis}", ("input", x))


def _maxout(layer: str, given: Given) -> None:
    if given["groups"] < 2:
        raise BadArgument(f"{layer}: groups is 2 or more, not {given['groups']}")


def _lrn(layer: str, given: Given) -> None:
    if given["n"] % 2 == 0:
        raise BadArgument(f"{layer}: n is odd, for a channel lies in the middle, not {given['n']}")


FITS: Mapping[str, Fit] = {
    "cos_sim": _cos_sim,
    "cross_entropy": _soft("input"),
    "expand": _expand,
    "fc": partial(_rows_before, "input", "num_flatten_dims"),
    "gather_nd": _gather_nd,
    "huber_loss": _same("input", "label"),
    "kldiv_loss": _same("x", "target"),
    "log_loss": _same("input", "label"),
    "lrn": _lrn,
    "margin_rank_loss": _ranked,
    "matmul": _matmul,
    "maxout": _maxout,
    "mul": _mul,
    "rank_loss": _column,
    "reshape": _reshape,
    "scatter": _scatter,
    "slice": _slice,
    "softmax_with_cross_entropy": _soft("logits"),
    "smooth_l1": _same("x", "y"),
    "split": _split,
    "transpose": partial(_axes_of, "perm", "x"),
    **dict.fromkeys([f"reduce_{name}" for name in ("max", "mean", "min", "prod", "sum")], _axes),
    **dict.fromkeys(
        [f"elementwise_{name}" for name in ("add", "div", "max", "min", "mul", "pow", "sub")], _axis_of_two
    ),
}
"""What fits, by layers."""
