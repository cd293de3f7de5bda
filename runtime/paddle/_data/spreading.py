"""Samples among trainers: each goes to a trainer that chance says.

It must never know how trainers speak: ``fleet.util.all_to_all`` does. Guarantee: every sample is then held
by one trainer, as it was, and no trainer holds two more than another: where trainers wait for each other in
each step, they need as many batches.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from paddle._data.records import Column, Records, joined


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
    return joined(held.slots, [_unpacked(held, part) for part in exchange(parts, "worker") if part])


def _packed(records: Records) -> bytes:
    """Numbers of samples and values, then offsets and values, column by column."""
    sizes = [len(records), *(len(column.values) for column in records.columns)]
    arrays = [array for column in records.columns for array in (column.offsets, column.values)]
    return b"".join((np.array(sizes, np.int64).tobytes(), *(array.tobytes() for array in arrays)))


def _unpacked(like: Records, packed: bytes) -> Records:
    sizes = np.frombuffer(packed, np.int64, len(like.slots) + 1)
    samples, at = int(sizes[0]), sizes.nbytes
    columns = []
    for slot, many in zip(like.slots, sizes[1:].tolist(), strict=True):
        offsets = np.frombuffer(packed, np.int64, samples + 1, at)
        at += offsets.nbytes
        values = np.frombuffer(packed, slot.dtype, many, at)
        at += values.nbytes
        columns.append(Column(values, offsets))
    return Records(like.slots, tuple(columns))
