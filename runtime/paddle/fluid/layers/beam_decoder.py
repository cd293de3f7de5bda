"""A decoder that keeps the best beginnings of each sentence: ``BeamSearchDecoder``.

It must never know what a cell computes. Guarantee: a beginning that has ended goes on with its end alone, at
no cost. Words and the beginnings that they go on from are given step by step; ``finalize`` reads them back.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from paddle._program.description.variable import Variable
from paddle.fluid.layers.appending import appended
from paddle.fluid.layers.arithmetic import (
    cumsum,
    elementwise_add,
    elementwise_floordiv,
    elementwise_mod,
    elementwise_mul,
    logical_or,
    scale,
)
from paddle.fluid.layers.comparing import equal
from paddle.fluid.layers.decoding import Decoder
from paddle.fluid.layers.shaping import expand, gather_nd, reshape, stack, topk, transpose, unsqueeze
from paddle.fluid.layers.tensor import (
    assign,
    cast,
    fill_constant,
    fill_constant_batch_size_like,
    ones_like,
    zeros_like,
)
from paddle.fluid.layers.utils import flatten, map_structure

__all__ = ["BeamSearchDecoder", "gather_tree"]

_NEVER = -1e9


def gather_tree(ids: Variable, parents: Variable) -> Variable:
    """The sentences that ``ids``, (time, n, beams), say when each is read back from its end: ``parents`` says
    on which beam a word goes on from."""
    made = appended("gather_tree", {"Ids": ids, "Parents": parents})
    made.stop_gradient = True
    return made


class BeamSearchDecoder(Decoder):
    """``cell`` gives, by way of ``output_fn``, logits of words; ``embedding_fn`` what a word is read as."""

    class OutputWrapper(NamedTuple):
        """What a step gives, (n, beams) each."""

        scores: Any
        predicted_ids: Any
        parent_ids: Any

    class StateWrapper(NamedTuple):
        """What goes from step to step: states of the cell, (n, beams, ...), and (n, beams) each."""

        cell_states: Any
        log_probs: Any
        finished: Any
        lengths: Any

    def __init__(
        self,
        cell: Any,
        start_token: int,
        end_token: int,
        beam_size: int,
        embedding_fn: Callable[[Variable], Any] | None = None,
        output_fn: Callable[[Any], Any] | None = None,
    ) -> None:
        self.cell, self.embedding_fn, self.output_fn = cell, embedding_fn, output_fn
        self.start_token, self.end_token, self.beam_size = start_token, end_token, beam_size

    @staticmethod
    def tile_beam_merge_with_batch(x: Variable, beam_size: int) -> Variable:
        """Each row of (n, ...) ``beam_size`` times: (n * beam_size, ...)."""
        tiled, sizes = _tiled(x, beam_size), len(x.shape) - 1
        behind = transpose(tiled, [*range(2, sizes + 2), 0, 1])  # sizes that are open stay where they are
        return transpose(reshape(behind, [0] * sizes + [-1]), [sizes, *range(sizes)])

    def _split_batch_beams(self, x: Variable) -> Variable:
        return reshape(x, [-1, self.beam_size, *x.shape[1:]])

    def _merge_batch_beams(self, x: Variable) -> Variable:
        return reshape(x, [-1, *x.shape[2:]])

    def _expand_to_beam_size(self, x: Variable) -> Variable:
        return _tiled(x, self.beam_size)

    def initialize(self, initial_cell_states: Any) -> Any:
        """Of each sentence one beginning counts at first: the others are alike."""
        like = flatten(initial_cell_states)[0]
        states = map_structure(self._expand_to_beam_size, initial_cell_states)
        wide = [-1, self.beam_size]
        words = fill_constant_batch_size_like(like, wide, "int64", self.start_token)
        zeros = fill_constant_batch_size_like(like, wide, "float32", 0.0)
        alone = np.array([0.0] + [_NEVER] * (self.beam_size - 1), np.float32)
        chances = elementwise_add(zeros, assign(alone), axis=-1)
        finished = cast(zeros_like(words), "bool")
        inputs = words if self.embedding_fn is None else self.embedding_fn(words)
        return inputs, self.StateWrapper(states, chances, finished, zeros_like(words)), finished

    def step(self, time: Variable, inputs: Any, states: Any, **kwargs: Any) -> Any:
        """A step of the cell, and the best ways in which beginnings go on."""
        rows, after = self.cell(
            map_structure(self._merge_batch_beams, inputs),
            map_structure(self._merge_batch_beams, states.cell_states),
            **kwargs,
        )
        rows = map_structure(self._split_batch_beams, rows)
        after = map_structure(self._split_batch_beams, after)
        logits = rows if self.output_fn is None else self.output_fn(rows)
        outputs, following = self._beam_search_step(time, logits, after, states)
        outputs.predicted_ids.stop_gradient = True
        words = outputs.predicted_ids
        inputs = words if self.embedding_fn is None else self.embedding_fn(words)
        return outputs, following, inputs, following.finished

    def _beam_search_step(
        self, time: Variable, logits: Variable, next_cell_states: Any, beam_state: Any
    ) -> Any:
        vocabulary = int(logits.shape[-1])
        told = self._mask_probs(appended("log_softmax", {"X": logits}, {"axis": -1}), beam_state.finished)
        chances = elementwise_add(told, beam_state.log_probs, axis=0)
        flat = reshape(chances, [-1, self.beam_size * vocabulary])
        scores, places = topk(flat, self.beam_size)
        size = fill_constant([1], "int64", vocabulary)
        beams, words = elementwise_floordiv(places, size), elementwise_mod(places, size)
        finished = self._gather(cast(beam_state.finished, "int64"), beams)
        lengths = elementwise_add(self._gather(beam_state.lengths, beams), scale(finished, -1.0, 1.0))
        end = fill_constant([1], "int64", self.end_token)
        ended = logical_or(cast(finished, "bool"), equal(words, end))
        states = map_structure(lambda x: self._gather(x, beams), next_cell_states)
        state = self.StateWrapper(states, self._gather(flat, places), ended, lengths)
        return self.OutputWrapper(scores, words, beams), state

    def _mask_probs(self, probs: Variable, finished: Variable) -> Variable:
        """Where a beginning has ended its end is certain, and all else never comes."""
        after_end = np.full(int(probs.shape[-1]), _NEVER, np.float32)
        after_end[self.end_token] = 0.0
        over = cast(finished, "float32")
        over.stop_gradient = True
        zeros = scale(probs, 0.0)
        certain = elementwise_mul(elementwise_add(zeros, assign(after_end), axis=-1), over, axis=0)
        return elementwise_add(certain, elementwise_mul(probs, scale(over, -1.0, 1.0), axis=0))

    def _gather(self, x: Variable, indices: Variable, batch_size: Any = None) -> Variable:
        """Of each sentence those along the second axis."""
        places = stack([_numbered(indices), indices], axis=2)
        places.stop_gradient = True
        return gather_nd(x, places)

    def finalize(self, outputs: Any, final_states: Any, sequence_lengths: Variable) -> Any:
        """The sentences, (time, n, beams), the best one first."""
        return gather_tree(outputs.predicted_ids, outputs.parent_ids), final_states


def _tiled(x: Variable, beam_size: int) -> Variable:
    times = [1] * (len(x.shape) + 1)
    times[1] = beam_size
    return expand(unsqueeze(x, [1]), times)


def _numbered(like: Variable) -> Variable:
    """(n, beams): in each row its number."""
    return scale(cumsum(ones_like(like), axis=0), bias=-1.0)
