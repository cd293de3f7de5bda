"""flowers: photographs of flowers of 102 kinds.

It must never know where the files are kept (that is ``common``). Guarantee: a kind is a number from 0 to 101;
samples come in the order of the archive. The part for training is the one that its authors had for test,
which is six times as large, and the other way round: so the original has it. Kinds and parts lie in files of
MATLAB, which SciPy reads: it is loaded when it is needed (``pip install scipy``).
"""

from __future__ import annotations

import os
import tarfile
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from paddle._absent import NotInThisRelease
from paddle.dataset import common
from paddle.dataset.image import load_image_bytes, simple_transform
from paddle.reader import map_readers, xmap_readers

__all__ = ["default_mapper", "fetch", "test", "test_mapper", "train", "train_mapper", "valid"]

_HOME = "http://paddlemodels.bj.bcebos.com/flowers/"
DATA_URL, DATA_MD5 = f"{_HOME}102flowers.tgz", "52808999861908f626f3c1f4e79d11fa"
LABEL_URL, LABEL_MD5 = f"{_HOME}imagelabels.mat", "e0620be6f572b9609742df49c70aed4d"
SETID_URL, SETID_MD5 = f"{_HOME}setid.mat", "a5357ecc9cb78c4bef273ce3793fc85c"

TRAIN_FLAG, TEST_FLAG, VALID_FLAG = "tstid", "trnid", "valid"

Sample = tuple[bytes, int]
Mapper = Callable[[Sample], Any]
Reader = Callable[[], Iterator[Any]]


def default_mapper(is_train: bool, sample: Sample) -> tuple[np.ndarray, int]:
    """The content of a file as 3 x 224 x 224 numbers in a row, and its kind; see ``simple_transform``."""
    content, kind = sample
    pixels = simple_transform(load_image_bytes(content), 256, 224, is_train, mean=[103.94, 116.78, 123.68])
    return pixels.flatten().astype(np.float32), kind


train_mapper = partial(default_mapper, True)
test_mapper = partial(default_mapper, False)


def train(
    mapper: Mapper = train_mapper, buffered_size: int = 1024, use_xmap: bool = True, cycle: bool = False
) -> Reader:
    """Make a reader of what ``mapper`` makes of (content of a file, kind), for training.

    With ``use_xmap``, ``CPU_NUM`` threads (by default one for each core) map, ``buffered_size`` samples
    ahead, and samples come as they are ready. ``cycle``: begins again for ever.
    """
    return _reader(TRAIN_FLAG, mapper, buffered_size, use_xmap, cycle)


def test(
    mapper: Mapper = test_mapper, buffered_size: int = 1024, use_xmap: bool = True, cycle: bool = False
) -> Reader:
    """Make a reader of the part for test; see :func:`train`."""
    return _reader(TEST_FLAG, mapper, buffered_size, use_xmap, cycle)


def valid(mapper: Mapper = test_mapper, buffered_size: int = 1024, use_xmap: bool = True) -> Reader:
    """Make a reader of the part for validation; see :func:`train`."""
    return _reader(VALID_FLAG, mapper, buffered_size, use_xmap, False)


def fetch() -> None:
    """Download the data set."""
    common.download(DATA_URL, "flowers", DATA_MD5)
    common.download(LABEL_URL, "flowers", LABEL_MD5)
    common.download(SETID_URL, "flowers", SETID_MD5)


def _reader(part: str, mapper: Mapper, buffered_size: int, use_xmap: bool, cycle: bool) -> Reader:
    archive = common.download(DATA_URL, "flowers", DATA_MD5)
    kinds = _numbers(common.download(LABEL_URL, "flowers", LABEL_MD5), "labels")
    numbers = _numbers(common.download(SETID_URL, "flowers", SETID_MD5), part)
    wanted = {f"jpg/image_{number:05d}.jpg": int(kinds[number - 1]) - 1 for number in numbers}

    def samples() -> Iterator[Sample]:
        yield from _read(archive, wanted)
        while cycle:
            yield from _read(archive, wanted)

    if not use_xmap:
        return map_readers(mapper, samples)
    threads = int(os.environ.get("CPU_NUM") or os.cpu_count() or 1)
    return xmap_readers(mapper, samples, threads, buffered_size)


def _numbers(path: str, name: str) -> np.ndarray:
    """The row ``name`` of a file of MATLAB, as whole numbers."""
    try:
        from scipy.io import loadmat
    except ImportError:
        raise NotInThisRelease(
            f"{path} is read by SciPy, which is not installed here: pip install scipy"
        ) from None
    return np.asarray(loadmat(path, variable_names=[name])[name][0]).astype(int)


def _read(archive: str, wanted: dict[str, int]) -> Iterator[Sample]:
    with tarfile.open(archive) as package:
        for member in package:
            content = package.extractfile(member) if member.name in wanted else None
            if content is not None:
                yield content.read(), wanted[member.name]
