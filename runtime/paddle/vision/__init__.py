"""``paddle.vision``: data sets of small pictures, and what is made of them before a network sees them.

It must never hold a picture. Guarantee: what is not built says so by name.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from paddle._public_names import missing

_MODULES = frozenset({"datasets", "models", "ops", "transforms"})
_IMAGES = {"backend": "pil"}

__all__ = [
    "LeNet",
    "datasets",
    "get_image_backend",
    "image_load",
    "models",
    "ops",
    "set_image_backend",
    "transforms",
]


def set_image_backend(backend: str) -> None:
    """What data sets give where they are not told: "pil", images, or "cv2", arrays."""
    if backend not in ("pil", "cv2"):
        raise ValueError(f"the backend of images is 'pil' (images) or 'cv2' (arrays), and not {backend!r}")
    _IMAGES["backend"] = backend


def get_image_backend() -> str:
    """What was set, "pil" at first."""
    return _IMAGES["backend"]


def image_load(path: str, backend: str | None = None) -> Any:
    """A picture of a file: an image, or with "cv2" an array whose colours are blue, green, red."""
    from paddle.dataset.image import load_image, pillow

    chosen = get_image_backend() if backend is None else backend
    if chosen not in ("pil", "cv2"):
        raise ValueError(f"the backend of images is 'pil' (images) or 'cv2' (arrays), and not {backend!r}")
    return pillow().open(path) if chosen == "pil" else load_image(path)


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"paddle.vision.{name}")
    if name in ("MNIST", "FashionMNIST", "Cifar10", "Cifar100"):
        return getattr(import_module("paddle.vision.datasets"), name)
    models = import_module("paddle.vision.models")
    if name in models.__all__:
        return getattr(models, name)
    raise missing(__name__, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
