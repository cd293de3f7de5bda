"""Chunks: how many stretches of tags there are in runs (see runs.py), how many are said, how many rightly.

A tag is ``type * parts + part``, and what a part says of its chunk is told by number. It must never know a
scheme by name. Guarantee: two are the same where their type, first and last place are.
"""

from __future__ import annotations

import numpy as np

from paddle._engine.kernels.kernel import kernel

Array = np.ndarray
State = tuple[int, int, int]
"""Where a chunk has begun, or -1, and the type and the part of the last tag."""


@kernel
def count_chunks(
    said: Array,
    right: Array,
    offsets: Array,
    begins: Array,
    ends: Array,
    types: int,
    excluded: Array,
    out: Array,
) -> None:
    """``out``, int64 (3,): the chunks of ``right``, those of ``said``, and those of both.

    ``begins`` and ``ends``, bool (1 + parts,): with which parts a chunk begins, and ends; the last is none.
    ``excluded``: types that do not count, as what is of ``types`` or more is outside of all chunks.
    """
    out[:] = 0
    none = (-1, types, begins.shape[0] - 1)
    for i in range(offsets.shape[0] - 1):
        ours, theirs = none, none
        for place in range(offsets[i], offsets[i + 1]):
            our_end, our_next = _step(ours, said[place], place, begins, ends, types)
            their_end, their_next = _step(theirs, right[place], place, begins, ends, types)
            _count(our_end, ours[1], their_end, theirs[1], excluded, out)
            ours, theirs = our_next, their_next
        _count(ours[0], ours[1], theirs[0], theirs[1], excluded, out)


@kernel
def _step(before: State, tag: int, place: int, begins: Array, ends: Array, types: int) -> tuple[int, State]:
    """Where the chunk began that has ended before this place, or -1; and what holds from here on."""
    begun, last_kind, last = before
    parts = begins.shape[0] - 1
    kind = tag // parts
    part = tag - kind * parts
    is_apart = (kind != last_kind) | ends[last] | begins[part]
    ended = begun if is_apart else -1
    if is_apart or begun < 0:
        begun = place if kind < types else -1
    return ended, (begun, kind, part)


@kernel
def _count(ours: int, kind: int, theirs: int, right_kind: int, excluded: Array, out: Array) -> None:
    """Two chunks that end in one place, by where they began and what they are; -1 for none."""
    is_said = ours >= 0 and not _is_among(kind, excluded)
    is_there = theirs >= 0 and not _is_among(right_kind, excluded)
    out[0] += is_there
    out[1] += is_said
    out[2] += is_said and is_there and ours == theirs and kind == right_kind


@kernel
def _is_among(kind: int, excluded: Array) -> bool:
    found = False
    for each in excluded:
        found |= each == kind
    return found
