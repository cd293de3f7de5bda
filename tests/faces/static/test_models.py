"""Models as people write them for parameter servers, in small: each is built, trained and printed."""

import numpy as np
import pytest

import paddle
from paddle import nn
from paddle.nn import functional

pytestmark = pytest.mark.usefixtures("alone")

ROWS, IDS = 16, 40
RNG = np.random.default_rng(3)


def losses(loss, optimizer, feed, steps=12, fetch=()):
    """Of a few steps on one batch."""
    optimizer.minimize(loss)
    paddle.static.default_startup_program().random_seed = 3
    found = trained(loss, feed, steps, fetch)
    assert loss.name in str(paddle.static.default_main_program())
    return found


def trained(loss, feed, steps, fetch):
    executor = paddle.static.Executor(paddle.CPUPlace())
    executor.run(paddle.static.default_startup_program())
    return [executor.run(feed=feed, fetch_list=[loss, *fetch])[0].item() for _ in range(steps)]


def fallen(found):
    return np.all(np.isfinite(found)) and found[-1] < 0.9 * found[0]


def clicks(slots=4, dense=5):
    """A label, slots of ids and numbers, and a batch of them."""
    label = paddle.static.data("label", [None, 1], "int64")
    ids = [paddle.static.data(f"C{n}", [None, 1], "int64") for n in range(slots)]
    numbers = paddle.static.data("dense", [None, dense])
    feed = {
        "label": RNG.integers(0, 2, (ROWS, 1)),
        "dense": RNG.random((ROWS, dense), np.float32),
        **{f"C{n}": RNG.integers(0, IDS, (ROWS, 1)) for n in range(slots)},
    }
    return label, ids, numbers, feed


class FactorizationMachine(nn.Layer):
    """Tables that are looked up by ids put together in the program; parameters of its own."""

    def __init__(self):
        super().__init__()
        drawn = paddle.ParamAttr(initializer=nn.initializer.TruncatedNormal(mean=0.0, std=0.1))
        self.first = nn.Embedding(IDS, 1, sparse=True, padding_idx=0, weight_attr=drawn)
        self.second = nn.Embedding(IDS, 4, sparse=True, padding_idx=0, weight_attr=drawn)
        tenth = nn.initializer.Constant(0.1)
        self.dense_first = self.create_parameter(shape=[5], default_initializer=tenth)
        self.dense_second = self.create_parameter(shape=[1, 5, 4], default_initializer=tenth)

    def forward(self, ids, dense):
        together = paddle.concat(ids, axis=1)
        linear = paddle.sum(self.first(together), 1) + paddle.sum(
            paddle.unsqueeze(paddle.multiply(dense, self.dense_first), axis=2), 1
        )
        scaled = paddle.multiply(paddle.unsqueeze(dense, axis=2), self.dense_second)
        rows = paddle.concat([self.second(together), scaled], 1)
        apart = paddle.square(paddle.sum(rows, 1)) - paddle.sum(paddle.square(rows), 1)
        return linear, 0.5 * paddle.sum(apart, 1, keepdim=True), rows


def test_deepfm():
    label, ids, dense, feed = clicks()
    machine = FactorizationMachine()
    linear, pairs, rows = machine(ids, dense)
    deep = paddle.reshape(rows, [-1, 9 * 4])
    for inputs, outputs in ((36, 8), (8, 1)):
        deep = nn.Linear(inputs, outputs)(deep)
    chance = functional.sigmoid(linear + pairs + deep)
    loss = paddle.mean(functional.log_loss(chance, paddle.cast(label, dtype="float32")))
    area, recent, _ = paddle.static.auc(paddle.concat([1 - chance, chance], axis=-1), label, slide_steps=3)
    assert fallen(losses(loss, paddle.optimizer.Adam(0.02, lazy_mode=True), feed, fetch=[area, recent]))
    assert list(machine.state_dict()) == ["dense_first", "dense_second", "first.weight", "second.weight"]


def test_deep_and_cross():
    label, ids, dense, feed = clicks()
    rows = [paddle.reshape(nn.Embedding(IDS, 3)(each), [-1, 3]) for each in ids]
    first = crossed = paddle.concat([*rows, paddle.log(dense + 1.0)], axis=-1)
    for _ in range(2):
        weight = paddle.create_parameter([17], "float32", default_initializer=nn.initializer.Normal(std=0.1))
        crossed = paddle.multiply(first, paddle.sum(crossed * weight, axis=1, keepdim=True)) + crossed
    deep = nn.Sequential(nn.Linear(17, 8), nn.ReLU(), nn.Dropout(0.1), nn.Linear(8, 8), nn.Tanh())(first)
    score = nn.Linear(25, 1)(paddle.concat([deep, crossed], axis=-1))
    loss = functional.binary_cross_entropy_with_logits(score, paddle.cast(label, "float32"))
    assert fallen(losses(loss, paddle.optimizer.Adam(0.03, weight_decay=1e-4), feed))


def test_word_vectors_by_negative_samples():
    word, true = (paddle.static.data(name, [None, 1], "int64") for name in ("word", "true"))
    wrong = paddle.static.data("wrong", [None, 5], "int64")
    table, other, bias = (nn.Embedding(IDS, width, sparse=True) for width in (6, 6, 1))
    center = paddle.squeeze(table(word), axis=[1])
    hit = paddle.sum(center * paddle.squeeze(other(true), axis=[1]), axis=1, keepdim=True)
    hit = paddle.add(hit, paddle.squeeze(bias(true), axis=[1]))
    missed = paddle.matmul(paddle.reshape(center, [-1, 1, 6]), other(wrong), transpose_y=True)
    missed = paddle.reshape(missed, [-1, 5]) + paddle.reshape(bias(wrong), [-1, 5])
    of_hit = functional.binary_cross_entropy_with_logits(hit, paddle.ones_like(hit), reduction="none")
    of_missed = functional.binary_cross_entropy_with_logits(
        missed, paddle.zeros_like(missed), reduction="none"
    )
    loss = paddle.mean(paddle.sum(of_hit, axis=1) + paddle.sum(of_missed, axis=1))
    feed = {name: RNG.integers(0, IDS, (ROWS, 1)) for name in ("word", "true")}
    feed["wrong"] = RNG.integers(0, IDS, (ROWS, 5))
    schedule = paddle.optimizer.lr.ExponentialDecay(1.0, 0.9)
    assert fallen(losses(loss, paddle.optimizer.SGD(schedule), feed))


def test_matching_texts_as_images():
    left, right = (
        paddle.static.data("left", [None, 6], "int64"),
        paddle.static.data("right", [None, 7], "int64"),
    )
    label = paddle.static.data("label", [None, 1])
    table = nn.Embedding(IDS, 6, sparse=True)
    image = paddle.unsqueeze(paddle.matmul(table(left), table(right), transpose_y=True), 1)
    found = functional.relu(nn.Conv2D(1, 3, kernel_size=(2, 3), padding="SAME")(image))
    found = paddle.flatten(functional.max_pool2d(found, kernel_size=[3, 3], stride=[3, 3]), 1, -1)
    chance = functional.sigmoid(nn.Linear(found.shape[1], 1)(found))
    feed = {
        "left": RNG.integers(0, IDS, (ROWS, 6)),
        "right": RNG.integers(0, IDS, (ROWS, 7)),
        "label": RNG.integers(0, 2, (ROWS, 1)).astype(np.float32),
    }
    assert fallen(losses(functional.mse_loss(chance, label), paddle.optimizer.Adam(0.05), feed))


def test_experts_and_gates():
    x, label = paddle.static.data("x", [-1, 6]), paddle.static.data("label", [-1, 2])
    experts = nn.LayerList([nn.Linear(6, 4) for _ in range(3)])
    told = paddle.stack([functional.relu(each(x)) for each in experts], axis=1)
    gate = paddle.unsqueeze(nn.Linear(6, 3)(x), axis=-1)
    mixed = paddle.sum(told * functional.softmax(gate, axis=1), axis=1)
    chances = paddle.clip(functional.softmax(nn.Linear(4, 2)(mixed)), min=1e-15, max=1.0 - 1e-15)
    loss = paddle.mean(functional.cross_entropy(chances, label, soft_label=True, use_softmax=False))
    first = paddle.mean(functional.log_loss(chances[:, 1:2], label[:, 1:2]))
    feed = {
        "x": RNG.random((ROWS, 6), np.float32),
        "label": np.eye(2, dtype=np.float32)[RNG.integers(0, 2, ROWS)],
    }
    assert fallen(losses(loss + first, paddle.optimizer.Adagrad(0.1), feed))


def test_two_towers_over_one_sparse_table():
    _, ids, dense, feed = clicks()
    rows = [
        paddle.static.nn.sparse_embedding(
            input=each,
            size=[IDS, 4],
            param_attr=paddle.ParamAttr(name="table", initializer=nn.initializer.Uniform()),
        )
        for each in ids
    ]
    shared = paddle.concat([paddle.reshape(each, [-1, 4]) for each in rows], axis=1)
    left = paddle.static.nn.fc(x=shared, size=4, activation="relu")
    right = paddle.static.nn.fc(x=[dense, shared], size=4, activation="tanh")
    near = functional.cosine_similarity(left, right, axis=1)
    loss = paddle.mean(functional.l1_loss(near, paddle.ones_like(near), reduction="none"))
    assert fallen(losses(loss, paddle.optimizer.SGD(0.5), feed, steps=30))


def test_images():
    image, label = (
        paddle.static.data("image", [None, 1, 8, 8]),
        paddle.static.data("label", [None, 1], "int64"),
    )
    network = nn.Sequential(
        *(nn.Conv2D(1, 4, 3, padding=1), nn.BatchNorm2D(4), nn.ReLU(), nn.MaxPool2D(2, 2), nn.Flatten()),
        *(nn.Linear(64, 10), nn.LayerNorm(10)),
    )
    scores = network(image)
    share = paddle.metric.accuracy(functional.softmax(scores), label)
    loss = nn.CrossEntropyLoss()(scores, label)
    feed = {"image": RNG.random((ROWS, 1, 8, 8), np.float32), "label": RNG.integers(0, 10, (ROWS, 1))}
    optimizer = paddle.optimizer.Momentum(0.1, 0.9, grad_clip=nn.ClipGradByGlobalNorm(1.0))
    assert fallen(losses(loss, optimizer, feed, fetch=[share]))


def test_ids_declared_as_sequences_may_be_fed_as_arrays_where_nobody_asks_for_sequences():
    ids = paddle.static.data("ids", [None, 1], "int64", lod_level=1)
    rows = paddle.reshape(nn.Embedding(IDS, 4, sparse=True)(ids), [-1, 4])
    loss = paddle.mean(paddle.square(rows - 1.0))
    assert fallen(losses(loss, paddle.optimizer.Adam(0.1), {"ids": np.arange(5)[:, None]}, fetch=[rows]))
    pooled = paddle.static.nn.sequence_pool(rows, "sum")
    executor = paddle.static.Executor()
    with pytest.raises(ValueError, match="fed a LoDTensor"):
        executor.run(feed={"ids": np.arange(5)[:, None]}, fetch_list=[pooled])
