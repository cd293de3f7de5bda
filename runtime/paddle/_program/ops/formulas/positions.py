"""What is made of where an element stands: waves added to words by their place, parts cut out of images at
places that are drawn, and which places of images are alike.

It must never know an operator's block. Guarantee: what is drawn follows from the seed alone, as in 1.8: the
same one cuts the same parts there.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from paddle._program.description.dtypes import VarType
from paddle._program.description.operator import Operator
from paddle._program.errors import BadProgram
from paddle._program.lowering.op_rows import backs, hosts
from paddle._program.ops.formulas.formula import Attrs, Formula, Shape
from paddle._program.running.host import Host
from paddle._program.running.lod_tensor import LoDTensor
from paddle._program.running.tape import Done, Slopes

_LONGEST = 10000.0


def _waves(count: int, width: int) -> np.ndarray:
    """(count, width): of each place sines in the first half, cosines in the second."""
    half = width // 2
    apart = _LONGEST ** (np.arange(half) / (half - 1)) if half > 1 else np.full(half, _LONGEST)
    turns = np.arange(count)[:, None] / apart
    return np.concatenate([np.sin(turns), np.cos(turns)], 1)


def _of_words(op: Operator) -> None:
    x, out = (op.block._var_recursive(name) for name in (op.input("X")[0], op.output("Out")[0]))
    rank = 2 if x.lod_level else 3
    if len(x.shape) != rank or x.shape[-1] % 2:
        raise BadProgram(
            f"operator {op.type!r} (written at {op.where}): words are (n, length, width), or (n, width) in "
            f"sequences, of an even width, not {list(x.shape)}"
        )
    out.shape, out.dtype, out.lod_level = x.shape, x.dtype, x.lod_level


@hosts("add_position_encoding", infer=_of_words, alpha=1.0, beta=1.0)
def _placed(host: Host, op: Operator) -> None:
    x = host.input(op, "X")
    rows, lod = np.asarray(x), x.lod() if isinstance(x, LoDTensor) else []
    if lod:
        waves = np.concatenate([_waves(end - begin, rows.shape[1]) for begin, end in pairwise(lod[-1])])
    else:
        waves = _waves(*rows.shape[1:])
    found = (op.attr("alpha") * rows + op.attr("beta") * waves).astype(np.float32)
    host.give(op, "Out", LoDTensor(found, lod) if lod else found)


@backs("add_position_encoding")
def _placed_back(done: Done, slopes: Slopes) -> None:
    came = slopes.take(done.op.output("Out")[0])
    if came is not None:
        done.add(slopes, "X", (np.asarray(came) * done.op.attr("alpha")).astype(np.float32))


_PRIME, _FACTOR = 2**31 - 1, 48271


class _Draws:
    """The numbers of the standard's minimal generator, and whole ones that libstdc++ makes of them."""

    def __init__(self, seed: int, skipped: int) -> None:
        first = seed % 2**64 % _PRIME or 1
        self._state = first * pow(_FACTOR, skipped, _PRIME) % _PRIME

    def number(self) -> int:
        """The next one."""
        self._state = self._state * _FACTOR % _PRIME
        return self._state

    def below(self, count: int) -> int:
        """From 0 to below ``count``, each equally likely."""
        share = (_PRIME - 2) // count
        while (found := (self.number() - 1) // share) >= count:
            pass
        return found


def _of_parts(op: Operator) -> None:
    x, out = (op.block._var_recursive(name) for name in (op.input("X")[0], op.output("Out")[0]))
    sizes = [int(size) for size in op.attr("shape")]
    whole = x.shape[len(x.shape) - len(sizes) :]
    if not 1 <= len(sizes) < len(x.shape) or any(
        size > most >= 0 for size, most in zip(sizes, whole, strict=True)
    ):
        raise BadProgram(
            f"operator 'random_crop' (written at {op.where}): parts of {sizes} are not of images of "
            f"{list(x.shape[1:])}"
        )
    out.shape, out.dtype = (*x.shape[: len(x.shape) - len(sizes)], *sizes), x.dtype
    for name in op.output("SeedOut"):
        seed = op.block._var_recursive(name)
        seed.shape, seed.dtype = (1,), VarType.INT64


@hosts("random_crop", infer=_of_parts, shape=(), startup_seed=0)
def _parts(host: Host, op: Operator) -> None:
    """``startup_seed`` is for the first run; each run leaves a seed for the next one."""
    x, sizes = np.asarray(host.input(op, "X")), [int(size) for size in op.attr("shape")]
    (name,) = op.input("Seed")
    seed = int(np.asarray(host.get(name)).reshape(-1)[0]) if host.has(name) else int(op.attr("startup_seed"))
    several, apart = x.shape[: x.ndim - len(sizes)], x.shape[x.ndim - len(sizes) :]
    images = x.reshape(-1, *apart)
    found = np.empty((len(images), *sizes), x.dtype)
    for at, image in enumerate(images):
        draws = _Draws(seed, at * len(sizes))
        starts = [draws.below(most - size + 1) for size, most in zip(sizes, apart, strict=True)]
        found[at] = image[tuple(slice(one, one + size) for one, size in zip(starts, sizes, strict=True))]
    host.give(op, "Out", found.reshape(*several, *sizes))
    host.give(op, "SeedOut", np.array([_Draws(seed, len(images) * len(sizes)).number()], np.int64))


def _first_of_each(image: np.ndarray) -> list[tuple[int, int]]:
    """The greatest element, the greatest that is in neither its row nor its column, and so on."""
    rows, columns = np.unravel_index(np.argsort(-image, axis=None, kind="stable"), image.shape)
    taken: list[tuple[int, int]] = []
    free = [np.ones(size, bool) for size in image.shape]
    for row, column in zip(rows.tolist(), columns.tolist(), strict=True):
        if free[0][row] and free[1][column]:
            free[0][row] = free[1][column] = False
            taken.append((row, column))
    return taken


def _focused(told: Attrs, x: np.ndarray) -> np.ndarray:
    axis, found = int(told["axis"]), np.zeros_like(x)
    if max(told["indexes"]) >= x.shape[axis] or min(told["indexes"]) < 0:
        raise ValueError(f"{list(told['indexes'])} are not places of axis {axis} of {list(x.shape)}")
    for turned, of in zip(np.moveaxis(found, axis, 1), np.moveaxis(x, axis, 1), strict=True):
        for index in told["indexes"]:
            for row, column in _first_of_each(of[index]):
                turned[:, row, column] = 1
    return found


def _focused_shape(told: Attrs, x: Shape) -> Shape:
    if len(x) != 4:
        raise ValueError(f"similarity_focus is of four axes, not of {list(x)}")
    return x


Formula(
    "similarity_focus",
    "X",
    "Out",
    _focused,
    lambda told, arrays, outs, came: [np.zeros_like(came)],
    _focused_shape,
).register(axis=1, indexes=(0,))


def _moved(told: Attrs, x: np.ndarray, back: bool = False) -> np.ndarray:
    shifts = [-int(by) if back else int(by) for by in told["shifts"]]
    axes = tuple(told.get("dims", told["axis"]))
    return np.roll(x, shifts, axes) if axes else np.roll(x, shifts[0])


Formula(
    "roll",  # of sizes that are open; others are lowered (choosing.py)
    "X",
    "Out",
    _moved,
    lambda told, arrays, outs, came: [_moved(told, came, back=True)],
).register()
