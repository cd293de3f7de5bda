"""Placement: which shard keeps which values.

Both sides compute it from the declaration alone, so nobody sends it and it can never disagree. It must never
know an address: a shard is a number in ``0..shards-1``.

Dense parameters are cut into blocks of one size for the whole job, a power of two of at least 1024 values and
chosen so that a shard has about 128 of them; block ``b`` of parameter ``p`` lives on shard ``(b + hash(p))
mod shards``. Under a rule that ``needs_whole`` parameters, each is one block. Row ``r`` of a sparse table
lives on shard ``(r + hash(table)) mod shards``. (The partition of PaddlePaddle's v1/v2 parameter server, with
a hash that is the same on every machine.)

Guarantee: every value is on exactly one shard. A shard keeps its dense values in one flat array, in canonical
order: parameters as declared, within each its blocks ascending.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import xxhash

from paddle._engine.exchange import ParameterSpec
from paddle._pserver.errors import PserverError, SparsePortsMissing

_MIN_BLOCK_BITS = 10
_BLOCKS_PER_SHARD_BITS = 7


def check_ports(parameters: Sequence[ParameterSpec], *, dense: int, sparse: int) -> None:
    """Raise where a parameter has no shard to be kept by; there are so many of each role."""
    for parameter in parameters:
        if parameter.sparse and not sparse:
            raise SparsePortsMissing(
                f"parameter {parameter.name!r} is updated sparsely (sparse_update), and there is no port "
                "for sparse parameters: start pservers and trainers with --ports_num_for_sparse=1 or "
                "more, PADDLE_INIT_PORTS_NUM_FOR_SPARSE for the latter; or take sparse_update away"
            )
        if not parameter.sparse and not dense:
            raise PserverError(
                f"there is no pserver for parameter {parameter.name!r}: see pservers, ports_num"
            )


@dataclass(frozen=True, slots=True)
class Slice:
    """Values ``[start, stop)`` of a flat parameter."""

    name: str
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class Segment:
    """All that one shard keeps of one parameter: ``[offset, offset + size)`` of the shard's flat array."""

    parameter: ParameterSpec
    offset: int
    size: int

    @property
    def span(self) -> slice:
        """The segment as an index into the flat array."""
        return slice(self.offset, self.offset + self.size)


@dataclass(frozen=True, slots=True)
class DenseLayout:
    """One shard's dense values. The ``slices`` one after another are the flat array; so are the
    ``segments``."""

    slices: tuple[Slice, ...]
    segments: tuple[Segment, ...]
    size: int


@dataclass(frozen=True, slots=True)
class RowRange:
    """The rows ``first, first + stride, ...`` of a table: ``count`` of them, on one shard, packed in this
    order."""

    parameter: ParameterSpec
    first: int
    stride: int
    count: int

    @property
    def width(self) -> int:
        """Values per row."""
        return self.parameter.shape[1]

    @property
    def rows(self) -> slice:
        """The rows as an index into the whole table."""
        return slice(self.first, None, self.stride)

    def pick(self, ids: np.ndarray) -> np.ndarray:
        """Which of ``ids`` (int64, any order) live here, as a boolean mask."""
        if self.stride == 1:
            return np.ones(len(ids), np.bool_)
        mask: np.ndarray = ids % self.stride == self.first
        return mask

    def local(self, ids: np.ndarray) -> np.ndarray:
        """Positions in this shard of ``ids`` that live here."""
        return ids if self.stride == 1 else (ids - self.first) // self.stride


def stable_hash(name: str) -> int:
    """The same number for a name on every machine and in every release."""
    return int(xxhash.xxh64_intdigest(name.encode()))


def block_size(values: int, shards: int) -> int:
    """Values per block for a job with so many dense ``values``."""
    return 1 << max((values // shards).bit_length() - _BLOCKS_PER_SHARD_BITS, _MIN_BLOCK_BITS)


def dense_layout(
    parameters: Sequence[ParameterSpec], shard: int, shards: int, *, whole: bool = False
) -> DenseLayout:
    """What ``shard`` keeps of the dense ones among ``parameters``; ``whole``: they must not be cut."""
    dense = [parameter for parameter in parameters if not parameter.sparse]
    block = block_size(sum(parameter.size for parameter in dense), shards)
    slices: list[Slice] = []
    segments: list[Segment] = []
    offset = 0
    for parameter in dense:
        mine = list(_slices(parameter, parameter.size if whole else block, shard, shards))
        size = sum(part.stop - part.start for part in mine)
        if size:
            slices += mine
            segments.append(Segment(parameter, offset, size))
            offset += size
    return DenseLayout(tuple(slices), tuple(segments), offset)


def _slices(parameter: ParameterSpec, block: int, shard: int, shards: int) -> Iterator[Slice]:
    if shards == 1:  # neighbouring blocks on one shard are one slice
        yield Slice(parameter.name, 0, parameter.size)
        return
    first = (shard - stable_hash(parameter.name)) % shards
    for start in range(first * block, parameter.size, shards * block):
        yield Slice(parameter.name, start, min(start + block, parameter.size))


def row_ranges(parameters: Sequence[ParameterSpec], shard: int, shards: int) -> tuple[RowRange, ...]:
    """What ``shard`` keeps of the sparse ones among ``parameters``; every table is listed, also one without
    rows."""
    return tuple(_row_range(parameter, shard, shards) for parameter in parameters if parameter.sparse)


def lives_on(name: str, ids: np.ndarray, shard: int, shards: int) -> np.ndarray:
    """Which of ``ids`` of a table live on ``shard``, as a boolean mask."""
    mask: np.ndarray = ids % shards == _first(name, shard, shards)
    return mask


def _first(name: str, shard: int, shards: int) -> int:
    return (shard - stable_hash(name)) % shards


def _row_range(parameter: ParameterSpec, shard: int, shards: int) -> RowRange:
    first = _first(parameter.name, shard, shards)
    return RowRange(parameter, first, shards, len(range(first, parameter.shape[0], shards)))
