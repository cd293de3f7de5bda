"""Images before they are fed: read, resized, cropped, turned over, and made rows of pixels.

An image is an array (height, width, channels), or (height, width) without colour, as files hold it; its
channels are blue, green, red. Files are read, and images resized, by Pillow, which is loaded when it is
needed (``pip install pillow``). They must never know a layer. Guarantee: what ``random_crop`` and
``simple_transform`` draw comes from ``numpy.random``, which a program may seed.
"""

from __future__ import annotations

import io
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from paddle._absent import NotInThisRelease

__all__ = [
    "batch_images_from_tar",
    "center_crop",
    "left_right_flip",
    "load_and_transform",
    "load_image",
    "load_image_bytes",
    "random_crop",
    "resize_short",
    "simple_transform",
    "to_chw",
]

Mean = Sequence[float] | np.ndarray | None


def load_image_bytes(bytes: bytes, is_color: bool = True) -> np.ndarray:
    """Read an image from the content of a file."""
    return _read(io.BytesIO(bytes), is_color)


def load_image(file: str | Path, is_color: bool = True) -> np.ndarray:
    """Read an image from a file."""
    return _read(file, is_color)


def resize_short(im: np.ndarray, size: int) -> np.ndarray:
    """Resize an image so that its shorter side is ``size`` and its sides keep their relation."""
    height, width = im.shape[:2]
    short = min(height, width)
    wanted = (size * width // short, size * height // short)
    library = pillow()
    if im.dtype == np.uint8:
        return np.asarray(library.fromarray(im).resize(wanted, library.Resampling.BICUBIC))
    planes = im[:, :, None] if im.ndim == 2 else im
    resized = [
        np.asarray(library.fromarray(plane).resize(wanted, library.Resampling.BICUBIC))
        for plane in np.ascontiguousarray(planes.transpose(2, 0, 1), np.float32)
    ]
    return np.stack(resized, 2).reshape(wanted[1], wanted[0], *im.shape[2:])


def to_chw(im: np.ndarray, order: Sequence[int] = (2, 0, 1)) -> np.ndarray:
    """Put the axes of an image in another order: by default channels first."""
    if len(im.shape) != len(order):
        raise ValueError(f"an order of {len(order)} axes is given for an image of {len(im.shape)}")
    return im.transpose(order)


def center_crop(im: np.ndarray, size: int, is_color: bool = True) -> np.ndarray:
    """Cut a square of ``size`` pixels out of the middle."""
    height, width = _larger(im, size)
    return _cut(im, (height - size) // 2, (width - size) // 2, size)


def random_crop(im: np.ndarray, size: int, is_color: bool = True) -> np.ndarray:
    """Cut a square of ``size`` pixels out of any place."""
    height, width = _larger(im, size)
    top, left = np.random.randint(0, height - size + 1), np.random.randint(0, width - size + 1)
    return _cut(im, top, left, size)


def left_right_flip(im: np.ndarray, is_color: bool = True) -> np.ndarray:
    """Turn an image over, left and right."""
    return im[:, ::-1]


def simple_transform(
    im: np.ndarray,
    resize_size: int,
    crop_size: int,
    is_train: bool,
    is_color: bool = True,
    mean: Mean = None,
) -> np.ndarray:
    """Resize, crop, put channels first, and subtract ``mean``; float32.

    In training the crop is of any place, and every other image is turned over. ``mean``: a number for each
    channel, or an image.
    """
    im = resize_short(im, resize_size)
    if is_train:
        im = random_crop(im, crop_size)
        im = left_right_flip(im) if np.random.randint(2) == 0 else im
    else:
        im = center_crop(im, crop_size)
    pixels = (to_chw(im) if im.ndim == 3 else im).astype(np.float32)
    if mean is not None:
        middle = np.asarray(mean, np.float32)
        pixels -= middle[:, None, None] if middle.ndim == 1 and is_color else middle
    return pixels


def load_and_transform(
    filename: str | Path,
    resize_size: int,
    crop_size: int,
    is_train: bool,
    is_color: bool = True,
    mean: Mean = None,
) -> np.ndarray:
    """Read an image from a file, and transform it; see :func:`simple_transform`."""
    return simple_transform(load_image(filename, is_color), resize_size, crop_size, is_train, is_color, mean)


def batch_images_from_tar(
    data_file: str, dataset_name: str, img2label: Mapping[str, int], num_per_batch: int = 1024
) -> str:
    """Write the images of an archive that ``img2label`` names into files of ``num_per_batch`` each.

    They are RecordIO files of {"data": content of a file, "label": its label}, in
    ``DATA_FILE_batch/DATASET_NAME``. Returns the path of a list of them, beside it; what is there is kept.
    """
    from paddle.dataset.common import convert  # who only feeds pixels does not need it

    folder = Path(f"{data_file}_batch")
    listing = folder / f"{dataset_name}.txt"
    if not listing.exists():

        def images() -> Any:
            with tarfile.open(data_file) as archive:
                for member in archive:
                    content = archive.extractfile(member) if member.name in img2label else None
                    if content is not None:
                        yield {"data": content.read(), "label": int(img2label[member.name])}

        convert(folder / dataset_name, images, num_per_batch, "batch")
        files = sorted((folder / dataset_name).glob("batch-*"))
        listing.write_text("".join(f"{path.resolve()}\n" for path in files))
    return str(listing)


def pillow() -> ModuleType:
    """The library that reads and resizes images."""
    try:
        from PIL import Image
    except ImportError:
        raise NotInThisRelease(
            "images are read and resized by Pillow, which is not installed here: pip install pillow"
        ) from None
    return Image


def _read(file: Any, is_color: bool) -> np.ndarray:
    with pillow().open(file) as image:
        if not is_color:
            return np.asarray(image.convert("L"))
        return np.ascontiguousarray(np.asarray(image.convert("RGB"))[:, :, ::-1])


def _larger(im: np.ndarray, size: int) -> tuple[int, int]:
    """Height and width of an image that a square of that size can be cut out of."""
    height, width = im.shape[:2]
    if size > min(height, width):
        raise ValueError(f"no {size} x {size} pixels can be cut out of an image of {height} x {width}")
    return height, width


def _cut(im: np.ndarray, top: int, left: int, size: int) -> np.ndarray:
    return im[top : top + size, left : left + size]
