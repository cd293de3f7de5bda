"""Images of v1 and v2's programs, as arrays (channels, height, width): ``paddle.utils.image_util``.

Files are read, and images resized, by Pillow, which is loaded when it is needed. They must never know a
layer. Guarantee: what is drawn comes from ``numpy.random``, which a program may seed.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from paddle.dataset.image import pillow

__all__ = [
    "ImageTransformer",
    "crop_img",
    "decode_jpeg",
    "flip",
    "load_image",
    "load_meta",
    "oversample",
    "preprocess_img",
    "resize_image",
]

Array = np.ndarray


def resize_image(img: Any, target_size: int) -> Any:
    """A picture of Pillow whose shorter side becomes ``target_size``."""
    share = target_size / min(img.size)
    width, height = (round(side * share) for side in img.size)
    return img.resize((width, height), pillow().Resampling.LANCZOS)


def flip(im: Array) -> Array:
    """Left for right."""
    return im[..., ::-1]


def crop_img(im: Array, inner_size: int, color: bool = True, test: bool = True) -> Array:
    """A square of ``inner_size`` out of the middle; or, if it is no ``test``, where chance says, and perhaps
    turned over. A smaller image has zeros around. Without ``color`` it is (height, width)."""
    tall, wide = im.shape[-2:]
    height, width = max(inner_size, tall), max(inner_size, wide)
    padded = np.zeros((3, height, width) if color else (height, width))
    above, left = (height - tall) // 2, (width - wide) // 2
    padded[..., above : above + tall, left : left + wide] = im
    room = height - inner_size, width - inner_size
    y, x = (each // 2 if test else np.random.randint(0, each + 1) for each in room)
    cut = padded[..., y : y + inner_size, x : x + inner_size]
    return flip(cut) if not test and np.random.randint(2) == 0 else cut


def decode_jpeg(jpeg_string: bytes) -> Array:
    """The picture that a file's content is: (channels, height, width), or (height, width)."""
    found = np.array(pillow().open(io.BytesIO(jpeg_string)))
    return found.transpose(2, 0, 1) if found.ndim == 3 else found


def preprocess_img(
    im: Array, img_mean: Array | float, crop_size: int, is_train: bool, color: bool = True
) -> Array:
    """A row of pixels: see ``crop_img``, less a mean."""
    return (crop_img(im.astype(np.float32), crop_size, color, not is_train) - img_mean).flatten()


def load_meta(meta_path: str | Path, mean_img_size: int, crop_size: int, color: bool = True) -> Array:
    """The middle of the mean image that a file keeps as ``data_mean``."""
    shape = (3, mean_img_size, mean_img_size) if color else (mean_img_size, mean_img_size)
    border = (mean_img_size - crop_size) // 2
    inside = slice(border, border + crop_size)
    mean = np.load(meta_path)["data_mean"].reshape(shape)
    return mean[..., inside, inside].astype(np.float32)


def load_image(img_path: str | Path, is_color: bool = True) -> Any:
    """A picture of Pillow, read from a file."""
    img = pillow().open(img_path)
    img.load()
    return img


def oversample(img: Sequence[Array], crop_dims: Sequence[int]) -> Array:
    """Of each image (height, width, channels) ten pieces: its corners, its middle, and these turned over."""
    rows, columns = crop_dims
    height, width = img[0].shape[:2]
    corners = [(y, x) for y in (0, height - rows) for x in (0, width - columns)]
    places = [*corners, (int(height / 2 - rows / 2), int(width / 2 - columns / 2))]
    pieces = [[im[y : y + rows, x : x + columns] for y, x in places] for im in img]
    return np.array([piece for each in pieces for piece in (*each, *(p[:, ::-1] for p in each))], np.float32)


class ImageTransformer:
    """Axes in another order, then channels in another order, then less a mean; None leaves one out."""

    def __init__(
        self,
        transpose: Sequence[int] | None = None,
        channel_swap: Sequence[int] | None = None,
        mean: Array | None = None,
        is_color: bool = True,
    ) -> None:
        self.is_color = is_color
        self.set_transpose(transpose)
        self.set_channel_swap(channel_swap)
        self.set_mean(mean)

    def set_transpose(self, order: Sequence[int] | None) -> None:
        """The order of axes."""
        self.transpose = order

    def set_channel_swap(self, order: Sequence[int] | None) -> None:
        """The order of channels."""
        self.channel_swap = order

    def set_mean(self, mean: Array | None) -> None:
        """A number for each channel, or for each pixel."""
        self.mean = mean[:, np.newaxis, np.newaxis] if mean is not None and mean.ndim == 1 else mean

    def transformer(self, data: Array) -> Array:
        """The image after all of it."""
        if self.transpose is not None:
            data = data.transpose(self.transpose)
        if self.channel_swap is not None:
            data = data[list(self.channel_swap)]
        return data if self.mean is None else data - self.mean
