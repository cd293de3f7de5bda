"""Beam search: sentences that a model makes word by word, several beginnings at a time."""

from __future__ import annotations

from typing import Any

from paddle._program.description.variable import Variable
from paddle._program.writing.layer_helper import LayerHelper

__all__ = [
    "beam_search",
    "beam_search_decode",
]


def beam_search(
    pre_ids: Variable,
    pre_scores: Variable,
    ids: Variable | None,
    scores: Variable,
    beam_size: int,
    end_id: int,
    level: int = 0,
    is_accumulated: bool = True,
    name: str | None = None,
    return_parent_idx: bool = False,
) -> Any:
    """The ``beam_size`` best ways in which the beginnings of each sentence go on, their words and scores.

    ``ids`` and ``scores``: candidates of each beginning. ``is_accumulated``: scores are those of the whole
    beginning, logarithms; else probabilities of the one word. A beginning that has ended stays as it is.
    """
    helper = LayerHelper("beam_search", input=scores, name=name)
    found = helper.create_variable_for_type_inference(pre_scores.dtype)
    selected = helper.create_variable_for_type_inference(pre_ids.dtype)
    parents = helper.create_variable_for_type_inference("int64")
    inputs = {"pre_ids": pre_ids, "pre_scores": pre_scores, "ids": ids, "scores": scores}
    outputs = {"selected_ids": [selected], "selected_scores": [found], "parent_idx": [parents]}
    attrs = {"beam_size": beam_size, "end_id": end_id, "level": level, "is_accumulated": is_accumulated}
    helper.append_op("beam_search", inputs, outputs, attrs)
    return (selected, found, parents) if return_parent_idx else (selected, found)


def beam_search_decode(
    ids: Variable, scores: Variable, beam_size: int, end_id: int, name: str | None = None
) -> tuple[Variable, Variable]:
    """The sentences that the steps of a beam search say, best first: words, and the scores with each.
    LoD: of each source its sentences, of each sentence its words."""
    helper = LayerHelper("beam_search_decode", input=ids, name=name)
    words = helper.create_variable_for_type_inference("int64")
    found = helper.create_variable_for_type_inference("float32")
    outputs = {"SentenceIds": [words], "SentenceScores": [found]}
    attrs = {"beam_size": beam_size, "end_id": end_id}
    helper.append_op("beam_search_decode", {"Ids": ids, "Scores": scores}, outputs, attrs)
    return words, found
