"""Shapes of results where there are no axes, no elements, or an axis is kept: each as 2.6.2 gives them.

What a sum over all axes gives is of shape [1] here, and [] there (docs/porting.md).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import paddle
from paddle.nn import functional as F  # noqa: N812  as programs call it
from tests.faces.static.feeding import ran

pytestmark = pytest.mark.usefixtures("alone")

Case = tuple[Callable[[Any], Any], Any]

OF_ONE: dict[str, Case] = {
    "plus a number": (lambda s: s + 2, 5.25),
    "divided by a number": (lambda s: s // 2, 1.0),
    "a power": (lambda s: paddle.pow(s, paddle.full([], 2.0)), 10.5625),
    "i0": (paddle.i0, 5.989336),
    "lgamma": (paddle.lgamma, 0.9358019),
    "atan2": (lambda s: paddle.atan2(s, s), 0.7853982),
    "kron": (lambda s: paddle.kron(s, s), 10.5625),
    "leaky_relu": (F.leaky_relu, 3.25),
    "softmax": (F.softmax, 1.0),
    "log_softmax": (F.log_softmax, 0.0),
    "a line of one in no shape": (lambda s: paddle.reshape(paddle.flatten(s), []), 3.25),
}


@pytest.mark.parametrize("name", OF_ONE)
def test_of_one_number_there_is_one_number(name: str) -> None:
    made = OF_ONE[name][0](paddle.static.data("s", []))
    (found,) = ran([made], {"s": np.array(3.25, "float32")})
    assert (tuple(made.shape), found.shape) == ((), ())
    assert float(found) == pytest.approx(OF_ONE[name][1])


def test_whole_numbers_of_no_axes_stay_so_beside_a_number() -> None:
    s = paddle.static.data("s", [], "int64")
    each = [s + 2, s * 3, s**2, s % 2, s / 2, -s, paddle.clip(s, 0, 2), paddle.cast(s, "bool")]
    found = ran(each, {"s": np.array(3)})
    wanted = (5, 9, 9, 1, 1.5, -3, 2, True)
    assert [(each.shape, float(each)) for each in found] == [((), number) for number in wanted]


def test_sizes_and_lines_of_one_number() -> None:
    s = paddle.static.data("s", [])
    wanted = [paddle.shape(s), paddle.numel(s), paddle.flatten(s), paddle.median(s), paddle.cummax(s)[0]]
    wanted += [paddle.argmax(s, -1), paddle.var(s), paddle.std(s)]
    found = ran(wanted, {"s": np.array(3.25, "float32")})
    assert [each.tolist() for each in found] == [[], [1], [3.25], [3.25], [3.25], [0], [0], [0]]


def test_a_tensor_of_one_index_names_one_row() -> None:
    table, index = paddle.static.data("t", [2, 3]), paddle.static.data("i", [], "int64")
    feed = {"t": np.arange(6, dtype="float32").reshape(2, 3), "i": np.array(1)}
    found = ran(
        [F.embedding(index, table), paddle.gather(table, index), paddle.gather(table, index, axis=1)], feed
    )
    assert [each.tolist() for each in found] == [[3, 4, 5], [3, 4, 5], [1, 4]]


@pytest.mark.parametrize("function", [paddle.argmax, paddle.argmin])
def test_all_axes_are_kept(function: Callable[..., Any]) -> None:
    made = function(paddle.static.data("x", [2, 3]), keepdim=True)
    (found,) = ran([made], {"x": np.ones((2, 3), "float32")})
    assert (tuple(made.shape), found.shape) == ((1, 1), (1, 1))


def test_each_loss_has_the_shape_of_its_label() -> None:
    scores, label = paddle.static.data("x", [2, 3]), paddle.static.data("l", [2], "int64")
    rows, weight = paddle.unsqueeze(label, 1), paddle.full([3], 2.0)
    each = [
        F.cross_entropy(scores, label, reduction="none"),
        F.cross_entropy(scores, label, weight, reduction="none"),
        F.cross_entropy(scores, rows, reduction="none"),
        F.cross_entropy(scores, label, label_smoothing=0.1, reduction="none"),
    ]
    found = ran(each, {"x": np.zeros((2, 3), "float32"), "l": np.array([0, 2])})
    assert [one.shape for one in found] == [(2,), (2,), (2, 1), (2, 1)]
    assert found[0].tolist() == pytest.approx([1.0986123] * 2)
    assert found[1].tolist() == pytest.approx([2.1972246] * 2)


def test_of_nothing_all_is_so_and_nothing_is() -> None:
    e, r = paddle.static.data("e", [0, 3]), paddle.static.data("r", [3])
    made = [
        paddle.all(e),
        paddle.any(e),
        paddle.allclose(e, e),
        paddle.equal_all(e, e),
        paddle.equal_all(e, r),
    ]
    found = ran(made, {"e": np.zeros((0, 3), "float32"), "r": np.zeros(3, "float32")})
    assert [bool(each.item()) for each in found] == [True, False, True, True, False]


def test_what_is_of_two_shapes_is_not_equal() -> None:
    c, r = paddle.static.data("c", [2, 1], "bool"), paddle.static.data("r", [3], "bool")
    found = ran([paddle.equal_all(c, r)], {"c": np.ones((2, 1), bool), "r": np.ones(3, bool)})
    assert not found[0].any()


def test_a_number_is_a_line_of_one() -> None:
    found = ran([paddle.assign(2.5), paddle.assign(True), paddle.to_tensor(2.5)], {})
    assert [each.shape for each in found] == [(1,), (1,), ()]


def test_the_variance_along_no_axis_is_that_of_all() -> None:
    x = paddle.static.data("x", [2, 3])
    (found,) = ran([paddle.var(x, axis=[])], {"x": np.array([[1, -2, 3], [-4, 5, 0]], "float32")})
    assert found.item() == pytest.approx(10.7)
