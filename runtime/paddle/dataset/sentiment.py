"""sentiment: 2,000 reviews of films, half of them good (1), half bad (0); 1,600 are for training.

It must never know where the archive is kept (that is ``common``). Guarantee: good and bad ones take turns,
bad first; words and signs are tokens of their own, as nltk cuts them, whose corpus ``movie_reviews`` this is.
"""

from __future__ import annotations

import re
import zipfile
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from itertools import chain

from paddle.dataset import common

__all__ = ["convert", "fetch", "get_word_dict", "test", "train"]

URL = "https://corpora.bj.bcebos.com/movie_reviews%2Fmovie_reviews.zip"
MD5 = "155de2b77c6834dd8eea7cbe88e93acb"
NUM_TRAINING_INSTANCES = 1600
NUM_TOTAL_INSTANCES = 2000

_TOKEN = re.compile(r"\w+|[^\w\s]+")

Sample = tuple[list[int], int]


def get_word_dict() -> list[tuple[str, int]]:
    """Return (word, id) by falling count, then by word."""
    return list(_ids(_archive()).items())


def train() -> Iterator[Sample]:
    """Read (ids of words, 1 for good or 0 for bad) for training: it is a reader itself."""
    yield from _samples(_archive())[:NUM_TRAINING_INSTANCES]


def test() -> Iterator[Sample]:
    """Read (ids of words, 1 for good or 0 for bad) for test: it is a reader itself."""
    yield from _samples(_archive())[NUM_TRAINING_INSTANCES:]


def fetch() -> None:
    """Download the data set."""
    _archive()


def convert(path: str) -> None:
    """Write both parts as RecordIO files of 1000 reviews each into the folder ``path``."""
    common.convert(path, train, 1000, "sentiment_train")
    common.convert(path, test, 1000, "sentiment_test")


def _archive() -> str:
    return common.download(URL, "corpora", MD5, save_name="movie_reviews.zip")


@lru_cache(maxsize=1)
def _reviews(archive: str) -> list[tuple[list[str], int]]:
    with zipfile.ZipFile(archive) as package:
        names = sorted(name for name in package.namelist() if name.endswith(".txt"))
        sides = [[name for name in names if f"/{side}/" in name] for side in ("neg", "pos")]
        turns = chain.from_iterable(zip(*sides, strict=True))
        return [
            (_TOKEN.findall(package.read(name).decode("utf-8", "replace").lower()), int("/pos/" in name))
            for name in turns
        ]


@lru_cache(maxsize=1)
def _ids(archive: str) -> dict[str, int]:
    counts = Counter(chain.from_iterable(words for words, _ in _reviews(archive)))
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return {word: number for number, (word, _) in enumerate(ordered)}


def _samples(archive: str) -> list[Sample]:
    ids = _ids(archive)
    return [([ids[word] for word in words], label) for words, label in _reviews(archive)]
