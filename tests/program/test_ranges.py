"""Whole numbers that a variable's dtype does not hold are refused where they come in, by name and number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import paddle.fluid as fluid
from paddle.fluid import layers

FAR = 2**40


def _ran(dtype: str, value: Any) -> np.ndarray:
    with fluid.program_guard(fluid.Program(), fluid.Program()):
        x = layers.data("x", [1], dtype=dtype)
        return fluid.Executor().run(feed={"x": value}, fetch_list=[layers.assign(x)])[0]


@pytest.mark.parametrize(
    ("dtype", "given", "number"),
    [
        ("int32", np.array([[3], [FAR]]), FAR),
        ("int32", np.array([[-FAR], [3]]), -FAR),
        ("int32", np.array([[2**31]], np.uint32), 2**31),
        ("int64", np.array([[2**63]], np.uint64), 2**63),
        ("uint8", np.array([[-1]]), -1),
    ],
)
def test_a_run_refuses_what_would_become_another_number(dtype: str, given: np.ndarray, number: int) -> None:
    said = rf"'x' is {dtype}, which holds .* is fed {number} \(at \[\d, 0\], of {given.dtype}\)"
    with pytest.raises(ValueError, match=said):
        _ran(dtype, given)
    with pytest.raises(ValueError, match=said):
        _ran(dtype, fluid.create_lod_tensor(given, [[len(given)]], fluid.CPUPlace()))


def test_numbers_that_fit_are_taken_whatever_their_dtype() -> None:
    least, most = -(2**31), 2**31 - 1
    assert _ran("int32", np.array([[least], [most]])).tolist() == [[least], [most]]
    assert _ran("int64", np.array([[5]], np.uint64)).tolist() == [[5]]
    assert _ran("int32", np.zeros((0, 1), np.int64)).shape == (0, 1)


def test_floats_that_are_whole_numbers_are_taken_and_others_refused() -> None:
    """Programs feed lengths that ``np.zeros`` made; the original's operators take them as they come."""
    given = np.array([[3.0], [-4.0]])
    assert _ran("int32", given).tolist() == [[3], [-4]]
    fed = fluid.create_lod_tensor(given.astype("float32"), [[2]], fluid.CPUPlace())
    assert _ran("int64", fed).tolist() == [[3], [-4]]
    for wrong in (0.5, np.nan, 1e30):
        with pytest.raises(ValueError, match="'x' is int64, the feed gives float64: convert it"):
            _ran("int64", np.array([[3.0], [wrong]]))


@pytest.mark.parametrize(
    "field",
    [np.array([FAR]), [np.array(FAR)], np.int64(FAR), np.array([[1], [FAR]])],
    ids=["array", "list of arrays", "number", "several rows"],
)
def test_a_feeder_refuses_them_by_sample(field: Any) -> None:
    with fluid.program_guard(fluid.Program(), fluid.Program()):
        x = layers.data("x", [1], dtype="int32")
        feeder = fluid.DataFeeder([x], fluid.CPUPlace())
    with pytest.raises(ValueError, match="variable 'x', sample 1"):
        feeder.feed([(np.array([1]),), (field,)])


def _batches(value: Any) -> Callable[[], Any]:
    return lambda: iter([[value]])


def test_a_loader_s_batches_are_held_to_it() -> None:
    with fluid.program_guard(fluid.Program(), fluid.Program()):
        x = layers.data("x", [1], dtype="int32")
        loader = fluid.io.DataLoader.from_generator([x], capacity=2, iterable=False)
        loader.set_batch_generator(_batches(np.array([[FAR]])), places=fluid.CPUPlace())
        found = layers.assign(x)
        loader.start()
        with pytest.raises(ValueError, match=f"'x' is int32.* is fed {FAR}"):
            fluid.Executor().run(fetch_list=[found])
        loader.reset()
