"""A cost over what several steps of a search have chosen.

It must never know how it is computed. Guarantee: as of all costs.
"""

from __future__ import annotations

from collections.abc import Sequence

from paddle.v2._draft import Draft, dense, gives_ids, listed
from paddle.v2._errors import WrongCall
from paddle.v2.config_base import Layer, default_name

__all__ = ["BeamInput", "cross_entropy_over_beam"]


class BeamInput:
    """A step of a search: the scores of all elements, the numbers of those chosen, and the right one.

    ``candidate_scores`` has one column; ``selected_candidates`` is ``kmax_seq_score`` of it; ``gold`` is a
    data layer of integers, the number of the right element in its sequence.
    """

    def __init__(self, candidate_scores: Layer, selected_candidates: Layer, gold: Layer) -> None:
        (self.candidate_scores,) = listed("BeamInput", candidate_scores)
        (self.selected_candidates,) = listed("BeamInput", selected_candidates)
        (self.gold,) = listed("BeamInput", gold)
        if self.candidate_scores.size != 1:
            raise WrongCall(f"BeamInput: an element has one score, and {candidate_scores!r} gives more")
        if not gives_ids(self.gold):
            raise WrongCall(f"BeamInput: gold is a data layer of integers, not {gold!r}")


def cross_entropy_over_beam(input: BeamInput | Sequence[BeamInput], name: str | None = None) -> Layer:
    """-log of the share of the right way among all ways that a search has chosen, step by step.

    The sequences of each step are those that the one before has chosen (``sub_nested_seq``, ``seq_slice``).
    From where the right element is not among those chosen, later steps do not count.
    """
    name = name or default_name("cross_entropy_over_beam")
    steps = list(input) if isinstance(input, Sequence) else [input]
    if not steps or any(not isinstance(each, BeamInput) for each in steps):
        raise WrongCall(f"layer {name!r}: input is a BeamInput, or a list of them, not {input!r}")
    draft = Draft("cross_entropy_over_beam", name, size=1)
    for each in steps:
        draft.read(dense(name, each.candidate_scores))
        draft.read(dense(name, each.selected_candidates))
        draft.read(each.gold)
    return draft.done()
