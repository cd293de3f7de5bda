"""Usual: which kernels the runtime calls, and with what: each is compiled for exactly that.

A line is a kernel and the types of its arguments, as numba has them when the runtime calls it: values are
float32, of ids int64, and arrays lie as C has them. Programs that are declared in float64 are computed so,
too: kernels meet float64 in checks of operators alone. What only other kernels call is compiled into these.

It must never know how or when they are compiled. Guarantee, by tests: what the runtime calls in a test is
here (tests/called.py), and every kernel that is not called by another one.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

from numba import types
from numba.types import UniTuple

from paddle._engine.kernels import (
    alignments,
    bends,
    biased,
    channels,
    counted_rows,
    drifts,
    entries,
    first_values,
    fluid_rules,
    flushing,
    grids,
    growing,
    gru,
    gru_layer,
    halves,
    hashing,
    idle,
    images,
    interleaved,
    introsort,
    largest,
    lstm,
    normal,
    ordering,
    row_lines,
    rows,
    rules,
    runs,
    slot_lines,
    softmax,
    tag_chunks,
    tags,
    timeline,
)
from paddle._engine.kernels.matrices import blocks, panels, pieces, products, strips

Signature: TypeAlias = tuple[Any, ...]
Line: TypeAlias = tuple[Any, Signature]

NONE = types.none
BOOL, INT, WORD, FLOAT, DOUBLE = types.boolean, types.int64, types.uint64, types.float32, types.float64
BOOLS, BYTES, HALVES, CELLS = types.boolean[::1], types.uint8[::1], types.uint16[::1], types.uint32[:, ::1]
"""Arrays of one axis, but for cells of an index."""
BITS, PLACES = types.uint32[::1], types.int32[::1]
PLACES_2, PLACES_3 = types.int32[:, ::1], types.int32[:, :, ::1]
IDS, IDS_2, IDS_3 = types.int64[::1], types.int64[:, ::1], types.int64[:, :, ::1]
DOUBLES, DOUBLES_2 = types.float64[::1], types.float64[:, ::1]
VECTOR, MATRIX = types.float32[::1], types.float32[:, ::1]
MAPS, IMAGES = types.float32[:, :, ::1], types.float32[:, :, :, ::1]
"""Values of one axis to four."""
ANY_MATRIX = types.float32[:, :]
"""Columns of a larger one."""
TURNED = types.float32[::1, :]
"""A matrix whose columns lie as the rows of another one do."""
ROOM, GEOMETRY = UniTuple(WORD, 3), UniTuple(INT, 10)
"""Of an index (kernels/cells.py), and of a window over images (kernels/images.py)."""


def sealed(array: Any) -> Any:
    """One that may not be written to: it lies in another's memory, or in a file."""
    return array.copy(readonly=True)


def _rule(kernel: Any, *slots: Any, numbers: int) -> Iterable[Line]:
    """An update rule, whose gradient is a trainer's, or in its memory."""
    for gradient in (MATRIX, sealed(MATRIX)):
        yield kernel, (MATRIX, IDS, gradient, IDS, *(FLOAT,) * 4, *slots, *(FLOAT,) * numbers)


def _with_velocity_or_none(kernel: Any, *slots: Any, numbers: int) -> Iterable[Line]:
    yield from _rule(kernel, *slots, MATRIX, numbers=numbers)
    yield from _rule(kernel, *slots, NONE, numbers=numbers)


_INDEX = (CELLS, ROOM)
_PASSED_BY = (MATRIX, IDS, IDS, INT)
"""What kernels of idle rows begin with."""
_RUNS = (IDS, DOUBLES)
"""Of rates (paddle/_engine/rates.py)."""
_BACK = (MATRIX, INT, MATRIX, MATRIX, MATRIX, MATRIX, FLOAT, BOOL)
"""What kernels begin with that multiply on the way back."""
_FOUR = UniTuple(MATRIX, 4)
_LSTM = UniTuple(INT, 3), FLOAT
"""Numbers of activations, and how far a cell may be from 0."""

USUAL: tuple[Line, ...] = (
    *_with_velocity_or_none(rules.momentum, numbers=1),
    *_with_velocity_or_none(rules.adagrad, MATRIX, numbers=2),
    *_with_velocity_or_none(rules.decayed_adagrad, MATRIX, numbers=3),
    *_with_velocity_or_none(rules.rmsprop, MATRIX, MATRIX, numbers=3),
    *_with_velocity_or_none(rules.adadelta, MATRIX, MATRIX, numbers=3),
    *_rule(rules.adam, MATRIX, MATRIX, numbers=4),
    *_rule(rules.adamax, MATRIX, MATRIX, numbers=4),
    *_rule(rules.ftrl, MATRIX, MATRIX, numbers=3),
    *_rule(rules.lamb, MATRIX, MATRIX, numbers=7),
    *(
        (counted_rows.move, (MATRIX, IDS, each, MATRIX, MATRIX, DOUBLES_2, DOUBLES))
        for each in (MATRIX, sealed(MATRIX))
    ),
    *_rule(fluid_rules.momentum, MATRIX, numbers=2),
    *_rule(fluid_rules.lars_momentum, MATRIX, numbers=3),
    *_rule(fluid_rules.adagrad, MATRIX, numbers=3),
    *_rule(fluid_rules.rmsprop, MATRIX, MATRIX, MATRIX, numbers=4),
    *_rule(fluid_rules.adadelta, MATRIX, MATRIX, numbers=3),
    (blocks.multiply, (MATRIX, MATRIX, MATRIX, INT, INT, MATRIX, MATRIX, MATRIX)),
    (blocks.multiply_back, (*_BACK, UniTuple(MATRIX, 3))),
    (panels.add_product, (ANY_MATRIX, MAPS, MATRIX)),
    (panels.add_product, (MATRIX, MAPS, MATRIX)),
    (panels.add_product, (MATRIX, MAPS, ANY_MATRIX)),
    (panels.add_product, (ANY_MATRIX, MAPS, ANY_MATRIX)),
    (panels.lay_out, (MATRIX, MAPS)),
    (panels.lay_out, (TURNED, MAPS)),
    (products.multiply, (MATRIX, MATRIX, MATRIX, INT, INT)),
    (products.multiply_back, (*_BACK, _FOUR)),
    (pieces.multiply, (*(MATRIX,) * 3, INT, INT, *(MATRIX,) * 4)),
    (pieces.multiply_back, (*_BACK, _FOUR)),
    (strips.add_product, (MATRIX, _FOUR, MATRIX)),
    (strips.add_product, (ANY_MATRIX, _FOUR, MATRIX)),
    (strips.add_product, (MATRIX, _FOUR, ANY_MATRIX)),
    (strips.add_product, (ANY_MATRIX, _FOUR, ANY_MATRIX)),
    (strips.lay_out, (MATRIX, BOOL, _FOUR)),
    (alignments.alignment_costs, (MATRIX, IDS, IDS, IDS, INT, MATRIX, VECTOR)),
    (alignments.alignment_slopes, (VECTOR, MATRIX, IDS, MATRIX, BOOL, MATRIX)),
    (alignments.count_edits, (IDS, IDS, IDS, IDS, VECTOR)),
    (bends.bend, (VECTOR, INT)),
    (bends.unbend, (VECTOR, INT, FLOAT, VECTOR)),
    (biased.logistic, (MATRIX, VECTOR, FLOAT, FLOAT)),
    (biased.logistic_slopes, (MATRIX, MATRIX, VECTOR)),
    (biased.rectified, (MATRIX, VECTOR, FLOAT, FLOAT)),
    (biased.rectified_slopes, (MATRIX, MATRIX, VECTOR)),
    (biased.tangent, (MATRIX, VECTOR, FLOAT, FLOAT)),
    (biased.tangent_slopes, (MATRIX, MATRIX, VECTOR)),
    (channels.greatest, (MAPS, MAPS, PLACES_3)),
    (channels.greatest_back, (MAPS, PLACES_3, MAPS)),
    (channels.moments, (MAPS, VECTOR, VECTOR)),
    (channels.stretch, (MAPS, VECTOR, VECTOR, MAPS)),
    (channels.stretch_both, (MAPS, MAPS, VECTOR, VECTOR, VECTOR, MAPS)),
    (channels.sums, (MAPS, MAPS, VECTOR, VECTOR, VECTOR)),
    (drifts.follow, (MATRIX, MATRIX, IDS, MATRIX)),
    (drifts.give_up, (MATRIX, MATRIX, IDS, FLOAT, FLOAT, MATRIX)),
    (drifts.show, (MATRIX, MATRIX)),
    (entries.add_entries, (MATRIX, IDS, VECTOR, IDS, MATRIX)),
    (entries.list_entries, (MATRIX, VECTOR, IDS, MATRIX)),
    (entries.multiply_entries, (MATRIX, IDS, VECTOR, IDS, MATRIX)),
    (entries.spread_entries, (IDS, VECTOR, IDS, MATRIX)),
    (first_values.normal, (WORD, IDS, DOUBLE, DOUBLE, DOUBLE, MATRIX)),
    (first_values.uniform, (WORD, IDS, FLOAT, FLOAT, MATRIX)),
    (flushing.flush, ()),
    (flushing.restore, (INT,)),
    (grids.read, (MAPS, IDS_3, MAPS, MAPS)),
    (grids.read_back, (MAPS, IDS_3, MAPS, MAPS, MAPS, MAPS)),
    (growing.lay, (CELLS, WORD, CELLS, INT)),
    (growing.push, (CELLS, WORD, CELLS, INT, INT, INT)),
    (growing.reach, (CELLS, WORD, INT)),
    (growing.sweep, (CELLS, WORD, BYTES, PLACES, INT)),
    (growing.take_out, (*_INDEX, INT)),
    (growing.widen, (BITS, INT, INT, INT)),
    (gru.close_gates, (MATRIX, MATRIX, MATRIX, INT, BOOL)),
    (gru.close_gradient, (MATRIX, MATRIX, MATRIX, MATRIX, INT, INT, BOOL)),
    (gru.open_gates, (MATRIX, MATRIX, MATRIX, INT)),
    (gru.open_gradient, (MATRIX, MATRIX, MATRIX, MATRIX, MATRIX, INT)),
    (gru_layer.cell, (MATRIX, MATRIX, MATRIX, MATRIX)),
    (gru_layer.cell_gradient, (MATRIX, MATRIX, MATRIX, MATRIX, MATRIX, MATRIX)),
    (halves.from_bfloat16, (HALVES, VECTOR)),
    (halves.from_float16, (HALVES, INT, VECTOR)),
    (halves.round_bfloat16, (VECTOR, HALVES)),
    (halves.to_bfloat16, (VECTOR, VECTOR, HALVES)),
    (halves.to_float16, (VECTOR, VECTOR, HALVES)),
    (hashing.admit, (*_INDEX, IDS, IDS, INT, INT, INT, INT, INT, IDS)),
    (hashing.admit, (*_INDEX, sealed(IDS), IDS, INT, INT, INT, INT, INT, IDS)),
    (hashing.behind, (*_INDEX, INT)),
    (hashing.by_row, (CELLS, IDS, IDS)),
    (hashing.candidates, (CELLS, IDS, IDS, IDS)),
    (hashing.date, (*_INDEX, IDS, IDS)),
    (hashing.date, (*_INDEX, sealed(IDS), sealed(IDS))),
    (hashing.find, (*_INDEX, IDS, IDS, MATRIX)),
    (hashing.read_marks, (*_INDEX, IDS, IDS)),
    (hashing.remark, (*_INDEX, IDS, IDS)),
    (hashing.remark, (*_INDEX, sealed(IDS), sealed(IDS))),
    (hashing.scan, (CELLS, INT, IDS, IDS)),
    (hashing.stale, (CELLS, INT, BYTES)),
    (hashing.visit, (*_INDEX, IDS, INT, IDS, IDS, MATRIX)),
    (idle.adam, (*_PASSED_BY, *(DOUBLE,) * 2, *(MATRIX,) * 2, *(DOUBLE,) * 4, INT, *_RUNS)),
    (idle.decay, (*_PASSED_BY, DOUBLE, DOUBLE, BOOL, DOUBLES_2, *_RUNS)),
    (idle.decay, (*_PASSED_BY, DOUBLE, DOUBLE, BOOL, NONE, *_RUNS)),
    (idle.fade, (*_PASSED_BY, DOUBLE)),
    (idle.roll, (*_PASSED_BY, DOUBLE, MATRIX, DOUBLE, *_RUNS)),
    (idle.roll_shrinking, (*_PASSED_BY, DOUBLE, DOUBLE, MATRIX, DOUBLE, INT, *_RUNS)),
    (images.fold, (MAPS, GEOMETRY, INT, IMAGES)),
    (images.pool_average, (MAPS, GEOMETRY, BOOL, MAPS)),
    (images.pool_max, (MAPS, GEOMETRY, MAPS, PLACES_3)),
    (images.pool_parts, (MAPS, MAPS, PLACES_3)),
    (images.put_back, (MAPS, PLACES_3, MAPS)),
    (images.spread_average, (MAPS, GEOMETRY, BOOL, MAPS)),
    (images.unfold, (IMAGES, GEOMETRY, INT, MAPS)),
    (interleaved.compact, (MATRIX, BYTES, PLACES)),
    (interleaved.distinct, (IDS, PLACES, IDS, IDS)),
    (interleaved.gather, (MATRIX, IDS, INT, MAPS)),
    (interleaved.scatter, (MATRIX, IDS, INT, MAPS)),
    (interleaved.sums, (IDS, MATRIX, MATRIX, INT)),
    (interleaved.take, (MATRIX, IDS, MATRIX)),
    (row_lines.write_rows, (types.uint64[::1], sealed(BYTES), MATRIX, DOUBLES, BYTES)),
    (introsort.sort_falling, (VECTOR,)),
    (largest.put, (BITS, VECTOR, VECTOR)),
    (largest.take_largest, (VECTOR, VECTOR, INT, IDS, VECTOR)),
    (lstm.cell, (*(MATRIX,) * 6, *_LSTM)),
    (lstm.cell_gradient, (*(MATRIX,) * 8, *_LSTM)),
    (normal.error_function, (DOUBLES, DOUBLES)),
    (normal.gelu_slopes, (VECTOR,)),
    (normal.gelus, (VECTOR,)),
    (normal.single_errors, (VECTOR,)),
    (ordering.ascends, (IDS,)),
    (ordering.each_once, (IDS,)),
    (ordering.placed, (IDS, IDS, IDS)),
    (row_lines.read_rows, (sealed(BYTES), IDS, MATRIX, DOUBLES)),
    (rows._merge, (IDS, MATRIX, IDS, MATRIX)),
    (rows.add_rows, (MATRIX, IDS, MATRIX)),
    (rows.put_rows, (MATRIX, IDS, MATRIX)),
    (runs.add_runs_to_rows, (MATRIX, IDS, IDS, MATRIX)),
    (runs.add_windows, (MATRIX, IDS, INT, MATRIX, INT, MATRIX)),
    (runs.join_runs, (MATRIX, IDS, MATRIX, IDS, MATRIX)),
    (runs.max_runs, (MATRIX, IDS, MATRIX, IDS_2)),
    (runs.part_runs, (MATRIX, IDS, IDS, MATRIX, MATRIX)),
    (runs.reverse_runs, (MATRIX, IDS, MATRIX)),
    (runs.scatter_places, (MATRIX, IDS_2, MATRIX)),
    (runs.spread_runs, (MATRIX, IDS, MATRIX)),
    (runs.sum_rows_of_runs, (MATRIX, IDS, IDS, MATRIX)),
    (runs.sum_runs, (MATRIX, IDS, MATRIX)),
    (runs.windows, (MATRIX, IDS, INT, MATRIX, INT, MATRIX)),
    (slot_lines.part_by_slots, (PLACES_2, BOOLS, BOOL, VECTOR, IDS, VECTOR)),
    (slot_lines.part_by_slots, (PLACES_2, BOOLS, BOOL, IDS, IDS, IDS)),
    (slot_lines.read_lines, (sealed(BYTES), INT, BOOLS, PLACES_2, IDS, VECTOR, DOUBLES)),
    (softmax._biased_softmax_cross_entropy, (MATRIX, VECTOR, IDS, VECTOR, VECTOR, MATRIX, MATRIX, INT)),
    (softmax._softmax_cross_entropy, (MATRIX, IDS, MATRIX, MATRIX, MATRIX, INT)),
    (softmax._softmax_slopes, (MATRIX, IDS, MATRIX, VECTOR, INT)),
    (tag_chunks.count_chunks, (*(IDS,) * 3, BOOLS, BOOLS, INT, IDS, IDS)),
    (tags.best_tags, (MATRIX, MATRIX, IDS, MATRIX, IDS_2, IDS)),
    (tags.tag_costs, (MATRIX, IDS, MATRIX, IDS, MATRIX, VECTOR)),
    (tags.tag_slopes, (VECTOR, MATRIX, IDS, MATRIX, IDS, MATRIX, MATRIX, MATRIX)),
    (timeline.lay_out, (IDS, BOOL, IDS, IDS, IDS, IDS)),
)
