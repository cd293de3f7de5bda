"""Framing: how a message and its raw values travel on a byte stream. No I/O here.

    header (24 bytes)   magic, version, kind, length of meta, length of body, xxh32 of these
    meta                a small encoded message (see messages.py)
    body                raw values, straight from and into the arrays of the two sides, in portions of 1 MiB
    check (8 bytes)     after meta and every portion: xxh3 of everything before it but the other checks

A checksum follows what it is of, so that both sides compute it piece by piece while the piece is in cache;
the header has a check of its own, so that a damaged length is found at once. The meta is checked before it is
read: what was damaged is not taken for what somebody said. A body is checked portion by portion, so that a
receiver may use what it has of a long one (``FrameReader.checked``).

It must never know what a message means, nor where bytes come from.

Guarantee: a frame is handed out only whole and with the right checksums, and no byte counts as checked before
all up to it are; lengths are checked against the limits before anything is allocated; whatever the bytes, the
only exceptions are FrameErrors.
"""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
import xxhash

from paddle._pserver.errors import BadMessage, ChecksumMismatch, FrameTooLarge, NotAFrame

MAGIC = b"PDPS"
VERSION = 2
PORTION_BYTES = 1 << 20
SLICE_BYTES = 1 << 18  # what is hashed, then sent, while it is in cache
MAX_BUFFERS = 512  # per system call; well below Linux' IOV_MAX of 1024

_FIELDS = struct.Struct("<4sBBxxIQ")
_CHECK = struct.Struct("<I")
_DIGEST = struct.Struct("<Q")
HEADER_BYTES = _FIELDS.size + _CHECK.size
_STAGING_BYTES = 1 << 15

Message = TypeVar("Message")
Place = Callable[[int, memoryview, int], tuple[Message, Sequence[memoryview]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The most that one frame may bring."""

    meta_bytes: int = 4 << 20
    body_bytes: int = 64 << 30


def pieces(
    kind: int, meta: bytes, body: Sequence[memoryview] = (), *, copy: bool = False
) -> Iterator[list[memoryview]]:
    """The frame as groups of buffers, each group at most about ``SLICE_BYTES`` and ``MAX_BUFFERS`` long.

    ``body``: byte views; they must not change until the group that holds them has been sent, unless ``copy``.
    """
    left = sum(part.nbytes for part in body)
    fields = _FIELDS.pack(MAGIC, VERSION, kind, len(meta), left)
    head = fields + _CHECK.pack(xxhash.xxh32_intdigest(fields)) + meta
    digest = xxhash.xxh3_64(head)
    group, size, portion = [memoryview(head), _check(digest)], len(head), PORTION_BYTES
    for part in body:
        at = 0
        while at < part.nbytes:
            piece = part[at : at + min(SLICE_BYTES, portion)]
            at, portion, left = at + piece.nbytes, portion - piece.nbytes, left - piece.nbytes
            if copy:
                piece = memoryview(bytes(piece))
            if size + piece.nbytes > SLICE_BYTES or len(group) >= MAX_BUFFERS:
                yield group
                group, size = [], 0
            digest.update(piece)
            group.append(piece)
            size += piece.nbytes
            if not portion or not left:
                group.append(_check(digest))
                portion = PORTION_BYTES
    yield group


def _check(digest: xxhash.xxh3_64) -> memoryview:
    return memoryview(_DIGEST.pack(digest.intdigest()))


def bytes_of(array: np.ndarray) -> memoryview:
    """The memory of a C-contiguous array, writable where the array is."""
    return array.reshape(-1).view(np.uint8).data


class FrameReader(Generic[Message]):
    """Turns received bytes into messages, with bodies written where they belong.

    Ask :meth:`buffers` where the next bytes go, receive into them, tell how many came with :meth:`received`.

    ``place(kind, meta, body_length)`` is called when a frame's meta is there: it returns the decoded message
    and the writable byte views that take the body (together exactly ``body_length`` long), or raises. After
    an error the reader is not to be used any more. ``limits`` may change between messages. ``checked``: how
    many bytes of the body of the message under way have come and are right.

    Messages are handed out one by one: a frame is placed only after the message before it has been dealt
    with, so that what that one brought is not overwritten.
    """

    def __init__(self, place: Place[Message], limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        self.checked = 0
        self._place = place
        self._staging = memoryview(bytearray(_STAGING_BYTES))
        self._start = self._end = 0  # of the bytes in staging that are not consumed yet
        self._header = memoryview(bytearray(HEADER_BYTES))
        self._check = memoryview(bytearray(_DIGEST.size))
        self._body: deque[memoryview] = deque()  # the targets of portions to come
        self._digest = xxhash.xxh3_64()
        self._message: Message
        self._portion: list[memoryview] = []
        self._kind = self._body_length = 0
        self._expect(self._read_header, [self._header])

    def buffers(self) -> list[memoryview]:
        """Where the next bytes go: never empty, each view never empty; the last one may stay unfilled."""
        staging = self._staging[self._end :]
        return [*self._room(), staging] if self._direct else [staging]

    def received(self, count: int) -> Iterator[Message]:
        """The messages that ``count`` more bytes, written into :meth:`buffers`, complete.

        To be exhausted before :meth:`buffers` is asked again.
        """
        if self._direct:
            direct = min(count, sum(view.nbytes for view in self._room()))
            self._filled(direct)
            count -= direct
        self._end += count
        while self._drain():
            yield from self._step()
        if self._start == self._end:
            self._start = self._end = 0
        elif self._end == _STAGING_BYTES:  # a header or check cut by the end of staging
            rest = bytes(self._staging[self._start : self._end])
            self._staging[: len(rest)] = rest
            self._start, self._end = 0, len(rest)

    @property
    def idle(self) -> bool:
        """Whether the stream may end here: no frame has begun."""
        return (
            self._target == 0
            and self._at == 0
            and self._targets[0] is self._header
            and self._start == self._end
        )

    # A step is a list of targets to fill and what to do once they are full, which may give a message. Header
    # and checks come through staging, so that a small frame costs one receive; meta and body are also
    # received directly.

    def _expect(
        self, step: Callable[[], Iterable[Message]], targets: Sequence[memoryview], *, direct: bool = False
    ) -> None:
        self._step = step
        self._targets = [view for view in targets if view.nbytes]
        self._target = self._at = 0
        self._direct = direct

    def _room(self) -> list[memoryview]:
        """What is left of the targets that bytes may be received into, up to one slice."""
        views: list[memoryview] = []
        size, start = 0, self._at
        for view in self._targets[self._target : self._target + MAX_BUFFERS]:
            views.append(view[start : start + SLICE_BYTES - size])
            size, start = size + views[-1].nbytes, 0
            if size == SLICE_BYTES:
                break
        return views

    def _filled(self, count: int) -> None:
        """``count`` bytes more are in the targets."""
        while count:
            target = self._targets[self._target]
            part = target[self._at : self._at + count]
            if target is not self._check:
                self._digest.update(part)
            count -= part.nbytes
            self._at += part.nbytes
            if self._at == target.nbytes:
                self._target, self._at = self._target + 1, 0

    def _drain(self) -> bool:
        """Move bytes from staging to the targets; whether these are full."""
        while self._target < len(self._targets) and self._start < self._end:
            view = self._targets[self._target][self._at :]
            size = min(view.nbytes, self._end - self._start)
            view[:size] = self._staging[self._start : self._start + size]
            self._start += size
            self._filled(size)
        return self._target == len(self._targets)

    def _read_header(self) -> Iterable[Message]:
        magic, version, self._kind, meta_length, self._body_length = _FIELDS.unpack_from(self._header)
        (check,) = _CHECK.unpack_from(self._header, _FIELDS.size)
        if magic != MAGIC:
            raise NotAFrame(
                f"received {magic!r} where a frame begins: the other side speaks another protocol"
            )
        if check != xxhash.xxh32_intdigest(self._header[: _FIELDS.size]):
            raise ChecksumMismatch("a frame header was damaged on the way")
        if version != VERSION:
            raise NotAFrame(f"the other side frames messages in version {version}, this one in {VERSION}")
        self._check_length("meta", meta_length, self.limits.meta_bytes)
        self._check_length("body", self._body_length, self.limits.body_bytes)
        if meta_length + _DIGEST.size <= self._end - self._start:
            return self._read_meta_at_once(meta_length)
        self._meta = memoryview(bytearray(meta_length))
        self._expect(self._read_meta, [self._meta], direct=True)
        return ()

    @staticmethod
    def _check_length(name: str, length: int, limit: int) -> None:
        if length > limit:
            raise FrameTooLarge(f"a frame announces a {name} of {length} bytes; the limit is {limit}")

    def _read_meta_at_once(self, length: int) -> Iterable[Message]:
        """Meta and its check are in staging, as those of most frames: they are read there."""
        stop = self._start + length
        self._meta = memoryview(bytes(self._staging[self._start : stop]))
        self._digest.update(self._meta)
        self._start = stop + _DIGEST.size
        self._compare(self._staging[stop : self._start])
        return self._begin_body()

    def _read_meta(self) -> Iterable[Message]:
        self._expect(self._read_meta_check, [self._check])
        return ()

    def _read_meta_check(self) -> Iterable[Message]:
        self._compare(self._check)
        return self._begin_body()

    def _begin_body(self) -> Iterable[Message]:
        self._message, targets = self._place(self._kind, self._meta, self._body_length)
        room = sum(target.nbytes for target in targets)
        if room != self._body_length:
            raise BadMessage(
                f"a frame of kind {self._kind} brings {self._body_length} bytes, expected were {room}"
            )
        self._body = deque(targets)
        return self._go_on()

    def _go_on(self) -> Iterable[Message]:
        """To the next portion, or the next frame."""
        if self.checked < self._body_length:
            self._portion = _taken(self._body, PORTION_BYTES)
            self._expect(self._read_portion, self._portion, direct=True)
            return ()
        self.checked = 0
        self._digest.reset()
        self._expect(self._read_header, [self._header])
        return (self._message,)

    def _read_portion(self) -> Iterable[Message]:
        self._expect(self._read_check, [self._check])
        return ()

    def _read_check(self) -> Iterable[Message]:
        self._compare(self._check)
        self.checked += sum(view.nbytes for view in self._portion)
        return self._go_on()

    def _compare(self, check: memoryview) -> None:
        if _DIGEST.unpack(check)[0] != self._digest.intdigest():
            raise ChecksumMismatch(f"a frame of kind {self._kind} was damaged on the way")


def _taken(views: deque[memoryview], size: int) -> list[memoryview]:
    """The first ``size`` bytes, or all where there are fewer; ``views`` has the rest then."""
    taken: list[memoryview] = []
    while views and size:
        view = views.popleft()
        if view.nbytes > size:
            views.appendleft(view[size:])
        taken.append(view[:size])
        size -= taken[-1].nbytes
    return taken
