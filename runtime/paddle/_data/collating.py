"""Samples -> a batch: their fields, each as one array.

It must never know a dataset. Guarantee: fields stay in their order, and keys their names. A sample more
costs no call more, where mappings are dicts.
"""

from __future__ import annotations

import numbers
from collections.abc import Mapping, Sequence
from operator import attrgetter, methodcaller
from typing import Any

import numpy as np

__all__ = ["default_collate_fn", "default_convert_fn"]

_shape = attrgetter("shape")


def default_collate_fn(batch: Sequence[Any]) -> Any:
    """Arrays are stacked, numbers become an array, tuples, lists and mappings are collated field by field."""
    first = batch[0]
    if isinstance(first, numbers.Number | np.generic):
        return np.array(batch)
    if isinstance(first, str | bytes):
        return list(batch)
    if isinstance(first, Mapping):
        return {key: default_collate_fn([sample[key] for sample in batch]) for key in first}
    if isinstance(first, list | tuple):
        sizes = set(map(len, batch))
        if len(sizes) > 1:
            raise RuntimeError(f"samples of a batch have {sorted(sizes)} fields, and want as many each")
        return [default_collate_fn(fields) for fields in zip(*batch, strict=True)]
    if hasattr(first, "__array__"):
        return _stacked(list(map(np.asarray, batch)))
    raise TypeError(
        f"samples are arrays, numbers, texts, or tuples, lists and dicts of these, not "
        f"{type(first).__name__}; give the DataLoader a collate_fn for others"
    )


def _stacked(arrays: Sequence[np.ndarray]) -> np.ndarray:
    """What ``np.stack`` makes of them, which calls something for each."""
    shape = arrays[0].shape
    if len(set(map(_shape, arrays))) > 1:
        return np.stack(arrays)  # says so
    parts = arrays if shape else list(map(methodcaller("reshape", 1), arrays))
    joined: np.ndarray = np.concatenate(parts)
    return joined.reshape(len(arrays), *shape)


def default_convert_fn(sample: Any) -> Any:
    """A sample as it is, where there are no batches."""
    return sample
