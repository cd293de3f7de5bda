"""Data sets of photographs, read from generated twins of their files."""

from __future__ import annotations

import io
import tarfile

import numpy as np
import pytest
from PIL import Image
from scipy.io import savemat

from paddle.dataset import common, flowers, voc2012


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setattr(common, "DATA_HOME", str(tmp_path))
    monkeypatch.setenv("PADDLE_DATASET_LOCAL", "1")
    return tmp_path


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


def test_flowers_have_kinds_from_0_and_come_in_the_order_of_the_archive(home) -> None:
    kinds = np.array([[7, 102, 1, 7]], "<u1")
    sets = {"tstid": [[4, 1]], "trnid": [[2]], "valid": [[3]]}
    (home / "flowers").mkdir()
    savemat(home / "flowers" / "imagelabels.mat", {"labels": kinds}, do_compression=True)
    savemat(home / "flowers" / "setid.mat", {part: np.array(each, "<u2") for part, each in sets.items()})
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
