"""One moment of an LSTM or a GRU, for steps that a program writes itself (steps/): ops/recurrences has all
moments of sequences in one operator.

X holds for each row what reaches the gates, State the state of the moment before. Sources of the semantics:
v2's ``lstm_step`` and ``gru_step``. Other activations than the usual ones are not fused here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from paddle._engine.errors import ShapeError
from paddle._engine.ops import shapes
from paddle._engine.ops.recurrences.gru import halves
from paddle._engine.program import Form
from paddle._engine.registry import KNOWN, Call, Forms, Gradient, Kernel, Row, Steps


def _state(forms: Forms, gates: int, bias: int) -> Form:
    """The form of State, to which the others fit."""
    x, state = shapes.matrix(forms, "X"), shapes.matrix(forms, "State")
    h = state.shape[1]
    if not shapes.agree(x.shape[1], gates * h) or not shapes.agree(x.shape[0], state.shape[0]):
        raise ShapeError(
            f"State has shape {list(state.shape)}, so X has {gates * h} columns: {list(x.shape)}"
        )
    if forms["Bias"].shape != (1, bias * h):
        raise ShapeError(f"Bias must have shape {[1, bias * h]}, got {list(forms['Bias'].shape)}")
    return state


def _lstm_shape(forms: Forms) -> Mapping[str, Form]:
    state = _state(forms, gates=4, bias=3)
    return {"Out": state, "Next": state, "Gates": forms["X"], "Bent": state}


def _lstm(call: Call) -> Steps:
    from paddle._engine.kernels import lstm  # loads numba

    x, former, peep = call["X"], call["State"], call["Bias"].reshape(3, -1)
    cell = lstm.cell if x.dtype == np.float32 else lstm.numpy_cell
    yield partial(np.copyto, call["Gates"], x)
    made = (call["Next"], call["Bent"], call["Out"])
    yield partial(cell, call["Gates"], peep, former, *made, lstm.USUAL, x.dtype.type(0))


def _lstm_gradient(call: Call) -> Steps:
    from paddle._engine.kernels.lstm import USUAL, cell_gradient  # loads numba

    gates, former, state, bent = (call[slot] for slot in ("Gates", "State", "Next", "Bent"))
    peep, h = call["Bias"].reshape(3, -1), state.shape[1]
    dgates = call.get("X" + KNOWN, call.get("X@GRAD", call.scratch["dgates"]))
    if "X" + KNOWN not in call:
        carried = call.get("State@GRAD", call.scratch["carried"])
        yield partial(np.copyto, carried, call["Next@GRAD"])
        moment, told = (gates, peep, former, state, bent), (USUAL, gates.dtype.type(0))
        yield partial(cell_gradient, *moment, call["Out@GRAD"], carried, dgates, *told)
    if "Bias@GRAD" in call:
        dpeep = call["Bias@GRAD"].reshape(3, -1)
        for gate, seen, out in ((1, former, dpeep[0]), (2, former, dpeep[1]), (3, state, dpeep[2])):
            yield partial(np.einsum, "ij,ij->j", dgates[:, gate * h : (gate + 1) * h], seen, out=out)


def _gru_shape(forms: Forms) -> Mapping[str, Form]:
    state = _state(forms, gates=3, bias=3)
    h = state.shape[1]
    if forms["Weight"].shape != (h, 3 * h):
        raise ShapeError(f"Weight must have shape {[h, 3 * h]}, got {list(forms['Weight'].shape)}")
    return {"Out": state, "Gates": forms["X"], "Kept": state}


def _gru(call: Call) -> Steps:
    from paddle._engine.kernels import gru  # loads numba
    from paddle._engine.kernels.bends import SIGMOID, TANH

    x, former, out, gates, kept = (call[slot] for slot in ("X", "State", "Out", "Gates", "Kept"))
    (to_gates, to_candidate), h = halves(call["Weight"]), former.shape[1]
    is_single = x.dtype == np.float32
    open_gates = gru.open_gates if is_single else gru.numpy_open_gates
    close_gates = gru.close_gates if is_single else gru.numpy_close_gates
    reach = call.scratch["reach"]
    candidate = reach.reshape(-1)[: former.size].reshape(former.shape)
    yield partial(np.add, x, call["Bias"].reshape(-1), gates)
    yield partial(np.matmul, former, to_gates, reach)
    yield partial(np.add, gates[:, : 2 * h], reach, gates[:, : 2 * h])
    yield partial(open_gates, gates, former, kept, SIGMOID)
    yield partial(np.matmul, kept, to_candidate, candidate)
    yield partial(np.add, gates[:, 2 * h :], candidate, gates[:, 2 * h :])
    yield partial(close_gates, gates, former, out, TANH, False)


def _gru_gradient(call: Call) -> Steps:
    former, kept, grad = call["State"], call["Kept"], call["Out@GRAD"]
    to_gates, h = halves(call["Weight"])[0], former.shape[1]
    dgates = call.get("X" + KNOWN, call.get("X@GRAD", call.scratch["dgates"]))
    if "X" + KNOWN not in call:
        yield from _through_gates(call, grad, dgates)
    if "State@GRAD" in call:
        given, back = call.scratch["given"], call["State@GRAD"]
        yield partial(np.matmul, dgates[:, : 2 * h], to_gates.T, back)
        yield partial(np.add, back, given, back)
    if "Weight@GRAD" in call:
        at_gates, at_candidate = halves(call["Weight@GRAD"])
        yield partial(np.matmul, former.T, dgates[:, : 2 * h], at_gates)
        yield partial(np.matmul, kept.T, dgates[:, 2 * h :], at_candidate)
    if "Bias@GRAD" in call:
        yield shapes.sum_into(dgates, call["Bias@GRAD"])


def _through_gates(call: Call, grad: np.ndarray, dgates: np.ndarray) -> Steps:
    """Fill ``dgates``, the gradient of what reached the gates, and what of it goes past these: ``given``."""
    from paddle._engine.kernels.bends import SIGMOID, TANH
    from paddle._engine.kernels.gru import close_gradient, open_gradient  # loads numba

    former, gates, (_, to_candidate) = call["State"], call["Gates"], halves(call["Weight"])
    given, at_kept, h = call.scratch["given"], call.scratch["at_kept"], former.shape[1]
    yield partial(np.copyto, given, grad)
    yield partial(close_gradient, gates, former, given, dgates, SIGMOID, TANH, False)
    yield partial(np.matmul, dgates[:, 2 * h :], to_candidate.T, at_kept)
    yield partial(open_gradient, gates, former, at_kept, dgates, given, SIGMOID)


def _lstm_scratch(forms: Forms) -> Mapping[str, Form]:
    return {"dgates": forms["Gates"], "carried": forms["State"]}


def _gru_scratch(forms: Forms) -> Mapping[str, Form]:
    return {"dgates": forms["Gates"], "given": forms["State"], "at_kept": forms["State"]}


def _reach(forms: Forms) -> Mapping[str, Form]:
    state = forms["State"]
    return {"reach": replace(state, shape=(state.shape[0], 2 * state.shape[1]))}


def _spread_shape(forms: Forms) -> Mapping[str, Form]:
    x, ends = shapes.matrix(forms, "X"), shapes.integers(forms, "Offsets").shape[0]
    return {"Out": replace(x, shape=(ends - 1 if ends > 0 else -1, x.shape[1]))}


def _spread(call: Call) -> Steps:
    yield partial(np.copyto, call["Out"], call["X"])


def _spread_gradient(call: Call) -> Steps:
    yield partial(np.add.reduce, call["Out@GRAD"], axis=0, out=call["X@GRAD"], keepdims=True)


ROWS = (
    Row(  # the one row that X has, for each sequence
        type="spread_row",
        inputs=("X", "Offsets"),
        shape=_spread_shape,
        forward=Kernel(_spread),
        gradient=Gradient(_spread_gradient),
    ),
    Row(
        type="lstm_step",
        inputs=("X", "State", "Bias"),
        outputs=("Out", "Next", "Gates", "Bent"),
        shape=_lstm_shape,
        forward=Kernel(_lstm),
        gradient=Gradient(
            _lstm_gradient,
            _lstm_scratch,
            of=("X", "State", "Bias"),
            needs=("State", "Bias", "Next", "Gates", "Bent"),
            also=("Next",),
            reuses="X",
        ),
    ),
    Row(
        type="gru_step",
        inputs=("X", "State", "Weight", "Bias"),
        outputs=("Out", "Gates", "Kept"),
        shape=_gru_shape,
        forward=Kernel(_gru, _reach),
        gradient=Gradient(
            _gru_gradient,
            _gru_scratch,
            of=("X", "State", "Weight", "Bias"),
            needs=("State", "Weight", "Gates", "Kept"),
            reuses="X",
        ),
    ),
)
