"""Fetched: an array of one element is a number, and everything else as numpy has it. What is fetched is the
caller's to keep."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pytest

import paddle.fluid as fluid
from paddle._program.running.fetched import Fetched

X = np.arange(6, dtype=np.float32).reshape(2, 3)
LOSS = Fetched.of(np.array([0.25], np.float32))


def test_one_element_is_a_number() -> None:
    assert float(LOSS) == 0.25
    assert int(Fetched.of(np.array([[7]]))) == 7
    assert not math.isnan(LOSS)
    assert "loss %f, %.2f" % (LOSS, LOSS) == "loss 0.250000, 0.25"  # noqa: UP031  as programs write it
    assert f"{LOSS:.3f} {LOSS}" == "0.250 [0.25]"
    assert round(Fetched.of(np.array([1.26])), 1) == 1.3
    assert float(LOSS + LOSS) == 0.5
    assert float(sum([LOSS, LOSS]) / 2) == 0.25


def test_several_elements_are_none() -> None:
    for convert in (float, int, math.isnan):
        with pytest.raises(TypeError, match="this one has 3"):
            convert(Fetched.of(np.zeros(3)))


def test_it_reads_and_computes_as_an_array_does() -> None:
    many = Fetched.of(np.arange(6.0).reshape(2, 3))
    assert repr([LOSS]) == "[array([0.25], dtype=float32)]"
    assert isinstance(many, np.ndarray)
    assert isinstance(many.sum(), np.float64)
    assert isinstance(many[0, 0], np.float64)
    assert np.mean([LOSS, LOSS]) == 0.25
    assert many.mean(0).tolist() == [1.5, 2.5, 3.5]
    assert type(np.asarray(many)) is np.ndarray
    assert type(pickle.loads(pickle.dumps(many))) is np.ndarray
    assert (many == many.copy()).all()


def test_what_a_function_of_the_caller_gives_is_not_what_is_fetched() -> None:
    """A function may give what it is given, or one array at every step."""
    kept = np.zeros((2, 3), np.float32)

    def counts(rows: Any) -> np.ndarray:
        np.add(kept, 1, out=kept)
        return kept

    with fluid.program_guard(fluid.Program()):
        x = fluid.layers.data("x", [3])
        same, counted = (
            fluid.default_main_program().current_block().create_var(name=n, dtype="float32", shape=[-1, 3])
            for n in ("same", "counted")
        )
        fluid.layers.py_func(lambda rows: rows, x, same)
        fluid.layers.py_func(counts, x, counted)
        exe, fed = fluid.Executor(), X.copy()
        for as_arrays in (True, False):
            first = exe.run(feed={"x": fed}, fetch_list=[same, counted], return_numpy=as_arrays)
            was = [np.array(each) for each in first]
            fed += 1
            exe.run(feed={"x": fed}, fetch_list=[same, counted], return_numpy=as_arrays)
            for each, before in zip(first, was, strict=True):
                np.testing.assert_array_equal(np.array(each), before)


def test_what_is_fetched_twice_is_two_arrays() -> None:
    with fluid.program_guard(fluid.Program()):
        twice = fluid.layers.scale(fluid.layers.data("x", [3]), 2.0)
        one, other = fluid.Executor().run(feed={"x": X}, fetch_list=[twice, twice.name])
    was = other.copy()
    one += 1
    np.testing.assert_array_equal(other, was)
