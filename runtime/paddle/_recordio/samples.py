"""Samples: what ``paddle.dataset.common.convert`` puts into a record, and how it comes out again.

A record is the byte 0xc1, which begins neither msgpack nor a pickle, the version 1, and one msgpack value.
Extension 1 is a tuple (an array inside), 2 a numpy array, 3 a numpy number (both: dtype, shape, bytes).
Records that do not begin so are taken for those of the original, which pickled: see ``pickled.py``.

It must never know what a sample means. Guarantee: ``decode(encode(sample))`` equals the sample, type by type,
for numbers, texts, bytes, None, lists, tuples, dicts and numpy arrays of numbers or texts; everything else is
refused by name.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np

from paddle._recordio import pickled
from paddle._recordio.errors import BadRecord

_BEGINNING = b"\xc1\x01"
_TUPLE, _ARRAY, _NUMBER = 1, 2, 3
_ATOMS = (type(None), bool, int, float, str, bytes)

_encode = msgspec.msgpack.encode


def encode(sample: Any) -> bytes:
    """Make the record of a sample. Raises BadRecord for what no record can hold."""
    try:
        return _BEGINNING + _encode(_tree(sample))
    except (OverflowError, RecursionError) as error:
        raise BadRecord(f"a sample cannot be written: {error}") from None


def is_sample(record: bytes) -> bool:
    """Whether a record is a sample that was written here."""
    return record.startswith(_BEGINNING)


def decode(record: bytes) -> Any:
    """Give the sample of a record, one of the original's too. Raises BadRecord or NotPlain."""
    if not is_sample(record):
        return pickled.load(record)
    try:
        return _DECODER.decode(memoryview(record)[len(_BEGINNING) :])
    except (msgspec.DecodeError, ValueError, TypeError, RecursionError) as error:
        raise BadRecord(f"a record does not decode: {error}") from None


def _tree(value: Any) -> Any:
    """The value in what msgpack has."""
    kind = type(value)
    if kind in _ATOMS:
        return value
    if kind is tuple:
        return msgspec.msgpack.Ext(_TUPLE, _encode([_tree(item) for item in value]))
    if kind is list:
        return [_tree(item) for item in value]
    if kind is dict:
        return {_key(key): _tree(item) for key, item in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return _array(value)
    raise BadRecord(
        f"a sample holds a {kind.__module__}.{kind.__qualname__}, which no record can: samples are numbers, "
        "texts, lists, tuples, dicts and numpy arrays"
    )


def _key(key: Any) -> Any:
    if type(key) not in _ATOMS:
        raise BadRecord(f"a sample holds a dict with the key {key!r}: keys are numbers and texts")
    return key


def _array(value: np.ndarray[Any, Any] | np.generic) -> msgspec.msgpack.Ext:
    if value.dtype.kind not in pickled.PLAIN_KINDS:
        raise BadRecord(
            f"a sample holds an array of {value.dtype}, which no record can: convert it to numbers"
        )
    parts = (value.dtype.str, value.shape, value.tobytes())
    return msgspec.msgpack.Ext(_NUMBER if isinstance(value, np.generic) else _ARRAY, _encode(parts))


def _untuple(data: memoryview) -> Any:
    return tuple(_ITEMS.decode(data))


def _unarray(data: memoryview) -> Any:
    name, shape, raw = _PARTS.decode(data)
    dtype = np.dtype(name)
    if (
        dtype.kind not in pickled.PLAIN_KINDS
        or dtype.itemsize * math.prod(shape) != len(raw)
        or min(shape, default=0) < 0
    ):
        raise ValueError(f"an array of {name} and shape {shape} in {len(raw)} bytes")
    return np.frombuffer(raw, dtype).reshape(shape).copy()  # the copy can be written to


_EXTENSIONS: dict[int, Callable[[memoryview], Any]] = {
    _TUPLE: _untuple,
    _ARRAY: _unarray,
    _NUMBER: lambda data: _unarray(data)[()],
}


def _extension(code: int, data: memoryview) -> Any:
    if code not in _EXTENSIONS:
        raise ValueError(f"extension {code} is of a newer release")
    return _EXTENSIONS[code](data)


_DECODER = msgspec.msgpack.Decoder(ext_hook=_extension)
_ITEMS = msgspec.msgpack.Decoder(list[Any], ext_hook=_extension)
_PARTS = msgspec.msgpack.Decoder(tuple[str, tuple[int, ...], bytes])
