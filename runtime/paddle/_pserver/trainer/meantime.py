"""Meantime: what a trainer of tables needs in its first step is loaded while it waits for its shards.

To load numba and the first kernel takes a third of a second of a core, which has nothing else to do then: a
shard loads the same. It must never know what the shards are asked.

Guarantee: who leaves the block leaves nobody behind who still loads; what cannot be loaded is for the first
step to say.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import Thread

import numpy as np

from paddle._engine.exchange import ParameterSpec
from paddle._engine.rows import SparseRows, ascends, each_once


@contextmanager
def loading(parameters: Sequence[ParameterSpec]) -> Iterator[None]:
    """Load what rows of ``parameters`` are found and added by, beside what the block does."""
    loader = Thread(target=_load, name="meantime", daemon=True)
    if any(each.sparse for each in parameters):  # others may never need it
        loader.start()
    try:
        yield
    finally:
        if loader.ident is not None:  # an interpreter that ends while code is loaded may crash
            loader.join()


def _load() -> None:
    with suppress(Exception):
        ids = np.zeros(1, np.int64)
        each_once(ids)
        ascends(np.arange(2))
        SparseRows(ids, np.zeros((1, 1), np.float32), 1).merged()
