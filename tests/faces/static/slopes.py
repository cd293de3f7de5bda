"""Functions held to numpy's: values of all in one program, and the slope of all of them together against the
numerical one, with an axis of any size."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pytest

import paddle
from tests.faces.static.feeding import data, ran

Case = tuple[Callable[..., object], Callable[..., object], tuple[np.ndarray, ...]]


def hold(cases: Mapping[str, Case]) -> None:
    """Each case is a function here, one of numpy's, and what both are given."""
    feed: dict[str, np.ndarray] = {}
    given = {name: data(inputs, feed) for name, (_, _, inputs) in cases.items()}
    outs = {name: call(*given[name]) for name, (call, _, _) in cases.items()}
    cost = paddle.add_n([paddle.sum(paddle.sin(each)) for each in outs.values()])
    slopes = paddle.static.gradients([cost], [each for those in given.values() for each in those])
    values = ran([*outs.values(), *(each for each in slopes if each is not None)], feed)
    rest = iter(values[len(outs) :])
    behind = iter([0 if each is None else next(rest) for each in slopes])
    for (name, (_, oracle, inputs)), value in zip(cases.items(), values, strict=False):
        expected = np.asarray(oracle(*inputs))
        assert value.reshape(expected.shape) == pytest.approx(expected, rel=1e-4, abs=1e-5), name
        for place, each in enumerate(inputs):
            found = next(behind)
            if each.dtype == np.float64:
                slope = numerical(oracle, inputs, place)
                assert np.broadcast_to(found, slope.shape) == pytest.approx(slope, rel=2e-2, abs=2e-3), name


def numerical(oracle: Callable[..., object], inputs: tuple[np.ndarray, ...], place: int) -> np.ndarray:
    """By half a step forwards and back, of the sum of sines of what comes out."""
    found = np.zeros_like(inputs[place])
    for at in np.ndindex(found.shape):
        sides = []
        for step in (5e-6, -5e-6):
            moved = [each.copy() for each in inputs]
            moved[place][at] += step
            sides.append(np.sin(np.asarray(oracle(*moved))).sum())
        found[at] = (sides[0] - sides[1]) / 1e-5
    return found
