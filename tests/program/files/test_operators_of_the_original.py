"""Operators that models of 1.8 have, and that our layers write as others."""

from __future__ import annotations

from collections.abc import Iterator
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
