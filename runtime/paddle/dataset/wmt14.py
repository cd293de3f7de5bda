"""wmt14: sentences in French and in English, a small part of them, to learn to translate from.

It must never know where the archives are kept (that is ``common``). Guarantee: words are numbered as the
archive's own dictionaries do, where ``<s>`` is 0, ``<e>`` is 1 and ``<unk>`` is 2.
"""

from __future__ import annotations

import gzip
import tarfile
from collections.abc import Callable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

from paddle.dataset import common

if TYPE_CHECKING:
    from paddle.v2.parameters import Parameters

__all__ = ["convert", "fetch", "gen", "get_dict", "model", "reader_creator", "test", "train"]

URL_TRAIN = "http://paddlemodels.bj.bcebos.com/wmt/wmt14.tgz"
MD5_TRAIN = "0791583d57d5beb693b9414c5b36798c"
URL_MODEL = "http://paddlemodels.bj.bcebos.com/wmt%2Fwmt14.tgz"
MD5_MODEL = "0cb4a5366189b6acba876491c8724fa3"

START, END, UNK, UNK_IDX = "<s>", "<e>", "<unk>", 2

_LONGEST = 80  # words; pairs with a longer sentence are left out

Reader = Callable[[], Iterator[tuple[list[int], list[int], list[int]]]]


def train(dict_size: int) -> Reader:
    """Make a reader of (source, target behind ``<s>``, target and ``<e>``) for training, lists of ids.

    ``dict_size``: only so many words of each language have an id of their own.
    """
    return pairs_of("train", dict_size)


def test(dict_size: int) -> Reader:
    """Make a reader of the part for test; see :func:`train`."""
    return pairs_of("test", dict_size)


def gen(dict_size: int) -> Reader:
    """Make a reader of the part to translate; see :func:`train`."""
    return pairs_of("gen", dict_size)


def model() -> Parameters:
    """Return trained parameters of a translator, downloaded."""
    from paddle.v2.parameters import Parameters  # a data set is read without the v2 face

    with gzip.open(common.download(URL_MODEL, "wmt14", MD5_MODEL)) as f:
        return Parameters.from_tar(f)


def get_dict(
    dict_size: int, reverse: bool = True
) -> tuple[dict[int, str], dict[int, str]] | tuple[dict[str, int], dict[str, int]]:
    """Return the words of source and target by id or, without ``reverse``, the ids by word."""
    source, target = dictionaries_of(_archive(), dict_size)
    if not reverse:
        return source, target
    return turned(source), turned(target)


def fetch() -> None:
    """Download the data set and the model."""
    _archive()
    common.download(URL_MODEL, "wmt14", MD5_MODEL)


def convert(path: str) -> None:
    """Write two parts as RecordIO files of 1000 pairs each into the folder ``path``, for 30,000 words."""
    common.convert(path, train(30000), 1000, "wmt14_train")
    common.convert(path, test(30000), 1000, "wmt14_test")


def _archive() -> str:
    return common.download(URL_TRAIN, "wmt14", MD5_TRAIN)


def turned(ids: dict[str, int]) -> dict[int, str]:
    """Words by id."""
    return {number: word for word, number in ids.items()}


def _lines(archive: str, ending: str) -> Iterator[str]:
    """The lines of all files whose name ends so."""
    with tarfile.open(archive) as package:
        names = [member.name for member in package if member.name.endswith(ending)]
        if not names:
            raise RuntimeError(f"the archive {archive} has no file {ending}: is it wmt14.tgz?")
        for name in names:
            for line in package.extractfile(name) or ():
                yield line.decode("utf-8").strip()


def dictionaries_of(archive: str, size: int) -> tuple[dict[str, int], dict[str, int]]:
    """The ids of source and target by word."""
    source, target = (
        {word: number for number, word in enumerate(islice(_lines(archive, ending), size))}
        for ending in ("src.dict", "trg.dict")
    )
    return source, target


def reader_creator(tar_file: str, file_name: str, dict_size: int) -> Reader:
    """Make a reader of the files of an archive of one's own, in the format of this, whose names end in
    ``file_name`` (``"train/train"``); see :func:`train`."""
    return _pairs(tar_file, file_name, dict_size)


def pairs_of(part: str, dict_size: int, archive: str | None = None) -> Reader:
    """Make a reader of "train", "test" or "gen" of an archive, the one that is downloaded if None."""
    return _pairs(archive or _archive(), f"{part}/{part}", dict_size)


def _pairs(archive: str, ending: str, dict_size: int) -> Reader:
    def reader() -> Iterator[tuple[list[int], list[int], list[int]]]:
        source, target = dictionaries_of(archive, dict_size)
        for line in _lines(archive, ending):
            texts = line.split("\t")
            if len(texts) != 2:
                continue
            given = [source.get(word, UNK_IDX) for word in (START, *texts[0].split(), END)]
            wanted = [target.get(word, UNK_IDX) for word in texts[1].split()]
            if max(len(given), len(wanted)) <= _LONGEST:
                yield given, [target[START], *wanted], [*wanted, target[END]]

    return reader
