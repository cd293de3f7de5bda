"""RecordIO files that the original's own writers wrote (recordio/README.md), read here."""

from __future__ import annotations

import random
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import paddle.fluid as fluid
import recordio
from paddle._recordio import snappy
from paddle._recordio.chunks import chunks_of, records_of
from paddle._recordio.errors import CorruptChunk
from paddle.fluid import layers

FILES = Path(__file__).with_name("recordio")
FLUID = b"snappy\0"


def noise(size: int) -> bytes:
    """Bytes that no compressor makes fewer."""
    numbers = random.Random(1)
    return bytes(numbers.getrandbits(8) for _ in range(size))


SHORT = [b"", b"one", b"", bytes(range(256)), b"the same words " * 20, noise(90), b""]
LONG = [b"", b"abcdefgh" * 9000, noise(150), b"one", b""]


@pytest.mark.parametrize(
    ("name", "records", "counts"),
    [
        ("go_none", SHORT, [4, 1, 2]),
        ("go_snappy", SHORT, [4, 1, 2]),
        ("go_gzip", SHORT, [4, 1, 2]),
        ("go_snappy_long", LONG, [1, 1, 3]),
        ("go_gzip_long", LONG, [1, 1, 3]),
        ("fluid_none", SHORT, [2, 2, 2, 1]),
        ("fluid_snappy", SHORT, [2, 2, 2, 1]),
        ("fluid_snappy_long", LONG, [2, 2, 1]),
    ],
)
def test_files_of_both_writers_are_read_record_for_record(
    name: str, records: list[bytes], counts: list[int]
) -> None:
    assert list(records_of(FILES / name)) == records
    assert [chunk.records for chunk in chunks_of(FILES / name)] == counts
    reader = recordio.reader(str(FILES / name))
    assert list(iter(reader.read, None)) == records


def test_a_program_opens_a_file_of_tensors_that_fluid_wrote() -> None:
    with fluid.program_guard(fluid.Program(), fluid.Program()):
        opened = layers.open_files(
            [str(FILES / "fluid_tensors")], [(-1, 2), (-1, 1)], [0, 1], ["float32", "int64"]
        )
        fetched = layers.read_file(opened)
        exe = fluid.Executor(fluid.CPUPlace())
        for number, lengths in enumerate([[1, 2], [3, 0], [2]]):
            x, ids = exe.run(fetch_list=fetched, return_numpy=False)
            np.testing.assert_array_equal(
                np.asarray(x), np.arange(2.0 * len(lengths)).reshape(-1, 2) + 10 * number
            )
            np.testing.assert_array_equal(
                np.asarray(ids), np.arange(sum(lengths)).reshape(-1, 1) + 100 * number
            )
            assert ids.recursive_sequence_lengths() == [lengths]
        with pytest.raises(fluid.core.EOFException):
            exe.run(fetch_list=fetched)


def test_a_snappy_stream_of_fluid_that_is_not_whole_is_refused() -> None:
    stream = FLUID + b"\0\0\x03crc1one" + b"\1\0\x07crc2\x05\x10hello"
    assert snappy.decode_stream(stream, 100) == b"onehello"
    for end in range(len(stream)):
        if end not in (len(FLUID), len(FLUID) + 10):  # where a block ends
            with pytest.raises(CorruptChunk, match="snappy: the stream"):
                snappy.decode_stream(stream[:end], 100)
    with pytest.raises(CorruptChunk, match="unpacks to 5 bytes"):
        snappy.decode_stream(stream, 7)
    with pytest.raises(CorruptChunk, match="more than 2 bytes"):
        snappy.decode_stream(stream, 2)


@given(st.binary(max_size=60))
def test_no_bytes_break_the_decoder_of_fluids_streams(body: bytes) -> None:
    with suppress(CorruptChunk):
        assert len(snappy.decode_stream(FLUID + body, 1000)) <= 1000
