"""Snappy: unpacks what the original packed its chunks with. Nothing is packed here.

A stream is blocks, framed in one of two ways; in both a block comes packed or as plain bytes:

    of the ``recordio`` library, which is Snappy's own: a frame is one byte of kind, three of length, then a
        body. Of the kinds, 0xff opens the stream, 0 holds a CRC-32C and a packed block, 1 holds a CRC-32C and
        plain bytes, 0x80 and above may be skipped
    of fluid: behind ``snappy`` and a zero, a block is one byte (0: plain), two of length, the high one first,
        and a CRC-32C, then its bytes

The checksums of frames are not looked at: the chunk around them has one over all its bytes.

It must never know a file. Guarantee: what does not unpack to exactly the lengths that it states raises
CorruptChunk; no more than ``limit`` bytes are ever made.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from paddle._recordio.errors import CorruptChunk

_OPENING = b"\xff\x06\x00\x00sNaPpY"
_PACKED, _PLAIN, _SKIPPABLE = 0x00, 0x01, 0x80
_CHECKSUM_BYTES = 4
_FLUID_OPENING = b"snappy\0"
_FLUID_FRAME = struct.Struct(">?HI")
_LITERAL = 0
_OFFSET_BYTES = {1: 1, 2: 2, 3: 4}


def decode_stream(stream: bytes, limit: int) -> bytes:
    """Unpack a framed stream."""
    if stream.startswith(_OPENING):
        blocks = _blocks(stream)
    elif stream.startswith(_FLUID_OPENING):
        blocks = _fluid_blocks(stream)
    else:
        raise CorruptChunk("snappy: the stream does not begin as one")
    unpacked = bytearray()
    for is_packed, block in blocks:
        unpacked += decode_block(block, limit - len(unpacked)) if is_packed else block
        if len(unpacked) > limit:
            raise CorruptChunk(f"snappy: the stream unpacks to more than {limit} bytes")
    return bytes(unpacked)


def decode_block(block: bytes, limit: int) -> bytes:
    """Unpack one block: its length unpacked, then literals and copies of what is unpacked already."""
    try:
        length, at = _varint(block)
        if length > limit:
            raise CorruptChunk(f"snappy: a block says that it unpacks to {length} bytes")
        unpacked = bytearray()
        while at < len(block) and len(unpacked) <= length:
            element = _literal if block[at] & 3 == _LITERAL else _copy
            at = element(block, at, unpacked)
    except IndexError:
        raise CorruptChunk("snappy: a block ends too early") from None
    if len(unpacked) != length or at != len(block):
        raise CorruptChunk("snappy: a block does not unpack to the length it states")
    return bytes(unpacked)


def _blocks(stream: bytes) -> Iterator[tuple[bool, bytes]]:
    """The blocks of Snappy's own frames, and whether they are packed."""
    at = 0
    while at < len(stream):
        kind, body = stream[at], at + 4
        at = body + int.from_bytes(stream[at + 1 : body], "little")
        if at > len(stream):
            raise CorruptChunk("snappy: the stream ends inside a frame")
        if kind in (_PACKED, _PLAIN):
            yield kind == _PACKED, stream[body + _CHECKSUM_BYTES : at]
        elif kind < _SKIPPABLE:
            raise CorruptChunk(f"snappy: a frame of kind {kind}, which nobody knows")


def _fluid_blocks(stream: bytes) -> Iterator[tuple[bool, bytes]]:
    """The same of fluid's."""
    at = len(_FLUID_OPENING)
    while at < len(stream):
        begin = at + _FLUID_FRAME.size
        if begin > len(stream):
            raise CorruptChunk("snappy: the stream ends inside a frame")
        is_packed, length, _ = _FLUID_FRAME.unpack_from(stream, at)
        at = begin + length
        if at > len(stream):
            raise CorruptChunk("snappy: the stream ends inside a frame")
        yield is_packed, stream[begin:at]


def _varint(block: bytes) -> tuple[int, int]:
    """A number of at most 32 bits, seven in each byte, and where it ends."""
    value = 0
    for at in range(5):
        value |= (block[at] & 0x7F) << (7 * at)
        if block[at] < 0x80:
            return value, at + 1
    raise CorruptChunk("snappy: the length of a block has too many bytes")


def _literal(block: bytes, at: int, unpacked: bytearray) -> int:
    """Bytes as they are: up to 60 are counted in the tag, more in one to four bytes after it."""
    length, at = block[at] >> 2, at + 1
    if length >= 60:
        extra = length - 59
        length, at = int.from_bytes(block[at : at + extra], "little"), at + extra
    end = at + length + 1
    if end > len(block):
        raise CorruptChunk("snappy: a block ends inside a literal")
    unpacked += block[at:end]
    return end


def _copy(block: bytes, at: int, unpacked: bytearray) -> int:
    """Bytes that came before, perhaps reaching into themselves; a near one has its length in three bits."""
    tag, kind = block[at], block[at] & 3
    end = at + 1 + _OFFSET_BYTES[kind]
    offset = int.from_bytes(block[at + 1 : end], "little")
    length = (tag >> 2) + 1
    if kind == 1:
        offset |= (tag >> 5) << 8
        length = (tag >> 2 & 7) + 4
    if end > len(block) or not 0 < offset <= len(unpacked):
        raise CorruptChunk("snappy: a copy of bytes that are not there")
    seen = unpacked[-offset:]
    unpacked += (seen * (length // offset + 1))[:length] if length > offset else seen[:length]
    return end
