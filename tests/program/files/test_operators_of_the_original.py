"""Operators that models of 1.8 have, and that our layers write as others."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import paddle.fluid as fluid
from paddle._program.description.written import fresh

ROWS = np.arange(5, dtype="float32") - 1.5
IMAGES = np.arange(2 * 8 * 2 * 3, dtype="float32").reshape(2, 8, 2, 3)


@pytest.fixture(autouse=True)
def _afresh() -> Iterator[None]:
    with fresh():
        yield


def _computed(type: str, inputs: dict[str, np.ndarray], attrs: dict[str, Any]) -> np.ndarray:
    block = fluid.default_main_program().global_block()
    fed = {slot: fluid.data(slot.lower(), list(value.shape)) for slot, value in inputs.items()}
    out = block.create_var(name="out", dtype="float32")
    block.append_op(type=type, inputs=fed, outputs={"Out": out}, attrs=attrs)
    feed = {slot.lower(): value for slot, value in inputs.items()}
    (found,) = fluid.Executor().run(feed=feed, fetch_list=[out])
    assert tuple(out.shape) == found.shape
    return np.asarray(found)


@pytest.mark.parametrize(
    ("type", "inputs", "attrs", "wanted"),
    [
        ("rnn_memory_helper", {"X": ROWS}, {"dtype": 5}, ROWS),
        ("diag", {"Diagonal": ROWS}, {}, np.diag(ROWS)),
        ("eye", {}, {"num_rows": 2, "num_columns": 3, "dtype": 5}, np.eye(2, 3)),
        ("eye", {}, {"num_rows": 3, "num_columns": -1, "dtype": 5}, np.eye(3)),
        (
            "shuffle_channel",
            {"X": IMAGES},
            {"group": 2},
            IMAGES.reshape(2, 2, 4, 2, 3).swapaxes(1, 2).reshape(2, 8, 2, 3),
        ),
        (
            "pixel_shuffle",
            {"X": IMAGES},
            {"upscale_factor": 2},
            IMAGES.reshape(2, 2, 2, 2, 2, 3).transpose(0, 1, 4, 2, 5, 3).reshape(2, 2, 4, 6),
        ),
        (
            "pixel_shuffle",
            {"X": IMAGES.transpose(0, 2, 3, 1)},
            {"upscale_factor": 2, "data_format": "NHWC"},
            IMAGES.reshape(2, 2, 2, 2, 2, 3).transpose(0, 4, 2, 5, 3, 1).reshape(2, 4, 6, 2),
        ),
    ],
)
def test_it_is_computed(
    type: str, inputs: dict[str, np.ndarray], attrs: dict[str, Any], wanted: np.ndarray
) -> None:
    np.testing.assert_array_equal(_computed(type, inputs, attrs), wanted)


LINES = np.arange(40, dtype="float32").reshape(8, 5)


@pytest.mark.parametrize(
    ("axes", "starts", "ends", "strides", "dropped", "wanted"),
    [
        ([1], [2**31 - 1], [-1], [-1], [], LINES[:, ::-1]),
        ([1], [4], [-1], [-2], [], LINES[:, ::-2]),
        ([0], [6], [-1], [-1], [], LINES[6::-1]),
        ([1], [4], [-6], [-1], [], LINES[:, ::-1]),
        ([0, 1], [2, 1], [7, 2], [2, 1], [1], LINES[2:7:2, 1]),
    ],
)
def test_slices_that_go_backwards_and_that_drop_an_axis(
    axes: list[int], starts: list[int], ends: list[int], strides: list[int], dropped: list[int], wanted: Any
) -> None:
    """As 1.8.5 and 2.6.2 write ``x[:, ::-1]`` and ``x[2:7:2, 1]``."""
    places = {"axes": axes, "starts": starts, "ends": ends, "strides": strides, "decrease_axis": dropped}
    np.testing.assert_array_equal(_computed("strided_slice", {"Input": LINES}, places), wanted)


def test_a_size_that_is_fed_is_told_where_the_model_says_who_feeds_it(tmp_path: Path) -> None:
    """Models have an operator for what is fed, which is no writer to wait for."""
    main = fluid.default_main_program()
    x, places = fluid.data("x", [None, 5]), fluid.data("n", [1], "int32")
    out = fluid.layers.slice(x, [0], [0], [places + 1])
    exe = fluid.Executor()
    fluid.io.save_inference_model(str(tmp_path), ["x", "n"], [out], exe, main)
    program, _, targets = fluid.io.load_inference_model(str(tmp_path), exe)
    feed = {"x": LINES, "n": np.array([2], "int32")}
    (found,) = exe.run(program, feed=feed, fetch_list=targets)
    np.testing.assert_array_equal(found, LINES[:3])
