"""Rows of recurrent layers over batches that are laid out in time: ``rnn`` of 2.x, of LSTM and of GRU.

Weights stand in the original's order: for each layer and direction what multiplies the input and what
multiplies the state, and behind all of these the two biases of each. It must never know a cell of a program.
"""

from __future__ import annotations

from collections.abc import Sequence

from paddle._engine.program import Variable as EngineVariable
from paddle._program.description.operator import Operator
from paddle._program.errors import BadProgram
from paddle._program.lowering.lowering import Lowering
from paddle._program.lowering.op_rows import lowers
from paddle._program.ops.dense import matrix
from paddle._program.ops.sizes import in_shape

_ALL_STEPS = 2**40
"""A length that no sequence has: all of its steps count."""

Found = tuple[EngineVariable, list[EngineVariable]]


@lowers(
    "rnn",
    dropout_prob=0.0,
    is_bidirec=False,
    input_size=10,
    hidden_size=100,
    num_layers=1,
    mode="RNN_TANH",
    seed=0,
    is_test=False,
)
def _rnn(low: Lowering, op: Operator) -> None:
    mode, ways, layers = op.attr("mode"), 1 + bool(op.attr("is_bidirec")), int(op.attr("num_layers"))
    if mode not in _LAYERS:
        raise BadProgram(f"operator 'rnn' has the mode {' or '.join(_LAYERS)} here, not {mode!r}")
    if layers > 1 and op.attr("dropout_prob") and not (op.attr("is_test") or low.is_test):
        raise BadProgram("operator 'rnn' drops nothing between its layers here: write one for each layer")
    weights, states = (
        [each.variable for each in low.inputs(op, slot)] for slot in ("WeightList", "PreState")
    )
    x, ends = low.input(op, "Input").variable, list[list[EngineVariable]]()
    lengths = _lengths(low, op, x)
    for layer in range(layers):
        outs = []
        for way in range(ways):
            at = layer * ways + way
            own = weights[2 * at : 2 * at + 2] + weights[2 * (layers * ways + at) :][:2]
            begin = [_one(low, each, at) for each in states]
            out, last = _LAYERS[mode](low, x, own, begin, lengths, way == 1)
            outs.append(out)
            ends.append(last)
        x = outs[0] if ways == 1 else low.op("concat", {"axis": 2}, X=outs)
    low.give(op, "Out", x, ())
    for index, of_all in enumerate(zip(*ends, strict=True)):
        parts = [low.op("unsqueeze", {"axes": (0,)}, X=each) for each in of_all]
        whole = parts[0] if len(parts) == 1 else low.op("concat", {"axis": 0}, X=parts)
        low.give(op, "State", whole, (), index=index)


def _lengths(low: Lowering, op: Operator, x: EngineVariable) -> EngineVariable:
    if low.has(op, "SequenceLength"):
        found = low.input(op, "SequenceLength").variable
        return found if len(found.shape) == 1 else low.op("reshape", {"shape": (-1,)}, X=found)
    told = {"shape": (-1,), "value": _ALL_STEPS, "dtype": "int64", "input_dim_idx": 1, "output_dim_idx": 0}
    return low.op("fill_constant_batch_size_like", told, X=x)


def _rows(low: Lowering, x: EngineVariable, start: int, end: int) -> EngineVariable:
    return low.op("slice", {"axes": (0,), "starts": (start,), "ends": (end,)}, X=x)


def _one(low: Lowering, state: EngineVariable, at: int) -> EngineVariable:
    """The state of one layer and direction."""
    own = state if state.shape[0] == 1 else _rows(low, state, at, at + 1)
    return low.op("squeeze", {"axes": (0,)}, X=own)


def _told(low: Lowering, x: EngineVariable, weight: EngineVariable, bias: EngineVariable) -> EngineVariable:
    """What the input says to the gates at all moments."""
    rows = matrix(low, x, 2, weight.shape[1])
    product = low.op("matmul", {"transpose_Y": True}, X=rows, Y=weight)
    reached = low.op("elementwise_add", X=product, Y=bias)
    return in_shape(low, reached, (*x.shape[:2], weight.shape[0]), x)


def _turned(low: Lowering, weight: EngineVariable) -> EngineVariable:
    return low.op("transpose", {"axis": (1, 0)}, X=weight)


def _lstm(
    low: Lowering,
    x: EngineVariable,
    weights: Sequence[EngineVariable],
    begin: Sequence[EngineVariable],
    lengths: EngineVariable,
    is_reverse: bool,
) -> Found:
    """The original's gates are input, forget, candidate, output; the engine's begin with the candidate."""
    h = weights[1].shape[1]

    def ordered(each: EngineVariable) -> EngineVariable:
        bounds = ((2 * h, 3 * h), (0, 2 * h), (3 * h, 4 * h))
        return low.op("concat", {"axis": 0}, X=[_rows(low, each, *bound) for bound in bounds])

    bias = ordered(low.op("elementwise_add", X=weights[2], Y=weights[3]))
    told = _told(low, x, ordered(weights[0]), bias)
    by_state, (hidden, cell) = _turned(low, ordered(weights[1])), begin
    slots = {"X": told, "Weight": by_state, "Hidden": hidden, "Cell": cell, "Lengths": lengths}
    made = low.builder.ops("lstm_layer", {"is_reverse": is_reverse}, **slots)
    return made["Out"], [made["LastHidden"], made["LastCell"]]


def _gru(
    low: Lowering,
    x: EngineVariable,
    weights: Sequence[EngineVariable],
    begin: Sequence[EngineVariable],
    lengths: EngineVariable,
    is_reverse: bool,
) -> Found:
    """Of the second bias what belongs to the two gates goes with the first."""
    h, second = weights[1].shape[1], weights[3]
    gates = low.op("elementwise_add", X=_rows(low, weights[2], 0, 2 * h), Y=_rows(low, second, 0, 2 * h))
    bias = low.op("concat", {"axis": 0}, X=[gates, _rows(low, weights[2], 2 * h, 3 * h)])
    slots = {
        "X": _told(low, x, weights[0], bias),
        "Weight": _turned(low, weights[1]),
        "Bias": _rows(low, second, 2 * h, 3 * h),
        "Hidden": begin[0],
        "Lengths": lengths,
    }
    made = low.builder.ops("gru_layer", {"is_reverse": is_reverse}, **slots)
    return made["Out"], [made["LastHidden"]]


_LAYERS = {"LSTM": _lstm, "GRU": _gru}
