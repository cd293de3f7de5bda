"""Beam search, one step at a time, on values: ``beam_search`` chooses, ``beam_search_decode`` reads back.

The LoD of a step's choices has two levels: of each source sentence its prefixes, which are the rows of the
step before, and of each prefix the rows that were chosen to go on from it. It must never know what gave the
scores. Guarantee: of equal scores the one of the later prefix is the better one, as in the original.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from math import log

import numpy as np

from paddle._program.description.operator import Operator
from paddle._program.errors import BadProgram
from paddle._program.lowering.op_rows import hosts
from paddle._program.ops.tags import tensor_of
from paddle._program.running.host import Host
from paddle._program.running.lod_tensor import LoDTensor, LoDTensorArray, offsets

_LEVELS = 2


@dataclass(frozen=True, slots=True)
class _Choice:
    prefix: int
    id: int
    score: float


def _described(op: Operator) -> None:
    for slot, like in (("selected_ids", "pre_ids"), ("selected_scores", "pre_scores")):
        for name in op.output(slot):
            made, given = op.block._var_recursive(name), op.block._var_recursive(op.input(like)[0])
            made.shape, made.dtype, made.lod_level = (-1, 1), given.dtype, _LEVELS
    for name in op.output("parent_idx"):
        made = op.block._var_recursive(name)
        made.shape, made.dtype = (-1,), "int64"


@hosts("beam_search", infer=_described, beam_size=1, end_id=0, level=0, is_accumulated=True)
def _beam_search(host: Host, op: Operator) -> None:
    scores = tensor_of(host, op, "scores")
    lod = scores.lod()
    if len(lod) < _LEVELS:
        raise BadProgram(
            f"beam_search needs scores with {_LEVELS} levels of LoD, of each sentence its prefixes and of "
            f"each prefix its row, and {op.input('scores')[0]!r} has {len(lod)}: layers.lod_reset gives it "
            "those of the scores of the step before"
        )
    ends = [lod[1][place] for place in lod[0]]
    chosen = [choice for a, b in pairwise(ends) for choice in _of_sentence(host, op, a, b)]
    of_prefix: list[list[_Choice]] = [[] for _ in range(ends[-1])]
    for choice in chosen:
        of_prefix[choice.prefix].append(choice)
    kept = [choice for each in of_prefix for choice in each]
    levels = [ends, offsets(map(len, of_prefix))]
    ids = np.array([choice.id for choice in kept], np.int64).reshape(-1, 1)
    found = np.array([choice.score for choice in kept], np.float32).reshape(-1, 1)
    host.give(op, "selected_ids", LoDTensor(ids, levels))
    host.give(op, "selected_scores", LoDTensor(found, levels))
    host.give(op, "parent_idx", np.array([choice.prefix for choice in kept], np.int64))


def _of_sentence(host: Host, op: Operator, first: int, end: int) -> list[_Choice]:
    """The best of all ways in which prefixes go on; none once all that is left has ended."""
    options = list(_options(host, op, first, end))
    best = sorted(options, key=lambda each: (each.score, each.prefix), reverse=True)[: op.attr("beam_size")]
    before = np.asarray(host.input(op, "pre_ids")).reshape(-1)
    stop = op.attr("end_id")
    over = all(each.id == stop and before[each.prefix] == stop for each in best)
    return [] if over else best


def _options(host: Host, op: Operator, first: int, end: int) -> Iterator[_Choice]:
    """The ways in which each prefix goes on that may be among the best of all."""
    pre_ids, pre_scores = (np.asarray(host.input(op, s)).reshape(-1) for s in ("pre_ids", "pre_scores"))
    scores, ids = np.asarray(host.input(op, "scores")), host.input(op, "ids")
    known, stop = None if ids is None else np.asarray(ids), op.attr("end_id")
    for prefix in range(first, end):
        if pre_ids[prefix] == stop:
            yield _Choice(prefix, stop, float(pre_scores[prefix]))
            continue
        row = scores[prefix]
        for place in np.argsort(-row, kind="stable")[: op.attr("beam_size")].tolist():
            given = float(row[place])
            score = given if op.attr("is_accumulated") else float(pre_scores[prefix]) + _log(given)
            yield _Choice(prefix, place if known is None else int(known[prefix, place]), score)


def _log(probability: float) -> float:
    return log(probability) if probability > 0 else -np.inf


@dataclass(slots=True)
class _Sentence:
    """One that is read from its end to its beginning; ``row``: where it goes on, a step earlier."""

    row: int
    words: list[int] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)


def _decoded(op: Operator) -> None:
    for slot, dtype in (("SentenceIds", "int64"), ("SentenceScores", "float32")):
        for name in op.output(slot):
            made = op.block._var_recursive(name)
            made.shape, made.dtype, made.lod_level = (-1,), dtype, _LEVELS


@hosts("beam_search_decode", infer=_decoded, beam_size=1, end_id=0)
def _beam_search_decode(host: Host, op: Operator) -> None:
    """Sentences of each source, the best one first: words, and scores with each word."""
    ids, scores = host.input(op, "Ids"), host.input(op, "Scores")
    if not isinstance(ids, LoDTensorArray | list) or not ids:
        raise BadProgram(f"beam_search_decode reads arrays, and {op.input('Ids')[0]!r} is none, or empty")
    sources = [_read_back(ids, scores, number, op) for number in range(len(ids[0].lod()[0]) - 1)]
    sentences = [each for source in sources for each in source]
    lod = [offsets(map(len, sources)), offsets(len(each.words) for each in sentences)]
    words = np.array([word for each in sentences for word in each.words[::-1]], np.int64)
    found = np.array([score for each in sentences for score in each.scores[::-1]], np.float32)
    host.give(op, "SentenceIds", LoDTensor(words, lod))
    host.give(op, "SentenceScores", LoDTensor(found, lod))


def _read_back(ids: list[LoDTensor], scores: list[LoDTensor], source: int, op: Operator) -> list[_Sentence]:
    sentences: list[_Sentence] = []
    for step, step_scores in zip(reversed(ids), reversed(scores), strict=True):
        of_source, of_prefix = step.lod()
        words, values = step.array().reshape(-1), step_scores.array().reshape(-1)
        if not sentences:  # all of this source had ended by the step behind, or there is none behind
            first, end = of_prefix[of_source[source]], of_prefix[of_source[source + 1]]
            sentences = [_Sentence(row) for row in range(first, end)]
        for each in sentences:
            word = int(words[each.row])
            if word != op.attr("end_id") or not each.words:  # of several ends only the last one
                each.words.append(word)
                each.scores.append(float(values[each.row]))
            each.row = int(np.searchsorted(of_prefix, each.row, side="right")) - 1
    return sorted(sentences, key=lambda each: each.scores[0], reverse=True)


def _like_ids(op: Operator) -> None:
    ids, out = (op.block._var_recursive(name) for name in (op.input("Ids")[0], op.output("Out")[0]))
    out.shape, out.dtype = ids.shape, ids.dtype


@hosts("gather_tree", infer=_like_ids)
def _gather_tree(host: Host, op: Operator) -> None:
    """(time, n, beams): each sentence is read from its end, by the beam that a word goes on from."""
    ids, parents = (np.asarray(host.input(op, slot)) for slot in ("Ids", "Parents"))
    out = np.empty_like(ids)
    beams = np.broadcast_to(np.arange(ids.shape[2]), ids.shape[1:])
    for moment in range(len(ids) - 1, -1, -1):
        out[moment] = np.take_along_axis(ids[moment], beams, axis=1)
        beams = np.take_along_axis(parents[moment], beams, axis=1)
    host.give(op, "Out", out)
