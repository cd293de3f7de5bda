"""Images, volumes and regions that are read between pixels: what they give, and gradients, against what the
wheel of 1.8.5 gave for the same numbers, told by two sums of each; gradients against central differences,
too.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import paddle.fluid as fluid
from paddle._program.errors import BadArgument, BadProgram

from ..numeric import assert_gradients
from .test_boxes import Case, Feed, boxes, data, sums
from .test_detectors import learned
from .test_two_passes import normal, run

layers = fluid.layers


def param(name: str, value: np.ndarray) -> Any:
    return learned(name, value.astype(np.float32))


def begun(value: np.ndarray) -> Any:
    return fluid.ParamAttr(initializer=fluid.initializer.NumpyArrayInitializer(value.astype(np.float32)))


def with_gradients(out: Any, *learns: Any) -> list[Any]:
    return [out, *fluid.gradients([layers.reduce_sum(layers.square(out))], list(learns))]


def filters() -> Any:
    parameters = fluid.default_main_program().global_block().all_parameters()
    return next(each for each in parameters if each.name.startswith("deformable_conv"))


def of_grid(feed: Feed) -> list[Any]:
    x = param("x", normal(0, 2, 3, 5, 6))
    grid = param("g", np.random.RandomState(1).uniform(-1.3, 1.3, (2, 5, 6, 2)))
    return with_gradients(layers.grid_sampler(x, grid), x, grid)


def of_affine(feed: Feed) -> list[Any]:
    theta = param("t", normal(0, 2, 2, 3))
    return with_gradients(layers.affine_grid(theta, [2, 3, 4, 5]), theta)


def of_computed_affine(feed: Feed) -> list[Any]:
    theta = param("t", normal(0, 2, 2, 3))
    sizes = data(feed, "s", np.array([2, 3, 4, 5], np.int32))
    return with_gradients(layers.affine_grid(theta, sizes), theta)


def of_volumes(feed: Feed) -> list[Any]:
    x, y = param("x", normal(0, 2, 3, 3, 4, 5)), param("y", normal(0, 2, 3, 4, 5, 2))
    return [
        *with_gradients(layers.resize_trilinear(x, [5, 6, 7]), x),
        layers.resize_trilinear(x, scale=1.7, align_corners=False),
        layers.resize_trilinear(x, scale=2, align_corners=False, align_mode=0),
        layers.resize_trilinear(y, [2, 7, 4], data_format="NDHWC"),
        layers.image_resize(x, [2, 3, 9], resample="TRILINEAR", data_format="NCDHW"),
    ]


def of_shorter_sides(feed: Feed) -> list[Any]:
    x = param("x", normal(0, 2, 3, 6, 9))
    return [layers.image_resize_short(x, 4), layers.image_resize_short(x, 11, "NEAREST")]


def of_blocks(feed: Feed) -> list[Any]:
    x = param("x", normal(0, 2, 8, 4, 6))
    count = layers.cast(layers.reshape(layers.range(0, 384, 1, "int32"), [2, 32, 2, 3]), "float32")
    return with_gradients(layers.elementwise_mul(layers.space_to_depth(x, 2), count), x)


def of_own_channels(feed: Feed) -> list[Any]:
    x, r = param("x", normal(0, 2, 12, 9, 11)), data(feed, "r", boxes(6, -10, 100, 3), [4, 2])
    return with_gradients(layers.psroi_pool(x, r, 2, 0.125, 3, 2), x)


def of_integrals(feed: Feed) -> list[Any]:
    x, r = param("x", normal(0, 2, 3, 9, 11)), data(feed, "r", boxes(6, -10, 100, 3), [4, 2])
    regions, counts = param("q", boxes(6, -10, 100, 3)), data(feed, "n", np.array([4, 2], np.int64))
    pooled = layers.prroi_pool(x, regions, 0.2, 2, 2, batch_roi_nums=counts)
    return with_gradients(layers.prroi_pool(x, r, 0.125, 3, 2), x) + with_gradients(pooled, regions)


def of_deformed(feed: Feed) -> list[Any]:
    x, offset = param("x", normal(0, 2, 4, 7, 8)), param("o", normal(1, 2, 36, 7, 8))
    mask = param("m", np.random.RandomState(2).uniform(0, 1, (2, 18, 7, 8)))
    more: dict[str, Any] = {"groups": 2, "deformable_groups": 2, "im2col_step": 1}
    attrs = begun(normal(3, 6, 2, 3, 3)), fluid.ParamAttr(initializer=fluid.initializer.Constant(0.3))
    out = layers.deformable_conv(
        x, offset, mask, 6, 3, padding=1, param_attr=attrs[0], bias_attr=attrs[1], **more
    )
    return with_gradients(out, x, offset, mask, filters())


def of_deformed_without_mask(feed: Feed) -> list[Any]:
    x, offset = param("x", normal(0, 2, 4, 7, 8)), param("o", normal(1, 2, 18, 4, 4) * 2)
    more: dict[str, Any] = {"modulated": False, "bias_attr": False}
    out = layers.deformable_conv(
        x, offset, None, 6, 3, stride=2, padding=1, param_attr=begun(normal(3, 6, 4, 3, 3)), **more
    )
    return with_gradients(out, x, offset, filters())


def of_moved_parts(feed: Feed) -> list[Any]:
    x, r = param("x", normal(0, 2, 12, 9, 11)), data(feed, "r", boxes(6, 0, 80, 3), [4, 2])
    moves = param("t", normal(2, 6, 4, 3, 2))
    told = (0.125, [3, 2], 3, 2, [3, 2], 3, 0.2, True)
    still = layers.deformable_roi_pooling(x, r, moves, True, 0.125, [1, 1], 2, 2, None, 2, 0.1, False)
    return [*with_gradients(layers.deformable_roi_pooling(x, r, moves, False, *told), x, moves), still]


CORNERS = [
    [8, 6, 60, 10, 66, 50, 4, 56],
    [-5, -6, 30, 2, 26, 40, 2, 38],
    [20, 20, 90, 12, 96, 70, 30, 90],
    [3, 4, 50, 4, 50, 20, 3, 20],
]


def of_straightened(feed: Feed) -> list[Any]:
    x = param("x", normal(0, 2, 3, 12, 14))
    regions = data(feed, "r", np.array(CORNERS, np.float32), [1, 3])
    out, mask, matrix = layers.roi_perspective_transform(x, regions, 6, 9, 0.125)
    return [*with_gradients(out, x), mask, matrix]


GIVEN: dict[Case, list[tuple[float, float]]] = {
    of_grid: [(8.24712, 0.45131), (15.09476, 4.49603), (30.61739, 10.93508)],
    of_affine: [(27.0503, -1.18), (211.64439, -52.39204)],
    of_computed_affine: [(27.0503, -1.18), (211.64439, -52.39204)],
    of_volumes: [
        *((-11.14711, -4.1373), (-22.29421, -74.79855), (-15.91288, -0.5212), (-52.12159, -3.00571)),
        *((39.69606, -6.59101), (-13.14385, 15.97856)),
    ],
    of_shorter_sides: [(-2.40483, -2.62529), (-32.371, 17.98562)],
    of_blocks: [(-6883.46572, -4650.78408), (-4531819.52909, -1967658.61544)],
    of_own_channels: [(-1.13153, 3.68163), (-2.26306, -1.71222)],
    of_integrals: [(-1.58995, 1.16396), (-3.50128, -0.87742), (-2.80623, -0.85383), (-0.30267, -0.02443)],
    of_deformed: [
        *((227.00607, 5.33604), (-576.31507, -117.27031), (-395.06781, -79.58627)),
        *((3670.23566, -69.56196), (-731.81724, 19.22069)),
    ],
    of_deformed_without_mask: [
        *((-19.80458, -15.48646), (249.02055, -452.56556), (193.47311, -338.39367)),
        (-368.99517, 279.45636),
    ],
    of_straightened: [(-62.11455, -8.75104), (-124.2291, -7.96376), (161.0, 4.57005), (21.40003, -0.2264)],
    of_moved_parts: [(-0.46815, 0.54175), (-0.93629, -2.819), (7.37411, -7.369), (-18.08503, -0.66848)],
}


@pytest.mark.parametrize("case", GIVEN, ids=lambda case: case.__name__)
def test_what_is_read_is_that_of_1_8_with_its_gradients(case: Case) -> None:
    feed: Feed = {}
    found = run(feed, list(case(feed)))
    for value, wanted in zip(found, GIVEN[case], strict=True):
        close = 2e-4 * max(1.0, abs(wanted[0]))
        np.testing.assert_allclose(sums(np.array(value)), wanted, rtol=2e-4, atol=close)


def small_regions(feed: Feed) -> Any:
    return data(feed, "r", boxes(3, 1, 30, seed=3), [2, 1])


def own_channels(feed: Feed) -> tuple[Any, list[str]]:
    x = param("x", normal(0, 2, 4, 4, 5))
    return layers.psroi_pool(x, small_regions(feed), 1, 0.125, 2, 2), ["x"]


def integrals(feed: Feed) -> tuple[Any, list[str]]:
    x, q = param("x", normal(0, 1, 2, 4, 5)), param("q", np.array([[2, 3, 21, 19], [5, 1, 13, 27]]))
    counts = data(feed, "n", np.array([2], np.int64))
    return layers.prroi_pool(x, q, 0.125, 2, 2, batch_roi_nums=counts), ["q", "x"]


def deformed(feed: Feed) -> tuple[Any, list[str]]:
    x, offset = param("x", normal(0, 1, 2, 4, 4)), param("o", normal(1, 1, 16, 3, 3) * 0.3 + 0.45)
    mask = param("m", np.random.RandomState(2).uniform(0.2, 1, (1, 8, 3, 3)))
    attr = fluid.ParamAttr("w", fluid.initializer.NumpyArrayInitializer(normal(3, 2, 2, 2, 2)))
    told: dict[str, Any] = {"deformable_groups": 2, "param_attr": attr, "bias_attr": False}
    return layers.deformable_conv(x, offset, mask, 2, 2, **told), ["m", "o", "w", "x"]


def moved_parts(feed: Feed) -> tuple[Any, list[str]]:
    x, moves = param("x", normal(0, 2, 2, 4, 5)), param("t", normal(2, 3, 2, 2, 2) * 0.5)
    told = (0.125, [1, 1], 2, 2, [2, 2], 2, 0.1)
    return layers.deformable_roi_pooling(x, small_regions(feed), moves, False, *told), ["t", "x"]


def volumes(feed: Feed) -> tuple[Any, list[str]]:
    return layers.resize_trilinear(param("x", normal(0, 1, 2, 2, 3, 2)), [3, 2, 4]), ["x"]


def deformed_without_mask(feed: Feed) -> tuple[Any, list[str]]:
    x, offset = param("x", normal(0, 1, 2, 4, 4)), param("o", normal(1, 1, 8, 2, 2) * 0.3 + 0.45)
    attr = fluid.ParamAttr("w", fluid.initializer.NumpyArrayInitializer(normal(3, 2, 2, 2, 2)))
    told: dict[str, Any] = {"modulated": False, "stride": 2, "param_attr": attr, "bias_attr": False}
    return layers.deformable_conv(x, offset, None, 2, 2, **told), ["o", "w", "x"]


def straightened(feed: Feed) -> tuple[Any, list[str]]:
    regions = data(feed, "r", np.array(CORNERS[:2], np.float32), [1, 1])
    return layers.roi_perspective_transform(param("x", normal(0, 2, 1, 8, 7)), regions, 3, 4, 0.125)[0], ["x"]


OF_ALL = own_channels, integrals, deformed, deformed_without_mask, moved_parts, straightened, volumes


@pytest.mark.parametrize("layer", OF_ALL)
def test_gradients_are_those_of_central_differences(layer: Any) -> None:
    feed: Feed = {}
    _, names = layer(feed)
    assert_gradients(lambda: layers.mean(layers.square(layer({})[0])), feed, names, step=2e-3)


def test_what_has_no_meaning_is_refused_by_name() -> None:
    x, five = fluid.data("x", [1, 4, 5, 6]), fluid.data("v", [1, 1, 2, 3, 4])
    r = fluid.data("r", [None, 4], lod_level=1)
    with pytest.raises(BadArgument, match="'TRILINEAR' is of 5 axes"):
        layers.image_resize(x, [3, 3, 3], resample="TRILINEAR", data_format="NCDHW")
    with pytest.raises(BadArgument, match="out_shape is 3 sizes above 0"):
        layers.resize_trilinear(five, [3, 3])
    with pytest.raises(BadArgument, match="space_to_depth: channels are parted by 4"):
        layers.space_to_depth(x, 2)
    with pytest.raises(BadArgument, match="input has 8 channels"):
        layers.psroi_pool(x, r, 2, 1.0, 2, 2)
    with pytest.raises(BadArgument, match="spatial_scale is a float"):
        layers.prroi_pool(x, r, 1)
    with pytest.raises(BadArgument, match="a mask says how much"):
        layers.deformable_conv(x, x, None, 2, 3)
    with pytest.raises(BadProgram, match="offsets are told for"):
        layers.deformable_conv(x, fluid.data("o", [1, 18, 2, 2]), None, 2, 3, modulated=False)
