"""Stacks of LSTMs and GRUs over padded batches: ``basic_lstm`` and ``basic_gru``.

They must never know how a step is computed (units.py). Guarantee: a step beyond the length of its sequence
changes no state, as in 1.8.5.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from paddle._program.description.variable import Variable
from paddle.fluid import layers
from paddle.fluid.contrib.layers.units import Activation, BasicGRUUnit, BasicLSTMUnit, named_after
from paddle.fluid.layers.rnn import counting, held

__all__ = ["basic_gru", "basic_lstm"]

Unit = Callable[..., Any]
_SWAPPED = [1, 0, 2]


def basic_gru(
    input: Variable,
    init_hidden: Variable | None,
    hidden_size: int,
    num_layers: int = 1,
    sequence_length: Variable | None = None,
    dropout_prob: float | None = 0.0,
    bidirectional: bool = False,
    batch_first: bool = True,
    param_attr: Any = None,
    bias_attr: Any = None,
    gate_activation: Activation | None = None,
    activation: Activation | None = None,
    dtype: Any = "float32",
    name: str = "basic_gru",
) -> tuple[Variable, Variable]:
    """All outputs, (n, time, size), or (time, n, size) unless ``batch_first``, and the last states of all
    layers and directions, (layers * directions, n, size)."""

    def made(scope: str, weights: Any, bias: Any) -> Unit:
        return BasicGRUUnit(scope, hidden_size, weights, bias, gate_activation, activation, dtype)

    stack = _Stack(hidden_size, num_layers, bidirectional, batch_first, dropout_prob, "downgrade_in_infer")
    stack.write_units(made, name, param_attr, bias_attr)
    rows, (hidden,) = stack.along(input, [init_hidden], sequence_length)
    return rows, hidden


def basic_lstm(
    input: Variable,
    init_hidden: Variable | None,
    init_cell: Variable | None,
    hidden_size: int,
    num_layers: int = 1,
    sequence_length: Variable | None = None,
    dropout_prob: float | None = 0.0,
    bidirectional: bool = False,
    batch_first: bool = True,
    param_attr: Any = None,
    bias_attr: Any = None,
    gate_activation: Activation | None = None,
    activation: Activation | None = None,
    forget_bias: float = 1.0,
    dtype: Any = "float32",
    name: str = "basic_lstm",
) -> tuple[Variable, Variable, Variable]:
    """As ``basic_gru``, with the last cells as a third; all states begin with zeros where ``init_hidden`` is
    None. It drops by scaling what stays while it trains, where ``basic_gru`` scales what is inferred."""

    def made(scope: str, weights: Any, bias: Any) -> Unit:
        return BasicLSTMUnit(
            scope, hidden_size, weights, bias, gate_activation, activation, forget_bias, dtype
        )

    stack = _Stack(hidden_size, num_layers, bidirectional, batch_first, dropout_prob, "upscale_in_train")
    stack.write_units(made, name, param_attr, bias_attr)
    first = [None, None] if init_hidden is None else [init_hidden, init_cell]
    rows, (hidden, cell) = stack.along(input, first, sequence_length)
    return rows, hidden, cell


class _Stack:
    """Layers of units above each other, in one direction or in both."""

    def __init__(
        self,
        hidden_size: int,
        num_layers: int,
        bidirectional: bool,
        batch_first: bool,
        dropout_prob: float | None,
        dropping: str,
    ) -> None:
        self._size, self._layers = hidden_size, num_layers
        self._directions = 2 if bidirectional else 1
        self._batch_first = batch_first
        self._dropout_prob, self._dropping = dropout_prob or 0.0, dropping
        self._units: list[list[Unit]] = []

    def write_units(self, made: Callable[[str, Any, Any], Unit], name: str, weights: Any, bias: Any) -> None:
        """``made``: (name, attribute of weights, of a bias) to a unit."""
        for scope, way in (("_layers_", "_fw"), ("_reverse_layers_", "_bw"))[: self._directions]:
            self._units.append(
                [
                    made(
                        f"{name}{scope}{layer}",
                        named_after(weights, f"{way}_w_{layer}"),
                        named_after(bias, f"{way}_b_{layer}"),
                    )
                    for layer in range(self._layers)
                ]
            )

    def along(
        self, input: Variable, first: list[Variable | None], lengths: Variable | None
    ) -> tuple[Variable, list[Variable]]:
        """All outputs, and the last of each kind of state."""
        steps = layers.transpose(input, _SWAPPED) if self._batch_first else input
        shape = [self._layers, self._directions, -1, self._size]
        begins = [None if each is None else layers.reshape(each, shape) for each in first]
        mask = None if lengths is None else counting(steps, lengths)
        found = [self._one_way(steps, begins, mask, direction) for direction in range(self._directions)]
        rows = [each for each, _ in found]
        out = rows[0] if len(rows) == 1 else layers.concat(rows, axis=2)
        states = [self._joined([ends[kind] for _, ends in found]) for kind in range(len(first))]
        return layers.transpose(out, _SWAPPED) if self._batch_first else out, states

    def _joined(self, ways: list[Variable]) -> Variable:
        """Of each layer its directions one after another."""
        if len(ways) == 1:
            return ways[0]
        return layers.reshape(layers.concat(ways, axis=1), [self._layers * 2, -1, self._size])

    def _one_way(
        self, steps: Variable, begins: list[Variable | None], mask: Variable | None, direction: int
    ) -> tuple[Variable, list[Variable]]:
        first = [
            [None if each is None else each[layer, direction] for each in begins]
            for layer in range(self._layers)
        ]
        recurrence = layers.StaticRNN()
        recurrence.is_reverse = direction == 1
        states: list[list[Variable]] = []
        with recurrence.step():
            row = recurrence.step_input(steps)
            counts = None if mask is None else recurrence.step_input(mask)
            for layer, unit in enumerate(self._units[direction]):
                before = [self._memory(recurrence, each, steps) for each in first[layer]]
                made = unit(row, *before)
                after = list(made) if isinstance(made, tuple) else [made]
                if counts is not None:
                    after = [held(old, new, counts) for old, new in zip(before, after, strict=True)]
                for old, new in zip(before, after, strict=True):
                    recurrence.update_memory(old, new)
                states.append(after)
                row = self._dropped(after[0])
            recurrence.output(row, *(each for layer_states in states for each in layer_states))
        rows, *given = recurrence()
        last, kinds = 0 if direction else -1, len(begins)
        ends = [layers.concat([each[last] for each in given[kind::kinds]], axis=0) for kind in range(kinds)]
        return rows, [layers.reshape(each, [self._layers, -1, self._size]) for each in ends]

    def _memory(self, recurrence: Any, first: Variable | None, steps: Variable) -> Variable:
        if first is None:
            return recurrence.memory(batch_ref=steps, shape=[-1, self._size], ref_batch_dim_idx=1)
        return recurrence.memory(init=first)

    def _dropped(self, row: Variable) -> Variable:
        if self._dropout_prob <= 0.0:
            return row
        return layers.dropout(row, self._dropout_prob, dropout_implementation=self._dropping)
