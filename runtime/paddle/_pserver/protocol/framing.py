"""Framing: how a message and its raw values travel on a byte stream. No I/O here.

    header (24 bytes)   magic, version, kind, length of meta, length of body, xxh32 of these
    meta                a small encoded message (see messages.py)
    body                raw values, straight from and into the arrays of the two sides, in portions of 1 MiB
    check (8 bytes)     after meta and every portion: xxh3 of everything before it but the other checks

A checksum follows what it is of, so that both sides compute it piece by piece while the piece is in cache;
the header has a check of its own, so that a damaged length is found at once. The meta is checked before it is
read: what was damaged is not taken for what somebody said. A body is checked portion by portion, so that a
receiver may use what it has of a long one (``FrameReader.checked``).

Where both sides know that nothing is damaged on the way (``checks_body`` False, see link.py) the checks
are of header and meta alone. There they are all the same: one form, and a byte too many or too few is found.

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
from functools import lru_cache
from typing import Generic, TypeVar

import numpy as np
import xxhash
from xxhash import xxh3_64_intdigest, xxh32_intdigest

from paddle._pserver.errors import BadMessage, ChecksumMismatch, FrameTooLarge, NotAFrame

MAGIC = b"PDPS"
VERSION = 2
PORTION_BYTES = 1 << 20
SLICE_BYTES = 1 << 19  # what is hashed, then sent, while it is in cache
SMALL_BYTES = 1 << 14  # a frame of less is one buffer: to copy it costs less than to deal with its parts
MAX_BUFFERS = 512  # per system call; well below Linux' IOV_MAX of 1024

_FIELDS = struct.Struct("<4sBBxxIQ")
_CHECK = struct.Struct("<I")
_HEADER = struct.Struct("<4sBBxxIQI")  # both
_DIGEST = struct.Struct("<Q")
HEADER_BYTES = _HEADER.size
_FIELDS_BYTES, _CHECK_BYTES = _FIELDS.size, _DIGEST.size
_STAGING_BYTES = 1 << 15

Message = TypeVar("Message")
Place = Callable[[int, memoryview, int], tuple[Message, Sequence[memoryview]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The most that one frame may bring."""

    meta_bytes: int = 4 << 20
    body_bytes: int = 64 << 30


def pieces(
    kind: int,
    meta: bytes,
    body: Sequence[memoryview] = (),
    *,
    copy: bool = False,
    checks_body: bool = True,
) -> Iterable[list[memoryview]]:
    """The frame as groups of buffers, each group at most about ``SLICE_BYTES`` and ``MAX_BUFFERS`` long; a
    small one is one buffer.

    ``body``: byte views; they must not change until the group that holds them has been sent, unless ``copy``.
    ``checks_body``: see the module's text.
    """
    if (frame := small(kind, meta, body, checks_body=checks_body)) is not None:
        return ([memoryview(frame)],)
    size = _length(body)
    return _slices(_header(kind, len(meta), size) + meta, body, size, copy=copy, checks_body=checks_body)


def small(
    kind: int, meta: bytes, body: Sequence[memoryview] = (), *, checks_body: bool = True
) -> bytes | None:
    """The frame in one piece; None where it is not a small one."""
    size = _length(body)
    if HEADER_BYTES + len(meta) + size >= SMALL_BYTES:
        return None
    head = _header(kind, len(meta), size) + meta
    check = _DIGEST.pack(xxh3_64_intdigest(head))
    if not size:
        return head + check
    values = body[0] if len(body) == 1 else b"".join(body)
    last = _DIGEST.pack(xxh3_64_intdigest(head + values)) if checks_body else check
    return b"".join((head, check, values, last))


@lru_cache(maxsize=64)  # most frames of a session are like others before
def _header(kind: int, meta_length: int, size: int) -> bytes:
    """Of a frame whose body has ``size`` bytes."""
    fields = _FIELDS.pack(MAGIC, VERSION, kind, meta_length, size)
    return fields + _CHECK.pack(xxh32_intdigest(fields))


def _slices(
    head: bytes, body: Sequence[memoryview], left: int, *, copy: bool, checks_body: bool
) -> Iterator[list[memoryview]]:
    """The groups of a frame; ``left``: bytes of the body to come."""
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
            if checks_body:
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
    flat = array if array.ndim == 1 else array.reshape(-1)
    return flat.data.cast("B")


class FrameReader(Generic[Message]):
    """Turns received bytes into messages, with bodies written where they belong.

    Ask :meth:`buffers` where the next bytes go, receive into them, tell how many came with :meth:`received`,
    and take the messages that they complete with :meth:`message`, until there is none.

    ``place(kind, meta, body_length)`` is called when a frame's meta is there: it returns the decoded message
    and the writable byte views that take the body (together exactly ``body_length`` long), or raises; meta is
    good until then. After an error the reader is not to be used any more. ``limits`` may change between
    messages. ``checked``: how many bytes of the body of the message under way have come and are right.
    ``checks_body``: see the module's text; it is settled before the first frame.

    Messages are handed out one by one: a frame is placed only after the message before it has been dealt
    with, so that what that one brought is not overwritten.
    """

    def __init__(self, place: Place[Message], limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        self.checks_body, self.checked = True, 0
        self._place = place
        self._staging = memoryview(bytearray(_STAGING_BYTES))
        self._start = self._end = 0  # of the bytes in staging that are not consumed yet
        self._header = memoryview(bytearray(HEADER_BYTES))
        self._check = memoryview(bytearray(_DIGEST.size))
        self._body: deque[memoryview] = deque()  # the targets of portions to come
        self._digest = xxhash.xxh3_64()
        self._message: Message | None = None
        self._portion: list[memoryview] = []
        self._kind = self._body_length = 0
        self._is_in_body = False  # a portion is under way
        self._expect_frame()

    def buffers(self) -> list[memoryview]:
        """Where the next bytes go: never empty, each view never empty."""
        if self._is_in_body:  # not beyond: what comes behind is most likely to be received into place, too
            return self._room()
        staging = self._staging[self._end :]
        return [*self._room(), staging] if self._direct else [staging]

    def received(self, count: int) -> None:
        """``count`` more bytes have been written into :meth:`buffers`."""
        if self._direct:
            direct = min(count, sum([view.nbytes for view in self._room()]))
            self._filled(direct)
            count -= direct
        self._end += count

    def message(self) -> Message | None:
        """The next message that is there; None before more comes, and then :meth:`buffers` is next."""
        while True:
            if self._is_between:
                if self._start == self._end:
                    self._start = self._end = 0
                    return None
                if (message := self._read_at_once()) is not None:
                    return message
            if not self._drain():
                self._tidy()
                return None
            if (message := self._step(self)) is not None:
                return message

    def _tidy(self) -> None:
        if self._start == self._end:
            self._start = self._end = 0
        elif self._end == _STAGING_BYTES:  # a header or check cut by the end of staging
            rest = bytes(self._staging[self._start : self._end])
            self._staging[: len(rest)] = rest
            self._start, self._end = 0, len(rest)

    @property
    def idle(self) -> bool:
        """Whether the stream may end here: no frame has begun."""
        return self._is_between and self._start == self._end

    # A step is a list of targets to fill and what to do once they are full, which may give a message. Header
    # and checks come through staging, so that a small frame costs one receive; meta and body are also
    # received directly. What is in staging as a whole is one step, whatever it has. Steps are not
    # bound, so that a reader that is let go is gone at once.

    def _expect_frame(self) -> None:
        self._expect(FrameReader._read_header, [self._header])
        self._is_between = True  # no frame has begun, other than in staging

    def _expect(
        self,
        step: Callable[[FrameReader[Message]], Message | None],
        targets: Sequence[memoryview],
        *,
        direct: bool = False,
    ) -> None:
        self._step = step
        self._targets = [view for view in targets if view.nbytes]
        self._target = self._at = 0
        self._direct = direct
        self._is_between = False

    def _room(self) -> list[memoryview]:
        """What is left of the targets that bytes may be received into, up to one slice and its check."""
        views: list[memoryview] = []
        left, start = SLICE_BYTES, self._at
        for view in self._targets[self._target : self._target + MAX_BUFFERS]:
            views.append(view[start:] if view is self._check else view[start : start + left])
            left -= views[-1].nbytes
            if start + views[-1].nbytes < view.nbytes:
                break
            start = 0
        return views if views[-1].nbytes else views[:-1]

    def _filled(self, count: int) -> None:
        """``count`` bytes more are in the targets."""
        self._is_between = False
        while count:
            target = self._targets[self._target]
            part = target[self._at : self._at + count]
            if target is not self._check and (self.checks_body or not self._is_in_body):
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

    def _read_header(self) -> Message | None:
        self._meta = memoryview(bytearray(self._lengths(self._header)))
        self._expect(FrameReader._read_meta, [self._meta], direct=True)
        return None

    def _lengths(self, header: memoryview) -> int:
        """Check a header and take from it what is to come; returns the length of meta."""
        magic, version, self._kind, meta_length, self._body_length, check = _HEADER.unpack_from(header)
        if magic != MAGIC:
            raise NotAFrame(
                f"received {magic!r} where a frame begins: the other side speaks another protocol"
            )
        if check != xxh32_intdigest(header[:_FIELDS_BYTES]):
            raise ChecksumMismatch("a frame header was damaged on the way")
        if version != VERSION:
            raise NotAFrame(f"the other side frames messages in version {version}, this one in {VERSION}")
        if meta_length > self.limits.meta_bytes:
            raise FrameTooLarge(_too_long("meta", meta_length, self.limits.meta_bytes))
        if self._body_length > self.limits.body_bytes:
            raise FrameTooLarge(_too_long("body", self._body_length, self.limits.body_bytes))
        return int(meta_length)

    def _read_at_once(self) -> Message | None:
        """A frame that is in staging as a whole, as most are: it is read there, checked before it is used."""
        frame = self._staging[self._start : self._end]
        if (size := frame.nbytes) < HEADER_BYTES:
            return None
        meta_end = HEADER_BYTES + self._lengths(frame)
        end = meta_end + _CHECK_BYTES
        body_end = end + self._body_length
        if size < end or (body_end != end and size < body_end + _CHECK_BYTES):
            return None
        head = frame[:meta_end]
        (check,) = _DIGEST.unpack_from(frame, meta_end)
        if xxh3_64_intdigest(head) != check:
            raise self._damaged()
        message, targets = self._placed(head[HEADER_BYTES:])
        if body_end != end:
            values = frame[end:body_end]
            if self.checks_body:
                check = xxh3_64_intdigest(b"".join((head, values)))
            if (check,) != _DIGEST.unpack_from(frame, body_end):
                raise self._damaged()
            _spread(values, targets)
            end = body_end + _CHECK_BYTES
        self._start += end
        return message

    def _read_meta(self) -> Message | None:
        self._expect(FrameReader._read_meta_check, [self._check])
        return None

    def _read_meta_check(self) -> Message | None:
        self._compare(self._check)
        self._message, targets = self._placed(self._meta)
        self._body = deque(targets)
        return self._go_on()

    def _placed(self, meta: memoryview) -> tuple[Message, Sequence[memoryview]]:
        message, targets = self._place(self._kind, meta, self._body_length)
        room = _length(targets)
        if room != self._body_length:
            raise BadMessage(
                f"a frame of kind {self._kind} brings {self._body_length} bytes, expected were {room}"
            )
        return message, targets

    def _go_on(self) -> Message | None:
        """To the next portion, or the next frame."""
        if self.checked < self._body_length:
            self._portion = _taken(self._body, PORTION_BYTES)
            self._expect(FrameReader._read_portion, [*self._portion, self._check], direct=True)
            self._is_in_body = True
            return None
        self.checked = 0
        self._portion = []  # what the body has filled is the caller's
        self._is_in_body = False
        self._digest.reset()
        self._expect_frame()
        message, self._message = self._message, None  # nor is the message this one's to keep
        return message

    def _read_portion(self) -> Message | None:
        self._compare(self._check)
        self.checked += sum(view.nbytes for view in self._portion)
        return self._go_on()

    def _compare(self, checked: memoryview) -> None:
        """Hold all so far to the check that is in ``checked``."""
        if (self._digest.intdigest(),) != _DIGEST.unpack(checked):
            raise self._damaged()

    def _damaged(self) -> ChecksumMismatch:
        return ChecksumMismatch(f"a frame of kind {self._kind} was damaged on the way")


def _spread(values: memoryview, targets: Sequence[memoryview]) -> None:
    """Write ``values`` to the targets, one after another, which they fill."""
    at = 0
    for target in targets:
        target[:] = values[at : at + target.nbytes]
        at += target.nbytes


def _length(views: Sequence[memoryview]) -> int:
    return views[0].nbytes if len(views) == 1 else sum([view.nbytes for view in views])


def _too_long(name: str, length: int, limit: int) -> str:
    return f"a frame announces a {name} of {length} bytes; the limit is {limit}"


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
