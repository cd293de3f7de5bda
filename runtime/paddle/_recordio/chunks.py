"""Chunks: how a RecordIO file is laid out, read and written.

A file is chunks, one after the other. A chunk is a header of five little-endian 32-bit numbers and a payload;
the payload, once decompressed, is records, each after its length in 32 bits. Two layouts of the header exist:

    of the ``recordio`` library (Go, and ``import recordio`` in Python), in which data sets are written here:
        magic, CRC-32 of the payload, compressor, bytes of the payload, number of records
    of fluid (C++), in which its writer writes:
        magic, number of records, CRC-32 of the payload, compressor, bytes of the payload

Both are read. A payload has at least the four bytes of a length and a compressor is 0 (none), 1 (snappy) or
2 (gzip), so that no header fits both: where one says compressor, the other says bytes of the payload.

It must never know what a record means.

Guarantee: ``read_chunk`` gives the records exactly as they were written, or raises CorruptChunk that names
the file and the byte; of a chunk that says it is larger than the limit nothing is read.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from paddle._recordio import snappy
from paddle._recordio.errors import CorruptChunk

MAX_CHUNK_BYTES = 1 << 20
"""Bytes of records after which a chunk is full, unless the writer says otherwise. A task of the queue is some
chunks, so that smaller ones spread a small data set over more trainers."""
LIMIT_BYTES = 1 << 30
"""No chunk may be larger, packed or unpacked."""

_MAGIC = 0x01020304
_NUMBERS = struct.Struct("<5I")
_LENGTH = struct.Struct("<I")
_NONE, _SNAPPY, _GZIP = range(3)
_READ_AT_ONCE = 1 << 20


@dataclass(frozen=True, slots=True)
class Chunk:
    """Where a chunk stands. ``offset``: of its header; ``size``: bytes of its payload."""

    offset: int
    records: int
    checksum: int
    compressor: int
    size: int

    @property
    def end(self) -> int:
        """The byte after its last."""
        return self.offset + _NUMBERS.size + self.size


def chunks_of(path: str | Path) -> Iterator[Chunk]:
    """Give the chunks of a file by their headers; payloads are not looked at."""
    with Path(path).open("rb") as file:
        last, offset = file.seek(0, 2), 0
        while offset < last:
            chunk = _header(file, offset, path)
            yield chunk
            offset = chunk.end


def check_chunk(path: str | Path, offset: int) -> None:
    """Compare the checksum of the chunk at ``offset``, in little memory."""
    with Path(path).open("rb") as file:
        chunk = _header(file, offset, path)
        left, checksum = chunk.size, 0
        while left and (piece := file.read(min(left, _READ_AT_ONCE))):
            checksum = zlib.crc32(piece, checksum)
            left -= len(piece)
    if checksum != chunk.checksum:
        raise CorruptChunk(f"{path}: the chunk at byte {offset} has another checksum than its header says")


def read_chunk(path: str | Path, offset: int) -> list[bytes]:
    """Give the records of the chunk whose header stands at ``offset``."""
    with Path(path).open("rb") as file:
        chunk = _header(file, offset, path)
        payload = file.read(chunk.size)
    if zlib.crc32(payload) != chunk.checksum:
        raise CorruptChunk(f"{path}: the chunk at byte {offset} has another checksum than its header says")
    try:
        return list(_records(_unpacked(payload, chunk.compressor), chunk.records))
    except CorruptChunk as error:
        raise CorruptChunk(f"{path}: the chunk at byte {offset}: {error}") from None


def records_of(path: str | Path) -> Iterator[bytes]:
    """Give all records of a file, chunk by chunk."""
    for chunk in chunks_of(path):
        yield from read_chunk(path, chunk.offset)


def write_records(file: IO[bytes], records: Iterable[bytes], max_chunk_bytes: int = MAX_CHUNK_BYTES) -> None:
    """Append ``records`` in chunks of at most ``max_chunk_bytes`` each, or of one record; not compressed."""
    waiting: list[bytes] = []
    waiting_bytes = 0
    for record in records:
        if waiting and waiting_bytes + len(record) > max_chunk_bytes:
            _write_chunk(file, waiting)
            waiting, waiting_bytes = [], 0
        waiting.append(record)
        waiting_bytes += len(record)
    if waiting:
        _write_chunk(file, waiting)


def write_fluid_chunk(file: IO[bytes], records: Sequence[bytes]) -> None:
    """Append a chunk of these records in the layout of fluid; not compressed."""
    payload = _payload(records)
    file.write(_NUMBERS.pack(_MAGIC, len(records), zlib.crc32(payload), _NONE, len(payload)))
    file.write(payload)


def _write_chunk(file: IO[bytes], records: Sequence[bytes]) -> None:
    payload = _payload(records)
    file.write(_NUMBERS.pack(_MAGIC, zlib.crc32(payload), _NONE, len(payload), len(records)))
    file.write(payload)


def _payload(records: Sequence[bytes]) -> bytes:
    payload = b"".join(part for record in records for part in (_LENGTH.pack(len(record)), record))
    if len(payload) > LIMIT_BYTES:
        raise ValueError(f"a record of {len(payload)} bytes is larger than a chunk may be ({LIMIT_BYTES})")
    return payload


def _header(file: IO[bytes], offset: int, path: str | Path) -> Chunk:
    """Read the header at ``offset``; leaves the file at its payload."""
    last = file.seek(0, 2)
    file.seek(offset)
    found = file.read(_NUMBERS.size)
    if len(found) == _NUMBERS.size:
        magic, *numbers = _NUMBERS.unpack(found)
        for chunk in _readings(offset, numbers) if magic == _MAGIC else ():
            if chunk.size > LIMIT_BYTES:
                raise CorruptChunk(f"{path}: the chunk at byte {offset} says that it has {chunk.size} bytes")
            if chunk.end > last:
                raise CorruptChunk(f"{path}: ends inside the chunk at byte {offset}")
            return chunk
    raise CorruptChunk(f"{path}: there is no header of a chunk at byte {offset}; is it a RecordIO file?")


def _readings(offset: int, numbers: Sequence[int]) -> Iterator[Chunk]:
    """What a header means by each layout, of those that it can mean: one at most."""
    first, second, third, fourth = numbers
    for records, checksum, compressor, size in (
        (fourth, first, second, third),
        (first, second, third, fourth),
    ):
        if compressor in (_NONE, _SNAPPY, _GZIP) and size >= _LENGTH.size:
            yield Chunk(offset, records, checksum, compressor, size)


def _unpacked(payload: bytes, compressor: int) -> bytes:
    if compressor == _SNAPPY:
        return snappy.decode_stream(payload, LIMIT_BYTES)
    if compressor == _GZIP:
        return _gunzip(payload)
    return payload


def _gunzip(payload: bytes) -> bytes:
    """Unpack one gzip member, which is what a chunk holds."""
    unpacker = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
    try:
        unpacked = unpacker.decompress(payload, LIMIT_BYTES)
    except zlib.error as error:
        raise CorruptChunk(f"gzip: {error}") from None
    if not unpacker.eof or unpacker.unused_data:
        raise CorruptChunk("gzip: what is packed does not end where it should")
    return unpacked


def _records(unpacked: bytes, count: int) -> Iterator[bytes]:
    at = 0
    for number in range(count):
        end = at + _LENGTH.size
        if end > len(unpacked):
            raise CorruptChunk(f"ends before record {number} of {count}")
        at, end = end, end + _LENGTH.unpack_from(unpacked, at)[0]
        if end > len(unpacked):
            raise CorruptChunk(f"ends inside record {number} of {count}")
        yield unpacked[at:end]
        at = end
    if at != len(unpacked):
        raise CorruptChunk(f"has {len(unpacked) - at} bytes more than its {count} records")
