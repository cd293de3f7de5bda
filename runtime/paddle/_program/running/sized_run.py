"""Running one segment on data of any sizes.

1. A segment is lowered for the sizes that are declared. -1 is any size: one segment serves them all.
2. Data that come in other sizes, and are not of those whose feed is to be checked (``need_check_feed``, and
   no operator elsewhere writes them), are as upstream's: what is declared of them is passed over. The segment
   is lowered anew, with these sizes open.
3. What cannot be lowered while sizes are open, as operators ask for them, is lowered for exactly the sizes
   of a run, and for the numbers that it is fed as sizes; where it pads sequences, for the length of the
   longest, whatever the sizes.

It must never know an operator. Guarantee: a run in the sizes that are declared pays for none of this; what
cannot be run in other sizes either is refused as data that do not fit what is declared.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

from paddle._engine.plans.room import ROOM, Kept
from paddle._engine.program import Shape
from paddle._program.description.block import Block, reads_of
from paddle._program.description.operator import Operator
from paddle._program.errors import BadFeed, BadProgram
from paddle._program.lowering.segments import Piece, Segment
from paddle._program.lowering.taped import WayBack
from paddle._program.lowering.telling import LONGEST
from paddle._program.lowering.value import LOD
from paddle._program.moving.turns import Lock
from paddle._program.running.lod_tensor import LoDTensor
from paddle._program.running.scope import Scope
from paddle._program.running.segment_run import SegmentRun, Values, but_for_ones

LEAST_SIZES = 64
"""So many lowerings of a piece are kept in any case, and more while there is room (the engine's room.py)."""

Sizes = dict[str, Shape]
Told = dict[str, tuple[int, ...]]
"""Values that sizes may follow from."""


@dataclass(frozen=True, slots=True)
class Runner:
    """What all segments of a course are run with: see SegmentRun."""

    scope: Scope
    carrier: Any
    outlives: frozenset[str]
    lock: Lock | None

    def of(
        self,
        piece: Piece | WayBack,
        block: Block,
        sizes: Mapping[str, Shape] | None = None,
        told: Told | None = None,
    ) -> SegmentRun:
        """The piece of a block, lowered for these sizes."""
        if isinstance(piece, WayBack):
            lowered, given = piece.lower(block, sizes, told)
            return SegmentRun(Segment(lowered, (), given), self.scope, self.carrier, frozenset(), self.lock)
        segment = piece.lower(block, sizes, told)
        return SegmentRun(segment, self.scope, self.carrier, self.outlives, self.lock)


@dataclass(frozen=True, slots=True)
class _Outside:
    """What comes to a piece from outside, as it is declared."""

    name: str
    shape: Shape
    is_checked: bool


class SizedRun:
    """See the module's text. ``block``: that the piece is of, as in every call; it is not kept."""

    def __init__(self, piece: Piece | WayBack, block: Block, runner: Runner) -> None:
        self._piece, self._runner, self._tells = piece, runner, piece.tells
        self._others: Kept[SegmentRun] = Kept(LEAST_SIZES)
        self._outside = _outside(piece, block)
        self._declared = {each.name: each.shape for each in self._outside if not each.is_checked}
        self._as_declared: SegmentRun | None = None
        self._is_padded = LONGEST in piece.tells
        try:
            self._as_declared = runner.of(piece, block)
        except BadProgram:
            if not self._outside and not piece.tells:
                raise  # or the sizes of a run say more

    def __call__(self, block: Block, values: Values, seed: int, step: int, samples: int) -> None:
        """Run it on the values of a run, and add what it gives."""
        if self._as_declared is None:
            self._exactly(block, values)(values, seed, step, samples)
            return
        if self._others and (opened := self._opened(values)):
            self._in_sizes(block, opened, values)(values, seed, step, samples)
            return
        try:
            self._as_declared(values, seed, step, samples)
        except BadFeed as refusal:
            opened = self._opened(values)
            if not opened:
                raise
            try:
                self._in_sizes(block, opened, values)(values, seed, step, samples)
            except (BadFeed, BadProgram) as error:
                refusal.add_note(f"what was declared of it was passed over, and then: {error}")
                raise refusal from None

    def _opened(self, values: Values) -> Sizes:
        """The shapes to be declared of data whose sizes are not those declared."""
        found: Sizes = {}
        for name, declared in self._declared.items():
            given = _shape_of(values.get(name))
            if given is None:
                continue
            if len(given) != len(declared):
                if but_for_ones(given, declared) is None:
                    found[name] = (-1, *given[1:]) if declared[:1] == (-1,) and given else given
            elif any(size not in (-1, actual) for size, actual in zip(declared, given, strict=True)):
                pairs = zip(declared, given, strict=True)
                found[name] = tuple(size if size == actual else -1 for size, actual in pairs)
        return found

    def _in_sizes(self, block: Block, opened: Sizes, values: Values) -> SegmentRun:
        key = tuple(opened.items())
        found = self._others.get(key)
        if found is None:
            try:
                found = self._lowered(block, opened)
            except BadProgram:
                return self._exactly(block, values)
            self._others.put(key, found)
        return found

    def _lowered(self, block: Block, sizes: Sizes, told: Told | None = None) -> SegmentRun:
        with ROOM.growing(lambda: 0) if self._others.is_beyond else nullcontext():
            return self._runner.of(self._piece, block, sizes, told)

    def _exactly(self, block: Block, values: Values) -> SegmentRun:
        told = {name: _numbers(value) for name, value in self._told(values) if value is not None}
        if LONGEST in self._tells:
            told |= _longest(values, self._outside)
        found = self._in_any_sizes(block, told)
        if found is not None:
            return found
        fed = [(each, _shape_of(values.get(each.name))) for each in self._outside]
        sizes = {each.name: _exact(each.shape, shape) for each, shape in fed if shape is not None}
        return self._kept(block, sizes, told)

    def _in_any_sizes(self, block: Block, told: Told) -> SegmentRun | None:
        """Lowered for how long the longest sequences are, None where that does not say enough."""
        if not self._is_padded:
            return None
        try:
            return self._kept(block, {}, told)
        except BadProgram:
            self._is_padded = False
            return None

    def _kept(self, block: Block, sizes: Sizes, told: Told) -> SegmentRun:
        key = ("told", *sizes.items(), *told.items())
        found = self._others.get(key)
        if found is None:
            found = self._lowered(block, sizes, told)
            self._others.put(key, found)
        return found

    def _told(self, values: Values) -> Iterator[tuple[str, Any]]:
        """What the run, or else the scope, says of sizes."""
        for name in self._tells:
            yield name, values[name] if name in values else self._runner.scope.value(name)


def _shape_of(value: Any) -> Shape | None:
    if isinstance(value, LoDTensor):
        return value.array().shape
    return value.shape if isinstance(value, np.ndarray) else None


def _numbers(value: Any) -> tuple[int, ...]:
    array = value.array() if isinstance(value, LoDTensor) else np.asarray(value)
    return tuple(array.reshape(-1).tolist())


def _longest(values: Values, outside: Collection[_Outside]) -> Told:
    """How long the longest sequence is of each level of what came, by the name of its offsets."""
    given = {each.name: values.get(each.name) for each in outside}
    return {
        f"{name}{LOD}{level}": (int(np.diff(offsets).max(initial=0)),)
        for name, value in given.items()
        if isinstance(value, LoDTensor)
        for level, offsets in enumerate(value._lod)
    }


def _exact(declared: Shape, given: Shape) -> Shape:
    """The sizes of a run, of the rank that is declared where they differ in sizes of 1 alone."""
    sizes = None if len(given) == len(declared) else but_for_ones(given, declared)
    return given if sizes is None else tuple(sizes)


def _outside(piece: Piece | WayBack, block: Block) -> list[_Outside]:
    """All that may come to a piece from outside in one size or another."""
    found: dict[str, _Outside] = {}
    ops, made = piece.of(block), set[str]()
    written: frozenset[str] | None = None
    for op in ops:
        for name in reads_of(op):
            described = block._find_var_recursive(name)
            if name in made or described is None or not described.has_shape or described.persistable:
                continue
            if described.need_check_feed and written is None:
                written = _written_elsewhere(ops, block)
            is_checked = described.need_check_feed and name not in (written or ())
            found[name] = _Outside(name, tuple(described.shape), is_checked)
        made.update(op.output_arg_names)
    return list(found.values())


def _written_elsewhere(ops: Iterable[Operator], block: Block) -> frozenset[str]:
    """What operators other than these write: it need not be fed, as the caches of a decoder are not."""
    own = {id(op) for op in ops}
    others = (op for each in block.program.blocks for op in each.ops if id(op) not in own)
    return frozenset(name for op in others for name in op.output_arg_names)
