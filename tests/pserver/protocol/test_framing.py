"""Framing: whole frames or typed errors, whatever the bytes and however they are cut."""

from __future__ import annotations

import struct
import tracemalloc
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddle._pserver.errors import BadMessage, ChecksumMismatch, FrameError, FrameTooLarge, NotAFrame
from paddle._pserver.protocol import framing
from paddle._pserver.protocol.framing import FrameReader, Limits, pieces

Frame = tuple[int, bytes, list[bytes]]


class Catcher:
    """Places every body into fresh buffers, cut as told."""

    def __init__(self, cut: int = 1 << 30) -> None:
        self.cut = cut
        self.bodies: list[list[bytearray]] = []
        self.metas: list[bytes] = []

    def place(
        self, kind: int, meta: memoryview, length: int
    ) -> tuple[tuple[int, bytes], Sequence[memoryview]]:
        buffers = [bytearray(min(self.cut, length - at)) for at in range(0, length, self.cut)]
        self.bodies.append(buffers)
        self.metas.append(bytes(meta))
        return (kind, bytes(meta)), [memoryview(buffer) for buffer in buffers]

    def body(self, index: int) -> bytes:
        return b"".join(self.bodies[index])


def wire(kind: int, meta: bytes, body: Sequence[bytes], *, checks_body: bool = True) -> bytes:
    views = [memoryview(part) for part in body]
    return b"".join(b"".join(group) for group in pieces(kind, meta, views, checks_body=checks_body))


def reader_of(catcher: Catcher, *, checks_body: bool = True) -> FrameReader[tuple[int, bytes]]:
    reader = FrameReader(catcher.place)
    reader.checks_body = checks_body
    return reader


def feed(
    reader: FrameReader[tuple[int, bytes]], data: bytes, cuts: Sequence[int] = ()
) -> list[tuple[int, bytes]]:
    """Give ``data`` as a socket would: never more than the buffers hold, cut where told."""
    messages: list[tuple[int, bytes]] = []
    at = 0
    for cut in [*sorted(cuts), len(data)]:
        while at < cut:
            count = 0
            for view in reader.buffers():
                part = data[at + count : min(cut, at + count + view.nbytes)]
                view[: len(part)] = part
                count += len(part)
            at += count
            reader.received(count)
            messages += iter(reader.message, None)
    return messages


FRAMES = st.tuples(
    st.integers(0, 255), st.binary(max_size=200), st.lists(st.binary(max_size=3000), max_size=4)
)


@given(st.lists(FRAMES, min_size=1, max_size=4), st.booleans(), st.data())
def test_frames_survive_any_cutting(frames: list[Frame], checks_body: bool, data: st.DataObject) -> None:
    stream = b"".join(wire(*frame, checks_body=checks_body) for frame in frames)
    cuts = data.draw(st.lists(st.integers(0, len(stream)), max_size=12))
    catcher = Catcher(cut=data.draw(st.sampled_from([1, 7, 1000, 1 << 30])))
    reader = reader_of(catcher, checks_body=checks_body)
    assert feed(reader, stream, cuts) == [(kind, meta) for kind, meta, _ in frames]
    assert [catcher.body(i) for i in range(len(frames))] == [b"".join(body) for _, _, body in frames]
    assert reader.idle


@pytest.mark.parametrize("size", [framing.SLICE_BYTES - 1, framing.SLICE_BYTES, 3 * framing.SLICE_BYTES + 5])
def test_long_bodies_travel_in_slices(size: int) -> None:
    body = bytes(range(256)) * (size // 256 + 1)
    groups = list(pieces(1, b"m", [memoryview(body)[:size]]))
    assert all(sum(view.nbytes for view in group) <= framing.SLICE_BYTES + 100 for group in groups)
    catcher = Catcher()
    assert feed(FrameReader(catcher.place), b"".join(b"".join(group) for group in groups)) == [(1, b"m")]
    assert catcher.body(0) == body[:size]


@pytest.mark.parametrize("extra", [-1, 0, 1, framing.PORTION_BYTES + 7])
def test_what_has_come_of_a_long_body_is_checked_portion_by_portion(extra: int) -> None:
    portion = framing.PORTION_BYTES
    body = np.random.default_rng(0).bytes(2 * portion + extra)
    stream, catcher = wire(1, b"m", [body[:1000], body[1000:]]), Catcher(cut=300_000)
    reader, at, seen = FrameReader(catcher.place), 0, [0]
    while at < len(stream):
        feed(reader, stream[at : at + 4099])
        at += 4099
        if reader.checked != seen[-1]:
            seen.append(reader.checked)
            got = b"".join(bytes(part) for part in catcher.bodies[0])
            assert got[: reader.checked] == body[: reader.checked]
    portions = [*range(0, len(body), portion), 0]  # with the last one the message has come
    assert seen[:2] == portions[:2]
    assert seen[-1] == 0
    assert catcher.body(0) == body
    assert set(seen) <= set(portions)
    assert len(stream) == len(wire(1, b"m", [])) + len(body) + 8 * (len(portions) - 1)


def test_a_damaged_portion_is_found_before_the_next_has_come() -> None:
    stream = bytearray(wire(1, b"", [bytes(3 * framing.PORTION_BYTES)]))
    stream[framing.PORTION_BYTES + 999] ^= 1
    reader = FrameReader(Catcher().place)
    with pytest.raises(ChecksumMismatch):
        feed(reader, bytes(stream[: 2 * framing.PORTION_BYTES + 100]))
    assert reader.checked == framing.PORTION_BYTES


def test_many_small_parts_never_exceed_one_system_call() -> None:
    groups = list(pieces(1, b"", [memoryview(b"0123456789")] * 2000))
    assert framing.MAX_BUFFERS // 2 < max(len(group) for group in groups) <= framing.MAX_BUFFERS + 1
    catcher = Catcher(cut=10)
    feed(FrameReader(catcher.place), b"".join(b"".join(group) for group in groups))
    assert catcher.body(0) == b"0123456789" * 2000


def test_a_small_frame_is_one_buffer_which_later_changes_of_the_body_do_not_reach() -> None:
    body = bytearray(b"abc")
    ((frame,),) = pieces(1, b"m", [memoryview(body)[:1], memoryview(body)[1:]])
    body[:] = b"xyz"
    catcher = Catcher(cut=2)
    assert feed(FrameReader(catcher.place), bytes(frame)) == [(1, b"m")]
    assert catcher.body(0) == b"abc"


def test_of_a_small_frame_that_comes_whole_nothing_damaged_is_written_anywhere() -> None:
    stream, catcher = bytearray(wire(1, b"m", [b"abcd"])), Catcher()
    stream[-9] ^= 1
    with pytest.raises(ChecksumMismatch):
        feed(FrameReader(catcher.place), bytes(stream))
    assert catcher.body(0) == bytes(4)


@given(FRAMES, st.data())
def test_one_flipped_bit_is_always_found(frame: Frame, data: st.DataObject) -> None:
    stream, catcher = bytearray(wire(*frame)), Catcher()
    bit = data.draw(st.integers(0, 8 * len(stream) - 1))
    stream[bit // 8] ^= 1 << bit % 8
    with pytest.raises(FrameError):
        feed(FrameReader(catcher.place), bytes(stream))
    assert catcher.metas in ([], [frame[1]])  # nobody is shown a damaged one


LONG = 2 * framing.PORTION_BYTES + 77


def test_where_bodies_are_not_checked_header_meta_and_the_places_of_all_checks_are() -> None:
    for size in (5, LONG):
        stream = wire(1, b"meta", [bytes(size)], checks_body=False)
        assert len(stream) == len(wire(1, b"meta", [bytes(size)]))
        head = framing.HEADER_BYTES + len(b"meta") + 8
        for at in (*range(head), *range(len(stream) - 8, len(stream))):
            damaged = bytearray(stream)
            damaged[at] ^= 1
            with pytest.raises(FrameError):
                feed(reader_of(Catcher(), checks_body=False), bytes(damaged))
        damaged = bytearray(stream)
        damaged[head + 3] ^= 1  # which is what is given up
        assert feed(reader_of(Catcher(), checks_body=False), bytes(damaged)) == [(1, b"meta")]


@pytest.mark.parametrize("size", [5, LONG])
def test_where_bodies_are_not_checked_a_byte_that_is_lost_or_too_many_is_found(size: int) -> None:
    body = np.random.default_rng(0).bytes(size)
    stream = wire(1, b"meta", [body], checks_body=False)
    middle = len(stream) // 2
    for damaged in (stream[:middle] + stream[middle + 1 :], stream[:middle] + b"?" + stream[middle:]):
        with pytest.raises(FrameError):
            feed(reader_of(Catcher(), checks_body=False), damaged + stream)


@pytest.mark.parametrize("checks_body", [True, False])
@pytest.mark.parametrize("size", [5, LONG])
def test_sides_that_do_not_agree_on_what_is_checked_exchange_no_body(size: int, checks_body: bool) -> None:
    stream = wire(1, b"meta", [bytes(size)], checks_body=checks_body)
    with pytest.raises(ChecksumMismatch):
        feed(reader_of(Catcher(), checks_body=not checks_body), stream)


@given(st.binary(min_size=1, max_size=4000))
def test_random_bytes_raise_nothing_but_frame_errors(data: bytes) -> None:
    try:
        messages = feed(FrameReader(Catcher().place), data)
    except FrameError:
        return
    assert messages == []


def header(meta: int, body: int, magic: bytes = framing.MAGIC, version: int = framing.VERSION) -> bytes:
    fields = struct.pack("<4sBBxxIQ", magic, version, 1, meta, body)
    return fields + struct.pack("<I", framing.xxhash.xxh32_intdigest(fields))


@pytest.mark.parametrize(("meta", "body"), [(2**32 - 1, 0), (0, 2**64 - 1), (101, 0), (0, 1001)])
def test_lengths_above_the_limit_are_refused_before_anything_is_allocated(meta: int, body: int) -> None:
    reader = FrameReader(Catcher().place, Limits(meta_bytes=100, body_bytes=1000))
    tracemalloc.start()
    try:
        with pytest.raises(FrameTooLarge, match="the limit is"):
            feed(reader, header(meta, body))
        assert tracemalloc.get_traced_memory()[1] < 1 << 20  # other threads of this process allocate, too
    finally:
        tracemalloc.stop()


def test_without_limits_of_ones_own_a_meta_of_more_than_4_mib_is_refused() -> None:
    feed(FrameReader(Catcher().place), header(4 << 20, 0))
    with pytest.raises(FrameTooLarge, match="meta of 4194305 bytes; the limit is 4194304"):
        feed(FrameReader(Catcher().place), header((4 << 20) + 1, 0))


def test_another_protocol_is_told_from_damage() -> None:
    with pytest.raises(NotAFrame, match="another protocol"):
        feed(FrameReader(Catcher().place), b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    with pytest.raises(NotAFrame, match="in version 9"):
        feed(FrameReader(Catcher().place), header(0, 0, version=9))
    with pytest.raises(ChecksumMismatch, match="header"):
        feed(FrameReader(Catcher().place), header(0, 0)[:-1] + b"?")


def test_a_body_that_finds_no_room_is_refused() -> None:
    reader = FrameReader(lambda kind, meta, length: ((kind, b""), [memoryview(bytearray(3))]))
    with pytest.raises(BadMessage, match="brings 4 bytes, expected were 3"):
        feed(reader, wire(1, b"", [b"1234"]))


def test_idle_tells_whether_a_stream_may_end() -> None:
    reader = FrameReader(Catcher().place)
    assert reader.idle
    feed(reader, header(1, 0)[:3])
    assert not reader.idle
