"""Images in windows, in other sizes, read between their pixels, and put back to where they were greatest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .case import Case

RNG = np.random.default_rng(8)
IMAGES = RNG.normal(size=(2, 2, 3, 4))
VOLUMES = RNG.normal(size=(1, 2, 2, 3, 2))
THETA = RNG.normal(size=(2, 2, 3))
LINES = RNG.normal(size=(2, 2, 5))
GRID = np.concatenate(
    [RNG.uniform(-0.93, 0.91, (2, 2, 2, 2)), RNG.uniform(1.13, 1.41, (2, 2, 1, 2)) * [1, -1]], 2
)
COLUMNS = RNG.normal(size=(2, 12, 6))
ALIGNED = {"align_corners": True}
SIZES = {"linear": ("w", (8,)), "trilinear": ("dhw", (4, 5, 3)), "bicubic": ("hw", (5, 7))}


def _places(size: int, wanted: int, told: Any, scale: float | None = None) -> np.ndarray:
    """Where pixels are read; ``align_mode`` is of straight lines only."""
    if told.get("align_corners"):
        return np.linspace(0, size - 1, wanted)
    step = 1 / scale if scale else size / wanted
    if told.get("align_mode") == 1 and told["method"] != "bicubic":
        return np.arange(wanted) * step
    return (np.arange(wanted) + 0.5) * step - 0.5


def _between(line: np.ndarray, at: float) -> float:
    return float(np.interp(at, np.arange(len(line)), line))


def _cubic(line: np.ndarray, at: float) -> float:
    """By Keys' kernel, a = -0.75, the outermost pixels going on."""
    found, first = 0.0, int(np.floor(at))
    for place in range(first - 1, first + 3):
        x = abs(at - place)
        near, far = 1.25 * x**3 - 2.25 * x**2 + 1, -0.75 * (x**3 - 5 * x**2 + 8 * x - 4)
        found += float(line[min(max(place, 0), len(line) - 1)]) * (near if x <= 1 else far)
    return found


def _resized(
    x: np.ndarray, wanted: Sequence[int], told: Any, read: Any, scale: float | None = None
) -> np.ndarray:
    for axis, size in enumerate(wanted, 2):
        places = _places(x.shape[axis], size, told, scale)
        x = np.apply_along_axis(lambda line, p=places: np.array([read(line, at) for at in p]), axis, x)
    return x


def _resizing(method: str, x: np.ndarray, suffix: str = "_v2", **told: Any) -> Case:
    axes, wanted = SIZES[method]
    read = _cubic if method == "bicubic" else _between
    told = {"align_corners": False, "align_mode": 0} | told
    read_so = told | {"method": method}

    def torch_twin(t: Any, x: Any) -> Any:
        return t.nn.functional.interpolate(x, wanted, mode=method, align_corners=told["align_corners"])

    return Case(
        f"{method}_interp{suffix}",
        {"X": x},
        lambda x: _resized(x, wanted, read_so, read),
        "no places are counted so" if told["align_mode"] and method != "bicubic" else torch_twin,
        told={f"out_{axis}": size for axis, size in zip(axes, wanted, strict=True)} | told,
    )


def _scaled(x: np.ndarray) -> np.ndarray:
    return _resized(x, (4, 6), {}, _cubic, 1.5)


def _columns(x: np.ndarray) -> np.ndarray:
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (0, 0)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (2, 3), (2, 3))[:, :, ::2]
    return windows.transpose(0, 1, 4, 5, 2, 3).reshape(len(x), 12, -1)


def _put_back(x: np.ndarray) -> np.ndarray:
    parts, found = x.reshape(2, 2, 2, 3, 3, 2), np.zeros((2, 2, 5, 6))
    for row, column, down, right in np.ndindex(2, 3, 3, 2):
        found[:, :, down + 2 * row, right * 2 + column] += parts[:, :, row, column, down, right]
    return found[:, :, 1:, :-1]


def _reflected(at: float, low: float, high: float) -> float:
    while not low <= at <= high:
        at = 2 * low - at if at < low else 2 * high - at
    return at


def _read(told: Any) -> Any:
    aligned = told.get("align_corners", True)

    def place(at: float, size: int) -> float:
        found = (at + 1) / 2 * (size - 1) if aligned else ((at + 1) * size - 1) / 2
        if told.get("padding_mode") == "reflection":
            found = _reflected(found, *((0, size - 1) if aligned else (-0.5, size - 0.5)))
        return found if told.get("padding_mode", "zeros") == "zeros" else min(max(found, 0), size - 1)

    def share(at: float, pixel: int) -> float:
        if told.get("mode") == "nearest":
            return float(np.rint(at) == pixel)
        return max(1 - abs(at - pixel), 0.0)

    def twin(x: np.ndarray, grid: np.ndarray) -> np.ndarray:
        found = np.zeros((*x.shape[:2], *grid.shape[1:3]))
        for n, row, column in np.ndindex(grid.shape[:3]):
            right, down = (place(*both) for both in zip(grid[n, row, column], x.shape[:1:-1], strict=True))
            shares = [
                [share(down, i) * share(right, j) for j in range(x.shape[3])] for i in range(x.shape[2])
            ]
            found[n, :, row, column] = (x[n] * shares).sum((1, 2))
        return found

    return twin


def _read_case(**told: Any) -> Case:
    aligned = told.get("align_corners", True)
    others = {name: value for name, value in told.items() if name != "align_corners"}
    return Case(
        "grid_sampler",
        {"X": IMAGES, "Grid": GRID},
        _read(told),
        lambda t, x, grid: t.nn.functional.grid_sample(x, grid, align_corners=aligned, **others),
        "Output",
        told,
    )


def _affine(aligned: bool) -> Any:
    def twin(theta: np.ndarray) -> np.ndarray:
        right, down = (np.linspace(-1, 1, n) * (1 if aligned else (n - 1) / n) for n in (4, 3))
        points = np.stack(np.broadcast_arrays(right[None], down[:, None], 1.0), -1)
        return np.einsum("hwk,nck->nhwc", points, theta)

    return twin


def _at_places(sizes: Sequence[int]) -> Any:
    def twin(x: np.ndarray, places: np.ndarray) -> np.ndarray:
        found = np.zeros((*x.shape[:2], int(np.prod(sizes))))
        for n, channel in np.ndindex(x.shape[:2]):
            found[n, channel, places[n, channel].reshape(-1)] = x[n, channel].reshape(-1)
        return found.reshape(*x.shape[:2], *sizes)

    return twin


def _torch_places(t: Any, x: Any, places: Any, sizes: Sequence[int]) -> Any:
    flat = x.new_zeros(*x.shape[:2], int(np.prod(sizes)))
    return flat.scatter(2, places.flatten(2), x.flatten(2)).unflatten(2, tuple(sizes))


def _putting_back(type: str, sizes: Sequence[int], values: np.ndarray) -> Case:
    count = int(np.prod(values.shape[2:]))
    lines = [RNG.permutation(int(np.prod(sizes)))[:count] for _ in range(values.shape[0] * values.shape[1])]
    return Case(
        type,
        {"X": values, "Indices": np.stack(lines).reshape(values.shape)},
        _at_places(sizes),
        lambda t, x, places: _torch_places(t, x, places, sizes),
        told={"output_size": list(sizes)},
    )


CASES = [
    *(_resizing("linear", LINES, align_corners=aligned, align_mode=0) for aligned in (True, False)),
    *(_resizing("trilinear", VOLUMES, align_corners=aligned, align_mode=0) for aligned in (True, False)),
    *(_resizing("bicubic", IMAGES, align_corners=aligned) for aligned in (True, False)),
    *(_resizing("bicubic", IMAGES, "", align_corners=aligned, align_mode=1) for aligned in (True, False)),
    _resizing("linear", LINES, align_mode=1),
    _resizing("trilinear", VOLUMES, align_mode=1),
    Case(
        "bicubic_interp_v2",
        {"X": IMAGES.transpose(0, 2, 3, 1)},
        lambda x: _scaled(x.transpose(0, 3, 1, 2)).transpose(0, 2, 3, 1),
        lambda t, x: t.nn.functional.interpolate(
            x.permute(0, 3, 1, 2), scale_factor=1.5, mode="bicubic", align_corners=False
        ).permute(0, 2, 3, 1),
        told={"scale": [1.5, 1.5], "data_layout": "NHWC"},
    ),
    *(
        _read_case(**told)
        for told in (
            {},
            {"align_corners": False},
            {"padding_mode": "border"},
            {"padding_mode": "reflection"},
            {"padding_mode": "reflection", "align_corners": False},
            {"mode": "nearest"},
        )
    ),
    *(
        Case(
            "affine_grid",
            {"Theta": THETA},
            _affine(aligned),
            lambda t, theta, aligned=aligned: t.nn.functional.affine_grid(theta, (2, 1, 3, 4), aligned),
            "Output",
            {"output_shape": [2, 1, 3, 4], "align_corners": aligned},
        )
        for aligned in (True, False)
    ),
    Case(
        "unfold",
        {"X": IMAGES},
        _columns,
        lambda t, x: t.nn.functional.unfold(x, (2, 3), padding=(1, 0), stride=(2, 1)),
        "Y",
        {"kernel_sizes": [2, 3], "strides": [2, 1], "paddings": [1, 0, 1, 0], "dilations": [1, 1]},
    ),
    Case(
        "fold",
        {"X": COLUMNS},
        _put_back,
        "other sides may not have other paddings",
        "Y",
        {
            "output_sizes": [4, 5],
            "kernel_sizes": [2, 3],
            "strides": [1, 2],
            "paddings": [1, 0, 0, 1],
            "dilations": [2, 1],
        },
    ),
    _putting_back("unpool", (4, 3), IMAGES[:, :, :2, :3]),
    _putting_back("unpool3d", (2, 3, 3), VOLUMES),
]
