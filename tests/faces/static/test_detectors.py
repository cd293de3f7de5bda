"""What detectors of 2.x are made of: as fluid's, with regions counted by image."""

from __future__ import annotations

import numpy as np
import pytest

import paddle
from paddle import fluid
from paddle.vision import ops
from tests.faces.static.feeding import data, ran
from tests.faces.static.slopes import hold

pytestmark = pytest.mark.usefixtures("alone")

RNG = np.random.default_rng(6)
IMAGES = RNG.normal(size=(2, 8, 9, 10))
CORNERS = np.sort(RNG.random((5, 2, 2)) * 8, 1).reshape(5, 4)
COUNTS = np.array([2, 3])


def test_regions_by_image_are_those_of_sequences() -> None:
    x, boxes, counts = data((IMAGES, CORNERS, COUNTS), feed := {})
    rows = paddle.static.data("rows", [None, 4], lod_level=1)
    feed["rows"] = fluid.create_lod_tensor(CORNERS.astype("float32"), [[2, 3]], fluid.CPUPlace())
    layers = fluid.layers
    given = (x, boxes, counts, (2, 3), 0.9)
    found = ran(
        [
            *(ops.roi_pool(*given), layers.roi_pool(x, rows, 2, 3, 0.9)),
            *(ops.roi_align(*given, aligned=False), layers.roi_align(x, rows, 2, 3, 0.9)),
            *(ops.psroi_pool(x, boxes, counts, 2, 0.9), layers.psroi_pool(x, rows, 2, 0.9, 2, 2)),
            *(ops.RoIAlign((2, 3), 0.9)(x, boxes, counts, aligned=False), ops.RoIPool(2)(x, boxes, counts)),
        ],
        feed,
    )
    for one, other in zip(found[:6:2], found[1:6:2], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5)
    np.testing.assert_allclose(found[6], found[2], rtol=1e-5)
    assert found[7].shape == (5, 8, 2, 2)


def test_an_aligned_region_of_whole_pixels_is_their_means() -> None:
    box = np.array([[2.0, 1, 6, 5]])
    hold(
        {
            "roi_align": (
                lambda x: ops.roi_align(x, paddle.to_tensor(box), paddle.to_tensor([1]), 2),
                lambda x: x[:1, :, 1:5, 2:6].reshape(1, 8, 2, 2, 2, 2).mean((3, 5)),
                (IMAGES[:1],),
            )
        }
    )


def best(boxes: np.ndarray, order: np.ndarray, kinds: np.ndarray) -> list[int]:
    kept: list[int] = []
    for at in order:
        for other in kept:
            low, high = (
                np.maximum(boxes[at, :2], boxes[other, :2]),
                np.minimum(boxes[at, 2:], boxes[other, 2:]),
            )
            shared = np.clip(high - low, 0, None).prod()
            sizes = [(boxes[each, 2:] - boxes[each, :2]).prod() for each in (at, other)]
            if kinds[at] == kinds[other] and shared / (sum(sizes) - shared) > 0.4:
                break
        else:
            kept.append(int(at))
    return kept


def test_boxes_that_overlap_a_better_one_are_left_out() -> None:
    low = RNG.random((30, 2)) * 4
    corners, scores = np.concatenate([low, low + 1 + RNG.random((30, 2)) * 2], 1), RNG.random(30)
    kinds = RNG.integers(0, 3, 30)
    boxes, likely, which = data((corners, scores, kinds), feed := {})
    found = ran(
        [
            ops.nms(boxes, 0.4),
            ops.nms(boxes, 0.4, likely),
            ops.nms(boxes, 0.4, likely, which, [0, 1, 2]),
            ops.nms(boxes, 0.4, likely, which, [0, 1, 2], 3),
        ],
        feed,
    )
    alike, order = np.zeros(30, int), np.argsort(-scores)
    assert found[0].tolist() == best(corners, np.arange(30), alike)
    assert found[1].tolist() == best(corners, order, alike)
    assert found[2].tolist() == best(corners, order, kinds)
    assert found[3].tolist() == found[2].tolist()[:3]


def test_regions_go_to_the_level_of_their_size() -> None:
    boxes = np.array([[0.0, 0, 20, 20], [0, 0, 220, 230], [5, 5, 30, 40], [0, 0, 110, 120], [0, 0, 500, 500]])
    given, counts = data((boxes, COUNTS), feed := {})
    parts, back, each = ops.distribute_fpn_proposals(given, 2, 5, 4, 224, rois_num=counts)
    wanted = [*parts, back, each[0], each[3]]
    found = paddle.static.Executor().run(feed=feed, fetch_list=wanted, return_numpy=False)
    *levels, places, first, last = map(np.array, found)
    assert [len(level) for level in levels] == [2, 1, 1, 1]
    np.testing.assert_allclose(np.concatenate(levels)[places[:, 0]], boxes)
    assert first.tolist() == [1, 1] and last.tolist() == [0, 1]


def test_windows_that_are_moved_by_nothing_are_a_convolution() -> None:
    x, none, half = data((IMAGES, np.zeros((2, 18, 9, 10)), np.full((2, 9, 9, 10), 0.5)), feed := {})
    layer = ops.DeformConv2D(8, 4, 3, padding=1)
    plain = paddle.nn.functional.conv2d(x, layer.weight, layer.bias, padding=1)
    moved = paddle.static.nn.deform_conv2d(x, none, None, 4, 3, padding=1)
    block = ops.ConvNormActivation(8, 4)
    found = ran([layer(x, none), layer(x, none, half), plain, moved, block(x)], feed)
    np.testing.assert_allclose(found[0], found[2], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(found[1], found[2] / 2, rtol=1e-4, atol=1e-5)
    assert found[3].shape == found[4].shape == (2, 4, 9, 10) and found[4].min() == 0


def test_what_did_not_change_is_fluids() -> None:
    x, image = data((IMAGES, RNG.normal(size=(2, 3, 90, 100))), feed := {})
    new = ops.prior_box(x, image, [20.0], [40.0], [1.0, 2.0], clip=True)
    old = fluid.layers.prior_box(x, image, [20.0], [40.0], [1.0, 2.0], clip=True)
    coded = ops.box_coder(paddle.reshape(new[0], [-1, 4]), [0.1, 0.1, 0.2, 0.2], paddle.to_tensor(CORNERS))
    again = fluid.layers.box_coder(
        paddle.reshape(old[0], [-1, 4]), [0.1, 0.1, 0.2, 0.2], paddle.to_tensor(CORNERS)
    )
    found = ran([*new, coded, *old, again], feed)
    for one, other in zip(found[:3], found[3:], strict=True):
        np.testing.assert_array_equal(one, other)
