"""Detectors of two passes: what is proposed, and what is to be learned, against what the wheel of 1.8.5
gave for the same numbers, told by two sums of each result and by where images end."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import paddle.fluid as fluid
from paddle._program.errors import BadArgument, BadProgram

from .test_boxes import Case, Feed, boxes, data, sums

layers = fluid.layers


def normal(seed: int, *shape: int) -> np.ndarray:
    return np.random.RandomState(seed).randn(*shape).astype(np.float32)


def shares(seed: int, *shape: int) -> np.ndarray:
    return np.random.RandomState(seed).uniform(0, 1, shape).astype(np.float32)


def told(feed: Feed, name: str, rows: list[int], lengths: list[int]) -> Any:
    return data(feed, name, np.array(rows, np.int32).reshape(-1, 1), lengths)


def right(feed: Feed) -> tuple[Any, Any, Any, Any]:
    """Boxes, crowds, labels, and the images."""
    scaled = np.array([[60, 60, 1.5], [50, 60, 1.2]], np.float32)
    return (
        data(feed, "gt", boxes(5, 0, 40, 7), [2, 3]),
        told(feed, "cr", [0, 0, 0, 1, 0], [2, 3]),
        told(feed, "gl", [1, 3, 2, 4, 2], [2, 3]),
        data(feed, "im", scaled),
    )


def anchors() -> tuple[Any, Any]:
    begin = fluid.initializer.NumpyArrayInitializer(boxes(60, -5, 60, 1))
    stood = layers.create_parameter([60, 4], "float32", default_initializer=begin)
    return stood, layers.create_parameter([60, 4], "float32")


def of_anchors(feed: Feed) -> list[Any]:
    said = data(feed, "bp", normal(0, 2, 60, 4)), data(feed, "cl", normal(1, 2, 60, 1))
    box, crowd, _, image = right(feed)
    given = (*said, *anchors(), box, crowd, image)
    wide = {"rpn_straddle_thresh": -1, "rpn_positive_overlap": 0.2, "rpn_negative_overlap": 0.5}
    ways: list[dict[str, Any]] = [{}, {"rpn_batch_size_per_im": 8}, {"rpn_batch_size_per_im": 40, **wide}]
    return [each for way in ways for each in layers.rpn_target_assign(*given, use_random=False, **way)]


def of_all_anchors(feed: Feed) -> list[Any]:
    said = data(feed, "bp", normal(0, 2, 60, 4)), data(feed, "cl", normal(1, 2, 60, 4))
    box, crowd, label, image = right(feed)
    return list(layers.retinanet_target_assign(*said, *anchors(), box, label, crowd, image, 4))


def of_proposals(feed: Feed) -> list[Any]:
    f = data(feed, "f", np.zeros((2, 3, 5, 6), np.float32))
    spread = [0.5, 0.5, 0.4, 0.4]
    stood = layers.anchor_generator(f, [16.0, 32], [0.5, 1.0], variance=spread, stride=[8.0, 8.0])
    score, delta = data(feed, "sc", shares(0, 2, 4, 5, 6)), data(feed, "de", normal(1, 2, 16, 5, 6))
    image = data(feed, "im", np.array([[40, 48, 1.0], [33, 40, 1.4]], np.float32))
    given = score, delta, image, *stood
    return [
        *layers.generate_proposals(*given, 100, 20, 0.5, 3.0, return_rois_num=True),
        *layers.generate_proposals(*given, -1, -1, 0.7, 0.1, 0.9),
        *layers.generate_proposals(*given, 50, 20, 0.0, 90.0),
    ]


def of_regions(feed: Feed) -> list[Any]:
    regions = data(feed, "rr", boxes(30, 0, 60, 3), [18, 12])
    box, crowd, label, image = right(feed)
    ways: list[dict[str, Any]] = [
        {"batch_size_per_im": 16, "class_nums": 5, "fg_thresh": 0.5, "bg_thresh_hi": 0.3},
        {"class_nums": 2, "is_cls_agnostic": True, "bg_thresh_lo": 0.1},
        {"class_nums": 5, "is_cascade_rcnn": True, "bbox_reg_weights": [0.2] * 4},
    ]
    given = regions, label, crowd, box, image
    return [each for way in ways for each in layers.generate_proposal_labels(*given, use_random=False, **way)]


def of_levels(feed: Feed) -> list[Any]:
    found, places = layers.distribute_fpn_proposals(
        data(feed, "rr", boxes(30, 0, 600, 3), [18, 12]), 2, 5, 4, 224
    )
    return [*found, places]


def of_collected(feed: Feed) -> list[Any]:
    lengths = [[2, 3 + level] for level in range(3)]
    rois = [data(feed, f"m{at}", boxes(5 + at, 0, 60, at), each) for at, each in enumerate(lengths)]
    scores = [data(feed, f"s{at}", shares(at, 5 + at, 1), each) for at, each in enumerate(lengths)]
    return [layers.collect_fpn_proposals(rois, scores, 2, 4, most) for most in (9, 900)]


def of_masks(feed: Feed) -> list[Any]:
    regions = data(feed, "rr", boxes(8, 0, 50, 3), [5, 3])
    labels = told(feed, "ll", [1, 0, 2, 1, 0, 0, 0, 0], [5, 3])
    kinds, crowd = told(feed, "gl", [1, 2, 1, 2], [3, 1]), told(feed, "cr", [0, 0, 1, 0], [3, 1])
    counts = [5, 4, 6, 3, 7]
    points = np.random.RandomState(3).uniform(2, 48, (sum(counts), 2)).astype(np.float32)
    feed["se"] = fluid.create_lod_tensor(points, [[3, 1], [2, 1, 1, 1], counts], None)
    segments = fluid.data("se", [None, 2], lod_level=3)
    image = data(feed, "im", np.array([[60, 60, 1.5], [50, 60, 1.2]], np.float32))
    given = image, kinds, crowd, segments, regions, labels
    return [*layers.generate_mask_labels(*given, 4, 14), *layers.generate_mask_labels(*given, 3, 7)]


GIVEN: dict[Case, list[tuple[float, float]]] = {
    of_anchors: [
        *((-1.00925, 2.07515), (6.20737, 1.46162), (3.0, 0.13815), (-0.80866, 1.22341), (12.0, 0.58117)),
        *((-0.38367, -2.27559), (3.20322, 2.14134), (4.0, 0.48367), (-2.54218, 0.3016), (16.0, 0.71533)),
        *((-0.05899, -3.71616), (-24.36496, -1.72611), (13.0, 0.94737), (-10.58312, -0.0093)),
        (52.0, -1.43857),
    ],
    of_all_anchors: [
        *((26.80799, -3.74781), (8.96313, 0.30003), (10.0, 2.43808), (-0.87467, 0.19999)),
        *((24.0, 1.09508), (9.0, 6.70151)),
    ],
    of_proposals: [
        *((3316.73466, 16.92487), (33.46698, 0.84832), (60.0, 41.61209), (9106.73137, 49.05214)),
        *((63.64607, -0.59958), (0.0, 0.0), (0.0, 0.0)),
    ],
    of_regions: [
        *((2864.52406, 39.93817), (10.0, 1.47589), (-3.97374, 0.30328), *[(20.0, -2.02824)] * 2),
        *((2104.28579, -33.08014), (28.0, 8.0258), (-3.06116, -4.87641), *[(48.0, 2.40637)] * 2),
        *((3632.08778, -106.35584), (20.0, -0.28166), (-4.78857, -0.33216), *[(32.0, 8.07156)] * 2),
    ],
    of_levels: [
        *((10844.3323, 481.97243), (11743.83135, 188.27351), (12839.61661, -121.70594)),
        *((0.0, 0.0), (435.0, -64.25236)),
    ],
    of_collected: [(1049.66739, -49.979), (1995.24909, -111.74039)],
    of_masks: [
        *((335.64326, 15.43341), (5.0, -0.16784), (-2345.0, -1.81349)),
        *((335.64326, 15.43341), (5.0, -0.16784), (-392.0, 2.1784)),
    ],
}
ENDS: dict[Case, list[list[int]]] = {
    of_anchors: [
        *([], [], [0, 33, 48], *[[0, 2, 4]] * 2),
        *([], [], [0, 8, 16], *[[0, 2, 4]] * 2),
        *([], [], [0, 38, 68], *[[0, 5, 25]] * 2),
    ],
    of_all_anchors: [[], [], [0, 60, 119], [0, 3, 7], [0, 3, 7], [0, 1, 2]],
    of_proposals: [*[[0, 20, 40]] * 2, [], *[[0, 59, 110]] * 2, *[[0, 0, 0]] * 2],
    of_regions: [*[[0, 16, 26]] * 5, *[[0, 6, 18]] * 5, *[[0, 18, 29]] * 5],
    of_levels: [[0, 8, 10], [0, 5, 10], [0, 5, 10], [0, 0, 0], []],
    of_collected: [[0, 4, 9], [0, 6, 18]],
    of_masks: [[0, 3, 4]] * 6,
}


def run(feed: Feed, outs: list[Any]) -> list[Any]:
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    return list(exe.run(feed=feed, fetch_list=outs, return_numpy=False))


@pytest.mark.parametrize("case", GIVEN, ids=lambda case: case.__name__)
def test_both_passes_are_those_of_1_8(case: Case) -> None:
    feed: Feed = {}
    found = run(feed, list(case(feed)))
    for value, wanted, ends in zip(found, GIVEN[case], ENDS[case], strict=True):
        close = 2e-4 * max(1.0, abs(wanted[0]))
        np.testing.assert_allclose(sums(np.array(value)), wanted, rtol=2e-4, atol=close)
        assert value.lod() == ([ends] if ends else [])


def test_anchors_are_drawn_by_the_seed_of_the_program() -> None:
    def drawn(seed: int) -> list[int]:
        feed: Feed = {}
        main = fluid.Program()
        main.random_seed = seed
        with fluid.program_guard(main, fluid.Program()), fluid.unique_name.guard():
            said = data(feed, "bp", normal(0, 2, 60, 4)), data(feed, "cl", normal(1, 2, 60, 1))
            box, crowd, _, image = right(feed)
            given = (*said, *anchors(), box, crowd, image)
            found = layers.rpn_target_assign(*given, 8, -1.0)
            exe = fluid.Executor()
            exe.run(fluid.default_startup_program())
            return np.array(exe.run(main, feed=feed, fetch_list=[found[0]])[0]).reshape(-1).tolist()

    first = drawn(3)
    assert len(first) == 16
    assert drawn(3) == first
    assert drawn(4) != first


def test_an_image_without_boxes_has_anchors_of_none() -> None:
    feed: Feed = {}
    said = data(feed, "bp", normal(0, 2, 60, 4)), data(feed, "cl", normal(1, 2, 60, 1))
    box = data(feed, "gt", boxes(2, 0, 40, 7), [2, 0])
    crowd, image = told(feed, "cr", [0, 1], [2, 0]), data(feed, "im", np.float32([[60, 60, 1], [50, 60, 1]]))
    outs = layers.rpn_target_assign(*said, *anchors(), box, crowd, image, 10, use_random=False)
    labels, weights = run(feed, [outs[2], outs[4]])
    assert labels.lod()[0][2] - labels.lod()[0][1] == 10
    assert not np.array(labels)[labels.lod()[0][1] :].any()
    assert weights.lod()[0][1] == weights.lod()[0][2]


def test_what_is_told_wrongly_is_refused_by_name() -> None:
    feed: Feed = {}
    box, crowd, label, image = right(feed)
    with pytest.raises(BadArgument, match="class_nums says how many"):
        layers.generate_proposal_labels(box, label, crowd, box, image)
    plain = fluid.data("plain", [None, 4])
    found = layers.generate_proposal_labels(plain, label, crowd, box, image, class_nums=5)
    with pytest.raises(BadProgram, match="'plain' in slot 'RpnRois' has none"):
        run({**feed, "plain": boxes(3)}, list(found))
