"""Rows of features of several sizes: regions dealt out by their own size, and gathered again.

Guarantee: regions of an image stay together and in their order.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from paddle._program.description.operator import Operator
from paddle._program.lowering.op_rows import hosts
from paddle._program.ops.boxes.described import array_of, described, ends_of, say
from paddle._program.ops.boxes.pixels import joined
from paddle._program.ops.tags import tensor_of
from paddle._program.running.host import Host


def _of_levels(op: Operator) -> None:
    given = described(op, "FpnRois")
    say(op, "MultiFpnRois", (-1, 4), given.dtype, given.lod_level)
    say(op, "RestoreIndex", (-1, 1), "int32")
    say(op, "MultiLevelRoIsNum", (-1,), "int32")


@hosts(
    "distribute_fpn_proposals",
    infer=_of_levels,
    min_level=2,
    max_level=5,
    refer_level=4,
    refer_scale=224,
    pixel_offset=True,
)
def _distribute(host: Host, op: Operator) -> None:
    """To each level the regions of about its size, and where each region then is among all of them."""
    regions, ends = array_of(host, op, "FpnRois"), ends_of(host, op, "FpnRois")
    first, last = int(op.attr("min_level")), int(op.attr("max_level"))
    sides = regions[:, 2:] - regions[:, :2]
    area = np.where((sides < 0).any(1), 0.0, (sides + int(op.attr("pixel_offset"))).prod(1))
    scale = np.sqrt(area) / op.attr("refer_scale")
    level = np.floor(np.log2(scale + np.float32(1e-6)) + op.attr("refer_level")).astype(int)
    level = np.clip(level, first, last)
    chosen = [np.flatnonzero(level == each) for each in range(first, last + 1)]
    for index, rows in enumerate(chosen):
        parts = [regions[rows[(rows >= start) & (rows < end)]] for start, end in pairwise(ends)]
        host.give(op, "MultiFpnRois", joined(parts), index)
        if op.outputs.get("MultiLevelRoIsNum"):
            host.give(op, "MultiLevelRoIsNum", np.array([len(each) for each in parts], np.int32), index)
    order = np.concatenate(chosen)
    place = np.empty((len(order), 1), np.int32)
    place[order, 0] = np.arange(len(order))
    host.give(op, "RestoreIndex", place)


def _of_collected(op: Operator) -> None:
    say(op, "FpnRois", (-1, 4), described(op, "MultiLevelRois").dtype, 1)


@hosts("collect_fpn_proposals", infer=_of_collected, post_nms_topN=1000)
def _collect(host: Host, op: Operator) -> None:
    """The regions of all levels that score best, by image."""
    levels = [_rows(host, op, index) for index in range(len(op.input("MultiLevelRois")))]
    regions, scores, images = (np.concatenate(each) for each in zip(*levels, strict=True))
    best = np.argsort(-scores, kind="stable")[: int(op.attr("post_nms_topN"))]
    count = len(tensor_of(host, op, "MultiLevelRois").lod()[-1]) - 1
    parts = [regions[best[images[best] == image]] for image in range(count)]
    host.give(op, "FpnRois", joined(parts))


def _rows(host: Host, op: Operator, index: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of a level its regions, their scores, and of which image each is."""
    regions, scores = host.inputs(op, "MultiLevelRois")[index], host.inputs(op, "MultiLevelScores")[index]
    ends = scores.lod()[-1]
    images = np.repeat(np.arange(len(ends) - 1), np.diff(ends))
    return np.asarray(regions), np.asarray(scores).reshape(-1), images
