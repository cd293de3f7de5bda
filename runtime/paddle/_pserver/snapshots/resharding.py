"""Resharding: the state of one job, cut for another number of shards.

1.  Which value belongs to which shard is placement's to say, for the old number and for the new one; of a
    table whose rows have ids (``ids/NAME``), its rule for ids.
2.  A value keeps all that its rule, its table and its average remember of it. What the shards of a table or
    of a job remember in common, every new one gets.
3.  Where trainers are in step all shards were cut after the same steps. Else each has counted its own: the
    new ones go by the one that has most, and what a row remembers of steps is moved by the difference.
4.  A job that goes on from it is a new one: trainers of the old one are stale.

It must never know a file. Guarantee: where trainers are in step, training that goes on from the new shards
has the bits of training that goes on from the old ones. Nothing comes into memory but the piece that is being
written, and of rows with ids their ids.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest

import msgspec
import numpy as np

from paddle._engine.exchange import ParameterSpec
from paddle._engine.rates import moved
from paddle._engine.rules import needs_whole
from paddle._pserver.errors import CannotReshard
from paddle._pserver.options import Role
from paddle._pserver.protocol.placement import DenseLayout, RowRange, Slice, dense_layout, row_ranges
from paddle._pserver.shard.state import Facts, TrainerState
from paddle._pserver.snapshots.gathering import Gathered
from paddle._pserver.snapshots.snapshot_file import Opened
from paddle._pserver.tables.streamed import Array, Streamed

_VALUES_AT_ONCE = 1 << 20
_KEYS = {"candidates": ("candidates", "seen", "seen_on"), "entered": ("entered",)}  # else it is "ids"
_OF_NO_ROWS = {kind for kinds in _KEYS.values() for kind in kinds}
_STEPS = ("last_step", "average rows")  # a row's, by the count of its shard
_COMMON = ("rates", "days", "average counts")

Arrays = dict[str, Array]


class Resharding:
    """See the module's text: what there was, from which the new shards are cut one by one."""

    def __init__(self, old: Gathered) -> None:
        self._old = old
        self._dense = [parameter for parameter in old.declaration.parameters if not parameter.sparse]
        self._tables = [parameter for parameter in old.declaration.parameters if parameter.sparse]
        self._whole = needs_whole(old.declaration.update.rule)
        self._check_averages()

    def facts(self, shard: int, shards: int) -> Facts:
        """Those of a new shard."""
        newest = max(self._old.shards, key=lambda shard: shard.facts.version).facts
        return msgspec.structs.replace(
            newest,
            declaration=msgspec.structs.replace(newest.declaration, shard=shard, shards=shards),
            trainers=_gone(self._old.shards),
            serving="",
        )

    def arrays(self, role: Role, shard: int, shards: int) -> Arrays:
        """The arrays of a new shard."""
        found: Arrays = {}
        if role == "dense":
            old = [self._layout(each, len(self._old.dense)) for each in range(len(self._old.dense))]
            new = self._layout(shard, shards)
            for parameter in (segment.parameter for segment in new.segments):
                found |= self._blocks(parameter, new, old)
        else:
            for held in row_ranges(self._tables, shard, shards):
                found |= self._rows(held)
        return found

    def _layout(self, shard: int, shards: int) -> DenseLayout:
        return dense_layout(self._dense, shard, shards, whole=self._whole)

    def _check_averages(self) -> None:
        """An average counts the steps of its shard, and cannot be joined with one that counts others."""
        counts = {
            array.tobytes()
            for shard in self._old.shards
            for key, array in shard.arrays.items()
            if key.startswith("average counts/")
        }
        if len(counts) > 1:
            raise CannotReshard(
                "the shards of this asynchronous job have averaged over different steps, which no other "
                "number of shards can have: go on with as many shards as before"
            )

    # Dense parameters.

    def _blocks(self, parameter: ParameterSpec, new: DenseLayout, old: Sequence[DenseLayout]) -> Arrays:
        name = parameter.name
        there = sorted(chain(*(_extents(name, layout, index) for index, layout in enumerate(old))))
        moves = [move for part in new.slices if part.name == name for move in _moves(part, there)]
        some = self._old.dense[there[0].shard].arrays
        found: Arrays = {}
        for kind, array in _kinds(some, name).items():
            if kind in _COMMON or not array.size:
                found[f"{kind}/{name}"] = array
            else:
                found[f"{kind}/{name}"] = self._dense_array(f"{kind}/{name}", array, moves)
        return found

    def _dense_array(self, key: str, like: np.ndarray, moves: Sequence[_Move]) -> Streamed:
        """Its last axis is the parameter's values; before it there may be several of each."""
        size = sum(move.size for move in moves)
        several = like.shape[:-1]

        def pieces() -> Iterator[np.ndarray]:
            for which in np.ndindex(several):
                for move in moves:
                    array = self._old.dense[move.shard].arrays[key]
                    yield array[(*which, slice(move.at, move.at + move.size))]

        return Streamed(like.dtype, (*several, size), pieces)

    # Tables.

    def _rows(self, held: RowRange) -> Arrays:
        name = held.parameter.name
        some = _kinds(self._old.sparse[0].arrays, name)
        found: Arrays = {}
        for kind, array in some.items():
            key = f"{kind}/{name}"
            if kind in _COMMON:
                found[key] = self._common(key)
            elif "ids" in some:
                found[key] = self._of_ids(kind, array, held)
            else:
                found[key] = self._packed(kind, array, held)
        return found

    def _common(self, key: str) -> np.ndarray:
        """Of rates the ones that reach back furthest: rows of other shards do without."""
        shards = self._old.sparse
        if not key.startswith("rates/"):
            return max(shards, key=lambda shard: shard.facts.version).arrays[key]
        return max((moved(shard.arrays[key], self._behind(shard)) for shard in shards), key=len)

    def _behind(self, shard: Opened) -> int:
        """By how many steps it has counted less than the one that has most."""
        return self._old.version - shard.facts.version

    def _packed(self, kind: str, like: np.ndarray, held: RowRange) -> Streamed:
        """Rows of a table of a declared height, packed in the order of their numbers."""
        axis = max(like.ndim - 2, 0)
        several, width = like.shape[:axis], like.shape[axis + 1 :]
        portion = rows_in_a_piece(held.width)

        def pieces() -> Iterator[np.ndarray]:
            for which in np.ndindex(several):
                for begin in range(0, held.count, portion):
                    ids = held.first + held.stride * np.arange(begin, min(begin + portion, held.count))
                    yield self._some_rows(kind, held.parameter, which, ids)

        return Streamed(like.dtype, (*several, held.count, *width), pieces)

    def _some_rows(
        self, kind: str, table: ParameterSpec, which: tuple[int, ...], ids: np.ndarray
    ) -> np.ndarray:
        """What is kept of rows ``ids``; ``which``, where there are several of each."""
        olds, key = self._old.sparse, f"{kind}/{table.name}"
        like = olds[0].arrays[key][which]
        rows = np.empty((len(ids), *like.shape[1:]), like.dtype)
        for shard, old in enumerate(olds):
            (there,) = row_ranges([table], shard, len(olds))
            mine = there.pick(ids)
            rows[mine] = self._counted(kind, old.arrays[key][which][there.local(ids[mine])], old)
        return rows

    def rows_of(self, table: ParameterSpec, begin: int, end: int) -> dict[str, np.ndarray]:
        """All that is kept of some rows of a table of a declared height, as if there were no others."""
        ids = np.arange(begin, end)
        found: dict[str, np.ndarray] = {}
        for kind, array in _kinds(self._old.sparse[0].arrays, table.name).items():
            key = f"{kind}/{table.name}"
            several = array.shape[: max(array.ndim - 2, 0)]
            if kind in _COMMON:
                found[key] = self._common(key)
            else:
                parts = [self._some_rows(kind, table, which, ids) for which in np.ndindex(several)]
                found[key] = np.stack(parts).reshape(*several, *parts[0].shape)
        return found

    def rows_on(self, table: ParameterSpec, shard: int) -> int:
        """How many rows of an open table an old shard has."""
        return len(self._old.sparse[shard].arrays[f"ids/{table.name}"])

    def rows_from(self, table: ParameterSpec, shard: int, begin: int, end: int) -> dict[str, np.ndarray]:
        """All that an old shard keeps of some rows of an open table, as if there were nothing else."""
        old, found = self._old.sparse[shard], dict[str, np.ndarray]()
        for kind, array in _kinds(old.arrays, table.name).items():
            key = f"{kind}/{table.name}"
            if kind in _COMMON:
                found[key] = self._common(key)
            elif kind in _OF_NO_ROWS:
                found[key] = array[:0]
            else:
                found[key] = self._counted(kind, array[begin:end], old)
        return found

    def _of_ids(self, kind: str, like: np.ndarray, held: RowRange) -> Streamed:
        """What there is of each of some ids, of one old shard after the other."""
        name = held.parameter.name
        key = next((key for key, kinds in _KEYS.items() if kind in kinds), "ids")
        portion = rows_in_a_piece(held.width)
        mine = [np.flatnonzero(held.pick(old.arrays[f"{key}/{name}"])) for old in self._old.sparse]

        def pieces() -> Iterator[np.ndarray]:
            for old, places in zip(self._old.sparse, mine, strict=True):
                array = old.arrays[f"{kind}/{name}"]
                for begin in range(0, len(places), portion):
                    found = array[places[begin : begin + portion]]
                    yield self._counted(kind, found, old)

        return Streamed(like.dtype, (sum(map(len, mine)), *like.shape[1:]), pieces)

    def _counted(self, kind: str, found: np.ndarray, old: Opened) -> np.ndarray:
        """Rule 3: steps of rows, of which the sign says something else."""
        behind = self._behind(old)
        return found + np.where(found < 0, -behind, behind) if behind and kind in _STEPS else found


def rows_in_a_piece(width: int) -> int:
    """How many rows of so many values are brought into memory together."""
    return max(1, _VALUES_AT_ONCE // width)


@dataclass(frozen=True, slots=True, order=True)
class _Extent:
    """Values ``[start, stop)`` of a flat parameter, and where they are: on a shard, in its arrays."""

    start: int
    stop: int
    shard: int
    at: int


@dataclass(frozen=True, slots=True)
class _Move:
    """So many values, from a shard's arrays."""

    shard: int
    at: int
    size: int


def _extents(name: str, layout: DenseLayout, shard: int) -> Iterator[_Extent]:
    """A parameter's slices on a shard."""
    at = 0
    for part in layout.slices:
        if part.name == name:
            yield _Extent(part.start, part.stop, shard, at)
            at += part.stop - part.start


def _moves(wanted: Slice, there: Sequence[_Extent]) -> Iterator[_Move]:
    """What a slice is made of; ``there`` is all of the parameter, in order."""
    first = bisect_right(there, wanted.start, key=lambda extent: extent.start) - 1
    for extent in there[first:]:
        if extent.start >= wanted.stop:
            break
        start, stop = max(extent.start, wanted.start), min(extent.stop, wanted.stop)
        yield _Move(extent.shard, extent.at + start - extent.start, stop - start)


def _kinds(arrays: Mapping[str, np.ndarray], name: str) -> dict[str, np.ndarray]:
    """What is kept of one parameter, by kind."""
    split = ((key.partition("/"), array) for key, array in arrays.items())
    return {kind: array for (kind, _, own), array in split if own == name}


def _gone(shards: Sequence[Opened]) -> tuple[TrainerState, ...]:
    """The trainers of the old job: all have left, and none may come back."""
    return tuple(
        TrainerState(
            past=tuple(dict.fromkeys(chain.from_iterable(_processes(each) for each in places))),
            is_present=False,
            is_gone=True,
        )
        for places in zip_longest(*(shard.facts.trainers for shard in shards), fillvalue=TrainerState())
    )


def _processes(trainer: TrainerState) -> tuple[str, ...]:
    return (*trainer.past, trainer.incarnation) if trainer.incarnation else trainer.past
