"""The members of a tar file: what they are called, and where their bytes are. It reads headers only.

A file that others made may say anything. Python's own reader believes it: a size for which it makes room, a
member of which most is a hole, a header as long as the file that an expression goes through again and again.
Here nothing is made room for that is not there, and nothing is ever put on a disk.

It must never know what a member is. Guarantee: what is given lies in the file; a file that is cut off, or
whose headers are none, is a BadModelFile; time and memory follow from the number of members. Of links,
folders and devices nothing is given.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO

from paddle._engine.errors import BadModelFile

_BLOCK = 512
_CHECK = slice(148, 156)
_FILES = (b"0", b"\0", b"7")
_LONG_NAME, _PAX, _PAX_OF_ALL = b"L", b"x", b"g"
_SPARSE = b"S"
_LONGEST_NAME = 1 << 14  # bytes of a header that has a name in it
_MOST, _DIGITS = 1 << 62, 19  # bytes
_RECORD = re.compile(rb"(\d{1,5}) ([^=]{1,100})=")  # its length, itself included, and what it is of


@dataclass(frozen=True, slots=True)
class Member:
    """One: ``size`` bytes from ``start`` on."""

    name: str
    start: int
    size: int


def members(file: IO[bytes]) -> Iterator[Member]:
    """All of a file from where it is open, in order. Raises BadModelFile."""
    at = first = file.tell()
    told: dict[bytes, bytes] = {}  # of the next one, in a header of its own
    while (header := _header(file, at, is_first=at == first)) is not None:
        kind, start = header[156:157], at + _BLOCK
        size = _number(header[124:136])
        if kind in (_LONG_NAME, _PAX):
            told |= _told(kind, _text(file, start, size))
        elif kind != _PAX_OF_ALL:
            if kind == _SPARSE or any(name.startswith(b"GNU") for name in told):
                raise BadModelFile("a member of the file has holes, which no parameter has")
            size = min(int(told.get(b"size", size)), _MOST)
            _check_there(file, start + size)
            if kind in _FILES:
                yield Member(_decoded(told.get(b"path") or _name(header)), start, size)
            told = {}
        at = start + -(-size // _BLOCK) * _BLOCK


def _header(file: IO[bytes], at: int, *, is_first: bool) -> bytes | None:
    """The header at a place; None at the end."""
    file.seek(at)
    header = file.read(_BLOCK)
    if not header.strip(b"\0") and (header or not is_first):
        return None
    total = sum(header) - sum(header[_CHECK]) + 8 * ord(" ")
    if len(header) < _BLOCK or _number(header[_CHECK]) != total:
        raise BadModelFile(f"it is not a tar file, or a damaged one: at byte {at} there is no member of it")
    return header


def _number(field: bytes) -> int:
    """A number in octal digits, or where these are too few, in bytes behind a sign."""
    if field[:1] == b"\x80":
        value = int.from_bytes(field[1:], "big")
    else:
        digits = field.strip(b" \0") or b"0"
        value = int(digits, 8) if digits.isdigit() and b"8" not in digits and b"9" not in digits else -1
    if not 0 <= value < _MOST:
        raise BadModelFile(f"a number in a header of the file is none: {field!r}")
    return value


def _check_there(file: IO[bytes], end: int) -> None:
    """Whether the file has that many bytes; its whole length a packed one knows only at its end."""
    if end:
        file.seek(end - 1)
        if not file.read(1):
            raise BadModelFile(f"the file was cut off: a member of it ends at byte {end}")


def _text(file: IO[bytes], start: int, size: int) -> bytes:
    if size > _LONGEST_NAME:
        raise BadModelFile(f"a name in the file has {size} bytes")
    file.seek(start)
    return file.read(size)


def _told(kind: bytes, text: bytes) -> dict[bytes, bytes]:
    """What a header says of the member behind it."""
    if kind == _LONG_NAME:
        return {b"path": text.rstrip(b"\0")}
    told = dict(_records(text.rstrip(b"\0")))
    if not told.get(b"size", b"0").isdigit() or len(told.get(b"size", b"")) > _DIGITS:
        raise BadModelFile(f"a size in the file is none: {told[b'size']!r:.100}")
    return told


def _records(text: bytes) -> Iterator[tuple[bytes, bytes]]:
    """What is said and of what. A value may hold anything, ends of lines too: its length is what counts."""
    at = 0
    while at < len(text):
        record = _RECORD.match(text, at)
        end = at + int(record[1]) if record else at
        if record is None or end <= record.end() or text[end - 1 : end] != b"\n":
            raise BadModelFile(f"a header of the file is none: {text[at:]!r:.100}")
        yield record[2], text[record.end() : end - 1]
        at = end


def _name(header: bytes) -> bytes:
    name, prefix = (part.partition(b"\0")[0] for part in (header[:100], header[345:500]))
    return prefix + b"/" + name if prefix and header[257:263] == b"ustar\0" else name


def _decoded(name: bytes) -> str:
    try:
        return name.decode()
    except UnicodeDecodeError as error:
        raise BadModelFile(f"a member of the file has a name that is not a text: {name!r:.100}") from error
