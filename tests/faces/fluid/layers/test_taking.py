"""Layers that are given what they cannot take say so by the argument's name, before anything is appended."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import paddle.fluid as fluid
from paddle.fluid import layers, nets

Case = tuple[str, Callable[[Any, Any], Any]]
NO_VARIABLES: list[Case] = [
    ("abs: x is a Variable of the program, not None", lambda f, i: layers.abs(None)),
    (
        "abs: x is a Variable of the program, not \\[var f.*: fluid.layers.assign",
        lambda f, i: layers.abs([f]),
    ),
    ("reduce_sum: input is a Variable of the program, not 3", lambda f, i: layers.reduce_sum(3)),
    ("conv2d: input is a Variable of the program, not 'f'", lambda f, i: layers.conv2d("f", 3, 3)),
    ("cast: x is a Variable of the program, not array", lambda f, i: layers.cast(np.ones(2), "int64")),
    ("concat: input is a list of Variables of the program, not \\[\\]", lambda f, i: layers.concat([])),
    ("sums: input is a Variable of the program or a list", lambda f, i: layers.sums([f, None])),
    ("fc: input is a Variable of the program or a list", lambda f, i: layers.fc([f, "f"], 3)),
    (
        "array_read: array is a Variable of the program, not array",
        lambda f, i: layers.array_read(np.ones(2), i),
    ),
    ("square_error_cost: label is a Variable", lambda f, i: layers.square_error_cost(f, 1.0)),
    ("gradients: targets is a Variable of the program or several, not 3", lambda f, i: fluid.gradients(3, f)),
    (
        "gradients: inputs is a Variable of the program or several, not 'f'",
        lambda f, i: fluid.gradients(f, "f"),
    ),
    ("glu: input is a Variable of the program, not None", lambda f, i: nets.glu(None)),
]
NO_NUMBERS: list[Case] = [
    ("fc: size is a whole number, not '3'", lambda f, i: layers.fc(f, "3")),
    ("fc: size is a whole number, not 2.5", lambda f, i: layers.fc(f, 2.5)),
    ("fc: size is a whole number, not the Variable 'i'", lambda f, i: layers.fc(f, i)),
    (
        "one_hot: depth is a whole number or a Variable of the program, not '3'",
        lambda f, i: fluid.one_hot(i, depth="3"),
    ),
    ("clip: min is a number, not 'low'", lambda f, i: layers.clip(f, "low", 1)),
    ("dropout: dropout_prob is a number, not \\[0.5\\]", lambda f, i: layers.dropout(f, [0.5])),
    ("reduce_sum: keep_dim is True or False, not 'yes'", lambda f, i: layers.reduce_sum(f, keep_dim="yes")),
    ("reshape: shape is a list of whole numbers, not 3", lambda f, i: layers.reshape(f, 3)),
    ("reshape: shape is a list of whole numbers, not \\['a', 3\\]", lambda f, i: layers.reshape(f, ["a", 3])),
    ("zeros: shape is a list of whole numbers, not \\[1.5\\]", lambda f, i: layers.zeros([1.5], "int64")),
    ("zeros: shape is a list of whole numbers, not the Variable 'f'", lambda f, i: layers.zeros(f, "int64")),
    ("data: name is a text, not 3", lambda f, i: fluid.data(3, [3])),
    ("data: shape is a list of sizes, not None", lambda f, i: fluid.data("x", None)),
    ("ParamAttr: name is a text, not 3", lambda f, i: fluid.ParamAttr(name=3)),
    ("ParamAttr: learning_rate is a number, not 'fast'", lambda f, i: fluid.ParamAttr(learning_rate="fast")),
    ("while_loop: cond is a function, not None", lambda f, i: layers.while_loop(None, abs, [i])),
    ("cond: true_fn is a function, not 3", lambda f, i: layers.cond(layers.equal(f, f), 3)),
    ("case: pred_fn_pairs holds pairs .a bool Variable, a", lambda f, i: layers.case([(f, 3)])),
    ("switch_case: branch_fns is a list of pairs", lambda f, i: layers.switch_case(i, 3)),
    ("concat: axis is one of 2 axes, not -7", lambda f, i: layers.concat([f, f], axis=-7)),
    ("elementwise_add: axis -7 is none of 2 axes", lambda f, i: layers.elementwise_add(f, f, axis=-7)),
    ("label_smooth: epsilon is a share", lambda f, i: layers.label_smooth(f, epsilon=2.5)),
    ("slice: starts are 1 numbers, one for each of axes", lambda f, i: layers.slice(f, [1], [0, 1], [2])),
    ("pad: paddings are 4 numbers, two for each axis", lambda f, i: layers.pad(f, [1, 1])),
    ("conv2d: padding is one number, two, or four", lambda f, i: layers.conv2d(images(), 3, 3, padding=2.5)),
    ("conv2d: num_filters is 1 or more, not 0", lambda f, i: layers.conv2d(images(), 0, 3)),
    ("fc: a parameter has sizes of 1 or more, not \\[3, -7\\]", lambda f, i: layers.fc(f, -7)),
    ("fc: act is a text or attributes by name, not 3", lambda f, i: layers.fc(f, 3, act=3)),
]
NO_SUCH_DTYPE: list[Case] = [
    ("uniform_random: dtype is of float32, float64, and not of int64", lambda f, i: uniform("int64")),
    ("uniform_random: dtype: 'real' is not a dtype", lambda f, i: uniform("real")),
    ("range: dtype is of .*int64, and not of bool", lambda f, i: layers.range(0, 3, 1, "bool")),
    (
        "embedding: dtype is of .*float64, and not of int32",
        lambda f, i: fluid.embedding(i, [9, 3], dtype="int32"),
    ),
    ("reduce_sum: input is of .*int64, and not of bool", lambda f, i: layers.reduce_sum(layers.equal(f, f))),
    ("logical_and: x is of bool, and not of float32", lambda f, i: layers.logical_and(f, f)),
    ("reduce_all: input is of bool, and not of int64", lambda f, i: layers.reduce_all(i)),
    ("cond: pred is of bool, and not of int64", lambda f, i: layers.cond(i, lambda: f, lambda: f)),
    ("gather: index is of int32, int64, and not of float32", lambda f, i: layers.gather(f, f)),
]
NO_SUCH_AXES: list[Case] = [
    ("fc: input has 2 or more axes, and 'row' has the shape", lambda f, i: layers.fc(row(), 3)),
    ("conv2d: input has 4 axes, and 'f' has the shape", lambda f, i: layers.conv2d(f, 3, 3)),
    ("huber_loss: input and label have as many axes", lambda f, i: layers.huber_loss(row(), f, 1.0)),
    ("log_loss: label has 2 axes, and 'row' has the shape", lambda f, i: layers.log_loss(f, row())),
]


def images() -> Any:
    return layers.data("images", [3, 8, 8])


def row() -> Any:
    return fluid.data("row", [-1])


def uniform(dtype: Any) -> Any:
    return layers.uniform_random([2], dtype=dtype)


@pytest.mark.parametrize(("said", "given"), NO_VARIABLES + NO_NUMBERS + NO_SUCH_DTYPE + NO_SUCH_AXES)
def test_what_cannot_be_taken_is_told_by_the_arguments_name(
    said: str, given: Callable[[Any, Any], Any]
) -> None:
    f, i = layers.data("f", [3]), layers.data("i", [1], dtype="int64")
    with pytest.raises((TypeError, ValueError), match=said):
        given(f, i)
    assert not [
        op.type for op in fluid.default_main_program().global_block().ops if op.type not in ("equal",)
    ]


def test_numbers_of_numpys_are_taken_as_pythons() -> None:
    f = layers.data("f", [np.int64(4)])
    assert layers.fc(f, np.int64(3)).shape == (-1, 3)
    assert layers.reshape(f, np.array([-1, 2, 2])).shape == (-1, 2, 2)
    assert layers.reduce_sum(f, dim=np.int64(1)).shape == (-1,)
    assert layers.zeros([6 / 2], "float32").shape == (3,)
    scaled = layers.scale(f, scale=np.array([2.0]), bias=np.float32(1.0))
    run = fluid.Executor(fluid.CPUPlace()).run
    run(fluid.default_startup_program())
    (given,) = run(feed={"f": np.ones((1, 4), np.float32)}, fetch_list=[scaled])
    np.testing.assert_array_equal(given, np.full((1, 4), 3.0))


def test_an_attribute_that_is_none_is_one_that_is_not_told() -> None:
    f = layers.data("f", [4])
    op = layers.l2_normalize(f, 1, epsilon=None).op
    assert op is not None and op.attr("epsilon") == 1e-12
    assert layers.elementwise_add(f, f, axis=None).shape == (-1, 4)


def test_a_constant_may_be_of_a_value_that_is_computed() -> None:
    value = layers.data("value", [1], append_batch_size=False)
    made = layers.fill_constant([2, 3], "float32", value)
    run = fluid.Executor(fluid.CPUPlace()).run
    (given,) = run(feed={"value": np.array([7.0], np.float32)}, fetch_list=[made])
    np.testing.assert_array_equal(given, np.full((2, 3), 7.0))


def test_parts_are_repeated_as_often_as_they_lie_in_what_is_wanted() -> None:
    x, like = fluid.data("x", [2, 3]), fluid.data("like", [4, 3])
    made = layers.expand_as(x, like)
    slope = fluid.gradients(made, x)[0]
    given = np.arange(6, dtype=np.float32).reshape(2, 3)
    run = fluid.Executor(fluid.CPUPlace()).run
    whole, back = run(feed={"x": given, "like": np.zeros((4, 3), np.float32)}, fetch_list=[made, slope])
    np.testing.assert_array_equal(whole, np.tile(given, (2, 1)))
    np.testing.assert_array_equal(back, np.full((2, 3), 2.0))


def test_a_parameter_takes_no_place_of_what_is_fed() -> None:
    x = layers.data("x", [4])
    with pytest.raises(ValueError, match=r"variable 'x' is fed, with the shape .*another name"):
        layers.fc(x, 3, param_attr="x")


def test_pairs_are_as_many_as_labels_where_rows_are_open() -> None:
    rows = np.arange(12, dtype=np.float32).reshape(4, 3) / 10
    labels = layers.assign(np.array([0, 1, 0, 2], np.float32))
    found = []
    for name, shape in (("open", [-1, 3]), ("declared", [4, 3])):
        x = fluid.data(name, shape)
        loss = layers.npair_loss(x, x * 0.5, labels)
        run = fluid.Executor(fluid.CPUPlace()).run
        found.append(run(feed={"open": rows, "declared": rows}, fetch_list=[loss])[0])
    np.testing.assert_allclose(found[0], found[1], rtol=1e-6)
