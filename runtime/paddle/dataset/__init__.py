"""Data sets as readers: downloaded once into ``common.DATA_HOME``, checked by their md5 sum.

They must never know a layer or a trainer. Guarantee: what a reader yields comes from a file with the
documented checksum, unless ``PADDLE_DATASET_LOCAL=1`` says that local files are taken as they are.
"""

from types import ModuleType

from paddle._absent import AbsentName
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
)

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
]

_ABSENT = frozenset({"flowers", "voc2012", "wmt16"})


def __getattr__(name: str) -> ModuleType:
    if name in _ABSENT:
        raise AbsentName(
            f"paddle.dataset.{name} is not in this release, which has {', '.join(__all__)}: read your files "
            "with a reader of your own, any callable that returns an iterator over samples"
        )
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
