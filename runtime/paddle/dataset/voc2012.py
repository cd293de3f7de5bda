"""voc2012: photographs in which each pixel has the class of what is seen there, 21 classes.

It must never know where the archive is kept (that is ``common``). Guarantee: a sample is a photograph
(height, width, 3) of red, green and blue, and its pixels' classes (height, width), 255 where none is said.
"""

from __future__ import annotations

import io
import tarfile
from collections.abc import Callable, Iterator

import numpy as np

from paddle.dataset import common
from paddle.dataset.image import pillow

__all__ = ["fetch", "test", "train", "val"]

VOC_URL = "http://host.robots.ox.ac.uk/pascal/VOC/voc2012/VOCtrainval_11-May-2012.tar"
VOC_MD5 = "6cd6e144f989b92b3379bac3b3de84fd"

_ROOT = "VOCdevkit/VOC2012"

Reader = Callable[[], Iterator[tuple[np.ndarray, np.ndarray]]]


def train() -> Reader:
    """Make a reader of all 2913 photographs."""
    return _reader("trainval")


def test() -> Reader:
    """Make a reader of the 1464 photographs for training alone, as the original has it."""
    return _reader("train")


def val() -> Reader:
    """Make a reader of the 1449 photographs for validation."""
    return _reader("val")


def fetch() -> None:
    """Download the data set."""
    common.download(VOC_URL, "voc2012", VOC_MD5)


def _reader(part: str) -> Reader:
    path = common.download(VOC_URL, "voc2012", VOC_MD5)

    def reader() -> Iterator[tuple[np.ndarray, np.ndarray]]:
        with tarfile.open(path) as package:
            names = _content(package, f"{_ROOT}/ImageSets/Segmentation/{part}.txt").decode().split()
            for name in names:
                photograph = _content(package, f"{_ROOT}/JPEGImages/{name}.jpg")
                classes = _content(package, f"{_ROOT}/SegmentationClass/{name}.png")
                yield _pixels(photograph), _pixels(classes)

    return reader


def _content(package: tarfile.TarFile, name: str) -> bytes:
    try:
        found = package.extractfile(name)
    except KeyError:
        found = None
    if found is None:
        raise RuntimeError(
            f"the archive {package.name} has no file {name}: is it VOCtrainval_11-May-2012.tar?"
        )
    return found.read()


def _pixels(content: bytes) -> np.ndarray:
    with pillow().open(io.BytesIO(content)) as image:
        return np.array(image)
