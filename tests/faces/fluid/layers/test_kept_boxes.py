"""What is kept of boxes that overlap, and how well objects are found, against what the wheel of 1.8.5 gave
for the same numbers, told by two sums of each result and by where images end."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import paddle.fluid as fluid
from paddle._program.errors import BadArgument

from .test_boxes import Case, Feed, boxes, data, sums
from .test_two_passes import normal, run, shares

layers = fluid.layers


def of_lowered(feed: Feed) -> list[Any]:
    b = data(feed, "b", np.stack([boxes(30, seed=5 + image) for image in range(2)]))
    s = data(feed, "s", shares(0, 2, 4, 30))
    return [
        *layers.matrix_nms(b, s, 0.3, 0.2, 20, 15, return_index=True),
        layers.matrix_nms(b, s, 0.1, 0.05, -1, -1, True, 1.5, -1, False),
        layers.matrix_nms(b, s, 0.9999, 0.05, 5, 5),
    ]


def of_merged(feed: Feed) -> list[Any]:
    moved = [np.random.RandomState(image).uniform(0, 0.1, (30, 4)).astype(np.float32) for image in range(2)]
    each = [np.repeat(boxes(6, seed=5 + image), 5, 0) + moved[image] for image in range(2)]
    b, s = data(feed, "b", np.stack(each)), data(feed, "s", shares(0, 2, 1, 30))
    return [
        layers.locality_aware_nms(b, s, 0.3, 20, 15, 0.4),
        layers.locality_aware_nms(b, s, 0.1, -1, -1, 0.7, False, 0.9),
        layers.locality_aware_nms(b, s, 0.1, 10, 4, 0.2),
        layers.locality_aware_nms(b, s, 0.1, -1, -1, 0.7, True, 0.9),
        layers.locality_aware_nms(b, s, 99.0, 10, 4, 0.2),
    ]


def of_detected(feed: Feed) -> list[Any]:
    deltas = [data(feed, f"b{at}", normal(at, 2, 20, 4) * np.float32(0.3)) for at in range(3)]
    scores = [data(feed, f"s{at}", shares(9 + at, 2, 20, 3)) for at in range(3)]
    stood = [data(feed, f"a{at}", boxes(20, 0, 80, at)) for at in range(3)]
    image = data(feed, "im", np.array([[60, 80, 1.5], [50, 60, 1.2]], np.float32))
    return [
        layers.retinanet_detection_output(deltas, scores, stood, image),
        layers.retinanet_detection_output(deltas, scores, stood, image, 0.5, 12, 20, 0.5, 0.9),
        layers.retinanet_detection_output(deltas[:1], scores[:1], stood[:1], image, nms_top_k=0),
    ]


def of_decoded(feed: Feed) -> list[Any]:
    spread = layers.assign(np.array([0.1, 0.1, 0.2, 0.2], np.float32))
    regions, target = data(feed, "p", boxes(6, 0, 50, 2), [2, 4]), data(feed, "t", normal(0, 6, 12), [2, 4])
    scores = data(feed, "s", shares(1, 6, 3), [2, 4])
    return list(layers.box_decoder_and_assign(regions, spread, target, scores, 4.135))


def of_corners(feed: Feed) -> list[Any]:
    return [layers.polygon_box_transform(data(feed, "x", normal(0, 2, 8, 3, 5)))]


def found_and_right(seed: int) -> tuple[np.ndarray, np.ndarray]:
    own = np.random.RandomState(seed)
    said = [own.randint(0, 4, (14, 1)), own.uniform(0, 1, (14, 1)), boxes(14, -0.05, 1.1, seed)]
    told = [own.randint(1, 4, (7, 1)), own.randint(0, 2, (7, 1)), boxes(7, 0, 1, seed)]
    found, wanted = (np.concatenate(each, 1).astype(np.float32) for each in (said, told))
    found[:7, 2:], found[:4, 0] = wanted[:, 2:], wanted[:4, 0]
    return found, wanted


def of_precision(feed: Feed) -> list[Any]:
    own = np.random.RandomState(4)
    said = [own.randint(0, 4, (14, 1)), own.uniform(0, 1, (14, 1)), boxes(14, -0.05, 1.1, 3)]
    told = [own.randint(1, 4, (7, 1)), own.randint(0, 2, (7, 1)), boxes(7, 0, 1, 3)]
    found, wanted = (np.concatenate(each, 1).astype(np.float32) for each in (said, told))
    found[:7, 2:], found[:4, 0] = wanted[:, 2:], wanted[:4, 0]
    d, g = data(feed, "d", found, [6, 8]), data(feed, "g", wanted, [3, 4])
    plain = data(feed, "h", np.delete(wanted, 1, 1), [3, 4])
    measure = layers.detection.detection_map
    return [
        measure(d, g, 4),
        measure(d, g, 4, evaluate_difficult=False, overlap_threshold=0.5),
        measure(d, plain, 4, ap_version="11point"),
        measure(d, plain, 4, background_label=-1, overlap_threshold=0.1),
    ]


GIVEN: dict[Case, list[tuple[float, float]]] = {
    of_lowered: [(154.12767, 1.9472), (874.0, -46.21552), (864.56218, 19.7666), (0.0, 0.0)],
    of_merged: [
        *((68.28558, 3.04712), (39.3213, 9.88193), (41.91949, 12.55762), (70.12373, 4.73)),
        (-1.0, -1.0),
    ],
    of_detected: [(17759.386, -343.70084), (4388.5366, 9.57512), (0.0, 0.0)],
    of_decoded: [(1496.50738, 13.6652), (484.53201, -53.44158)],
    of_corners: [(1428.55659, 56.51953)],
    of_precision: [*((each, each) for each in (0.31481, 0.13889, 0.34848, 0.31481))],
}
ENDS: dict[Case, list[list[int]]] = {
    of_lowered: [[0, 15, 30], [0, 15, 30], [0, 107, 215], [0, 0, 0]],
    of_merged: [[0, 12, 18], [0, 4, 8], [0, 4, 8], [0, 12, 22], [0, 1]],
    of_detected: [[0, 87, 165], [0, 20, 40], [0, 0, 0]],
    of_decoded: [[0, 2, 6], [0, 2, 6]],
    of_corners: [[]],
    of_precision: [[]] * 4,
}


@pytest.mark.parametrize("case", GIVEN, ids=lambda case: case.__name__)
def test_what_is_kept_is_that_of_1_8(case: Case) -> None:
    feed: Feed = {}
    found = run(feed, list(case(feed)))
    for value, wanted, ends in zip(found, GIVEN[case], ENDS[case], strict=True):
        close = 2e-4 * max(1.0, abs(wanted[0]))
        np.testing.assert_allclose(sums(np.array(value)), wanted, rtol=2e-4, atol=close)
        assert value.lod() == ([ends] if ends else [])


@pytest.mark.parametrize("measure", [fluid.metrics.DetectionMAP, fluid.evaluator.DetectionMAP])
def test_precision_is_that_of_a_batch_and_that_of_all_since_it_was_reset(measure: Any) -> None:
    names = {"d": slice(0, 6), "l": slice(0, 1), "h": slice(1, 2), "b": slice(2, 6)}
    given = {
        name: fluid.data(name, [None, each.stop - each.start], lod_level=1) for name, each in names.items()
    }
    found = measure(given["d"], given["l"], given["b"], given["h"], class_num=4, evaluate_difficult=False)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    measured = []
    for seed in (4, 5, 6, None, 8, 9):
        if seed is None:
            found.reset(exe)
            continue
        said, right = found_and_right(seed)
        feed = {
            name: fluid.create_lod_tensor(
                np.ascontiguousarray((said if name == "d" else right)[:, each]),
                [[6, 8] if name == "d" else [3, 4]],
                None,
            )
            for name, each in names.items()
        }
        values = exe.run(feed=feed, fetch_list=list(found.get_map_var()))
        measured.append([float(np.array(value).reshape(-1)[0]) for value in values])
    wanted = [[0.1388889, 0.1388889], [0.5, 0.1676587], [0.0, 0.0860414], [0.0, 0.0], [0.125, 0.0277778]]
    np.testing.assert_allclose(measured, wanted, rtol=1e-5, atol=1e-6)


def test_what_has_no_meaning_is_refused_by_name() -> None:
    feed: Feed = {}
    b, s = data(feed, "b", np.zeros((1, 3, 4), np.float32)), data(feed, "s", np.zeros((1, 2, 3), np.float32))
    with pytest.raises(BadArgument, match="locality_aware_nms: scores are of one class"):
        layers.locality_aware_nms(b, s, 0.1, 5, 5)
    with pytest.raises(BadArgument, match="ap_version is 'integral' or '11point'"):
        layers.detection.detection_map(b, b, 4, ap_version="all")
    with pytest.raises(TypeError, match="takes what is detected"):
        fluid.metrics.DetectionMAP(3)
    with pytest.raises(ValueError, match="was given no variables"):
        fluid.metrics.DetectionMAP("mine").get_map_var()
