"""Rows of boxes against boxes and images: how much they overlap, and one as an offset from the other."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from paddle._engine.boxes import overlaps
from paddle._program.description.operator import Operator
from paddle._program.errors import BadProgram
from paddle._program.lowering.op_rows import hosts
from paddle._program.ops.boxes.described import array_of, described, ends_of, say, shape_of
from paddle._program.ops.boxes.pixels import decoded
from paddle._program.running.host import Host
from paddle._program.running.lod_tensor import LoDTensor


def _of_pairs(op: Operator) -> None:
    x = described(op, "X")
    say(op, "Out", (x.shape[0], shape_of(op, "Y")[0]), x.dtype, x.lod_level)


@hosts("iou_similarity", infer=_of_pairs, box_normalized=True)
def _iou_similarity(host: Host, op: Operator) -> None:
    x, value = host.input(op, "X"), array_of(host, op, "X")
    found = overlaps(value, array_of(host, op, "Y"), bool(op.attr("box_normalized")))
    host.give(op, "Out", LoDTensor(found, x.lod()) if isinstance(x, LoDTensor) else found)


def _of_coded(op: Operator) -> None:
    target, priors = described(op, "TargetBox"), shape_of(op, "PriorBox")
    encodes = op.attr("code_type") == "encode_center_size"
    shape = (target.shape[0], priors[0], 4) if encodes else target.shape
    say(op, "OutputBox", shape, target.dtype, target.lod_level)


@hosts("box_coder", infer=_of_coded, code_type="encode_center_size", box_normalized=True, axis=0, variance=())
def _box_coder(host: Host, op: Operator) -> None:
    """Boxes as offsets from priors, each by each, or the boxes that offsets say."""
    prior, target = array_of(host, op, "PriorBox"), array_of(host, op, "TargetBox")
    told = host.input(op, "PriorBoxVar")
    variance = np.array(op.attr("variance") or (1.0,) * 4, prior.dtype) if told is None else np.asarray(told)
    one = 0.0 if op.attr("box_normalized") else 1.0
    sizes = prior[:, 2:] - prior[:, :2] + one
    middles = prior[:, :2] + sizes * 0.5
    if op.attr("code_type") == "encode_center_size":
        found = _encoded(target, middles, sizes, one) / variance
        given = host.input(op, "TargetBox")
        host.give(op, "OutputBox", LoDTensor(found, given.lod()) if isinstance(given, LoDTensor) else found)
        return
    if target.ndim != 3:
        raise BadProgram(f"operator 'box_coder' decodes (n, m, 4), not {list(target.shape)}")
    beside = (None, slice(None)) if op.attr("axis") == 0 else (slice(None), None)
    scaled = target * (variance if variance.ndim == 1 else variance[beside])
    center = scaled[..., :2] * sizes[beside] + middles[beside]
    half = np.exp(scaled[..., 2:]) * sizes[beside] * 0.5
    host.give(op, "OutputBox", np.concatenate([center - half, center + half - one], -1).astype(target.dtype))


def _encoded(target: np.ndarray, middles: np.ndarray, sizes: np.ndarray, one: float) -> np.ndarray:
    center = (target[:, None, :2] + target[:, None, 2:]) * 0.5
    extent = target[:, None, 2:] - target[:, None, :2] + one
    moved = (center - middles) / sizes
    grown = np.log(np.abs(extent / sizes))
    found: np.ndarray = np.concatenate([moved, grown], -1).astype(target.dtype)
    return found


def _like_input(op: Operator) -> None:
    given = described(op, "Input")
    say(op, "Output", given.shape, given.dtype, given.lod_level)


@hosts("box_clip", infer=_like_input)
def _box_clip(host: Host, op: Operator) -> None:
    """Boxes held within their image, whose height, width and scale ``ImInfo`` says, a row for each."""
    given, told = host.input(op, "Input"), array_of(host, op, "ImInfo")
    boxes = array_of(host, op, "Input").copy()
    for number, (first, end) in enumerate(pairwise(ends_of(host, op, "Input"))):
        height, width = (np.round(told[number, axis] / told[number, 2]) - 1 for axis in (0, 1))
        rows = boxes[first:end]
        rows[..., 0::2] = np.clip(rows[..., 0::2], 0, width)
        rows[..., 1::2] = np.clip(rows[..., 1::2], 0, height)
    host.give(op, "Output", LoDTensor(boxes, given.lod()) if isinstance(given, LoDTensor) else boxes)


def _of_assigned(op: Operator) -> None:
    target = described(op, "TargetBox")
    say(op, "DecodeBox", target.shape, target.dtype, target.lod_level)
    say(op, "OutputAssignBox", shape_of(op, "PriorBox"), target.dtype, target.lod_level)


@hosts("box_decoder_and_assign", infer=_of_assigned, box_clip=4.135)
def _box_decoder_and_assign(host: Host, op: Operator) -> None:
    """Of each class the box that offsets from a region say, and of the class that scores best, but for the
    first one; where none scores above -1, the region itself."""
    regions, spread = array_of(host, op, "PriorBox"), array_of(host, op, "PriorBoxVar").reshape(-1)[:4]
    given, scores = host.input(op, "TargetBox"), array_of(host, op, "BoxScore")
    offset = np.asarray(given).reshape(len(regions), -1, 4) * spread
    boxes = decoded(regions[:, None], offset, float(op.attr("box_clip"))).astype(regions.dtype)
    others = np.concatenate([np.full((len(scores), 1), -1.0, scores.dtype), scores[:, 1:]], 1)
    best = others.argmax(1)
    found = np.where(best[:, None] > 0, boxes[np.arange(len(boxes)), best], regions)
    for slot, value in (("DecodeBox", boxes.reshape(len(boxes), -1)), ("OutputAssignBox", found)):
        host.give(op, slot, LoDTensor(value, given.lod()) if isinstance(given, LoDTensor) else value)


@hosts("polygon_box_transform", infer=_like_input)
def _polygon_box_transform(host: Host, op: Operator) -> None:
    """Places of corners, four pixels to each of a map, from how far they lie: x and y by turns."""
    given = array_of(host, op, "Input")
    rows, columns = (4 * np.arange(size, dtype=given.dtype) for size in given.shape[2:])
    found = np.empty_like(given)
    found[:, 0::2], found[:, 1::2] = columns - given[:, 0::2], rows[:, None] - given[:, 1::2]
    host.give(op, "Output", found)
