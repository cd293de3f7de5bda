"""Kinds: of a variable of a step, what its rows are, and whether it is another one at each moment.

A step is written for the sequences that are not over yet. What it knows of them has a row for each; of what
it sees of other sequences, such as those that it attends to, there are rows of runs, and offsets.

It must never know what an operator computes but by these lists. Guarantee: an operator that is on no list is
run at each moment, with what there is at that moment; being on one only makes it cheaper.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from paddle._engine.errors import ShapeError
from paddle._engine.program import Operator, Variable

SHARED, EACH = "", "each"

ROWWISE = frozenset(
    """abs brelu cast clip_error concat cos_sim cross_entropy dropout elementwise_add elementwise_div
    elementwise_mul elementwise_pow elementwise_sub exp fill_any_like gru_step huber_loss is_id log
    lookup_table lstm_step mul outer_product reciprocal relu scale sigmoid slice soft_relu softmax
    softmax_with_cross_entropy softsign sqrt square square_error_cost stanh sum tanh
    top_k""".split()  # noqa: SIM905
)
"""Operators that compute each row of the variables with rows from the same rows, and a gradient of what is
shared that is a sum over rows; ``slice`` and ``concat`` where they are not along the rows."""

REDUCING = frozenset({"sequence_pool", "sequence_max", "sequence_end"})
STARTED = frozenset({"lstm", "lstmp", "gru"})
"""Operators whose X lies in sequences of each of which there may be a row that they begin with."""
RUNWISE = (
    REDUCING
    | STARTED
    | {
        *("sequence_expand", "sequence_reverse", "sequence_softmax", "sequence_window", "sequence_merge"),
        *("sequence_window_padded", "sequence_concat", "in_rows", "recurrent"),
    }
)
"""Operators that compute each sequence by itself."""


@dataclass(frozen=True, slots=True)
class Kind:
    """``of``: SHARED by all sequences, without rows; a row for EACH sequence; or the name of the offsets
    whose runs the rows are. ``ends``: it is offsets itself, of runs as many as ``of`` has rows."""

    of: str
    varies: bool
    ends: bool = False


def is_rowwise(operator: Operator) -> bool:
    """Whether an operator, or the one whose gradient it is, works on each row by itself."""
    axes = (*operator.attrs.get("axes", ()), operator.attrs.get("axis", -1))
    return operator.type.removesuffix("_grad") in ROWWISE and all(axis > 0 or axis == -1 for axis in axes)


def outcome(
    operator: Operator, kinds: Mapping[str, Kind], variables: Mapping[str, Variable]
) -> dict[str, Kind]:
    """The kinds of all that an operator writes."""
    reads = [kinds[name] for name in operator.reads()]
    varies = any(kind.varies for kind in reads)
    if operator.type in REDUCING:
        of = kinds[operator.inputs["Offsets"][0]].of
    elif operator.type in ("sequence_expand", "recurrent"):
        of = kinds[operator.inputs["Like"][0]].of
    elif operator.type in STARTED:
        of = kinds[operator.inputs["X"][0]].of
    elif operator.type == "sequence_merge":
        return {name: Kind(kinds[operator.inputs["Outer"][0]].of, varies, True) for name in operator.writes()}
    elif operator.type == "sequence_concat":
        return _joined(operator, kinds, varies)
    else:
        of = _rows_read(operator, kinds)
    for name in operator.writes():
        if of != SHARED and variables[name].shape[:1] != (-1,):
            raise ShapeError(
                f"in a step, the sequences of a moment are not to be mixed, which this does: {operator}"
            )
    return {name: Kind(of, varies) for name in operator.writes()}


def _joined(operator: Operator, kinds: Mapping[str, Kind], varies: bool) -> dict[str, Kind]:
    (rows,), (offsets,) = operator.outputs["Out"], operator.outputs["OutOffsets"]
    if varies:
        raise ShapeError(f"in a step, sequences that change from moment to moment are not joined: {operator}")
    return {rows: Kind(offsets, varies), offsets: Kind(kinds[operator.inputs["Offsets"][0]].of, varies, True)}


def _rows_read(operator: Operator, kinds: Mapping[str, Kind]) -> str:
    """Whose rows an operator reads, and so writes."""
    found = {kinds[name].of for name in operator.reads() if not kinds[name].ends} - {SHARED}
    if len(found) > 1:
        raise ShapeError(
            f"in a step, {operator} reads rows of different sequences ({', '.join(sorted(found))}): expand "
            "what is of the step's own to those that it sees"
        )
    return found.pop() if found else SHARED
