"""Models of the 2.x generation train, by numbers that numpy computes too."""

import numpy as np
import pytest

import paddle
from paddle.nn import functional

pytestmark = pytest.mark.usefixtures("alone")

RNG = np.random.default_rng(5)
X = RNG.random((5, 8, 3), np.float32)
Y = X.sum(2, keepdims=True) + 0.5
FIRST = RNG.random((3, 1)).astype(np.float32)


def regression(optimizer):
    """The losses of five steps, and the weight after them."""
    x, y = paddle.static.data("x", [None, 3]), paddle.static.data("y", [None, 1])
    weight = paddle.ParamAttr(name="w", initializer=paddle.nn.initializer.Assign(FIRST))
    guess = paddle.nn.Linear(3, 1, weight_attr=weight, bias_attr=False)(x)
    loss = functional.mse_loss(guess, y)
    optimizer.minimize(loss)
    executor = paddle.static.Executor(paddle.CPUPlace())
    executor.run(paddle.static.default_startup_program())
    losses = [
        executor.run(feed={"x": a, "y": b}, fetch_list=[loss])[0].item() for a, b in zip(X, Y, strict=True)
    ]
    return losses, np.array(paddle.static.global_scope().find_var("w").get_tensor())


def stepped(move, *, penalty=0.0, longest=None):
    """The same by numpy; ``move``: of a gradient and the step, what is subtracted."""
    w, losses = FIRST.astype(np.float64), []
    for step, (a, b) in enumerate(zip(X.astype(np.float64), Y, strict=True)):
        off = a @ w - b
        losses.append(np.mean(off**2))
        gradient = 2 * a.T @ off / len(a)
        if longest is not None:
            gradient *= min(1.0, longest / np.linalg.norm(gradient))
        w = w - move(gradient + penalty * w, step, w)
    return losses, w


class Adam:
    def __init__(self, decay=0.0, epsilon=1e-8):
        self.m = self.v = 0.0
        self.decay, self.epsilon = decay, epsilon

    def __call__(self, g, step, w):
        self.m, self.v = 0.9 * self.m + 0.1 * g, 0.999 * self.v + 0.001 * g * g
        mean, root = self.m / (1 - 0.9 ** (step + 1)), np.sqrt(self.v / (1 - 0.999 ** (step + 1)))
        kept = w * (1 - 0.1 * self.decay) if self.decay else w
        return w - kept + 0.1 * mean / (root + self.epsilon)


class Momentum:
    def __init__(self):
        self.v = 0.0

    def __call__(self, g, step, w):
        self.v = 0.9 * self.v + g
        return 0.1 * self.v


class Adagrad:
    def __init__(self):
        self.sum = 0.0

    def __call__(self, g, step, w):
        self.sum = self.sum + g * g
        return 0.1 * g / (np.sqrt(self.sum) + 1e-6)


class Adamax:
    def __init__(self):
        self.m = self.most = 0.0

    def __call__(self, g, step, w):
        self.m, self.most = 0.9 * self.m + 0.1 * g, np.maximum(0.999 * self.most + 1e-1, np.abs(g))
        return 0.1 / (1 - 0.9 ** (step + 1)) * self.m / self.most


class RMSProp:
    def __init__(self):
        self.sum = self.mean = self.v = 0.0

    def __call__(self, g, step, w):
        self.sum, self.mean = 0.95 * self.sum + 0.05 * g * g, 0.95 * self.mean + 0.05 * g
        self.v = 0.5 * self.v + 0.05 * g / np.sqrt(self.sum - self.mean**2 + 1e-6)
        return self.v


class Adadelta:
    def __init__(self):
        self.sum = self.moved = 0.0

    def __call__(self, g, step, w):
        self.sum = 0.95 * self.sum + 0.05 * g * g
        move = g * np.sqrt((self.moved + 1e-2) / (self.sum + 1e-2))
        self.moved = 0.95 * self.moved + 0.05 * move**2
        return 0.5 * move


class Lamb:
    def __init__(self):
        self.m = self.v = 0.0

    def __call__(self, g, step, w):
        self.m, self.v = 0.9 * self.m + 0.1 * g, 0.999 * self.v + 0.001 * g * g
        mean, spread = self.m / (1 - 0.9 ** (step + 1)), self.v / (1 - 0.999 ** (step + 1))
        way = mean / (np.sqrt(spread) + 1e-6) + 0.01 * w
        return 0.1 * np.linalg.norm(w) / np.linalg.norm(way) * way


class Ahead:
    """Nesterov's momentum, with a penalty of lengths."""

    def __init__(self):
        self.v = 0.0

    def __call__(self, g, step, w):
        g = g + 0.01 * np.sign(w)
        self.v = 0.9 * self.v + g
        return 0.05 * (g + 0.9 * self.v)


def ahead():
    return paddle.optimizer.Momentum(0.05, use_nesterov=True, weight_decay=paddle.regularizer.L1Decay(0.01))


def spared():
    return paddle.optimizer.AdamW(0.1, apply_decay_param_fun=lambda name: name != "w")


def clipped():
    return paddle.optimizer.SGD(0.1, grad_clip=paddle.nn.ClipGradByGlobalNorm(0.5))


CASES = {
    "sgd": (lambda: paddle.optimizer.SGD(0.1), lambda: stepped(lambda g, n, w: 0.1 * g)),
    "momentum": (lambda: paddle.optimizer.Momentum(0.1, 0.9), lambda: stepped(Momentum())),
    "adam": (lambda: paddle.optimizer.Adam(0.1), lambda: stepped(Adam())),
    "adam, epsilon": (lambda: paddle.optimizer.Adam(0.1, epsilon=0.1), lambda: stepped(Adam(0.0, 0.1))),
    "adamw": (lambda: paddle.optimizer.AdamW(0.1, weight_decay=0.3), lambda: stepped(Adam(0.3))),
    "adagrad": (lambda: paddle.optimizer.Adagrad(0.1), lambda: stepped(Adagrad())),
    "decayed": (
        lambda: paddle.optimizer.SGD(0.1, weight_decay=0.3),
        lambda: stepped(lambda g, n, w: 0.1 * g, penalty=0.3),
    ),
    "adamax": (lambda: paddle.optimizer.Adamax(0.1, epsilon=1e-1), lambda: stepped(Adamax())),
    "rmsprop": (
        lambda: paddle.optimizer.RMSProp(0.05, momentum=0.5, centered=True),
        lambda: stepped(RMSProp()),
    ),
    "adadelta": (lambda: paddle.optimizer.Adadelta(0.5, epsilon=1e-2), lambda: stepped(Adadelta())),
    "lamb": (lambda: paddle.optimizer.Lamb(0.1), lambda: stepped(Lamb())),
    "nesterov": (ahead, lambda: stepped(Ahead())),
    "adamw, spared": (spared, lambda: stepped(Adam())),
    "clipped": (clipped, lambda: stepped(lambda g, n, w: 0.1 * g, longest=0.5)),
}


@pytest.mark.parametrize("name", CASES)
def test_every_step_is_that_of_the_formula(name):
    optimizer, expected = CASES[name]
    losses, weight = regression(optimizer())
    assert losses == pytest.approx(expected()[0], rel=2e-5)
    assert weight == pytest.approx(expected()[1], rel=1e-4)


def test_a_model_of_three_generations_learns_the_same():
    found = [regression(paddle.optimizer.SGD(0.1))[0], by_fluid(), by_v2()]
    assert found[1] == pytest.approx(found[0], rel=1e-6)
    assert found[2] == pytest.approx(found[0], rel=1e-5)


def by_fluid():
    from paddle import fluid

    main, startup = fluid.Program(), fluid.Program()
    with fluid.program_guard(main, startup), fluid.unique_name.guard(), fluid.scope_guard(fluid.core.Scope()):
        x, y = fluid.layers.data("x", [3]), fluid.layers.data("y", [1])
        guess = fluid.layers.fc(x, 1, param_attr="w", bias_attr=False)
        loss = fluid.layers.mean(fluid.layers.square_error_cost(guess, y))
        fluid.optimizer.SGD(0.1).minimize(loss)
        executor = fluid.Executor(fluid.CPUPlace())
        executor.run(startup)
        fluid.global_scope().find_var("w").get_tensor().set(FIRST, fluid.CPUPlace())
        return [
            executor.run(main, feed={"x": a, "y": b}, fetch_list=[loss])[0].item()
            for a, b in zip(X, Y, strict=True)
        ]


def by_v2():
    """It adds up over a batch what the others take the mean of."""
    import paddle.v2 as v2

    v2.init()
    x = v2.layer.data(name="x", type=v2.data_type.dense_vector(3))
    y = v2.layer.data(name="y", type=v2.data_type.dense_vector(1))
    named = v2.attr.Param(name="w")
    guess = v2.layer.fc(input=x, size=1, act=v2.activation.Linear(), param_attr=named, bias_attr=False)
    cost = v2.layer.square_error_cost(input=guess, label=y)
    parameters = v2.parameters.create(cost)
    parameters.set("w", FIRST)
    update = paddle.optimizer.Momentum(learning_rate=0.1 / 8, momentum=0)
    trainer = v2.trainer.SGD(cost, parameters, update)
    losses = []

    def note(event):
        if isinstance(event, v2.event.EndIteration):
            losses.append(event.cost)

    rows = [(a, b) for xs, ys in zip(X, Y, strict=True) for a, b in zip(xs, ys, strict=True)]
    trainer.train(v2.batch(lambda: iter(rows), 8), num_passes=1, event_handler=note)
    return losses


def test_a_schedule_is_read_at_every_step():
    schedule = paddle.optimizer.lr.PiecewiseDecay([2], [0.1, 0.0])
    x = paddle.static.data("x", [None, 3])
    loss = paddle.mean(paddle.nn.Linear(3, 1)(x))
    optimizer = paddle.optimizer.SGD(schedule)
    optimizer.minimize(loss)
    executor = paddle.static.Executor()
    executor.run(paddle.static.default_startup_program())
    found = []
    for _ in range(4):
        found.append(executor.run(feed={"x": X[0]}, fetch_list=[loss])[0].item())
        schedule.step()
    assert found[0] > found[1] > found[2] == found[3]
    assert optimizer.get_lr() == 0.0
    assert optimizer.state_dict()["LR_Scheduler"]["last_epoch"] == 4
    assert optimizer._learning_rate is schedule  # programs call its step() so
    with pytest.raises(RuntimeError, match="LRScheduler"):
        optimizer.set_lr(0.1)


def test_a_program_computes_with_its_learning_rate_however_that_was_set():
    """2.6.2 trains and fetches the same, where a number with an axis keeps it."""
    x = paddle.static.data("x", [None, 3])
    weight = paddle.ParamAttr(initializer=paddle.nn.initializer.Constant(0.5))
    loss = paddle.mean(paddle.static.nn.fc(x, 1, weight_attr=weight) ** 2)
    optimizer = paddle.optimizer.SGD(1 / 16)
    optimizer.minimize(loss)
    rate = optimizer._global_learning_rate()
    read = [3 * rate, x + rate, paddle.reshape(rate, [1])]
    assert [tuple(each.shape) for each in read] == [(), (-1, 3), (1,)]
    executor = paddle.static.Executor()
    executor.run(paddle.static.default_startup_program())
    held = paddle.static.global_scope().find_var(rate.name).get_tensor()
    out = 1.5
    for value, given in [
        (1 / 16, None),
        (1 / 32, np.full(1, 1 / 32, np.float32)),
        (1 / 64, np.array(1 / 64)),
    ]:
        if given is not None:
            held.set(given, paddle.CPUPlace())
        fetched = executor.run(feed={"x": np.ones((2, 3), "float32")}, fetch_list=[loss, *read])
        assert [each.ravel()[0] for each in fetched] == [out**2, 3 * value, 1 + value, value]
        out *= 1 - 8 * value
    assert optimizer.get_lr() == 1 / 64


class WideDeep(paddle.nn.Layer):
    """The network of the wide_and_deep example: one table for all slots, a wide part, a deep part."""

    def __init__(self, height, width, slots, dense, sizes):
        super().__init__()
        self.slots = slots
        self.embedding = paddle.nn.Embedding(
            height,
            width,
            sparse=True,
            weight_attr=paddle.ParamAttr(name="table", initializer=paddle.nn.initializer.Uniform()),
        )
        self.wide = paddle.nn.Linear(dense, 1)
        self.deep = []
        for number, (inputs, outputs) in enumerate(
            zip([width * slots + dense, *sizes], [*sizes, 1], strict=True)
        ):
            drawn = paddle.nn.initializer.Normal(std=inputs**-0.5)
            layer = paddle.nn.Linear(inputs, outputs, weight_attr=paddle.ParamAttr(initializer=drawn))
            self.add_sublayer(f"linear_{number}", layer)
            self.deep.append(layer)
            if number < len(sizes):
                self.add_sublayer(f"relu_{number}", paddle.nn.ReLU())
                self.deep.append(self._sub_layers[f"relu_{number}"])

    def forward(self, ids, dense):
        rows = [paddle.reshape(self.embedding(each), [-1, 4]) for each in ids]
        deep = paddle.concat([*rows, dense], axis=1)
        for layer in self.deep:
            deep = layer(deep)
        return functional.sigmoid(paddle.add(self.wide(dense), deep))


def batches(count, slots=3, height=50):
    rng = np.random.default_rng(7)
    for _ in range(count):
        ids = rng.integers(0, height, (slots, 64, 1))
        dense = rng.random((64, 4), np.float32)
        label = ((ids[0] % 2) + dense[:, :1] > 1.0).astype(np.float32)
        yield {"dense": dense, "label": label, **{f"C{n}": each for n, each in enumerate(ids)}}


def test_wide_and_deep_learns_and_tells_its_measures():
    dense, label = paddle.static.data("dense", [None, 4]), paddle.static.data("label", [None, 1])
    ids = [paddle.static.data(f"C{n}", [None, 1], "int64") for n in range(3)]
    network = WideDeep(50, 4, 3, 4, [8, 8])
    chance = network(ids, dense)
    both = paddle.concat([1 - chance, chance], axis=-1)
    area, _, counts = paddle.static.auc(both, paddle.cast(label, "int64"), slide_steps=0)
    share = paddle.static.accuracy(both, paddle.cast(label, "int64"))
    loss = paddle.mean(functional.log_loss(chance, label))
    test = paddle.static.default_main_program().clone(for_test=True)
    paddle.optimizer.Adam(0.05).minimize(loss)
    assert [name for name, _ in network.named_parameters()][:3] == [
        "embedding.weight",
        "wide.weight",
        "wide.bias",
    ]
    executor = paddle.static.Executor()
    executor.run(paddle.static.default_startup_program())
    for batch in batches(60):
        executor.run(feed=batch, fetch_list=[loss])
    scope = paddle.static.global_scope()
    for count in counts:
        tensor = scope.find_var(count.name).get_tensor()
        tensor.set(np.zeros(tensor.shape(), np.int64), None)
    table = np.array(scope.find_var("table").get_tensor())
    found = [executor.run(test, feed=batch, fetch_list=[area, share]) for batch in batches(3)]
    assert found[-1][0].item() > 0.999  # from the seed's first values it is 1, in whichever order tests run
    assert np.mean([each[1] for each in found]) > 0.99
    assert np.array_equal(table, np.array(scope.find_var("table").get_tensor()))
