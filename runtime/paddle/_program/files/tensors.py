"""Files of tensors: one for each variable, or one for several in a row, as operators ``save`` and
``save_combine`` of the original write them.

It must never know a scope. Guarantee: a file that lacks something, has too much of it, or another shape
than a variable says, is a BadFile that names file, variable and both shapes, and nothing of it is taken.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import IO, Any

import numpy as np

from paddle._engine.checkpoint import lod_tensor
from paddle._engine.errors import BadModelFile
from paddle._program.description.variable import Variable
from paddle._program.errors import BadFile, MissingFile
from paddle._program.files.whole import write_whole
from paddle._program.running.lod_tensor import LoDTensor

Shape = Sequence[int]

_GIVEN = Path("what was given as bytes")
"""Stands for a file in what is said of values that come from none."""


def path_of(folder: str | Path, name: str) -> Path:
    """The file of a variable in a folder; a name that leads out of it is refused."""
    inner = PurePosixPath(name)
    if not name or inner.is_absolute() or ".." in inner.parts or "\0" in name:
        raise BadFile(
            f"variable {name!r} has no file of its own in {folder}: its name leads out of the folder"
        )
    return Path(folder) / inner


def save_one(path: Path, tensor: LoDTensor) -> None:
    """Write one variable's file."""
    write_whole(path, lambda file: _write(file, tensor))


def write_one(file: IO[bytes], tensor: LoDTensor) -> None:
    """Write one to an open file."""
    _write(file, tensor)


def parsed(data: bytes) -> LoDTensor:
    """The tensor of these bytes. Raises BadModelFile, a ValueError, where they are none."""
    (found,) = lod_tensor.read_levels(BytesIO(data))
    return LoDTensor(*found)


def save_several(path: Path, tensors: Sequence[LoDTensor]) -> None:
    """Write several, one after another. Who reads them must know their names, in this order."""

    def write(file: IO[bytes]) -> None:
        for tensor in tensors:
            _write(file, tensor)

    write_whole(path, write)


def bytes_of_several(tensors: Sequence[LoDTensor]) -> bytes:
    """What such a file would hold."""
    file = BytesIO()
    for tensor in tensors:
        _write(file, tensor)
    return file.getvalue()


def load_bytes(given: bytes, wanted: Mapping[str, Shape | None]) -> dict[str, LoDTensor]:
    """The variables of what such a file holds."""
    return _read(_GIVEN, BytesIO(given), wanted)


def load_one(path: Path, name: str, shape: Shape | None = None) -> LoDTensor:
    """The variable of a file. ``shape``: what it has to be, -1 for any length; None: anything."""
    return load_several(path, {name: shape})[name]


def load_several(path: Path, wanted: Mapping[str, Shape | None]) -> dict[str, LoDTensor]:
    """The variables of a file, which has them in the order of ``wanted``. Of none there need be no file:
    the original writes none of a model without parameters."""
    try:
        with path.open("rb") as file:
            return _read(path, file, wanted)
    except (FileNotFoundError, NotADirectoryError):
        if not wanted:
            return {}
        raise MissingFile(f"there is no {path}, from which {_listed(list(wanted))} would be read") from None
    except IsADirectoryError:
        raise BadFile(f"{path} is a folder, and {_listed(list(wanted))} would be read from a file") from None


def _read(path: Path, file: IO[bytes], wanted: Mapping[str, Shape | None]) -> dict[str, LoDTensor]:
    found: dict[str, LoDTensor] = {}
    try:
        _take(path, lod_tensor.read_levels(file), wanted, found)
    except BadModelFile as error:
        last = list(wanted)[min(len(found), len(wanted) - 1)]
        raise BadFile(f"{path}, where variable {last!r} is expected: {error}") from None
    return found


def _take(
    path: Path,
    rest: Iterator[tuple[np.ndarray, Any]],
    wanted: Mapping[str, Shape | None],
    found: dict[str, LoDTensor],
) -> None:
    for name, shape in wanted.items():
        pair = next(rest, None)
        if pair is None:
            raise BadFile(_too_few(path, name, len(found), wanted))
        found[name] = _fitting(path, name, pair[0], pair[1], shape)
    if next(rest, None) is not None:
        raise BadFile(f"{path} holds more than the {len(found)} variables asked for: {_listed(list(found))}")


def shape_of(variable: Variable) -> Shape | None:
    """What a file has to hold for a variable."""
    return variable.shape if variable.has_shape else None


def fits(shape: Shape, wanted: Shape) -> bool:
    """Whether values of this shape are such."""
    return len(shape) == len(wanted) and all(w in (-1, s) for s, w in zip(shape, wanted, strict=True))


def with_axis(array: np.ndarray, wanted: Shape | None) -> np.ndarray:
    """The same; a number without axes, as a learning rate is kept since 2.5, has one where one is wanted, and
    one that has an axis, as before, none where none is."""
    if wanted is None or {array.ndim, len(wanted)} != {0, 1} or array.size != 1:
        return array
    return array.reshape((1,) * len(wanted))


def _write(file: IO[bytes], tensor: LoDTensor) -> None:
    lod_tensor.write_levels(file, np.asarray(tensor), tensor.lod())


def _fitting(path: Path, name: str, array: np.ndarray, levels: Any, shape: Shape | None) -> LoDTensor:
    array = with_axis(array, shape)
    if shape is not None and not fits(array.shape, shape):
        raise BadFile(
            f"{path}: variable {name!r} has the shape {list(shape)} in the program, and {list(array.shape)} "
            "in this file: it was saved by another network, or with other variables before it"
        )
    return LoDTensor(array, levels)


def _too_few(path: Path, name: str, found: int, wanted: Mapping[str, Any]) -> str:
    return (
        f"{path} holds {found} variables, and {len(wanted)} are to be read from it; the first that it "
        f"lacks is {name!r}. The program has more variables than the one that saved it"
    )


def _listed(names: list[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:3])
    return f"variable {shown}" if len(names) <= 3 else f"variables {shown} and {len(names) - 3} more"
