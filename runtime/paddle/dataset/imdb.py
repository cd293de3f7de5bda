"""imdb: 50,000 reviews of films, half for training and half for test, each good (0) or bad (1).

It must never know where the archive is kept (that is ``common``). Guarantee: a review is read whole, in lower
case, without punctuation; the same archive gives the same dictionary.
"""

from __future__ import annotations

import re
import string
import tarfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from paddle.dataset import common

__all__ = ["build_dict", "convert", "fetch", "reader_creator", "test", "tokenize", "train", "word_dict"]

URL = "http://ai.stanford.edu/%7Eamaas/data/sentiment/aclImdb_v1.tar.gz"
MD5 = "7c2ac02c03563afcf9b574c7e56c153a"

_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)

Sample = tuple[list[int], int]


def build_dict(pattern: re.Pattern[str], cutoff: int, archive: str | None = None) -> dict[str, int]:
    """Return word -> id of words that occur more than ``cutoff`` times in files whose name fits ``pattern``.

    By falling count, then by word; ``<unk>`` is the last id. ``archive``: a file that is there already.
    """
    counts: Counter[str] = Counter()
    for review in _reviews(pattern, archive):
        counts.update(review)
    kept = sorted((item for item in counts.items() if item[1] > cutoff), key=lambda item: (-item[1], item[0]))
    return {word: number for number, word in enumerate([*(word for word, _ in kept), "<unk>"])}


def word_dict(cutoff: int = 150, archive: str | None = None) -> dict[str, int]:
    """Return the dictionary of all reviews; see :func:`build_dict`."""
    return build_dict(re.compile(r"aclImdb/((train)|(test))/((pos)|(neg))/.*\.txt$"), cutoff, archive)


def train(word_idx: Mapping[str, int]) -> Reviews:
    """Make a reader of (ids of words, 0 for good or 1 for bad) for training; it may also be iterated over."""
    return _reader("train", word_idx)


def test(word_idx: Mapping[str, int]) -> Reviews:
    """Make a reader of (ids of words, 0 for good or 1 for bad) for test; see :func:`train`."""
    return _reader("test", word_idx)


def tokenize(pattern: re.Pattern[str]) -> Iterator[list[str]]:
    """Yield the words of each file whose name fits ``pattern``."""
    return _reviews(pattern)


def reader_creator(
    pos_pattern: re.Pattern[str], neg_pattern: re.Pattern[str], word_idx: Mapping[str, int]
) -> Reviews:
    """Make a reader of (ids of words, 0 or 1) of the files whose names fit the first or the second."""
    return Reviews((pos_pattern, neg_pattern), word_idx)


def fetch() -> None:
    """Download the data set."""
    common.download(URL, "imdb", MD5)


def convert(path: str) -> None:
    """Write both parts as RecordIO files of 1000 reviews each into the folder ``path``."""
    words = word_dict()
    common.convert(path, train(words), 1000, "imdb_train")
    common.convert(path, test(words), 1000, "imdb_test")


def _reviews(pattern: re.Pattern[str], archive: str | None = None) -> Iterator[list[str]]:
    """The words of each file that fits, in the order of the archive, which is read through once."""
    with tarfile.open(archive or common.download(URL, "imdb", MD5)) as package:
        for member in package:
            lines = package.extractfile(member) if pattern.match(member.name) else None
            if lines is not None:
                text = lines.read().decode("utf-8", "replace").rstrip("\n\r")
                yield text.translate(_NO_PUNCTUATION).lower().split()


def _reader(part: str, word_idx: Mapping[str, int]) -> Reviews:
    common.download(URL, "imdb", MD5)
    return Reviews(patterns_of(part), word_idx)


def patterns_of(part: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """How the names of good and bad reviews of a part look."""
    good, bad = (re.compile(rf"aclImdb/{part}/{folder}/.*\.txt$") for folder in ("pos", "neg"))
    return good, bad


class Reviews:
    """A reader that may be iterated over, too: programs of 0.10 have ``train(words)`` return samples, where
    later ones call what it returns. It reads the archive when samples are first asked for, and keeps them.
    """

    def __init__(
        self, patterns: Sequence[re.Pattern[str]], word_idx: Mapping[str, int], archive: str | None = None
    ) -> None:
        self._patterns, self._words, self._archive = patterns, word_idx, archive
        self._samples: list[Sample] = []

    def __call__(self) -> Iterator[Sample]:
        return iter(self)

    def __iter__(self) -> Iterator[Sample]:
        if not self._samples:
            self._samples = list(self._read())
        yield from self._samples

    def _read(self) -> Iterator[Sample]:
        unknown = self._words["<unk>"]
        for label, pattern in enumerate(self._patterns):
            for review in _reviews(pattern, self._archive):
                yield [self._words.get(word, unknown) for word in review], label
