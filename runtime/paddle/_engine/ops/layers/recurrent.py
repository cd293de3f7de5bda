"""LSTM and GRU of batches that are laid out in time: a layer, in one direction, from given states.

X (time, n, gates * h) is what the input says to the gates, biases included; Weight (h, gates * h) brings what
the state before says. Sequence i has Lengths[i] steps, at most all: those behind give zeros and change no
state. At each moment only the sequences that are there are computed, the longest ones first.

Sources of the semantics: 2.x's ``rnn``. Gates lie in the order of the kernels: of LSTM candidate, input,
forget, output; of GRU reset, update, candidate, where Bias (h,) belongs to what the state says to the last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from paddle._engine.errors import ShapeError
from paddle._engine.ops import shapes
from paddle._engine.ops.recurrences.moments import Factor, room_of, weight_gradient, with_weight
from paddle._engine.program import Form
from paddle._engine.registry import Call, Forms, Gradient, Kernel, Row, Steps

Scratch = Callable[[Forms], Mapping[str, Form]]


class Moments:
    """Which sequences are there at each moment, renewed by ``renew`` for the lengths of a run."""

    def __init__(self, call: Call, time: int) -> None:
        self._lengths, self._is_reverse, self._time = (
            call["Lengths"],
            call.attrs["is_reverse"],
            time,
        )
        self.order = np.arange(len(self._lengths))
        self._counts: list[int] = []

    def renew(self) -> None:
        """Look at the lengths."""
        order = np.argsort(-self._lengths, kind="stable")
        np.copyto(self.order, order)
        self._counts = np.searchsorted(-self._lengths[order], -np.arange(self._time), "left").tolist()

    def __iter__(self) -> Iterator[tuple[int, int]]:
        """Each moment that any sequence has, and how many have it: the first ones of ``order``."""
        times = range(self._time)
        for time in reversed(times) if self._is_reverse else times:
            if self._counts[time]:
                yield time, self._counts[time]

    def backwards(self) -> list[tuple[int, int]]:
        """The same from the last moment."""
        return list(self)[::-1]

    def clear(self, *arrays: np.ndarray) -> None:
        """Zeros for sequences that are not there."""
        for time, count in enumerate(self._counts):
            if count < len(self.order):
                for array in arrays:
                    array[time, count:] = 0


def _shape(forms: Forms, gates: int) -> tuple[Form, Form]:
    """The forms of Out and of a state."""
    x, weight, state = forms["X"], shapes.matrix(forms, "Weight"), shapes.matrix(forms, "Hidden")
    h, lengths = weight.shape[0], shapes.integers(forms, "Lengths").shape
    shapes.alike(forms, "X", "Weight")
    if weight.shape[1] != gates * h or len(x.shape) != 3 or not shapes.agree(x.shape[2], gates * h):
        raise ShapeError(
            f"with a state of {h}, X is (time, n, {gates * h}) and Weight {[h, gates * h]}, "
            f"not {list(x.shape)} and {list(weight.shape)}"
        )
    if not (shapes.agree(state.shape[0], x.shape[1]) and shapes.agree(state.shape[1], h)):
        raise ShapeError(f"a state of {list(x.shape)} is (n, {h}), not {list(state.shape)}")
    if len(lengths) != 1 or not shapes.agree(lengths[0], x.shape[1]):
        raise ShapeError(f"Lengths of {x.shape[1]} sequences are {list(lengths)}")
    return replace(x, shape=(*x.shape[:2], h)), replace(x, shape=(x.shape[1], h))


def _lstm_shape(forms: Forms) -> Mapping[str, Form]:
    out, state = _shape(forms, 4)
    if forms["Cell"].shape != forms["Hidden"].shape:
        raise ShapeError(f"Cell is {list(forms['Cell'].shape)} and Hidden {list(forms['Hidden'].shape)}")
    ends = {"LastHidden": state, "LastCell": state}
    return {"Out": out, **ends, "Gates": forms["X"], "Before": out, "Cells": out, "Bent": out}


def _lstm(call: Call) -> Steps:
    from paddle._engine.kernels import lstm  # loads numba

    out, gates, before, cells, bent = (call[slot] for slot in ("Out", "Gates", "Before", "Cells", "Bent"))
    hidden, state, peep = (
        call.scratch["hidden"],
        call.scratch["state"],
        np.zeros((3, out.shape[2]), out.dtype),
    )
    no_clip = out.dtype.type(0)
    cell = lstm.cell if out.dtype == np.float32 else lstm.numpy_cell
    moments, reach = Moments(call, len(out)), Factor(call["Weight"], call.scratch["weight"])

    def pass_time() -> None:
        order = moments.order
        np.take(call["Hidden"], order, 0, hidden)
        np.take(call["Cell"], order, 0, state)
        np.take(call["X"], order, 1, gates)
        out.fill(0)
        moments.clear(before)
        for t, n in moments:
            before[t, :n], cells[t, :n] = hidden[:n], state[:n]
            reach(hidden[:n], gates[t, :n])
            made = (state[:n], bent[t, :n], hidden[:n])
            cell(gates[t, :n], peep, cells[t, :n], *made, lstm.USUAL, no_clip)
            out[t, order[:n]] = hidden[:n]
        call["LastHidden"][order], call["LastCell"][order] = hidden, state

    yield reach.renew
    yield moments.renew
    yield pass_time


def _lstm_gradient(call: Call) -> Steps:
    from paddle._engine.kernels.lstm import USUAL, cell_gradient  # loads numba

    gates, before, cells, bent = (call[slot] for slot in ("Gates", "Before", "Cells", "Bent"))
    given, carried, dgates = (call.scratch[name] for name in ("given", "carried", "dgates"))
    peep, moments = np.zeros((3, before.shape[2]), before.dtype), Moments(call, len(before))
    back, at_out = Factor(call["Weight"].T, call.scratch["turned"]), call["Out@GRAD"]
    no_clip = before.dtype.type(0)

    def pass_time() -> None:
        order = moments.order
        np.take(call["LastHidden@GRAD"], order, 0, given)
        np.take(call["LastCell@GRAD"], order, 0, carried)
        moments.clear(dgates)
        for t, n in moments.backwards():
            given[:n] += at_out[t, order[:n]]
            former = cells[t, :n]  # also where the kernel would look whether a state was cut
            seen = (gates[t, :n], peep, former, former, bent[t, :n], given[:n], carried[:n])
            cell_gradient(*seen, dgates[t, :n], USUAL, no_clip)
            given[:n] = 0
            back(dgates[t, :n], given[:n])

    yield back.renew
    yield moments.renew
    yield pass_time
    yield from _outside(call, moments, dgates, {"Hidden": given, "Cell": carried})
    yield from _through_weight(call, dgates)


def _outside(call: Call, moments: Moments, dgates: np.ndarray, states: Mapping[str, np.ndarray]) -> Steps:
    """The gradients of what the input says, and of the states at first."""
    for slot, found in states.items():
        if slot + "@GRAD" in call:
            yield partial(call[slot + "@GRAD"].__setitem__, moments.order, found)
    if "X@GRAD" in call:
        yield partial(call["X@GRAD"].__setitem__, (slice(None), moments.order), dgates)


def _through_weight(call: Call, dgates: np.ndarray) -> Steps:
    before = call["Before"]
    if "Weight@GRAD" in call:
        rows = before.reshape(-1, before.shape[2])
        yield from weight_gradient(call, rows, dgates.reshape(-1, dgates.shape[2]))


def _gru_shape(forms: Forms) -> Mapping[str, Form]:
    out, state = _shape(forms, 3)
    if forms["Bias"].shape != (forms["Weight"].shape[0],):
        raise ShapeError(f"Bias is {[forms['Weight'].shape[0]]}, not {list(forms['Bias'].shape)}")
    return {"Out": out, "LastHidden": state, "Gates": forms["X"], "Before": out, "Told": out}


def _gru(call: Call) -> Steps:
    from paddle._engine.kernels import gru_layer  # loads numba

    out, gates, before, told, bias = (call[slot] for slot in ("Out", "Gates", "Before", "Told", "Bias"))
    hidden, said, h = call.scratch["hidden"], call.scratch["said"], out.shape[2]
    cell = gru_layer.cell if out.dtype == np.float32 else gru_layer.numpy_cell
    moments, reach = Moments(call, len(out)), Factor(call["Weight"], call.scratch["weight"])

    def pass_time() -> None:
        order = moments.order
        np.take(call["Hidden"], order, 0, hidden)
        np.take(call["X"], order, 1, gates)
        out.fill(0)
        moments.clear(before)
        for t, n in moments:
            before[t, :n] = hidden[:n]
            said[:n, : 2 * h], said[:n, 2 * h :] = 0, bias
            reach(before[t, :n], said[:n])
            cell(gates[t, :n], said[:n], before[t, :n], hidden[:n])
            told[t, :n] = said[:n, 2 * h :]
            out[t, order[:n]] = hidden[:n]
        call["LastHidden"][order] = hidden

    yield reach.renew
    yield moments.renew
    yield pass_time


def _gru_gradient(call: Call) -> Steps:
    from paddle._engine.kernels.gru_layer import cell_gradient  # loads numba

    gates, before, told, at_out = (call[slot] for slot in ("Gates", "Before", "Told", "Out@GRAD"))
    given, dgates, dtold = (call.scratch[name] for name in ("given", "dgates", "dtold"))
    back, moments = Factor(call["Weight"].T, call.scratch["turned"]), Moments(call, len(before))

    def pass_time() -> None:
        order = moments.order
        np.take(call["LastHidden@GRAD"], order, 0, given)
        moments.clear(dgates, dtold)
        for t, n in moments.backwards():
            given[:n] += at_out[t, order[:n]]
            cell_gradient(gates[t, :n], told[t, :n], before[t, :n], given[:n], dgates[t, :n], dtold[t, :n])
            back(dtold[t, :n], given[:n])

    yield back.renew
    yield moments.renew
    yield pass_time
    yield from _outside(call, moments, dgates, {"Hidden": given})
    yield from _through_weight(call, dtold)
    if "Bias@GRAD" in call:
        yield partial(np.add.reduce, dtold[:, :, 2 * before.shape[2] :], axis=(0, 1), out=call["Bias@GRAD"])


def _scratch(
    of: str, states: tuple[str, ...], wide: Mapping[str, int], factor: tuple[str, int, int]
) -> Scratch:
    """A row for each sequence in ``states``; ``wide``: as many states wide, at each moment or, in ``said``,
    at one; and room for the panels of a factor of so many states' height and width."""

    def forms(forms: Forms) -> Mapping[str, Form]:
        (time, n, _), dtype, h = forms[of].shape, forms[of].dtype, forms["Weight"].shape[0]
        name, height, width = factor
        found = dict.fromkeys(states, Form((n, h), dtype))
        for each, gates in wide.items():
            found[each] = Form((n, gates * h) if each == "said" else (time, n, gates * h), dtype)
        return found | {name: room_of(n, height * h, width * h, dtype)}

    return forms


ROWS = (
    Row(
        type="lstm_layer",
        inputs=("X", "Weight", "Hidden", "Cell", "Lengths"),
        outputs=("Out", "LastHidden", "LastCell", "Gates", "Before", "Cells", "Bent"),
        attrs={"is_reverse": False},
        shape=_lstm_shape,
        forward=Kernel(_lstm, _scratch("X", ("hidden", "state"), {}, ("weight", 1, 4))),
        gradient=Gradient(
            _lstm_gradient,
            with_weight(_scratch("Before", ("given", "carried"), {"dgates": 4}, ("turned", 4, 1)), "Before"),
            of=("X", "Weight", "Hidden", "Cell"),
            needs=("Weight", "Lengths", "Gates", "Before", "Cells", "Bent"),
            also=("LastHidden", "LastCell"),
        ),
    ),
    Row(
        type="gru_layer",
        inputs=("X", "Weight", "Bias", "Hidden", "Lengths"),
        outputs=("Out", "LastHidden", "Gates", "Before", "Told"),
        attrs={"is_reverse": False},
        shape=_gru_shape,
        forward=Kernel(_gru, _scratch("X", ("hidden",), {"said": 3}, ("weight", 1, 3))),
        gradient=Gradient(
            _gru_gradient,
            with_weight(
                _scratch("Before", ("given",), {"dgates": 3, "dtold": 3}, ("turned", 3, 1)), "Before"
            ),
            of=("X", "Weight", "Bias", "Hidden"),
            needs=("Weight", "Lengths", "Gates", "Before", "Told"),
            also=("LastHidden",),
        ),
    ),
)
