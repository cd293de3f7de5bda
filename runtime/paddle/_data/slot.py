"""Slot: what a line holds for one variable.

It must never know a program: a variable is whatever has a name, a dtype, a shape and a lod_level.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class Slot:
    """``name``: of the variable. ``shape``: of one sample where it is dense; a sparse one has as many values
    as its line says."""

    name: str
    is_float: bool
    is_dense: bool
    shape: tuple[int, ...] = ()

    @property
    def dtype(self) -> type[np.float32] | type[np.int64]:
        """Of its values."""
        return np.float32 if self.is_float else np.int64


def slots_of(variables: Iterable[Any]) -> tuple[Slot, ...]:
    """The slots of a line, in the order of ``use_var``. Raises ValueError for other dtypes than
    upstream's."""
    return tuple(map(_slot, variables))


def _slot(variable: Any) -> Slot:
    dtype = _dtype_name(variable.dtype)
    if dtype not in ("float32", "int64"):
        raise ValueError(
            f"a dataset fills variables of dtype float32 and int64 alone, and {variable.name} has {dtype}"
        )
    is_dense = not getattr(variable, "lod_level", 0)
    shape = tuple(int(size) for size in variable.shape[1:]) if is_dense else ()
    return Slot(variable.name, dtype == "float32", is_dense, shape)


def _dtype_name(dtype: Any) -> str:
    """Its name as numpy's, whether it is a name, numpy's own, or a DataType of a program."""
    name = str(getattr(dtype, "name", dtype)).rpartition(".")[2].lower()
    return {"fp32": "float32", "fp64": "float64"}.get(name, name)
