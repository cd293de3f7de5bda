"""Operators of one moment: what they compute, and that their gradients are derivatives."""

from __future__ import annotations

import numpy as np
import pytest

from paddle._engine import registry
from paddle._engine.program import Operator
from paddle._engine.single import Single
from paddle._engine.steps.kinds import is_rowwise
from paddle.testing import check_gradient

from .passes.case import Case
from .test_operators import DIFFERENTIABLE, OTHERS

RNG = np.random.default_rng(9)
STATE = RNG.normal(size=(5, 2))
LSTM = {"X": RNG.normal(size=(5, 8)), "State": STATE, "Bias": RNG.normal(size=(1, 6))}
GRU = {
    "X": RNG.normal(size=(5, 6)),
    "State": STATE,
    "Weight": RNG.normal(size=(2, 6)),
    "Bias": RNG.normal(size=(1, 6)),
}


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def first(type: str, inputs: dict[str, np.ndarray], dtype: type) -> np.ndarray:
    return Single(
        type,
        {slot: [array.astype(dtype) if array.dtype.kind == "f" else array] for slot, array in inputs.items()},
        {},
    ).forward()["Out"]


def test_a_moment_of_an_lstm() -> None:
    candidate, enter, keep, leave = np.split(LSTM["X"], 4, axis=1)
    peep = LSTM["Bias"].reshape(3, 2)
    state = np.tanh(candidate) * sigmoid(enter + peep[0] * STATE) + STATE * sigmoid(keep + peep[1] * STATE)
    expected = sigmoid(leave + peep[2] * state) * np.tanh(state)
    for dtype in (np.float32, np.float64):
        np.testing.assert_allclose(first("lstm_step", LSTM, dtype), expected, rtol=2e-6, atol=1e-6)
    check_gradient("lstm_step", LSTM)


def test_a_moment_of_a_gru() -> None:
    x, weight = GRU["X"] + GRU["Bias"], GRU["Weight"].ravel()
    update, reset = np.split(sigmoid(x[:, :4] + STATE @ weight[:8].reshape(2, 4)), 2, axis=1)
    candidate = np.tanh(x[:, 4:] + (reset * STATE) @ weight[8:].reshape(2, 2))
    expected = (1 - update) * STATE + update * candidate
    for dtype in (np.float32, np.float64):
        np.testing.assert_allclose(first("gru_step", GRU, dtype), expected, rtol=2e-6, atol=1e-6)
    check_gradient("gru_step", GRU)


def test_one_row_becomes_that_of_each_sequence() -> None:
    given = {"X": np.array([[2.0, 3.0]]), "Offsets": np.array([0, 4, 4])}
    np.testing.assert_array_equal(first("spread_row", given, float), [[2, 3], [2, 3]])
    check_gradient("spread_row", given)


@pytest.mark.parametrize(("id", "expected"), [(4, [[1], [0], [1]]), (1, [[0], [1], [0]])])
def test_an_id_is_told_from_others(id: int, expected: list[list[int]]) -> None:
    found = Single("is_id", {"X": [np.array([[4], [1], [4]])]}, {"id": id}).forward()["Out"]
    assert found.tolist() == expected


def halves(case: Case) -> list[dict[str, np.ndarray]]:
    """What the operator makes of all rows, of the first two, and of the others."""
    slots = case.slots(np.float64)
    count = len(Single(case.type, slots, case.attrs).forward()[registry.row(case.type).outputs[0]])
    made = []
    for rows in (slice(None), slice(0, 2), slice(2, None)):
        cut = {
            slot: [array[rows] if len(array) == count else array for array in arrays]
            for slot, arrays in slots.items()
        }
        made.append(Single(case.type, cut, case.attrs).forward())
    return made


BY_ROWS = [
    case
    for case in (*DIFFERENTIABLE, *OTHERS)
    if is_rowwise(Operator(case.type, {}, {}, case.attrs)) and case.type != "dropout"
]


@pytest.mark.parametrize("case", BY_ROWS, ids=str)
def test_an_operator_that_is_said_to_work_row_by_row_does(case: Case) -> None:
    whole, first, last = halves(case)
    for name, found in whole.items():
        np.testing.assert_allclose(found, np.concatenate([first[name], last[name]]), rtol=1e-12)
