"""Chunks against the sets of all that there are, tag by tag."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest

from paddle._engine.chunks import SCHEMES, Chunks, Scheme
from paddle._engine.errors import FeedError
from paddle._engine.kernels import tag_chunks
from tests.engine.kernels.case import Case, Draw, filled, generator, held, integer, offsets, runs

Array = np.ndarray
Chunk = tuple[int, int, int]


def chunks(tags: Sequence[int], begins: Array, ends: Array, types: int, excluded: Array) -> Iterator[Chunk]:
    """(type, first, last) of each chunk."""
    begun, kind, part = -1, types, len(begins) - 1
    for place, tag in enumerate(tags):
        before, last = kind, part
        kind, part = divmod(tag, len(begins) - 1)
        apart = kind != before or ends[last] or begins[part]
        if begun >= 0 and apart:
            yield before, begun, place - 1
        if apart or begun < 0:
            begun = place if kind < types else -1
    if begun >= 0:
        yield kind, begun, len(tags) - 1


def count_chunks(said: Array, right: Array, offsets: Array, *spelt: Any) -> None:
    *scheme, excluded, out = spelt
    out[:] = 0
    for run in runs(offsets):
        ours, theirs = (
            {
                each
                for each in chunks(tags[run.start : run.stop].tolist(), *scheme, excluded)
                if each[0] not in excluded
            }
            for tags in (said, right)
        )
        out += len(theirs), len(ours), len(ours & theirs)


def spelt(parts: str, types: int, *excluded: int) -> tuple[Any, ...]:
    begins, ends = (
        np.array([part in which for part in (*parts, None)]) for which in ({"B", "S"}, {"E", "S"})
    )
    return begins, ends, types, np.array(excluded, np.int64)


def counting(draw: Draw) -> tuple[Any, ...]:
    """Tags of all types, of what is outside, and of none; what is said is right more often than not."""
    random, ends = generator(draw), offsets(draw, 5, 12)
    parts, types = list(SCHEMES.values())[integer(draw, 0, 3)], integer(draw, 1, 3)
    excluded = random.permutation(types + 2)[: integer(draw, 0, 2)].tolist()
    right = random.integers(-1, len(parts) * (types + 1) + 1, ends[-1])
    said = np.where(random.random(len(right)) < 0.8, right, random.permutation(right))
    return said, right, ends, *spelt(parts, types, *excluded), filled(3, dtype=np.int64)


test_a_kernel_counts_the_chunks_of_all_runs = held([Case(tag_chunks.count_chunks, count_chunks, counting)])


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("excluded", [(), (1,), (0, 1)])
def test_all_pairs_of_short_sequences_are_compared_as_sets_are(
    scheme: str, excluded: tuple[int, ...]
) -> None:
    """Of every way to tag a sequence of three, two others."""
    parts = SCHEMES[scheme]
    every = np.array(list(product(range(2 * len(parts) + 1), repeat=3)))
    offsets = np.arange(0, every.size + 1, 3)
    for other in (np.roll(every, 1, 0), np.roll(every, len(parts), 0)):
        count_chunks(
            every.ravel(), other.ravel(), offsets, *spelt(parts, 2, *excluded), out := np.empty(3, np.int64)
        )
        assert Scheme(parts, 2, frozenset(excluded)).compare(every, other, offsets) == Chunks(*out.tolist())


def test_tags_that_are_not_as_many_as_elements_are_refused() -> None:
    with pytest.raises(FeedError, match="3 elements of sequences have 2 tags, and 3 right ones"):
        Scheme("BI", 1).compare(np.zeros(2, int), np.zeros(3, int), np.array([0, 3]))
