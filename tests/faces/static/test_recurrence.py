"""Recurrent networks and attention, each against its formulas in numpy."""

import numpy as np
import pytest

import paddle
from paddle import nn

pytestmark = pytest.mark.usefixtures("alone")

X = np.random.default_rng(4).normal(size=(3, 5, 4)).astype(np.float32)
LENGTHS = np.array([5, 2, 3])


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def run(*wanted, **feed):
    executor = paddle.static.Executor()
    executor.run(paddle.static.default_startup_program())
    found = executor.run(feed={"x": X, **feed}, fetch_list=list(wanted))
    scope = paddle.static.global_scope()
    return found, lambda parameter: np.array(scope.find_var(parameter.name).get_tensor())


def lstm(x, w, u, b, order):
    h = c = np.zeros((len(x), u.shape[1]))
    for at in order:
        i, f, g, o = np.split(x[:, at] @ w.T + h @ u.T + b, 4, axis=1)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        yield at, h, c


def gru(x, w, u, b, d):
    h = np.zeros((len(x), u.shape[1]))
    for at in range(x.shape[1]):
        xr, xz, xc = np.split(x[:, at] @ w.T + b, 3, axis=1)
        hr, hz, hc = np.split(h @ u.T + d, 3, axis=1)
        z = sigmoid(xz + hz)
        h = z * h + (1 - z) * np.tanh(xc + sigmoid(xr + hr) * hc)
        yield h


@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_lstm(direction):
    layer = nn.LSTM(4, 6, direction=direction)
    outputs, (h, c) = layer(paddle.static.data("x", [None, 5, 4]))
    (found, last, kept), value = run(outputs, h, c)
    cell = layer[0].cell
    weights = [value(each) for each in (cell.weight_ih, cell.weight_hh)]
    order = range(5) if direction == "forward" else range(4, -1, -1)
    steps = list(lstm(X, *weights, value(cell.bias_ih) + value(cell.bias_hh), order))
    for at, expected, _ in steps:
        assert found[:, at] == pytest.approx(expected, abs=1e-5)
    assert last[0] == pytest.approx(steps[-1][1], abs=1e-5)
    assert kept[0] == pytest.approx(steps[-1][2], abs=1e-5)


def test_gru_stops_where_a_sequence_ends():
    layer = nn.GRU(4, 6)
    length = paddle.static.data("length", [None], "int64")
    outputs, last = layer(paddle.static.data("x", [None, 5, 4]), sequence_length=length)
    (found, end), value = run(outputs, last, length=LENGTHS)
    cell = layer[0].cell
    weights = [value(each) for each in (cell.weight_ih, cell.weight_hh, cell.bias_ih, cell.bias_hh)]
    whole = np.stack(list(gru(X, *weights)), axis=1)
    for row, size in enumerate(LENGTHS):
        assert found[row, :size] == pytest.approx(whole[row, :size], abs=1e-5)
        assert not found[row, size:].any()
        assert end[0, row] == pytest.approx(whole[row, size - 1], abs=1e-5)


def test_layers_above_each_other_in_both_directions_learn():
    layer = nn.SimpleRNN(4, 6, num_layers=2, direction="bidirect", dropout=0.1)
    outputs, last = layer(paddle.static.data("x", [None, 5, 4]))
    assert (outputs.shape, last.shape) == ((-1, 5, 12), (4, -1, 6))
    loss = paddle.mean(paddle.square(nn.Linear(12, 1)(outputs[:, -1]) - 1.0))
    paddle.optimizer.Adam(0.05).minimize(loss)
    executor = paddle.static.Executor()
    executor.run(paddle.static.default_startup_program())
    losses = [executor.run(feed={"x": X}, fetch_list=[loss])[0].item() for _ in range(15)]
    assert losses[-1] < losses[0] / 2


def test_a_derived_network_may_have_layers_of_its_own():
    class Scored(nn.GRU):
        def __init__(self):
            super().__init__(4, 6, num_layers=2)
            self.score = nn.Linear(6, 1)

        def forward(self, inputs):
            outputs, last = super().forward(inputs)
            return self.score(outputs), last

    scores, last = Scored()(paddle.static.data("x", [None, 5, 4]))
    (found, end), _ = run(scores, last)
    assert (found.shape, end.shape) == ((3, 5, 1), (2, 3, 6))


def test_attention_is_of_each_head():
    layer = nn.MultiHeadAttention(4, 2, need_weights=True)
    mask = np.triu(np.full((5, 5), -1e9, np.float32), 1)
    found, weights = layer(paddle.static.data("x", [None, 5, 4]), attn_mask=paddle.assign(mask))
    (found, weights), value = run(found, weights)

    def project(linear, x):
        return x @ value(linear.weight) + value(linear.bias)

    queries, keys, values = (project(each, X) for each in (layer.q_proj, layer.k_proj, layer.v_proj))
    heads = []
    for head in (slice(0, 2), slice(2, 4)):
        scores = queries[..., head] @ keys[..., head].transpose(0, 2, 1) / np.sqrt(2) + mask
        heads.append(softmax(scores) @ values[..., head])
    assert found == pytest.approx(project(layer.out_proj, np.concatenate(heads, -1)), abs=1e-5)
    assert (np.triu(weights[0, 0], 1) < 1e-27).all()  # no share is less than e**-64


def test_an_encoder_learns():
    encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0), 2)
    found = encoder(paddle.static.data("x", [None, 5, 4]))
    loss = paddle.mean(paddle.square(paddle.max(found, axis=1) - 1.0))
    paddle.optimizer.Adam(0.05).minimize(loss)
    executor = paddle.static.Executor()
    executor.run(paddle.static.default_startup_program())
    losses = [executor.run(feed={"x": X}, fetch_list=[loss])[0].item() for _ in range(15)]
    assert losses[-1] < losses[0]


@pytest.mark.parametrize(
    ("make", "reads_lengths"),
    [
        (lambda: nn.LSTM(4, 3, num_layers=2, direction="bidirect"), True),
        (lambda: nn.GRU(4, 3, time_major=True), False),
        (lambda: nn.RNN(nn.LSTMCell(4, 3), is_reverse=True), True),
        (lambda: nn.BiRNN(nn.GRUCell(4, 3), nn.GRUCell(4, 3)), False),
        (lambda: nn.RNN(nn.SimpleRNNCell(4, 3)), False),
    ],
)
def test_of_any_number_of_steps_it_is_what_it_is_of_as_many(make, reads_lengths):
    layer = make()
    length = paddle.static.data("length", [None], "int64") if reads_lengths else None
    table = paddle.create_parameter([9, 4], "float32")
    ids = [paddle.static.data(name, [None, size], "int64") for name, size in (("ids", 5), ("open", None))]
    found = []
    for each in ids:
        rows = paddle.nn.functional.embedding(each, table)  # an axis whose size follows from no value
        steps = paddle.transpose(rows, [1, 0, 2]) if getattr(layer, "time_major", False) else rows
        outputs, states = layer(steps, sequence_length=length)
        ends = [outputs, *(state for state in _flat(states))]
        cost = paddle.add_n([paddle.sum(paddle.sin(end)) for end in ends])
        found.append([*ends, *paddle.static.gradients([cost], [table, *layer.parameters()])])
    fed = np.random.default_rng(2).integers(0, 9, (3, 5))
    feed = {"ids": fed, "open": fed, **({"length": LENGTHS} if reads_lengths else {})}
    executor = paddle.static.Executor()
    executor.run(paddle.static.default_startup_program())
    values = executor.run(feed=feed, fetch_list=[*found[0], *found[1]])
    for one, other in zip(values[: len(found[0])], values[len(found[0]) :], strict=True):
        assert other == pytest.approx(one, abs=1e-5)
        assert np.abs(one).max() > 0.01
    shorter = executor.run(feed={**feed, "open": fed[:, :2]}, fetch_list=found[1][0])[0]
    assert 2 in shorter.shape


def _flat(states):
    return [each for one in states for each in _flat(one)] if isinstance(states, (list, tuple)) else [states]


def test_a_cell_is_heard_beyond_the_length_and_a_network_is_not():
    length = paddle.static.data("length", [None], "int64")
    x = paddle.static.data("x", [None, 5, 4])
    (cell, network), _ = run(
        nn.RNN(nn.GRUCell(4, 6))(x, sequence_length=length)[0],
        nn.GRU(4, 6)(x, sequence_length=length)[0],
        length=LENGTHS,
    )
    assert cell[1, 2:].any()
    assert not network[1, 2:].any()


@pytest.mark.parametrize("make", [nn.LSTM, nn.GRU])
def test_a_layer_is_one_operator_that_gives_what_its_cell_gives_step_by_step(make):
    network = make(4, 3)
    (layer,), length = network, paddle.static.data("length", [None], "int64")
    begins = [paddle.create_parameter([3, 3], "float32") for _ in range(1 + (make is nn.LSTM))]
    states = tuple(begins) if len(begins) > 1 else begins[0]
    wanted, found = [*begins, *network.parameters()], []
    x = paddle.static.data("x", [None, 5, 4])
    for forward in (layer.forward, lambda *given: nn.RNN.forward(layer, *given)):
        before = len(paddle.static.default_main_program().global_block().ops)
        outputs, ends = forward(x, states, length)
        appended = paddle.static.default_main_program().global_block().ops[before:]
        cost = paddle.add_n([paddle.sum(paddle.sin(each)) for each in (outputs, *_flat(ends))])
        types = [op.type for op in appended]
        found.append([types.count("rnn"), outputs, *_flat(ends), *paddle.static.gradients([cost], wanted)])
    assert [each.pop(0) for each in found] == [1, 0]
    values, _ = run(*found[0], *found[1], length=LENGTHS)
    for one, other in zip(values[: len(found[0])], values[len(found[0]) :], strict=True):
        assert one == pytest.approx(other, abs=1e-5)


def test_of_another_activation_or_without_biases_a_layer_is_its_cells():
    outputs, _ = nn.GRU(4, 3, bias_ih_attr=False)(paddle.static.data("x", [None, 5, 4]))
    assert run(outputs)[0][0].shape == (3, 5, 3)
    assert "rnn" not in [op.type for op in paddle.static.default_main_program().global_block().ops]
