"""LSTM and GRU over packed sequences: products with few rows (panels.py) and a fused kernel for each moment.

Slot Offsets says where sequences begin (see sequence.py). X holds for each row what reaches the gates from
outside; Weight brings what reaches them from the moment before.

Sources of the semantics: v2's ``lstmemory`` and ``grumemory``, fluid's ``dynamic_lstm`` and ``dynamic_gru``,
whose layouts of parameters these are. Other activations than the usual ones are not fused here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from paddle._engine.errors import ShapeError
from paddle._engine.ops import shapes
from paddle._engine.program import Form
from paddle._engine.registry import Call, Forms, Gradient, Kernel, Row, Runs, Steps

Scratch = Callable[[Forms], Mapping[str, Form]]


class Factor:
    """A matrix of every moment, laid out by ``renew`` for all of them; a call is out += x @ matrix.

    ``room``: scratch for its panels. A matrix of few columns, or of another dtype than float32, has none.
    """

    def __init__(self, matrix: np.ndarray, room: np.ndarray) -> None:
        self._matrix, self._room = matrix, room

    def renew(self) -> None:
        from paddle._engine.kernels.panels import lay_out  # loads numba

        if len(self._room):
            lay_out(self._matrix, self._room)

    def __call__(self, x: np.ndarray, out: np.ndarray) -> None:
        from paddle._engine.kernels.panels import add_product, numpy_add_product  # loads numba

        if len(self._room):
            add_product(x, self._room, out)
        else:
            numpy_add_product(x, self._matrix, out)


class Timeline:
    """Which row stands where, one moment after another, renewed by ``renew`` for the offsets of a run."""

    def __init__(self, call: Call, rows: int) -> None:
        self._offsets, self._is_reverse = call["Offsets"], bool(call.attrs["is_reverse"])
        self.rows, self._counts, self.before = (np.empty(rows, np.int64) for _ in range(3))
        self._moments = 0

    def renew(self) -> None:
        from paddle._engine.kernels.timeline import lay_out  # loads numba

        order = np.argsort(-np.diff(self._offsets), kind="stable")
        self._moments = lay_out(self._offsets, self._is_reverse, order, self.rows, self.before, self._counts)

    def __iter__(self) -> Iterator[tuple[slice, slice]]:
        """Of each moment its places, and those of the same sequences one moment earlier: none at first."""
        at = earlier = 0
        for t in range(self._moments):
            count = int(self._counts[t])
            yield slice(at, at + count), slice(earlier, earlier + (count if t else 0))
            earlier, at = at, at + count

    def backwards(self) -> list[tuple[slice, slice]]:
        """The same from the last moment."""
        return list(self)[::-1]

    def former(self, source: np.ndarray, out: np.ndarray) -> None:
        """``out`` is what ``source``, laid out in time, was one moment earlier: 0 at first."""
        np.take(source, self.before, 0, out, "clip")
        out[: int(self._counts[0]) if self._moments else 0] = 0


def _shape(forms: Forms, gates: int, bias: int) -> tuple[Form, int]:
    """The form of Out, and its number of columns."""
    x, weight = shapes.matrix(forms, "X"), shapes.matrix(forms, "Weight")
    h = weight.shape[0]
    shapes.integers(forms, "Offsets")
    if weight.shape[1] != gates * h or not shapes.agree(x.shape[1], gates * h):
        raise ShapeError(
            f"with a state of {h}, X has {gates * h} columns and Weight has shape {[h, gates * h]}, "
            f"not {x.shape[1]} and {list(weight.shape)}"
        )
    if forms["Bias"].shape != (1, bias * h):
        raise ShapeError(f"Bias must have shape {[1, bias * h]}, got {list(forms['Bias'].shape)}")
    return replace(x, shape=(x.shape[0], h)), h


def _lstm_shape(forms: Forms) -> Mapping[str, Form]:
    out, h = _shape(forms, gates=4, bias=7)
    return {"Out": out, "Gates": replace(out, shape=(out.shape[0], 4 * h)), "States": out, "Bent": out}


def _lstm(call: Call) -> Steps:
    from paddle._engine.kernels import lstm  # loads numba

    x, weight, out, gates = call["X"], call["Weight"], call["Out"], call["Gates"]
    states, bent, bias = call["States"], call["Bent"], call["Bias"].reshape(7, -1)
    cell = lstm.cell if x.dtype == np.float32 else lstm.numpy_cell
    hidden, nothing = call.scratch["hidden"], call.scratch["nothing"]
    time, reach = Timeline(call, len(x)), Factor(weight, call.scratch["weight"])

    def pass_time() -> None:
        nothing.fill(0)
        for now, earlier in time:
            former = states[earlier] if earlier.stop else nothing[: now.stop - now.start]
            if earlier.stop:
                reach(hidden[earlier], gates[now])
            cell(gates[now], bias[4:], former, states[now], bent[now], hidden[now])
        out[time.rows] = hidden

    yield reach.renew
    yield time.renew
    yield partial(np.take, x, time.rows, 0, gates, "clip")
    yield partial(np.add, gates, bias[:4].reshape(-1), gates)
    yield pass_time


def _lstm_gradient(call: Call) -> Steps:
    from paddle._engine.kernels.lstm import cell_gradient  # loads numba

    weight, out, gates, states, bent = (call[slot] for slot in ("Weight", "Out", "Gates", "States", "Bent"))
    given, carried, nothing, dgates = (
        call.scratch[name] for name in ("given", "carried", "nothing", "dgates")
    )
    peep, time = call["Bias"].reshape(7, -1)[4:], Timeline(call, len(out))
    back = Factor(weight.T, call.scratch["turned"])

    def pass_time() -> None:
        nothing.fill(0)
        carried.fill(0)
        for now, earlier in time.backwards():
            count = now.stop - now.start
            former = states[earlier] if earlier.stop else nothing[:count]
            cell_gradient(gates[now], peep, former, bent[now], given[now], carried[:count], dgates[now])
            if earlier.stop:
                back(dgates[now], given[earlier])

    yield back.renew
    yield time.renew
    yield partial(np.take, call["Out@GRAD"], time.rows, 0, given, "clip")
    yield pass_time
    yield from _outside(call, time, dgates)
    if "Weight@GRAD" in call:
        yield from _through_weight(call, time, dgates, given)
    if "Bias@GRAD" in call:
        former, dbias = call.scratch["former"], call["Bias@GRAD"].reshape(7, -1)
        h = out.shape[1]
        yield shapes.sum_into(dgates, dbias[:4].reshape(-1))
        yield partial(time.former, states, former)
        yield partial(np.einsum, "ij,ij->j", dgates[:, h : 2 * h], former, out=dbias[4])
        yield partial(np.einsum, "ij,ij->j", dgates[:, 2 * h : 3 * h], former, out=dbias[5])
        yield partial(np.einsum, "ij,ij->j", dgates[:, 3 * h :], states, out=dbias[6])


def _outside(call: Call, time: Timeline, dgates: np.ndarray) -> Steps:
    """The gradient of X: that of what reached the gates, row by row. It may be where these were: after time
    was passed nobody reads them."""
    if "X@GRAD" in call:
        yield partial(call["X@GRAD"].__setitem__, time.rows, dgates)


def _through_weight(call: Call, time: Timeline, dgates: np.ndarray, hidden: np.ndarray) -> Steps:
    """The gradient of what multiplied the former hidden values. ``hidden``: where there is room for these."""
    former = call.scratch["former"]
    yield partial(np.take, call["Out"], time.rows, 0, hidden, "clip")
    yield partial(time.former, hidden, former)
    yield partial(np.matmul, former.T, dgates, call["Weight@GRAD"])


def _gru_shape(forms: Forms) -> Mapping[str, Form]:
    out, h = _shape(forms, gates=3, bias=3)
    return {"Out": out, "Gates": replace(out, shape=(out.shape[0], 3 * h)), "Kept": out}


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
    hidden, nothing = call.scratch["hidden"], call.scratch["nothing"]
    time, reach = Timeline(call, len(x)), Factor(to_gates, call.scratch["to_gates"])
    reach_candidate = Factor(to_candidate, call.scratch["to_candidate"])

    def pass_time() -> None:
        nothing.fill(0)
        for now, earlier in time:
            former = hidden[earlier] if earlier.stop else nothing[: now.stop - now.start]
            if earlier.stop:
                reach(former, gates[now, : 2 * h])
            open_gates(gates[now], former, kept[now])
            if earlier.stop:
                reach_candidate(kept[now], gates[now, 2 * h :])
            close_gates(gates[now], former, hidden[now])
        out[time.rows] = hidden

    yield reach.renew
    yield reach_candidate.renew
    yield time.renew
    yield partial(np.take, x, time.rows, 0, gates, "clip")
    yield partial(np.add, gates, call["Bias"].reshape(-1), gates)
    yield pass_time


def _gru_gradient(call: Call) -> Steps:
    from paddle._engine.kernels.gru import close_gradient, open_gradient  # loads numba

    out, gates, kept = call["Out"], call["Gates"], call["Kept"]
    (to_gates, to_candidate), h = halves(call["Weight"]), out.shape[1]
    hidden, former, given, dgates, at_kept = (
        call.scratch[name] for name in ("hidden", "former", "given", "dgates", "at_kept")
    )
    time, back = Timeline(call, len(out)), Factor(to_gates.T, call.scratch["from_gates"])
    back_to_kept = Factor(to_candidate.T, call.scratch["from_candidate"])

    def pass_time() -> None:
        for now, earlier in time.backwards():
            count = now.stop - now.start
            close_gradient(gates[now], former[now], given[now], dgates[now])
            at_kept[:count] = 0
            back_to_kept(dgates[now, 2 * h :], at_kept[:count])
            open_gradient(gates[now], former[now], at_kept[:count], dgates[now], given[now])
            if earlier.stop:
                np.add(given[earlier], given[now], given[earlier])
                back(dgates[now, : 2 * h], given[earlier])

    yield back.renew
    yield back_to_kept.renew
    yield time.renew
    yield partial(np.take, out, time.rows, 0, hidden, "clip")
    yield partial(time.former, hidden, former)
    yield partial(np.take, call["Out@GRAD"], time.rows, 0, given, "clip")
    yield pass_time
    yield from _outside(call, time, dgates)
    if "Weight@GRAD" in call:
        at_gates, at_candidate = halves(call["Weight@GRAD"])
        yield partial(np.matmul, former.T, dgates[:, : 2 * h], at_gates)
        yield partial(np.matmul, kept.T, dgates[:, 2 * h :], at_candidate)
    if "Bias@GRAD" in call:
        yield shapes.sum_into(dgates, call["Bias@GRAD"].reshape(-1))


def _scratch(
    of: str, rows: Mapping[str, int], sequences: Mapping[str, int], factors: Mapping[str, tuple[int, int]]
) -> Scratch:
    """Arrays with a row for each one in slot ``of``, or for each sequence, as many states wide as is said;
    and room for factors that are as many high and wide."""

    def forms(forms: Forms) -> Mapping[str, Form]:
        from paddle._engine.kernels.panels import panels  # loads numba

        length, h, dtype = forms[of].shape[0], forms["Weight"].shape[0], forms[of].dtype
        count = forms["Offsets"].shape[0] - 1
        long = {name: Form((length, width * h), dtype) for name, width in rows.items()}
        short = {name: Form((count, width * h), dtype) for name, width in sequences.items()}
        laid_out = {name: panels(height * h, width * h, dtype) for name, (height, width) in factors.items()}
        return long | short | {name: Form(shape, dtype) for name, shape in laid_out.items()}

    return forms


_SLOTS = ("X", "Weight", "Bias", "Offsets")
_RUNS = (Runs("Offsets", of="X"),)

ROWS = (
    Row(
        type="lstm",
        inputs=_SLOTS,
        outputs=("Out", "Gates", "States", "Bent"),
        attrs={"is_reverse": False},
        shape=_lstm_shape,
        forward=Kernel(_lstm, _scratch("X", {"hidden": 1}, {"nothing": 1}, {"weight": (1, 4)})),
        gradient=Gradient(
            _lstm_gradient,
            _scratch(
                "Out",
                {"given": 1, "former": 1, "dgates": 4},
                {"carried": 1, "nothing": 1},
                {"turned": (4, 1)},
            ),
            in_place={"X@GRAD": "Gates"},
            of=("X", "Weight", "Bias"),
            needs=("Weight", "Bias", "Offsets", "Out", "Gates", "States", "Bent"),
        ),
        runs=_RUNS,
    ),
    Row(
        type="gru",
        inputs=_SLOTS,
        outputs=("Out", "Gates", "Kept"),
        attrs={"is_reverse": False},
        shape=_gru_shape,
        forward=Kernel(
            _gru,
            _scratch("X", {"hidden": 1}, {"nothing": 1}, {"to_gates": (1, 2), "to_candidate": (1, 1)}),
        ),
        gradient=Gradient(
            _gru_gradient,
            _scratch(
                "Out",
                {"given": 1, "hidden": 1, "former": 1, "dgates": 3},
                {"at_kept": 1},
                {"from_gates": (2, 1), "from_candidate": (1, 1)},
            ),
            in_place={"X@GRAD": "Gates"},
            of=("X", "Weight", "Bias"),
            needs=("Weight", "Offsets", "Out", "Gates", "Kept"),
        ),
        runs=_RUNS,
    ),
)
