"""LoD tensor: the bytes in which fluid keeps a variable, alone in a file or one after another.

Four bytes 0 (a version); eight bytes the number of levels, and for each its length in bytes and its offsets;
four bytes 0 (a version); four bytes the length of a TensorDesc message, and this: type (field 1) and
dimensions (field 2, each by itself); then the values. All numbers are little-endian.

It must never know a program. Guarantee: what is written is read by the original, and what it writes is read
here; bytes that are no such tensor are a BadModelFile, and nothing is allocated for what is not there.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import IO

import numpy as np

from paddle._engine.errors import BadModelFile
from paddle._engine.protobuf import DecodeError, Field, Message

_VERSION = struct.Struct("<I")
_LEVELS = struct.Struct("<Q")
_DESC_SIZE = struct.Struct("<i")
_TYPES = {
    **{0: "|b1", 1: "<i2", 2: "<i4", 3: "<i8", 4: "<f2", 5: "<f4", 6: "<f8"},
    **{20: "|u1", 21: "|i1"},
}
_NUMBERS = {np.dtype(name): number for number, name in _TYPES.items()}
_FLOAT32 = 5
_MOST_LEVELS = 8
_MOST_OFFSETS = 1 << 32
Levels = list[list[int]]
_MOST_DESC = 1 << 16
_MOST_DIMS = 32
_LONGEST = 500


class _TensorDesc(Message):
    """The original's VarType.TensorDesc."""

    FIELDS = {  # noqa: RUF012
        "data_type": Field(1, "int32"),
        "dims": Field(2, "int64", repeated=True),
    }


def write(file: IO[bytes], shape: tuple[int, ...], pieces: Iterable[np.ndarray]) -> None:
    """Write float32 values of ``shape``, which come in ``pieces``, in order."""
    _write_head(file, _FLOAT32, shape, ())
    for piece in pieces:
        file.write(np.ascontiguousarray(piece, "<f4").data)


def write_levels(file: IO[bytes], array: np.ndarray, levels: Sequence[Sequence[int]] = ()) -> None:
    """Write an array of any dtype, with the offsets of its sequences level by level."""
    number = _NUMBERS.get(array.dtype.newbyteorder("<"))
    if number is None:
        raise ValueError(f"an array of {array.dtype} cannot be kept in a file of the original's")
    _write_head(file, number, array.shape, levels)
    if array.size:
        file.write(np.ascontiguousarray(array, _TYPES[number]).reshape(-1).view(np.uint8).data)


def _write_head(
    file: IO[bytes], data_type: int, shape: Sequence[int], levels: Sequence[Sequence[int]]
) -> None:
    desc = _TensorDesc(data_type=data_type, dims=shape).SerializeToString()
    file.write(_VERSION.pack(0) + _LEVELS.pack(len(levels)))
    for level in levels:
        offsets = np.asarray(level, "<u8")
        file.write(_LEVELS.pack(offsets.nbytes) + offsets.tobytes())
    file.write(_VERSION.pack(0) + _DESC_SIZE.pack(len(desc)) + desc)


def read(file: IO[bytes]) -> np.ndarray:
    """Read one variable without its levels. Raises BadModelFile."""
    found = next(read_all(file), None)
    if found is None:
        raise BadModelFile("there is no tensor: the file has ended")
    return found


def read_all(file: IO[bytes]) -> Iterator[np.ndarray]:
    """All that follow each other in a file. Raises BadModelFile."""
    return (array for array, _ in read_levels(file))


def read_levels(file: IO[bytes]) -> Iterator[tuple[np.ndarray, Levels]]:
    """All that follow each other in a file, each with the offsets of its sequences. Raises BadModelFile."""
    while start := file.read(_VERSION.size):
        _check_version(start)
        levels = _levels(file)
        array = _tensor(file)
        if levels and levels[-1][-1] != (array.shape[0] if array.ndim else 0):
            raise BadModelFile(f"sequences of {levels[-1][-1]} rows in a tensor of the shape {array.shape}")
        yield array, levels


def _levels(file: IO[bytes]) -> Levels:
    (count,) = _LEVELS.unpack(_exactly(file, _LEVELS.size))
    if count > _MOST_LEVELS:
        raise BadModelFile(f"a tensor has {count} levels of sequences, {_MOST_LEVELS} are the most")
    found: Levels = []
    for _ in range(count):
        (size,) = _LEVELS.unpack(_exactly(file, _LEVELS.size))
        if size % 8 or not 0 < size <= _MOST_OFFSETS:
            raise BadModelFile(f"the offsets of a tensor's sequences take {size} bytes")
        level = np.frombuffer(_exactly(file, size), "<u8").tolist()
        if level[0] != 0 or any(after < before for before, after in pairwise(level)):
            raise BadModelFile("the offsets of a tensor's sequences do not begin with 0 and rise")
        found.append(level)
    return found


def _tensor(file: IO[bytes]) -> np.ndarray:
    _check_version(_exactly(file, _VERSION.size))
    (size,) = _DESC_SIZE.unpack(_exactly(file, _DESC_SIZE.size))
    if not 0 < size <= _MOST_DESC:
        raise BadModelFile(f"a tensor's description has {size} bytes")
    try:
        desc = _TensorDesc.FromString(_exactly(file, size))
    except DecodeError as error:
        raise BadModelFile(f"a tensor's description does not decode: {error}") from error
    dtype = np.dtype(_TYPES.get(desc.data_type, "V0"))
    if not dtype.itemsize or len(desc.dims) > _MOST_DIMS or any(length < 0 for length in desc.dims):
        said = f"a tensor of type {desc.data_type} and shape {desc.dims}"
        raise BadModelFile(f"{said[:_LONGEST]} is not read here")
    count = 1
    for length in desc.dims:
        count *= length
    return np.frombuffer(_exactly(file, count * dtype.itemsize), dtype).reshape(desc.dims)


def _check_version(found: bytes) -> None:
    if found != _VERSION.pack(0):
        raise BadModelFile(f"a tensor begins with {found.hex()} and not with version 0")


def _exactly(file: IO[bytes], size: int) -> bytes:
    """So many bytes, in portions: what a damaged length asks for is not allocated before it is there."""
    parts: list[bytes] = []
    missing = size
    while missing:
        part = file.read(min(missing, 1 << 24))
        if not part:
            raise BadModelFile(f"a tensor ends {missing} bytes too early")
        parts.append(part)
        missing -= len(part)
    return b"".join(parts)
