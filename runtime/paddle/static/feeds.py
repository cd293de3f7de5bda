"""What a program is fed: ``paddle.static.data`` and what says so beforehand, ``InputSpec``.

It must never know a feed. Guarantee: None and -1 in a shape both mean any size.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paddle import _mode
from paddle._program.description.dtypes import dtype_of
from paddle._program.description.guards import default_main_program
from paddle.framework import get_default_dtype

__all__ = ["InputSpec", "data"]


def data(name: str, shape: Sequence[int | None], dtype: Any = None, lod_level: int = 0) -> Any:
    """A variable that every run is fed. ``lod_level``: how deep sequences are nested; of one level or more
    the first size is that of all their rows."""
    _mode.need_static("paddle.static.data")
    if not isinstance(name, str) or not isinstance(shape, (list, tuple)):
        raise TypeError(f"paddle.static.data takes a name and a list of sizes, not {name!r} and {shape!r}")
    return (
        default_main_program()
        .global_block()
        .create_var(
            name,
            shape=[-1 if size is None else int(size) for size in shape],
            dtype=dtype_of(dtype or get_default_dtype()),
            lod_level=lod_level,
            stop_gradient=True,
            is_data=True,
            need_check_feed=True,
        )
    )


class InputSpec:
    """The shape, dtype and name of an input, and if no gradient goes into it."""

    def __init__(
        self,
        shape: Sequence[int | None],
        dtype: Any = "float32",
        name: str | None = None,
        stop_gradient: bool = False,
    ) -> None:
        self.shape = tuple(-1 if size is None else int(size) for size in shape)
        self.dtype = dtype_of(dtype)
        self.name = name
        self.stop_gradient = stop_gradient

    @classmethod
    def from_tensor(cls, tensor: Any, name: str | None = None) -> InputSpec:
        """That of a variable."""
        return cls(tensor.shape, tensor.dtype, name or tensor.name)

    @classmethod
    def from_numpy(cls, ndarray: Any, name: str | None = None) -> InputSpec:
        """That of an array."""
        return cls(ndarray.shape, ndarray.dtype, name)

    def batch(self, batch_size: int) -> InputSpec:
        """With a first axis more."""
        self.shape = (int(batch_size), *self.shape)
        return self

    def unbatch(self) -> InputSpec:
        """Without its first axis."""
        self.shape = self.shape[1:]
        return self

    def __repr__(self) -> str:
        told = f"shape={self.shape}, dtype={self.dtype}, name={self.name}"
        return f"InputSpec({told}, stop_gradient={self.stop_gradient})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, InputSpec) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((self.shape, self.dtype, self.name, self.stop_gradient))
