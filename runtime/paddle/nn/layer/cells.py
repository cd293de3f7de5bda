"""One step of a recurrent network: ``paddle.nn.SimpleRNNCell``, ``LSTMCell`` and ``GRUCell``.

They must never know a sequence. Guarantee: gates lie in a weight in Paddle's order: of LSTM in, forget, cell,
out; of GRU reset, update, candidate.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from paddle.nn import functional
from paddle.nn.initializer import Uniform
from paddle.nn.layer.layers import Layer
from paddle.tensor.creation import full
from paddle.tensor.linalg import matmul
from paddle.tensor.manipulation import reshape, split, transpose
from paddle.tensor.math import scale, sum

__all__ = ["GRUCell", "LSTMCell", "RNNCellBase", "SimpleRNNCell"]


class RNNCellBase(Layer):
    """What a cell derives from: who does says by ``state_shape`` what its states are like."""

    def get_initial_states(
        self,
        batch_ref: Any,
        shape: Any = None,
        dtype: Any = None,
        init_value: float = 0.0,
        batch_dim_idx: int = 0,
    ) -> Any:
        """States of ``init_value`` for as many rows as ``batch_ref`` has along axis ``batch_dim_idx``: of
        ``shape`` or ``state_shape``, sizes of one or a nest of such, with or without a -1 for the rows."""
        rest = [axis for axis in range(len(batch_ref.shape)) if axis != batch_dim_idx]
        column = reshape(scale(sum(batch_ref, rest, keepdim=False), 0.0, float(init_value)), [-1, 1])
        told = self.state_shape if shape is None else shape
        return _nested(lambda sizes: _filled(column, sizes), told)

    @property
    def state_shape(self) -> Any:
        """The sizes of a state without its rows, or a nest of such."""
        raise NotImplementedError(
            f"{type(self).__name__} has to say what its states are like: give it a property state_shape, or "
            "get_initial_states a shape"
        )

    @property
    def state_dtype(self) -> Any:
        """The dtype of states."""
        return "float32"


def _nested(function: Callable[[list[int]], Any], shape: Any) -> Any:
    if all(isinstance(size, int) for size in shape):
        return function([size for size in shape if size != -1])
    return type(shape)(_nested(function, each) for each in shape)


def _filled(column: Any, sizes: list[int]) -> Any:
    """A state of these sizes for each row of ``column``, which holds what it begins with."""
    found = matmul(column, full([1, prod(sizes)], 1.0, "float32"))
    found = found if len(sizes) == 1 else reshape(found, [-1, *sizes])
    found.stop_gradient = True
    return found


class _Cell(RNNCellBase):
    """Two weights and two biases. ``gates``: how many lie in each."""

    _shown = "{0.input_size}, {0.hidden_size}"
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

    @property
    def state_shape(self) -> Any:
        """The sizes of the state."""
        return (self.hidden_size,)

    def _told(self, inputs: Any, before: Any) -> tuple[Any, Any]:
        """What the input says, and what the state says."""
        return (
            functional.linear(inputs, _turned(self.weight_ih), self.bias_ih),
            functional.linear(before, _turned(self.weight_hh), self.bias_hh),
        )


class SimpleRNNCell(_Cell):
    """h = tanh(x @ weight_ih.T + bias_ih + h @ weight_hh.T + bias_hh), or relu of it."""

    def __init__(
        self, input_size: int, hidden_size: int, activation: str = "tanh", *others: Any, **named: Any
    ) -> None:
        if activation not in ("tanh", "relu"):
            raise ValueError(f"activation of SimpleRNNCell is tanh or relu, not {activation!r}")
        super().__init__(input_size, hidden_size, *others, **named)
        self._activation = activation

    def extra_repr(self) -> str:
        """Its sizes, and an activation that is not the usual one."""
        more = "" if self._activation == "tanh" else f", activation={self._activation}"
        return super().extra_repr() + more

    def forward(self, inputs: Any, states: Any = None) -> tuple[Any, Any]:
        """Append a step; gives the output and the state, which are the same."""
        before = self.get_initial_states(inputs) if states is None else states
        by_input, by_state = self._told(inputs, before)
        after = getattr(functional, self._activation)(by_input + by_state)
        return after, after


class LSTMCell(_Cell):
    """c = forget * c + in * tanh(cell); h = out * tanh(c)."""

    gates = 4

    @property
    def state_shape(self) -> Any:
        """The sizes of h and of c."""
        return ((self.hidden_size,), (self.hidden_size,))

    def forward(self, inputs: Any, states: Any = None) -> tuple[Any, Any]:
        """Append a step; gives the output and the states (h, c)."""
        before, kept = self.get_initial_states(inputs) if states is None else states
        by_input, by_state = self._told(inputs, before)
        enters, forgets, cell, leaves = split(by_input + by_state, 4, axis=-1)
        kept = functional.sigmoid(forgets) * kept + functional.sigmoid(enters) * functional.tanh(cell)
        after = functional.sigmoid(leaves) * functional.tanh(kept)
        return after, (after, kept)


class GRUCell(_Cell):
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
    return transpose(weight, [1, 0])
