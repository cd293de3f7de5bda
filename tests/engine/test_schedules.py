"""Learning rate schedules against figures worked out by hand."""

from __future__ import annotations

import pytest

from paddle._engine.errors import UnknownName
from paddle._engine.exchange import ScheduleSpec, WarmupSpec
from paddle._engine.schedules import SCHEDULES, schedule


def rate(name: str, samples: int = 0, passes: int = 0, **numbers: float | str) -> float:
    spec = ScheduleSpec(name=name, **{"learning_rate": 0.5, **numbers})
    return schedule(spec)(samples, passes, 10**6)


def test_constant_ignores_progress():
    assert rate("constant", samples=10**9, passes=7) == 0.5


def test_poly_falls_as_a_power_of_one_plus_a_times_samples():
    assert rate("poly", samples=0, decay_a=0.01, decay_b=2.0) == 0.5
    assert rate("poly", samples=100, decay_a=0.01, decay_b=2.0) == pytest.approx(0.125)
    assert rate("poly", samples=300, decay_a=0.01, decay_b=0.5) == pytest.approx(0.25)


def test_caffe_poly_reaches_zero_at_a_samples_and_stays_there():
    assert rate("caffe_poly", samples=50, decay_a=200.0, decay_b=2.0) == pytest.approx(0.28125)
    assert rate("caffe_poly", samples=200, decay_a=200.0, decay_b=2.0) == 0.0
    assert rate("caffe_poly", samples=201, decay_a=200.0, decay_b=0.5) == 0.0


def test_exp_falls_by_the_factor_a_every_b_samples():
    assert rate("exp", samples=1000, decay_a=0.1, decay_b=1000.0) == pytest.approx(0.05)
    assert rate("exp", samples=500, decay_a=0.25, decay_b=1000.0) == pytest.approx(0.25)


def test_discexp_falls_in_steps():
    before, at, after = (rate("discexp", samples=n, decay_a=0.1, decay_b=1000.0) for n in (999, 1000, 2999))
    assert (before, at, after) == pytest.approx((0.5, 0.05, 0.005))


def test_linear_falls_to_b():
    assert rate("linear", samples=1000, decay_a=1e-4, decay_b=0.1) == pytest.approx(0.4)
    assert rate("linear", samples=5000, decay_a=1e-4, decay_b=0.1) == 0.1


@pytest.mark.parametrize(
    ("count", "expected"), [(0, 0.5), (100, 0.5), (101, 0.25), (200, 0.25), (201, 0.05), (10**6, 0.05)]
)
def test_manual_segments_hold_up_to_and_including_their_number(count, expected):
    args = "100:1.0,200:0.5,300:0.1"
    assert rate("manual", samples=count, passes=5, args=args) == pytest.approx(expected)
    assert rate("pass_manual", samples=5, passes=count, args=args) == pytest.approx(expected)


def test_an_unknown_schedule_is_named_beside_those_that_exist():
    with pytest.raises(UnknownName) as caught:
        rate("cosine")
    assert all(name in str(caught.value) for name in ("'cosine'", *SCHEDULES))


@pytest.mark.parametrize("args", ["", "100", "100:a", "1.5:1", "100:1,", "200:1,100:0.5", "1:2:3"])
def test_manual_says_what_its_args_should_look_like(args):
    with pytest.raises(ValueError, match=r"'manual' needs learning_rate_args='num:rate"):
        rate("manual", args=args)


@pytest.mark.parametrize(("name", "letter"), [("caffe_poly", "a"), ("exp", "b"), ("discexp", "b")])
def test_a_schedule_that_divides_refuses_zero(name, letter):
    with pytest.raises(ValueError, match=f"learning_rate_decay_{letter}"):
        rate(name)


def by_steps(name: str, steps: int, unit: str = "", warmup: WarmupSpec | None = None, **options) -> float:
    spec = ScheduleSpec(name=name, learning_rate=0.5, unit=unit, options=options, warmup=warmup)
    return schedule(spec)(3, 7, steps)


@pytest.mark.parametrize(("steps", "expected"), [(0, 1 / 1000), (9, 10 / 1000), (99, 0.1), (399, 0.05)])
def test_noam_rises_for_its_warmup_steps_and_falls_with_the_root_after_it(steps, expected):
    assert by_steps("noam_decay", steps, d_model=1, warmup_steps=100) == pytest.approx(0.5 * expected)
    assert by_steps("noam_decay", steps, d_model=4, warmup_steps=100) == pytest.approx(0.25 * expected)


def test_decays_by_steps_and_their_staircases():
    told = {"decay_steps": 100, "decay_rate": 0.25}
    assert by_steps("exponential_decay", 50, **told) == pytest.approx(0.25)
    assert by_steps("exponential_decay", 199, **told, staircase=1) == pytest.approx(0.125)
    assert by_steps("natural_exp_decay", 200, **told) == pytest.approx(0.5 * 0.60653066)
    assert by_steps("natural_exp_decay", 99, **told, staircase=1) == 0.5
    assert by_steps("inverse_time_decay", 400, **told) == pytest.approx(0.25)
    assert by_steps("inverse_time_decay", 799, **told, staircase=1) == pytest.approx(0.5 / 2.75)


def test_polynomial_reaches_its_end_and_stays_or_cycles():
    told = {"decay_steps": 100, "end_learning_rate": 0.1, "power": 2}
    assert by_steps("polynomial_decay", 50, **told) == pytest.approx(0.2)
    assert by_steps("polynomial_decay", 170, **told) == pytest.approx(0.1)
    assert by_steps("polynomial_decay", 150, **told, cycle=1) == pytest.approx(0.1 + 0.4 / 16)
    assert by_steps("polynomial_decay", 0, **told, cycle=1) == pytest.approx(0.5)


@pytest.mark.parametrize(("steps", "expected"), [(0, 1.0), (99, 1.0), (100, 0.5), (199, 0.5), (200, 0.1)])
def test_piecewise_values_hold_up_to_their_boundary(steps, expected):
    told = {"boundaries": (100.0, 200.0), "values": (1.0, 0.5, 0.1)}
    assert by_steps("piecewise_decay", steps, **told) == expected


def test_cosine_goes_down_half_a_wave_by_epochs():
    assert by_steps("cosine_decay", 0, epochs=4) == pytest.approx(0.5)
    assert by_steps("cosine_decay", 2, epochs=4) == pytest.approx(0.25)
    assert by_steps("cosine_decay", 29, step_each_epoch=10, epochs=4) == pytest.approx(0.25)
    assert by_steps("cosine_decay", 4, epochs=4, end_learning_rate=0.1) == pytest.approx(0.1)


def test_a_schedule_can_count_in_another_unit_than_its_own():
    assert by_steps("inverse_time_decay", 0, "passes", decay_steps=7, decay_rate=1) == 0.25
    assert by_steps("inverse_time_decay", 0, "samples", decay_steps=3, decay_rate=1) == 0.25
    steps = schedule(ScheduleSpec(name="linear", learning_rate=9.0, decay_a=1.0, unit="steps"))
    assert steps(1, 2, 3) == 6.0


def test_a_warmup_is_a_line_before_any_schedule_which_counts_from_the_start_or_from_its_end():
    told = {"decay_steps": 10, "decay_rate": 1}
    over, shifted = (WarmupSpec(length=10, start=0.0, end=1.0, shifts=shifts) for shifts in (False, True))
    assert by_steps("constant", 5, warmup=over) == 0.5
    assert by_steps("constant", 10, warmup=over) == 0.5
    assert by_steps("inverse_time_decay", 9, warmup=shifted, **told) == pytest.approx(0.9)
    assert by_steps("inverse_time_decay", 10, warmup=over, **told) == 0.25
    assert by_steps("inverse_time_decay", 10, warmup=shifted, **told) == 0.5


def test_what_a_schedule_by_steps_cannot_work_with_is_named():
    with pytest.raises(ValueError, match="'exponential_decay' needs decay_rate"):
        by_steps("exponential_decay", 0, decay_steps=1)
    with pytest.raises(ValueError, match="'exponential_decay' divides by decay_steps, which must be above 0"):
        by_steps("exponential_decay", 0, decay_steps=0, decay_rate=1)
    with pytest.raises(ValueError, match="ascending boundaries and one value more"):
        by_steps("piecewise_decay", 0, boundaries=(2.0, 1.0), values=(1.0, 2.0, 3.0))
    with pytest.raises(ValueError, match="a warm-up lasts longer than 0, not 0"):
        by_steps("constant", 0, warmup=WarmupSpec(length=0, start=0, end=1))
    with pytest.raises(
        UnknownName, match="'cosine_decay' has no option 'epoch'; it has step_each_epoch, epochs"
    ):
        by_steps("cosine_decay", 0, epoch=1)
