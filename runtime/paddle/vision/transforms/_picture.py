"""A picture: an image of Pillow, or an array (height, width) or (height, width, colours).

It must never know what becomes of it. Guarantee: an array is changed as an image of it would be, and comes
back as an array of its dtype, with as many axes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from paddle.dataset.image import pillow

__all__ = ["changed", "fills", "size_of", "way"]


def size_of(picture: Any) -> tuple[int, int]:
    """Width and height."""
    if isinstance(picture, np.ndarray):
        if picture.ndim not in (2, 3):
            raise TypeError(f"a picture is an array of 2 axes or 3, and not of {list(picture.shape)}")
        return picture.shape[1], picture.shape[0]
    if not hasattr(picture, "getbands"):
        raise TypeError(
            f"a picture is an image of Pillow or an array, and not {type(picture).__name__}: what a program "
            "computes is cut and resized by paddle.nn.functional"
        )
    width, height = picture.size
    return width, height


def way(interpolation: str) -> Any:
    """Pillow's name of what is read between pixels."""
    found = getattr(pillow().Resampling, str(interpolation).upper(), None)
    if found is None:
        known = [each.name.lower() for each in pillow().Resampling]
        raise ValueError(f"interpolation is one of {sorted(known)}, and not {interpolation!r}")
    return found


def fills(image: Any, fill: Any) -> Any:
    """A fill that an image takes: as many numbers as it has colours."""
    colours = len(image.getbands())
    if isinstance(fill, (list, tuple)):
        return tuple(fill) if colours > 1 else fill[0]
    return (fill,) * colours if colours > 1 else fill


def changed(picture: Any, change: Callable[[Any], Any]) -> Any:
    """What ``change`` makes of an image; of an array by way of an image, or of one for each colour."""
    size_of(picture)
    if not isinstance(picture, np.ndarray):
        return change(picture)
    if picture.dtype == np.uint8 and (picture.ndim == 2 or picture.shape[2] in (3, 4)):
        return np.asarray(change(pillow().fromarray(picture)))
    planes = picture.reshape(*picture.shape[:2], -1)
    kind = np.uint8 if picture.dtype == np.uint8 else np.float32
    images = (np.ascontiguousarray(planes[..., at], kind) for at in range(planes.shape[2]))
    made = np.stack([np.asarray(change(pillow().fromarray(each))) for each in images], -1)
    return made.reshape(*made.shape[:2], *picture.shape[2:]).astype(picture.dtype)
