"""``paddle.text``: data sets of texts and ratings, by number. A name is looked up when it is first used.

It must never hold code of its own. Guarantee: each name is the very object of its module.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from paddle._public_names import missing

_DATASETS = frozenset({"Imdb", "Imikolov", "Movielens", "UCIHousing"})
_READERS = {
    "Conll05st": "paddle.dataset.conll05 reads it",
    "WMT14": "paddle.dataset.wmt14 reads it",
    "WMT16": "paddle.dataset.wmt16 reads it",
    "ViterbiDecoder": "chains of tags are decoded by paddle.static.nn.crf_decoding",
    "viterbi_decode": "chains of tags are decoded by paddle.static.nn.crf_decoding",
}

__all__ = [*sorted(_DATASETS), "datasets"]


def __getattr__(name: str) -> Any:
    if name == "datasets":
        return import_module("paddle.text.datasets")
    if name in _DATASETS:
        return getattr(import_module("paddle.text.datasets"), name)
    raise missing(__name__, name, _READERS.get(name, ""))


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
