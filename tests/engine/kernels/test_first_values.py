"""Kernels of tables whose rows are made when asked for, against numpy twins."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paddle._engine.entry import Entry
from paddle._engine.errors import UnknownName
from paddle._engine.kernels import first_values, hashing
from paddle._engine.row_initial import RowInitial, row_key
from tests.engine.kernels.hash_twins import draws, scrambled

INT64 = st.integers(-(2**63), 2**63 - 1)
IDS = st.lists(INT64 | st.integers(-3, 8), max_size=60)


def int64(ids: list[int]) -> np.ndarray:
    return np.array(ids, np.int64).reshape(-1)


@given(INT64)
def test_scrambling_equals_its_twin_and_can_be_undone(number):
    key = hashing.scrambled(number)
    assert int(key) == scrambled(number)
    assert hashing.unscrambled(np.uint64(key)) == number


@settings(max_examples=60, deadline=None)
@given(ids=IDS, width=st.integers(1, 20), key=st.integers(0, 2**64 - 1))
def test_uniform_rows_equal_their_twin_bit_for_bit(ids, width, key):
    out = np.empty((len(ids), width), np.float32)
    RowInitial("uniform", -0.25, 0.5).fill(key, int64(ids), out)
    expected = draws(key, int64(ids), width).astype(np.float32) * np.float32(2**-24)
    assert np.array_equal(out, expected * np.float32(0.75) + np.float32(-0.25))


@pytest.mark.parametrize(("kind", "tail"), [("normal", 0.0), ("truncated_normal", NormalDist().cdf(-2.0))])
def test_normal_rows_equal_their_twin(kind, tail):
    ids, out = np.arange(-50, 50), np.empty((100, 7), np.float32)
    RowInitial(kind, 3.0, 0.5).fill(11, ids, out)
    shares = tail + (draws(11, ids, 7) + 0.5) * 2.0**-24 * (1 - 2 * tail)
    expected = np.vectorize(NormalDist(3.0, 0.5).inv_cdf)(shares)
    np.testing.assert_allclose(out, expected, rtol=2e-7)


def test_the_quantile_is_that_of_the_normal_distribution_also_in_the_tails():
    for p in [2.0**-25, 1e-4, 0.02424, 0.02426, 0.3, 0.5, 0.9, 0.97574, 0.97576, 1 - 2.0**-25]:
        assert first_values.quantile(p) == pytest.approx(NormalDist().inv_cdf(p), rel=2e-9, abs=1e-12)


def test_rows_have_the_declared_distribution():
    ids, out = np.arange(20_000), np.empty((20_000, 4), np.float32)
    RowInitial("normal", 1.0, 2.0).fill(5, ids, out)
    assert abs(out.mean() - 1) < 0.03 and abs(out.std() - 2) < 0.03
    assert abs(np.corrcoef(out.T)[0, 1]) < 0.03
    assert abs(np.corrcoef(out[:-1, 0], out[1:, 0])[0, 1]) < 0.03
    RowInitial("truncated_normal", 1.0, 2.0).fill(5, ids, out)
    assert out.min() >= -3 and out.max() <= 5 and out.max() > 4.9
    RowInitial("constant", 0.125).fill(5, ids, out)
    assert (out == 0.125).all()


def test_an_unknown_distribution_is_named():
    with pytest.raises(UnknownName, match="cauchy"):
        RowInitial("cauchy").fill(0, np.arange(1), np.empty((1, 1), np.float32))  # type: ignore[arg-type]


def test_the_key_follows_from_seed_and_name():
    keys = {row_key(seed, name) for seed in (0, 1, -1) for name in ("a", "b")}
    assert len(keys) == 6
    assert row_key(7, "a") == row_key(7, "a") < 2**64


def test_an_id_enters_with_the_sighting_that_its_policy_says():
    ids = np.arange(50_000)
    assert (Entry().needed(1, ids) == 1).all()
    assert (Entry("count", 5).needed(1, ids) == 5).all()
    needed = Entry("probability", 0.25).needed(1, ids)
    for sighting in (1, 2, 3):  # each lets in a quarter of those that are still outside
        outside = needed >= sighting
        assert (needed[outside] == sighting).mean() == pytest.approx(0.25, abs=0.01)
    assert np.array_equal(needed[:9], Entry("probability", 0.25).needed(1, ids[:9]))
    assert not np.array_equal(needed, Entry("probability", 0.25).needed(2, ids))


def test_who_enters_early_says_nothing_about_a_row():
    ids, values = np.arange(50_000), np.empty((50_000, 1), np.float32)
    RowInitial("uniform", 0.0, 1.0).fill(1, ids, values)
    enters_at_once = Entry("probability", 0.25).needed(1, ids) == 1
    assert values[enters_at_once].mean() == pytest.approx(0.5, abs=0.02)


@pytest.mark.parametrize(
    "wrong", [("count", -1), ("count", 1.5), ("count", 2**31), ("probability", 0.0), ("probability", 1.0)]
)
def test_a_policy_that_makes_no_sense_is_refused(wrong):
    with pytest.raises(ValueError, match="a row enters"):
        Entry(*wrong)
