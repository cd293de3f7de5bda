"""What is made of a picture: ``paddle.vision.transforms.resize`` and its family.

It must never draw at random. Guarantee: an image gives an image, and an array an array; what becomes of an
image is what Pillow makes of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, radians, sin, tan
from typing import Any

import numpy as np

from paddle.dataset.image import pillow
from paddle.vision.transforms._picture import changed, fills, size_of, way

__all__ = [
    *("adjust_brightness", "adjust_contrast", "adjust_hue", "adjust_saturation", "affine", "center_crop"),
    *("crop", "erase", "hflip", "normalize", "pad", "perspective", "resize", "rotate", "to_grayscale"),
    *("to_tensor", "vflip"),
]


def to_tensor(pic: Any, data_format: str = "CHW") -> np.ndarray:
    """An array of a picture: bytes from 0 to 1, as float32, colours first unless ``data_format`` is HWC."""
    if data_format not in ("CHW", "HWC"):
        raise ValueError(f"data_format is CHW or HWC, and not {data_format!r}")
    array = np.asarray(pic)
    array = array[..., np.newaxis] if array.ndim == 2 else array
    if array.dtype == np.uint8:
        array = array.astype(np.float32) / np.float32(255.0)
    return array.transpose(2, 0, 1) if data_format == "CHW" else array


def normalize(img: Any, mean: Any, std: Any, data_format: str = "CHW", to_rgb: bool = False) -> np.ndarray:
    """(img - mean) / std, of each colour its own. ``to_rgb``: colours are in the opposite order."""
    if data_format not in ("CHW", "HWC"):
        raise ValueError(f"data_format is CHW or HWC, and not {data_format!r}")
    shape = (-1, 1, 1) if data_format == "CHW" else (1, 1, -1)
    array = np.asarray(img)
    array = array if isinstance(img, np.ndarray) else array.astype(np.float32)
    middle, spread = (np.asarray(each, np.float32).reshape(shape) for each in (mean, std))
    made: np.ndarray = ((array[..., ::-1] if to_rgb else array) - middle) / spread
    return made


def resize(img: Any, size: Any, interpolation: str = "bilinear") -> Any:
    """In another ``size``: (height, width), or that of the shorter side, and the sides keep their relation.

    ``interpolation``: nearest, bilinear, bicubic, box, lanczos or hamming.
    """
    width, height = size_of(img)
    if isinstance(size, int):
        if min(width, height) == size:
            return img
        wanted = (max(size, int(size * width / height)), max(size, int(size * height / width)))
    elif isinstance(size, (list, tuple)) and len(size) == 2:
        wanted = (int(size[1]), int(size[0]))
    else:
        raise TypeError(f"size is a number, or (height, width), and not {size!r}")
    return changed(img, lambda image: image.resize(wanted, way(interpolation)))


def crop(img: Any, top: int, left: int, height: int, width: int) -> Any:
    """``height`` by ``width`` pixels from (``top``, ``left``) on."""
    size_of(img)
    if isinstance(img, np.ndarray):
        return img[top : top + height, left : left + width]
    return img.crop((left, top, left + width, top + height))


def center_crop(img: Any, output_size: Any) -> Any:
    """(height, width) pixels out of the middle; a number is both."""
    high, wide = [int(output_size)] * 2 if np.isscalar(output_size) else output_size
    width, height = size_of(img)
    return crop(img, round((height - high) / 2.0), round((width - wide) / 2.0), high, wide)


def pad(img: Any, padding: Any, fill: Any = 0, padding_mode: str = "constant") -> Any:
    """With pixels around: on the left, above, on the right, below; two numbers are both sides and above and
    below, and one is all. ``padding_mode``: constant (``fill``), edge, reflect or symmetric."""
    sides = list(padding) if isinstance(padding, (list, tuple)) else [padding] * 4
    if len(sides) not in (2, 4):
        raise ValueError(f"padding is a number, 2 of them or 4, and not {padding!r}")
    if padding_mode not in ("constant", "edge", "reflect", "symmetric"):
        raise AssertionError(f"padding_mode is constant, edge, reflect or symmetric, not {padding_mode!r}")
    size_of(img)
    left, top, right, bottom = map(int, sides * (4 // len(sides)))
    around = ((top, bottom), (left, right))
    if isinstance(img, np.ndarray):
        return _padded(img, around, fill, padding_mode)
    made = pillow().fromarray(_padded(np.asarray(img), around, fill, padding_mode), img.mode)
    if img.mode == "P":
        made.putpalette(img.getpalette())
    return made


def _padded(array: np.ndarray, around: Any, fill: Any, mode: str) -> np.ndarray:
    sides = (*around, (0, 0))[: array.ndim]
    if mode != "constant":
        return np.pad(array, sides, mode)  # type: ignore[no-any-return, call-overload]
    found = np.pad(array, sides)
    inside = np.pad(np.ones(array.shape[:2], bool), around)
    found[~inside] = fill
    return found


def hflip(img: Any) -> Any:
    """Left and right change places."""
    size_of(img)
    if isinstance(img, np.ndarray):
        return img[:, ::-1]
    return img.transpose(pillow().Transpose.FLIP_LEFT_RIGHT)


def vflip(img: Any) -> Any:
    """Above and below change places."""
    size_of(img)
    return img[::-1] if isinstance(img, np.ndarray) else img.transpose(pillow().Transpose.FLIP_TOP_BOTTOM)


def _enhanced(img: Any, kind: str, factor: float) -> Any:
    from PIL import ImageEnhance

    told = img.astype(np.uint8) if isinstance(img, np.ndarray) else img
    return changed(told, lambda image: getattr(ImageEnhance, kind)(image).enhance(factor))


def adjust_brightness(img: Any, brightness_factor: float) -> Any:
    """So many times as bright; 0 is black. Arrays are of bytes, here and in the functions that follow."""
    return _enhanced(img, "Brightness", brightness_factor)


def adjust_contrast(img: Any, contrast_factor: float) -> Any:
    """Of so many times the contrast; 0 is grey."""
    return _enhanced(img, "Contrast", contrast_factor)


def adjust_saturation(img: Any, saturation_factor: float) -> Any:
    """Of so many times the colour; 0 is black and white."""
    return _enhanced(img, "Color", saturation_factor)


def adjust_hue(img: Any, hue_factor: float) -> Any:
    """With all colours turned by a part of the circle, from -0.5 to 0.5."""
    if not -0.5 <= hue_factor <= 0.5:
        raise ValueError(f"hue_factor is from -0.5 to 0.5, and not {hue_factor}")

    def turned(image: Any) -> Any:
        if image.mode in ("L", "1", "I", "F"):
            return image
        hue, *others = image.convert("HSV").split()
        angles = (np.asarray(hue, np.int16) + int(hue_factor * 255)) % 256
        hue = pillow().fromarray(angles.astype(np.uint8))
        return pillow().merge("HSV", (hue, *others)).convert(image.mode)

    return changed(img.astype(np.uint8) if isinstance(img, np.ndarray) else img, turned)


def to_grayscale(img: Any, num_output_channels: int = 1) -> Any:
    """Without colour: of one channel, or of three that are alike."""
    if num_output_channels not in (1, 3):
        raise ValueError(f"num_output_channels is 1 or 3, and not {num_output_channels!r}")
    if isinstance(img, np.ndarray):
        grey = np.asarray(changed(img.astype(np.uint8), lambda image: image.convert("L")))
        return np.repeat(grey.reshape(*grey.shape[:2], 1), num_output_channels, 2)
    grey = img.convert("L")
    return grey if num_output_channels == 1 else pillow().merge("RGB", (grey,) * 3)


def affine(
    img: Any,
    angle: float,
    translate: Sequence[float],
    scale: float,
    shear: Any,
    interpolation: str = "nearest",
    fill: Any = 0,
    center: Sequence[float] | None = None,
) -> Any:
    """Turned by ``angle`` degrees, clockwise, moved by ``translate`` pixels, ``scale`` times as large, and
    slanted by ``shear`` degrees along x and y, all around ``center`` (the middle)."""
    if scale <= 0:
        raise ValueError(f"scale is above 0, and not {scale}")
    slant = [shear, 0.0] if np.isscalar(shear) else list(shear) * (3 - len(shear))
    width, height = size_of(img)
    middle = [width * 0.5, height * 0.5] if center is None else center
    matrix = _matrix(middle, float(angle), translate, scale, slant)

    def moved(image: Any) -> Any:
        told = (pillow().Transform.AFFINE, matrix, way(interpolation), 1)
        return image.transform(image.size, *told, fillcolor=fills(image, fill))

    return changed(img, moved)


def _matrix(
    middle: Sequence[float], angle: float, by: Sequence[float], scale: float, slant: Any
) -> list[float]:
    """Where each pixel of what is made comes from, as Pillow is told."""
    turn, along, down = radians(angle), radians(slant[0]), radians(slant[1])
    a, c = cos(turn - down) / cos(down), sin(turn - down) / cos(down)
    b, d = -a * tan(along) - sin(turn), -c * tan(along) + cos(turn)
    rows = [[d / scale, -b / scale], [-c / scale, a / scale]]
    found = []
    for (x, y), start in zip(rows, middle, strict=True):
        found += [x, y, x * (-middle[0] - by[0]) + y * (-middle[1] - by[1]) + start]
    return found


def rotate(
    img: Any,
    angle: float,
    interpolation: str = "nearest",
    expand: bool = False,
    center: Any = None,
    fill: Any = 0,
) -> Any:
    """Turned by ``angle`` degrees, against the clock, around ``center`` (the middle); with ``expand`` as
    large as all of it needs."""
    around = None if center is None else tuple(center)
    return changed(
        img,
        lambda image: image.rotate(angle, way(interpolation), expand, around, fillcolor=fills(image, fill)),
    )


def perspective(
    img: Any, startpoints: Any, endpoints: Any, interpolation: str = "nearest", fill: Any = 0
) -> Any:
    """Seen so that the four corners ``startpoints``, (x, y) each, are at ``endpoints``."""
    rows = []
    for (x, y), (u, v) in zip(endpoints, startpoints, strict=True):
        rows += [[x, y, 1, 0, 0, 0, -u * x, -u * y], [0, 0, 0, x, y, 1, -v * x, -v * y]]
    told = np.linalg.lstsq(np.array(rows, float), np.array(startpoints, float).reshape(8), rcond=None)[0]

    def seen(image: Any) -> Any:
        how = (pillow().Transform.PERSPECTIVE, list(told), way(interpolation), 1)
        return image.transform(image.size, *how, fillcolor=fills(image, fill))

    return changed(img, seen)


def erase(img: Any, i: int, j: int, h: int, w: int, v: Any, inplace: bool = False) -> Any:
    """With ``v`` in ``h`` by ``w`` pixels from row ``i`` and column ``j``. ``inplace``: an array itself."""
    size_of(img)
    array = img if inplace and isinstance(img, np.ndarray) else np.array(img)
    array[i : i + h, j : j + w] = v
    return array if isinstance(img, np.ndarray) else pillow().fromarray(array, img.mode)
