"""``paddle.text``: data sets of texts and ratings, by number, and chains of tags. A name is looked up when it
is first used.

It must never hold code of its own. Guarantee: each name is the very object of its module.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from paddle._public_names import missing

_HOMES = {
    "datasets": "Imdb Imikolov Movielens UCIHousing",
    "sentences": "Conll05st WMT14 WMT16",
    "chains": "ViterbiDecoder viterbi_decode",
}
_WHERE = {name: module for module, names in _HOMES.items() for name in names.split()}

__all__ = [*sorted(_WHERE), "datasets"]


def __getattr__(name: str) -> Any:
    if name == "datasets":
        return import_module("paddle.text.datasets")
    if name in _WHERE:
        return getattr(import_module(f"paddle.text.{_WHERE[name]}"), name)
    raise missing(__name__, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
