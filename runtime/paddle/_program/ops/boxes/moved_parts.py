"""The row whose cells of regions move by what is learned: ``deformable_psroi_pooling``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from paddle._program.description.operator import Operator
from paddle._program.errors import BadProgram
from paddle._program.lowering.op_rows import backs, hosts
from paddle._program.ops.boxes.deforming import around
from paddle._program.ops.boxes.described import array_of, described, ends_of, say, shape_of
from paddle._program.ops.boxes.regions import by_regions, ends_then
from paddle._program.running.host import Host
from paddle._program.running.tape import Done, Slopes


def _pooled(op: Operator) -> tuple[int, int]:
    return int(op.attr("pooled_height")), int(op.attr("pooled_width"))


def _of_moved(op: Operator) -> None:
    x = described(op, "Input")
    shape = (shape_of(op, "ROIs")[0], int(op.attr("output_dim")), *_pooled(op))
    say(op, "Output", shape, x.dtype)
    say(op, "TopCount", shape, x.dtype)


@dataclass(frozen=True, slots=True)
class _Sampled:
    """Samples of a region, (channels, cells down, cells across, samples down, samples across): ``corners``,
    the pixels of an image around each with their shares and slopes; ``count``: how many of a cell lie in the
    image; ``at``: which move each is moved by; ``reach``: how far a move of 1 goes, down and across."""

    corners: list[tuple[np.ndarray, ...]]
    count: np.ndarray
    at: tuple[np.ndarray, ...]
    reach: np.ndarray

    def mean(self, image: np.ndarray) -> np.ndarray:
        total = sum(image.reshape(-1)[place] * share for place, share, *_ in self.corners)
        found: np.ndarray = np.asarray(total).sum((3, 4)) / np.maximum(self.count, 1)
        return found


def _axis(op: Operator, first: float, last: float, axis: int) -> tuple[np.ndarray, float, np.ndarray]:
    """(cells, samples): where each sample lies before it is moved; how large the region is; and the part of
    each cell, by which it is moved."""
    cells, samples = _pooled(op)[axis], int(op.attr("sample_per_part"))
    size = max(last - first, 0.1)
    number = np.arange(cells)
    steps = number[:, None] + np.arange(samples) / samples
    parts = np.floor(number / cells * op.attr("part_size")[axis]).astype(int)
    return first + steps * (size / cells), size, parts


def _sampled(op: Operator, region: np.ndarray, moves: np.ndarray | None, shape: tuple[int, ...]) -> _Sampled:
    channels, height, width = shape
    whole = np.sign(region) * np.floor(np.abs(region) + 0.5) + np.array([0, 0, 1, 1])
    left, top, right, bottom = (float(each) for each in whole * np.float32(op.attr("spatial_scale")) - 0.5)
    down, tall, parts_down = _axis(op, top, bottom, 0)
    across, wide, parts_across = _axis(op, left, right, 1)
    out = int(op.attr("output_dim"))
    groups = [
        np.clip(np.arange(cells) * many // cells, 0, many - 1)
        for cells, many in zip(_pooled(op), (int(each) for each in op.attr("group_size")), strict=True)
    ]
    many = [int(each) for each in op.attr("group_size")]
    if out * many[0] * many[1] != channels:
        raise BadProgram(
            f"operator 'deformable_psroi_pooling': {channels} channels are not {out} for each of "
            f"{many[0]} x {many[1]} groups"
        )
    plane = (np.arange(out)[:, None, None] * many[0] + groups[0][:, None]) * many[1] + groups[1]
    classes = 1 if moves is None else len(moves) // 2
    own = np.broadcast_to((np.arange(out) // (out // classes))[:, None, None], plane.shape)
    at = own, np.broadcast_to(parts_down[:, None], plane.shape), np.broadcast_to(parts_across, plane.shape)
    reach = np.array([tall, wide]) * float(op.attr("trans_std"))
    moved = np.zeros((2, *plane.shape))
    if moves is not None:
        told = moves.reshape(classes, 2, *moves.shape[1:])
        moved[0], moved[1] = told[own, 1, at[1], at[2]] * reach[0], told[own, 0, at[1], at[2]] * reach[1]
    rows = moved[0][..., None, None] + down[:, None, :, None]
    columns = moved[1][..., None, None] + across[:, None, :]
    inside = (columns >= -0.5) & (columns <= width - 0.5) & (rows >= -0.5) & (rows <= height - 0.5)
    corners = list(_corners(rows, columns, inside, (height, width)))
    placed = [(place + plane[..., None, None] * (height * width), *rest) for place, *rest in corners]
    return _Sampled(placed, inside.sum((3, 4)), at, reach)


def _corners(
    rows: np.ndarray, columns: np.ndarray, inside: np.ndarray, sides: tuple[int, int]
) -> Iterator[tuple[np.ndarray, ...]]:
    """Samples are held within the image, where a move no longer tells."""
    rows, columns = np.broadcast_arrays(rows, columns)
    row, column = np.clip(rows, 0, sides[0] - 1), np.clip(columns, 0, sides[1] - 1)
    for place, share, by_row, by_column in around(row, column, *sides):
        slopes = by_row * (row == rows) * inside, by_column * (column == columns) * inside
        yield place, share * inside, *slopes


@hosts(
    "deformable_psroi_pooling",
    infer=_of_moved,
    no_trans=False,
    spatial_scale=1.0,
    output_dim=1,
    group_size=(1, 1),
    pooled_height=1,
    pooled_width=1,
    part_size=(1, 1),
    sample_per_part=1,
    trans_std=0.1,
)
def _pool(host: Host, op: Operator) -> None:
    """Of each cell, which is moved by a share of its region, the mean of samples between pixels."""
    x, regions = array_of(host, op, "Input"), array_of(host, op, "ROIs")
    moves = None if op.attr("no_trans") else array_of(host, op, "Trans")
    out = np.zeros((len(regions), int(op.attr("output_dim")), *_pooled(op)), x.dtype)
    counts = np.zeros_like(out)
    for number, image in by_regions(ends_of(host, op, "ROIs")):
        own = None if moves is None else moves[number]
        found = _sampled(op, regions[number], own, x.shape[1:])
        out[number], counts[number] = found.mean(x[image]), found.count
    host.give(op, "Output", out)
    host.give(op, "TopCount", counts)


@backs("deformable_psroi_pooling")
def _pool_back(done: Done, slopes: Slopes) -> None:
    op = done.op
    came = slopes.take(op.output("Output")[0])
    if came is None:
        return
    x, regions = np.asarray(done.input("Input")), np.asarray(done.input("ROIs"))
    moves = None if op.attr("no_trans") else np.asarray(done.input("Trans"))
    of_x = np.zeros(x.shape)
    of_moves = None if moves is None else np.zeros((len(moves), moves.shape[1] // 2, 2, *moves.shape[2:]))
    for number, image in by_regions(ends_then(done)):
        own = None if moves is None else moves[number]
        found = _sampled(op, regions[number], own, x.shape[1:])
        each = (came[number] / np.maximum(found.count, 1))[..., None, None]
        of_x[image] += _of_pixels(found, each, of_x[image].shape)
        if of_moves is not None:
            _add_moves(of_moves[number], found, x[image], each)
    done.add(slopes, "Input", of_x.astype(x.dtype))
    if moves is not None and of_moves is not None:
        done.add(slopes, "Trans", of_moves.reshape(moves.shape).astype(moves.dtype))


def _of_pixels(found: _Sampled, each: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """What samples of a region give back to pixels of their image."""
    parts = [
        np.bincount(place.reshape(-1), (each * share).reshape(-1), int(np.prod(shape)))
        for place, share, *_ in found.corners
    ]
    return np.asarray(sum(parts)).reshape(shape)


def _add_moves(of_moves: np.ndarray, found: _Sampled, image: np.ndarray, each: np.ndarray) -> None:
    """The slopes of the moves of a region, across and down."""
    for place, _, by_row, by_column in found.corners:
        pixels = image.reshape(-1)[place] * each
        for index, slope in ((1, by_row), (0, by_column)):
            told = (pixels * slope).sum((3, 4)) * found.reach[1 - index]
            put: Any = (found.at[0], index, *found.at[1:])
            np.add.at(of_moves, put, told)
