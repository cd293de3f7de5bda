"""Fetched: an array of one element is a number, and everything else as numpy has it."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest

from paddle._program.running.fetched import Fetched

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
