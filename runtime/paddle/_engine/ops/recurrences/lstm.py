"""LSTM over packed sequences, with peepholes: products with few rows and a fused kernel for each moment.

Out are the hidden values; of ``lstmp`` what Projection makes of them, which is what is remembered, too, and
Weight has a row for each number of it. States are the cells' states, laid out in time (``in_rows`` brings
them back). Bias has four numbers for each state, and three more with peepholes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

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
    weight_gradient,
    with_weight,
)
from paddle._engine.program import Form
from paddle._engine.registry import Call, Forms, Gradient, Kernel, Row, Steps

Array = np.ndarray


def _shape(forms: Forms) -> Mapping[str, Form]:
    state, h = checked(forms, gates=4, biases=(4, 7))
    kept = h
    made = {"Gates": replace(state, shape=(state.shape[0], 4 * h)), "States": state, "Bent": state}
    if "Projection" in forms:
        kept = shapes.matrix(forms, "Projection").shape[1]
        made["Hidden"] = state
        if forms["Projection"].shape[0] != h:
            raise ShapeError(f"Projection must have {h} rows, got shape {list(forms['Projection'].shape)}")
    if forms["Weight"].shape[0] != kept:
        raise ShapeError(
            f"Weight must have a row for each of the {kept} numbers that are remembered, "
            f"got shape {list(forms['Weight'].shape)}"
        )
    check_first(forms, "First", kept)
    check_first(forms, "FirstState", h)
    return {"Out": replace(state, shape=(state.shape[0], kept)), **made}


class _Cell:
    """What an LSTM is told by its attributes, and its peepholes: zeros where Bias has none."""

    def __init__(self, call: Call) -> None:
        attrs, bias = call.attrs, call["Bias"]
        h = call["Weight"].shape[1] // 4
        self.kinds = (number(attrs["gate"]), number(attrs["candidate"]), number(attrs["state"]))
        self.clip = bias.dtype.type(attrs["clip"])
        self.is_peeping = bias.size == 7 * h
        self.bias = bias[0, : 4 * h]
        self.peep = bias[0, 4 * h :].reshape(3, h) if self.is_peeping else np.zeros((3, h), bias.dtype)


class _Projection:
    """What is remembered of hidden values: their product with Projection, bent, and at most so much.

    ``room``: that of its panels, or of those of the way back.
    """

    def __init__(self, call: Call, room: str, *, is_turned: bool = False) -> None:
        self._kind = number(call.attrs["projection"])
        self._clip = call["Projection"].dtype.type(call.attrs["projection_clip"])
        matrix = call["Projection"]
        self.factor = Factor(matrix.T if is_turned else matrix, call.scratch[room])

    def __call__(self, hidden: Array, kept: Array) -> None:
        from paddle._engine.kernels.bends import bend, numpy_bend  # loads numba

        self.factor.onto_nothing(hidden, kept)
        if kept.dtype == np.float32:
            bend(kept.reshape(-1), self._kind)
        else:
            numpy_bend(kept, self._kind)
        if self._clip > 0:
            np.clip(kept, -self._clip, self._clip, kept)

    def back(self, kept: Array, given: Array, out: Array) -> None:
        """The gradient of hidden values from that ``given`` of what is kept, which becomes that of the
        product."""
        from paddle._engine.kernels.bends import unbend  # loads numba

        unbend(kept.reshape(-1), self._kind, self._clip, given.reshape(-1))
        self.factor.onto_nothing(given, out)


def _lstm(call: Call) -> Steps:
    from paddle._engine.kernels import lstm  # loads numba

    x, out, gates, states, bent = (call[slot] for slot in ("X", "Out", "Gates", "States", "Bent"))
    told, kernel = _Cell(call), lstm.cell if x.dtype == np.float32 else lstm.numpy_cell
    kept, first, state = (call.scratch[name] for name in ("kept", "first", "state"))
    time, reach = Timeline(call, len(x)), Factor(call["Weight"], call.scratch["weight"])
    projection = _Projection(call, "projection") if "Projection" in call else None
    hidden = kept if projection is None else call["Hidden"]

    def pass_time() -> None:
        for now, earlier in time:
            count = now.stop - now.start
            former = states[earlier] if earlier.stop else state[:count]
            if earlier.stop or "First" in call:
                reach(kept[earlier] if earlier.stop else first[:count], gates[now])
            kernel(gates[now], told.peep, former, states[now], bent[now], hidden[now], told.kinds, told.clip)
            if projection is not None:
                projection(hidden[now], kept[now])
        out[time.rows] = kept

    yield reach.renew
    if projection is not None:
        yield projection.factor.renew
    yield time.renew
    yield partial(time.lay_first, call.wanted("First"), first)
    yield partial(time.lay_first, call.wanted("FirstState"), state)
    yield partial(np.take, x, time.rows, 0, gates, "clip")
    yield partial(np.add, gates, told.bias, gates)
    yield pass_time


def _lstm_gradient(call: Call) -> Steps:
    from paddle._engine.kernels.lstm import cell_gradient  # loads numba

    gates, states, bent, told = call["Gates"], call["States"], call["Bent"], _Cell(call)
    given, carried, state, first, dgates = (
        call.scratch[name] for name in ("given", "carried", "state", "first", "dgates")
    )
    time, back = Timeline(call, len(gates)), Factor(call["Weight"].T, call.scratch["turned"])
    at_states, is_begun = call.wanted("States@GRAD"), "First@GRAD" in call
    projected = _Projected(call, time, given) if "Projection" in call else None

    def pass_time() -> None:
        carried.fill(0)
        for now, earlier in time.backwards():
            count = now.stop - now.start
            former, at_state = states[earlier] if earlier.stop else state[:count], carried[:count]
            if at_states is not None:
                np.add(at_state, at_states[now], at_state)
            at_hidden = given[now] if projected is None else projected(now)
            seen = (gates[now], told.peep, former, states[now], bent[now])
            cell_gradient(*seen, at_hidden, at_state, dgates[now], told.kinds, told.clip)
            if earlier.stop:
                back(dgates[now], given[earlier])
            elif is_begun:
                back.onto_nothing(dgates[now], first[:count])

    yield back.renew
    yield time.renew
    yield partial(time.lay_first, call.wanted("FirstState"), state)
    yield partial(np.take, call["Out@GRAD"], time.rows, 0, given, "clip")
    if projected is not None:
        yield from projected.before()
    yield pass_time
    yield from outside(call, time, dgates)
    if is_begun:
        yield partial(time.give_first, first, call["First@GRAD"])
    if "FirstState@GRAD" in call:
        yield partial(time.give_first, carried, call["FirstState@GRAD"])
    if projected is not None:
        yield from projected.behind()
    yield from _of_weight(call, time)
    yield from _of_bias(call, time, told)


class _Projected:
    """The way back through a projection: of each moment the gradient of hidden values from that of what is
    remembered of them, ``given``, which becomes that of the product."""

    def __init__(self, call: Call, time: Timeline, given: Array) -> None:
        self._call, self._time, self._given = call, time, given
        self._projection = _Projection(call, "unprojected", is_turned=True)
        self._kept = call.scratch["kept"]

    def before(self) -> Steps:
        yield self._projection.factor.renew
        yield partial(np.take, self._call["Out"], self._time.rows, 0, self._kept, "clip")

    def __call__(self, now: slice) -> Array:
        at_hidden = self._call.scratch["at_hidden"][: now.stop - now.start]
        self._projection.back(self._kept[now], self._given[now], at_hidden)
        return at_hidden

    def behind(self) -> Steps:
        if "Projection@GRAD" in self._call:
            yield partial(np.matmul, self._call["Hidden"].T, self._given, self._call["Projection@GRAD"])


def _of_weight(call: Call, time: Timeline) -> Steps:
    """What was remembered one moment earlier, times the gradient of the gates. Behind all who read ``given``:
    it makes room for what is remembered now."""
    if "Weight@GRAD" in call:
        kept, former = call.scratch["given"], call.scratch["former"]
        yield partial(np.take, call["Out"], time.rows, 0, kept, "clip")
        yield partial(time.former, kept, call.wanted("First"), former)
        yield from weight_gradient(call, former, call.scratch["dgates"])


def _of_bias(call: Call, time: Timeline, told: _Cell) -> Steps:
    if "Bias@GRAD" not in call:
        return
    states, dgates, former = call["States"], call.scratch["dgates"], call.scratch["former_state"]
    h, dbias = states.shape[1], call["Bias@GRAD"].reshape(-1, states.shape[1])
    yield shapes.sum_into(dgates, dbias[:4].reshape(-1))
    if told.is_peeping:
        yield partial(time.former, states, call.wanted("FirstState"), former)
        yield partial(np.einsum, "ij,ij->j", dgates[:, h : 2 * h], former, out=dbias[4])
        yield partial(np.einsum, "ij,ij->j", dgates[:, 2 * h : 3 * h], former, out=dbias[5])
        yield partial(np.einsum, "ij,ij->j", dgates[:, 3 * h :], states, out=dbias[6])


KEPT = 0
"""As wide as what is remembered: see moments.scratch."""
_ATTRS: Mapping[str, Any] = {
    "is_reverse": False,
    "gate": "sigmoid",
    "candidate": "tanh",
    "state": "tanh",
    "clip": 0.0,
}
_OF = ("X", "Weight", "Bias", "First", "FirstState")
_NEEDS = ("Weight", "Bias", "Offsets", "First", "FirstState", "Out", "Gates", "States", "Bent")
_BACK = {"given": KEPT, "former": KEPT, "former_state": 1, "dgates": 4}


def _row(type: str, projection: Mapping[str, Any], forward: Kernel, gradient: Gradient) -> Row:
    """With the attributes of a projection, and its slots, or none."""
    return Row(
        type=type,
        inputs=(*SLOTS, "FirstState?", *(["Projection"] if projection else [])),
        outputs=("Out", "Gates", "States", "Bent", *(["Hidden"] if projection else [])),
        attrs={**_ATTRS, **projection},
        shape=_shape,
        forward=forward,
        gradient=gradient,
        runs=RUNS,
    )


ROWS = (
    _row(
        "lstm",
        {},
        Kernel(_lstm, scratch("X", {"kept": KEPT}, {"first": KEPT, "state": 1}, {"weight": (KEPT, 4)}, 4)),
        Gradient(
            _lstm_gradient,
            with_weight(
                scratch("Gates", _BACK, {"carried": 1, "state": 1, "first": KEPT}, {"turned": (4, KEPT)}, 4),
                "Gates",
            ),
            in_place={"X@GRAD": "Gates"},
            of=_OF,
            needs=_NEEDS,
            perhaps=("States",),
        ),
    ),
    _row(
        "lstmp",
        {"projection": "tanh", "projection_clip": 0.0},
        Kernel(
            _lstm,
            scratch(
                "X",
                {"kept": KEPT},
                {"first": KEPT, "state": 1},
                {"weight": (KEPT, 4), "projection": (1, KEPT)},
                4,
            ),
        ),
        Gradient(
            _lstm_gradient,
            with_weight(
                scratch(
                    "Gates",
                    {**_BACK, "kept": KEPT},
                    {"carried": 1, "state": 1, "first": KEPT, "at_hidden": 1},
                    {"turned": (4, KEPT), "unprojected": (KEPT, 1)},
                    4,
                ),
                "Gates",
            ),
            in_place={"X@GRAD": "Gates"},
            of=(*_OF, "Projection"),
            needs=(*_NEEDS, "Projection", "Hidden"),
            perhaps=("States",),
        ),
    ),
)
