"""A program's data made of arrays, and what a run of it gives."""

from __future__ import annotations

import numpy as np

import paddle


def ran(wanted: list[object], feed: dict[str, np.ndarray]) -> list[np.ndarray]:
    """Start the program and run it once."""
    executor = paddle.static.Executor()
    executor.run(paddle.static.default_startup_program())
    return [np.asarray(each) for each in executor.run(feed=feed, fetch_list=wanted)]


def data(given: tuple[np.ndarray, ...], feed: dict[str, np.ndarray]) -> list[object]:
    """A variable for each array, of any number of rows, and fed; floats are float32, and have gradients."""
    found = []
    for each in given:
        value = each.astype("float32") if each.dtype == np.float64 else each
        variable = paddle.static.data(f"x{len(feed)}", [-1, *value.shape[1:]], value.dtype)
        variable.stop_gradient = value.dtype.kind != "f"
        feed[variable.name] = value
        found.append(variable)
    return found
