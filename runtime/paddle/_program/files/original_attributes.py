"""Attributes as 1.8 and 2.x take them, where they compute otherwise what is written in another way.

Layers of 1.8 count axes from the first before they append an operator, and its operators do not. They must
never know a value. Guarantee: what is changed computes here what it did.
"""

from __future__ import annotations

from typing import Any

from paddle._program.description.block import Block
from paddle._program.description.operator import Operator


def fit(block: Block, op: Operator) -> None:
    """Change the attributes of an operator, which is the caller's own."""
    if op.type in _AXES and not op.attrs.get("flatten"):  # whose axis is of one line
        slot, *names = _AXES[op.type].split()
        for name in names:
            _count_from_the_first(block, op, slot, name)
    if op.type in ("slice", "strided_slice") and not op.attrs.get("infer_flags"):
        computed = any(op.inputs.get(slot) for slot in op.inputs if slot != "Input")
        op.attrs["infer_flags"] = [-1 if computed else 1] * len(op.attr("axes"))
    if op.type == "strided_slice":
        _say_all_of_an_axis(op)
    if op.type == "conv3d_transpose" and op.attrs.get("data_format") in _FLAT:
        op.attrs["data_format"] = _FLAT[op.attrs["data_format"]]
    if op.type == "softmax" and op.attrs.get("use_cudnn") and op.attr("axis") != -1:
        op.attrs["use_cudnn"] = False  # with it the last axis alone, even where there is no GPU
    if op.type in ("flip", "roll"):  # whose axes have two names: 1.8's and 2.x's
        op.attrs["dims"] = op.attrs["axis"] = list(op.attrs.get("dims") or op.attr("axis"))
    if op.type in _UNREAD and op.inputs.get(_UNREAD[op.type][0]):
        op.attrs.update(_UNREAD[op.type][1])


def _count_from_the_first(block: Block, op: Operator, slot: str, name: str) -> None:
    told, x = op.attrs.get(name), block._find_var_recursive(op.input(slot)[0])
    if told is None or x is None or not x.has_shape:
        return
    rank = len(x.shape)
    several = isinstance(told, list | tuple)
    counted = [axis + rank if axis < 0 else axis for axis in (told if several else [told])]
    op.attrs[name] = counted if several else counted[0]


def _say_all_of_an_axis(op: Operator) -> None:
    """Where a slice that goes backwards begins and ends, who takes all: 1.8 counts on from no more than that,
    and 2.x goes to the first for -1 alone."""
    ends, strides = list(op.attr("ends")), list(op.attr("strides"))
    op.attrs["starts"] = [min(start, _MOST) for start in op.attr("starts")]
    if len(ends) == len(strides):  # else a variable says them all
        back = [step < 0 and end < -_MOST for end, step in zip(ends, strides, strict=True)]
        op.attrs["ends"] = [
            -1 if to_first else min(end, _MOST) for end, to_first in zip(ends, back, strict=True)
        ]


_MOST = 10_000_000

_AXES = {
    "cumsum": "X axis",
    "mul": "X x_num_col_dims",
    "slice": "Input axes decrease_axis",
    "split": "X axis",
    "strided_slice": "Input axes",
}
"""By operators: of which input, and the attributes that hold axes of it."""

_UNREAD: dict[str, tuple[str, dict[str, Any]]] = {
    "top_k": ("K", {"k": 1}),
    "unsqueeze": ("AxesTensorList", {"axes": []}),
    "unsqueeze2": ("AxesTensorList", {"axes": []}),
}
"""Attributes whose place an input takes, and what they are then."""

_FLAT = {"NCDHW": "NCHW", "NDHWC": "NHWC"}
"""Layouts of volumes that the original calls by those of images."""
