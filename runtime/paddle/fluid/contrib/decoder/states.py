"""States of a decoder: what they begin as, and the cell that computes the next from inputs of a step.

It must never know whether a decoder trains or searches. Guarantee: a cell is in one decoder at a time, each
of which begins with the states that the cell was made with.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from paddle._program.description.variable import Variable
from paddle._program.errors import BadArgument
from paddle.fluid import layers


class InitState:
    """What a state begins as: a variable, [N, ...] with a row for each of N sequences, or ``value`` of
    ``dtype`` in ``shape``, whose first size is that of ``init_boot``. ``need_reorder``: its rows are of
    samples, to be in the order that a recurrence goes through these.

    Raises BadArgument where neither is told. Source of the semantics: fluid 1.8's ``contrib.decoder``.
    """

    def __init__(
        self,
        init: Variable | None = None,
        shape: Any = None,
        value: float = 0.0,
        init_boot: Variable | None = None,
        need_reorder: bool = False,
        dtype: Any = "float32",
    ) -> None:
        if init is None and init_boot is None:
            raise BadArgument("InitState: tell init, or init_boot, which says how many rows there are")
        if init is None:
            init = layers.fill_constant_batch_size_like(init_boot, shape, dtype, value)
        self._init, self._need_reorder = init, need_reorder

    @property
    def value(self) -> Variable:
        """The variable."""
        return self._init

    @property
    def need_reorder(self) -> bool:
        """Whether its rows are to be in another order."""
        return self._need_reorder


class Kept(Protocol):
    """A state that a decoder keeps from one step to the next."""

    def get(self) -> Variable:
        """What the step before left."""

    def update(self, state: Variable) -> None:
        """What this step leaves."""


class Decoder(Protocol):
    """What a cell is in."""

    def keep(self, state: InitState) -> Kept:
        """Keep a state from now on."""


class StateCell:
    """``inputs``: the names of a step's inputs, and their variables or None; ``states``: InitStates by name;
    ``out_state``: the name of the state that words are chosen by, [rows, D].

    Raises BadArgument for names that it has not, and out of a decoder's block. Source: as of InitState.
    """

    def __init__(
        self,
        inputs: Mapping[str, Any],
        states: Mapping[str, InitState],
        out_state: str,
        name: str | None = None,
    ) -> None:
        for key, state in states.items():
            if not isinstance(state, InitState):
                raise BadArgument(f"StateCell: the state {key!r} is an InitState, not {state!r}")
        if out_state not in states:
            raise BadArgument(f"StateCell: out_state is one of {sorted(states)}, not {out_state!r}")
        self.inputs, self.begins, self._out = dict(inputs), dict(states), out_state
        self._now: dict[str, Variable] = {}
        self._kept: dict[str, Kept] = {}
        self._decoder: Decoder | None = None
        self._updater: Callable[[StateCell], object] | None = None

    def enter(self, decoder: Decoder) -> None:
        """Be the cell of a decoder from now on."""
        if self._decoder is not None:
            raise BadArgument("StateCell: it is in a decoder already, whose block has not ended")
        self._decoder, self._kept, self._now = decoder, {}, {}

    def leave(self) -> None:
        """The decoder's block has ended."""
        self._decoder = None

    def get_state(self, state_name: str) -> Variable:
        """A state as it is now."""
        self._begin()
        if state_name not in self._now:
            raise BadArgument(f"StateCell: there is no state {state_name!r}; there are {sorted(self.begins)}")
        return self._now[state_name]

    def get_input(self, input_name: str) -> Variable:
        """An input of this step."""
        found = self.inputs.get(input_name)
        if found is None:
            raise BadArgument(
                f"StateCell: the input {input_name!r} has not been told: compute_state tells it"
            )
        return found

    def set_state(self, state_name: str, state_value: Variable) -> None:
        """Say what a state is from now on."""
        self._begin()
        self._now[state_name] = state_value

    def state_updater(self, updater: Callable[[StateCell], object]) -> Callable[[StateCell], object]:
        """A decorator of the function that computes the next states: it is given the cell."""
        self._updater = updater
        return updater

    def compute_state(self, inputs: Mapping[str, Variable]) -> None:
        """Compute the next states from the inputs of a step."""
        self._begin()
        if unknown := sorted(set(inputs) - set(self.inputs)):
            raise BadArgument(f"StateCell: there is no input {unknown[0]!r}; there are {sorted(self.inputs)}")
        if self._updater is None:
            raise BadArgument("StateCell: nothing computes its states: decorate a function by state_updater")
        self.inputs.update(inputs)
        self._updater(self)

    def update_states(self) -> None:
        """Leave the states to the next step."""
        self._begin()
        for name, kept in self._kept.items():
            kept.update(self._now[name])

    def out_state(self) -> Variable:
        """The state that words are chosen by."""
        return self.get_state(self._out)

    def _begin(self) -> None:
        """Have the states kept, where they are not yet: in the block of the decoder."""
        if self._kept:
            return
        if self._decoder is None:
            raise BadArgument("StateCell: states are there within the block of a decoder")
        self._kept = {name: self._decoder.keep(state) for name, state in self.begins.items()}
        self._now = {name: kept.get() for name, kept in self._kept.items()}
