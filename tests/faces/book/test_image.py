"""Images before they are fed."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import paddle.v2 as paddle
from paddle.v2 import image

PICTURE = np.random.default_rng(0).integers(0, 256, (6, 8, 3), np.uint8)


def png(pixels):
    content = io.BytesIO()
    Image.fromarray(pixels).save(content, "png")
    return content.getvalue()


def test_a_file_is_read_blue_first_or_without_colour(tmp_path) -> None:
    (tmp_path / "a.png").write_bytes(png(PICTURE))
    for found in (image.load_image(tmp_path / "a.png"), image.load_image_bytes(png(PICTURE))):
        np.testing.assert_array_equal(found, PICTURE[:, :, ::-1])
    assert image.load_image(str(tmp_path / "a.png"), is_color=False).shape == (6, 8)


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_the_shorter_side_is_what_was_asked_for(dtype) -> None:
    even = np.full((6, 8, 3), 7, dtype)
    assert image.resize_short(even, 12).shape == (12, 16, 3)
    assert image.resize_short(even.transpose(1, 0, 2), 3).shape == (4, 3, 3)
    np.testing.assert_allclose(image.resize_short(even[:, :, 0], 3), np.full((3, 4), 7), rtol=1e-5)


def test_pieces_are_cut_out_of_the_middle_or_anywhere() -> None:
    np.testing.assert_array_equal(image.center_crop(PICTURE, 4), PICTURE[1:5, 2:6])
    np.random.seed(3)
    pieces = {image.random_crop(PICTURE, 4).tobytes() for _ in range(60)}
    assert pieces == {PICTURE[y : y + 4, x : x + 4].tobytes() for y in range(3) for x in range(5)}
    np.testing.assert_array_equal(image.left_right_flip(PICTURE)[:, 0], PICTURE[:, -1])
    with pytest.raises(ValueError, match="no 7 x 7 pixels can be cut out of an image of 6 x 8"):
        image.center_crop(PICTURE, 7)


def test_a_transformed_image_has_its_channels_first_and_no_mean() -> None:
    found = image.simple_transform(PICTURE, 6, 6, is_train=False, mean=[1.0, 2.0, 3.0])
    expected = PICTURE[:, 1:7].transpose(2, 0, 1) - np.array([1, 2, 3])[:, None, None]
    np.testing.assert_array_equal(found, expected)
    assert found.dtype == np.float32
    elementwise = image.simple_transform(PICTURE, 6, 6, is_train=False, mean=np.ones((3, 6, 6)))
    np.testing.assert_array_equal(elementwise, PICTURE[:, 1:7].transpose(2, 0, 1) - 1.0)
    np.random.seed(1)
    turned = {image.simple_transform(PICTURE[:, :6], 6, 6, is_train=True).tobytes() for _ in range(20)}
    assert len(turned) == 2


def test_an_archive_becomes_files_of_images_and_labels(tmp_path) -> None:
    with tarfile.open(tmp_path / "images.tar", "w") as archive:
        for name in ("a.png", "b.png", "c.png"):
            info = tarfile.TarInfo(name)
            info.size = len(png(PICTURE))
            archive.addfile(info, io.BytesIO(png(PICTURE)))
    listing = image.batch_images_from_tar(str(tmp_path / "images.tar"), "train", {"a.png": 1, "c.png": 2}, 1)
    files = Path(listing).read_text().split()
    samples = list(paddle.reader.creator.recordio(files)())
    assert [sample["label"] for sample in samples] == [1, 2]
    np.testing.assert_array_equal(image.load_image_bytes(samples[1]["data"]), PICTURE[:, :, ::-1])
