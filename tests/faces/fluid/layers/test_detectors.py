"""Detectors: what they cost, and regions, against what the wheel of 1.8.5 gave for the same numbers; their
gradients, against central differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import paddle.fluid as fluid

from ..numeric import assert_gradients
from .test_boxes import Feed, boxes, data, sums

layers = fluid.layers
ANCHORS = [10, 13, 16, 30, 33, 23]


def learned(name: str, value: np.ndarray) -> Any:
    begin = fluid.initializer.NumpyArrayInitializer(value)
    return layers.create_parameter(list(value.shape), "float32", name=name, default_initializer=begin)


def computed(feed: Feed, *outs: Any) -> list[np.ndarray]:
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    return [np.array(each) for each in exe.run(feed=feed, fetch_list=[*outs], return_numpy=False)]


def single_shot(feed: Feed) -> Any:
    own = np.random.RandomState(0)
    places, scores = (
        learned(name, own.randn(2, 20, size).astype(np.float32)) for name, size in (("l", 4), ("c", 5))
    )
    box = data(feed, "g", boxes(5, seed=9), [2, 3])
    label = data(feed, "y", np.array([[1], [2], [3], [4], [1]], np.int32), [2, 3])
    prior = data(feed, "p", boxes(20, seed=1))
    more: dict[str, Any] = {"neg_pos_ratio": 2.0, "overlap_threshold": 0.3, "loc_loss_weight": 0.7}
    even = [0.1, 0.1, 0.2, 0.2]
    return layers.ssd_loss(
        places, scores, box, label, prior, even, normalize=False, match_type="bipartite", **more
    )


def test_a_detector_of_one_pass_costs_as_in_1_8() -> None:
    feed: Feed = {}
    (found,) = computed(feed, single_shot(feed))
    np.testing.assert_allclose(found, [[35.742760], [32.494591]], rtol=1e-5)


def test_gradients_of_a_detector_of_one_pass() -> None:
    feed: Feed = {}
    single_shot(feed)
    assert_gradients(lambda: layers.reduce_sum(single_shot({})), feed, ["c", "l"], step=2e-3)


def trained_from_zeros(steps: int) -> list[float]:
    """The losses of features that are drawn, and of heads that begin with zeros."""
    image = fluid.data("im", [None, 3, 64, 64])
    x = layers.conv2d(image, 8, 3, stride=8, padding=1, act="relu")
    y = layers.conv2d(x, 8, 3, stride=2, padding=1, act="relu")
    z = layers.conv2d(y, 8, 3, stride=2, padding=1, act="relu")
    heads = layers.multi_box_head([x, y, z], image, 64, 4, [[2.0], [2.0, 3.0], [2.0]], 20, 90, clip=True)
    counts, own = [2, 3, 4, 2, 3], np.random.RandomState(3)
    label = own.randint(1, 4, (14, 1)).astype(np.int32)
    feed: Feed = {"im": np.random.RandomState(1).randn(5, 3, 64, 64).astype(np.float32)}
    right = data(feed, "g", boxes(14, seed=9), counts), data(feed, "y", label, counts)
    loss = layers.reduce_sum(layers.ssd_loss(*heads[:2], *right, *heads[2:]))
    fluid.optimizer.SGD(0.2).minimize(loss)
    exe, drawn = fluid.Executor(), np.random.RandomState(5)
    exe.run(fluid.default_startup_program())
    for each in sorted(fluid.default_main_program().all_parameters(), key=lambda each: each.name):
        is_drawn = each.name[:8] in ("conv2d_0", "conv2d_1", "conv2d_2")
        value = drawn.randn(*each.shape) * 0.2 if is_drawn else np.zeros(each.shape)
        fluid.global_scope().find_var(each.name).get_tensor().set(value.astype(np.float32), None)
    return [float(exe.run(feed=feed, fetch_list=[loss])[0].reshape(-1)[0]) for _ in range(steps)]


def test_priors_that_cost_the_same_are_chosen_as_in_1_8() -> None:
    with fluid.unique_name.guard():
        found = trained_from_zeros(6)
    np.testing.assert_allclose(found, [12.1898, 12.0098, 11.761, 11.35, 10.8717, 10.4243], rtol=2e-5)


def test_heads_have_a_place_and_scores_for_each_prior() -> None:
    image = fluid.data("im", [None, 3, 64, 64])
    first = layers.conv2d(image, 4, 3, stride=8, padding=1)
    second = layers.conv2d(first, 5, 3, stride=2, padding=1)
    third = layers.conv2d(second, 5, 3, stride=2, padding=1)
    shapes = [[2.0], [2.0, 3.0], [2.0]]
    found = layers.multi_box_head([first, second, third], image, 64, 5, shapes, 20, 90, clip=True)
    count = 8 * 8 * 4 + 4 * 4 * 6 + 2 * 2 * 4
    shapes_found = [tuple(each.shape) for each in found]
    assert shapes_found == [(-1, count, 4), (-1, count, 5), (count, 4), (count, 4)]
    feed = {"im": np.zeros((1, 3, 64, 64), np.float32)}
    places, scores, prior, spread = computed(feed, *found)
    assert places.shape == (1, count, 4)
    assert scores.shape == (1, count, 5)
    np.testing.assert_allclose(spread, np.broadcast_to(np.float32([0.1, 0.1, 0.2, 0.2]), spread.shape))
    np.testing.assert_allclose(prior[0], np.float32([4 - 3.2, 4 - 3.2, 4 + 3.2, 4 + 3.2]) / 64, rtol=1e-5)


def test_a_head_over_one_input_puts_nothing_together() -> None:
    image = fluid.data("im", [None, 3, 64, 64])
    first = layers.conv2d(image, 4, 3, stride=8, padding=1)
    told: dict[str, Any] = {"min_sizes": [20.0], "max_sizes": [40.0]}
    places, scores, prior, spread = layers.multi_box_head([first], image, 64, 5, [[2.0]], **told)
    assert [tuple(each.shape) for each in (places, scores)] == [(-1, 8 * 8 * 4 * 4), (-1, 8 * 8 * 4 * 5)]
    assert tuple(prior.shape) == tuple(spread.shape) == (8, 8, 4, 4)


def cells(feed: Feed, scored: bool, **more: Any) -> Any:
    own = np.random.RandomState(2)
    x = learned("x", own.randn(2, 18, 4, 4).astype(np.float32))
    box = np.abs(own.uniform(0.05, 0.4, (2, 5, 4))).astype(np.float32)
    box[..., :2] = own.uniform(0.1, 0.9, (2, 5, 2))
    box[1, 3:] = 0
    label = own.randint(0, 4, (2, 5)).astype(np.int32)
    score = data(feed, "s", own.uniform(0.2, 1, (2, 5)).astype(np.float32)) if scored else None
    told = data(feed, "g", box), data(feed, "y", label), [*ANCHORS, 60, 60], [1, 2], 4
    return layers.yolov3_loss(x, *told, more.pop("threshold"), 32, gt_score=score, **more)


@pytest.mark.parametrize(
    ("scored", "more", "wanted"),
    [
        (False, {"threshold": 0.3}, [63.516788, 51.277355]),
        (True, {"threshold": 0.7, "use_label_smooth": False}, [56.312511, 41.621616]),
        (True, {"threshold": 0.5, "scale_x_y": 1.1}, [56.181122, 41.742176]),
    ],
)
def test_a_grid_of_cells_costs_as_in_1_8(scored: bool, more: dict[str, Any], wanted: list[float]) -> None:
    feed: Feed = {}
    (found,) = computed(feed, cells(feed, scored, **more))
    np.testing.assert_allclose(found, wanted, rtol=1e-5)


def one_box_a_cell(feed: Feed) -> Any:
    x = learned("x", np.random.RandomState(3).randn(1, 9, 2, 2).astype(np.float32) * 0.5)
    box = data(feed, "g", np.array([[[0.2, 0.3, 0.3, 0.4], [0.8, 0.7, 0.2, 0.3], [0, 0, 0, 0]]], np.float32))
    label = data(feed, "y", np.array([[1, 3, 0]], np.int32))
    score = data(feed, "s", np.array([[0.7, 1.0, 1.0]], np.float32))
    return layers.yolov3_loss(x, box, label, [20, 24], [0], 4, 0.99, 32, gt_score=score)


def test_gradients_of_a_grid_of_cells() -> None:
    feed: Feed = {}
    one_box_a_cell(feed)
    assert_gradients(lambda: layers.reduce_sum(one_box_a_cell({})), feed, ["x"])


def test_cells_say_boxes_in_pixels() -> None:
    feed: Feed = {}
    own = np.random.RandomState(0)
    x = data(feed, "x", own.randn(2, 27, 4, 4).astype(np.float32))
    size = data(feed, "i", np.array([[120, 90], [64, 80]], np.int32))
    held = layers.yolo_box(x, size, ANCHORS, 4, 0.4, 32)
    free = layers.yolo_box(x, size, ANCHORS, 4, 0.1, 16, clip_bbox=False, scale_x_y=1.2)
    found = computed(feed, *held, *free)
    assert [each.shape for each in found] == [(2, 48, 4)] * 4
    np.testing.assert_allclose(sums(found[0]), (10773.46825, 9.53324), rtol=1e-4, atol=0.05)
    np.testing.assert_allclose(sums(found[1]), (69.65188, -0.93151), rtol=1e-4, atol=1e-3)
    np.testing.assert_allclose(sums(found[2]), (16702.31695, -158.40289), rtol=1e-4, atol=0.05)


def regions(feed: Feed) -> tuple[Any, Any]:
    x = learned("x", np.random.RandomState(4).randn(2, 3, 9, 11).astype(np.float32))
    return x, data(feed, "r", boxes(6, -10, 100, seed=3), [4, 2])


REGIONS: list[tuple[Any, tuple[float, float]]] = [
    (lambda x, r: layers.roi_pool(x, r, 3, 2, 0.125), (137.16069, 4.5321)),
    (lambda x, r: layers.roi_align(x, r, 3, 2, 0.125), (6.93032, 3.24897)),
    (lambda x, r: layers.roi_align(x, r, 4, 4, 0.2, sampling_ratio=2), (2.64554, -1.10857)),
]


@pytest.mark.parametrize(("layer", "wanted"), REGIONS, ids=["greatest", "mean", "mean_of_four"])
def test_regions_are_cut_out_as_in_1_8(layer: Any, wanted: tuple[float, float]) -> None:
    feed: Feed = {}
    (found,) = computed(feed, layer(*regions(feed)))
    np.testing.assert_allclose(sums(found), wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("layer", [layer for layer, _ in REGIONS], ids=["greatest", "mean", "mean_of_four"])
def test_gradients_go_back_to_what_a_region_saw(layer: Any) -> None:
    def built(feed: Feed) -> Any:
        x = learned(
            "x", np.random.RandomState(4).permutation(2 * 5 * 6).reshape(2, 1, 5, 6).astype(np.float32) / 10
        )
        return layers.mean(layers.square(layer(x, data(feed, "r", boxes(3, 0, 40, seed=3), [2, 1]))))

    feed: Feed = {}
    built(feed)
    assert_gradients(lambda: built({}), feed, ["x"])


def focal(feed: Feed) -> Any:
    x = learned("x", np.random.RandomState(0).randn(6, 4).astype(np.float32) * 3)
    label = data(feed, "y", np.array([[0], [1], [4], [-1], [2], [0]], np.int32))
    return layers.sigmoid_focal_loss(x, label, data(feed, "n", np.array([3], np.int32)))


def test_what_is_sure_and_right_costs_little() -> None:
    feed: Feed = {}
    (found,) = computed(feed, focal(feed))
    np.testing.assert_allclose(found[0], [1.311069, 0.216165, 0.673593, 1.676932], rtol=1e-5)
    assert not found[3].any()
    fresh: Feed = {}
    assert_gradients(lambda: layers.reduce_sum(layers.square(focal(fresh))), feed, ["x"])


@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
def test_channels_have_a_scale_and_a_bias(layout: str) -> None:
    value = np.random.RandomState(0).randn(2, 3, 4, 3).astype(np.float32)

    def built(feed: Feed) -> Any:
        scale, bias = (
            learned(name, np.array(each, np.float32)) for name, each in (("s", [1, 2, -1]), ("b", [0, 1, 3]))
        )
        return layers.affine_channel(data(feed, "x", value), scale, bias, data_layout=layout)

    feed: Feed = {}
    (found,) = computed(feed, built(feed))
    along = (3, 1, 1) if layout == "NCHW" else (3,)
    scale, bias = (np.array(each, np.float32).reshape(along) for each in ([1, 2, -1], [0, 1, 3]))
    np.testing.assert_allclose(found, value * scale + bias, rtol=1e-6)
    assert_gradients(lambda: layers.mean(layers.square(built({}))), feed, ["b", "s"])
