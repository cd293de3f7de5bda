"""Boxes: priors, overlaps, offsets, matches and what is kept, against what the wheel of 1.8.5 gave for the
same numbers, told by two sums of each result, one of them with weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import paddle.fluid as fluid
from paddle._program.errors import BadArgument, BadProgram
from paddle.fluid.contrib.layers import multiclass_nms2

layers = fluid.layers
Feed = dict[str, Any]
Case = Callable[[Feed], Sequence[Any]]
DRAWN = np.random.RandomState(0)


def drawn(*shape: int, scale: float = 1.0) -> np.ndarray:
    return (DRAWN.randn(*shape) * scale).astype(np.float32)


def boxes(count: int, low: float = 0.0, high: float = 1.0, seed: int = 0) -> np.ndarray:
    own = np.random.RandomState(seed)
    a, b = (own.uniform(low, high, (count, 2)) for _ in range(2))
    ends = np.maximum(a, b) + 0.02 * (high - low)
    return np.concatenate([np.minimum(a, b), ends], 1).astype(np.float32)


def data(feed: Feed, name: str, array: np.ndarray, lengths: list[int] | None = None) -> Any:
    feed[name] = array if lengths is None else fluid.create_lod_tensor(array, [lengths], None)
    shape = [None, *array.shape[1:]]
    return fluid.data(name, shape, str(array.dtype), lod_level=0 if lengths is None else 1)


def image(feed: Feed) -> tuple[Any, Any]:
    return data(feed, "f", drawn(2, 3, 5, 6)), data(feed, "im", drawn(2, 3, 40, 50))


def of_priors(feed: Feed) -> Sequence[Any]:
    return layers.prior_box(*image(feed), [10.0, 20.0], [15.0, 30.0], [2.0, 3.0], flip=True, clip=True)


def of_ordered_priors(feed: Feed) -> Sequence[Any]:
    sizes = [10.0, 20.0], [15.0, 30.0], [1.0, 2.0, 0.5]
    more: dict[str, Any] = {"steps": [7.0, 9.0], "offset": 0.3, "variance": [0.1, 0.2, 0.3, 0.4]}
    return layers.prior_box(*image(feed), *sizes, min_max_aspect_ratios_order=True, **more)


def of_dense_priors(feed: Feed) -> Sequence[Any]:
    f, im = image(feed)
    whole = layers.density_prior_box(f, im, [4, 2], [8.0, 16.0], [1.0, 2.0], clip=True)
    flat = layers.density_prior_box(f, im, [3], [8.0], [1.0], steps=[9.0, 9.0], flatten_to_2d=True)
    return [*whole, *flat]


def of_anchors(feed: Feed) -> Sequence[Any]:
    return layers.anchor_generator(
        image(feed)[0], [32, 64.0], [0.5, 1.0, 2.0], stride=[8.0, 16.0], offset=0.4
    )


def of_overlaps(feed: Feed) -> Sequence[Any]:
    a, b = data(feed, "a", boxes(5), [2, 3]), data(feed, "b", boxes(7, seed=1))
    return [layers.iou_similarity(a, b), layers.iou_similarity(a, b, box_normalized=False)]


def of_offsets(feed: Feed) -> Sequence[Any]:
    prior, target = data(feed, "p", boxes(7, seed=1)), data(feed, "t", boxes(5), [2, 3])
    spread = data(feed, "v", DRAWN.uniform(0.1, 0.3, (7, 4)).astype(np.float32))
    row, column = data(feed, "d", drawn(3, 7, 4, scale=0.2)), data(feed, "e", drawn(7, 3, 4, scale=0.2))
    even = [0.1, 0.1, 0.2, 0.2]
    return [
        layers.box_coder(prior, spread, target),
        layers.box_coder(prior, even, target, box_normalized=False),
        layers.box_coder(prior, spread, row, "decode_center_size"),
        layers.box_coder(prior, even, row, "decode_center_size", box_normalized=False),
        layers.box_coder(prior, spread, column, "decode_center_size", axis=1),
    ]


def of_clipped(feed: Feed) -> Sequence[Any]:
    told = np.array([[40, 60, 1.5], [33, 20, 1]], np.float32)
    return [layers.box_clip(data(feed, "a", boxes(5, -30, 90), [2, 3]), data(feed, "i", told))]


def of_matches(feed: Feed) -> Sequence[Any]:
    near = layers.iou_similarity(data(feed, "a", boxes(5), [2, 3]), data(feed, "b", boxes(9, seed=1)))
    return [*layers.bipartite_match(near), *layers.bipartite_match(near, "per_prediction", 0.2)]


def of_targets(feed: Feed) -> Sequence[Any]:
    matches = data(feed, "m", np.array([[0, -1, 1, 1], [2, -1, -1, 0]], np.int32))
    negative = data(feed, "n", np.array([[1], [1], [2]], np.int32), [1, 2])
    rows = data(feed, "x", drawn(5, 4, 3), [2, 3])
    labels = data(feed, "y", DRAWN.randint(0, 9, (5, 1, 1)).astype(np.int32), [2, 3])
    plain = layers.target_assign(rows, matches, mismatch_value=7)
    return [*plain, *layers.target_assign(labels, matches, negative, mismatch_value=3)]


def of_scores(feed: Feed) -> tuple[Any, Any]:
    stood = np.stack([boxes(30, seed=5 + number) for number in range(2)])
    return data(feed, "b", stood), data(feed, "s", DRAWN.uniform(0, 1, (2, 4, 30)).astype(np.float32))


def of_kept(feed: Feed) -> Sequence[Any]:
    b, s = of_scores(feed)
    more: dict[str, Any] = {"normalized": False, "nms_eta": 0.9, "background_label": -1}
    return [
        layers.multiclass_nms(b, s, 0.3, 20, 15, 0.4),
        layers.multiclass_nms(b, s, 0.1, -1, -1, 0.7, **more),
        layers.multiclass_nms(b, s, 0.99999, 20, 15, 0.4),
        *multiclass_nms2(b, s, 0.3, 20, 15, 0.4, return_index=True),
    ]


def of_kept_sequences(feed: Feed) -> Sequence[Any]:
    stood = np.stack([boxes(10, seed=5 + number) for number in range(3)], 1)
    scores = DRAWN.uniform(0, 1, (10, 3)).astype(np.float32)
    b, s = data(feed, "b", stood, [4, 6]), data(feed, "s", scores, [4, 6])
    return [layers.multiclass_nms(b, s, 0.3, 20, 7, 0.4)]


def of_found(feed: Feed) -> Sequence[Any]:
    prior, spread = data(feed, "p", boxes(12, seed=1)), data(feed, "v", np.full((12, 4), 0.1, np.float32))
    places, scores = data(feed, "l", drawn(2, 12, 4)), data(feed, "s", drawn(2, 12, 5))
    few = layers.detection_output(places, scores, prior, spread, nms_top_k=8, keep_top_k=6)
    return [few, *layers.detection_output(places, scores, prior, spread, return_index=True)]


def of_shares(feed: Feed) -> Sequence[Any]:
    said, right = (DRAWN.randint(0, most, (2, 6)).astype(np.int32) for most in (4, 3))
    return layers.mean_iou(data(feed, "a", said), data(feed, "b", right), 5)


GIVEN: dict[Case, list[tuple[float, float]]] = {
    of_priors: [(720.0, 0.17529), (216.0, 0.1631)],
    of_ordered_priors: [(436.56, -1.6177), (240.00001, -0.34318)],
    of_dense_priors: [(2400.0, -0.37897), (720.00001, -0.06079), (588.0, -0.46813), (162.0, -0.11369)],
    of_anchors: [(21888.00007, -36.24978), (108.0, -0.08902)],
    of_overlaps: [(1.66131, -0.22208), (15.88106, 0.54338)],
    of_offsets: [
        (557.55664, -29.60497),
        (-186.04511, -10.69253),
        (36.21346, -0.4134),
        (36.52769, -0.66084),
        (36.71942, 0.46274),
    ],
    of_clipped: [(476.03595, 60.52113)],
    of_matches: [(-9.0, -2.40065), (1.35897, 0.65275), (-6.0, -4.14642), (2.63058, -0.0537)],
    of_targets: [(58.93036, -9.11855), (5.0, -0.30588), (25.0, 9.087), (8.0, 1.47825)],
    of_kept: [
        (156.70572, -3.82145),
        (266.00028, -27.68375),
        (-1.0, -1.0),
        (156.70572, -3.82145),
        (865.0, -75.39615),
    ],
    of_kept_sequences: [(61.34132, -3.81096)],
    of_found: [(58.27901, -7.13546), (378.03161, -33.85854), (914.0, -27.30933)],
    of_shares: [(0.15, 0.15), (18.0, -2.85948), (3.0, 2.5403)],
}


def computed(case: Case) -> tuple[list[np.ndarray], list[Any]]:
    DRAWN.seed(0)
    feed: Feed = {}
    outs = [*case(feed)]
    found = fluid.Executor().run(feed=feed, fetch_list=outs, return_numpy=False)
    return [np.array(each) for each in found], found


def sums(values: np.ndarray) -> tuple[float, float]:
    flat = values.astype(np.float64).reshape(-1)
    return float(flat.sum()), float(flat @ np.cos(np.arange(flat.size)))


@pytest.mark.parametrize("case", GIVEN, ids=lambda case: case.__name__)
def test_boxes_are_those_of_1_8(case: Case) -> None:
    found, _ = computed(case)
    for values, wanted in zip(found, GIVEN[case], strict=True):
        np.testing.assert_allclose(sums(values), wanted, rtol=2e-4, atol=2e-4 * max(1.0, abs(wanted[0])))


def test_what_is_kept_of_each_image_is_a_sequence() -> None:
    _, (some, many, none, same, numbers) = computed(of_kept)
    assert [each.lod() for each in (some, many, same, numbers)] == [
        [[0, 15, 30]],
        [[0, 38, 62]],
        *[[[0, 15, 30]]] * 2,
    ]
    assert np.array(none).tolist() == [[-1.0]]
    assert none.lod() == [[0, 1]]


def test_a_grid_that_a_feed_decides_is_known_when_it_is_fed() -> None:
    f = fluid.data("f", [None, 3, None, None])
    im = fluid.data("im", [None, 3, None, None])
    box, _ = layers.prior_box(f, im, [10.0], steps=[4.0, 4.0])
    assert tuple(box.shape) == (-1, -1, 1, 4)
    for side in (2, 3):
        feed = {"f": np.zeros((1, 3, side, side), np.float32), "im": np.zeros((1, 3, 20, 40), np.float32)}
        (found,) = fluid.Executor().run(feed=feed, fetch_list=[box])
        assert found.shape == (side, side, 1, 4)
        np.testing.assert_allclose(found[0, 1, 0], [(6 - 5) / 40, (2 - 5) / 20, (6 + 5) / 40, (2 + 5) / 20])


def test_what_has_no_meaning_is_refused_by_name() -> None:
    feed: Feed = {}
    f, im = image(feed)
    with pytest.raises(BadArgument, match="prior_box: steps are two numbers"):
        layers.prior_box(f, im, [10.0], steps=[3.0])
    with pytest.raises(BadArgument, match="min_sizes are 1 and max_sizes 2"):
        layers.prior_box(f, im, [10.0], [15.0, 20.0])
    with pytest.raises(BadArgument, match="box_coder: code_type"):
        layers.box_coder(f, None, im, "decode")
    with pytest.raises(BadArgument, match="2 densities, 1 fixed_sizes"):
        layers.density_prior_box(f, im, [1, 2], [3.0], [1.0])
    polygons = fluid.data("q", [1, 3, 8])
    out = layers.matrix_nms(polygons, fluid.data("r", [1, 2, 3]), 0.1, 0.1, 5, 5)
    fed = {"q": np.zeros((1, 3, 8), np.float32), "r": np.ones((1, 2, 3), np.float32)}
    with pytest.raises(BadProgram, match="takes boxes of 4 numbers, not of 8"):
        fluid.Executor().run(feed=fed, fetch_list=[out])


def test_a_class_that_there_is_not_is_refused() -> None:
    feed: Feed = {}
    said, right = data(feed, "a", np.array([[5]])), data(feed, "b", np.array([[0]]))
    mean, _, _ = layers.mean_iou(said, right, 3)
    with pytest.raises(BadProgram, match=r"classes are 0 to 2"):
        fluid.Executor().run(feed=feed, fetch_list=[mean])
