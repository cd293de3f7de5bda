"""What becomes of pictures. Sums of pixels were computed once by the wheel of 2.6.2, of the same seeds."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from paddle.vision import datasets, image_load
from paddle.vision import transforms as T  # noqa: N812  as programs call it
from paddle.vision.transforms import functional as F  # noqa: N812

pillow = pytest.importorskip("PIL.Image")
PIXELS = np.random.RandomState(0).randint(0, 255, (40, 56, 3)).astype(np.uint8)
IMAGE = pillow.fromarray(PIXELS)
CORNERS = (  # no pixel comes from just the edge of another: rounding in linear algebra would decide on it
    [[0.13, 0.29], [20.7, 0.41], [20.3, 30.9], [0.7, 30.1]],
    [[1.31, 2.23], [18.17, 3.43], [19.29, 28.71], [2.63, 27.11]],
)

TOLD: dict[str, tuple[Any, tuple[int, ...], float]] = {
    "resize": (lambda i: F.resize(i, 17), (17, 23, 3), 148357),
    "resize bicubic": (lambda i: F.resize(i, (50, 13), "bicubic"), (50, 13, 3), 246653),
    "resize nearest": (lambda i: F.resize(i, 17, "nearest"), (17, 23, 3), 147494),
    "crop": (lambda i: F.crop(i, 3, 4, 10, 11), (10, 11, 3), 42657),
    "center_crop": (lambda i: F.center_crop(i, (12, 17)), (12, 17, 3), 76246),
    "pad": (lambda i: F.pad(i, (1, 2)), (44, 58, 3), 850253),
    "pad edge": (lambda i: F.pad(i, (1, 2, 3, 4), 7, "edge"), (46, 60, 3), 1056366),
    "pad reflect": (lambda i: F.pad(i, 2, 9, "reflect"), (44, 60, 3), 1001833),
    "pad symmetric": (lambda i: F.pad(i, [1, 2], 0, "symmetric"), (44, 58, 3), 971046),
    "brightness": (lambda i: F.adjust_brightness(i, 1.7), (40, 56, 3), 1202799),
    "contrast": (lambda i: F.adjust_contrast(i, 1.7), (40, 56, 3), 850347),
    "saturation": (lambda i: F.adjust_saturation(i, 1.7), (40, 56, 3), 847407),
    "hue": (lambda i: F.adjust_hue(i, -0.3), (40, 56, 3), 851120),
    "grey": (lambda i: F.to_grayscale(i, 3), (40, 56, 3), 852048),
    "affine": (lambda i: F.affine(i, 33, [3, -4], 1.8, 12.0, center=[3, 4]), (40, 56, 3), 677759),
    "rotate": (lambda i: F.rotate(i, 33, "bilinear", True, None, 9), (66, 70, 3), 910951),
    "perspective": (lambda i: F.perspective(i, *CORNERS, "bilinear"), (40, 56, 3), 585240),
    "erase": (lambda i: F.erase(i, 2, 3, 5, 6, 44), (40, 56, 3), 843094),
}
DRAWN: dict[str, tuple[Any, tuple[int, ...], float]] = {
    "RandomCrop": (T.RandomCrop(20), (20, 20, 3), 149578),
    "RandomResizedCrop": (T.RandomResizedCrop(24), (24, 24, 3), 217169),
    "of no such sides": (T.RandomResizedCrop((9, 40), (0.9, 1.0), (8.0, 9.0)), (9, 40, 3), 136306),
    "BrightnessTransform": (T.BrightnessTransform(0.4), (40, 56, 3), 668655),
    "ContrastTransform": (T.ContrastTransform(0.4), (40, 56, 3), 847591),
    "SaturationTransform": (T.SaturationTransform([0.4, 0.9]), (40, 56, 3), 847779),
    "HueTransform": (T.HueTransform(0.4), (40, 56, 3), 850340),
    "ColorJitter": (T.ColorJitter(0.4, 0.4, 0.4, 0.4), (40, 56, 3), 904075),
    "RandomAffine": (T.RandomAffine([-30, 60], (0.1, 0.3), (0.5, 1.5), [10, 20]), (40, 56, 3), 815852),
    "slanted twice": (T.RandomAffine(20, shear=[1, 2, 3, 4]), (40, 56, 3), 767563),
    "RandomRotation": (T.RandomRotation(90), (40, 56, 3), 671813),
    "RandomPerspective": (T.RandomPerspective(1.0, 0.6), (40, 56, 3), 287335),
    "RandomErasing": (T.RandomErasing(1.0, value=[1, 2, 3]), (40, 56, 3), 695108),
    "noise": (T.RandomErasing(1.0, value="random"), (40, 56, 3), 853394),
}


@pytest.mark.parametrize("name", [*TOLD, *DRAWN])
def test_pictures_are_the_originals(name: str) -> None:
    change, shape, total = {**TOLD, **DRAWN}[name]
    random.seed(3)
    np.random.seed(3)
    found = change(IMAGE)
    assert isinstance(found, pillow.Image)
    assert np.asarray(found).shape == shape
    assert np.asarray(found).sum(dtype=float) == pytest.approx(total, rel=2e-4)


@pytest.mark.parametrize("name", TOLD)
def test_arrays_are_changed_as_images_are(name: str) -> None:
    change = TOLD[name][0]
    found = change(PIXELS)
    assert isinstance(found, np.ndarray) and found.dtype == np.uint8
    np.testing.assert_array_equal(found, np.asarray(change(IMAGE)))


@pytest.mark.parametrize("shape", [(8, 6), (8, 6, 1), (8, 6, 5)], ids=str)
@pytest.mark.parametrize("dtype", ["float32", "uint8"])
def test_arrays_of_any_colours_keep_their_axes_and_their_dtype(shape: tuple[int, ...], dtype: str) -> None:
    given = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
    for change in (T.Resize((4, 3), "box"), T.Pad([1, 2], fill=3), T.RandomRotation(30), T.CenterCrop(2)):
        found = change(given)
        assert (found.dtype, found.shape[2:]) == (given.dtype, shape[2:])
    halved = F.resize(given.astype("float32"), (4, 3), "box")
    wanted = given.astype("float32").reshape(4, 2, 3, 2, *shape[2:]).mean((1, 3))
    np.testing.assert_allclose(halved, wanted, rtol=1e-6)


def test_flips_fillings_and_what_is_left_alone() -> None:
    for flip, axis in ((T.RandomHorizontalFlip(1.0), 1), (T.RandomVerticalFlip(1.0), 0)):
        np.testing.assert_array_equal(np.asarray(flip(IMAGE)), np.flip(PIXELS, axis))
        np.testing.assert_array_equal(flip(PIXELS), np.flip(PIXELS, axis))
    assert T.RandomHorizontalFlip(0.0)(IMAGE) is IMAGE and T.ColorJitter()(IMAGE) is IMAGE
    around = np.asarray(F.pad(IMAGE, 2, 7))
    assert (around[0] == 7).all() and (around[:, -1] == 7).all()
    moved = F.affine(IMAGE, 0, [10, 0], 1.0, 0.0, fill=9)
    assert (np.asarray(moved)[:, :10] == 9).all()
    np.testing.assert_array_equal(np.asarray(moved)[:, 10:], PIXELS[:, :-10])
    small = T.RandomCrop((60, 30), padding=2, pad_if_needed=True, fill=(1, 2, 3))(IMAGE)
    assert small.size == (30, 60)


def test_a_chain_feeds_a_network() -> None:
    chain = T.Compose([T.Resize(20), T.CenterCrop(18), T.ToTensor(), T.Normalize(0.5, 0.5)])
    found = chain(IMAGE)
    assert (found.shape, found.dtype) == ((3, 18, 18), np.float32)
    assert found.sum() == pytest.approx(-14.204, abs=1e-2)


def test_what_is_no_picture_or_makes_no_sense_is_refused() -> None:
    with pytest.raises(TypeError, match=r"not str"):
        F.resize("cat.png", 3)
    with pytest.raises(ValueError, match="interpolation is one of"):
        F.resize(IMAGE, 3, "sharp")
    with pytest.raises(ValueError, match="30 x 70"):
        T.RandomCrop((30, 70))(IMAGE)
    with pytest.raises(ValueError, match="HueTransform takes"):
        T.HueTransform(0.7)
    with pytest.raises(ValueError, match="hue_factor"):
        F.adjust_hue(IMAGE, 0.7)
    with pytest.raises(ValueError, match="degrees"):
        T.RandomRotation([3, 2, 1])
    with pytest.raises(AssertionError, match="prob"):
        T.RandomErasing(1.5)


def test_folders_of_pictures_are_classes(tmp_path: Path) -> None:
    for name in ("dog/b.png", "cat/a.png", "cat/below/c.PNG", "cat/notes.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        IMAGE.save(tmp_path / name, "png")
    found = datasets.DatasetFolder(tmp_path, transform=T.ToTensor())
    assert found.classes == ["cat", "dog"] and found.targets == [0, 0, 1] and len(found) == 3
    picture, number = found[2]
    np.testing.assert_allclose(picture, PIXELS.transpose(2, 0, 1) / np.float32(255), rtol=1e-6)
    assert number == 1
    plain = datasets.ImageFolder(str(tmp_path), is_valid_file=lambda path: path.endswith("notes.txt"))
    assert len(plain) == 1 and np.asarray(plain[0][0]).shape == PIXELS.shape
    np.testing.assert_array_equal(image_load(str(tmp_path / "dog/b.png"), "cv2"), PIXELS[:, :, ::-1])
    assert image_load(str(tmp_path / "dog/b.png")).size == (56, 40)
    with pytest.raises(RuntimeError, match=r"ends in \.gif"):
        datasets.ImageFolder(tmp_path, extensions=[".gif"])
    with pytest.raises(ValueError, match="'pil'"):
        image_load("cat.png", "tensor")
