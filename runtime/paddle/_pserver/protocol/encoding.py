"""Encoding: gradients in the numbers in which they travel (wire.py), a trainer's side.

One parameter at a time, whole and in any order, so that what travels does not depend on how parameters are
cut over shards. What an encoding cuts off of a dense parameter is kept here and added to its next gradient:
error feedback. Rows are rounded without it: a residual of theirs would be as large as their table.

It must never know a shard, a session or a mode. Guarantee: of a dense parameter, what has been encoded so far
and what is kept are together the sum of the gradients, but for the rounding of that sum in float32. A
gradient is encoded once, however often it is sent: what was encoded stays until the next one of its
parameter. In float32 nothing is copied and nothing kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from paddle._engine.exchange import ModeSpec, ParameterSpec
from paddle._engine.rows import SparseRows
from paddle._pserver.protocol.framing import bytes_of
from paddle._pserver.protocol.placement import Slice
from paddle._pserver.protocol.wire import WireSpec


class Slices:
    """The part of dense parameter ``name`` that one shard keeps: ``slices`` of it, ascending, which the shard
    has one after another."""

    def __init__(self, name: str, slices: Sequence[Slice]) -> None:
        self.name = name
        self.bounds = [(part.start, part.stop) for part in slices]
        self._starts = np.array([part.start for part in slices], np.int64)
        self._stops = np.array([part.stop for part in slices], np.int64)
        self._offsets = np.cumsum(self._stops - self._starts) - self._stops  # from a place there to one here

    def find(self, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Which of ``places`` (ascending) in the parameter are in this part, and where (uint32)."""
        at = np.searchsorted(self._starts, places, side="right") - 1
        mine = (at >= 0) & (places < self._stops[at])
        return mine, (places[mine] + self._offsets[at[mine]]).astype(np.uint32)


def slices_by_parameter(slices: Sequence[Slice]) -> list[Slices]:
    """A shard's slices by parameter, in their order."""
    names = dict.fromkeys(part.name for part in slices)
    return [Slices(name, [part for part in slices if part.name == name]) for name in names]


class Coded(Protocol):
    """A dense parameter's gradient as it travels."""

    def part(self, mine: Slices) -> tuple[list[memoryview], int]:
        """The bytes for one shard, and what it has to know to read them: the form."""
        ...


class Values(NamedTuple):
    """All values, flat, in any numbers; ``form``: their exponent."""

    values: np.ndarray
    form: int = 0

    def part(self, mine: Slices) -> tuple[list[memoryview], int]:
        """See Coded."""
        size, whole = self.values.itemsize, bytes_of(self.values)
        return [whole[size * start : size * stop] for start, stop in mine.bounds], self.form


@dataclass(frozen=True, slots=True)
class Picked:
    """Some values, and their places in the parameter, ascending; the form is how many."""

    places: np.ndarray
    values: np.ndarray

    def part(self, mine: Slices) -> tuple[list[memoryview], int]:
        """See Coded."""
        here, places = mine.find(self.places)
        return [bytes_of(places), bytes_of(self.values[here])], len(places)


@dataclass(frozen=True, slots=True)
class CodedRows:
    """Gradient rows as they travel: as SparseRows, but for the numbers. ``form``: their exponent."""

    ids: np.ndarray
    values: np.ndarray
    form: int = 0


class Encoder:
    """See the module's text."""

    def __init__(self, wire: WireSpec, mode: ModeSpec) -> None:
        self._wire, self._halves_rows = wire, wire.halves_rows(mode)
        self.keeps = wire.name != "float32"  # whether encoding a gradient changes what is kept for the next
        self.has_forms = wire.name in ("float16", "topk")  # whether a push tells the form of each part
        self._residuals: dict[str, np.ndarray] = {}
        self._room: dict[str, tuple[np.ndarray, ...]] = {}

    def dense(self, parameter: ParameterSpec, gradient: np.ndarray) -> Coded:
        """Encode a dense parameter's ``gradient``, flat float32; good until its next one."""
        wire = self._wire
        if not self.keeps or not (wire.is_half or wire.picks(parameter)):
            return Values(gradient)
        residual = self._residuals.get(parameter.name)
        if residual is None:
            residual = self._residuals[parameter.name] = np.zeros(parameter.size, np.float32)
            self._room[parameter.name] = self._made(parameter)
        room = self._room[parameter.name]
        if wire.picks(parameter):
            from paddle._engine.kernels.largest import take_largest  # numba is loaded only where it is needed

            places, taken = room
            count = take_largest(gradient, residual, wire.most(parameter), places, taken)
            return Picked(places[:count], taken[:count])
        return Values(room[0], _halved(wire, gradient, residual, room[0]))

    def _made(self, parameter: ParameterSpec) -> tuple[np.ndarray, ...]:
        if self._wire.is_half:
            return (np.empty(parameter.size, np.uint16),)
        most = self._wire.most(parameter)
        return np.empty(most, np.int64), np.empty(most, np.float32)

    def rows(self, rows: SparseRows) -> CodedRows:
        """Encode the gradient rows of a table."""
        if not self._halves_rows:
            return CodedRows(rows.ids, rows.values)
        halves = np.empty(rows.values.shape, np.uint16)
        flat = rows.values.reshape(-1)
        return CodedRows(rows.ids, halves, _halved(self._wire, flat, np.zeros_like(flat), halves.reshape(-1)))


def _halved(wire: WireSpec, values: np.ndarray, residual: np.ndarray, out: np.ndarray) -> int:
    """Fill ``out``; returns its form."""
    from paddle._engine.kernels import halves

    if wire.name == "float16":
        return int(halves.to_float16(values, residual, out))
    halves.to_bfloat16(values, residual, out)
    return 0
