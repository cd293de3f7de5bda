"""Small data sets in the files of the originals, for programs that read ``paddle.dataset``."""

import gzip
import io
import struct
import tarfile
from pathlib import Path

import numpy as np

WORDS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def write(home: Path) -> None:
    """Put them where PADDLE_DATASET_HOME=home and PADDLE_DATASET_LOCAL=1 find them."""
    _write(home / "imikolov" / "simple-examples.tgz", _treebank())
    _write(home / "uci_housing" / "housing.data", _housing())
    for kind, count in (("train", 640), ("t10k", 128)):
        labels = np.arange(count, dtype=np.uint8) % 10
        _write(home / "mnist" / f"{kind}-images-idx3-ubyte.gz", _idx(digits(labels)))
        _write(home / "mnist" / f"{kind}-labels-idx1-ubyte.gz", _idx(labels))


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def _treebank() -> bytes:
    """Sentences that count, each from another number."""
    sentences = [" ".join(WORDS[n % 4 : n % 4 + 5 + n % 2]) for n in range(400)]
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz") as archive:
        for kind, lines in (("train", sentences), ("valid", sentences[:40])):
            text = "".join(f" {line} \n" for line in lines).encode()
            info = tarfile.TarInfo(f"./simple-examples/data/ptb.{kind}.txt")
            info.size = len(text)
            archive.addfile(info, io.BytesIO(text))
    return content.getvalue()


def _housing() -> bytes:
    """Rows of 13 features and a price that follows from them, but for a little."""
    random = np.random.default_rng(0)
    features = random.uniform(0, 100, (200, 13))
    prices = features @ random.uniform(-0.2, 0.2, 13) + 22 + random.normal(0, 0.5, 200)
    rows = np.column_stack([features, prices])
    return "".join(" ".join(f"{value:8.3f}" for value in row) + "\n" for row in rows).encode()


def digits(labels: np.ndarray) -> np.ndarray:
    """Noise with two bright lines, whose place is the digit."""
    images = np.random.default_rng(0).integers(0, 100, (len(labels), 28, 28), np.uint8)
    for image, label in zip(images, labels, strict=True):
        image[2 * label + 2 : 2 * label + 4] = 250
    return images


def _idx(array: np.ndarray) -> bytes:
    return gzip.compress(struct.pack(f">HBB{array.ndim}I", 0, 8, array.ndim, *array.shape) + array.tobytes())
