"""Parameter tar: the file in which v2 keeps the parameters of a network.

For each parameter there are member ``NAME``: four bytes 0, four bytes 4, eight bytes the number of values,
little-endian, then the float32 values; and member ``NAME.protobuf``, its ParameterConfig.

It must never know a network. Guarantee: equal parameters give equal bytes; of values that come in pieces only
one is in memory. A file that is read may be anybody's: no room is made for values that are not in it, nothing
of it is run or put on a disk, and what is not as above is a BadModelFile.
"""

from __future__ import annotations

import io
import math
import struct
import tarfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Set
from contextlib import contextmanager
from itertools import chain
from typing import IO, Any

import numpy as np

from paddle._engine.checkpoint.parameter_config import ParameterConfig
from paddle._engine.checkpoint.tar_members import Member, members
from paddle._engine.errors import BadModelFile
from paddle._engine.protobuf import DecodeError

_HEADER = struct.Struct("<IIQ")
_FORMAT, _VALUE_SIZE = 0, 4
_CONFIG = ".protobuf"
_LONGEST_CONFIG = 1 << 16
_MOST_DIMS = 32
_PORTION = 1 << 24


def open_to_write(file: IO[bytes]) -> tarfile.TarFile:
    """A tar file such as all of these are; to be closed."""
    return tarfile.open(fileobj=file, mode="w", format=tarfile.GNU_FORMAT)


def add(tar: tarfile.TarFile, config: ParameterConfig, size: int, pieces: Iterable[np.ndarray]) -> None:
    """Add a parameter; ``pieces`` are its ``size`` values in order."""
    _add(tar, config.name, _HEADER.size + _VALUE_SIZE * size, _content(size, pieces))
    about = config.SerializeToString()
    _add(tar, f"{config.name}{_CONFIG}", len(about), iter([about]))


def serialized(value: np.ndarray) -> bytes:
    """The member of one parameter."""
    return b"".join(_content(value.size, [value]))


def read(file: IO[bytes]) -> Iterator[tuple[ParameterConfig, np.ndarray]]:
    """All parameters of a file, with their values. Raises BadModelFile.

    The file may be packed, and is gone through twice: once for what is in it, once for the values.
    """
    with _honest():
        found = {member.name: member for member in members(file)}
        configs = [_config(file, member) for name, member in found.items() if name.endswith(_CONFIG)]
        _check_described(file, found, {config.name for config in configs})
        for config in configs:
            if config.name not in found:
                raise BadModelFile(f"the file names parameter {config.name!r} and does not hold it")
            member = found[config.name]
            file.seek(member.start)
            yield config, _values(file, config.name, shape_of(config), member.size)


def shape_of(config: ParameterConfig) -> tuple[int, ...]:
    """The shape of a parameter."""
    return tuple(config.dims) or (1, config.size)


def values_of(content: bytes, name: str, shape: tuple[int, ...]) -> np.ndarray:
    """The values in a member. Raises BadModelFile where they are not of that shape."""
    return _values(io.BytesIO(content), name, shape, len(content))


def _check_described(file: IO[bytes], found: Mapping[str, Member], names: Set[str]) -> None:
    """A description stands behind its parameter: it may be what was cut off."""
    for name in [name for name in found if name not in names and not name.endswith(_CONFIG)]:
        file.seek(found[name].start)
        if file.read(8) == _HEADER.pack(_FORMAT, _VALUE_SIZE, 0)[:8]:
            raise BadModelFile(
                f"the file holds parameter {name!r} and does not say what it is: it was cut off"
            )


def _config(file: IO[bytes], member: Member) -> ParameterConfig:
    if member.size > _LONGEST_CONFIG:
        raise BadModelFile(f"{member.name!r} has {member.size:,} bytes, and says of one parameter what it is")
    file.seek(member.start)
    try:
        return ParameterConfig.FromString(file.read(member.size))
    except DecodeError as error:
        raise BadModelFile(f"{member.name!r} does not decode: {error}") from error


def _values(file: IO[bytes], name: str, shape: tuple[int, ...], size: int) -> np.ndarray:
    """So many bytes of a file as values of that shape; room is made for them once they agree."""
    count = math.prod(shape) if len(shape) <= _MOST_DIMS else -1
    if size != _HEADER.size + _VALUE_SIZE * count or count < 0:
        shown = f"{shape}" if len(shape) <= _MOST_DIMS else f"of {len(shape)} dimensions"
        raise BadModelFile(f"the file of parameter {name!r} is damaged: {size} bytes for shape {shown}")
    if _HEADER.unpack(file.read(_HEADER.size)) != (_FORMAT, _VALUE_SIZE, count):
        raise BadModelFile(f"the file of parameter {name!r} is damaged: it does not begin as values do")
    values = np.empty(count, "<f4")
    room = values.data.cast("B") if count else memoryview(b"")
    while room:
        portion = file.read(min(len(room), _PORTION))
        if not portion:
            raise BadModelFile(f"the file of parameter {name!r} was cut off")
        room[: len(portion)] = portion
        room = room[len(portion) :]
    return np.ascontiguousarray(values, np.float32).reshape(shape)


@contextmanager
def _honest() -> Iterator[None]:
    """What a packed file says of itself may be wrong, too."""
    try:
        yield
    except (EOFError, zlib.error) as error:
        raise BadModelFile(f"the file cannot be unpacked: {error}") from error


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
