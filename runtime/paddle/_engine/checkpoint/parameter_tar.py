"""Parameter tar: the file in which v2 keeps the parameters of a network.

For each parameter there are member ``NAME``: four bytes 0, four bytes 4, eight bytes the number of values,
little-endian, then the float32 values; and member ``NAME.protobuf``, its ParameterConfig.

It must never know a network. Guarantee: equal parameters give equal bytes; of values that come in pieces only
one is in memory.
"""

from __future__ import annotations

import io
import struct
import tarfile
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import IO, Any

import numpy as np

from paddle._engine.checkpoint.parameter_config import ParameterConfig

_HEADER = struct.Struct("<IIQ")
_FORMAT, _VALUE_SIZE = 0, 4


def open_to_write(file: IO[bytes]) -> tarfile.TarFile:
    """A tar file such as all of these are; to be closed."""
    return tarfile.open(fileobj=file, mode="w", format=tarfile.GNU_FORMAT)


def add(tar: tarfile.TarFile, config: ParameterConfig, size: int, pieces: Iterable[np.ndarray]) -> None:
    """Add a parameter; ``pieces`` are its ``size`` values in order."""
    _add(tar, config.name, _HEADER.size + _VALUE_SIZE * size, _content(size, pieces))
    about = config.SerializeToString()
    _add(tar, f"{config.name}.protobuf", len(about), iter([about]))


def serialized(value: np.ndarray) -> bytes:
    """The member of one parameter."""
    return b"".join(_content(value.size, [value]))


def values_of(content: bytes, name: str, shape: tuple[int, ...]) -> np.ndarray:
    """The values in a member. Raises ValueError where they are not of that shape."""
    header = _HEADER.unpack_from(content) if len(content) >= _HEADER.size else None
    values = np.frombuffer(content, "<f4", offset=_HEADER.size) if header else np.empty(0)
    if header != (_FORMAT, _VALUE_SIZE, values.size) or values.size != np.prod(shape):
        raise ValueError(f"the file of parameter {name!r} is damaged: {len(content)} bytes for shape {shape}")
    return values.reshape(shape)


def _content(size: int, pieces: Iterable[np.ndarray]) -> Iterator[bytes]:
    values = (np.ascontiguousarray(piece, "<f4").tobytes() for piece in pieces)
    return chain([_HEADER.pack(_FORMAT, _VALUE_SIZE, size)], values)


def _add(tar: tarfile.TarFile, name: str, size: int, content: Iterator[bytes]) -> None:
    info = tarfile.TarInfo(name)  # its time is 0: equal parameters give equal bytes
    info.size = size
    tar.addfile(info, io.BufferedReader(_Stream(content)))


class _Stream(io.RawIOBase):
    """What an iterator gives, as a file to read."""

    def __init__(self, content: Iterator[bytes]) -> None:
        self._content = content
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._rest:
            try:
                self._rest = memoryview(next(self._content))
            except StopIteration:
                return 0
        count = min(len(buffer), len(self._rest))
        buffer[:count], self._rest = self._rest[:count], self._rest[count:]
        return count
