"""Data sets as readers: downloaded once into ``common.DATA_HOME``, checked by their md5 sum.

They must never know a layer or a trainer. Guarantee: what a reader yields comes from a file with the
documented checksum, unless ``PADDLE_DATASET_LOCAL=1`` says that local files are taken as they are.
"""

from importlib import import_module
from types import ModuleType

from paddle.dataset import (
    cifar,
    common,
    conll05,
    imdb,
    imikolov,
    mnist,
    movielens,
    mq2007,
    sentiment,
    uci_housing,
    wmt14,
    wmt16,
)

_PICTURES = ("flowers", "image", "voc2012")  # which are loaded when they are asked for

__all__ = [
    "cifar",
    "common",
    "conll05",
    "imdb",
    "imikolov",
    "mnist",
    "movielens",
    "mq2007",
    "sentiment",
    "uci_housing",
    "wmt14",
    "wmt16",
    *_PICTURES,
]


def __getattr__(name: str) -> ModuleType:
    if name in _PICTURES:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
