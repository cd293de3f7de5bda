"""Pictures of one's own: ``paddle.vision.datasets.DatasetFolder`` and ``ImageFolder``.

They must never keep a picture. Guarantee: files come in the order of their names, folder by folder, and are
read when they are asked for.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from paddle._data.samples import Dataset
from paddle.dataset.image import load_image, pillow
from paddle.vision import get_image_backend

__all__ = ["DatasetFolder", "ImageFolder"]

_PICTURES = (".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp")


def _loaded(path: str) -> Any:
    """Red, green and blue: an image, or an array where the backend is "cv2"."""
    if get_image_backend() == "cv2":
        return np.ascontiguousarray(load_image(path)[:, :, ::-1])
    with pillow().open(path) as image:
        return image.convert("RGB")


class _Files(Dataset):
    """``extensions``: endings of files that count, those of pictures if None; or else ``is_valid_file(path)``
    says which do. ``loader(path)`` reads one, and ``transform`` changes what it gives."""

    def __init__(
        self,
        root: str | Path,
        loader: Callable[[str], Any] | None = None,
        extensions: Sequence[str] | None = None,
        transform: Callable[[Any], Any] | None = None,
        is_valid_file: Callable[[str], bool] | None = None,
    ) -> None:
        self.root, self.transform = root, transform
        self.loader = _loaded if loader is None else loader
        self.extensions = _PICTURES if extensions is None else tuple(extensions)
        self._counts = self._ends if is_valid_file is None else is_valid_file
        self.samples: list[Any] = self._found(Path(root).expanduser())
        if not self.samples:
            raise RuntimeError(f"no file of {root} ends in {', '.join(self.extensions)}")

    def _ends(self, path: str) -> bool:
        return path.lower().endswith(tuple(each.lower() for each in self.extensions))

    def _files(self, folder: Path) -> Iterator[str]:
        for within, _, names in sorted(os.walk(folder, followlinks=True)):
            paths = (str(Path(within) / name) for name in sorted(names))
            yield from (path for path in paths if self._counts(path))

    def _found(self, root: Path) -> list[Any]:
        raise NotImplementedError

    def _read(self, path: str) -> Any:
        sample = self.loader(path)
        return sample if self.transform is None else self.transform(sample)

    def __len__(self) -> int:
        return len(self.samples)


class DatasetFolder(_Files):
    """(picture, class) of a folder for each class, by their names: ``classes`` and ``class_to_idx``."""

    def _found(self, root: Path) -> list[Any]:
        self.classes = sorted(each.name for each in root.iterdir() if each.is_dir())
        self.class_to_idx = {name: number for number, name in enumerate(self.classes)}
        found = [
            (path, self.class_to_idx[name]) for name in self.classes for path in self._files(root / name)
        ]
        self.targets = [number for _, number in found]
        return found

    def __getitem__(self, index: int) -> tuple[Any, int]:
        path, number = self.samples[index]
        return self._read(path), number


class ImageFolder(_Files):
    """[picture] of all files of a folder and below it."""

    def _found(self, root: Path) -> list[Any]:
        return list(self._files(root))

    def __getitem__(self, index: int) -> list[Any]:
        return [self._read(self.samples[index])]
