"""Images in v2 as large as a batch has them, whatever size their data layer declares."""

from __future__ import annotations

import io

import numpy as np
import pytest

import paddle.v2 as paddle
from paddle._absent import NotInThisRelease
from paddle._engine.errors import FeedError
from paddle.v2.data_feeder import DataFeeder

layer, LINEAR = paddle.layer, paddle.activation.Linear()
TALL, WIDE = 9, 14
RNG = np.random.default_rng(5)


def network(height: int, width: int):
    """Layers over images of two channels, and a cost of pieces of what blocks see of the last."""
    kind = paddle.data_type.dense_array(2 * height * width)
    image = layer.data(name="image", type=kind, height=height, width=width)
    begins, sizes = (layer.data(name=each, type=paddle.data_type.integer_value_sequence(1)) for each in "bs")
    bounds = layer.data(name="bounds", type=paddle.data_type.dense_vector(6))
    seen = layer.img_conv(
        image, (3, 5), 4, num_channels=2, stride=(1, 2), padding=(1, 2), name="conv", act=LINEAR
    )
    normed = layer.batch_norm(seen, name="norm", act=paddle.activation.BRelu())
    pooled = layer.img_pool(normed, 3, stride=2, name="pool")
    padded = layer.pad(layer.img_cmrnorm(pooled, 3, name="near"), pad_h=[0, 1], name="padded")
    scaled = layer.scale_sub_region(layer.maxout(padded, 2, name="most"), bounds, value=0.5, name="scaled")
    blocks = layer.block_expand(scaled, block_x=2, block_y=3, stride_x=1, stride_y=3, name="blocks")
    pieces = layer.sub_seq(blocks, offsets=begins, sizes=sizes, act=LINEAR, bias_attr=False, name="pieces")
    return [seen, normed, pooled, scaled, pieces], layer.sum_cost(layer.fc(pieces, size=1, name="fc"))


def rows(tall: int, wide: int, count: int = 3):
    """Samples of an image, where its piece begins and how long that is, and what is scaled of it."""
    images = RNG.normal(size=(count, 2, tall, wide)).astype(np.float32)
    return [(image, [number], [2], [1, 2, 1, 2, 3, 2 + number]) for number, image in enumerate(images)]


FEEDING = {"image": 0, "b": 1, "s": 2, "bounds": 3}


def learned(height: int, width: int, given, threads: int = 1):
    """What the layers give before, and all parameters behind, two steps from the same values."""
    paddle.init(use_gpu=False, trainer_count=threads, seed=3)
    outputs, cost = network(height, width)
    parameters = paddle.parameters.create(cost)
    before = paddle.infer(outputs, parameters, given, feeding=FEEDING)
    trainer = paddle.trainer.SGD(cost, parameters, paddle.optimizer.Momentum(learning_rate=0.01))
    trainer.train(lambda: iter([given, given[:2]]), feeding=FEEDING)
    tested = trainer.test(lambda: iter([given]), FEEDING).cost
    return [*before, tested, *(parameters.get(name) for name in sorted(parameters.names()))]


@pytest.mark.parametrize("threads", [1, 2])
def test_what_is_fed_decides_how_large_images_are(threads: int) -> None:
    given = rows(TALL, WIDE)
    opened, declared = learned(5, 5, given, threads), learned(TALL, WIDE, given, threads)
    for found, expected in zip(opened, declared, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_each_batch_has_images_of_its_own_size_and_the_declared_one_is_one_of_them() -> None:
    (_, _, pooled, *_), cost = network(11, 13)
    parameters, costs, gave = paddle.parameters.create(cost), [], []

    def handler(event) -> None:
        if isinstance(event, paddle.event.EndIteration):
            costs.append(event.cost)
            gave.append(event.gm.getLayerOutputs("pool")["pool"]["value"].shape)

    trainer = paddle.trainer.SGD(cost, parameters, paddle.optimizer.Momentum(learning_rate=1e-4))
    batches = [rows(11, 13), rows(TALL, WIDE), rows(11, 13), rows(12, 10)]
    trainer.train(lambda: iter(batches), event_handler=handler, feeding=FEEDING)
    assert np.isfinite(costs).all()
    assert gave == [(3, 4 * 3 * 6), (3, 4 * 2 * 7), (3, 4 * 3 * 6), (3, 4 * 3 * 5)]
    flat = [(image.ravel(), *rest) for image, *rest in batches[0]]
    for given in (flat, batches[0]):
        found = paddle.infer(pooled, parameters, given, feeding=FEEDING)
        assert found.shape == (3, 4 * 3 * 6)


def test_a_network_that_was_saved_takes_images_of_any_size() -> None:
    (_, _, pooled, *_), _ = network(11, 13)
    parameters, file = paddle.parameters.create(pooled), io.BytesIO()
    paddle.topology.Topology(pooled).serialize_for_inference(file)
    file.seek(0)
    inference = paddle.inference.Inference(parameters, fileobj=file)
    given = rows(TALL, WIDE)
    expected = paddle.infer(pooled, parameters, given, feeding=FEEDING)
    np.testing.assert_array_equal(inference.infer(given, feeding=FEEDING), expected)


def test_images_of_other_channels_do_not_fit() -> None:
    (_, _, pooled, *_), _ = network(11, 13)
    parameters = paddle.parameters.create(pooled)
    given = [(np.zeros((3, TALL, WIDE), np.float32), *rest) for _, *rest in rows(TALL, WIDE)]
    with pytest.raises(FeedError, match="378 values, where 252 are needed"):
        paddle.infer(pooled, parameters, given, feeding=FEEDING)


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (np.zeros((3, TALL, WIDE)), "378 values, where 252 are needed"),
        ([[None] * WIDE] * TALL, "None is not a number"),
        ([[0.0, 1.0], [2.0]], "these are not numbers, or lists of unequal length"),
    ],
)
def test_beside_images_that_are_as_declared_the_one_that_does_not_fit_is_named(wrong, why) -> None:
    feeder = DataFeeder(
        [("image", paddle.data_type.dense_vector(2 * 11 * 13))], images={"image": (2, 11, 13)}
    )
    for right in (np.zeros(2 * 11 * 13), [0.0] * (2 * 11 * 13)):
        with pytest.raises(FeedError, match=f"row 1 of the batch.*{why}"):
            feeder([(right,), (wrong,)])


def test_what_layers_gave_is_found_after_a_test_of_other_images() -> None:
    _, cost = network(11, 13)
    names, gave = ["conv", "norm", "pool", "pieces"], []

    def handler(event) -> None:
        if isinstance(event, paddle.event.EndIteration):
            gave.append(event.gm.getLayerOutputs(names[:2]))
            trainer.test(lambda: iter([rows(TALL, WIDE)]), FEEDING)
            gave.append(event.gm.getLayerOutputs(names))

    trainer = paddle.trainer.SGD(
        cost, paddle.parameters.create(cost), paddle.optimizer.Momentum(learning_rate=1e-4)
    )
    trainer.train(lambda: iter([rows(11, 13)] * 2), event_handler=handler, feeding=FEEDING)
    for before, after in zip(gave[::2], gave[1::2], strict=True):
        assert [len(after[name]["value"]) for name in names] == [3, 3, 3, 6]
        for name in before:
            np.testing.assert_allclose(before[name]["value"], after[name]["value"], rtol=1e-5, atol=1e-6)


def test_what_is_dropped_is_the_same_behind_a_test_of_other_images() -> None:
    kind = paddle.data_type.dense_vector(2 * 6 * 6)
    small, large = ([(RNG.normal(size=(2, side, side)), [1.0]) for _ in range(8)] for side in (6, 9))

    def costs(tests: bool) -> list[float]:
        paddle.init(use_gpu=False, seed=3)
        image = layer.data(name="image", type=kind, height=6, width=6)
        target = layer.data(name="target", type=paddle.data_type.dense_vector(1))
        filters = paddle.attr.Param(name="filters", initial_std=0.5)
        half = paddle.attr.Extra(drop_rate=0.5)
        seen = layer.img_conv(image, 3, 2, num_channels=2, act=LINEAR, param_attr=filters, layer_attr=half)
        most = layer.bilinear_interp(seen, out_size_x=2, out_size_y=2)
        line = paddle.attr.Param(name="line", initial_std=0.5)
        cost = layer.square_error_cost(layer.fc(most, size=1, act=LINEAR, param_attr=line), target)
        parameters, found = paddle.parameters.create(cost), []

        def handler(event) -> None:
            if isinstance(event, paddle.event.EndIteration):
                found.append(event.cost)
                if tests:
                    trainer.test(lambda: iter([large]))

        trainer = paddle.trainer.SGD(cost, parameters, paddle.optimizer.Momentum(learning_rate=1e-3))
        trainer.train(lambda: iter([small] * 3), event_handler=handler)
        return found

    np.testing.assert_allclose(costs(tests=True), costs(tests=False), rtol=1e-5)


def test_images_of_other_sides_but_as_many_pixels_are_seen_as_they_are() -> None:
    turned = rows(13, 11)
    found, expected = (
        paddle.infer(outputs[2], paddle.parameters.create(outputs[2]), turned, feeding=FEEDING)
        for outputs in (network(*sides)[0] for sides in ((11, 13), (13, 11)))
    )
    np.testing.assert_array_equal(found, expected)


def test_a_batch_of_images_turned_either_way_is_refused() -> None:
    (_, _, pooled, *_), _ = network(11, 13)
    mixed = [*rows(11, 13), *rows(13, 11)]
    parameters = paddle.parameters.create(pooled)
    with pytest.raises(FeedError, match="'image': images of 11 x 13 and 13 x 11 are in one batch"):
        paddle.infer(pooled, parameters, mixed, feeding=FEEDING)
    lists = [(image.tolist(), *rest) for image, *rest in mixed]
    with pytest.raises(FeedError, match="images of 11 x 13 and 13 x 11 are in one batch"):
        paddle.infer(pooled, parameters, lists, feeding=FEEDING)
    bare = [(image.reshape(11, 26), *rest) for image, *rest in rows(11, 13)]  # as declared, of other sides
    found = paddle.infer(pooled, parameters, bare, feeding=FEEDING)
    assert found.shape == (3, 4 * 3 * 6)


def test_layers_whose_windows_follow_from_the_declared_size_refuse_another() -> None:
    kind = paddle.data_type.dense_vector(2 * 6 * 6)
    image = layer.data(name="image", type=kind, height=6, width=6)
    seen = layer.img_conv(image, 3, 2, num_channels=2, padding=1)
    boxes = layer.priorbox(seen, image, aspect_ratio=[2.0], variance=[0.1] * 4, min_size=[2])
    for output in (layer.spp(image, pool_type=paddle.pooling.Max(), pyramid_height=2), boxes):
        parameters = paddle.parameters.create([output, seen])
        given = [(np.ones((2, 6, 9), np.float32),)]
        with pytest.raises(NotInThisRelease, match="sees images of the size that their data layer declares"):
            paddle.infer([output, seen], parameters, given)


def convolved(kind):
    """The mean of what one filter makes of images of 4 x 4 in a slot of that kind."""
    paddle.init(use_gpu=False, seed=3)
    image = layer.data(name="image", type=kind, height=4, width=4)
    seen = layer.img_conv(image, 3, 2, num_channels=1, padding=1, name="conv", act=LINEAR)
    return layer.fc(seen, size=1, name="fc", act=LINEAR)


def test_sequences_of_images_and_images_of_few_pixels_are_read_as_declared() -> None:
    types = paddle.data_type
    pictures = (RNG.random((3, 16)) > 0.5).astype(np.float32)
    outputs = [convolved(each(16)) for each in (types.dense_vector, types.sparse_binary_vector)]
    given = [[(row,) for row in pictures], [(np.flatnonzero(row).tolist(),) for row in pictures]]
    outputs.append(convolved(types.dense_vector_sequence(16)))
    given.append([(list(pictures[:2]),), (list(pictures[2:]),)])
    flat, *others = (
        paddle.infer(out, paddle.parameters.create(out), rows)
        for out, rows in zip(outputs, given, strict=True)
    )
    for found in others:
        np.testing.assert_allclose(found, flat, rtol=1e-5)
