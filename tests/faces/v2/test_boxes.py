"""Objects in images in v2: SSD's layers, the mean precision of what they find, and regions."""

from __future__ import annotations

import numpy as np
import pytest

import paddle.v2 as paddle
from paddle.v2._measures.objects import Objects

RNG = np.random.default_rng(17)
SIDE, CLASSES = 16, 3
FEEDING = {"image": 0, "objects": 1}


class Ssd:
    """Four priors in each of 4 x 4 cells of small images."""

    def __init__(self, keep: int = 6) -> None:
        pixels = paddle.data_type.dense_vector(3 * SIDE * SIDE)
        self.image = paddle.layer.data(name="image", type=pixels, height=SIDE, width=SIDE)
        self.seen = paddle.layer.img_conv(self.image, 5, 8, num_channels=3, padding=2, stride=4, name="seen")
        self.priors = paddle.layer.priorbox(
            self.seen,
            self.image,
            aspect_ratio=[2.0],
            variance=[0.1, 0.1, 0.2, 0.2],
            min_size=[4],
            max_size=[8],
        )
        self.loc, self.conf = (self.told(name, 4 * wide) for name, wide in (("loc", 4), ("conf", CLASSES)))
        kind = paddle.data_type.dense_vector_sequence(6)
        self.label = paddle.layer.data(name="objects", type=kind)
        self.cost = paddle.layer.multibox_loss(
            [self.loc], self.conf, self.priors, self.label, CLASSES, name="cost"
        )
        self.found = paddle.layer.detection_output(
            self.loc, [self.conf], self.priors, CLASSES, keep_top_k=keep, name="found"
        )

    def told(self, name: str, filters: int) -> paddle.layer.LayerOutput:
        linear = paddle.activation.Linear()
        return paddle.layer.img_conv(self.seen, 3, filters, padding=1, act=linear, name=name)


def pictures(count: int) -> list[tuple[np.ndarray, list[list[float]]]]:
    made = []
    for number in range(count):
        image, rows = RNG.normal(scale=0.1, size=(3, SIDE, SIDE)), []
        for _ in range(number % 3):
            (left, top), (wide, tall) = RNG.uniform(0, 0.6, 2), RNG.uniform(0.2, 0.4, 2)
            kind = int(RNG.integers(1, CLASSES))
            ends = [left, top, left + wide, top + tall]
            x, y, right, bottom = (int(each * SIDE) for each in ends)
            image[kind, y:bottom, x:right] += 2
            rows.append([kind, *ends, 0.0])
        made.append((image.astype(np.float32).ravel(), rows))
    return made


def trained(
    net: Ssd, rows: list, passes: int, rate: float = 3e-2, handler=None
) -> tuple[paddle.trainer.SGD, paddle.parameters.Parameters]:
    parameters = paddle.parameters.create(net.cost)
    rule = paddle.optimizer.Momentum(momentum=0.9, learning_rate=rate)
    trainer = paddle.trainer.SGD(net.cost, parameters, rule, extra_layers=[net.found])
    reader = paddle.batch(lambda: iter(rows), 8)
    trainer.train(reader, num_passes=passes, event_handler=handler, feeding=FEEDING)
    return trainer, parameters


def test_priors_stand_in_the_middle_of_each_cell() -> None:
    net = Ssd()
    assert (net.priors.size, net.priors.num_filters) == (4 * 4 * 4 * 8, 16)
    parameters = paddle.parameters.create(net.cost)
    found = paddle.infer(net.priors, parameters, [(np.zeros(3 * SIDE * SIDE),)]).reshape(4, 4, 4, 8)
    assert (found[..., 4:] == np.float32([0.1, 0.1, 0.2, 0.2])).all()
    np.testing.assert_allclose(found[1, 2, 0, :4], [0.5, 0.25, 0.75, 0.5])
    between = np.array([10 - 32**0.5 / 2, 6 - 32**0.5 / 2, 10 + 32**0.5 / 2, 6 + 32**0.5 / 2]) / 16
    np.testing.assert_allclose(found[1, 2, 1, :4], between, rtol=1e-6)
    wide, tall = 4 * 2**0.5 / 16, 4 / 2**0.5 / 16
    sides = found[1, 2, 2:, 2:4] - found[1, 2, 2:, :2]
    np.testing.assert_allclose(sides, [[wide, tall], [tall, wide]], rtol=1e-6)
    np.testing.assert_allclose(found[0, 0, 1, :2], 0)  # held within the image


def test_each_sample_reports_the_batchs_cost_and_its_gradient_comes_back_once() -> None:
    net, rows, seen = Ssd(), pictures(6), []
    net.cost = paddle.layer.multibox_loss(  # all that show nothing count: none is chosen by its scores
        net.loc, net.conf, net.priors, net.label, CLASSES, neg_pos_ratio=100.0
    )
    parameters = paddle.parameters.create(net.cost)
    held = paddle.optimizer.Momentum(momentum=0.0, learning_rate=0.0)
    trainer = paddle.trainer.SGD(net.cost, parameters, held, extra_layers=[net.found])

    def look(event: object) -> None:
        if isinstance(event, paddle.event.EndForwardBackward):
            seen.append({name: parameters.get_grad(name) for name in ("_loc.w0", "_conf.wbias")})

    def cost(name: str, place: tuple[int, ...], by: float) -> float:
        moved = parameters[name]
        moved[place] += by
        parameters[name] = moved
        found = trainer.test(paddle.batch(lambda: iter(rows), 6), feeding=FEEDING).cost
        moved[place] -= by
        parameters[name] = moved
        return found

    trainer.train(paddle.batch(lambda: iter(rows), 6), event_handler=look, feeding=FEEDING)
    for name, place in (("_loc.w0", (0, 7)), ("_loc.w0", (0, 700)), ("_conf.wbias", (4, 0))):
        slope = (cost(name, place, 1e-2) - cost(name, place, -1e-2)) / 2e-2
        assert seen[0][name][place] == pytest.approx(slope, rel=2e-2, abs=2e-3)


def test_it_learns_to_find_objects() -> None:
    net, rows, costs = Ssd(), pictures(24), []
    paddle.evaluator.detection_map(net.found, net.label, overlap_threshold=0.3, name="map")

    def look(event: object) -> None:
        if isinstance(event, paddle.event.EndPass):
            costs.append(event.metrics["map"])

    trainer, parameters = trained(net, rows, 25, handler=look)
    result = trainer.test(paddle.batch(lambda: iter(rows), 5), feeding=FEEDING)
    assert result.metrics["map"] > 90 > costs[0]
    found = paddle.infer(net.found, parameters, [(image,) for image, _ in rows[:6]])
    assert found.shape[1] == 7
    assert (np.diff(found[:, 0]) >= 0).all()
    assert set(found[:, 0]) <= set(range(6))
    assert (found[:, 2] > 0.01).all()
    assert found[:, 3:].min() >= 0
    best = found[found[:, 0] == 2][:, 2].max()
    assert best > 0.5


def test_nothing_that_is_sure_enough_is_no_row() -> None:
    net = Ssd()
    net.found = paddle.layer.detection_output(
        net.loc, net.conf, net.priors, CLASSES, confidence_threshold=0.99, name="sure"
    )
    parameters = paddle.parameters.create([net.cost, net.found])
    assert paddle.infer(net.found, parameters, [(image,) for image, _ in pictures(3)]).shape == (0, 7)


def row(kind: int, left: float, difficult: float = 0.0) -> list[float]:
    return [kind, left, 0.0, left + 0.2, 0.2, difficult]


def hit(kind: int, score: float, left: float) -> list[float]:
    return [0, kind, score, left, 0.0, left + 0.2, 0.2]


# Of class 1: the second is found twice, the third is difficult, nothing is where the last is.
LABEL = np.array([row(1, 0.0), row(1, 0.3), row(1, 0.6, 1.0), row(2, 0.0), row(3, 0.5)], np.float32)
FOUND = np.array(
    [
        hit(1, 0.9, 0.3),
        hit(1, 0.8, 0.31),
        hit(1, 0.7, 0.0),
        hit(1, 0.6, 0.6),
        hit(1, 0.5, 0.9),
        hit(2, 0.4, 0.0),
    ],
    np.float32,
)


@pytest.mark.parametrize(
    ("way", "with_difficult", "mean"),
    [
        ("Integral", False, (1 / 2 * 1 + 1 / 2 * 2 / 3 + 1) / 2),
        ("Integral", True, (1 / 3 * 1 + 1 / 3 * 2 / 3 + 1 / 3 * 3 / 4 + 1) / 2),
        ("11point", False, ((6 * 1 + 5 * 2 / 3) / 11 + 1) / 2),
        ("11point", True, ((4 * 1 + 7 * 3 / 4) / 11 + 1) / 2),
    ],
)
def test_a_mean_precision_is_that_of_the_original(way: str, with_difficult: bool, mean: float) -> None:
    """Class 3, of which nothing was found, is left out."""
    ends, label_ends = np.array([0, 6]), np.array([0, 5])
    whole = Objects.of([FOUND, ends, LABEL, label_ends], way, 0.5, with_difficult)
    assert whole.said()[""] == pytest.approx(100 * mean)
    assert Objects(way, {}, {}).said()[""] == 0
    twice = (whole + whole).said()[""]
    assert 0 < twice <= 100


def test_regions_of_images_are_cut_into_cells() -> None:
    pixels = paddle.data_type.dense_vector(2 * 4 * 4)
    image = paddle.layer.data(name="image", type=pixels, height=4, width=4)
    regions = paddle.layer.data(name="regions", type=paddle.data_type.dense_vector_sequence(5))
    cells = paddle.layer.roi_pool(
        image, regions, pooled_width=2, pooled_height=1, spatial_scale=0.5, num_channels=2
    )
    assert (cells.size, cells.num_filters) == (4, 2)
    last = paddle.layer.last_seq(cells)
    parameters = paddle.parameters.create(paddle.layer.fc(last, size=1))
    rows = RNG.normal(size=(2, 2, 4, 4)).astype(np.float32)
    told = [[[0, 0, 0, 6, 2]], [[1, 2, 2, 4, 6], [1, 0, 0, 2, 2]]]
    given = [(image.ravel(), each) for image, each in zip(rows, told, strict=True)]
    found = paddle.infer([cells, last], parameters, given)
    expected = [
        rows[0][:, 0:2].reshape(2, 2, 2, 2).max((1, 3)),
        np.stack([rows[1][:, 1:, 1].max(1), rows[1][:, 1:, 2].max(1)], 1),
        np.stack([rows[1][:, :2, 0].max(1), rows[1][:, :2, 1].max(1)], 1),
    ]
    wanted = np.stack([each.ravel() for each in expected])
    np.testing.assert_allclose(found[0], wanted)
    np.testing.assert_allclose(found[1], wanted[[0, 2]])


WRONG = [
    (lambda net: paddle.layer.priorbox(net.seen, net.seen, [2.0], [0.1] * 4, [4]), "image is a data layer"),
    (lambda net: paddle.layer.priorbox(net.seen, net.image, [2.0], [0.1], [4]), "variance is 4 numbers"),
    (
        lambda net: paddle.layer.priorbox(net.seen, net.image, [2.0], [0.1] * 4, [4], [8, 9]),
        "none or as many",
    ),
    (
        lambda net: paddle.layer.priorbox(net.seen, net.image, [2.0], [0.1] * 4, [4.5]),
        "whole pixels, not 4.5",
    ),
    (
        lambda net: paddle.layer.multibox_loss(net.loc, net.conf, net.priors, net.label, 4),
        "4 offsets and 4 scores",
    ),
    (
        lambda net: paddle.layer.multibox_loss(net.loc, net.conf, net.priors, net.seen, CLASSES),
        r"dense_vector_sequence\(6\)",
    ),
    (
        lambda net: paddle.layer.multibox_loss(
            net.loc, net.conf, net.priors, net.label, CLASSES, background_id=3
        ),
        "of 3 classes none is background_id=3",
    ),
    (
        lambda net: paddle.layer.detection_output(net.loc, net.conf, net.priors, CLASSES, keep_top_k=0),
        "keep_top_k is 1 or more",
    ),
    (lambda net: paddle.evaluator.detection_map(net.found, net.label, ap_type="mean"), "11point, Integral"),
    (lambda net: paddle.evaluator.detection_map(net.conf, net.label), "reads a detection_output layer"),
    (lambda net: paddle.layer.roi_pool(net.seen, net.label, 2, 2, 1.0), "a row of rois is 5 numbers"),
]


@pytest.mark.parametrize(("wrong", "said"), WRONG, ids=[said for _, said in WRONG])
def test_what_does_not_fit_is_said_where_it_is_written(wrong, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        wrong(Ssd())
