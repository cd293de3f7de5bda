"""What priors are matched with, and what they are to learn."""

from __future__ import annotations

from paddle._program.description.variable import Variable
from paddle._program.errors import BadArgument
from paddle.fluid.layers.detection.chosen import chosen

__all__ = ["bipartite_match", "target_assign"]


def bipartite_match(
    dist_matrix: Variable,
    match_type: str | None = None,
    dist_threshold: float | None = None,
    name: str | None = None,
) -> tuple[Variable, Variable]:
    """Of each image for each column of its rows of ``dist_matrix`` the row that it is matched with, -1 for
    none, and how near that is. ``match_type="per_prediction"``: a column that is left takes its nearest row,
    from ``dist_threshold`` (0.5) on."""
    if match_type not in (None, "bipartite", "per_prediction"):
        raise BadArgument(
            f"bipartite_match: match_type is 'bipartite' or 'per_prediction', not {match_type!r}"
        )
    attrs = {
        "match_type": match_type or "bipartite",
        "dist_threshold": 0.5 if dist_threshold is None else dist_threshold,
    }
    outs = {"ColToRowMatchIndices": "int32", "ColToRowMatchDist": None}
    indices, distances = chosen("bipartite_match", {"DistMat": dist_matrix}, outs, attrs, name)
    return indices, distances


def target_assign(
    input: Variable,
    matched_indices: Variable,
    negative_indices: Variable | None = None,
    mismatch_value: float | None = None,
    name: str | None = None,
) -> tuple[Variable, Variable]:
    """For each prior the row of ``input`` that it is matched with, and its weight, 1; ``mismatch_value``, of
    weight 0, where it has none, or of weight 1 among ``negative_indices``."""
    inputs = {"X": input, "MatchIndices": matched_indices}
    if negative_indices is not None:
        inputs["NegIndices"] = negative_indices
    outs = {"Out": None, "OutWeight": "float32"}
    out, weight = chosen("target_assign", inputs, outs, {"mismatch_value": mismatch_value or 0}, name)
    return out, weight
