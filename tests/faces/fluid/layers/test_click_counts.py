"""Layers of click-through programs, with the numbers that PaddlePaddle 1.8.5 gives for the same programs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import paddle.fluid as fluid

BEGINS = {"batch_size": 5.0, "batch_sum": 2.0, "batch_square": 7.0}
COUNTS = ["n.batch_size", "n.batch_sum", "n.batch_square_sum"]


def trained(optimizer: Any, **told: Any) -> tuple[list[float], dict[str, np.ndarray]]:
    """Costs of three steps, and the first number of every parameter after them."""
    x = fluid.layers.data("x", [6])
    hidden = fluid.layers.fc(x, 6, param_attr=fluid.initializer.Constant(0.3), bias_attr=False)
    out = fluid.layers.data_norm(hidden, param_attr=BEGINS, name="n", **told)
    cost = fluid.layers.mean(fluid.layers.square(out))
    optimizer.minimize(cost)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    feed = {"x": np.random.RandomState(0).randn(4, 6).astype("float32")}
    costs = [float(exe.run(feed=feed, fetch_list=[cost])[0][0]) for _ in range(3)]
    scope, parameters = fluid.global_scope(), fluid.default_main_program().all_parameters()
    return costs, {p.name: np.array(scope.find_var(p.name).get_tensor()).ravel()[0] for p in parameters}


def test_counts_are_moved_as_any_parameter_by_those_of_a_batch() -> None:
    costs, kept = trained(fluid.optimizer.SGD(0.1))
    np.testing.assert_allclose(costs, [0.67878, 0.5795, 0.49277], rtol=1e-4)
    np.testing.assert_allclose([kept[name] for name in COUNTS], [3.8, 1.18269, 5.99127], rtol=1e-4)
    np.testing.assert_allclose(kept["fc_0.w_0"], 0.25028, rtol=1e-4)


def test_slots_count_as_one_sample() -> None:
    costs, kept = trained(fluid.optimizer.SGD(0.1), slot_dim=2)
    np.testing.assert_allclose(costs, [0.67878, 0.58281, 0.50081], rtol=1e-4)
    np.testing.assert_allclose([kept[name] for name in COUNTS], [4.7, 1.7956, 6.75164], rtol=1e-4)


def test_what_is_normalized_is_scaled_and_shifted() -> None:
    costs, kept = trained(fluid.optimizer.SGD(0.1), enable_scale_and_shift=True)
    np.testing.assert_allclose(costs, [0.67878, 0.54912, 0.44849], rtol=1e-4)
    np.testing.assert_allclose([kept["n.scale_w"], kept["n.bias"]], [0.94285, -0.02442], rtol=1e-3)


def test_slots_that_were_not_shown_are_nothing_with_their_bias_too() -> None:
    x = fluid.layers.data("x", [4])
    told = {"slot_dim": 2, "enable_scale_and_shift": True, "param_attr": {**BEGINS, "bias": 3.0}}
    out = fluid.layers.data_norm(x, **told)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    (found,) = exe.run(feed={"x": np.array([[0, 5, 1, 2]], "float32")}, fetch_list=[out])
    scale = (5 / 7) ** 0.5
    np.testing.assert_allclose(found, [[0, 0, 0.6 * scale + 3, 1.6 * scale + 3]], rtol=1e-5)


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ({"epsilon": 0.5}, "epsilon lies between 0 and 0.001"),
        ({"data_layout": "CN"}, "data_layout is 'NCHW' or 'NHWC'"),
        ({"slot_dim": 4}, "6 columns are not slots of 4"),
    ],
)
def test_what_is_no_norm_of_data_is_refused_where_it_is_written(told: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fluid.layers.data_norm(fluid.layers.data("x", [6]), **told)


def rated(use_cvm: bool, lod_level: int) -> tuple[Any, np.ndarray]:
    ids = fluid.layers.data("ids", [1], dtype="int64", lod_level=lod_level)
    counts = fluid.layers.data("counts", [2])
    table = fluid.ParamAttr(name="table", initializer=fluid.initializer.Constant(0.5))
    rows = fluid.layers.embedding(ids, [10, 5], param_attr=table)
    out = fluid.layers.continuous_value_model(rows, counts, use_cvm)
    pooled = fluid.layers.sequence_pool(out, "sum") if lod_level else out
    hidden = fluid.layers.fc(pooled, 3, param_attr=fluid.initializer.Constant(0.2))
    cost = fluid.layers.mean(fluid.layers.square(hidden))
    fluid.optimizer.SGD(0.01).minimize(cost)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    words = np.array([[1], [2], [1], [4], [5]])
    feed = {"ids": words, "counts": np.array([[1, 0], [1, 1], [1, 0], [1, 1], [2, 1]], "float32")}
    if lod_level:
        feed = {"ids": fluid.create_lod_tensor(words, [[2, 3]], None), "counts": feed["counts"][:2]}
    _, slope = exe.run(feed=feed, fetch_list=[cost, "table@GRAD"])
    return out, slope


@pytest.mark.parametrize(("use_cvm", "rest"), [(True, 0.06097), (False, 0.048)])
def test_a_row_is_given_back_its_own_counts(use_cvm: bool, rest: float) -> None:
    out, slope = rated(use_cvm, lod_level=0)
    assert tuple(out.shape) == (-1, 5 if use_cvm else 3)
    np.testing.assert_allclose(slope[1], [2, 0, rest, rest, rest], rtol=1e-3)
    np.testing.assert_array_equal(slope[5, :2], [2, 1])


@pytest.mark.parametrize(("use_cvm", "rest"), [(True, 0.38109), (False, 0.3)])
def test_rows_of_a_sequence_are_given_back_its_counts(use_cvm: bool, rest: float) -> None:
    _, slope = rated(use_cvm, lod_level=1)
    np.testing.assert_allclose(slope[1], [2, 1, rest, rest, rest], rtol=1e-3)
    np.testing.assert_array_equal(slope[[2, 4, 5], :2], [[1, 0], [1, 1], [1, 1]])
