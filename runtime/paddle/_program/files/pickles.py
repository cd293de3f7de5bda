"""Pickled dictionaries of arrays, ``.pdparams`` and ``.pdopt``, and what 2.x pickles besides: written as
numpy of the original's time reads them, and read as data, never as a program.

Guarantee: what is read is names and arrays; a pickle that asks for anything else is refused, and nothing that
it names is imported or called.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping
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


class Expressed:
    """An array that is pickled as 2.x pickles a LoDTensor: an expression, "data", and what it is then."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def __reduce__(self) -> Any:
        return eval, ("data", {"data": self.array})  # the builtin is named in the file, and never called here


def save(path: Path, values: Mapping[str, np.ndarray], protocol: int = 2) -> None:
    """Write arrays by their names."""
    arrays = {name: np.asarray(value, order="C") for name, value in values.items()}
    write_whole(path, lambda file: dump(file, arrays, protocol))


def dump(file: IO[bytes], value: Any, protocol: int) -> None:
    """Write a value, arrays named as numpy has named them at all times."""
    if protocol not in _PROTOCOLS or isinstance(protocol, bool):
        raise BadArgument(f"the protocol of a pickled state is 2, 3 or 4, and not {protocol!r}")
    _Writer(file, protocol).dump(value)


def load(path: Path) -> dict[str, np.ndarray]:
    """The arrays of a file by their names."""
    try:
        found = parsed(path, path.read_bytes())
    except FileNotFoundError:
        raise MissingFile(f"there is no {path}") from None
    if not isinstance(found, dict):
        raise BadFile(f"{path} holds a {type(found).__name__}, and not values by their names")
    return {name: value for name, value in found.items() if isinstance(value, np.ndarray)}


def parsed(path: Any, data: bytes) -> Any:
    """What the bytes of a file hold, arrays that were cut in pieces in one."""
    try:
        found = load_plain(data, _MAKERS)
    except NotPlain as error:
        said = str(error).partition(". ")[0]  # what follows is advice about data sets
        raise BadFile(f"{path} is not read: {said}. States are arrays by their names, nothing else") from None
    if not isinstance(found, dict) or _BY_PIECES not in found:
        return found
    pieces = found.pop(_BY_PIECES)
    arrays = {name: value for name, value in found.items() if isinstance(value, np.ndarray)}
    joined = _joined(path, arrays, pieces)
    return {**{name: value for name, value in found.items() if name not in _slices(pieces)}, **joined}


def _expressed(expression: Any, names: Any) -> Any:
    """The array that the one name of an expression says: see Expressed."""
    if expression != "data" or type(names) is not dict or list(names) != ["data"]:
        raise NotPlain("a pickled state asks for an expression to be computed")
    return names["data"]


_HOLDERS: dict[str, Callable[..., Any]] = {
    "tuple": lambda items=(): tuple(items),
    "set": lambda items=(): set(items),
    "eval": _expressed,
}
_MAKERS: dict[tuple[str, str], Callable[..., Any]] = {
    ("collections", "OrderedDict"): lambda items=(): dict(items),
    **{(module, name): make for module in ("__builtin__", "builtins") for name, make in _HOLDERS.items()},
}


def _slices(pieces: Any) -> set[str]:
    return {each for said in pieces.values() for each in said["slices"]}


def _joined(path: Any, arrays: dict[str, np.ndarray], pieces: Any) -> dict[str, np.ndarray]:
    try:
        return {
            name: np.concatenate([arrays.pop(each) for each in said["slices"]]).reshape(said["OriginShape"])
            for name, said in pieces.items()
        }
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise BadFile(f"{path}: its list of arrays in pieces does not fit them ({error!r})") from None
