"""The types of slots by the place where v1 had them, for programs that take them from there.

It must never know how they are fed. Guarantee: a type is v2's own; a data provider, which only v1's trainer
reads, is refused where it is written.
"""

from __future__ import annotations

from typing import Any, NoReturn

from paddle._absent import NotInThisRelease
from paddle.v2 import data_type
from paddle.v2.data_type import *  # noqa: F403
from paddle.v2.data_type import dense_vector, integer_value, sparse_binary_vector, sparse_float_vector

__all__ = [
    *("CacheType", "dense_slot", "index_slot", "provider", "sparse_non_value_slot", "sparse_value_slot"),
    *data_type.__all__,
]

dense_slot = dense_vector
index_slot = integer_value
sparse_non_value_slot = sparse_binary_vector
sparse_value_slot = sparse_float_vector


class CacheType:
    """Whether a data provider kept what it had read; v2's reader.cache does."""

    NO_CACHE = 0
    CACHE_PASS_IN_MEM = 1


def provider(*args: Any, **kwargs: Any) -> NoReturn:
    """Not in this release: v1's trainer alone reads data providers."""
    raise NotInThisRelease(
        "paddle.trainer.PyDataProvider2.provider is not in this release: write a reader, def reader(): yield "
        "row, ... and give it to trainer.train(paddle.batch(reader, 32))"
    )
