"""Data sets of small pictures, by number: ``paddle.vision.datasets``.

They must never know where files are kept (``paddle.dataset.common`` does). Guarantee: a picture is an image
("pil") or an array of bytes as float32 ("cv2"), then whatever ``transform`` makes of it; a class is int64.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any, ClassVar

import numpy as np

from paddle._data.samples import Dataset
from paddle._public_names import missing
from paddle.dataset import cifar as _cifar
from paddle.dataset import common
from paddle.dataset import mnist as _mnist
from paddle.vision import get_image_backend

__all__ = ["MNIST", "Cifar10", "Cifar100", "DatasetFolder", "FashionMNIST", "ImageFolder"]


class _Pictures(Dataset):
    """``_shown(index)`` gives an array of bytes and a class."""

    def __init__(self, mode: str, transform: Callable[[Any], Any] | None, backend: str | None) -> None:
        if str(mode).lower() not in ("train", "test"):
            raise AssertionError(f"mode is 'train' or 'test', and not {mode!r}")
        self.mode, self.transform = str(mode).lower(), transform
        self.backend = get_image_backend() if backend is None else backend
        if self.backend not in ("pil", "cv2"):
            raise ValueError(f"backend is 'pil' (images) or 'cv2' (arrays), and not {backend!r}")

    def _shown(self, index: int) -> tuple[np.ndarray, Any]:
        raise NotImplementedError

    def __getitem__(self, index: int) -> tuple[Any, np.ndarray]:
        picture, label = self._shown(index)
        made: Any = _image(picture) if self.backend == "pil" else picture.astype(np.float32)
        return made if self.transform is None else self.transform(made), np.asarray(label, np.int64)


class MNIST(_Pictures):
    """Handwritten digits of 28 by 28. ``image_path``, ``label_path``: files that are there already."""

    _SOURCES: ClassVar[Any] = {
        "train": (
            (_mnist.TRAIN_IMAGE_URL, "mnist", _mnist.TRAIN_IMAGE_MD5),
            (_mnist.TRAIN_LABEL_URL, "mnist", _mnist.TRAIN_LABEL_MD5),
        ),
        "test": (
            (_mnist.TEST_IMAGE_URL, "mnist", _mnist.TEST_IMAGE_MD5),
            (_mnist.TEST_LABEL_URL, "mnist", _mnist.TEST_LABEL_MD5),
        ),
    }

    def __init__(
        self,
        image_path: str | None = None,
        label_path: str | None = None,
        mode: str = "train",
        transform: Callable[[Any], Any] | None = None,
        download: bool = True,
        backend: str | None = None,
    ) -> None:
        super().__init__(mode, transform, backend)
        images, labels = self._SOURCES[self.mode]
        self.images = _mnist.idx(_path(image_path, images, download))
        self.labels = _mnist.idx(_path(label_path, labels, download))

    def _shown(self, index: int) -> tuple[np.ndarray, Any]:
        return self.images[index], [self.labels[index]]

    def __len__(self) -> int:
        return len(self.labels)


_CLOTHES = "https://dataset.bj.bcebos.com/fashion_mnist/"


class FashionMNIST(MNIST):
    """Clothes, in files like those of MNIST."""

    _SOURCES: ClassVar[Any] = {
        "train": (
            (f"{_CLOTHES}train-images-idx3-ubyte.gz", "fashion-mnist", "8d4fb7e6c68d591d4c3dfef9ec88bf0d"),
            (f"{_CLOTHES}train-labels-idx1-ubyte.gz", "fashion-mnist", "25c81989df183df01b3e8a0aad5dffbe"),
        ),
        "test": (
            (f"{_CLOTHES}t10k-images-idx3-ubyte.gz", "fashion-mnist", "bef4ecab320f06d8554ea6380940ec79"),
            (f"{_CLOTHES}t10k-labels-idx1-ubyte.gz", "fashion-mnist", "bb300cfdad3c16e7a12a480ee83cd310"),
        ),
    }


class Cifar10(_Pictures):
    """Pictures of 32 by 32 in three colours, of 10 classes. ``data_file``: an archive that is there."""

    _SOURCE = (_cifar.CIFAR10_URL, "cifar", _cifar.CIFAR10_MD5)
    _PARTS: ClassVar[Any] = {"train": "data_batch", "test": "test_batch"}

    def __init__(
        self,
        data_file: str | None = None,
        mode: str = "train",
        transform: Callable[[Any], Any] | None = None,
        download: bool = True,
        backend: str | None = None,
    ) -> None:
        super().__init__(mode, transform, backend)
        path = _path(data_file, self._SOURCE, download)
        self.data = list(_cifar.pictures(path, self._PARTS[self.mode], by_name=True))

    def _shown(self, index: int) -> tuple[np.ndarray, Any]:
        pixels, label = self.data[index]
        return pixels.reshape(3, 32, 32).transpose(1, 2, 0), label

    def __len__(self) -> int:
        return len(self.data)


class Cifar100(Cifar10):
    """The same of 100 classes."""

    _SOURCE = (_cifar.CIFAR100_URL, "cifar", _cifar.CIFAR100_MD5)
    _PARTS: ClassVar[Any] = {"train": "train", "test": "test"}


def _path(given: str | None, source: tuple[str, str, str], download: bool) -> str:
    if given is None and not download:
        raise AssertionError("the file is not said, and download=False: say where it is")
    return given or common.download(*source)


def _image(picture: np.ndarray) -> Any:
    try:
        from PIL import Image
    except ImportError:
        raise ImportError(
            "Pillow is not installed, and backend='pil' gives images: pip install pillow, or backend='cv2', "
            "which gives arrays"
        ) from None
    return Image.fromarray(picture)


def __getattr__(name: str) -> Any:
    if name in ("DatasetFolder", "ImageFolder", "folder"):
        home = import_module("paddle.vision.datasets.folder")
        return home if name == "folder" else getattr(home, name)
    raise missing(__name__, name)


cifar = mnist = sys.modules[f"{__name__}.cifar"] = sys.modules[f"{__name__}.mnist"] = sys.modules[__name__]
"""As a package of upstream's it has a module for each of these."""
