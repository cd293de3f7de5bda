"""LoD tensor: the bytes in which fluid keeps a variable, alone in a file or one after another.

Four bytes 0 (a version); eight bytes the number of levels, and for each its length in bytes and its offsets;
four bytes 0 (a version); four bytes the length of a TensorDesc message, and this: type (field 1) and
dimensions (field 2, each by itself); then the values. All numbers are little-endian.

It must never know a program. Guarantee: what is written is read by the original, and what it writes is read
here; bytes that are no such tensor are a BadModelFile, and nothing is allocated for what is not there.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from typing import IO

import numpy as np

from paddle._engine.errors import BadModelFile
from paddle._engine.protobuf import DecodeError, Field, Message

_VERSION = struct.Struct("<I")
_LEVELS = struct.Struct("<Q")
_DESC_SIZE = struct.Struct("<i")
_TYPES = {2: "<i4", 3: "<i8", 5: "<f4", 6: "<f8"}
_FLOAT32 = 5
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
    desc = _TensorDesc(data_type=_FLOAT32, dims=shape).SerializeToString()
    file.write(_VERSION.pack(0) + _LEVELS.pack(0) + _VERSION.pack(0) + _DESC_SIZE.pack(len(desc)) + desc)
    for piece in pieces:
        file.write(np.ascontiguousarray(piece, "<f4").data)


def read(file: IO[bytes]) -> np.ndarray:
    """Read one variable; its levels are passed over. Raises BadModelFile."""
    found = next(read_all(file), None)
    if found is None:
        raise BadModelFile("there is no tensor: the file has ended")
    return found


def read_all(file: IO[bytes]) -> Iterator[np.ndarray]:
    """All that follow each other in a file. Raises BadModelFile."""
    while start := file.read(_VERSION.size):
        yield _tensor(file, start)


def _tensor(file: IO[bytes], start: bytes) -> np.ndarray:
    _check_version(start)
    (levels,) = _LEVELS.unpack(_exactly(file, _LEVELS.size))
    for _ in range(levels):
        (size,) = _LEVELS.unpack(_exactly(file, _LEVELS.size))
        _exactly(file, size)
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
