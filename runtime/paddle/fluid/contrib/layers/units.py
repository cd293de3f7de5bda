"""One step of an LSTM or of a GRU, whose parameters come with the first step that is written.

It must never know a sequence. Guarantee: gates lie in a weight as 1.8.5 lays them, so that its parameters are
read here: of an LSTM in, cell, forget, out; of a GRU reset, update, and the candidate by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any

from paddle._program.description import unique_name
from paddle._program.description.variable import Variable
from paddle._program.writing.layer_helper import LayerHelper
from paddle._program.writing.param_attr import ParamAttr
from paddle.fluid import layers

__all__ = ["BasicGRUUnit", "BasicLSTMUnit"]

Activation = Callable[[Variable], Variable]


def named_after(attr: Any, suffix: str) -> Any:
    """An attribute for another parameter: a name of one's own has ``suffix`` behind it."""
    given = ParamAttr._to_attr(attr)
    if given is False or given.name is None:
        return attr
    made = copy(given)
    made.name += suffix
    return made


class _Unit:
    """What both have in common: parameters that are made once, by the size of the first input."""

    def __init__(
        self, name_scope: str, hidden_size: int, param_attr: Any, bias_attr: Any, dtype: Any
    ) -> None:
        name = unique_name.generate(f"{name_scope}/{type(self).__name__}")
        self._helper = LayerHelper(type(self).__name__, name=name)
        self._hidden_size = hidden_size
        self._param_attr, self._bias_attr = param_attr, bias_attr
        self._dtype = dtype
        self._parameters: dict[str, Any] = {}

    def full_name(self) -> str:
        """What names of its parameters begin with."""
        return self._helper.name

    def parameters(self) -> list[Any]:
        """Its parameters, once a step has been written."""
        return [each for each in self._parameters.values() if each is not None]

    def _parameter(self, part: str, attr: Any, shape: list[int], is_bias: bool = False) -> Any:
        if part not in self._parameters:
            made = self._helper.create_parameter(attr, shape, self._dtype, is_bias)
            self._parameters[part] = made
        return self._parameters[part]

    def _weighed(self, part: str, suffix: str, given: list[Variable], gates: int) -> Variable:
        """What weights and a bias make of several inputs side by side."""
        joined = layers.concat(given, 1)
        sizes = [int(joined.shape[-1]), gates * self._hidden_size]
        weight = self._parameter(f"{part}_w", named_after(self._param_attr, suffix), sizes)
        return layers.matmul(joined, weight)

    def _shifted(self, part: str, suffix: str, sums: Variable, gates: int) -> Variable:
        attr = named_after(self._bias_attr, suffix)
        bias = self._parameter(f"{part}_b", attr, [gates * self._hidden_size], is_bias=True)
        return sums if bias is None else layers.elementwise_add(sums, bias)


class BasicLSTMUnit(_Unit):
    """``unit(input, hidden, cell)`` gives the next two: c = forget * c + in * tanh(j); h = tanh(c) * out.

    As 1.8.5 does, it takes ``gate_activation`` and ``activation`` and computes sigmoid and tanh all the same.
    """

    def __init__(
        self,
        name_scope: str,
        hidden_size: int,
        param_attr: Any = None,
        bias_attr: Any = None,
        gate_activation: Activation | None = None,
        activation: Activation | None = None,
        forget_bias: float = 1.0,
        dtype: Any = "float32",
    ) -> None:
        super().__init__(name_scope, hidden_size, param_attr, bias_attr, dtype)
        self._forget_bias = float(forget_bias)

    def __call__(
        self, input: Variable, pre_hidden: Variable, pre_cell: Variable
    ) -> tuple[Variable, Variable]:
        """Append a step."""
        return self.forward(input, pre_hidden, pre_cell)

    def forward(self, input: Variable, pre_hidden: Variable, pre_cell: Variable) -> tuple[Variable, Variable]:
        """Append a step."""
        sums = self._shifted("gates", "", self._weighed("gates", "", [input, pre_hidden], 4), 4)
        enters, joins, forgets, leaves = layers.split(sums, 4, dim=-1)
        stays = layers.sigmoid(layers.scale(forgets, bias=self._forget_bias))
        cell = pre_cell * stays + layers.sigmoid(enters) * layers.tanh(joins)
        return layers.tanh(cell) * layers.sigmoid(leaves), cell


class BasicGRUUnit(_Unit):
    """``unit(input, hidden)`` gives the next: h = update * h + (1 - update) * candidate."""

    def __init__(
        self,
        name_scope: str,
        hidden_size: int,
        param_attr: Any = None,
        bias_attr: Any = None,
        gate_activation: Activation | None = None,
        activation: Activation | None = None,
        dtype: Any = "float32",
    ) -> None:
        super().__init__(name_scope, hidden_size, param_attr, bias_attr, dtype)
        self._gate_activation = gate_activation or layers.sigmoid
        self._activation = activation or layers.tanh

    def __call__(self, input: Variable, pre_hidden: Variable) -> Variable:
        """Append a step."""
        return self.forward(input, pre_hidden)

    def forward(self, input: Variable, pre_hidden: Variable) -> Variable:
        """Append a step."""
        self._declare(int(input.shape[-1]))
        sums = self._weighed("gates", "_gate", [input, pre_hidden], 2)
        gates = self._gate_activation(self._shifted("gates", "_gate", sums, 2))
        reset, update = layers.split(gates, 2, dim=1)
        told = self._weighed("candidate", "_candidate", [input, reset * pre_hidden], 1)
        candidate = self._activation(self._shifted("candidate", "_candidate", told, 1))
        return update * pre_hidden + (1 - update) * candidate

    def _declare(self, input_size: int) -> None:
        """Parameters in 1.8.5's order: weights first, whose numbers their names have."""
        rows = input_size + self._hidden_size
        for part, gates in (("gates", 2), ("candidate", 1)):
            suffix = "_gate" if part == "gates" else "_candidate"
            attr = named_after(self._param_attr, suffix)
            self._parameter(f"{part}_w", attr, [rows, gates * self._hidden_size])
