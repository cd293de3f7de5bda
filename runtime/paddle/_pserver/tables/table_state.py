"""The state of an open table, as snapshots have it, looked at before a table takes it.

It is plain arrays, so that a table can go on anywhere: ``ids`` int64 (n,), of each its row of
``values`` and of every ``slot ...`` float32 (n, width), and ``last_step`` int64 (n,), the step that last
touched it, or minus the one with which it was made or caught up where none has; ``candidates`` int64 (m,),
how often each was ``seen`` and the day ``seen_on`` last; ``entered``, the ids that rule 2 still hides; and
what all shards have alike: the ``rates`` of steps so far, and ``days``, the step with which each day ended.
Ids come in any order. On another number of shards a table is those of all shards, one after another, of which
each takes the ids that live there (see RowRange.pick).

It must never know how a table keeps rows. Guarantee: what comes out fits together and fits the table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from paddle._pserver.protocol.placement import RowRange
from paddle._pserver.tables.streamed import Array, pieces, whole


def taken_from(
    state: Mapping[str, Array], like: Mapping[str, np.ndarray], held: RowRange, slots: Sequence[str]
) -> tuple[dict[str, np.ndarray], list[Array]]:
    """What ``state`` has of the table, by kind, but for what rows hold: values and slots, which may come in
    pieces. ``like``: what the table has now. Raises ValueError where it does not fit."""
    name, of_rows = held.parameter.name, ("values", *(f"slot {slot}" for slot in slots))
    given: dict[str, np.ndarray] = {}
    rows: list[Array] = []
    for kind, own in like.items():
        array = state.get(f"{kind}/{name}")
        if array is None or array.dtype != own.dtype or array.shape[1:] != own.shape[1:]:
            raise ValueError(f"{kind} of {name!r} is missing, or of another kind or width")
        if kind in of_rows:
            rows.append(array)
        else:
            given[kind] = whole(array)
    alike = [len(given["ids"]), len(given["last_step"]), *(array.shape[0] for array in rows)]
    waiting = [len(given[kind]) for kind in ("candidates", "seen", "seen_on")]
    for kinds, lengths in (
        (("ids", "last_step", *of_rows), alike),
        (("candidates", "seen", "seen_on"), waiting),
    ):
        if len(set(lengths)) > 1:
            raise ValueError(f"of {name!r} there is not one of all {', '.join(kinds)} for each id")
    for kind in ("ids", "candidates", "entered"):
        if not held.pick(given[kind]).all():
            raise ValueError(f"{kind} of {name!r} has some of another shard")
    return given, rows


def put(array: Array, into: np.ndarray, rows: np.ndarray | None) -> None:
    """Write what comes in pieces to ``rows`` (n,), the first n if None. Raises ValueError where some lack."""
    end = 0
    for piece in pieces(array):
        begin, end = end, end + len(piece)
        into[slice(begin, end) if rows is None else rows[begin:end]] = piece
    if end != array.shape[0]:
        raise ValueError(f"{end} rows came, and {array.shape[0]} should have")
