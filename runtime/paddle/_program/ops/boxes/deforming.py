"""Rows whose windows see pixels that lie apart from where they would: ``deformable_conv``, with how much each
counts or without (``_v1``), and ``deformable_psroi_pooling``.

Guarantee: what lies between pixels is of the four around it, and beyond the image there is 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from paddle._program.description.operator import Operator
from paddle._program.errors import BadProgram
from paddle._program.lowering.op_rows import backs, hosts
from paddle._program.ops.boxes.described import array_of, described, say, shape_of
from paddle._program.running.host import Host
from paddle._program.running.tape import Done, Slopes

Corner = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def around(rows: np.ndarray, columns: np.ndarray, height: int, width: int) -> Iterator[Corner]:
    """The four pixels around places: each by number, its share, and the slopes of that by row and column;
    shares of pixels that are not there are 0."""
    top, left = np.floor(rows), np.floor(columns)
    below, right = rows - top, columns - left
    for down, share_down, by_row in ((0, 1 - below, -1.0), (1, below, 1.0)):
        for aside, share_aside, by_column in ((0, 1 - right, -1.0), (1, right, 1.0)):
            row, column = top + down, left + aside
            there = (row >= 0) & (row < height) & (column >= 0) & (column < width)
            place = np.where(there, row * width + column, 0).astype(np.int64)
            slopes = (there * share_aside * by_row, there * share_down * by_column)
            yield place, there * share_down * share_aside, *slopes


def _settings(op: Operator) -> tuple[list[int], ...]:
    return tuple([int(each) for each in op.attr(name)] for name in ("strides", "paddings", "dilations"))


def _of_windows(op: Operator) -> None:
    x, filters = described(op, "Input"), shape_of(op, "Filter")
    sides = zip(x.shape[2:], filters[2:], *_settings(op), strict=True)
    found = [
        (size + 2 * zeros - (apart * (window - 1) + 1)) // step + 1 if size > 0 else -1
        for size, window, step, zeros, apart in sides
    ]
    seen = shape_of(op, "Offset")[2:]
    if any(size > 0 and told > 0 and size != told for size, told in zip(found, seen, strict=True)):
        raise BadProgram(
            f"operator {op.type!r}: offsets are told for {list(seen)} windows, and there are {found} of them"
        )
    say(op, "Output", (x.shape[0], filters[0], *found), x.dtype)


def _places(op: Operator, offset: np.ndarray, window: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Where each window sees, (samples, parts of channels, pixels of a window, rows, columns) each."""
    parts = int(op.attr("deformable_groups") or 1)
    moved = offset.reshape(len(offset), parts, window[0] * window[1], 2, *offset.shape[2:])
    steps, zeros, apart = _settings(op)
    numbers = np.divmod(np.arange(window[0] * window[1]), window[1])
    grid = [np.arange(size) for size in offset.shape[2:]]
    found = []
    for axis in (0, 1):
        begin = grid[axis] * steps[axis] - zeros[axis]
        begin = begin[:, None] if axis == 0 else begin[None, :]
        found.append(moved[:, :, :, axis] + numbers[axis][:, None, None] * apart[axis] + begin)
    return found[0], found[1]


def _read(planes: np.ndarray, place: np.ndarray) -> np.ndarray:
    """Pixels of (samples, parts, channels, pixels) at places (samples, parts, ...), with channels third."""
    flat = place.reshape(*place.shape[:2], 1, -1)
    return np.take_along_axis(planes, flat, 3).reshape(*planes.shape[:3], *place.shape[2:])


def _put(planes: np.ndarray, place: np.ndarray, value: np.ndarray) -> None:
    """Add values to pixels; the other way of ``_read``."""
    size, count = planes.shape[3], int(np.prod(planes.shape[:3]))
    flat = np.broadcast_to(place.reshape(*place.shape[:2], 1, -1), (*planes.shape[:3], value[0, 0, 0].size))
    index = flat.reshape(count, -1) + np.arange(count)[:, None] * size
    found = np.bincount(index.reshape(-1), value.reshape(-1), count * size)
    planes += found.reshape(planes.shape)


class _Seen:
    """What windows see of ``x``: (samples, parts, channels of a part, pixels of a window, rows, columns)."""

    def __init__(self, op: Operator, x: np.ndarray, offset: np.ndarray, filters: np.ndarray) -> None:
        parts = int(op.attr("deformable_groups") or 1)
        taps = filters.shape[2] * filters.shape[3]
        if offset.shape[1] != 2 * parts * taps or x.shape[1] % parts:
            raise BadProgram(
                f"operator {op.type!r}: offsets have {2 * parts * taps} channels for {parts} parts of "
                f"{x.shape[1]} channels and windows {list(filters.shape[2:])}, not {offset.shape[1]}"
            )
        self.planes = x.reshape(len(x), parts, x.shape[1] // parts, -1)
        rows, columns = _places(op, offset, filters.shape[2:])
        self.corners = list(around(rows, columns, *x.shape[2:]))
        self.read = [_read(self.planes, place) for place, *_ in self.corners]

    def value(self) -> np.ndarray:
        pairs = zip(self.read, self.corners, strict=True)
        return np.asarray(sum(pixels * corner[1][:, :, None] for pixels, corner in pairs))

    def by_offset(self, came: np.ndarray) -> np.ndarray:
        """(samples, parts, pixels of a window, 2, rows, columns)."""
        each = [
            np.asarray(
                sum(
                    (came * pixels).sum(2) * corner[axis]
                    for pixels, corner in zip(self.read, self.corners, strict=True)
                )
            )
            for axis in (2, 3)
        ]
        return np.stack(each, 3)

    def by_pixels(self, came: np.ndarray) -> np.ndarray:
        found = np.zeros(self.planes.shape)
        for place, share, _, _ in self.corners:
            _put(found, place, came * share[:, :, None])
        return found


def _mask(mask: np.ndarray | None, seen: np.ndarray) -> np.ndarray | float:
    if mask is None:
        return 1.0
    return mask.reshape(len(mask), seen.shape[1], 1, seen.shape[3], *mask.shape[2:])


def _columns(op: Operator, seen: np.ndarray, filters: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(samples, groups, a filter's numbers, places) and (groups, filters of a group, a filter's numbers)."""
    groups = int(op.attr("groups") or 1)
    flat = seen.reshape(len(seen), groups, -1, int(np.prod(seen.shape[4:])))
    return flat, filters.reshape(groups, len(filters) // groups, -1)


_WINDOWS: dict[str, Any] = {
    "strides": (1, 1),
    "paddings": (0, 0),
    "dilations": (1, 1),
    "groups": 1,
    "deformable_groups": 1,
    "im2col_step": 64,
}


@hosts("deformable_conv", "deformable_conv_v1", infer=_of_windows, **_WINDOWS)
def _deformable_conv(host: Host, op: Operator) -> None:
    """A convolution of what lies at offsets from where its windows would see, each by how much it counts."""
    x, offset, filters = (array_of(host, op, slot) for slot in ("Input", "Offset", "Filter"))
    mask = array_of(host, op, "Mask") if op.inputs.get("Mask") else None
    seen = _Seen(op, x, offset, filters).value()
    columns, flat = _columns(op, seen * _mask(mask, seen), filters)
    found = np.matmul(flat, columns).reshape(len(x), len(filters), *offset.shape[2:])
    host.give(op, "Output", found.astype(x.dtype))


@backs("deformable_conv", "deformable_conv_v1")
def _deformable_conv_back(done: Done, slopes: Slopes) -> None:
    op = done.op
    came = slopes.take(op.output("Output")[0])
    if came is None:
        return
    x, offset, filters = (np.asarray(done.input(slot)) for slot in ("Input", "Offset", "Filter"))
    mask = np.asarray(done.input("Mask")) if op.input("Mask") else None
    window = _Seen(op, x, offset, filters)
    seen = window.value()
    counts = _mask(mask, seen)
    columns, flat = _columns(op, seen * counts, filters)
    rows = came.reshape(len(x), len(flat), -1, columns.shape[3])
    by_filter = np.matmul(rows, columns.transpose(0, 1, 3, 2)).sum(0)
    by_seen = np.matmul(flat.transpose(0, 2, 1), rows).reshape(seen.shape)
    done.add(slopes, "Filter", by_filter.reshape(filters.shape).astype(x.dtype))
    if mask is not None:
        done.add(slopes, "Mask", (by_seen * seen).sum(2).reshape(mask.shape).astype(x.dtype))
    by_seen = by_seen * counts
    done.add(slopes, "Offset", window.by_offset(by_seen).reshape(offset.shape).astype(x.dtype))
    done.add(slopes, "Input", window.by_pixels(by_seen).reshape(x.shape).astype(x.dtype))
