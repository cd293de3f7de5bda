"""What operators give back that count: no derivative, and so no central difference finds it."""

from __future__ import annotations

import numpy as np
import pytest

from paddle._engine.single import Single

from .tally_operators import COUNTS, KEPT, PUSHED, SEEN, SHOWS, SLOTS

GIVEN = np.random.default_rng(5).normal(size=(5, 4))
SCALES, MEANS = np.sqrt(KEPT["Size"] / KEPT["Square"]), KEPT["Sum"] / KEPT["Size"]
OF = ["X", "Size", "Sum", "Square"]


def found(x: np.ndarray, **attrs: object) -> dict[str, np.ndarray]:
    inputs = {slot: [array] for slot, array in {"X": x, **KEPT}.items()}
    single = Single("data_norm", inputs, attrs)
    single.forward()
    return {slot: arrays[0] for slot, arrays in single.gradient(GIVEN, OF).items()}


@pytest.mark.parametrize("epsilon", [0.01, 0.3])
def test_counts_are_of_the_batch_and_x_has_its_slope(epsilon: float) -> None:
    slopes = found(SEEN, epsilon=epsilon)
    np.testing.assert_allclose(slopes["X"], GIVEN * SCALES)
    np.testing.assert_array_equal(slopes["Size"], [5, 5, 5, 5])
    np.testing.assert_allclose(slopes["Sum"], SEEN.sum(0))
    np.testing.assert_allclose(slopes["Square"], ((SEEN - MEANS) ** 2).sum(0) + 5 * epsilon)


def test_a_slot_counts_as_one_sample_and_what_was_not_shown_not_at_all() -> None:
    slopes, shown = found(SLOTS, epsilon=0.01, slot_dim=2), [0, 2, 3, 4]
    np.testing.assert_array_equal(slopes["Size"], [1, 1, 0, 0])
    np.testing.assert_allclose(slopes["Sum"], [*SLOTS[shown, :2].mean(0), 0, 0])
    squares = ((SLOTS - MEANS) ** 2)[shown, :2].mean(0) + 0.04
    np.testing.assert_allclose(slopes["Square"], [*squares, 0, 0])
    wanted = GIVEN * SCALES
    wanted[1, :2] = wanted[:, 2:] = 0
    np.testing.assert_allclose(slopes["X"], wanted)


@pytest.mark.parametrize(("is_kept", "width"), [(True, 4), (False, 2)])
def test_what_was_counted_goes_back_through_shows_and_clicks(is_kept: bool, width: int) -> None:
    single = Single("cvm", {"X": [SHOWS], "Counts": [COUNTS]}, {"is_kept": is_kept})
    single.forward()
    slope = single.gradient(GIVEN[:, :width].copy(), ["X"])["X"][0]
    np.testing.assert_array_equal(slope[:, :2], COUNTS)
    np.testing.assert_array_equal(slope[:, 2:], GIVEN[:, width - 2 : width])


@pytest.mark.parametrize(("of_runs", "samples"), [(False, 3), (True, 2)])
def test_pushed_rows_give_back_their_counts_and_slopes_of_a_batchs_sum(of_runs: bool, samples: int) -> None:
    for counts in (COUNTS, COUNTS[:1]):
        inputs = {slot: [array] for slot, array in {**PUSHED, "Counts": counts}.items()}
        single = Single("pushed_rows", inputs, {"of_runs": of_runs})
        np.testing.assert_array_equal(single.forward()["Out"], SHOWS[:, 2:])
        slope = single.gradient(GIVEN[:, :2].copy(), ["X"])["X"][0]
        np.testing.assert_array_equal(slope[:, :2], np.broadcast_to(counts, (5, 2)))
        np.testing.assert_allclose(slope[:, 2:], samples * GIVEN[:, :2])
