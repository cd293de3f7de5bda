"""Training, step by step, against the same arithmetic written by hand in numpy, in float64.

Gradients are sums over the samples of a batch; an optimizer's decay is part of its update, as in v2.
"""

import numpy as np
import pytest

import paddle.v2 as paddle

DECAY = 0.01
RATE = 0.05


def momentum(w, g, state):
    state["v"] = 0.9 * state.get("v", 0.0) - RATE * (g + DECAY * w)
    return w + state["v"]


def plain(w, g, state):
    return w - RATE * (g + DECAY * w)


def adagrad(w, g, state):
    state["sum"] = state.get("sum", 0.0) + g * g
    return w - RATE / np.sqrt(state["sum"] + 1e-6) * (g + DECAY * w)


def adam(w, g, state):
    t = state["t"] = state.get("t", 0) + 1
    state["m"] = 0.9 * state.get("m", 0.0) + 0.1 * g
    state["s"] = 0.999 * state.get("s", 0.0) + 0.001 * g * g
    w = w - RATE * np.sqrt(1 - 0.999**t) / (1 - 0.9**t) * state["m"] / (np.sqrt(state["s"]) + 1e-8)
    return w / (1 + RATE * DECAY)


OPTIMIZERS = {
    "plain": (plain, paddle.optimizer.Momentum, {}),
    "momentum": (momentum, paddle.optimizer.Momentum, {"momentum": 0.9}),
    "adagrad": (adagrad, paddle.optimizer.AdaGrad, {}),
    "adam": (adam, paddle.optimizer.Adam, {}),
}


def optimizer(name):
    _, make, options = OPTIMIZERS[name]
    l2 = paddle.optimizer.L2Regularization(rate=DECAY)
    return make(learning_rate=RATE, regularization=l2, **options)


class Twin:
    """Parameters in float64 and the update rule, applied to gradients that a test computes by hand."""

    def __init__(self, parameters, name):
        self.w = {key: parameters.get(key).astype(np.float64) for key in parameters}
        self.rule = OPTIMIZERS[name][0]
        self.state = {key: {} for key in self.w}

    def update(self, gradients):
        for key, g in gradients.items():
            self.w[key] = self.rule(self.w[key], g, self.state[key])

    def check(self, parameters, rtol=2e-4):
        for key, value in self.w.items():
            np.testing.assert_allclose(parameters.get(key), value, rtol=rtol, atol=2e-5, err_msg=key)


def linear_regression():
    x = paddle.layer.data(name="x", type=paddle.data_type.dense_vector(5))
    y = paddle.layer.data(name="y", type=paddle.data_type.dense_vector(2))
    predicted = paddle.layer.fc(input=x, size=2, act=paddle.activation.Linear())
    return paddle.layer.square_error_cost(input=predicted, label=y)


def regression_rows(n=40):
    random = np.random.default_rng(1)
    x = random.normal(size=(n, 5))
    return [(row, row[:2] * 2 - row[2:4] + 0.5) for row in x]


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_linear_regression_equals_the_arithmetic_by_hand(name):
    cost = linear_regression()
    parameters = paddle.parameters.create(cost)
    twin, rows = Twin(parameters, name), regression_rows()
    trainer = paddle.trainer.SGD(cost, parameters, optimizer(name))
    batches = [rows[i : i + 7] for i in range(0, len(rows), 7)]  # the last one is shorter

    def handler(event):
        if isinstance(event, paddle.event.EndIteration):
            x, y = (np.array(column) for column in zip(*batches[event.batch_id], strict=True))
            error = x @ twin.w["___fc_layer_0__.w0"] + twin.w["___fc_layer_0__.wbias"] - y
            assert event.cost == pytest.approx((error**2).sum() / len(x), rel=1e-4)
            twin.update(
                {
                    "___fc_layer_0__.w0": x.T @ (2 * error),
                    "___fc_layer_0__.wbias": (2 * error).sum(axis=0, keepdims=True),
                }
            )
            twin.check(parameters)

    trainer.train(paddle.batch(lambda: iter(rows), 7), num_passes=3, event_handler=handler)
    x, y = (np.array(column) for column in zip(*rows, strict=True))
    error = x @ twin.w["___fc_layer_0__.w0"] + twin.w["___fc_layer_0__.wbias"] - y
    assert trainer.test(paddle.batch(lambda: iter(rows), 9)).cost == pytest.approx(
        (error**2).sum() / len(x), rel=1e-3
    )


def softmax(z):
    e = np.exp(z - z.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


class Perceptron:
    """relu(x w0 + b0) -> tanh(h w1 + b1) -> softmax(h w2 + b2), by hand."""

    def __init__(self, w):
        self.w = w

    def forward(self, x):
        self.x = x
        self.h0 = np.maximum(x @ self.w["a.w"] + self.w["a.b"], 0)
        self.h1 = np.tanh(self.h0 @ self.w["b.w"] + self.w["b.b"])
        return softmax(self.h1 @ self.w["c.w"] + self.w["c.b"])

    def backward(self, d2):
        d1 = d2 @ self.w["c.w"].T * (1 - self.h1**2)
        d0 = d1 @ self.w["b.w"].T * (self.h0 > 0)
        pairs = {"a": (self.x, d0), "b": (self.h0, d1), "c": (self.h1, d2)}
        weights = {f"{name}.w": h.T @ d for name, (h, d) in pairs.items()}
        return weights | {f"{name}.b": d.sum(axis=0, keepdims=True) for name, (_, d) in pairs.items()}


def perceptron():
    def layer(input, size, act, name):
        weight, bias = (paddle.attr.Param(name=f"{name}.{kind}", initial_std=0.5) for kind in "wb")
        return paddle.layer.fc(input=input, size=size, act=act, param_attr=weight, bias_attr=bias)

    x = paddle.layer.data(name="pixel", type=paddle.data_type.dense_vector(6))
    label = paddle.layer.data(name="label", type=paddle.data_type.integer_value(4))
    hidden = layer(x, 8, paddle.activation.Relu(), "a")
    hidden = layer(hidden, 5, paddle.activation.Tanh(), "b")
    predicted = layer(hidden, 4, paddle.activation.Softmax(), "c")
    return predicted, paddle.layer.classification_cost(input=predicted, label=label)


def digits(n=60):
    random = np.random.default_rng(2)
    return [(random.normal(size=6).astype(np.float32), int(random.integers(4))) for _ in range(n)]


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_perceptron_equals_the_arithmetic_by_hand_and_so_do_its_metrics(name):
    predicted, cost = perceptron()
    parameters = paddle.parameters.create(cost)
    twin, rows = Twin(parameters, name), digits()
    hand = Perceptron(twin.w)
    trainer = paddle.trainer.SGD(cost, parameters, optimizer(name))
    wrong = []

    def handler(event):
        if isinstance(event, paddle.event.EndIteration):
            batch = rows[event.batch_id * 16 : event.batch_id * 16 + 16]
            x, label = np.array([row[0] for row in batch]), np.array([row[1] for row in batch])
            probabilities = hand.forward(x)
            wrong.append((probabilities.argmax(axis=1) != label).sum())
            assert event.cost == pytest.approx(-np.log(probabilities[range(len(x)), label]).mean(), rel=1e-3)
            assert event.metrics == {"classification_error_evaluator": wrong[-1] / len(x)}
            twin.update(hand.backward(probabilities - np.eye(4)[label]))
            twin.check(parameters, rtol=2e-3)
        if isinstance(event, paddle.event.EndPass):
            assert event.metrics == {"classification_error_evaluator": sum(wrong) / len(rows)}

    trainer.train(paddle.batch(lambda: iter(rows), 16), event_handler=handler)
    x, label = np.array([row[0] for row in rows]), np.array([row[1] for row in rows])
    probabilities = hand.forward(x)
    result = trainer.test(paddle.batch(lambda: iter(rows), 25))
    assert result.cost == pytest.approx(-np.log(probabilities[range(len(x)), label]).mean(), rel=1e-3)
    assert result.metrics["classification_error_evaluator"] == np.mean(probabilities.argmax(axis=1) != label)
    inferred = paddle.infer(output_layer=predicted, parameters=parameters, input=[(row[0],) for row in rows])
    np.testing.assert_allclose(inferred, probabilities, rtol=5e-3, atol=1e-4)


def ngram(sparse, act=None):
    words = [
        paddle.layer.data(name=name, type=paddle.data_type.integer_value(9))
        for name in ("first", "second", "next")
    ]
    table = paddle.attr.Param(name="_proj", initial_std=0.3, l2_rate=0, sparse_update=sparse)
    vectors = [paddle.layer.embedding(input=word, size=4, param_attr=table) for word in words[:2]]
    hidden = paddle.layer.fc(
        input=paddle.layer.concat(input=vectors),
        size=6,
        act=paddle.activation.Sigmoid(),
        bias_attr=paddle.attr.Param(name="hb", learning_rate=2, initial_std=0.0),
        param_attr=paddle.attr.Param(name="h"),
    )
    predicted = paddle.layer.fc(
        input=hidden,
        size=9,
        act=paddle.activation.Softmax(),
        param_attr=paddle.attr.Param(name="o"),
        bias_attr=False,
    )
    return paddle.layer.classification_cost(input=predicted, label=words[2])


@pytest.mark.parametrize("sparse", [True, False])
def test_an_ngram_model_with_a_shared_table_and_own_rates_equals_the_arithmetic_by_hand(sparse):
    cost = ngram(sparse)
    parameters = paddle.parameters.create(cost)
    w = {key: parameters.get(key).astype(np.float64) for key in parameters}
    rows = [tuple(map(int, row)) for row in np.random.default_rng(3).integers(0, 9, (40, 3))]
    rows[:4] = [(3, 3, 1)] * 4  # rows of the table that occur again and again
    trainer = paddle.trainer.SGD(cost, parameters, optimizer("plain"))
    rates = {"_proj": (RATE, 0.0), "h": (RATE, DECAY), "hb": (2 * RATE, DECAY), "o": (RATE, DECAY)}

    def handler(event):
        if not isinstance(event, paddle.event.EndIteration):
            return
        a, b, label = np.array(rows[event.batch_id * 8 : event.batch_id * 8 + 8]).T
        context = np.concatenate([w["_proj"][a], w["_proj"][b]], axis=1)
        hidden = 1 / (1 + np.exp(-(context @ w["h"] + w["hb"])))
        d_out = softmax(hidden @ w["o"]) - np.eye(9)[label]
        d_hidden = d_out @ w["o"].T * hidden * (1 - hidden)
        d_context, d_table = d_hidden @ w["h"].T, np.zeros_like(w["_proj"])
        np.add.at(d_table, a, d_context[:, :4])
        np.add.at(d_table, b, d_context[:, 4:])
        sums = {
            "_proj": d_table,
            "h": context.T @ d_hidden,
            "hb": d_hidden.sum(0)[None],
            "o": hidden.T @ d_out,
        }
        for key, g in sums.items():
            rate, decay = rates[key]
            w[key] = w[key] - rate * (g + decay * w[key])
            np.testing.assert_allclose(parameters.get(key), w[key], rtol=2e-4, atol=1e-5, err_msg=key)

    trainer.train(paddle.batch(lambda: iter(rows), 8), num_passes=2, event_handler=handler)


def test_costs_are_summed_and_coeff_multiplies_the_gradient_alone():
    x = paddle.layer.data(name="x", type=paddle.data_type.dense_vector(3))
    y = paddle.layer.data(name="y", type=paddle.data_type.dense_vector(1))
    weight = paddle.layer.data(name="weight", type=paddle.data_type.dense_vector(1))
    predicted = paddle.layer.fc(
        input=x,
        size=1,
        act=paddle.activation.Linear(),
        param_attr=paddle.attr.Param(name="w"),
        bias_attr=False,
    )
    costs = [
        paddle.layer.square_error_cost(input=predicted, label=y, weight=weight, coeff=0.5),
        paddle.layer.sum_cost(input=predicted),
    ]
    parameters = paddle.parameters.create(costs)
    w = parameters.get("w").astype(np.float64)
    random = np.random.default_rng(4)
    xs, ys, ws = random.normal(size=(6, 3)), random.normal(size=(6, 1)), random.uniform(size=(6, 1))
    trainer = paddle.trainer.SGD(costs, parameters, paddle.optimizer.Momentum(learning_rate=0.1))
    seen = []
    trainer.train(
        lambda: iter([list(zip(xs, ys, ws, strict=True))]),
        event_handler=lambda e: seen.append(e.cost) if isinstance(e, paddle.event.EndIteration) else None,
    )
    error = xs @ w - ys
    assert seen == pytest.approx([((error**2 * ws).sum() + (xs @ w).sum()) / 6], rel=1e-4)
    expected = w - 0.1 * xs.T @ (0.5 * 2 * error * ws + 1)
    np.testing.assert_allclose(parameters.get("w"), expected, rtol=1e-4)


def test_the_binary_cross_entropy_of_several_labels():
    x = paddle.layer.data(name="x", type=paddle.data_type.dense_vector(3))
    labels = paddle.layer.data(name="labels", type=paddle.data_type.sparse_binary_vector(4))
    predicted = paddle.layer.fc(input=x, size=4, act=paddle.activation.Sigmoid(), name="p")
    cost = paddle.layer.multi_binary_label_cross_entropy_cost(input=predicted, label=labels)
    parameters = paddle.parameters.create(cost)
    trainer = paddle.trainer.SGD(cost, parameters, paddle.optimizer.Momentum(learning_rate=0.1))
    rows = [(np.array([1.0, -1.0, 0.5]), [0, 3]), (np.array([0.0, 2.0, 1.0]), [])]
    y, xs = np.array([[1, 0, 0, 1], [0, 0, 0, 0]]), np.array([row[0] for row in rows])
    before = parameters.get("_p.w0")
    p = 1 / (1 + np.exp(-(xs @ before + parameters.get("_p.wbias"))))
    expected = -(y * np.log(p) + (1 - y) * np.log(1 - p)).sum() / 2
    assert trainer.test(lambda: iter([rows])).cost == pytest.approx(expected, rel=1e-4)
    trainer.train(lambda: iter([rows]))
    np.testing.assert_allclose(parameters.get("_p.w0"), before - 0.1 * xs.T @ (p - y), rtol=1e-3, atol=1e-6)


def test_a_sure_and_wrong_prediction_costs_a_finite_amount_and_is_learned_from():
    x = paddle.layer.data(name="x", type=paddle.data_type.dense_vector(1))
    label = paddle.layer.data(name="label", type=paddle.data_type.dense_vector(1))
    sure = paddle.attr.Param(name="w", initial_mean=1.0, initial_std=0.0)
    predicted = paddle.layer.fc(
        input=x, size=1, act=paddle.activation.Sigmoid(), param_attr=sure, bias_attr=False
    )
    cost = paddle.layer.multi_binary_label_cross_entropy_cost(input=predicted, label=label)
    parameters = paddle.parameters.create(cost)
    trainer = paddle.trainer.SGD(cost, parameters, paddle.optimizer.Momentum(learning_rate=1e-3))
    rows = [((100.0,), (0.0,)), ((-100.0,), (1.0,))]  # the original holds x between -40 and 13
    assert trainer.test(lambda: iter([rows])).cost == pytest.approx((13 + 40) / 2, rel=1e-2)
    trainer.train(lambda: iter([rows]))
    np.testing.assert_allclose(parameters.get("w"), [[1 - 1e-3 * (100 + 100)]], rtol=1e-3)


ACTIVATIONS = {
    "Abs": np.abs,
    "BRelu": lambda x: np.clip(x, 0, 24),
    "Exp": np.exp,
    "Identity": lambda x: x,
    "Relu": lambda x: np.maximum(x, 0),
    "STanh": lambda x: 1.7159 * np.tanh(2 / 3 * x),
    "Sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "SoftRelu": lambda x: np.log1p(np.exp(x)),
    "SoftSign": lambda x: x / (1 + np.abs(x)),
    "Softmax": softmax,
    "Square": np.square,
    "Tanh": np.tanh,
    "Log": lambda x: np.log(np.abs(x) + 1),
    "Reciprocal": lambda x: 1 / (np.abs(x) + 1),
    "Sqrt": lambda x: np.sqrt(np.abs(x) + 1),
}


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_every_activation_computes_its_function(name):
    x = paddle.layer.data(name="x", type=paddle.data_type.dense_vector(5))
    source = paddle.op.abs(x) + 1 if name in ("Log", "Reciprocal", "Sqrt") else x
    out = paddle.layer.addto(input=source, act=getattr(paddle.activation, name)())
    values = np.random.default_rng(5).normal(size=(3, 5)) * 2
    found = paddle.infer(
        output_layer=out, parameters=paddle.parameters.create(out), input=[(row,) for row in values]
    )
    np.testing.assert_allclose(found, ACTIVATIONS[name](values), rtol=1e-5, atol=1e-6)


def test_arithmetic_and_projections_of_layers():
    x = paddle.layer.data(name="x", type=paddle.data_type.dense_vector(3))
    z = paddle.layer.data(name="z", type=paddle.data_type.dense_vector(3))
    dotted = paddle.layer.mixed(
        input=paddle.layer.dotmul_projection(input=z, param_attr=paddle.attr.Param(name="d")), size=3
    )
    outs = [2 * x + 1, x - z, 1 - x, -x, x + z, dotted, paddle.layer.concat(input=[x, z])]
    parameters = paddle.parameters.create(outs)
    parameters["d"] = np.array([[1.0, 2.0, 3.0]])
    a, b = np.array([[1.0, 2.0, 3.0]]), np.array([[5.0, 7.0, 9.0]])
    found = paddle.infer(output_layer=outs, parameters=parameters, input=[(a[0], b[0])])
    expected = [2 * a + 1, a - b, 1 - a, -a, a + b, b * [[1, 2, 3]], np.concatenate([a, b], axis=1)]
    for got, want in zip(found, expected, strict=True):
        np.testing.assert_allclose(got, want)


def test_error_clipping_is_done_before_the_activation_as_in_the_original():
    """Its twin by hand: the error of each sample is bounded, then goes on through tanh."""
    paddle.init(seed=3)
    x = paddle.layer.data(name="x", type=paddle.data_type.dense_vector(2))
    y = paddle.layer.data(name="y", type=paddle.data_type.dense_vector(1))
    bound = paddle.attr.Extra(error_clipping_threshold=0.2)
    hidden = paddle.layer.fc(input=x, size=3, bias_attr=False, layer_attr=bound, name="hidden")
    out = paddle.layer.fc(input=hidden, size=1, act=paddle.activation.Linear(), bias_attr=False, name="out")
    cost = paddle.layer.square_error_cost(input=out, label=y)
    parameters = paddle.parameters.create(cost)
    v, w = (parameters.get(f"_{name}.w0").astype(np.float64) for name in ("hidden", "out"))
    rows = [([0.5, -1.0], [3.0]), ([2.0, 0.3], [-2.0]), ([0.1, 0.1], [0.05])]
    given, wanted = (np.array(column, np.float64) for column in zip(*rows, strict=True))
    trainer = paddle.trainer.SGD(cost, parameters, paddle.optimizer.Momentum(learning_rate=RATE))
    trainer.train(lambda: iter([rows]), num_passes=1)
    h = np.tanh(given @ v)
    error = 2 * (h @ w - wanted)
    back = error @ w.T
    assert (np.abs(back) > 0.2).any() and (np.abs(back) < 0.2).any()
    through = np.clip(back, -0.2, 0.2) * (1 - h**2)
    np.testing.assert_allclose(parameters.get("_hidden.w0"), v - RATE * given.T @ through, rtol=1e-5)
    np.testing.assert_allclose(parameters.get("_out.w0"), w - RATE * h.T @ error, rtol=1e-5)
