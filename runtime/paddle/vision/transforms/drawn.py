"""What is made of each picture of a data set by chance: ``paddle.vision.transforms.RandomCrop`` and others.

They must never know a data set. Guarantee: what is drawn comes from Python's ``random`` and from
``numpy.random``, in the original's order, so that seeds of both give its pictures.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from math import exp, log, sqrt
from typing import Any

import numpy as np

from paddle.vision.transforms import functional
from paddle.vision.transforms._picture import size_of
from paddle.vision.transforms.transforms import BaseTransform, Compose, Keys

__all__ = [
    *("BrightnessTransform", "ColorJitter", "ContrastTransform", "HueTransform", "RandomAffine"),
    *("RandomCrop", "RandomErasing", "RandomHorizontalFlip", "RandomPerspective", "RandomResizedCrop"),
    *("RandomRotation", "RandomVerticalFlip", "SaturationTransform"),
]


class RandomCrop(BaseTransform):
    """(height, width) pixels of any place, a number is both; first with ``padding`` around, as ``pad`` has
    it, and, where ``pad_if_needed``, with as much as a small picture lacks, on both sides."""

    def __init__(
        self,
        size: Any,
        padding: Any = None,
        pad_if_needed: bool = False,
        fill: Any = 0,
        padding_mode: str = "constant",
        keys: Keys = None,
    ) -> None:
        super().__init__(keys)
        self.size = (int(size),) * 2 if np.isscalar(size) else size
        self.padding, self.pad_if_needed = padding, pad_if_needed
        self.fill, self.padding_mode = fill, padding_mode

    def _padded(self, image: Any, padding: Any) -> Any:
        return functional.pad(image, padding, self.fill, self.padding_mode)

    def _apply_image(self, image: Any) -> Any:
        high, wide = self.size
        image = image if self.padding is None else self._padded(image, self.padding)
        width, height = size_of(image)
        if self.pad_if_needed and width < wide:
            image = self._padded(image, (wide - width, 0))
        if self.pad_if_needed and height < high:
            image = self._padded(image, (0, high - height))
        width, height = size_of(image)
        if (width, height) == (wide, high):
            return functional.crop(image, 0, 0, high, wide)
        if width < wide or height < high:
            raise ValueError(f"no {high} x {wide} pixels can be cut out of a picture of {height} x {width}")
        top, left = random.randint(0, height - high), random.randint(0, width - wide)
        return functional.crop(image, top, left, high, wide)


class RandomResizedCrop(BaseTransform):
    """A part of any place, of ``scale`` of the area and with sides of ``ratio``, resized to ``size``."""

    def __init__(
        self,
        size: Any,
        scale: Sequence[float] = (0.08, 1.0),
        ratio: Sequence[float] = (3.0 / 4, 4.0 / 3),
        interpolation: str = "bilinear",
        keys: Keys = None,
    ) -> None:
        super().__init__(keys)
        self.size = (size, size) if isinstance(size, int) else size
        if scale[0] > scale[1] or ratio[0] > ratio[1]:
            raise AssertionError(f"scale and ratio go from the least on, and not {scale} and {ratio}")
        self.scale, self.ratio, self.interpolation = scale, ratio, interpolation

    def _part(self, width: int, height: int) -> tuple[int, int, int, int]:
        for _ in range(10):
            area = np.random.uniform(*self.scale) * height * width
            sides = exp(np.random.uniform(*map(log, self.ratio)))
            wide, high = round(sqrt(area * sides)), round(sqrt(area / sides))
            if 0 < wide <= width and 0 < high <= height:
                return random.randint(0, height - high), random.randint(0, width - wide), high, wide
        sides = width / height
        wide, high = width, height
        if sides < min(self.ratio):
            high = round(width / min(self.ratio))
        elif sides > max(self.ratio):
            wide = round(height * max(self.ratio))
        return (height - high) // 2, (width - wide) // 2, high, wide

    def _apply_image(self, image: Any) -> Any:
        part = functional.crop(image, *self._part(*size_of(image)))
        return functional.resize(part, self.size, self.interpolation)


class RandomHorizontalFlip(BaseTransform):
    """See ``hflip``: of so many pictures."""

    def __init__(self, prob: float = 0.5, keys: Keys = None) -> None:
        super().__init__(keys)
        self.prob = _share(prob)

    def _apply_image(self, image: Any) -> Any:
        return functional.hflip(image) if random.random() < self.prob else image


class RandomVerticalFlip(RandomHorizontalFlip):
    """See ``vflip``: of so many pictures."""

    def _apply_image(self, image: Any) -> Any:
        return functional.vflip(image) if random.random() < self.prob else image


def _share(prob: float) -> float:
    if not 0 <= prob <= 1:
        raise AssertionError(f"prob is a share, from 0 to 1, and not {prob}")
    return prob


class _Adjusted(BaseTransform):
    """``value``: by how much from ``_middle``, or from and up to which factor."""

    _function = ""
    _middle, _least, _most = 1.0, 0.0, float("inf")

    def __init__(self, value: Any, keys: Keys = None) -> None:
        super().__init__(keys)
        if np.isscalar(value):
            value = [max(self._middle - value, self._least), self._middle + value]  # type: ignore[operator]
        if len(value) != 2 or not self._least <= value[0] <= value[1] <= self._most:
            raise ValueError(
                f"{type(self).__name__} takes a number, or two from {self._least} to {self._most}, "
                f"the lesser first, and not {value}"
            )
        self.value = None if value[0] == value[1] == self._middle else list(value)

    def _apply_image(self, image: Any) -> Any:
        if self.value is None:
            return image
        return getattr(functional, self._function)(image, random.uniform(*self.value))


class BrightnessTransform(_Adjusted):
    """See ``adjust_brightness``."""

    _function = "adjust_brightness"


class ContrastTransform(_Adjusted):
    """See ``adjust_contrast``."""

    _function = "adjust_contrast"


class SaturationTransform(_Adjusted):
    """See ``adjust_saturation``."""

    _function = "adjust_saturation"


class HueTransform(_Adjusted):
    """See ``adjust_hue``."""

    _function = "adjust_hue"
    _middle, _least, _most = 0.0, -0.5, 0.5


class ColorJitter(BaseTransform):
    """Brightness, contrast, saturation and hue, one after another in any order."""

    def __init__(
        self,
        brightness: Any = 0,
        contrast: Any = 0,
        saturation: Any = 0,
        hue: Any = 0,
        keys: Keys = None,
    ) -> None:
        super().__init__(keys)
        self.brightness, self.contrast, self.saturation, self.hue = brightness, contrast, saturation, hue

    def _apply_image(self, image: Any) -> Any:
        several = [
            BrightnessTransform(self.brightness),
            ContrastTransform(self.contrast),
            SaturationTransform(self.saturation),
            HueTransform(self.hue),
        ]
        random.shuffle(several)
        return Compose(several)(image)


def _angles(given: Any, name: str, counts: Sequence[int] = (2,)) -> list[float]:
    angles = [-given, given] if np.isscalar(given) else list(given)  # type: ignore[operator]
    if len(angles) not in counts or angles[0] > angles[1]:
        raise ValueError(f"{name} is a number above 0, or from and up to which angle, and not {given!r}")
    return [float(each) for each in angles]


class RandomAffine(BaseTransform):
    """See ``affine``: by angles of ``degrees``, moved by up to ``translate`` of the width and of the height,
    ``scale`` times as large, slanted by ``shear``: along x, or from and up to along x, and along y."""

    def __init__(
        self,
        degrees: Any,
        translate: Sequence[float] | None = None,
        scale: Sequence[float] | None = None,
        shear: Any = None,
        interpolation: str = "nearest",
        fill: Any = 0,
        center: Sequence[float] | None = None,
        keys: Keys = None,
    ) -> None:
        super().__init__(keys)
        self.degrees = _angles(degrees, "degrees")
        if translate is not None and not all(0 <= each <= 1 for each in translate):
            raise ValueError(f"translate is a share of the width and one of the height, and not {translate}")
        if scale is not None and min(scale) <= 0:
            raise ValueError(f"scale is above 0, and not {scale}")
        self.translate, self.scale = translate, scale
        self.shear = None if shear is None else _angles(shear, "shear", (2, 4))
        self.interpolation, self.fill, self.center = interpolation, 0 if fill is None else fill, center

    def _apply_image(self, image: Any) -> Any:
        angle, moved, size, slant = random.uniform(*self.degrees), [0, 0], 1.0, [0.0, 0.0]
        if self.translate is not None:
            reach = [share * side for share, side in zip(self.translate, size_of(image), strict=True)]
            moved = [int(random.uniform(-each, each)) for each in reach]
        if self.scale is not None:
            size = random.uniform(*self.scale)
        if self.shear is not None:
            slant[0] = random.uniform(*self.shear[:2])
            slant[1] = random.uniform(*self.shear[2:]) if len(self.shear) == 4 else 0.0
        told = (self.interpolation, self.fill, self.center)
        return functional.affine(image, angle, moved, size, slant, *told)


class RandomRotation(BaseTransform):
    """See ``rotate``: by angles of ``degrees``."""

    def __init__(
        self,
        degrees: Any,
        interpolation: str = "nearest",
        expand: bool = False,
        center: Any = None,
        fill: Any = 0,
        keys: Keys = None,
    ) -> None:
        super().__init__(keys)
        self.degrees = _angles(degrees, "degrees")
        self.interpolation, self.expand, self.center, self.fill = interpolation, expand, center, fill

    def _apply_image(self, image: Any) -> Any:
        angle = random.uniform(*self.degrees)
        return functional.rotate(image, angle, self.interpolation, self.expand, self.center, self.fill)


class RandomPerspective(BaseTransform):
    """See ``perspective``: of so many pictures, each corner moved by up to ``distortion_scale`` of half the
    width and height."""

    def __init__(
        self,
        prob: float = 0.5,
        distortion_scale: float = 0.5,
        interpolation: str = "nearest",
        fill: Any = 0,
        keys: Keys = None,
    ) -> None:
        super().__init__(keys)
        self.prob, self.distortion_scale = _share(prob), _share(distortion_scale)
        self.interpolation, self.fill = interpolation, fill

    def get_params(self, width: int, height: int, distortion_scale: float) -> tuple[list[Any], list[Any]]:
        """Corners, from the one above on the left on, clockwise, and where they are seen."""
        reach = int(distortion_scale * (width // 2)), int(distortion_scale * (height // 2))

        def seen(far: tuple[bool, bool]) -> list[int]:
            sides = zip((width, height), reach, far, strict=True)
            bounds = [(side - by - 1, side) if is_far else (0, by + 1) for side, by, is_far in sides]
            return [int(random.uniform(*each)) for each in bounds]

        corners = [(False, False), (True, False), (True, True), (False, True)]
        starts = [[(width - 1) * right, (height - 1) * below] for right, below in corners]
        return starts, [seen(each) for each in corners]

    def _apply_image(self, image: Any) -> Any:
        if random.random() >= self.prob:
            return image
        points = self.get_params(*size_of(image), self.distortion_scale)
        return functional.perspective(image, *points, self.interpolation, self.fill)


class RandomErasing(BaseTransform):
    """See ``erase``: of so many pictures ``scale`` of the area, with sides of ``ratio``, is ``value``: a
    number, one for each colour, or "random"."""

    def __init__(
        self,
        prob: float = 0.5,
        scale: Sequence[float] = (0.02, 0.33),
        ratio: Sequence[float] = (0.3, 3.3),
        value: Any = 0,
        inplace: bool = False,
        keys: Keys = None,
    ) -> None:
        super().__init__(keys)
        if isinstance(value, str) and value != "random":
            raise ValueError(f"value is numbers or 'random', and not {value!r}")
        self.prob, self.scale, self.ratio = _share(prob), scale, ratio
        self.value, self.inplace = value, inplace

    def _apply_image(self, image: Any) -> Any:
        if random.random() >= self.prob:
            return image
        width, height = size_of(image)
        colours = np.asarray(image).shape[2:]
        for _ in range(10):
            area = np.random.uniform(*self.scale) * height * width
            sides = np.exp(np.random.uniform(*np.log(self.ratio)))
            high, wide = round(np.sqrt(area * sides)), round(np.sqrt(area / sides))
            if high < height and wide < width:
                filling = self._filling((high, wide, *colours))
                top = np.random.randint(0, height - high + 1)
                left = np.random.randint(0, width - wide + 1)
                return functional.erase(image, top, left, high, wide, filling, self.inplace)
        return image

    def _filling(self, shape: tuple[int, ...]) -> Any:
        return np.random.normal(size=shape) * 255 if isinstance(self.value, str) else np.array(self.value)
