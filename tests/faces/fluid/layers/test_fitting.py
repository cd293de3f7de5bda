"""Shapes that do not fit each other are refused where a layer is written, as PaddlePaddle 1.8.5 does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import paddle.fluid as fluid
from paddle._program.errors import BadArgument

layers = fluid.layers

WRONG: list[tuple[Callable[..., Any], list[list[int]], str]] = [
    (lambda x, y: layers.mul(x, y, x_num_col_dims=2), [[6, 6], [3, 1]], "mul: x_num_col_dims, 2, is less"),
    (lambda x: layers.fc(x, 4, num_flatten_dims=2), [[-1, 6]], "fc: num_flatten_dims, 2, is less"),
    (layers.matmul, [[3, 4, 6], [2, 6, 5]], "matmul: x and y have as many matrices.*x has .3, 4, 6."),
    (layers.cos_sim, [[2, 2], [2, 8]], "cos_sim: X and Y have the same sizes behind the first"),
    (
        lambda x, y: layers.cross_entropy(x, y, soft_label=True),
        [[4, 6], [4, 1]],
        "input and label have the same",
    ),
    (
        lambda x, y: layers.softmax_with_cross_entropy(x, y, soft_label=True),
        [[-1, 3, 4], [-1, 3, 1]],
        "logits and label have the same shape",
    ),
    (
        lambda x: layers.reshape(x, [1, -2, 3]),
        [[6]],
        "reshape: of shape, .1, -2, 3., no size is less than -1",
    ),
    (lambda x: layers.expand(x, [1, 2]), [[-1, 3, 2]], "expand_times has a number for each axis, not 2"),
    (layers.huber_loss, [[1, 4], [4, 4]], "input and label have the same shape"),
    (layers.kldiv_loss, [[-1, 4], [-1, 1]], "x and target have the same shape"),
    (layers.margin_rank_loss, [[6, 4], [6, 4], [6, 4]], "label has one number for each sample"),
    (layers.rank_loss, [[6, 8], [6, 1], [6, 1]], "label has one number for each sample"),
    (lambda x: layers.reduce_max(x, dim=1), [[3]], "reduce_max: dim 1 is none of 1 axes"),
    (lambda x: layers.reduce_sum(x, dim=[0, 2]), [[3, 4]], "reduce_sum: dim 2 is none of 2 axes"),
    (lambda x, y: layers.elementwise_add(x, y, axis=2), [[8], [1]], "elementwise_add: axis 2 is none of 1"),
    (
        lambda x: layers.split(x, [1, 3], dim=1),
        [[6, 6]],
        "num_or_sections, .1, 3., add up to the size of axis",
    ),
    (lambda x: layers.split(x, 2, dim=2), [[6, 6]], "split: dim 2 is none of 2 axes"),
    (lambda x: layers.slice(x, [1], [1], [1]), [[-1, 6]], "slice: nothing lies from 1 to 1 in axis 1"),
    (lambda x: layers.slice(x, [0], [5], [9]), [[4]], "slice: nothing lies from 5 to 9 in axis 0"),
    (lambda x: layers.transpose(x, [2]), [[2]], "transpose: perm 2 is none of 1 axes"),
    (lambda x: layers.maxout(x, 1), [[-1, 4, 2, 2]], "groups is 2 or more, not 1"),
    (lambda x: layers.lrn(x, 4), [[-1, 6, 8, 2]], "lrn: n is odd"),
    (layers.smooth_l1, [[1, 6], [6, 6]], "x and y have the same shape"),
]


@pytest.mark.parametrize(("layer", "shapes", "message"), WRONG, ids=[message for *_, message in WRONG])
def test_what_does_not_fit_is_refused(layer: Callable[..., Any], shapes: Any, message: str) -> None:
    given = [fluid.data(f"x{number}", shape) for number, shape in enumerate(shapes)]
    before = len(fluid.default_main_program().global_block().ops)
    with pytest.raises(BadArgument, match=message):
        layer(*given) if layer is not layers.huber_loss else layer(*given, 1.0)
    assert len(fluid.default_main_program().global_block().ops) == before


def test_indexes_are_rows() -> None:
    x, index = fluid.data("x", [-1, 2]), fluid.data("index", [2], "int64")
    with pytest.raises(BadArgument, match="gather_nd: index has 2 axes or more"):
        layers.gather_nd(x, index)
    with pytest.raises(BadArgument, match="index and updates have as many rows"):
        layers.scatter(x, index, fluid.data("updates", [3, 2]))


def test_what_is_open_fits() -> None:
    x, soft = fluid.data("x", [-1, 4]), fluid.data("soft", [8, 4])
    assert layers.softmax_with_cross_entropy(x, soft, soft_label=True) is not None
    assert tuple(layers.slice(x, [0], [3], [9]).shape) == (-1, 4)
    assert [tuple(each.shape) for each in layers.split(x, [1, -1], dim=1)] == [(-1, 1), (-1, 3)]
    many = layers.matmul(fluid.data("a", [-1, 3, 4]), fluid.data("b", [8, 4, 5]))
    assert tuple(many.shape)[1:] == (3, 5)
