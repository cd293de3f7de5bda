"""Pickled dictionaries of arrays, ``.pdparams`` and ``.pdopt``: written as numpy of the original's time reads
them, and read as data, never as a program.

Guarantee: what is read is names and arrays; a pickle that asks for anything else is refused, and nothing that
it names is imported or called.
"""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np

from paddle._program.errors import BadArgument, BadFile, MissingFile
from paddle._program.files.whole import write_whole
from paddle._recordio.errors import NotPlain
from paddle._recordio.pickled import load as load_plain

_BY_PIECES = "UnpackBigParamInfor@@"  # in 2.x: arrays that were too large for protocols 2 and 3
_PROTOCOLS = range(2, 5)  # those in which arrays are named as they have always been
_ARRAYS = "numpy.core.multiarray"  # where numpy of all times finds it


class _Writer(pickle._Pickler):
    """Names numpy's maker of arrays by the module that it had before 2.0."""

    def save_global(self, obj: Any, name: str | None = None) -> None:
        """Write a name."""
        if getattr(obj, "__name__", "") != "_reconstruct":
            super().save_global(obj, name)  # type: ignore[misc]
            return
        self.write(pickle.GLOBAL + f"{_ARRAYS}\n_reconstruct\n".encode())  # type: ignore[attr-defined]
        self.memoize(obj)  # type: ignore[attr-defined]


def save(path: Path, values: Mapping[str, np.ndarray], protocol: int = 2) -> None:
    """Write arrays by their names."""
    if protocol not in _PROTOCOLS:
        raise BadArgument(f"the protocol of a pickled state is 2, 3 or 4, and not {protocol!r}")

    def write(file: IO[bytes]) -> None:
        _Writer(file, protocol).dump({name: np.ascontiguousarray(value) for name, value in values.items()})

    write_whole(path, write)


def load(path: Path) -> dict[str, np.ndarray]:
    """The arrays of a file by their names."""
    try:
        found = load_plain(path.read_bytes())
    except FileNotFoundError:
        raise MissingFile(f"there is no {path}") from None
    except NotPlain as error:
        said = str(error).partition(". ")[0]  # what follows is advice about data sets
        raise BadFile(f"{path} is not read: {said}. States are arrays by their names, nothing else") from None
    if not isinstance(found, dict):
        raise BadFile(f"{path} holds a {type(found).__name__}, and not values by their names")
    pieces = found.pop(_BY_PIECES, {})
    arrays = {name: value for name, value in found.items() if isinstance(value, np.ndarray)}
    return {**arrays, **_joined(path, arrays, pieces)} if pieces else arrays


def _joined(path: Path, arrays: dict[str, np.ndarray], pieces: Any) -> dict[str, np.ndarray]:
    try:
        return {
            name: np.concatenate([arrays.pop(each) for each in said["slices"]]).reshape(said["OriginShape"])
            for name, said in pieces.items()
        }
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise BadFile(f"{path}: its list of arrays in pieces does not fit them ({error!r})") from None
