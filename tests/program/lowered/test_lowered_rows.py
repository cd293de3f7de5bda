"""Operators that are lowered to those of the engine: each gives what numpy does and its gradient is that of
central differences, here or in a test that is named. Who adds one adds it here."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import paddle.fluid as fluid
from paddle._program.description.written import fresh
from paddle._program.lowering import op_rows
from tests.observed import observe
from tests.program.hosts.case import Case
from tests.program.hosts.peer import compare_with_numpy, compare_with_torch

from . import array_rows, elsewhere, function_rows, pair_rows

CASES: list[Case] = [*function_rows.CASES, *array_rows.CASES, *pair_rows.CASES]
op_rows._load()
LOWERED = {type for type, row in op_rows._rows.items() if row.lower is not None}


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("case", CASES, ids=str)
def test_values_are_those_of_numpy_and_gradients_those_of_central_differences(case: Case) -> None:
    compare_with_numpy(case)


@pytest.mark.parametrize("case", [case for case in CASES if callable(case.torch)], ids=str)
def test_values_and_gradients_are_those_of_torch(case: Case) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install -e '.[peers]'")
    compare_with_torch(torch, case)


def test_a_batch_norm_of_several_devices_is_one_of_the_batch_and_moves_what_is_kept() -> None:
    x = np.random.default_rng(17).normal(size=(2, 3, 4, 5)).astype(np.float32)
    with fresh(), fluid.scope_guard(fluid.Scope()):
        fed = fluid.data("x", [2, 3, 4, 5])
        block = fluid.default_main_program().global_block()
        made = {
            slot: fluid.layers.create_parameter(
                [3], "float32", name=slot, default_initializer=fluid.initializer.Constant(value)
            )
            for slot, value in {"Scale": 1.5, "Bias": 0.5, "Mean": 0.25, "Variance": 2.0}.items()
        }
        outs = {slot: block.create_var(name=slot) for slot in ("Y", "SavedMean", "SavedVariance")}
        kept = {"MeanOut": made["Mean"], "VarianceOut": made["Variance"]}
        told = {"momentum": 0.8, "epsilon": 1e-4}
        block.append_op("sync_batch_norm", {"X": fed, **made}, {**outs, **kept}, told)
        exe = fluid.Executor()
        exe.run(fluid.default_startup_program())
        y, mean, variance = exe.run(feed={"x": x}, fetch_list=[outs["Y"], made["Mean"], made["Variance"]])
    own, spread = x.mean((0, 2, 3)), x.var((0, 2, 3))
    wanted = 1.5 * (x - own[:, None, None]) / np.sqrt(spread + 1e-4)[:, None, None] + 0.5
    np.testing.assert_allclose(y, wanted, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(mean, 0.8 * 0.25 + 0.2 * own, rtol=1e-5)
    np.testing.assert_allclose(variance, 0.8 * 2 + 0.2 * spread, rtol=1e-5)


ROWS = np.random.default_rng(23).normal(size=(4, 2)).astype(np.float32)


@pytest.mark.parametrize(
    ("layer", "wanted", "lengths"),
    [
        (lambda x, y: fluid.layers.lod_reset(x, target_lod=[0, 3, 4]), ROWS, [[3, 1]]),
        (lambda x, y: fluid.layers.sequence_reshape(x, 4), ROWS.reshape(2, 4), [[1, 1]]),
        (lambda x, y: fluid.layers.sequence_expand_as(x, y), ROWS.repeat([1, 3, 2, 1], 0), [[1, 3, 2, 1]]),
    ],
    ids=["lod_reset", "sequence_reshape", "sequence_expand_as"],
)
def test_elements_stay_where_their_sequences_become_others(layer: Any, wanted: Any, lengths: Any) -> None:
    with fresh(), fluid.scope_guard(fluid.Scope()):
        x, y = (fluid.data(name, [None, 2], "float32", lod_level=1) for name in "xy")
        place = fluid.CPUPlace()
        feed = {
            "x": fluid.create_lod_tensor(ROWS, [[2, 2]], place),
            "y": fluid.create_lod_tensor(ROWS[[0] * 7], [[1, 3, 2, 1]], place),
        }
        (found,) = fluid.Executor().run(feed=feed, fetch_list=[layer(x, y)], return_numpy=False)
    np.testing.assert_array_equal(np.asarray(found), wanted)
    assert found.recursive_sequence_lengths() == lengths


def test_an_area_under_a_curve_is_the_share_of_pairs_in_their_order() -> None:
    """Of all batches so far; equal scores count half."""
    rng = np.random.default_rng(29)
    scores, labels = rng.integers(1, 20, 60) / 20, rng.integers(0, 2, 60)
    with fresh(), fluid.scope_guard(fluid.Scope()):
        x, label = fluid.data("x", [None, 2]), fluid.data("label", [None, 1], "int64")
        area = fluid.layers.auc(x, label)[0]
        exe = fluid.Executor()
        exe.run(fluid.default_startup_program())
        for upto in (20, 40, 60):
            some = slice(upto - 20, upto)
            both = np.stack([1 - scores[some], scores[some]], 1).astype(np.float32)
            feed = {"x": both, "label": labels[some, None]}
            (found,) = exe.run(feed=feed, fetch_list=[area])
            apart = scores[:upto][labels[:upto] == 1][:, None] - scores[:upto][labels[:upto] == 0]
            np.testing.assert_allclose(found, [(np.sign(apart) + 1).mean() / 2], rtol=1e-5)


NORMAL, UNIFORM = {"mean": 3.0, "std": 0.5}, {"min": -1.0, "max": 3.0}


@pytest.mark.parametrize(
    ("type", "told", "bounds", "deviation"),
    [
        ("truncated_gaussian_random", NORMAL, (2, 4), 0.5 * 0.8796),
        ("gaussian_random", NORMAL, (0, 6), 0.5),
        ("uniform_random", UNIFORM, (-1, 3), 4 / 12**0.5),
        ("gaussian_random_batch_size_like", NORMAL, (0, 6), 0.5),
        ("uniform_random_batch_size_like", UNIFORM, (-1, 3), 4 / 12**0.5),
    ],
)
def test_what_is_drawn_lies_where_it_should_and_has_its_moments(
    type: str, told: dict[str, float], bounds: tuple[float, float], deviation: float
) -> None:
    """Of a seed, and so the same numbers each time."""
    with fresh(), fluid.scope_guard(fluid.Scope()):
        block = fluid.default_main_program().global_block()
        out = block.create_var(name="out")
        like = {"Input": fluid.data("x", [None, 2])} if type.endswith("like") else {}
        shape = [-1 if like else 200, 200]
        block.append_op(type, like, {"Out": [out]}, {**told, "shape": shape, "seed": 7, "dtype": 5})
        feed = {"x": np.zeros((200, 2), np.float32)} if like else {}
        (found,) = fluid.Executor().run(feed=feed, fetch_list=[out])
    assert found.shape == (200, 200)
    low, high = bounds
    assert low <= found.min() and found.max() <= high
    if deviation != 0.5:
        assert found.min() < low + 0.01 and found.max() > high - 0.01
    np.testing.assert_allclose([found.mean(), found.std()], [(low + high) / 2, deviation], atol=0.015)


def test_every_operator_that_is_lowered_is_compared_with_something() -> None:
    lists = ({case.type for case in CASES}, elsewhere.VALUES, elsewhere.HERE, elsewhere.IDLE)
    assert sum(map(len, lists)) == len(set().union(*lists)), "some are in two lists"
    assert set().union(*lists) == LOWERED


def test_tests_that_are_named_lower_these_operators() -> None:
    here = {type: globals()[name] for type, name in elsewhere.HERE.items()}
    assert all(map(callable, here.values()))
    asked = [*elsewhere.VALUES.items(), *elsewhere.SLOPES.items()]
    observed = observe(node for _, node in asked)
    assert [(type, node) for type, node in asked if type not in observed[node].lowered] == []
