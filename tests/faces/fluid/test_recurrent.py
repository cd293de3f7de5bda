"""LSTM and GRU of fluid: the fused and the written way agree, gradients included, and with the definition."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import paddle.fluid as fluid
from paddle.profiler import Profiler

layers = fluid.layers
OFFSETS = (0, 2, 2, 5)  # the second sequence is empty
RNG = np.random.default_rng(9)
X, START = RNG.normal(size=(5, 8)).astype(np.float32), RNG.normal(size=(3, 4)).astype(np.float32)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def tensor(array):
    return fluid.create_lod_tensor(np.asarray(array, np.float32), [list(np.diff(OFFSETS))], None)


def value(name):
    return np.array(fluid.global_scope().find_var(name).get_tensor())


def set_random(names, seed=1):
    rng = np.random.default_rng(seed)
    for name in names:
        held = fluid.global_scope().find_var(name).get_tensor()
        held.set(rng.normal(size=held.shape()).astype(np.float32), None)


def gradients(outputs, feed, parameters):
    """The outputs, and the gradients of the mean of the first one."""
    pairs = fluid.backward.append_backward(layers.mean(outputs[0]))
    names = {parameter.name: gradient.name for parameter, gradient in pairs}
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    set_random(parameters)
    fetch = [*(each.name for each in outputs), *(names[each] for each in parameters)]
    return [np.array(each) for each in exe.run(feed=feed, fetch_list=fetch, return_numpy=False)]


def lstm_twin(x, weight, bias, peep, is_reverse=False, h0=None, c0=None):
    size = weight.shape[1] // 4
    hidden_rows, cells = np.empty((len(x), size)), np.empty((len(x), size))
    for number, (first, end) in enumerate(pairwise(OFFSETS)):
        hidden = np.zeros(size) if h0 is None else h0[number]
        cell = np.zeros(size) if c0 is None else c0[number]
        for k in range(first, end)[:: -1 if is_reverse else 1]:
            candidate, enter, keep, leave = np.split(x[k] + hidden @ weight + bias, 4)
            enter, keep = sigmoid(enter + peep[0] * cell), sigmoid(keep + peep[1] * cell)
            cell = np.tanh(candidate) * enter + cell * keep
            hidden = sigmoid(leave + peep[2] * cell) * np.tanh(cell)
            hidden_rows[k], cells[k] = hidden, cell
    return hidden_rows, cells


@pytest.mark.parametrize("is_reverse", [False, True])
@pytest.mark.parametrize("use_peepholes", [False, True])
def test_an_lstm_is_what_it_is_defined_as(is_reverse, use_peepholes) -> None:
    x = layers.data("x", [8], lod_level=1)
    both = layers.dynamic_lstm(x, 8, use_peepholes=use_peepholes, is_reverse=is_reverse)
    names = ["lstm_0.w_0", "lstm_0.b_0"]
    hidden, cells, *_ = gradients(both, {"x": tensor(X)}, names)
    weight, bias = (value(name).astype(float) for name in names)
    assert bias.shape == (1, 14 if use_peepholes else 8)
    peep = bias[0, 8:].reshape(3, 2) if use_peepholes else np.zeros((3, 2))
    expected = lstm_twin(X, weight, bias[0, :8], peep, is_reverse)
    np.testing.assert_allclose(hidden, expected[0], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(cells, expected[1], rtol=1e-5, atol=1e-6)


def test_an_lstm_is_one_operator_whatever_is_asked_for(capsys) -> None:
    found = []
    for reads_cell in (False, True):
        with (
            fluid.program_guard(fluid.Program(), fluid.Program()),
            fluid.scope_guard(fluid.executor.Scope()),
            fluid.unique_name.guard(),
            Profiler() as ran,
        ):
            x, h = layers.data("x", [8], lod_level=1), layers.data("h", [2])
            c = layers.data("c", [2])
            hidden, cell = layers.dynamic_lstm(x, 8, h_0=h, c_0=c, candidate_activation="relu")
            cost = hidden + cell * 0.0 if reads_cell else hidden * 1.0
            feed = {"x": tensor(X), "h": START[:, :2], "c": START[:, 2:]}
            found.append(gradients([cost], feed, ["lstm_0.w_0", "lstm_0.b_0"]))
        ran.summary()
        used = {line.split()[0] for line in capsys.readouterr().out.splitlines()}
        assert {"lstm", "lstm_grad"} <= used and not used & {"recurrent", "recurrent_grad"}
        assert ("in_rows" in used) == reads_cell
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)


def test_an_activation_of_gates_is_one_that_there_is() -> None:
    x = layers.data("x", [8], lod_level=1)
    hidden, _ = layers.dynamic_lstm(x, 8)
    fluid.default_main_program().global_block().ops[-1].attrs["gate_activation"] = "softmax"
    with pytest.raises(ValueError, match="one of identity, sigmoid, tanh, relu, not 'softmax'"):
        gradients([hidden], {"x": tensor(X)}, [])


def test_an_lstm_begins_with_what_it_is_given() -> None:
    x, h, c = layers.data("x", [8], lod_level=1), layers.data("h", [2]), layers.data("c", [2])
    both = layers.dynamic_lstm(x, 8, h_0=h, c_0=c)
    feed = {"x": tensor(X), "h": START[:, :2], "c": START[:, 2:]}
    hidden, cells, *_ = gradients(both, feed, ["lstm_0.w_0", "lstm_0.b_0"])
    weight, bias = value("lstm_0.w_0"), value("lstm_0.b_0")[0]
    expected = lstm_twin(X, weight, bias[:8], bias[8:].reshape(3, 2), h0=START[:, :2], c0=START[:, 2:])
    np.testing.assert_allclose(hidden, expected[0], rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(cells, expected[1], rtol=1e-4, atol=1e-6)


def test_a_projected_lstm_remembers_its_projection() -> None:
    x = layers.data("x", [8], lod_level=1)
    projected, cell = layers.dynamic_lstmp(x, 8, proj_size=3, use_peepholes=False)
    names = ["lstmp_0.w_0", "lstmp_0.w_1", "lstmp_0.b_0"]
    found, *_ = gradients([projected, cell], {"x": tensor(X)}, names)
    weight, projection, bias = map(value, names)
    assert (weight.shape, projection.shape, bias.shape) == ((3, 8), (2, 3), (1, 8))
    r, c = np.zeros(3), np.zeros(2)
    for k in (2, 3, 4):
        candidate, enter, keep, leave = np.split(X[k] + r @ weight + bias[0], 4)
        c = np.tanh(candidate) * sigmoid(enter) + c * sigmoid(keep)
        r = np.tanh((sigmoid(leave) * np.tanh(c)) @ projection)
        np.testing.assert_allclose(found[k], r, rtol=1e-4, atol=1e-6)


def gru_moment(x, h, weight, origin=False):
    size, flat = len(h), weight.ravel()
    gates = flat[: 2 * size * size].reshape(size, 2 * size)
    update, reset = np.split(sigmoid(x[: 2 * size] + h @ gates), 2)
    candidate = np.tanh(x[2 * size :] + (reset * h) @ flat[2 * size * size :].reshape(size, size))
    return update * h + (1 - update) * candidate if origin else (1 - update) * h + update * candidate


@pytest.mark.parametrize("origin_mode", [False, True])
def test_a_gru_is_what_it_is_defined_as(origin_mode) -> None:
    x, h = layers.data("x", [6], lod_level=1), layers.data("h", [2])
    plain = layers.dynamic_gru(x, 2, origin_mode=origin_mode)
    started = layers.dynamic_gru(x, 2, param_attr="gru_0.w_0", bias_attr="gru_0.b_0", h_0=h, is_reverse=True)
    feed = {"x": tensor(X[:, :6]), "h": START[:, :2]}
    found, back, *_ = gradients([plain, started], feed, ["gru_0.w_0", "gru_0.b_0"])
    weight, bias = value("gru_0.w_0"), value("gru_0.b_0")[0]
    now = np.zeros(2)
    for k in (2, 3, 4):
        now = gru_moment(X[k, :6] + bias, now, weight, origin_mode)
        np.testing.assert_allclose(found[k], now, rtol=1e-4, atol=1e-6)
    now = START[0, :2]
    for k in (1, 0):
        now = gru_moment(X[k, :6] + bias, now, weight)
        np.testing.assert_allclose(back[k], now, rtol=1e-4, atol=1e-6)


def test_one_moment_of_a_gru() -> None:
    x, h = layers.data("x", [6]), layers.data("h", [2])
    updated, reset, gate = layers.gru_unit(x, h, 6)
    feed = {"x": X[:3, :6], "h": START[:, :2]}
    found, kept, gates, *_ = gradients([updated, reset, gate], feed, ["gru_unit_0.w_0", "gru_unit_0.b_0"])
    weight, bias = value("gru_unit_0.w_0"), value("gru_unit_0.b_0")[0]
    assert gates.shape == (3, 6)
    np.testing.assert_allclose(kept, gates[:, 2:4] * START[:, :2], rtol=1e-5)
    expected = [gru_moment(X[i, :6] + bias, START[i, :2], weight) for i in range(3)]
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)


def test_what_reaches_the_gates_has_their_width() -> None:
    with pytest.raises(ValueError, match=r"'x' is 6 wide, where 8 reach the gates: .*fc\(size=8\)"):
        layers.dynamic_lstm(layers.data("x", [6], lod_level=1), 8)
    with pytest.raises(ValueError, match="size is a multiple of 4, not 6"):
        layers.dynamic_lstm(layers.data("y", [6], lod_level=1), 6)
    with pytest.raises(ValueError, match="input is a Variable of the program, not 'words'"):
        layers.dynamic_gru("words", 2)
