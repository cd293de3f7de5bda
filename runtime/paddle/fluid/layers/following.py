"""What ``BasicDecoder`` asks: which word a step gives, and what the next step reads.

They must never know a cell. Guarantee: a sentence that has ended is told at the step that ends it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from paddle._program.description.variable import Variable
from paddle.fluid.layers.arithmetic import elementwise_div
from paddle.fluid.layers.comparing import equal, less_equal
from paddle.fluid.layers.drawing import sampling_id
from paddle.fluid.layers.nn import softmax
from paddle.fluid.layers.rnn import turned
from paddle.fluid.layers.shaping import gather, pad, reshape
from paddle.fluid.layers.tensor import argmax, cast, fill_constant, fill_constant_batch_size_like
from paddle.fluid.layers.utils import map_structure

__all__ = ["DecodeHelper", "GreedyEmbeddingHelper", "SampleEmbeddingHelper", "TrainingHelper"]


class DecodeHelper:
    """What helpers derive from."""

    def initialize(self) -> Any:
        """The first inputs, and which sentences have ended already."""

    def sample(self, time: Variable, outputs: Any, states: Any) -> Any:
        """The word that each row of ``outputs`` says."""

    def next_inputs(self, time: Variable, outputs: Any, states: Any, sample_ids: Any) -> Any:
        """Which sentences have ended, the next inputs, and the next states."""


class TrainingHelper(DecodeHelper):
    """The next step reads what stands in ``inputs``, (n, time, ...) or (time, n, ...) where ``time_major``;
    ``sequence_length``: how many steps each row has."""

    def __init__(self, inputs: Any, sequence_length: Variable, time_major: bool = False) -> None:
        self.inputs, self.sequence_length, self.time_major = inputs, sequence_length, time_major
        self._steps = inputs if time_major else map_structure(turned, inputs)
        # one step more, which is read when all have ended
        self._padded = map_structure(lambda x: pad(x, [0, 1] + [0, 0] * (len(x.shape) - 1)), self._steps)

    def initialize(self) -> Any:
        """The first step."""
        none = fill_constant([1], self.sequence_length.dtype, 0)
        return map_structure(lambda x: x[0], self._steps), equal(self.sequence_length, none)

    def sample(self, time: Variable, outputs: Any, states: Any) -> Any:
        """The most likely word."""
        return argmax(outputs, axis=-1)

    def next_inputs(self, time: Variable, outputs: Any, states: Any, sample_ids: Any) -> Any:
        """What stands one step further on."""
        following = time + fill_constant([1], time.dtype, 1)
        finished = less_equal(self.sequence_length, cast(following, self.sequence_length.dtype))

        def of_step(x: Variable) -> Variable:
            row = gather(x, following)
            return reshape(row, [-1, *x.shape[2:]])

        return finished, map_structure(of_step, self._padded), states


class GreedyEmbeddingHelper(DecodeHelper):
    """The next step reads the most likely word as ``embedding_fn`` gives it; ``start_tokens`` are first."""

    def __init__(
        self, embedding_fn: Callable[[Variable], Any], start_tokens: Variable, end_token: int
    ) -> None:
        self.embedding_fn, self.start_tokens = embedding_fn, start_tokens
        self.end_token = fill_constant([1], "int64", end_token)

    def initialize(self) -> Any:
        """The first words."""
        finished = cast(fill_constant_batch_size_like(self.start_tokens, [-1], "int64", 0), "bool")
        return self.embedding_fn(self.start_tokens), finished

    def sample(self, time: Variable, outputs: Any, states: Any) -> Any:
        """The most likely word."""
        return argmax(outputs, axis=-1)

    def next_inputs(self, time: Variable, outputs: Any, states: Any, sample_ids: Any) -> Any:
        """The words that were chosen."""
        return equal(sample_ids, self.end_token), self.embedding_fn(sample_ids), states


class SampleEmbeddingHelper(GreedyEmbeddingHelper):
    """The next step reads a word drawn by what the outputs say, divided by ``softmax_temperature``."""

    def __init__(
        self,
        embedding_fn: Callable[[Variable], Any],
        start_tokens: Variable,
        end_token: int,
        softmax_temperature: float | None = None,
        seed: int | None = None,
    ) -> None:
        super().__init__(embedding_fn, start_tokens, end_token)
        given = softmax_temperature
        self.softmax_temperature = None if given is None else fill_constant([1], "float32", given)
        self.seed = seed

    def sample(self, time: Variable, outputs: Any, states: Any) -> Any:
        """A word by chance."""
        heat = self.softmax_temperature
        chances = softmax(outputs if heat is None else elementwise_div(outputs, heat))
        chances.stop_gradient = True
        return sampling_id(chances, seed=self.seed or 0)
