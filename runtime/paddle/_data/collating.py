"""Samples -> a batch: their fields, each as one array.

It must never know a dataset. Guarantee: fields stay in their order, and keys their names.
"""

from __future__ import annotations

import numbers
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

__all__ = ["default_collate_fn", "default_convert_fn"]


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
        sizes = {len(sample) for sample in batch}
        if len(sizes) > 1:
            raise RuntimeError(f"samples of a batch have {sorted(sizes)} fields, and want as many each")
        return [default_collate_fn(fields) for fields in zip(*batch, strict=True)]
    if hasattr(first, "__array__"):
        return np.stack([np.asarray(sample) for sample in batch])
    raise TypeError(
        f"samples are arrays, numbers, texts, or tuples, lists and dicts of these, not "
        f"{type(first).__name__}; give the DataLoader a collate_fn for others"
    )


def default_convert_fn(sample: Any) -> Any:
    """A sample as it is, where there are no batches."""
    return sample
