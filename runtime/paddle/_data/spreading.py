"""Samples among trainers: each goes to a trainer that chance says.

It must never know how trainers speak: ``fleet.util.all_to_all`` does. Guarantee: every sample is then held
by one trainer, as it was, and no trainer holds two more than another: where trainers wait for each other in
each step, they need as many batches.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from paddle._data.records import Column, Records, joined
from paddle._data.slot import Slot


def spread(held: Records, fleet: Any) -> Records:
    """What this trainer holds when all have given theirs away; ``held`` where it is alone."""
    workers = 1 if fleet is None else int(fleet.worker_num())
    exchange = None if workers == 1 else getattr(fleet.util, "all_to_all", None)
    if exchange is None:
        return held
    told = exchange([np.int64(len(held)).tobytes()] * workers, "worker")
    if told is None:  # they do not speak
        return held
    here = np.flatnonzero([bool(each) for each in told])  # the job goes on without the others
    before = sum(int(np.frombuffer(each, np.int64).sum()) for each in told[: fleet.worker_index()])
    goes_to = here[np.random.permutation(np.arange(before, before + len(held)) % len(here))]
    parts = [_packed(held.take(np.flatnonzero(goes_to == worker))) for worker in range(workers)]
    given = [_unpacked(held.slots, part) for part in exchange(parts, "worker") if part]
    return joined(held.slots, [part for part in given if len(part)])  # who has no files has no texts either


def _packed(records: Records) -> bytes:
    """Numbers of samples, of texts that each has and of values, then offsets and values, column by column."""
    all_columns = (*records.columns, *records.texts)
    sizes = [len(records), len(records.texts), *(len(column.values) for column in all_columns)]
    arrays = [array for column in all_columns for array in (column.offsets, column.values)]
    return b"".join((np.array(sizes, np.int64).tobytes(), *(array.tobytes() for array in arrays)))


def _unpacked(slots: tuple[Slot, ...], packed: bytes) -> Records:
    samples, texts = np.frombuffer(packed, np.int64, 2).tolist()
    dtypes = [*(slot.dtype for slot in slots), *(np.uint8 for _ in range(texts))]
    sizes = np.frombuffer(packed, np.int64, 2 + len(dtypes))
    at, columns = sizes.nbytes, []
    for dtype, many in zip(dtypes, sizes[2:].tolist(), strict=True):
        offsets = np.frombuffer(packed, np.int64, samples + 1, at)
        at += offsets.nbytes
        values = np.frombuffer(packed, dtype, many, at)
        at += values.nbytes
        columns.append(Column(values, offsets))
    return Records(slots, tuple(columns[: len(slots)]), tuple(columns[len(slots) :]))
