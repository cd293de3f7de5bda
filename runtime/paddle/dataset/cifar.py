"""cifar: 60,000 small pictures in 10 classes, and as many in 100; 50,000 of each for training.

It must never know where the archives are kept (that is ``common``). Guarantee: pixels lie in [0, 1], as
float32, red then green then blue; archives hold pickles, which are read as data and never run.
"""

from __future__ import annotations

import tarfile
from collections.abc import Callable, Iterator

import numpy as np

from paddle._recordio.pickled import load
from paddle.dataset import common

__all__ = ["convert", "fetch", "reader_creator", "test10", "test100", "train10", "train100"]

URL_PREFIX = "https://www.cs.toronto.edu/~kriz/"
CIFAR10_URL, CIFAR10_MD5 = URL_PREFIX + "cifar-10-python.tar.gz", "c58f30108f718f92721af3b95e74349a"
CIFAR100_URL, CIFAR100_MD5 = URL_PREFIX + "cifar-100-python.tar.gz", "eb9058c3a382ffc7106e4002c42a8d85"

Reader = Callable[[], Iterator[tuple[np.ndarray, int]]]


def train10(cycle: bool = False) -> Reader:
    """Make a reader of (pixels of shape (3072,), class from 0 to 9) for training; ``cycle``: without end."""
    return reader_creator(common.download(CIFAR10_URL, "cifar", CIFAR10_MD5), "data_batch", cycle)


def test10(cycle: bool = False) -> Reader:
    """Make a reader of (pixels of shape (3072,), class from 0 to 9) for test; ``cycle``: without end."""
    return reader_creator(common.download(CIFAR10_URL, "cifar", CIFAR10_MD5), "test_batch", cycle)


def train100() -> Reader:
    """Make a reader of (pixels of shape (3072,), class from 0 to 99) for training."""
    return reader_creator(common.download(CIFAR100_URL, "cifar", CIFAR100_MD5), "train")


def test100() -> Reader:
    """Make a reader of (pixels of shape (3072,), class from 0 to 99) for test."""
    return reader_creator(common.download(CIFAR100_URL, "cifar", CIFAR100_MD5), "test")


def fetch() -> None:
    """Download both data sets."""
    common.download(CIFAR10_URL, "cifar", CIFAR10_MD5)
    common.download(CIFAR100_URL, "cifar", CIFAR100_MD5)


def convert(path: str) -> None:
    """Write all parts as RecordIO files of 1000 pictures each into the folder ``path``."""
    for name, reader in (("train100", train100()), ("test100", test100())):
        common.convert(path, reader, 1000, f"cifar_{name}")
    for name, reader in (("train10", train10()), ("test10", test10())):
        common.convert(path, reader, 1000, f"cifar_{name}")


def reader_creator(filename: str, sub_name: str, cycle: bool = False) -> Reader:
    """Make a reader of (pixels of shape (3072,), class) of an archive of one's own, in the format of these:
    of the files whose name has ``sub_name`` in it. ``cycle``: without end."""

    def reader() -> Iterator[tuple[np.ndarray, int]]:
        yield from _batches(filename, sub_name)
        while cycle:
            yield from _batches(filename, sub_name)

    return reader


def _batches(filename: str, part: str) -> Iterator[tuple[np.ndarray, int]]:
    """The same with pixels from 0 to 1."""
    for pixels, label in pictures(filename, part):
        yield (pixels / 255.0).astype(np.float32), label


def pictures(filename: str, part: str, *, by_name: bool = False) -> Iterator[tuple[np.ndarray, int]]:
    """The pictures of all files of an archive whose name has ``part`` in it, as bytes, and their classes:
    files in the archive's order, or ``by_name``."""
    with tarfile.open(filename) as archive:
        for member in sorted(archive, key=lambda each: each.name) if by_name else archive:
            content = archive.extractfile(member) if part in member.name else None
            if content is None:
                continue
            batch = {_text(key): value for key, value in load(content.read()).items()}
            labels = batch.get("labels", batch.get("fine_labels"))
            if labels is None or "data" not in batch:
                raise RuntimeError(f"{member.name} in {filename} has no data and labels: is it of cifar?")
            yield from zip(batch["data"], map(int, labels), strict=True)


def _text(key: str | bytes) -> str:
    """A key; pickles that Python 3 wrote may have bytes, as the original asks for these."""
    return key.decode("utf-8", "replace") if isinstance(key, bytes) else key
