"""mnist: handwritten digits, 60,000 for training and 10,000 for test.

It must never know where the files are kept (that is ``common``). Guarantee: pixels lie in [-1, 1], as
float32.
"""

from __future__ import annotations

import gzip
import struct
from collections.abc import Callable, Iterator

import numpy as np

from paddle.dataset import common

__all__ = ["convert", "fetch", "reader_creator", "test", "train"]

URL_PREFIX = "http://yann.lecun.com/exdb/mnist/"
TEST_IMAGE_URL = URL_PREFIX + "t10k-images-idx3-ubyte.gz"
TEST_IMAGE_MD5 = "9fb629c4189551a2d022fa330f9573f3"
TEST_LABEL_URL = URL_PREFIX + "t10k-labels-idx1-ubyte.gz"
TEST_LABEL_MD5 = "ec29112dd5afa0611ce80d1b7f02629c"
TRAIN_IMAGE_URL = URL_PREFIX + "train-images-idx3-ubyte.gz"
TRAIN_IMAGE_MD5 = "f68b3c2dcbeaaa9fbdd348bbdeb94873"
TRAIN_LABEL_URL = URL_PREFIX + "train-labels-idx1-ubyte.gz"
TRAIN_LABEL_MD5 = "d53e105ee54ea40749a09fcbcd1e9432"

_CHUNK = 1000

Reader = Callable[[], Iterator[tuple[np.ndarray, int]]]


def train() -> Reader:
    """Make a reader of (pixels of shape (784,), digit) for training."""
    return reader_creator(
        common.download(TRAIN_IMAGE_URL, "mnist", TRAIN_IMAGE_MD5),
        common.download(TRAIN_LABEL_URL, "mnist", TRAIN_LABEL_MD5),
        _CHUNK,
    )


def test() -> Reader:
    """Make a reader of (pixels of shape (784,), digit) for test."""
    return reader_creator(
        common.download(TEST_IMAGE_URL, "mnist", TEST_IMAGE_MD5),
        common.download(TEST_LABEL_URL, "mnist", TEST_LABEL_MD5),
        _CHUNK,
    )


def fetch() -> None:
    """Download the data set."""
    train()
    test()


def convert(path: str) -> None:
    """Write both parts as RecordIO files of 1000 images each into ``path``, with the names Paddle gives."""
    common.convert(path, train(), 1000, "minist_train")
    common.convert(path, test(), 1000, "minist_test")


def reader_creator(image_filename: str, label_filename: str, buffer_size: int) -> Reader:
    """Make a reader of (pixels of shape (784,), digit) of two files of one's own, in the format of these;
    ``buffer_size``: how many images are made floating point at a time."""

    def reader() -> Iterator[tuple[np.ndarray, int]]:
        images = idx(image_filename).reshape(-1, 28 * 28)
        labels = idx(label_filename)
        for start in range(0, len(labels), buffer_size):
            pixels = images[start : start + buffer_size].astype(np.float32)
            pixels /= np.float32(255.0)  # to the last bit as there, where it is printed
            pixels *= np.float32(2.0)
            pixels -= np.float32(1.0)
            yield from zip(pixels, labels[start : start + buffer_size].tolist(), strict=True)

    return reader


def idx(filename: str) -> np.ndarray:
    """Read an IDX file of bytes: two zeros, type 8, the number of dimensions, their sizes, the values."""
    with gzip.open(filename, "rb") as f:
        content = f.read()
    zeros, kind, dimensions = struct.unpack_from(">HBB", content)
    if zeros or kind != 8:
        raise RuntimeError(f"{filename} is not an IDX file of bytes")
    shape = struct.unpack_from(f">{dimensions}I", content, 4)
    return np.frombuffer(content, np.uint8, offset=4 + 4 * dimensions).reshape(shape)
