"""Kernels of tables whose rows are made when asked for, against numpy twins."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paddle._engine.entry import Entry
from paddle._engine.errors import UnknownName
from paddle._engine.kernels import first_values, hashing, interleaved
from paddle._engine.row_initial import RowInitial, row_key

INT64 = st.integers(-(2**63), 2**63 - 1)
IDS = st.lists(INT64 | st.integers(-3, 8), max_size=60)
GOLDEN = 0x9E3779B97F4A7C15


def int64(ids: list[int]) -> np.ndarray:
    return np.array(ids, np.int64).reshape(-1)


def scrambled(number: int) -> int:
    x = number % 2**64
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB % 2**64
    return x ^ (x >> 31)


def draws(key: int, ids: np.ndarray, width: int) -> np.ndarray:
    """24-bit numbers (n, width): the twin of the generator, in Python's own integers."""
    starts = [scrambled(int(id) + GOLDEN) ^ key for id in ids]
    numbers = [[scrambled(start + (j + 1) * GOLDEN) >> 40 for j in range(width)] for start in starts]
    return np.array(numbers, np.int64).reshape(len(ids), width)


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


@settings(max_examples=80, deadline=None)
@given(ids=IDS, width=st.integers(1, 20), seed=st.integers(0, 2**32 - 1))
def test_distinct_ids_and_their_sums_equal_their_twin_bit_for_bit(ids, width, seed):
    ids, rows = int64(ids), np.random.default_rng(seed).standard_normal((len(ids), width), np.float32)
    place, found = np.empty(len(ids), np.int64), np.empty(len(ids), np.int64)
    count = interleaved.distinct(ids, np.empty(128, np.int32), place, found)
    assert found[:count].tolist() == list(dict.fromkeys(ids.tolist()))
    assert np.array_equal(found[place], ids)
    total, expected = np.empty((count, width), np.float32), np.zeros((count, width), np.float32)
    half = len(place) // 2
    before = interleaved.sums(place[:half], rows[:half], total, 0)
    assert interleaved.sums(place[half:], rows[half:], total, before) == count
    np.add.at(expected, place, rows)
    assert np.array_equal(total, expected)


@settings(max_examples=40, deadline=None)
@given(
    rows=st.lists(st.integers(0, 19), unique=True, max_size=20),
    parts=st.integers(1, 3),
    width=st.integers(1, 20),
    begin=st.integers(0, 5),
)
def test_a_block_goes_there_and_back(rows, parts, width, begin):
    store = np.arange(20 * parts * width, dtype=np.float32).reshape(20, -1)
    before, index = store.copy(), int64(rows)
    block = np.full((parts, 7, width), -1, np.float32)
    n = min(7, max(0, len(rows) - begin))
    interleaved.gather(store, index, begin, block)
    chosen = index[begin : begin + n]
    assert np.array_equal(block[:, :n], store[chosen].reshape(n, parts, width).swapaxes(0, 1))
    assert (block[:, n:] == -1).all()
    block *= 2
    interleaved.scatter(store, index, begin, block)
    before[chosen] *= 2
    assert np.array_equal(store, before)


def test_taking_rows_gives_values_alone_and_zeros_for_none():
    store = np.arange(40, dtype=np.float32).reshape(4, 10)
    rows, out = np.array([3, -1, 0, 3] * 6), np.full((24, 5), 9, np.float32)
    interleaved.take(store, rows, out)
    assert np.array_equal(out, np.where(rows[:, None] < 0, 0, store[rows, :5]))
