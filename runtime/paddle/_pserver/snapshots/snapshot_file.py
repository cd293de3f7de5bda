"""Snapshot file: a shard's state as the bytes of a safetensors file, and back.

The arrays are the file's tensors, the facts its metadata: a file that can be read by others, and that cannot
execute anything. It must never know a disk, or whether the bytes are whole.

Guarantee: what was encoded decodes to the same bits; an array that is ``Streamed`` never lies in memory as a
whole on the way to the file, nor does any on the way from it.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod

import msgspec
import numpy as np

from paddle._pserver.protocol.messages import Count
from paddle._pserver.shard.state import Facts, State
from paddle._pserver.snapshots.storage import Read
from paddle._pserver.tables.streamed import Array, Streamed, pieces

_DTYPES = {"float32": "F32", "float64": "F64", "int64": "I64"}
_NAMES = {code: name for name, code in _DTYPES.items()}
_PART_BYTES = 1 << 20
_MAX_HEADER_BYTES = 100_000_000  # as safetensors allows
_COMPLAINTS = (AttributeError, LookupError, OverflowError, RecursionError, TypeError, ValueError)


@dataclass(frozen=True, slots=True)
class Opened:
    """A state to look at: the arrays are views of the file."""

    facts: Facts
    arrays: Mapping[str, np.ndarray]


class _Tensor(msgspec.Struct, frozen=True):
    """One array's row in the header of the file."""

    dtype: str
    shape: tuple[Count, ...]
    data_offsets: tuple[Count, Count]


Arrays = Mapping[str, Array]


def encoded(facts: Facts, arrays: Arrays) -> Iterator[memoryview]:
    """The bytes of the file, without another copy of the arrays."""
    header: dict[str, object] = {
        "__metadata__": {"facts": base64.b64encode(msgspec.msgpack.encode(facts)).decode("ascii")}
    }
    at = 0
    for name, array in arrays.items():
        header[name] = {
            "dtype": _DTYPES[array.dtype.name],
            "shape": list(array.shape),
            "data_offsets": [at, at + array.nbytes],
        }
        at += array.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    yield memoryview(len(text).to_bytes(8, "little") + text)
    for array in arrays.values():
        for piece in pieces(array):
            raw = np.ascontiguousarray(piece).reshape(-1).view(np.uint8).data
            for start in range(0, raw.nbytes, _PART_BYTES):
                yield raw[start : start + _PART_BYTES]


def decoded(read: Read, size: int, *, is_regular: bool) -> State:
    """What ``encoded`` made of it, ``size`` bytes. Any complaint is a ValueError, also of an array
    that is read later and is there no more."""
    try:
        begin, facts, entries = _header(read)
        if begin + max((entry.data_offsets[1] for entry in entries.values()), default=0) > size:
            raise ValueError("an array is said to lie behind its end")
        arrays = {name: _stored(read, begin, entry) for name, entry in entries.items()}
    except _COMPLAINTS as error:
        raise ValueError(f"it does not decode: {error}") from error
    return State(facts, arrays, is_regular)


def _stored(read: Read, begin: int, entry: _Tensor) -> Streamed:
    """An array of the file, row after row."""
    first, last = entry.data_offsets
    dtype = np.dtype(_NAMES[entry.dtype])
    row_bytes = prod(entry.shape[1:]) * dtype.itemsize
    if prod(entry.shape) * dtype.itemsize != last - first:
        raise ValueError(f"{last - first} bytes are said to be {entry.dtype} {entry.shape}")
    portion = max(1, _PART_BYTES // max(1, row_bytes)) * row_bytes

    def pieces() -> Iterator[np.ndarray]:
        for at in range(first, last, max(1, portion)):
            raw = read(begin + at, min(portion, last - at))
            yield np.frombuffer(raw, dtype).reshape(-1, *entry.shape[1:])

    return Streamed(dtype, entry.shape, pieces)


def opened(data: memoryview) -> Opened:
    """The same, to look at; ``data`` has been checked. Raises ValueError."""
    try:
        begin, facts, entries = _header(lambda first, size: bytes(data[first : first + size]))
        arrays = {}
        for name, entry in entries.items():
            first, last = entry.data_offsets
            flat = np.frombuffer(data[begin + first : begin + last], _NAMES[entry.dtype])
            arrays[name] = flat.reshape(entry.shape)
    except _COMPLAINTS as error:
        raise ValueError(f"it does not decode: {error}") from error
    return Opened(facts, arrays)


def _header(read: Read) -> tuple[int, Facts, dict[str, _Tensor]]:
    """Where the arrays begin, the facts, and where each array is."""
    size = int.from_bytes(read(0, 8), "little")
    if size > _MAX_HEADER_BYTES:
        raise ValueError(f"its header is said to have {size} bytes")
    begin, entries = 8 + size, json.loads(read(8, size))
    facts = msgspec.msgpack.decode(base64.b64decode(entries.pop("__metadata__")["facts"]), type=Facts)
    return begin, facts, msgspec.convert(entries, dict[str, _Tensor])
