"""Cells of recurrent networks: one step, as an object with ``call(inputs, states)``.

A cell must never know what walks it (rnn.py) or decodes with it (decoding.py). Guarantee: its parameters come
once, with the first step that is written.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from paddle._program.description.variable import Variable
from paddle.fluid.layers.tensor import fill_constant_batch_size_like
from paddle.fluid.layers.utils import flatten, map_structure

__all__ = ["GRUCell", "LSTMCell", "RNNCell"]

Activation = Callable[[Variable], Variable]


class RNNCell:
    """What cells derive from: ``call``, and ``state_shape`` where states of zeros are asked for."""

    def call(self, inputs: Any, states: Any, **kwargs: Any) -> Any:
        """Append a step; gives the output and the next states, nested as ``states`` are."""
        raise NotImplementedError(f"{type(self).__name__} does not define call(inputs, states)")

    def __call__(self, inputs: Any, states: Any, **kwargs: Any) -> Any:
        """``call``."""
        return self.call(inputs, states, **kwargs)

    def get_initial_states(
        self,
        batch_ref: Any,
        shape: Any = None,
        dtype: Any = "float32",
        init_value: float = 0,
        batch_dim_idx: int = 0,
    ) -> Any:
        """States that begin with ``init_value``, as many rows as ``batch_ref`` has along its axis
        ``batch_dim_idx``. ``shape`` and ``dtype`` may be nested; those of the cell where they are None."""
        rows = flatten(batch_ref)[0]
        shapes = _shapes(self.state_shape if shape is None else shape)
        kinds = dtype
        if dtype is None:
            try:
                kinds = self.state_dtype
            except NotImplementedError:
                kinds = "float32"
        named = flatten(kinds)
        if len(named) == 1:
            kinds = map_structure(lambda _: named[0], shapes)
        return map_structure(
            lambda each, kind: fill_constant_batch_size_like(
                rows, each.sizes, kind, float(init_value), input_dim_idx=batch_dim_idx
            ),
            shapes,
            kinds,
        )

    @property
    def state_shape(self) -> Any:
        """Sizes of a row of each state, nested as states are."""
        raise NotImplementedError(f"{type(self).__name__} does not define state_shape")

    @property
    def state_dtype(self) -> Any:
        """Dtypes of states, nested as states are."""
        raise NotImplementedError(f"{type(self).__name__} does not define state_dtype")


class _Sizes:
    """One shape, which is not nested, however many numbers it has."""

    def __init__(self, sizes: list[int] | tuple[int, ...]) -> None:
        self.sizes = list(sizes) if sizes[0] == -1 else [-1, *sizes]


def _shapes(given: Any) -> Any:
    if isinstance(given, int):
        return _Sizes([given])
    if isinstance(given, dict):
        return {key: _shapes(each) for key, each in given.items()}
    if all(isinstance(each, int) for each in given):
        return _Sizes(given)
    return type(given)(_shapes(each) for each in given)


class GRUCell(RNNCell):
    """``BasicGRUUnit`` as a cell: its state, (n, hidden_size), is what it gives."""

    def __init__(
        self,
        hidden_size: int,
        param_attr: Any = None,
        bias_attr: Any = None,
        gate_activation: Activation | None = None,
        activation: Activation | None = None,
        dtype: Any = "float32",
        name: str = "GRUCell",
    ) -> None:
        from paddle.fluid.contrib.layers.units import BasicGRUUnit

        self.hidden_size = hidden_size
        self.gru_unit = BasicGRUUnit(
            name, hidden_size, param_attr, bias_attr, gate_activation, activation, dtype
        )

    def call(self, inputs: Variable, states: Variable) -> Any:  # type: ignore[override]
        """Append a step; the output is the next state."""
        after = self.gru_unit(inputs, states)
        return after, after

    @property
    def state_shape(self) -> list[int]:
        """One state."""
        return [self.hidden_size]


class LSTMCell(RNNCell):
    """``BasicLSTMUnit`` as a cell: its states are [hidden, cell], and hidden is what it gives."""

    def __init__(
        self,
        hidden_size: int,
        param_attr: Any = None,
        bias_attr: Any = None,
        gate_activation: Activation | None = None,
        activation: Activation | None = None,
        forget_bias: float = 1.0,
        dtype: Any = "float32",
        name: str = "LSTMCell",
    ) -> None:
        from paddle.fluid.contrib.layers.units import BasicLSTMUnit

        self.hidden_size = hidden_size
        self.lstm_unit = BasicLSTMUnit(
            name, hidden_size, param_attr, bias_attr, gate_activation, activation, forget_bias, dtype
        )

    def call(self, inputs: Variable, states: list[Variable]) -> Any:  # type: ignore[override]
        """Append a step."""
        hidden, cell = self.lstm_unit(inputs, *states)
        return hidden, [hidden, cell]

    @property
    def state_shape(self) -> list[list[int]]:
        """The output, and the cell."""
        return [[self.hidden_size], [self.hidden_size]]
