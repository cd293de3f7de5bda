"""What LSTM and GRU are made of in float32, compiled, against plain numpy; and the whole against float64."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paddle._engine.kernels import exponential, gru, lstm
from paddle._engine.kernels.matrices import amx, strips
from paddle._engine.kernels.matrices.panels import add_product, lay_out, numpy_add_product, panels
from paddle._engine.kernels.matrices.tiles import ROWS, WIDTH
from paddle._engine.ops.recurrences.moments import room_of
from paddle._engine.single import Single

SIZES = st.integers(1, 2 * WIDTH + 3)


def drawn(seed: int, *shapes: tuple[int, int]) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.standard_normal(shape, np.float32) for shape in shapes]


def laid_out(matrix: np.ndarray) -> np.ndarray:
    out = np.full(panels(*matrix.shape, "float32"), np.nan, np.float32)
    lay_out(matrix, out)
    return out


@settings(deadline=None)
@given(st.integers(0, 2 * ROWS + 1), SIZES, st.integers(WIDTH, 3 * WIDTH + 1), st.booleans(), SIZES)
def test_a_product_by_panels_is_the_product(
    rows: int, depth: int, width: int, turned: bool, seed: int
) -> None:
    x, matrix, around = drawn(seed, (rows, depth), (depth, width), (rows + 1, width + 2))
    expected = around.copy()
    numpy_add_product(x, matrix, expected[:rows, 1:-1])
    given = np.asfortranarray(matrix) if turned else matrix
    add_product(x, laid_out(given), around[:rows, 1:-1])
    np.testing.assert_allclose(around, expected, rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(around[:, [0, -1]], expected[:, [0, -1]])
    np.testing.assert_array_equal(around[rows], expected[rows])


@pytest.mark.skipif(not amx.is_there(), reason="this processor multiplies no matrices by itself")
@settings(deadline=None)
@given(st.integers(0, 150), st.integers(64, 200), st.integers(64, 200), st.booleans(), SIZES)
def test_a_product_by_strips_is_the_product(
    rows: int, depth: int, width: int, turned: bool, seed: int
) -> None:
    x, matrix, around = drawn(seed, (rows, depth), (depth, width), (rows + 1, width + 2))
    expected = around.copy()
    numpy_add_product(x, matrix, expected[:rows, 1:-1])
    room = strips.cut(np.full(strips.room(150, depth, width, "float32"), np.nan, np.float32), depth, width)
    strips.lay_out(np.ascontiguousarray(matrix.T) if turned else matrix, turned, room)
    strips.add_product(x, room, around[:rows, 1:-1])
    np.testing.assert_allclose(around, expected, rtol=1e-5, atol=3e-5)
    np.testing.assert_array_equal(around[:, [0, -1]], expected[:, [0, -1]])
    np.testing.assert_array_equal(around[rows], expected[rows])


@pytest.mark.parametrize("is_there", [True, False])
def test_a_factor_of_many_rows_lies_in_strips_where_there_are_tiles(
    is_there: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(amx, "is_there", lambda: is_there)
    few, many = room_of(16, 512, 2048, "float32"), room_of(64, 512, 2048, "float32")
    assert few == room_of(16, 512, 2048, "float32") and len(few.shape) == 3
    assert len(many.shape) == (2 if is_there else 3)
    assert room_of(64, 512, 2048, "float64").shape[0] == room_of(64, 512, 2, "float32").shape[0] == 0


def test_what_is_narrower_than_a_panel_or_has_another_dtype_has_none() -> None:
    assert panels(7, WIDTH - 1, "float32")[0] == panels(7, 2 * WIDTH, "float64")[0] == 0
    assert panels(7, WIDTH, "float32") == (1, 7, WIDTH)
    assert panels(7, WIDTH + 1, "float32") == (2, 7, WIDTH)


def test_exponentials_and_what_is_made_of_them_keep_their_promise() -> None:
    x = np.concatenate([np.linspace(-95, 95, 20_001), [1e-8, -1e-8, 0, np.inf, -np.inf]]).astype(np.float32)
    wide, out = x.astype(np.float64), np.empty_like(x)
    within = x < 88
    exponential.exponentials(x, np.float32(0), out)
    np.testing.assert_allclose(out[within], np.exp(np.maximum(wide[within], -64)), rtol=2e-7)
    for function, exact in (
        (exponential.sigmoids, lambda v: 1 / (1 + np.exp(-v))),
        (exponential.tanhs, np.tanh),
    ):
        out[:] = x
        function(out)
        np.testing.assert_allclose(out, exact(wide), rtol=0, atol=3e-7)
        out[:] = np.nan
        function(out)
        assert np.isnan(out).all()


KIND = st.integers(0, 3)


@given(st.integers(1, 5), st.integers(1, 40), st.tuples(KIND, KIND, KIND), st.sampled_from([0, 0.3]), SIZES)
@settings(deadline=None)
def test_a_moment_of_an_lstm_and_its_twin_agree(
    rows: int, h: int, kinds: tuple[int, int, int], clip: float, seed: int
) -> None:
    gates, peep, former = drawn(seed, (rows, 4 * h), (3, h), (rows, h))
    found = []
    for cell in (lstm.cell, lstm.numpy_cell):
        own, made = gates.copy(), [np.empty_like(former) for _ in range(3)]
        cell(own, peep, former, *made, kinds, np.float32(clip))
        found.append([own, *made])
    for mine, twin in zip(*found, strict=True):
        np.testing.assert_allclose(mine, twin, rtol=1e-5, atol=1e-6)


@given(st.integers(1, 5), st.integers(1, 40), KIND, KIND, st.booleans(), SIZES)
@settings(deadline=None)
def test_a_moment_of_a_gru_and_its_twin_agree(
    rows: int, h: int, gate: int, candidate: int, is_origin: bool, seed: int
) -> None:
    gates, former = drawn(seed, (rows, 3 * h), (rows, h))
    found = []
    for open_gates, close_gates in (
        (gru.open_gates, gru.close_gates),
        (gru.numpy_open_gates, gru.numpy_close_gates),
    ):
        own, kept, hidden = gates.copy(), np.empty_like(former), np.empty_like(former)
        open_gates(own, former, kept, gate)
        close_gates(own, former, hidden, candidate, is_origin)
        found.append([own, kept, hidden])
    for mine, twin in zip(*found, strict=True):
        np.testing.assert_allclose(mine, twin, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("h", [3, WIDTH // 2, WIDTH + 6])
@pytest.mark.parametrize(("type", "gates", "bias"), [("lstm", 4, 7), ("gru", 3, 3)])
def test_float32_is_near_float64(type: str, gates: int, bias: int, h: int) -> None:
    """With matrices that have no panels, some, and a last one that overlaps."""
    rng, offsets = np.random.default_rng(h), np.array([0, 6, 6, 13, 14, 19])
    shapes = {"X": (19, gates * h), "Weight": (h, gates * h), "Bias": (1, bias * h)}
    slots = {slot: rng.standard_normal(shape) / h**0.5 for slot, shape in shapes.items()}
    back = rng.standard_normal((19, h))
    found = []
    for dtype in (np.float64, np.float32):
        given = {slot: [array.astype(dtype)] for slot, array in slots.items()}
        single = Single(type, given | {"Offsets": [offsets]}, {"is_reverse": False})
        gradients = single.gradient(back.astype(dtype), list(shapes))
        found.append([single.forward()["Out"], *(gradients[slot][0] for slot in shapes)])
    for wide, narrow in zip(*found, strict=True):
        assert narrow.dtype == np.float32
        np.testing.assert_allclose(narrow, wide, rtol=1e-4, atol=1e-5)
