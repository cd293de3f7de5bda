"""A layer of ``nn.LSTM`` or ``nn.GRU`` as one operator, as the original appends it.

It must never know how the operator is computed. Guarantee: what it gives is what the cells, appended for each
step, would give.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paddle._program.writing.layer_helper import LayerHelper
from paddle.nn.layer.cells import GRUCell, LSTMCell
from paddle.tensor._append import append
from paddle.tensor.manipulation import stack, transpose, unstack

_MODES = {LSTMCell: "LSTM", GRUCell: "GRU"}
_PARTS = (("weight_ih", "weight_hh"), ("bias_ih", "bias_hh"))
_SWAPPED = [1, 0, 2]


def is_whole(cells: Sequence[Any]) -> bool:
    """Whether cells, one for each direction, are an operator: with all weights and both biases."""
    return all(
        type(cell) in _MODES and all(getattr(cell, name) is not None for name in sum(_PARTS, ()))
        for cell in cells
    )


def layer(
    cells: Sequence[Any], inputs: Any, begins: Sequence[Any] | None, lengths: Any, is_time_major: bool
) -> tuple[Any, list[Any]]:
    """Append the layer; gives the outputs, those of two cells side by side, and the states of each.
    ``begins``: of each cell its states, zeros if None."""
    steps, mode = inputs if is_time_major else transpose(inputs, _SWAPPED), _MODES[type(cells[0])]
    weights = [getattr(cell, name) for pair in _PARTS for cell in cells for name in pair]
    states = _zeros(cells, steps, mode) if begins is None else _together(begins)
    attrs = {
        "mode": mode,
        "is_bidirec": len(cells) == 2,
        "input_size": cells[0].input_size,
        "hidden_size": cells[0].hidden_size,
        "num_layers": 1,
        "dropout_prob": 0.0,
        "is_test": False,
    }
    found, ends = _appended(steps, weights, states, lengths, attrs)
    each = [unstack(end, 0, len(cells)) for end in ends]
    of_cells = [one[0] if len(one) == 1 else tuple(one) for one in zip(*each, strict=True)]
    return found if is_time_major else transpose(found, _SWAPPED), of_cells


def _appended(
    steps: Any, weights: list[Any], states: list[Any], lengths: Any, attrs: dict[str, Any]
) -> tuple[Any, list[Any]]:
    """The operator; gives its outputs and the states at the end."""
    helper = LayerHelper("rnn")
    found, *ends = (helper.create_variable_for_type_inference(steps.dtype) for _ in range(1 + len(states)))
    kept = [helper.create_variable_for_type_inference("uint8", stop_gradient=True) for _ in range(2)]
    slots = {"Input": [steps], "WeightList": weights, "PreState": states}
    if lengths is not None:
        slots["SequenceLength"] = [lengths]
    outputs = {"Out": [found], "State": ends, "Reserve": kept[:1], "DropoutState": kept[1:]}
    helper.append_op(type="rnn", inputs=slots, outputs=outputs, attrs=attrs)
    return found, ends


def _zeros(cells: Sequence[Any], steps: Any, mode: str) -> list[Any]:
    attrs = {
        "shape": [len(cells), -1, cells[0].hidden_size],
        "value": 0.0,
        "dtype": steps.dtype,
        "input_dim_idx": 1,
        "output_dim_idx": 1,
    }
    zeros = append("fill_constant_batch_size_like", {"Input": steps}, attrs, stop_gradient=True)
    return [zeros] * (2 if mode == "LSTM" else 1)


def _together(begins: Sequence[Any]) -> list[Any]:
    listed = [each if isinstance(each, (list, tuple)) else (each,) for each in begins]
    return [stack(list(each), 0) for each in zip(*listed, strict=True)]
