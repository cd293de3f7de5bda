"""What makes a feed of what a reader gives: of samples, of lists of samples, or of arrays.

It must never read. Guarantee: a feed has each variable of ``feed_list``, in its dtype, or an error says which
is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from paddle._data.records import Records
from paddle._program.description.dtypes import numpy_dtype
from paddle._program.running.feeder import SampleFeeder, Slot
from paddle._program.running.lod_tensor import LoDTensor
from paddle._program.running.ranges import check_range

Feed = Mapping[str, Any]
Feeder = Callable[[Any], Feed]


def of_samples(variables: Sequence[Any]) -> Feeder:
    """Feeds of lists of samples."""
    slots = [Slot(v.name, tuple(v.shape[1:]), numpy_dtype(v.dtype), v.lod_level) for v in variables]
    return SampleFeeder(slots).feed


def of_arrays(variables: Sequence[Any]) -> Feeder:
    """Feeds of arrays or LoDTensors, one for each variable, or of mappings of names to these."""
    names = [variable.name for variable in variables]
    dtypes = [numpy_dtype(variable.dtype) for variable in variables]

    def feed(batch: Any) -> Feed:
        if isinstance(batch, Mapping):
            batch = [batch[name] for name in names]
        elif not isinstance(batch, list | tuple):
            batch = [batch]
        if len(batch) != len(names):
            raise ValueError(
                f"a batch of the generator has {len(batch)} arrays, and feed_list has {len(names)} "
                f"variables: {', '.join(names)}"
            )
        described = zip(names, batch, dtypes, strict=True)
        return {name: _tensor(name, each, dtype) for name, each, dtype in described}

    return feed


def of_records(records: Records) -> Feed:
    """The feed of a dataset's batch."""
    feed: dict[str, Any] = {}
    for slot, column in zip(records.slots, records.columns, strict=True):
        if slot.is_dense:
            feed[slot.name] = column.dense(slot)
        else:
            feed[slot.name] = LoDTensor.of_sequences(column.values.reshape(-1, 1), column.offsets)
    return feed


def _tensor(name: str, value: Any, dtype: np.dtype[Any]) -> Any:
    if isinstance(value, LoDTensor):
        return value
    if dtype.kind not in "iu":
        return np.asarray(value, dtype)
    given = np.asarray(value)
    check_range(name, given, dtype)
    return given.astype(dtype, copy=False)
