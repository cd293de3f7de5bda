"""One step of a recurrent network: ``paddle.nn.SimpleRNNCell``, ``LSTMCell`` and ``GRUCell``.

They must never know a sequence. Guarantee: gates lie in a weight in Paddle's order: of LSTM in, forget, cell,
out; of GRU reset, update, candidate.
"""

from __future__ import annotations

from typing import Any

from paddle.nn import functional
from paddle.nn.initializer import Uniform
from paddle.nn.layer.layers import Layer
from paddle.tensor.creation import full
from paddle.tensor.linalg import matmul
from paddle.tensor.manipulation import split
from paddle.tensor.math import scale, sum

__all__ = ["GRUCell", "LSTMCell", "RNNCellBase", "SimpleRNNCell"]


class RNNCellBase(Layer):
    """What all cells share: two weights and two biases. ``gates``: how many lie in each."""

    gates = 1

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        weight_ih_attr: Any = None,
        weight_hh_attr: Any = None,
        bias_ih_attr: Any = None,
        bias_hh_attr: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        if hidden_size <= 0:
            raise ValueError(
                f"hidden_size of {type(self).__name__} must be greater than 0, and is {hidden_size}"
            )
        drawn = Uniform(-(hidden_size**-0.5), hidden_size**-0.5)
        rows = self.gates * hidden_size
        sizes = {"weight_ih": [rows, input_size], "weight_hh": [rows, hidden_size]}
        for part, attr in (("weight_ih", weight_ih_attr), ("weight_hh", weight_hh_attr)):
            setattr(self, part, self.create_parameter(sizes[part], attr, default_initializer=drawn))
        for part, attr in (("bias_ih", bias_ih_attr), ("bias_hh", bias_hh_attr)):
            made = self.create_parameter([rows], attr, is_bias=True, default_initializer=drawn)
            setattr(self, part, made)
        self.input_size = input_size
        self.hidden_size = hidden_size

    def get_initial_states(self, batch_ref: Any, *others: Any, **more: Any) -> Any:
        """States of zeros for as many rows as ``batch_ref`` has."""
        column = scale(sum(batch_ref, list(range(1, len(batch_ref.shape))), keepdim=False), 0.0)
        zeros = matmul(_as_column(column), full([1, self.hidden_size], 0.0, "float32"))
        zeros.stop_gradient = True
        return self._states_of(zeros)

    def _states_of(self, zeros: Any) -> Any:
        return zeros

    def _told(self, inputs: Any, before: Any) -> tuple[Any, Any]:
        """What the input says, and what the state says."""
        return (
            functional.linear(inputs, _turned(self.weight_ih), self.bias_ih),
            functional.linear(before, _turned(self.weight_hh), self.bias_hh),
        )


class SimpleRNNCell(RNNCellBase):
    """h = tanh(x @ weight_ih.T + bias_ih + h @ weight_hh.T + bias_hh), or relu of it."""

    def __init__(
        self, input_size: int, hidden_size: int, activation: str = "tanh", *others: Any, **named: Any
    ) -> None:
        if activation not in ("tanh", "relu"):
            raise ValueError(f"activation of SimpleRNNCell is tanh or relu, not {activation!r}")
        super().__init__(input_size, hidden_size, *others, **named)
        self._activation = activation

    def forward(self, inputs: Any, states: Any = None) -> tuple[Any, Any]:
        """Append a step; gives the output and the state, which are the same."""
        before = self.get_initial_states(inputs) if states is None else states
        by_input, by_state = self._told(inputs, before)
        after = getattr(functional, self._activation)(by_input + by_state)
        return after, after


class LSTMCell(RNNCellBase):
    """c = forget * c + in * tanh(cell); h = out * tanh(c)."""

    gates = 4

    def _states_of(self, zeros: Any) -> Any:
        return zeros, zeros

    def forward(self, inputs: Any, states: Any = None) -> tuple[Any, Any]:
        """Append a step; gives the output and the states (h, c)."""
        before, kept = self.get_initial_states(inputs) if states is None else states
        by_input, by_state = self._told(inputs, before)
        enters, forgets, cell, leaves = split(by_input + by_state, 4, axis=-1)
        kept = functional.sigmoid(forgets) * kept + functional.sigmoid(enters) * functional.tanh(cell)
        after = functional.sigmoid(leaves) * functional.tanh(kept)
        return after, (after, kept)


class GRUCell(RNNCellBase):
    """c = tanh(x_c + reset * h_c); h = update * h + (1 - update) * c."""

    gates = 3

    def forward(self, inputs: Any, states: Any = None) -> tuple[Any, Any]:
        """Append a step; gives the output and the state, which are the same."""
        before = self.get_initial_states(inputs) if states is None else states
        by_input, by_state = self._told(inputs, before)
        x_reset, x_update, x_candidate = split(by_input, 3, axis=-1)
        h_reset, h_update, h_candidate = split(by_state, 3, axis=-1)
        reset = functional.sigmoid(x_reset + h_reset)
        update = functional.sigmoid(x_update + h_update)
        candidate = functional.tanh(x_candidate + reset * h_candidate)
        after = (before - candidate) * update + candidate
        return after, after


def _turned(weight: Any) -> Any:
    from paddle.tensor.manipulation import transpose

    return transpose(weight, [1, 0])


def _as_column(vector: Any) -> Any:
    from paddle.tensor.manipulation import reshape

    return reshape(vector, [-1, 1])
