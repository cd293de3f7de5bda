"""Files of parameters that somebody made to do harm: refused by name, in little memory; nothing is run."""

from __future__ import annotations

import gzip
import io
import struct
import tarfile
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

import paddle.v2 as paddle
from paddle._engine.checkpoint import lod_tensor, parameter_tar, sparse_text
from paddle._engine.checkpoint.parameter_config import ParameterConfig
from paddle._engine.errors import BadModelFile
from tests.engine.test_tar_members import header, tar

VALUES = np.arange(6, dtype=np.float32)
GOOD = ParameterConfig(name="w", size=6, dims=(2, 3))
MOST = 4 << 20


def member(config: ParameterConfig, content: bytes = parameter_tar.serialized(VALUES)) -> bytes:
    return tar((config.name or "w", content), (f"{config.name}.protobuf", config.SerializeToString()))


def config(**how: object) -> ParameterConfig:
    return ParameterConfig(**{"name": "w", "size": 6, "dims": (2, 3), **how})


def test_an_honest_one_is_read_packed_or_not() -> None:
    for data in (member(GOOD), gzip.compress(member(GOOD))):
        found = read(data)
        assert found.names() == ["w"]
        assert found.get("w").tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]


def read(data: bytes) -> paddle.parameters.Parameters:
    packed = data[:2] == b"\x1f\x8b"
    with gzip.open(io.BytesIO(data)) if packed else io.BytesIO(data) as file:
        return paddle.parameters.Parameters.from_tar(file)


def counted(count: int, data: bytes = b"") -> bytes:
    return struct.pack("<IIQ", 0, 4, count) + data


HOSTILE = {
    "a tebibyte": member(config(dims=(1 << 38,))),
    "more than numbers have bits": member(config(dims=(1 << 32, 1 << 32))),
    "more than a number that is read may be": member(config(dims=((1 << 64) - 1,) * 30)),
    "many dimensions": member(config(dims=(1,) * 10_000)),
    "another shape": member(config(dims=(3, 3))),
    "a size in place of dimensions": member(config(dims=(), size=1 << 60)),
    "values that are counted wrong": member(GOOD, counted(1 << 60, VALUES.tobytes())),
    "values of another format": member(GOOD, b"\x01" + parameter_tar.serialized(VALUES)[1:]),
    "values that are not there": member(GOOD, counted(6)),
    "a pickle": member(GOOD, b"\x80\x04cos\nsystem\n(S'touch owned'\ntR."),
    "a size that is not there": header("w", 1 << 40) + counted(1 << 38) + bytes(1024),
    "a member with holes": header("w", 1 << 40, b"S") + bytes(4096),
    "a description of a mebibyte": tar(("w", b"x"), ("w.protobuf", b"\x0a" + b"\xff" * (1 << 20))),
    "a description that is none": tar(("w", b"x"), ("w.protobuf", b"\xff\xff")),
    "a description within itself": tar(("w", b"x"), ("w.protobuf", b"\xa2\x01\x7f" * 5000)),
    "a description that ends in itself": tar(("w", b"x"), ("w.protobuf", b"\x0a\xff\xff\xff\xff\x0f")),
    "a parameter of another file": tar(("w.protobuf", config(name="../../etc/passwd").SerializeToString())),
    "packed and cut off": gzip.compress(member(GOOD))[:60],
    "packed and damaged": gzip.compress(member(GOOD), mtime=0)[:15] + b"\xff" * 40,
}


@pytest.mark.parametrize("data", HOSTILE.values(), ids=HOSTILE)
def test_what_was_made_to_do_harm_is_refused_in_little_memory(
    data: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    tracemalloc.start()
    try:
        with pytest.raises(BadModelFile) as caught:
            read(data)
        assert tracemalloc.get_traced_memory()[1] < MOST
    finally:
        tracemalloc.stop()
    assert len(str(caught.value)) < 2000
    assert list(tmp_path.iterdir()) == []


def test_cut_off_anywhere_it_is_refused_or_whole() -> None:
    whole = member(GOOD)
    end = whole.index(b"w.protobuf") + 512 + len(GOOD.SerializeToString())  # behind it there is nothing
    for length in range(len(whole)):
        if length >= end:
            assert read(whole[:length]).names() == ["w"]
        else:
            with pytest.raises(BadModelFile):
                read(whole[:length])


def test_names_that_lead_elsewhere_are_names_and_links_are_nothing(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    link = tarfile.TarInfo("elsewhere")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc"
    name = "../../../../tmp/owned"
    data = tar(
        (link, b""),
        (name, parameter_tar.serialized(VALUES)),
        (f"{name}.protobuf", config(name=name).SerializeToString()),
    )
    found = paddle.parameters.Parameters.from_tar(io.BytesIO(data))
    assert found.names() == [name]
    found.to_tar(again := io.BytesIO())
    assert paddle.parameters.Parameters.from_tar(io.BytesIO(again.getvalue())).names() == [name]
    assert list(tmp_path.iterdir()) == []
    assert not Path("/tmp/owned").exists()


def desc(kind: int, *dims: int) -> bytes:
    found = ParameterConfig()  # any message will do to write numbers
    found.dims = list(dims)
    body = b"\x08" + bytes([kind]) + found.SerializeToString().replace(b"\x48", b"\x10")
    return bytes(4) + bytes(8) + bytes(4) + struct.pack("<i", len(body)) + body


@pytest.mark.parametrize(
    "data",
    [
        desc(5, 1 << 40),
        desc(5, 1 << 62, 1 << 62),
        desc(5, *[1] * 100),
        desc(5, *[(1 << 63) - 1] * 31),
        desc(77, 1),
        bytes(4) + struct.pack("<Q", 1 << 63),
        bytes(4) + struct.pack("<QQ", 1, 1 << 62),
        bytes(16) + struct.pack("<i", 1 << 30),
        bytes(16) + struct.pack("<i", -1),
        b"\1\0\0\0",
    ],
)
def test_a_lod_tensor_that_says_what_cannot_be_is_refused_in_little_memory(data: bytes) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(BadModelFile):
            lod_tensor.read(io.BytesIO(data))
        assert tracemalloc.get_traced_memory()[1] < MOST
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "line",
    [
        "x",
        "1\t1,",
        "-1\t0\t0\t1\t1,",
        f"{1 << 70}\t0\t0\t1\t1,",
        f"{'9' * 5000}\t1\t1,",
        "1\t1\t1\n2\t2\t1,2",
    ],
)
def test_lines_that_are_no_rows_are_refused(line: str, tmp_path: Path) -> None:
    (tmp_path / "t.block0.txt").write_text(f"5\t1\t0\t1\t1,2,\n{line}\n")
    with pytest.raises(BadModelFile):
        sparse_text.read(tmp_path)
