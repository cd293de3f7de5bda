"""What is made of each picture of a data set, always alike: ``paddle.vision.transforms.Resize`` and others.

They must never know a data set. Guarantee: what is drawn at random is in ``drawn.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from paddle.vision.transforms import functional

__all__ = [
    *("BaseTransform", "CenterCrop", "Compose", "Grayscale", "Normalize", "Pad", "Resize", "ToTensor"),
    "Transpose",
]

Keys = Sequence[str] | None


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

    def __init__(self, keys: Keys = None) -> None:
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

    def __init__(self, data_format: str = "CHW", keys: Keys = None) -> None:
        super().__init__(keys)
        self.data_format = data_format

    def _apply_image(self, image: Any) -> np.ndarray:
        return functional.to_tensor(image, self.data_format)


class Normalize(BaseTransform):
    """See ``normalize``. A number for ``mean`` or ``std`` is that of all three colours."""

    def __init__(
        self,
        mean: Any = 0.0,
        std: Any = 1.0,
        data_format: str = "CHW",
        to_rgb: bool = False,
        keys: Keys = None,
    ) -> None:
        super().__init__(keys)
        self.mean, self.std = ([each] * 3 if np.isscalar(each) else each for each in (mean, std))
        self.data_format, self.to_rgb = data_format, to_rgb

    def _apply_image(self, image: Any) -> np.ndarray:
        return functional.normalize(image, self.mean, self.std, self.data_format, self.to_rgb)


class Transpose(BaseTransform):
    """The axes in another ``order``: colours first by default. A picture of one colour has an axis of it."""

    def __init__(self, order: Sequence[int] = (2, 0, 1), keys: Keys = None) -> None:
        super().__init__(keys)
        self.order = order

    def _apply_image(self, image: Any) -> np.ndarray:
        array = np.asarray(image)
        return (array[..., np.newaxis] if array.ndim == 2 else array).transpose(self.order)


class Resize(BaseTransform):
    """See ``resize``."""

    def __init__(self, size: Any, interpolation: str = "bilinear", keys: Keys = None) -> None:
        super().__init__(keys)
        self.size, self.interpolation = size, interpolation

    def _apply_image(self, image: Any) -> Any:
        return functional.resize(image, self.size, self.interpolation)


class CenterCrop(BaseTransform):
    """See ``center_crop``."""

    def __init__(self, size: Any, keys: Keys = None) -> None:
        super().__init__(keys)
        self.size = (int(size),) * 2 if np.isscalar(size) else size

    def _apply_image(self, image: Any) -> Any:
        return functional.center_crop(image, self.size)


class Pad(BaseTransform):
    """See ``pad``."""

    def __init__(
        self, padding: Any, fill: Any = 0, padding_mode: str = "constant", keys: Keys = None
    ) -> None:
        super().__init__(keys)
        self.padding, self.fill, self.padding_mode = padding, fill, padding_mode

    def _apply_image(self, image: Any) -> Any:
        return functional.pad(image, self.padding, self.fill, self.padding_mode)


class Grayscale(BaseTransform):
    """See ``to_grayscale``."""

    def __init__(self, num_output_channels: int = 1, keys: Keys = None) -> None:
        super().__init__(keys)
        self.num_output_channels = num_output_channels

    def _apply_image(self, image: Any) -> Any:
        return functional.to_grayscale(image, self.num_output_channels)
