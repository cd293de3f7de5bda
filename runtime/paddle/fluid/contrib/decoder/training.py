"""TrainingDecoder: a decoder that is given the words of its sequences, a step for each.

It must never know a state's name. Guarantee: as of the DynamicRNN that it is made of.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from paddle._program.description.variable import Variable
from paddle._program.errors import BadArgument
from paddle.fluid import layers
from paddle.fluid.contrib.decoder.states import InitState, StateCell


class _Memory:
    """A state as a memory of a recurrence."""

    def __init__(self, recurrence: Any, state: InitState) -> None:
        self._recurrence = recurrence
        self._memory = recurrence.memory(init=state.value, need_reorder=state.need_reorder)

    def get(self) -> Variable:
        return self._memory

    def update(self, state: Variable) -> None:
        self._recurrence.update_memory(self._memory, state)


class TrainingDecoder:
    """``with decoder.block():`` writes a step; ``decoder()`` is what ``output`` was given, of all steps: rows
    [words, D] with the LoD of the step's inputs. Raises BadArgument where it is used in another order. Source
    of the semantics: fluid 1.8's ``contrib.decoder``."""

    BEFORE_DECODER, IN_DECODER, AFTER_DECODER = range(3)

    def __init__(self, state_cell: StateCell, name: str | None = None) -> None:
        self._status, self._cell = self.BEFORE_DECODER, state_cell
        self._recurrence = layers.DynamicRNN(name=name)
        state_cell.enter(self)

    def keep(self, state: InitState) -> _Memory:
        """Keep a state from step to step."""
        return _Memory(self._recurrence, state)

    @contextmanager
    def block(self) -> Iterator[None]:
        """Write a step."""
        if self._status != self.BEFORE_DECODER:
            raise BadArgument("TrainingDecoder: its block is written once")
        self._status = self.IN_DECODER
        with self._recurrence.block():
            yield
        self._status = self.AFTER_DECODER
        self._cell.leave()

    @property
    def state_cell(self) -> StateCell:
        """The cell, within the block."""
        self._need_block("state_cell")
        return self._cell

    @property
    def dynamic_rnn(self) -> Any:
        """The recurrence that it is made of."""
        return self._recurrence

    def step_input(self, x: Variable) -> Variable:
        """A sequence of which each step has a row."""
        self._need_block("step_input")
        return self._recurrence.step_input(x)

    def static_input(self, x: Variable) -> Variable:
        """What each step has all of."""
        self._need_block("static_input")
        return self._recurrence.static_input(x)

    def output(self, *outputs: Variable) -> None:
        """What each step gives."""
        self._need_block("output")
        self._recurrence.output(*outputs)

    def __call__(self) -> Any:
        """What all steps gave, as sequences."""
        if self._status != self.AFTER_DECODER:
            raise BadArgument("TrainingDecoder: what it gives is there after its block")
        return self._recurrence()

    def _need_block(self, what: str) -> None:
        if self._status != self.IN_DECODER:
            raise BadArgument(f"TrainingDecoder: {what} is of its block")
