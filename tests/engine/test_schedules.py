"""Learning rate schedules against figures worked out by hand."""

from __future__ import annotations

import pytest

from paddle._engine.errors import UnknownName
from paddle._engine.exchange import ScheduleSpec
from paddle._engine.schedules import SCHEDULES, schedule


def rate(name: str, samples: int = 0, passes: int = 0, **numbers: float | str) -> float:
    return schedule(ScheduleSpec(name=name, **{"learning_rate": 0.5, **numbers}))(samples, passes)


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
