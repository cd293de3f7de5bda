"""RecordIO files: what is written, what of the original is read, and what is refused."""

import gzip
import importlib
import io
import os
import pickle
import struct
import subprocess
import sys
import tracemalloc
import zlib
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as np_st

from paddle._recordio import chunks, samples, snappy
from paddle._recordio.errors import BadRecord, CorruptChunk, NotPlain
from paddle.dataset import common
from paddle.reader import creator

MAGIC = 0x01020304
GO, CPP = "go", "c++"


def a_chunk(payload, records, compressor=0, layout=GO):
    """A chunk as the original writes it: the two layouts are those of its two libraries."""
    checksum = zlib.crc32(payload)
    numbers = {
        GO: (checksum, compressor, len(payload), records),
        CPP: (records, checksum, compressor, len(payload)),
    }
    return struct.pack("<5I", MAGIC, *numbers[layout]) + payload


def laid_out(records):
    return b"".join(struct.pack("<I", len(record)) + record for record in records)


def sz(*frames):
    """A framed snappy stream of (kind, body)."""
    parts = [bytes([kind]) + len(body).to_bytes(3, "little") + body for kind, body in frames]
    return b"\xff\x06\x00\x00sNaPpY" + b"".join(parts)


def same(one, other):
    """Equal, type by type."""
    if isinstance(one, np.ndarray):
        return type(other) is np.ndarray and one.dtype == other.dtype and np.array_equal(one, other)
    if isinstance(one, list | tuple):
        return type(one) is type(other) and len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return type(other) is dict and one.keys() == other.keys() and all(same(one[k], other[k]) for k in one)
    return type(one) is type(other) and one == other


NUMBERS = st.one_of(st.integers(-(2**63), 2**64 - 1), st.floats(allow_nan=False), st.booleans())
ARRAYS = np_st.arrays(
    st.sampled_from(["f4", ">f8", "i8", "u1", "?", "c8", "U3", "S2"]),
    np_st.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3),
    elements={"allow_nan": False},
)
ATOMS = st.one_of(st.none(), NUMBERS, st.text(), st.binary(), ARRAYS, st.just(np.float32(1.5)))
SAMPLES = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(st.one_of(st.text(), st.integers(0, 9)), inner, max_size=3),
    ),
    max_leaves=8,
)


@given(SAMPLES)
def test_a_sample_comes_out_of_its_record_type_by_type(sample):
    assert same(sample, samples.decode(samples.encode(sample)))


@given(SAMPLES, st.integers(0, 4))
def test_a_pickled_sample_of_data_is_read(sample, protocol):
    assert same(sample, samples.decode(pickle.dumps(sample, protocol)))


@given(st.lists(st.binary(max_size=40)), st.integers(1, 60))
def test_records_come_out_of_the_chunks_they_were_written_to(tmp_path_factory, records, max_chunk_bytes):
    path = tmp_path_factory.mktemp("recordio") / "data"
    with path.open("wb") as file:
        chunks.write_records(file, records, max_chunk_bytes)
    assert list(chunks.records_of(path)) == records
    assert sum(chunk.records for chunk in chunks.chunks_of(path)) == len(records)


def test_what_is_written_is_the_layout_of_the_recordio_library():
    file = io.BytesIO()
    chunks.write_records(file, [b"Hello", b"World!"])
    assert file.getvalue() == a_chunk(laid_out([b"Hello", b"World!"]), 2)


@pytest.mark.parametrize("layout", [GO, CPP])
@pytest.mark.parametrize(
    ("compressor", "pack"),
    [(0, bytes), (1, lambda payload: sz((1, b"\0\0\0\0" + payload))), (2, gzip.compress)],
)
def test_both_layouts_and_all_compressors_of_the_original_are_read(tmp_path, layout, compressor, pack):
    path = tmp_path / "data"
    records = [[b"one", b""], [b"three"]]
    path.write_bytes(
        b"".join(a_chunk(pack(laid_out(part)), len(part), compressor, layout) for part in records)
    )
    assert list(chunks.records_of(path)) == [b"one", b"", b"three"]


def test_a_header_that_each_layout_could_explain_is_told_by_the_length_of_its_payload(tmp_path):
    path = tmp_path / "data"
    path.write_bytes(struct.pack("<5I", MAGIC, 3, 1, 0, 8) + bytes(8))  # fluid's; else snappy of no bytes
    (chunk,) = chunks.chunks_of(path)
    assert (chunk.records, chunk.checksum, chunk.compressor, chunk.size) == (3, 1, 0, 8)


def test_records_that_python_2_pickled_into_snappy_are_read_as_samples(tmp_path):
    texts = [b"(I1\nI2\nI3\ntp1\n.", "(S'caf\u00e9'\nF0.5\ntp1\n.".encode()]
    path = tmp_path / "data"
    path.write_bytes(a_chunk(sz((1, b"\0\0\0\0" + laid_out(texts))), 2, compressor=1))
    assert list(creator.recordio(str(path))()) == [(1, 2, 3), ("caf\u00e9", 0.5)]


@pytest.mark.parametrize(
    ("block", "unpacked"),
    [
        (b"\x00", b""),
        (b"\x05\x10hello", b"hello"),
        (
            b"\x0a\x00a\x01\x01\x12\x01\x00",
            b"a" * 10,
        ),  # near copy of 4, then one of 5 with two bytes of offset
        (b"\x09\x08abc\x09\x03", b"abcabcabc"),  # a copy that reaches into itself
        (b"\x08\x0cabcd\x0f\x04\x00\x00\x00", b"abcdabcd"),  # four bytes of offset
        (b"\x64\xf0\x63" + b"x" * 100, b"x" * 100),  # a literal of more than 60 bytes
    ],
)
def test_snappy_blocks_unpack_to_what_they_say(block, unpacked):
    assert snappy.decode_block(block, 100) == unpacked


@pytest.mark.parametrize(
    "block",
    [
        b"",
        b"\xff\xff\xff\xff\xff\x01",  # a length of too many bytes
        b"\x65" + b"\xf0\x64" + b"x" * 101,  # above the limit
        b"\x05\x10hell",
        b"\x06\x10hello",
        b"\x04\x10hello",
        b"\x05\x00a\x01\x02",  # a copy from before the beginning
        b"\x05\x00a\x01\x00",  # a copy of offset 0
        b"\x05\x00a\x01",
    ],
)
def test_snappy_blocks_that_are_not_whole_are_refused(block):
    with pytest.raises(CorruptChunk):
        snappy.decode_block(block, 100)


@given(st.binary(max_size=60))
def test_no_bytes_break_the_snappy_decoder(block):
    with suppress(CorruptChunk):
        assert len(snappy.decode_block(block, 1000)) <= 1000


def test_every_changed_or_missing_byte_of_a_chunk_is_noticed(tmp_path):
    whole = a_chunk(laid_out([b"some record", b"another"]), 2)
    path = tmp_path / "data"
    cut = [whole[:at] for at in range(1, len(whole))]
    changed = [whole[:at] + bytes([whole[at] ^ 0x10]) + whole[at + 1 :] for at in range(len(whole))]
    for damaged in cut + changed:
        path.write_bytes(damaged)
        with pytest.raises(CorruptChunk, match=f"{path}.* byte 0"):
            list(chunks.records_of(path))


def test_a_chunk_that_says_it_is_huge_is_refused_before_it_is_read(tmp_path):
    path = tmp_path / "data"
    path.write_bytes(struct.pack("<5I", MAGIC, 0, 0, 2**32 - 1, 1))
    with pytest.raises(CorruptChunk, match="says that it has 4294967295 bytes"):
        list(chunks.chunks_of(path))


def test_gzip_that_unpacks_to_more_than_the_limit_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(chunks, "LIMIT_BYTES", 1000)
    path = tmp_path / "data"
    path.write_bytes(a_chunk(gzip.compress(laid_out([bytes(2000)])), 1, compressor=2))
    with pytest.raises(CorruptChunk, match="gzip: what is packed"):
        list(chunks.records_of(path))


def test_a_file_that_is_no_recordio_file_says_so(tmp_path):
    path = tmp_path / "data.txt"
    path.write_text("a line of text that is long enough for a header\n")
    with pytest.raises(CorruptChunk, match="is it a RecordIO file"):
        list(chunks.records_of(path))


class Evil:
    def __init__(self, *call):
        self.call = call

    def __reduce__(self):
        return self.call


@pytest.mark.parametrize("protocol", range(5))
@pytest.mark.parametrize(
    ("evil", "word"),
    [
        (Evil(os.mkdir, ("owned",)), "mkdir"),
        (Evil(eval, ("__import__('os').mkdir('owned')",)), "eval"),
        (Evil(getattr, ("a", "upper")), "getattr"),
        ({1, 2}, r"\.set|a set"),
        (np.array([Evil(os.mkdir, ("owned",))], dtype=object), "object, which is more|mkdir"),
        (np.zeros(1, "f4,f4"), "more than numbers"),
    ],
)
def test_a_pickled_record_that_is_more_than_data_is_refused_and_runs_nothing(
    tmp_path, monkeypatch, evil, word, protocol
):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(NotPlain, match=word):
        samples.decode(pickle.dumps([1, evil], protocol))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "record",
    [
        b"",
        b"(I1\n",
        b"\x80\x02cnumpy.core.multiarray\n_reconstruct\n}X\x05\x00\x00\x00_makeK\x01sb.",  # changes a maker
        b"\x80\x02]q\x00h\x00a.",  # a list in itself
        b"\x80\x02\x82\x01.",  # an extension
        b"\x80\x02cnumpy\ndtype\n.",  # a maker and nothing made
    ],
)
def test_a_broken_pickle_is_refused(record):
    with pytest.raises(NotPlain):
        samples.decode(record)


@pytest.mark.parametrize("opcode", [pickle.BYTEARRAY8, pickle.BINBYTES8, pickle.BINUNICODE8, pickle.FRAME])
def test_a_pickle_that_asks_for_memory_gets_none(opcode):
    tracemalloc.start()
    with pytest.raises(NotPlain):
        samples.decode(b"\x80\x05" + opcode + (1 << 26).to_bytes(8, "little") + b".")
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 1 << 22


def test_makers_are_as_before_after_a_record_that_wanted_to_change_them():
    sample = (np.arange(3),)
    with pytest.raises(NotPlain):
        samples.decode(b"\x80\x02cnumpy.core.multiarray\n_reconstruct\n}X\x05\x00\x00\x00_makeK\x01sb.")
    assert same(sample, samples.decode(pickle.dumps(sample, 2)))


@pytest.mark.parametrize(
    ("sample", "word"),
    [
        (object(), "builtins.object"),
        ({1, 2}, "builtins.set"),
        (np.array([object()]), "array of object"),
        ({(1, 2): 3}, r"\(1, 2\)"),
        (2**64, "ints"),
    ],
)
def test_a_sample_that_no_record_can_hold_is_refused_by_name(sample, word):
    with pytest.raises(BadRecord, match=word):
        samples.encode([sample])


@given(st.binary(max_size=30))
def test_no_bytes_after_our_beginning_do_more_than_decode(body):
    with suppress(BadRecord):
        samples.decode(b"\xc1\x01" + body)


def test_an_array_is_one_that_can_be_written_to():
    samples.decode(samples.encode(np.zeros(3)))[0] = 1


def test_convert_writes_files_of_so_many_samples_and_recordio_reads_them_in_order(tmp_path):
    written = [(np.full(2, number, "f4"), number) for number in range(7)]
    common.convert(tmp_path / "out", lambda: iter(written), 3, "part")
    files = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert files == ["part-00000", "part-00001", "part-00002"]
    for paths in (
        f"{tmp_path}/out/part-*",
        [f"{tmp_path}/out/part-0000[01]", f"{tmp_path}/out/part-00002"],
        ",".join(f"{tmp_path}/out/{name}" for name in files),
    ):
        assert all(map(same, written, creator.recordio(paths)()))
        assert len(list(creator.recordio(paths)())) == 7


def test_a_conversion_that_fails_leaves_no_half_file(tmp_path):
    with pytest.raises(BadRecord):
        common.convert(tmp_path, lambda: iter([1, 2, 3, object()]), 2, "part")
    assert [path.name for path in tmp_path.iterdir()] == ["part-00000"]


def test_a_pattern_that_matches_nothing_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="nothing-\\*"):
        list(creator.recordio(f"{tmp_path}/nothing-*")())


def test_programs_find_the_library_by_which_they_read_records_themselves(tmp_path):
    for first, second in ("paddle.v2", "recordio"), ("recordio", "paddle.v2"):
        script = f"import {first}, {second}, recordio as rec; print(rec.reader.__module__, rec.__name__)"
        said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
        assert said.stdout == "paddle._recordio.library paddle._recordio.library\n"
    recordio = importlib.import_module("recordio")
    samples_of_two = [(1, [2.5], "a"), (np.arange(3.0), 4)]
    common.convert(tmp_path, lambda: iter(samples_of_two), 1, "part")
    writer = recordio.writer(str(tmp_path / "part-00002"))
    for record in ("plain", b"\x00bytes"):
        writer.write(record)
    writer.close()
    reader = recordio.reader(f"{tmp_path}/part-0000[01],{tmp_path}/part-00002")
    first, second, *others = iter(reader.read, None)
    assert pickle.loads(first) == samples_of_two[0]
    np.testing.assert_array_equal(pickle.loads(second)[0], np.arange(3.0))
    assert others == [b"plain", b"\x00bytes"] and reader.read() is None
    reader = recordio.reader(str(tmp_path / "part-00002"))
    reader.close()
    assert reader.read() is None
    with pytest.raises(FileNotFoundError, match="no RecordIO file matches"):
        recordio.reader(str(tmp_path / "none-*"))


def test_another_recordio_that_is_installed_is_the_one_that_is_imported(tmp_path) -> None:
    (tmp_path / "recordio").mkdir()
    (tmp_path / "recordio" / "__init__.py").write_text("from .part import mine")
    (tmp_path / "recordio" / "part.py").write_text("mine = 5")
    runtime = Path(importlib.import_module("paddle").__file__ or "").parents[1]
    for path in (f"{runtime}{os.pathsep}{tmp_path}", f"{tmp_path}{os.pathsep}{runtime}"):
        environ = {**os.environ, "PYTHONPATH": path}
        script = "import recordio, paddle; from recordio.part import mine; print(recordio.mine + mine)"
        done = subprocess.run([sys.executable, "-c", script], env=environ, capture_output=True, text=True)
        assert done.stdout == "10\n", done.stderr
