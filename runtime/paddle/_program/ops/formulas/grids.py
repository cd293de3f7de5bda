"""Images read at places of one's own: where each pixel is read, and what is there.

It must never know an operator's block. Guarantee: a place counts from -1 to 1, from the middle of the first
pixel to that of the last one, or from edge to edge.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from paddle._program.ops.formulas.formula import Attrs, Formula, Shape


def _line(size: int, aligned: bool) -> np.ndarray:
    if aligned:
        return np.linspace(-1, 1, size)
    return np.linspace(-1, 1, size) * (size - 1) / size


def _points(told: Attrs, shape: np.ndarray | None) -> np.ndarray:
    """(x, y, 1) of each pixel."""
    _, _, height, width = told["output_shape"] if shape is None else shape.reshape(-1).tolist()
    rows, columns = (_line(size, told["align_corners"]) for size in (height, width))
    grid = np.broadcast_arrays(columns[None, :], rows[:, None], 1.0)
    return np.stack(grid, -1)


def _grid_shape(told: Attrs, theta: Shape, shape: Shape | None) -> Shape:
    sides = told["output_shape"][2:] if shape is None else (-1, -1)
    return (theta[0], *sides, 2)


Formula(
    "affine_grid",
    "Theta OutputShape?",
    "Output",
    lambda told, theta, shape: np.einsum("hwk,nck->nhwc", _points(told, shape), theta),
    lambda told, arrays, outs, came: [np.einsum("hwk,nhwc->nck", _points(told, arrays[1]), came), None],
    _grid_shape,
).register(output_shape=(), align_corners=True)


def _placed(at: np.ndarray, size: int, told: Attrs) -> tuple[np.ndarray, np.ndarray]:
    """Where a number from -1 to 1 is among ``size`` pixels, and by what its slope is multiplied."""
    aligned = told["align_corners"]
    scale = (size - 1) / 2 if aligned else size / 2
    found = (at + 1) * scale if aligned else (at + 1) * scale - 0.5
    slope = np.full(at.shape, scale)
    if told["padding_mode"] == "reflection":
        low, high = (0.0, size - 1.0) if aligned else (-0.5, size - 0.5)
        span = high - low
        apart = np.abs(found - low)
        slope = np.where(found < low, -slope, slope)
        times = np.floor(apart / span) if span else np.zeros_like(apart)
        rest = apart - times * span
        is_odd = times % 2 == 1
        found = np.where(is_odd, span - rest, rest) + low
        slope = np.where(is_odd, -slope, slope)
    if told["padding_mode"] != "zeros":
        inside = (found > 0) & (found < size - 1)
        found, slope = np.clip(found, 0, size - 1), np.where(inside, slope, 0)
    return found, slope


def _corners(told: Attrs, x: np.ndarray, grid: np.ndarray) -> Any:
    """For each pixel around a place: its row and column, whether it is there, its share, and the slopes of
    that share by the column and by the row of the place."""
    height, width = x.shape[2:]
    (across, by_x), (down, by_y) = _placed(grid[..., 0], width, told), _placed(grid[..., 1], height, told)
    if told["mode"] == "nearest":
        pairs = [(np.rint(down), np.rint(across), 1.0, 0.0, 0.0)]
    else:
        left, top = np.floor(across), np.floor(down)
        right, below = across - left, down - top
        pairs = [
            (top, left, (1 - right) * (1 - below), below - 1, right - 1),
            (top, left + 1, right * (1 - below), 1 - below, -right),
            (top + 1, left, (1 - right) * below, -below, 1 - right),
            (top + 1, left + 1, right * below, below, right),
        ]
    for row, column, share, of_x, of_y in pairs:
        there = (row >= 0) & (row < height) & (column >= 0) & (column < width)
        at = (np.where(there, row, 0).astype(np.int64), np.where(there, column, 0).astype(np.int64))
        yield at, np.where(there, share, 0), np.where(there, of_x, 0) * by_x, np.where(there, of_y, 0) * by_y


def _around(told: Attrs, x: np.ndarray, grid: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of all corners: which pixels they are, their shares, and the slopes of these by column and by row."""
    ways = [(row * x.shape[3] + column, *rest) for (row, column), *rest in _corners(told, x, grid)]
    stacked = (np.stack(each).reshape(len(ways), len(x), -1) for each in zip(*ways, strict=True))
    places, shares, by_x, by_y = stacked
    return places, shares.astype(x.dtype), np.stack([by_x, by_y], -1)


def _lines(x: np.ndarray) -> np.ndarray:
    """Each channel of images as one line."""
    return np.ascontiguousarray(x).reshape(*x.shape[:2], -1)


def _read(told: Attrs, x: np.ndarray, grid: np.ndarray) -> np.ndarray:
    from paddle._engine.kernels.grids import read  # loads numba

    places, shares, _ = _around(told, x, grid)
    found = np.empty((*x.shape[:2], places.shape[2]), x.dtype)
    read(_lines(x), places, shares, found)
    return found.reshape(*x.shape[:2], *grid.shape[1:3])


def _read_back(told: Attrs, arrays: Any, outs: Any, came: np.ndarray) -> list[Any]:
    from paddle._engine.kernels.grids import read_back  # loads numba

    x, grid = arrays
    places, shares, slopes = _around(told, x, grid)
    of_x, of_shares = np.empty(_lines(x).shape, x.dtype), np.empty(shares.shape, x.dtype)
    read_back(_lines(x), places, shares, _lines(came), of_x, of_shares)
    return [of_x.reshape(x.shape), np.einsum("knp,knpc->npc", of_shares, slopes).reshape(grid.shape)]


def _shape(told: Attrs, x: Shape, grid: Shape) -> Shape:
    if len(x) != 4 or len(grid) != 4 or grid[-1] != 2:
        raise ValueError(f"grid_sample reads images at (n, rows, columns, 2), not {list(x)} at {list(grid)}")
    return (*x[:2], *grid[1:3])


Formula("grid_sampler", "X Grid", "Output", _read, _read_back, _shape).register(
    mode="bilinear", padding_mode="zeros", align_corners=True
)
