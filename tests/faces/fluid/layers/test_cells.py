"""Cells, and what walks them, against numpy; their gradients, against central differences.

Beforehand all of it was held to the wheel of 1.8.5: values, gradients and parameters after three steps.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import paddle.fluid as fluid
from paddle.fluid.contrib.layers import BasicGRUUnit, BasicLSTMUnit, basic_gru, basic_lstm
from paddle.fluid.layers.utils import flatten

from ..numeric import assert_gradients

layers = fluid.layers
N, TIME, WIDTH, SIZE = 3, 4, 2, 3
X = np.random.default_rng(5).normal(size=(N, TIME, WIDTH)).astype(np.float32)
LENGTHS = np.array([4, 1, 3])


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1.0 / (1.0 + np.exp(-x))


def weights(name: str) -> np.ndarray:
    return np.array(fluid.global_scope().find_var(name).get_tensor()).astype(np.float64)


def computed(*outs: Any) -> list[np.ndarray]:
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    found: list[np.ndarray] = exe.run(feed={"x": X, "n": LENGTHS}, fetch_list=[*outs])
    return found


def given() -> tuple[Any, Any]:
    return fluid.data("x", [None, None, WIDTH]), fluid.data("n", [None], "int64")


def walked(step: Any, first: Any, lengths: np.ndarray, is_reverse: bool = False) -> tuple[np.ndarray, Any]:
    """``step``: (row, states) to states, of which the first is given."""
    outputs, states = np.zeros((N, TIME, SIZE)), first
    for moment in range(TIME)[:: -1 if is_reverse else 1]:
        after = step(X[:, moment].astype(np.float64), states)
        outputs[:, moment] = after[0]
        there = (moment < lengths)[:, None]
        states = [np.where(there, new, old) for new, old in zip(after, states, strict=True)]
    return outputs, states


def gru_step(weight: str, bias: str, more: str = "") -> Any:
    def step(row: np.ndarray, states: Any) -> list[np.ndarray]:
        (before,) = states
        gates = np.concatenate([row, before], 1) @ weights(f"{weight}_gate{more}") + weights(f"{bias}_gate")
        reset, update = np.split(sigmoid(gates), 2, 1)
        told = np.concatenate([row, reset * before], 1) @ weights(f"{weight}_candidate{more}")
        return [update * before + (1 - update) * np.tanh(told + weights(f"{bias}_candidate"))]

    return step


def lstm_step(weight: str, bias: str, forget_bias: float) -> Any:
    def step(row: np.ndarray, states: Any) -> list[np.ndarray]:
        hidden, cell = states
        sums = np.concatenate([row, hidden], 1) @ weights(weight) + weights(bias)
        enters, joins, forgets, leaves = np.split(sums, 4, 1)
        cell = cell * sigmoid(forgets + forget_bias) + sigmoid(enters) * np.tanh(joins)
        return [np.tanh(cell) * sigmoid(leaves), cell]

    return step


def zeros(count: int) -> list[np.ndarray]:
    return [np.zeros((N, SIZE)) for _ in range(count)]


DRAWN = fluid.initializer.Uniform(-0.7, 0.7, seed=3)


def attributes() -> dict[str, Any]:
    return {"param_attr": fluid.ParamAttr("w", DRAWN), "bias_attr": fluid.ParamAttr("b", DRAWN)}


@pytest.mark.parametrize("is_reverse", [False, True])
def test_a_gru_changes_no_state_beyond_a_length(is_reverse: bool) -> None:
    x, n = given()
    out, last = layers.rnn(layers.GRUCell(SIZE, **attributes()), x, None, n, is_reverse=is_reverse)
    found, state = computed(out, last)
    wanted, (final,) = walked(gru_step("w", "b"), zeros(1), LENGTHS, is_reverse)
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(state, final, rtol=1e-4, atol=1e-6)


def test_an_lstm_forgets_by_its_bias() -> None:
    x, _ = given()
    out, last = layers.rnn(layers.LSTMCell(SIZE, forget_bias=0.3, **attributes()), x)
    found, hidden, cell = computed(out, *last)
    wanted, states = walked(lstm_step("w", "b", 0.3), zeros(2), np.full(N, TIME))
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose([hidden, cell], states, rtol=1e-4, atol=1e-6)


def test_gradients_go_through_all_steps_of_a_cell_of_ones_own() -> None:
    class Cell(layers.RNNCell):
        def call(self, inputs: Any, states: Any) -> Any:
            told = layers.fc([inputs, states["a"]], SIZE, param_attr=["v", "u"], bias_attr="c")
            return told, {"a": layers.tanh(told)}

        @property
        def state_shape(self) -> Any:
            return {"a": [SIZE]}

    def built() -> Any:
        x, n = given()
        out, last = layers.rnn(Cell(), x, sequence_length=n)
        return layers.mean(layers.square(out)) + layers.mean(last["a"])

    assert_gradients(built, {"x": X, "n": LENGTHS}, ["c", "u", "v"])


def test_time_may_come_first() -> None:
    x, n = given()
    cell = layers.GRUCell(SIZE, **attributes())
    rows, _ = layers.rnn(cell, x, None, n)
    turned, _ = layers.rnn(cell, layers.transpose(x, [1, 0, 2]), None, n, time_major=True)
    found, other = computed(rows, turned)
    np.testing.assert_allclose(found, other.transpose(1, 0, 2), rtol=1e-6)


def test_a_stack_in_two_directions_has_their_outputs_side_by_side() -> None:
    x, n = given()
    out, hidden, cell = basic_lstm(
        x, None, None, SIZE, sequence_length=n, bidirectional=True, forget_bias=0.5, **attributes()
    )
    found, hiddens, cells = computed(out, hidden, cell)
    ways = [
        walked(lstm_step(f"w_{way}_w_0", f"b_{way}_b_0", 0.5), zeros(2), LENGTHS, way == "bw")
        for way in ("fw", "bw")
    ]
    held = [np.concatenate([ways[0][0], ways[1][0]], 2)[row, : LENGTHS[row]] for row in range(N)]
    for row in range(N):
        np.testing.assert_allclose(found[row, : LENGTHS[row]], held[row], rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(hiddens, [states[0] for _, states in ways], rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(cells, [states[1] for _, states in ways], rtol=1e-4, atol=1e-6)


def test_a_stack_begins_with_what_it_is_given() -> None:
    x, _ = given()
    first = np.random.default_rng(1).normal(size=(2, N, SIZE)).astype(np.float32)
    out, last = basic_gru(x, layers.assign(first), SIZE, num_layers=2, **attributes())
    found, states = computed(out, last)
    below = walked(gru_step("w_fw_w_0", "b_fw_b_0"), [first[0]], np.full(N, TIME))
    np.testing.assert_allclose(states[0], below[1][0], rtol=1e-4, atol=1e-6)
    assert found.shape == (N, TIME, SIZE)
    np.testing.assert_allclose(found[:, -1], states[1], rtol=1e-6)


@pytest.mark.parametrize("directions", [1, 2])
def test_gradients_go_through_a_stack(directions: int) -> None:
    def built() -> Any:
        x, n = given()
        out, last = basic_gru(x, None, SIZE, 1, n, bidirectional=directions == 2, **attributes())
        return layers.mean(layers.square(out)) + layers.mean(last)

    ways = ("fw", "bw")[:directions]
    names = [
        f"{each}_{way}_{each}_0_{gate}" for each in "wb" for way in ways for gate in ("gate", "candidate")
    ]
    assert_gradients(built, {"x": X, "n": LENGTHS}, names)


def test_units_have_the_names_of_1_8_and_one_set_of_parameters() -> None:
    row = fluid.data("x", [None, WIDTH])
    state = fluid.data("h", [None, SIZE])
    lstm, gru = BasicLSTMUnit("enc", SIZE), BasicGRUUnit("dec", SIZE)
    hidden, cell = lstm(row, state, state)
    lstm(row, hidden, cell)
    gru(row, gru(row, state))
    names = [each.name for each in (*lstm.parameters(), *gru.parameters())]
    assert set(names) == {each.name for each in fluid.default_main_program().all_parameters()}
    assert {"enc/BasicLSTMUnit_0.w_0", "enc/BasicLSTMUnit_0.b_0"} < set(names)
    assert {gru.full_name() + each for each in (".w_0", ".w_1", ".b_0", ".b_1")} < set(names)


def test_states_are_nested_as_their_shapes_are() -> None:
    x, _ = given()
    cell = layers.RNNCell()
    states = cell.get_initial_states(x, [[2], {"a": [3, 4], "b": [5]}], init_value=0.5)
    found = computed(*flatten(states))
    assert [each.shape for each in found] == [(N, 2), (N, 3, 4), (N, 5)]
    assert all((each == 0.5).all() for each in found)
    with pytest.raises(NotImplementedError, match=r"state_shape"):
        cell.get_initial_states(x)
