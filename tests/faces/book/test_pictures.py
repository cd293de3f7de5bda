"""Data sets of photographs, read from generated twins of their files."""

from __future__ import annotations

import io
import struct
import tarfile
import zlib

import numpy as np
import pytest
from PIL import Image

from paddle.dataset import common, flowers, matlab, voc2012


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setattr(common, "DATA_HOME", str(tmp_path))
    monkeypatch.setenv("PADDLE_DATASET_LOCAL", "1")
    return tmp_path


def element(type, data):
    return struct.pack("<II", type, len(data)) + data + bytes(-len(data) % 8)


def matrix(name, values, kind, type):
    flags = element(6, struct.pack("<II", kind, 0))
    shape, label = element(5, struct.pack("<2i", *values.shape)), element(1, name.encode())
    if len(name) <= 4:
        label = struct.pack("<HH", 1, len(name)) + name.encode().ljust(4, b"\0")
    return element(14, flags + shape + label + element(type, values.tobytes(order="F")))


def written(path, *matrices, compressed=False):
    if compressed:
        deflated = [zlib.compress(each) for each in matrices]
        matrices = [struct.pack("<II", 15, len(each)) + each for each in deflated]
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"MATLAB 5.0".ljust(124) + struct.pack("<H2s", 0x0100, b"IM") + b"".join(matrices))
    return path


def tarred(path, files):
    path.parent.mkdir(exist_ok=True)
    with tarfile.open(path, "w:gz" if path.suffix == ".tgz" else "w") as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))


def picture(pixels, kind="png"):
    content = io.BytesIO()
    Image.fromarray(pixels).save(content, kind)
    return content.getvalue()


@pytest.mark.parametrize("compressed", [False, True])
def test_arrays_of_matlab_come_as_they_were_written(tmp_path, compressed) -> None:
    numbers = np.arange(6, dtype="<i2").reshape(2, 3)
    shares = np.array([[0.5, 2.0]])
    text = matrix("text", np.array([[65, 66]], "<u2"), 4, 4)
    path = written(tmp_path / "a.mat", matrix("a", numbers, 10, 3), matrix("shares", shares, 6, 9), text)
    if compressed:
        parts = matrix("a", numbers, 10, 3), matrix("shares", shares, 6, 9), text
        path = written(tmp_path / "b.mat", *parts, compressed=True)
    np.testing.assert_array_equal(matlab.read(path, "a"), numbers)
    np.testing.assert_array_equal(matlab.read(path, "shares"), shares)
    with pytest.raises(ValueError, match="'text' is no dense array of real numbers"):
        matlab.read(path, "text")
    with pytest.raises(KeyError, match="has no array 'b'; it has a, shares, text"):
        matlab.read(path, "b")


def test_what_matlab_did_not_write_is_said_to_be_so(tmp_path) -> None:
    (tmp_path / "c.mat").write_bytes(b"?" * 200)
    with pytest.raises(ValueError, match="is not a file of MATLAB's version 5"):
        matlab.read(tmp_path / "c.mat", "a")


def test_flowers_have_kinds_from_0_and_come_in_the_order_of_the_archive(home) -> None:
    kinds = np.array([[7, 102, 1, 7]], "<u1")
    sets = {"tstid": [[4, 1]], "trnid": [[2]], "valid": [[3]]}
    written(home / "flowers" / "imagelabels.mat", matrix("labels", kinds, 9, 2), compressed=True)
    parts = [matrix(name, np.array(numbers, "<u2"), 11, 4) for name, numbers in sets.items()]
    written(home / "flowers" / "setid.mat", *parts)
    pixels = np.full((230, 250, 3), 120, np.uint8)
    files = {f"jpg/image_{n:05d}.jpg": picture(pixels, "jpeg") for n in (1, 2, 3, 4)}
    tarred(home / "flowers" / "102flowers.tgz", files)
    as_they_are = flowers.train(mapper=lambda sample: sample[1], use_xmap=False)
    assert list(as_they_are()) == [6, 6]
    endless = flowers.test(mapper=lambda sample: sample[1], use_xmap=False, cycle=True)()
    assert [next(endless) for _ in range(3)] == [101, 101, 101]
    ((row, kind),) = flowers.valid()()
    assert (row.shape, row.dtype, kind) == ((3 * 224 * 224,), np.float32, 0)
    assert abs(row[0] - (120 - 103.94)) < 2


def test_each_pixel_of_a_photograph_has_a_class(home) -> None:
    pixels, classes = np.full((4, 5, 3), 9, np.uint8), np.eye(4, 5, dtype=np.uint8)
    root = "VOCdevkit/VOC2012"
    files = {
        f"{root}/ImageSets/Segmentation/val.txt": b"b\na\n",
        f"{root}/ImageSets/Segmentation/train.txt": b"c\n",
        **{f"{root}/JPEGImages/{name}.jpg": picture(pixels) for name in "ab"},
        **{f"{root}/SegmentationClass/{name}.png": picture(classes * n) for n, name in enumerate("ab", 1)},
    }
    tarred(home / "voc2012" / "VOCtrainval_11-May-2012.tar", files)
    first, second = voc2012.val()()
    np.testing.assert_array_equal(first[0], pixels)
    np.testing.assert_array_equal(first[1], classes * 2)
    np.testing.assert_array_equal(second[1], classes)
    with pytest.raises(RuntimeError, match=r"has no file .*JPEGImages/c\.jpg"):
        list(voc2012.test()())
