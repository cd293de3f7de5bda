"""Recurrent networks: ``paddle.nn.LSTM``, ``GRU``, ``SimpleRNN``, and ``RNN`` over a cell.

They must never know what a cell computes. Guarantee: steps of a sequence beyond its length change no state;
of networks they give zeros, of ``RNN`` what the cell gives. A layer of LSTM or GRU is an operator (whole.py).
Of other cells a program has as many copies as there are steps, where the axis of time has a declared size;
where it has none the cell is written once, and a run goes through it for each step that is fed.
"""

from __future__ import annotations

from typing import Any

from paddle.nn import functional
from paddle.nn.layer import whole
from paddle.nn.layer.cells import GRUCell, LSTMCell, SimpleRNNCell
from paddle.nn.layer.container import LayerList
from paddle.nn.layer.layers import Layer
from paddle.nn.layer.walk import Walk
from paddle.tensor.creation import full
from paddle.tensor.logic import less_than
from paddle.tensor.manipulation import cast, concat, reshape, stack, transpose, unstack
from paddle.tensor.math import sum

__all__ = ["GRU", "LSTM", "RNN", "BiRNN", "SimpleRNN"]


class RNN(Layer):
    """A cell over all steps of a batch (n, time, size); (time, n, size) where ``time_major``."""

    _zeros = False

    def __init__(self, cell: Layer, is_reverse: bool = False, time_major: bool = False) -> None:
        super().__init__()
        self.cell = cell
        self.is_reverse = is_reverse
        self.time_major = time_major

    def forward(
        self, inputs: Any, initial_states: Any = None, sequence_length: Any = None, **others: Any
    ) -> tuple[Any, Any]:
        """Append all steps; gives all outputs, and the states after the last. ``others`` are the cell's."""
        axis = 0 if self.time_major else 1
        if inputs.shape[axis] < 0:
            return self._open(inputs, initial_states, sequence_length, others)
        steps = unstack(inputs, axis)
        states = self.cell.get_initial_states(steps[0]) if initial_states is None else initial_states
        outputs: list[Any] = [None] * len(steps)
        order = range(len(steps))
        for at in reversed(order) if self.is_reverse else order:
            output, after = self.cell(steps[at], states, **others)
            if sequence_length is not None:
                there = _there(sequence_length, at)
                output, after = output * there if self._zeros else output, _chosen(there, after, states)
            outputs[at], states = output, after
        return stack(outputs, axis), states

    def _open(self, inputs: Any, states: Any, sequence_length: Any, others: Any) -> tuple[Any, Any]:
        """As many steps as are fed."""
        batch = transpose(inputs, _SWAPPED) if self.time_major else inputs
        if states is None:
            states = self.cell.get_initial_states(sum(batch, 1))
        walk = Walk(batch, sequence_length, self.is_reverse)
        outputs, states = walk.along(
            lambda step, before: self.cell(step, before, **others), states, self._zeros
        )
        return transpose(outputs, _SWAPPED) if self.time_major else outputs, states


_SWAPPED = [1, 0, 2]


class _RNN(RNN):
    _zeros = True

    def forward(
        self, inputs: Any, initial_states: Any = None, sequence_length: Any = None, **others: Any
    ) -> tuple[Any, Any]:
        """As one operator, where there is one."""
        if self.is_reverse or not whole.is_whole([self.cell]):
            return super().forward(inputs, initial_states, sequence_length, **others)
        begins = None if initial_states is None else [initial_states]
        outputs, (states,) = whole.layer([self.cell], inputs, begins, sequence_length, self.time_major)
        return outputs, states


class BiRNN(Layer):
    """Two cells, one over the steps as they come and one from the last to the first."""

    _along: type[RNN] = RNN

    def __init__(self, cell_fw: Layer, cell_bw: Layer, time_major: bool = False) -> None:
        super().__init__()
        self.cell_fw, self.cell_bw, self.time_major = cell_fw, cell_bw, time_major
        # In a tuple they are no sublayers: what is saved is called after the cells.
        self._ways = self._along(cell_fw, False, time_major), self._along(cell_bw, True, time_major)

    def forward(
        self, inputs: Any, initial_states: Any = None, sequence_length: Any = None, **others: Any
    ) -> tuple[Any, Any]:
        """Append all steps; gives both outputs side by side, and both states."""
        first, second = (None, None) if initial_states is None else initial_states
        forwards, backwards = self._ways
        ahead, ahead_states = forwards(inputs, first, sequence_length, **others)
        back, back_states = backwards(inputs, second, sequence_length, **others)
        return concat([ahead, back], axis=-1), (ahead_states, back_states)


class _BiRNN(BiRNN):
    _along = _RNN

    def forward(
        self, inputs: Any, initial_states: Any = None, sequence_length: Any = None, **others: Any
    ) -> tuple[Any, Any]:
        """As one operator, where there is one."""
        cells = [self.cell_fw, self.cell_bw]
        if not whole.is_whole(cells):
            return super().forward(inputs, initial_states, sequence_length, **others)
        outputs, states = whole.layer(cells, inputs, initial_states, sequence_length, self.time_major)
        return outputs, tuple(states)


class _Stacked(LayerList):
    """Layers of cells above each other; ``direction``: forward, backward or bidirect(ional). Parameters are
    its own, too, by the number of their layer: ``weight_ih_l0``, ``bias_hh_l1_reverse``."""

    _cell: Any = None

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        direction: str = "forward",
        time_major: bool = False,
        dropout: float = 0.0,
        **attributes: Any,
    ) -> None:
        super().__init__()
        if direction not in ("forward", "backward", "bidirect", "bidirectional"):
            raise ValueError(f"direction is forward, backward or bidirect, not {direction!r}")
        self._two = direction.startswith("bidirect")
        self._dropout = dropout
        self.num_layers, self.time_major = num_layers, time_major
        self.input_size, self.hidden_size = input_size, hidden_size
        attributes.pop("name", None)
        widths = [input_size, *[hidden_size * (1 + self._two)] * (num_layers - 1)]
        for number, width in enumerate(widths):
            cells = [self._cell(width, hidden_size, **attributes) for _ in range(1 + self._two)]
            if self._two:
                self.append(_BiRNN(*cells, time_major=time_major))
            else:
                self.append(_RNN(cells[0], direction == "backward", time_major))
            for cell, way in zip(cells, ("", "_reverse"), strict=False):
                for name, parameter in cell.named_parameters():
                    setattr(self, f"{name}_l{number}{way}", parameter)

    def forward(
        self, inputs: Any, initial_states: Any = None, sequence_length: Any = None
    ) -> tuple[Any, Any]:
        """Append all layers; gives the outputs of the last one, and the last states of all layers, each
        (layers * directions, n, hidden_size)."""
        outputs, ends = inputs, []
        for number in range(self.num_layers):  # a class derived from this one may have other sublayers, too
            if number and self._dropout:
                outputs = functional.dropout(outputs, self._dropout, training=self.training)
            begin = None if initial_states is None else self._begin(initial_states, number)
            outputs, states = self[number](outputs, begin, sequence_length)
            ends += list(states) if self._two else [states]
        return outputs, self._put_together(ends)

    def extra_repr(self) -> str:
        """Its sizes, and what is not as usual."""
        pairs = {"num_layers": (self.num_layers, 1), "time_major": (self.time_major, False)}
        pairs["dropout"] = (self._dropout, 0)
        told = "".join(f", {name}={value}" for name, (value, usual) in pairs.items() if value != usual)
        return f"{self.input_size}, {self.hidden_size}{told}"

    def _begin(self, given: Any, number: int) -> Any:
        ways = 1 + self._two
        several = given if isinstance(given, (list, tuple)) else (given,)
        found = [[each[number * ways + way] for each in several] for way in range(ways)]
        chosen = [tuple(each) if len(each) > 1 else each[0] for each in found]
        return tuple(chosen) if self._two else chosen[0]

    def _put_together(self, ends: list[Any]) -> Any:
        if not isinstance(ends[0], tuple):
            return stack(ends, 0)
        return tuple(stack(list(each), 0) for each in zip(*ends, strict=True))


class SimpleRNN(_Stacked):
    """See ``SimpleRNNCell``."""

    _cell = SimpleRNNCell


class LSTM(_Stacked):
    """See ``LSTMCell``; the states are (h, c)."""

    _cell = LSTMCell


class GRU(_Stacked):
    """See ``GRUCell``."""

    _cell = GRUCell


def _there(sequence_length: Any, at: int) -> Any:
    lengths = cast(reshape(sequence_length, [-1, 1]), "int64")
    return cast(less_than(full([1], at, "int64"), lengths), "float32")


def _chosen(there: Any, after: Any, before: Any) -> Any:
    if isinstance(after, tuple):
        return tuple(_chosen(there, *pair) for pair in zip(after, before, strict=True))
    return (after - before) * there + before
