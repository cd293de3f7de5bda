"""Arrays of numbers in files that MATLAB wrote (version 5 of the format, as of 1996; compressed or not).

It must never know what the arrays are for. Guarantee: an array comes as it was written, or an error says what
is not read: texts, structures, cells, sparse and complex arrays.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np

__all__ = ["read"]

_NUMBERS = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
_MATRIX, _COMPRESSED = 14, 15
_HEADER = 128
_DENSE_CLASSES = range(6, 16)
_COMPLEX = 0x0800


def read(path: str | Path, name: str) -> np.ndarray:
    """Return the array ``name`` of a file."""
    content = Path(path).read_bytes()
    order = {b"IM": "<", b"MI": ">"}.get(content[126:_HEADER])
    if order is None:
        raise ValueError(f"{path} is not a file of MATLAB's version 5")
    names = []
    for type, data in _elements(content[_HEADER:], order):
        ((type, data),) = _elements(zlib.decompress(data), order) if type == _COMPRESSED else ((type, data),)
        if type != _MATRIX:
            continue
        parts = list(_elements(data, order))
        names.append(parts[2][1].decode("latin-1"))
        if names[-1] == name:
            return _array(path, name, parts, order)
    raise KeyError(f"{path} has no array {name!r}; it has {', '.join(names)}")


def _array(path: str | Path, name: str, parts: list[tuple[int, bytes]], order: str) -> np.ndarray:
    flags = struct.unpack(f"{order}I", parts[0][1][:4])[0]
    if flags & 0xFF not in _DENSE_CLASSES or flags & _COMPLEX or parts[3][0] not in _NUMBERS:
        raise ValueError(f"{path}: {name!r} is no dense array of real numbers")
    shape = np.frombuffer(parts[1][1], f"{order}i4")
    return np.frombuffer(parts[3][1], order + _NUMBERS[parts[3][0]]).reshape(shape, order="F")


def _elements(content: bytes, order: str) -> Iterator[tuple[int, bytes]]:
    """Type and bytes of what stands one behind the other; small ones are within their own mark."""
    at = 0
    while at + 8 <= len(content):
        type, size = struct.unpack_from(f"{order}II", content, at)
        if type >> 16:
            yield type & 0xFFFF, content[at + 4 : at + 4 + (type >> 16)]
            at += 8
            continue
        yield type, content[at + 8 : at + 8 + size]
        at += 8 + size + (-size % 8 if type != _COMPRESSED else 0)
