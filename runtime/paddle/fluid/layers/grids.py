"""Images read at places of one's own, and images as blocks of pixels."""

from __future__ import annotations

from collections.abc import Sequence

from paddle._program.description.variable import Variable
from paddle._program.errors import BadArgument
from paddle.fluid.layers.appending import appended

__all__ = ["affine_grid", "grid_sampler", "space_to_depth"]


def affine_grid(theta: Variable, out_shape: Variable | Sequence[int], name: str | None = None) -> Variable:
    """Where each pixel of images of ``out_shape``, (n, channels, height, width), is read: ``theta``, (n, 2,
    3), times (x, y, 1), which go from -1 to 1 over an image: (n, height, width, 2). As in 1.8.5 ``name`` is
    not asked."""
    if isinstance(out_shape, Variable):
        return appended("affine_grid", {"Theta": theta, "OutputShape": out_shape}, out="Output")
    if not isinstance(out_shape, list | tuple) or len(out_shape) != 4:
        raise BadArgument(f"affine_grid: out_shape is four sizes or a Variable, not {out_shape!r}")
    return appended("affine_grid", {"Theta": theta}, {"output_shape": list(out_shape)}, out="Output")


def grid_sampler(x: Variable, grid: Variable, name: str | None = None) -> Variable:
    """Images (n, channels, height, width) read between pixels at ``grid``, (n, rows, columns, 2), of x and y
    from -1 to 1; beyond an image there is 0."""
    return appended("grid_sampler", {"X": x, "Grid": grid}, out="Output", name=name)


def space_to_depth(x: Variable, blocksize: int, name: str | None = None) -> Variable:
    """(n, channels * blocksize**2, height / blocksize, width / blocksize): pixels among the channels, in the
    order in which 1.8.5 lays them: channels are cut into blocksize**2 parts, which are woven into one image
    of that many times the size, and what lies in memory then is read in the shape above."""
    if not isinstance(blocksize, int) or isinstance(blocksize, bool) or blocksize < 1:
        raise BadArgument(f"space_to_depth: blocksize is a whole number above 0, not {blocksize!r}")
    sizes = zip(x.shape[1:], (blocksize**2, blocksize, blocksize), strict=True) if len(x.shape) == 4 else ()
    if len(x.shape) != 4 or any(size > 0 and size % part for size, part in sizes):
        raise BadArgument(
            f"space_to_depth: channels are parted by {blocksize**2}, height and width by {blocksize}, and "
            f"{list(x.shape)} cannot be"
        )
    return appended("space_to_depth", {"X": x}, {"blocksize": blocksize}, name=name)
