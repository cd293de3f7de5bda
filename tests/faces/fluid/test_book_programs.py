"""Programs of the book, small, as people write them: they learn, and what they report is right."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
import pytest

from paddle import fluid

from ..stepping import told

layers = fluid.layers
RNG = np.random.default_rng(5)
SHAPES = RNG.normal(size=(10, 784)).astype(np.float32)
COLOURS = RNG.normal(size=(10, 768)).astype(np.float32)
Feed = Mapping[str, np.ndarray]


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    programs = fluid.program_guard(fluid.Program(), fluid.Program())
    with programs, fluid.unique_name.guard(), fluid.scope_guard(fluid.core.Scope()):
        fluid.default_startup_program().random_seed = fluid.default_main_program().random_seed = 3
        yield


def trained(
    outs: Sequence[fluid.Variable],
    optimizer: fluid.optimizer.Optimizer,
    feed: Callable[[int], Feed],
    steps: int,
) -> tuple[np.ndarray, fluid.Executor, fluid.Program]:
    """What was fetched in each step, and a program for tests that was cloned before."""
    test = fluid.default_main_program().clone(for_test=True)
    optimizer.minimize(outs[0])
    exe = fluid.Executor(fluid.CPUPlace())
    exe.run(fluid.default_startup_program())
    found = told(lambda exe, step: exe.run(feed=feed(step), fetch_list=list(outs)), steps)
    return found, exe, test


def labelled(step: int, of: np.ndarray, name: str, *shape: int) -> Feed:
    rng = np.random.default_rng(step % 4)
    label = rng.integers(0, 10, size=(24, 1))
    noise = rng.normal(scale=0.3, size=(24, of.shape[1]))
    images = (of[label[:, 0]] + noise).astype(np.float32)
    return {name: images.reshape(24, *shape), "label": label}


def classified(prediction: fluid.Variable) -> list[fluid.Variable]:
    label = layers.data(name="label", shape=[1], dtype="int64")
    cost = layers.cross_entropy(input=prediction, label=label)
    return [layers.mean(cost), layers.accuracy(input=prediction, label=label)]


def test_digits_are_recognized_by_a_perceptron() -> None:
    img = layers.data(name="img", shape=[1, 28, 28], dtype="float32")
    hidden = layers.fc(input=img, size=32, act="tanh")
    hidden = layers.fc(input=hidden, size=32, act="tanh")
    outs = classified(layers.fc(input=hidden, size=10, act="softmax"))
    feed = lambda step: labelled(step, SHAPES, "img", 1, 28, 28)  # noqa: E731
    found, exe, test = trained(outs, fluid.optimizer.Adam(learning_rate=0.002), feed, 25)
    assert found[-1, 0] < 0.3 < 2 < found[0, 0]
    (right,) = exe.run(test, feed=feed(1), fetch_list=[outs[1]])
    assert right > 0.95


def test_digits_are_recognized_by_convolutions() -> None:
    img = layers.data(name="img", shape=[1, 28, 28], dtype="float32")
    seen = fluid.nets.simple_img_conv_pool(
        input=img, filter_size=5, num_filters=4, pool_size=2, pool_stride=2, act="relu"
    )
    seen = layers.batch_norm(seen)
    seen = fluid.nets.simple_img_conv_pool(
        input=seen, filter_size=5, num_filters=8, pool_size=2, pool_stride=2, act="relu"
    )
    assert seen.shape == (-1, 8, 4, 4)
    outs = classified(layers.fc(input=seen, size=10, act="softmax"))
    feed = lambda step: labelled(step, SHAPES, "img", 1, 28, 28)  # noqa: E731
    found, *_ = trained(outs, fluid.optimizer.Adam(learning_rate=0.01), feed, 16)
    assert found[-1, 0] < 0.5 * found[0, 0]


def vgg(image: fluid.Variable) -> fluid.Variable:
    for filters, rates in ((4, [0.3, 0]), (8, [0.4, 0])):
        image = fluid.nets.img_conv_group(
            input=image,
            pool_size=2,
            pool_stride=2,
            conv_num_filter=[filters] * 2,
            conv_filter_size=3,
            conv_act="relu",
            conv_with_batchnorm=True,
            conv_batchnorm_drop_rate=rates,
            pool_type="max",
        )
    hidden = layers.fc(input=layers.dropout(x=image, dropout_prob=0.2), size=32, act=None)
    hidden = layers.batch_norm(input=hidden, act="relu")
    return layers.fc(input=layers.dropout(x=hidden, dropout_prob=0.2), size=10, act="softmax")


def resnet(image: fluid.Variable) -> fluid.Variable:
    def normalized(
        x: fluid.Variable, filters: int, size: int, stride: int, padding: int, act: str | None = "relu"
    ) -> fluid.Variable:
        seen = layers.conv2d(
            input=x,
            filter_size=size,
            num_filters=filters,
            stride=stride,
            padding=padding,
            act=None,
            bias_attr=False,
        )
        return layers.batch_norm(input=seen, act=act)

    image = normalized(image, 4, 3, 1, 1)
    bent = normalized(normalized(image, 8, 3, 2, 1), 8, 3, 1, 1, act=None)
    image = layers.elementwise_add(x=bent, y=normalized(image, 8, 1, 2, 0, None), act="relu")
    pooled = layers.pool2d(input=image, pool_size=8, pool_type="avg", pool_stride=1)
    return layers.fc(input=pooled, size=10, act="softmax")


@pytest.mark.parametrize("net", [vgg, resnet])
def test_images_are_classified(net: Callable[[fluid.Variable], fluid.Variable]) -> None:
    outs = classified(net(layers.data(name="pixel", shape=[3, 16, 16], dtype="float32")))
    feed = lambda step: labelled(step, COLOURS, "pixel", 3, 16, 16)  # noqa: E731
    found, exe, test = trained(outs, fluid.optimizer.Momentum(0.05, 0.9), feed, 60)
    assert found[-4:, 0].mean() < 0.7 * found[:4, 0].mean()
    scope = fluid.global_scope()
    moved = np.array(scope.find_var("batch_norm_0.w_1").get_tensor())
    assert (moved != 0).all()
    exe.run(test, feed=feed(0), fetch_list=[outs[0]])
    assert (np.array(scope.find_var("batch_norm_0.w_1").get_tensor()) == moved).all()  # a test moves nothing


def test_the_next_word_is_learned() -> None:
    words = [layers.data(name=name, shape=[1], dtype="int64") for name in ("a", "b", "c", "d", "next")]
    rows = [
        layers.embedding(input=word, size=[50, 8], is_sparse=True, param_attr="shared_w")
        for word in words[:4]
    ]
    hidden = layers.fc(input=layers.concat(input=rows, axis=1), size=16, act="sigmoid")
    cost = layers.cross_entropy(input=layers.fc(input=hidden, size=50, act="softmax"), label=words[4])

    def feed(step: int) -> Feed:
        first = np.random.default_rng(step % 3).integers(0, 46, size=(20, 1))
        return {name: first + k for k, name in enumerate(("a", "b", "c", "d", "next"))}

    found, *_ = trained([layers.mean(cost)], fluid.optimizer.Adagrad(learning_rate=0.1), feed, 30)
    assert found[-1, 0] < 0.6 * found[0, 0]
    assert fluid.global_scope().find_var("shared_w").get_tensor().shape() == [50, 8]


def test_a_liking_is_learned_from_two_sides() -> None:
    """As the recommender: two towers, and how alike they are."""
    sides = []
    for name in ("user", "movie"):
        ids = layers.data(name=name, shape=[1], dtype="int64")
        row = layers.embedding(input=ids, size=[12, 8], param_attr=f"{name}_table")
        sides.append(layers.fc(input=layers.fc(input=row, size=8), size=8, act="tanh"))
    score = layers.data(name="score", shape=[1], dtype="float32")
    guess = layers.scale(x=layers.cos_sim(X=sides[0], Y=sides[1]), scale=5.0)
    cost = layers.mean(layers.square_error_cost(input=guess, label=score))

    def feed(step: int) -> Feed:
        user, movie = np.random.default_rng(step % 3).integers(0, 12, size=(2, 32, 1))
        return {
            "user": user,
            "movie": movie,
            "score": np.where((user + movie) % 2, 1.0, 4.0).astype(np.float32),
        }

    found, *_ = trained([cost], fluid.optimizer.Adam(learning_rate=0.03), feed, 60)
    assert found[-1, 0] < 0.4 * found[0, 0]


def test_clicks_are_learned_and_their_curve_is_counted() -> None:
    """As the programs for click-through rates: one table under many slots, and an area over all steps."""
    dense = layers.data(name="dense", shape=[4], dtype="float32")
    label = layers.data(name="label", shape=[1], dtype="int64")
    begins = fluid.ParamAttr(name="factors", initializer=fluid.initializer.Uniform())
    rows = [
        layers.embedding(
            input=layers.data(name=f"C{k}", shape=[1], dtype="int64"),
            size=[50, 6],
            is_sparse=True,
            param_attr=begins,
        )
        for k in range(3)
    ]
    hidden = layers.fc(input=layers.concat([*rows, dense], axis=1), size=16, act="relu")
    shares = layers.fc(input=hidden, size=2, act="softmax")
    cost = layers.reduce_sum(layers.cross_entropy(input=shares, label=label))
    area, of_last, counts = layers.auc(input=shares, label=label, num_thresholds=2**8, slide_steps=5)

    def feed(step: int) -> Feed:
        rng = np.random.default_rng(step)
        ids = {f"C{k}": rng.integers(0, 50, size=(48, 1)) for k in range(3)}
        clicks = (ids["C0"] > 25).astype(np.int64)
        return {**ids, "dense": rng.random((48, 4)).astype(np.float32), "label": clicks}

    found, *_ = trained([cost, area, of_last], fluid.optimizer.Adam(0.03), feed, 30)
    assert found[-1, 2] > 0.97 > found[-1, 1] > found[0, 1]
    held = [np.array(fluid.global_scope().find_var(each.name).get_tensor()).reshape(-1) for each in counts]
    assert held[0][-1] == 30  # steps
    assert sum(each[5 * 257 : 6 * 257].sum() for each in held[:2]) == 5 * 48
    assert sum(each.sum() for each in held[2:]) == 30 * 48


def test_a_program_of_double_numbers_learns() -> None:
    x, y = (layers.data(name=name, shape=[size], dtype="float64") for name, size in (("x", 4), ("y", 1)))
    loss = layers.mean(layers.square_error_cost(input=layers.fc(input=x, size=1), label=y))
    rows = RNG.normal(size=(16, 4))

    def feed(step: int) -> Feed:
        return {"x": rows, "y": rows.sum(1, keepdims=True)}

    found, exe, _ = trained([loss], fluid.optimizer.SGD(0.1), feed, 30)
    assert found[-1, 0] < 0.1 * found[0, 0]
    (last,) = exe.run(feed=feed(0), fetch_list=[loss])
    assert last.dtype == np.float64
