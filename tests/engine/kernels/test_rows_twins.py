"""Kernels over rows of tables, and of stores that keep rows and slots side by side, against their twins."""

from __future__ import annotations

from typing import Any

import numpy as np

from paddle._engine.kernels import drifts, interleaved, ordering, rows
from paddle._engine.kernels.prefetch import AHEAD
from tests.engine.kernels.case import Case, Draw, filled, generator, held, integer, normal, special

Array = np.ndarray
FAR = 2**63


def add_rows(table: Array, index: Array, given: Array) -> None:
    np.add.at(table, index, given)


def put_rows(table: Array, index: Array, given: Array) -> None:
    table[index] = given


def merge(ids: Array, values: Array, merged_ids: Array, merged: Array) -> int:
    unique, place = np.unique(ids, return_inverse=True)
    merged_ids[: len(unique)] = unique
    for target, value, is_first in zip(place, values, _first(ids), strict=True):
        merged[target] = value if is_first else merged[target] + value
    return len(unique)


def _first(ids: Array) -> list[bool]:
    return [id not in ids[:i].tolist() for i, id in enumerate(ids.tolist())]


def ascends(ids: Array) -> bool:
    return bool((ids[1:] > ids[:-1]).all())


def placed(ids: Array, place: Array, found: Array) -> int:
    unique, place[:] = np.unique(ids, return_inverse=True)
    found[: len(unique)] = unique
    return len(unique)


def give_up(mine: Array, shared: Array, ids: Array, pull: Any, share: Any, given: Array) -> None:
    way = mine[ids] - shared[ids]
    mine[ids] -= pull * way
    shared[ids] += way * share
    given[:] = -(way * share)


def follow(mine: Array, shared: Array, ids: Array, center: Array) -> None:
    mine[ids] += center - shared[ids]
    shared[ids] = center


def show(mine: Array, shared: Array) -> tuple[Array, Array]:
    ids = np.flatnonzero((mine != shared).any(1))
    aside = mine[ids]
    mine[ids] = shared[ids]
    return ids, aside


def distinct(ids: Array, scratch: Array, place: Array, found: Array) -> int:
    numbers = {id: number for number, id in enumerate(dict.fromkeys(ids.tolist()))}
    place[:] = [numbers[id] for id in ids.tolist()]
    found[: len(numbers)] = list(numbers)
    return len(numbers)


def sums(place: Array, values: Array, out: Array, count: int) -> int:
    for target, value in zip(place.tolist(), values, strict=True):
        out[target] = value if target == count else out[target] + value
        count = max(count, target + 1)
    return count


def take(store: Array, index: Array, out: Array) -> None:
    out[:] = np.where(index[:, None] < 0, 0, store[np.maximum(index, 0), : out.shape[1]])


def _asked(store: Array, index: Array, begin: int, block: Array) -> tuple[Array, Array]:
    """Rows of the store in the block, and the parts of these (rows, parts, width)."""
    some = index[begin : begin + block.shape[1]]
    return some, store[some].reshape(len(some), block.shape[0], block.shape[2])


def gather(store: Array, index: Array, begin: int, block: Array) -> None:
    some, parts = _asked(store, index, begin, block)
    block[:, : len(some)] = parts.swapaxes(0, 1)


def scatter(store: Array, index: Array, begin: int, block: Array) -> None:
    some, _ = _asked(store, index, begin, block)
    store[some] = block[:, : len(some)].swapaxes(0, 1).reshape(len(some), store.shape[1])


def compact(store: Array, kept: Array, numbers: Array) -> None:
    store[: kept.sum()] = store[kept != 0]


def some_ids(draw: Draw, least: int, most: int = 3 * AHEAD) -> Array:
    """Ids, of which some are far from all others; more of them than are asked for ahead."""
    random = generator(draw)
    ids = random.integers(-3, 9, integer(draw, least, most))
    far = random.random(len(ids)) < 0.3
    ids[far] = random.choice([-FAR, FAR - 1, 2**11, 2**22, 2**22 + 1, 2**33, -(2**44)], int(far.sum()))
    return ids


def repeated(draw: Draw) -> tuple[Any, ...]:
    height, width = integer(draw, 1, 12), integer(draw, 1, 40)
    index = generator(draw).integers(0, height, integer(draw, 0, 3 * AHEAD))
    return special(draw, height, width), index, special(draw, len(index), width)


def once(draw: Draw) -> tuple[Array, Array, int]:
    """A table, and rows of it, each at most once; and its width."""
    height, width = integer(draw, 1, 3 * AHEAD), integer(draw, 1, 40)
    return (
        special(draw, height, width),
        generator(draw).permutation(height)[: integer(draw, 0, height)],
        width,
    )


def put(draw: Draw) -> tuple[Any, ...]:
    table, index, width = once(draw)
    return table, index, special(draw, len(index), width)


def merged(draw: Draw) -> tuple[Any, ...]:
    ids, width = some_ids(draw, 1), integer(draw, 1, 20)
    return ids, special(draw, len(ids), width), np.full_like(ids, 7), filled(len(ids), width)


def in_order(draw: Draw) -> tuple[Any, ...]:
    ids = some_ids(draw, 0, 4)
    return (np.unique(ids) if integer(draw, 0, 2) else ids,)


def to_place(draw: Draw) -> tuple[Any, ...]:
    ids = some_ids(draw, 1)
    return ids, np.full_like(ids, 7), np.full_like(ids, 7)


def given_up(draw: Draw) -> tuple[Any, ...]:
    mine, ids, width = once(draw)
    share = np.float32(1) / np.float32(integer(draw, 1, 4))
    pull = np.float32(integer(draw, 0, 1)) * np.float32(0.3)
    return mine, special(draw, *mine.shape), ids, pull, share, filled(len(ids), width)


def followed(draw: Draw) -> tuple[Any, ...]:
    mine, ids, width = once(draw)
    return mine, special(draw, *mine.shape), ids, special(draw, len(ids), width)


def shown(draw: Draw) -> tuple[Any, ...]:
    shared, ids, width = once(draw)
    mine = shared.copy()
    mine[ids, generator(draw).integers(0, width, len(ids))] += 1
    return mine, shared


def told_apart(draw: Draw) -> tuple[Any, ...]:
    ids = some_ids(draw, 0)
    scratch = np.empty(2 << max(len(ids) - 1, 0).bit_length(), np.int32)
    return ids, scratch, np.full_like(ids, 7), np.full_like(ids, 7)


def summed(draw: Draw) -> tuple[Any, ...]:
    """What comes second, of a batch that is summed in two parts."""
    ids, width = some_ids(draw, 1), integer(draw, 1, 20)
    place, found = np.empty_like(ids), np.empty_like(ids)
    distinct(ids, found, place, found)
    first = integer(draw, 0, len(ids))
    before = int(place[:first].max(initial=-1)) + 1
    return place[first:], special(draw, len(ids) - first, width), normal(draw, len(ids), width), before


def taken(draw: Draw) -> tuple[Any, ...]:
    width, height = integer(draw, 1, 40), integer(draw, 1, 9)
    index = generator(draw).integers(-2, height, integer(draw, 0, 3 * AHEAD))
    return special(draw, height, width * integer(draw, 1, 3)), index, filled(len(index), width)


def blocks(draw: Draw) -> tuple[Any, ...]:
    parts, width, height = integer(draw, 1, 3), integer(draw, 1, 20), integer(draw, 1, 3 * AHEAD)
    index = generator(draw).permutation(height)[: integer(draw, 0, height)]
    begin, room = integer(draw, 0, len(index) + 1), integer(draw, 0, 2 * AHEAD)
    return special(draw, height, parts * width), index, begin, normal(draw, parts, room, width)


def compacted(draw: Draw) -> tuple[Any, ...]:
    store = special(draw, integer(draw, 0, 12), integer(draw, 1, 9))
    kept = generator(draw).integers(0, 2, len(store)).astype(np.uint8)
    return store, kept, np.cumsum(kept, dtype=np.int32) - np.int32(1)


test_a_kernel_is_its_twin = held(
    [
        Case(rows.add_rows, add_rows, repeated, is_wide=True),
        Case(rows.put_rows, put_rows, put),
        Case(rows._merge, merge, merged),
        Case(ordering.ascends, ascends, in_order),
        Case(ordering.placed, placed, to_place),
        Case(ordering.each_once, np.unique, lambda draw: (some_ids(draw, 1),)),
        Case(drifts.give_up, give_up, given_up),
        Case(drifts.follow, follow, followed),
        Case(drifts.show, show, shown),
        Case(interleaved.distinct, distinct, told_apart, idle=frozenset({1})),
        Case(interleaved.sums, sums, summed),
        Case(interleaved.take, take, taken),
        Case(interleaved.gather, gather, blocks),
        Case(interleaved.scatter, scatter, blocks),
        Case(interleaved.compact, compact, compacted),
    ]
)
