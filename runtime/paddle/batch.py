"""Batches: ``paddle.batch`` turns a reader of samples into a reader of lists of samples.

It must never look into a sample. Guarantee: every sample comes out once, in order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

__all__ = ["batch"]


def batch(
    reader: Callable[[], Iterator[Any]], batch_size: int, drop_last: bool = False
) -> Callable[[], Iterator[list[Any]]]:
    """Make a reader of lists of ``batch_size`` samples; a shorter last one is kept unless ``drop_last``."""
    if batch_size < 1:
        raise ValueError(f"batch_size must be 1 or more, it is {batch_size}")

    def batch_reader() -> Iterator[list[Any]]:
        samples = iter(reader())
        while chunk := list(islice(samples, batch_size)):
            if len(chunk) == batch_size or not drop_last:
                yield chunk

    return batch_reader
