"""What is made of pictures before a network sees them: ``paddle.vision.transforms``.

They must never know a data set. Guarantee: they give arrays, as programs are fed; a picture is an image or an
array (height, width, colours).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from paddle._public_names import missing

__all__ = ["BaseTransform", "Compose", "Normalize", "ToTensor", "Transpose", "normalize", "to_tensor"]


class Compose:
    """One after another."""

    def __init__(self, transforms: Sequence[Callable[[Any], Any]]) -> None:
        self.transforms = transforms

    def __call__(self, data: Any) -> Any:
        """What all make of it."""
        for each in self.transforms:
            data = each(data)
        return data

    def __repr__(self) -> str:
        return "\n    ".join([f"{type(self).__name__}(", *map(str, self.transforms)]) + "\n)"


class BaseTransform:
    """Derive, and write ``_apply_image(image)``; of ``keys`` each says what one of several inputs is, which
    ``_apply_KEY`` takes. ``_get_params(inputs)`` is called before, and gives ``self.params``."""

    def __init__(self, keys: Sequence[str] | None = None) -> None:
        if keys is not None and (isinstance(keys, str) or not isinstance(keys, Sequence)):
            raise ValueError(f"keys are a list of names, and not {keys!r}")
        self.keys: Sequence[str] = ("image",) if keys is None else keys
        for key in self.keys:
            if getattr(self, f"_apply_{key}", None) is None:
                raise NotImplementedError(f"{type(self).__name__} has no _apply_{key}")
        self.params: Any = None

    def _get_params(self, inputs: tuple[Any, ...]) -> Any:
        return None

    def _apply_image(self, image: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} lacks _apply_image(image)")

    def __call__(self, inputs: Any) -> Any:
        """What is made of an input, or of several in a tuple."""
        several = inputs if isinstance(inputs, tuple) else (inputs,)
        self.params = self._get_params(several)
        known = len(self.keys)
        pairs = zip(self.keys, several, strict=False)
        made = (*(getattr(self, f"_apply_{key}")(each) for key, each in pairs), *several[known:])
        return made[0] if len(made) == 1 else made


class ToTensor(BaseTransform):
    """See ``to_tensor``."""

    def __init__(self, data_format: str = "CHW", keys: Sequence[str] | None = None) -> None:
        super().__init__(keys)
        self.data_format = data_format

    def _apply_image(self, image: Any) -> np.ndarray:
        return to_tensor(image, self.data_format)


class Normalize(BaseTransform):
    """See ``normalize``. A number for ``mean`` or ``std`` is that of all three colours."""

    def __init__(
        self,
        mean: Any = 0.0,
        std: Any = 1.0,
        data_format: str = "CHW",
        to_rgb: bool = False,
        keys: Sequence[str] | None = None,
    ) -> None:
        super().__init__(keys)
        self.mean, self.std = ([each] * 3 if np.isscalar(each) else each for each in (mean, std))
        self.data_format, self.to_rgb = data_format, to_rgb

    def _apply_image(self, image: Any) -> np.ndarray:
        return normalize(image, self.mean, self.std, self.data_format, self.to_rgb)


class Transpose(BaseTransform):
    """The axes in another ``order``: colours first by default. A picture of one colour has an axis of it."""

    def __init__(self, order: Sequence[int] = (2, 0, 1), keys: Sequence[str] | None = None) -> None:
        super().__init__(keys)
        self.order = order

    def _apply_image(self, image: Any) -> np.ndarray:
        return _with_colours(np.asarray(image)).transpose(self.order)


def to_tensor(pic: Any, data_format: str = "CHW") -> np.ndarray:
    """An array of a picture: bytes from 0 to 1, as float32, colours first unless ``data_format`` is HWC."""
    if data_format not in ("CHW", "HWC"):
        raise ValueError(f"data_format is CHW or HWC, and not {data_format!r}")
    array = _with_colours(np.asarray(pic))
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


def _with_colours(array: np.ndarray) -> np.ndarray:
    return array[..., np.newaxis] if array.ndim == 2 else array


def __getattr__(name: str) -> NoReturn:
    raise missing(__name__, name)
