"""uci_housing: the prices of 506 Boston houses and 13 features of each.

It must never know where the file is kept (that is ``common``). Guarantee: features are centred on their mean
and divided by their range over all rows; the first four fifths are for training, the rest for test.
"""

from __future__ import annotations

import tarfile
import tempfile
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from paddle.dataset import common

if TYPE_CHECKING:
    from paddle.v2.parameters import Parameters

__all__ = [
    *("convert", "feature_names", "fetch", "fluid_model", "load_data", "model", "predict_reader", "test"),
    "train",
]

URL = "https://archive.ics.uci.edu/ml/machine-learning-databases/housing/housing.data"
MD5 = "d4accdce7a25600298819f8e28e8d593"
URL_MODEL = "https://github.com/PaddlePaddle/book/raw/develop/01.fit_a_line/fit_a_line.tar"
MD5_MODEL = "52fc3da8ef3937822fcdd87ee05c0c9b"
URL_FLUID_MODEL = "https://github.com/PaddlePaddle/book/raw/develop/01.fit_a_line/fluid/fit_a_line.fluid.tar"
MD5_FLUID_MODEL = "6e6dd637ccd5993961f68bfbde46090b"

feature_names = [
    *("CRIM", "ZN", "INDUS", "CHAS", "NOX", "RM", "AGE"),
    *("DIS", "RAD", "TAX", "PTRATIO", "B", "LSTAT"),
]
"""The 13 columns of a sample's features."""

_COLUMNS = len(feature_names) + 1  # and the price
_TRAIN_SHARE = 0.8

Reader = Callable[[], Iterator[tuple[np.ndarray, np.ndarray]]]


UCI_TRAIN_DATA: np.ndarray | None = None
UCI_TEST_DATA: np.ndarray | None = None
"""What ``load_data`` has read."""


def load_data(filename: str, feature_num: int = 14, ratio: float = 0.8) -> None:
    """Read UCI_TRAIN_DATA, that share of the rows, and UCI_TEST_DATA of a file of so many columns, the last
    one the price. ``train`` and ``test`` are of these from now on; a second call changes nothing."""
    global UCI_TRAIN_DATA, UCI_TEST_DATA
    if UCI_TRAIN_DATA is None:
        rows = _centred(np.fromfile(filename, sep=" ").reshape(-1, feature_num))
        UCI_TRAIN_DATA, UCI_TEST_DATA = np.split(rows, [int(len(rows) * ratio)])


def train() -> Reader:
    """Make a reader of (features of shape (13,), price of shape (1,)) for training."""
    return _reader(rows_of("train") if UCI_TRAIN_DATA is None else UCI_TRAIN_DATA)


def test() -> Reader:
    """Make a reader of (features of shape (13,), price of shape (1,)) for test."""
    return _reader(_for_test())


def predict_reader() -> tuple[np.ndarray]:
    """The features of all rows for test, of shape (rows, 13)."""
    return (_for_test()[:, :-1],)


def model() -> Parameters:
    """Return trained parameters of a linear regression on this data set, downloaded."""
    from paddle.v2.parameters import Parameters  # a data set is read without the v2 face

    with Path(common.download(URL_MODEL, "fit_a_line.tar", MD5_MODEL)).open("rb") as f:
        return Parameters.from_tar(f)


def fluid_model() -> str:
    """The new folder into which a trained linear regression on this data set, downloaded, is unpacked, for
    ``fluid.io.load_inference_model``."""
    path = common.download(URL_FLUID_MODEL, "uci_housing", MD5_FLUID_MODEL, "fit_a_line.fluid.tar")
    folder = tempfile.mkdtemp()
    with tarfile.open(path) as packed:
        packed.extractall(folder, filter="data")
    return folder


def fetch() -> None:
    """Download the data set."""
    common.download(URL, "uci_housing", MD5)


def convert(path: str) -> None:
    """Write both parts as RecordIO files of 1000 houses each into the folder ``path``."""
    common.convert(path, train(), 1000, "uci_housing_train")
    common.convert(path, test(), 1000, "uci_housing_test")


def rows_of(part: str, path: str | None = None) -> np.ndarray:
    """The rows for training ("train") or for test, each with its price last; ``path``: of a file that is
    there."""
    rows, split_at = _load(path or common.download(URL, "uci_housing", MD5))
    return rows[:split_at] if part == "train" else rows[split_at:]


def _for_test() -> np.ndarray:
    return rows_of("test") if UCI_TEST_DATA is None else UCI_TEST_DATA


@lru_cache(maxsize=2)
def _load(filename: str) -> tuple[np.ndarray, int]:
    data = np.loadtxt(filename, ndmin=2)
    if data.shape[1] != _COLUMNS:
        raise RuntimeError(f"{filename} has {data.shape[1]} columns, housing.data has {_COLUMNS}")
    return _centred(data), int(len(data) * _TRAIN_SHARE)


def _centred(rows: np.ndarray) -> np.ndarray:
    features = rows[:, :-1]
    features[:] = (features - features.mean(axis=0)) / np.ptp(features, axis=0)
    return rows


def _reader(rows: np.ndarray) -> Reader:
    def reader() -> Iterator[tuple[np.ndarray, np.ndarray]]:
        for row in rows:
            yield row[:-1], row[-1:]

    return reader
