"""Rows that match priors with the boxes of an image, and say what each prior is to learn.

Guarantee: each box that overlaps a prior at all has one of its own; what is equal is taken in order.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from paddle._program.description.operator import Operator
from paddle._program.errors import BadProgram
from paddle._program.lowering.op_rows import hosts
from paddle._program.ops.boxes.described import array_of, described, ends_of, say, shape_of
from paddle._program.ops.tags import tensor_of
from paddle._program.running.host import Host
from paddle._program.running.lod_tensor import LoDTensor, offsets

_NOTHING = 1e-6


def _of_matches(op: Operator) -> None:
    distances = described(op, "DistMat")
    for slot, dtype in (("ColToRowMatchIndices", "int32"), ("ColToRowMatchDist", distances.dtype)):
        say(op, slot, (-1 if distances.lod_level else 1, distances.shape[1]), dtype)


@hosts("bipartite_match", infer=_of_matches, match_type="bipartite", dist_threshold=0.5)
def _bipartite_match(host: Host, op: Operator) -> None:
    """For each column of an image the row that it is matched with, or -1, and how near that is. With
    ``per_prediction`` a column that is left over takes its nearest row, if that is near enough."""
    distances, ends = array_of(host, op, "DistMat"), ends_of(host, op, "DistMat")
    indices = np.full((len(ends) - 1, distances.shape[1]), -1, np.int32)
    found = np.zeros(indices.shape, distances.dtype)
    for number, (first, end) in enumerate(pairwise(ends)):
        own = distances[first:end]
        _match(own, indices[number], found[number])
        if op.attr("match_type") == "per_prediction" and len(own):
            best = own.argmax(0)
            near = own[best, np.arange(own.shape[1])]
            taken = (indices[number] < 0) & (near >= max(_NOTHING, float(op.attr("dist_threshold"))))
            indices[number][taken], found[number][taken] = best[taken], near[taken]
    host.give(op, "ColToRowMatchIndices", indices)
    host.give(op, "ColToRowMatchDist", found)


def _match(distances: np.ndarray, indices: np.ndarray, found: np.ndarray) -> None:
    """The nearest pair first, of those that are left."""
    left = distances.T.copy()
    for _ in range(distances.shape[0]):
        column, row = np.unravel_index(left.argmax(), left.shape)
        if left[column, row] < _NOTHING:
            return
        indices[column], found[column] = row, left[column, row]
        left[column], left[:, row] = -1.0, -1.0


def _of_targets(op: Operator) -> None:
    x, matches = described(op, "X"), shape_of(op, "MatchIndices")
    say(op, "Out", (*matches, x.shape[-1]), x.dtype)
    say(op, "OutWeight", (*matches, 1), "float32")


@hosts("target_assign", infer=_of_targets, mismatch_value=0)
def _target_assign(host: Host, op: Operator) -> None:
    """For each prior what its match says, of weight 1; ``mismatch_value`` where it has none, of weight 0, or
    of 1 where the prior is among ``NegIndices``."""
    rows, ends = array_of(host, op, "X"), ends_of(host, op, "X")
    if rows.ndim != 3:
        raise BadProgram(f"operator 'target_assign' takes X of three axes, not {list(rows.shape)}")
    matches = array_of(host, op, "MatchIndices")
    out = np.full((*matches.shape, rows.shape[2]), op.attr("mismatch_value") or 0, rows.dtype)
    weight = (matches >= 0).astype(np.float32)[..., None]
    number, prior = np.nonzero(matches >= 0)
    places = np.asarray(ends)[number] + matches[number, prior]
    out[number, prior] = rows[places, prior % rows.shape[1]]
    if op.input("NegIndices"):
        negative = tensor_of(host, op, "NegIndices")
        for image, (first, end) in enumerate(pairwise(negative.lod()[-1])):
            chosen = negative.array()[first:end].reshape(-1)
            out[image, chosen], weight[image, chosen] = op.attr("mismatch_value") or 0, 1.0
    host.give(op, "Out", out)
    host.give(op, "OutWeight", weight)


def _of_mined(op: Operator) -> None:
    say(op, "NegIndices", (-1, 1), "int32", 1)
    say(op, "UpdatedMatchIndices", shape_of(op, "MatchIndices"), "int32")


@hosts(
    "mine_hard_examples",
    infer=_of_mined,
    neg_pos_ratio=1.0,
    neg_dist_threshold=0.5,
    sample_size=0,
    mining_type="max_negative",
)
def _mine_hard_examples(host: Host, op: Operator) -> None:
    """Of the priors that match nothing those which cost most, as many for each that matches as is told.

    Priors that cost the same are common: all that see a blank wall do, and at first all that learn from equal
    weights. Which of them are chosen tells what is learned, so they are sorted as in the original."""
    from paddle._engine.kernels.introsort import sort_falling  # loads numba

    losses, matches = array_of(host, op, "ClsLoss"), array_of(host, op, "MatchIndices").copy()
    near = array_of(host, op, "MatchDist")
    is_hard = op.attr("mining_type") == "hard_example"
    if is_hard and op.input("LocLoss"):
        losses = losses + array_of(host, op, "LocLoss")
    found: list[np.ndarray] = []
    for own, cost, how_near in zip(matches, losses.reshape(matches.shape), near, strict=True):
        may = np.flatnonzero(
            np.ones(len(own), bool) if is_hard else (own == -1) & (how_near < op.attr("neg_dist_threshold"))
        )
        wanted = op.attr("sample_size") if is_hard else int((own >= 0).sum() * op.attr("neg_pos_ratio"))
        chosen = np.sort(may[sort_falling(cost[may])[: int(wanted)]])
        if is_hard:
            left = np.setdiff1d(np.arange(len(own)), chosen)
            negative = chosen[own[chosen] == -1]
            own[left] = -1
            chosen = negative
        found.append(chosen)
    flat = np.concatenate(found) if found else np.zeros(0)
    host.give(op, "NegIndices", LoDTensor(flat.astype(np.int32).reshape(-1, 1), [offsets(map(len, found))]))
    host.give(op, "UpdatedMatchIndices", matches)
