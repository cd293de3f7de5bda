"""Snapshot file: a shard's state as the bytes of a safetensors file, and back.

The arrays are the file's tensors, the facts its metadata: a file that can be read by others, and that cannot
execute anything. It must never know a disk, or whether the bytes are whole.

Guarantee: what was encoded decodes to the same bits; an array that is ``Streamed`` never lies in memory as a
whole on the way to the file, nor does one that is looked at in ``opened`` on the way from it.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import msgspec
import numpy as np
from safetensors.numpy import load

from paddle._pserver.protocol.messages import Count
from paddle._pserver.shard.state import Facts, State
from paddle._pserver.tables.streamed import Array, pieces

_DTYPES = {"float32": "F32", "float64": "F64", "int64": "I64"}
_NAMES = {code: name for name, code in _DTYPES.items()}
_PART_BYTES = 1 << 20


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


def decoded(data: bytes, *, is_regular: bool) -> State:
    """What ``encoded`` made of it; any complaint is a ValueError."""
    try:
        arrays = load(data)
        _, facts, _ = _header(memoryview(data))
    except Exception as error:  # safetensors' own is derived from Exception alone
        raise ValueError(f"it does not decode: {error}") from error
    return State(facts, arrays, is_regular)


def opened(data: memoryview) -> Opened:
    """The same, to look at; ``data`` has been checked. Raises ValueError."""
    try:
        begin, facts, entries = _header(data)
        arrays = {}
        for name, entry in entries.items():
            first, last = entry.data_offsets
            flat = np.frombuffer(data[begin + first : begin + last], _NAMES[entry.dtype])
            arrays[name] = flat.reshape(entry.shape)
    except (AttributeError, LookupError, OverflowError, RecursionError, TypeError, ValueError) as error:
        raise ValueError(f"it does not decode: {error}") from error
    return Opened(facts, arrays)


def _header(data: memoryview) -> tuple[int, Facts, dict[str, _Tensor]]:
    """Where the arrays begin, the facts, and where each array is."""
    begin = 8 + int.from_bytes(data[:8], "little")
    entries = json.loads(bytes(data[8:begin]))
    facts = msgspec.msgpack.decode(base64.b64decode(entries.pop("__metadata__")["facts"]), type=Facts)
    return begin, facts, msgspec.convert(entries, dict[str, _Tensor])
