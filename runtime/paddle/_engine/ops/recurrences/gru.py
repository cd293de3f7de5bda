"""GRU over packed sequences: products with few rows and fused kernels for each moment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from paddle._engine.errors import ShapeError
from paddle._engine.ops import shapes
from paddle._engine.ops.recurrences.moments import (
    RUNS,
    SLOTS,
    Factor,
    Timeline,
    check_first,
    checked,
    number,
    outside,
    scratch,
)
from paddle._engine.program import Form
from paddle._engine.registry import Call, Forms, Gradient, Kernel, Row, Steps


def _shape(forms: Forms) -> Mapping[str, Form]:
    state, h = checked(forms, gates=3, biases=(3,))
    if forms["Weight"].shape[0] != h:
        raise ShapeError(f"Weight must have {h} rows, got shape {list(forms['Weight'].shape)}")
    check_first(forms, "First", h)
    return {"Out": state, "Gates": replace(state, shape=(state.shape[0], 3 * h)), "Kept": state}


def halves(weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The weights of the two gates, (h, 2h), and after them those of the candidate, (h, h)."""
    h = len(weight)
    flat = weight.reshape(-1)
    return flat[: 2 * h * h].reshape(h, 2 * h), flat[2 * h * h :].reshape(h, h)


def _gru(call: Call) -> Steps:
    from paddle._engine.kernels import gru  # loads numba

    x, out, gates, kept = call["X"], call["Out"], call["Gates"], call["Kept"]
    (to_gates, to_candidate), h = halves(call["Weight"]), out.shape[1]
    is_single = x.dtype == np.float32
    open_gates = gru.open_gates if is_single else gru.numpy_open_gates
    close_gates = gru.close_gates if is_single else gru.numpy_close_gates
    gate, candidate, is_origin = _told(call)
    hidden, first = call.scratch["hidden"], call.scratch["first"]
    time, reach = Timeline(call, len(x)), Factor(to_gates, call.scratch["to_gates"])
    reach_candidate = Factor(to_candidate, call.scratch["to_candidate"])

    def pass_time() -> None:
        for now, earlier in time:
            former = hidden[earlier] if earlier.stop else first[: now.stop - now.start]
            is_reached = earlier.stop or "First" in call
            if is_reached:
                reach(former, gates[now, : 2 * h])
            open_gates(gates[now], former, kept[now], gate)
            if is_reached:
                reach_candidate(kept[now], gates[now, 2 * h :])
            close_gates(gates[now], former, hidden[now], candidate, is_origin)
        out[time.rows] = hidden

    yield reach.renew
    yield reach_candidate.renew
    yield time.renew
    yield partial(time.lay_first, call.wanted("First"), first)
    yield partial(np.take, x, time.rows, 0, gates, "clip")
    yield partial(np.add, gates, call["Bias"].reshape(-1), gates)
    yield pass_time


def _told(call: Call) -> tuple[int, int, bool]:
    """The activations of gates and candidate, and whether update gates say what is kept."""
    attrs = call.attrs
    return number(attrs["gate"]), number(attrs["candidate"]), bool(attrs["is_origin"])


def _gru_gradient(call: Call) -> Steps:
    from paddle._engine.kernels.gru import close_gradient, open_gradient  # loads numba

    out, gates, kept = call["Out"], call["Gates"], call["Kept"]
    (to_gates, to_candidate), h = halves(call["Weight"]), out.shape[1]
    hidden, former, given, dgates, at_kept = (
        call.scratch[name] for name in ("hidden", "former", "given", "dgates", "at_kept")
    )
    gate, candidate, is_origin = _told(call)
    time, back = Timeline(call, len(out)), Factor(to_gates.T, call.scratch["from_gates"])
    back_to_kept = Factor(to_candidate.T, call.scratch["from_candidate"])

    def pass_time() -> None:
        for now, earlier in time.backwards():
            count = now.stop - now.start
            close_gradient(gates[now], former[now], given[now], dgates[now], gate, candidate, is_origin)
            back_to_kept.onto_nothing(dgates[now, 2 * h :], at_kept[:count])
            open_gradient(gates[now], former[now], at_kept[:count], dgates[now], given[now], gate)
            if earlier.stop:
                np.add(given[earlier], given[now], given[earlier])
                back(dgates[now, : 2 * h], given[earlier])
            elif "First@GRAD" in call:
                back(dgates[now, : 2 * h], given[now])

    yield back.renew
    yield back_to_kept.renew
    yield time.renew
    yield partial(np.take, out, time.rows, 0, hidden, "clip")
    yield partial(time.former, hidden, call.wanted("First"), former)
    yield partial(np.take, call["Out@GRAD"], time.rows, 0, given, "clip")
    yield pass_time
    yield from outside(call, time, dgates)
    if "First@GRAD" in call:
        yield partial(time.give_first, given, call["First@GRAD"])
    if "Weight@GRAD" in call:
        at_gates, at_candidate = halves(call["Weight@GRAD"])
        yield partial(np.matmul, former.T, dgates[:, : 2 * h], at_gates)
        yield partial(np.matmul, kept.T, dgates[:, 2 * h :], at_candidate)
    if "Bias@GRAD" in call:
        yield shapes.sum_into(dgates, call["Bias@GRAD"].reshape(-1))


ROWS = (
    Row(  # is_origin: update gates say how much of the former state is kept, not how much is new
        type="gru",
        inputs=SLOTS,
        outputs=("Out", "Gates", "Kept"),
        attrs={"is_reverse": False, "gate": "sigmoid", "candidate": "tanh", "is_origin": False},
        shape=_shape,
        forward=Kernel(
            _gru,
            scratch("X", {"hidden": 1}, {"first": 1}, {"to_gates": (1, 2), "to_candidate": (1, 1)}, 3),
        ),
        gradient=Gradient(
            _gru_gradient,
            scratch(
                "Out",
                {"given": 1, "hidden": 1, "former": 1, "dgates": 3},
                {"at_kept": 1},
                {"from_gates": (2, 1), "from_candidate": (1, 1)},
                3,
            ),
            in_place={"X@GRAD": "Gates"},
            of=("X", "Weight", "Bias", "First"),
            needs=("Weight", "Offsets", "First", "Out", "Gates", "Kept"),
        ),
        runs=RUNS,
    ),
)
