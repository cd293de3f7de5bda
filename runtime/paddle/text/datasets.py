"""Data sets of ``paddle.text``: what ``paddle.dataset`` reads, kept in memory and asked for by number.

They must never know where files are kept (``paddle.dataset.common`` does). Guarantee: a sample is a tuple of
arrays, one for each field; ``mode`` is "train" or "test", and ``data_file`` one that is there already.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from paddle._data.samples import Dataset
from paddle._homes import FILES
from paddle._public_names import missing
from paddle.dataset import common
from paddle.dataset import imdb as _imdb  # a file of this name becomes an attribute when it is imported
from paddle.dataset import imikolov as _imikolov
from paddle.dataset import movielens as _movielens
from paddle.dataset import uci_housing as _uci_housing

__all__ = ["Imdb", "Imikolov", "Kept", "Movielens", "UCIHousing", "path_of"]

__path__: list[str] = []  # programs import it by the original's files
_OF_SENTENCES = ("Conll05st", "WMT14", "WMT16")


def __getattr__(name: str) -> Any:
    if f"text.datasets.{name}" in FILES:
        return import_module(f"{__name__}.{name}")
    if name in _OF_SENTENCES:
        return getattr(import_module("paddle.text.sentences"), name)
    raise missing(__name__, name)


class Kept(Dataset):
    """``_samples`` are all, each a sequence of fields."""

    def __init__(
        self,
        mode: str,
        data_file: str | None,
        source: tuple[str, str, str],
        download: bool,
        modes: tuple[str, ...] = ("train", "test"),
    ) -> None:
        if str(mode).lower() not in modes:
            raise AssertionError(f"mode is {' or '.join(map(repr, modes))}, and not {mode!r}")
        self.mode = str(mode).lower()
        self.data_file = path_of(data_file, source, download)
        self._samples: Any = []

    def __getitem__(self, index: int) -> tuple[np.ndarray, ...]:
        return tuple(np.array(each) for each in self._samples[index])

    def __len__(self) -> int:
        return len(self._samples)


def path_of(given: str | None, source: tuple[str, str, str], download: bool, name: str = "data_file") -> str:
    """The file that is said, or else the one of ``source`` (address, folder, sum)."""
    if given is None and not download:
        raise AssertionError(f"{name} is not said, and download=False: say where the file is")
    return given or common.download(*source)


class UCIHousing(Kept):
    """Houses: 13 features, and the price; float32."""

    def __init__(self, data_file: str | None = None, mode: str = "train", download: bool = True) -> None:
        super().__init__(mode, data_file, (_uci_housing.URL, "uci_housing", _uci_housing.MD5), download)
        self.data = _uci_housing.rows_of(self.mode, self.data_file)
        self._samples = [(row[:-1], row[-1:]) for row in self.data.astype(np.float32)]


class Imdb(Kept):
    """Reviews: the ids of their words by ``word_idx``, of words that occur more than ``cutoff`` times; and 0
    for a good one, 1 for a bad one."""

    def __init__(
        self, data_file: str | None = None, mode: str = "train", cutoff: int = 150, download: bool = True
    ) -> None:
        super().__init__(mode, data_file, (_imdb.URL, "imdb", _imdb.MD5), download)
        self.word_idx = _imdb.word_dict(cutoff, self.data_file)
        self._samples = [
            (ids, [label])
            for ids, label in _imdb.Reviews(_imdb.patterns_of(self.mode), self.word_idx, self.data_file)
        ]


class Imikolov(Kept):
    """Sentences of the Penn Treebank. ``data_type``: NGRAM, of ``window_size`` words, or SEQ: a sentence, and
    the same one word further, of up to ``window_size`` words where that is above 0."""

    def __init__(
        self,
        data_file: str | None = None,
        data_type: str = "NGRAM",
        window_size: int = -1,
        mode: str = "train",
        min_word_freq: int = 50,
        download: bool = True,
    ) -> None:
        super().__init__(mode, data_file, (_imikolov.URL, "imikolov", _imikolov.MD5), download)
        kind = getattr(_imikolov.DataType, str(data_type).upper(), None)
        if not isinstance(kind, int):
            raise AssertionError(f"data_type is 'NGRAM' or 'SEQ', and not {data_type!r}")
        self.word_idx = _imikolov.build_dict(min_word_freq, self.data_file)
        read = _imikolov.text_of(self.mode, self.word_idx, window_size, kind, self.data_file)
        self._samples = list(read())


class Movielens(Kept):
    """Ratings: [user], [gender], [age], [job], [film], categories, words of the title, [rating]. About
    ``test_ratio`` of them, drawn by ``rand_seed``, are for test."""

    def __init__(
        self,
        data_file: str | None = None,
        mode: str = "train",
        test_ratio: float = 0.1,
        rand_seed: int = 0,
        download: bool = True,
    ) -> None:
        super().__init__(mode, data_file, (_movielens.URL, "movielens", _movielens.MD5), download)
        drawn = np.random.RandomState(rand_seed).random_sample
        found = _movielens.ratings(self.data_file, test_ratio, drawn, is_test=self.mode == "test")
        self._samples = [[each if isinstance(each, list) else [each] for each in row] for row in found]
        known = _movielens.known_of(self.data_file)
        self.movie_info, self.user_info = known.movies, known.users
        self.movie_title_dict, self.categories_dict = known.words, known.categories
