"""Learning rates of 2.x, each against its formula written another way."""

import math

import numpy as np
import pytest

from paddle.optimizer import lr

N = 25


def walked(scheduler, steps=N):
    rates = []
    for _ in range(steps):
        rates.append(scheduler())
        scheduler.step()
    return rates


def piecewise(n):
    return 0.1 if n < 3 else 0.2 if n < 7 else 0.3


def polynomial(n, *, cycle):
    length = 5 * max(1, -(-n // 5)) if cycle else 5
    share = n / length if cycle else min(n, 5) / 5
    return 0.01 + 0.49 * (1 - share) ** 2


FORMULAS = [
    (lr.NoamDecay(64, 10), lambda n: 64**-0.5 * min(n**-0.5 if n else 1.0, n * 10**-1.5)),
    (lr.PiecewiseDecay([3, 7], [0.1, 0.2, 0.3]), piecewise),
    (lr.NaturalExpDecay(0.5, 0.1), lambda n: 0.5 * math.e ** (-0.1 * n)),
    (lr.InverseTimeDecay(0.5, 0.1), lambda n: 0.5 / (1 + 0.1 * n)),
    (lr.PolynomialDecay(0.5, 5, 0.01, 2.0), lambda n: polynomial(n, cycle=False)),
    (lr.PolynomialDecay(0.5, 5, 0.01, 2.0, cycle=True), lambda n: polynomial(n, cycle=True)),
    (lr.ExponentialDecay(0.5, 0.9), lambda n: 0.5 * 0.9**n),
    (lr.MultiStepDecay(0.5, [3, 9], 0.1), lambda n: 0.5 * 0.1 ** ((n >= 3) + (n >= 9))),
    (lr.StepDecay(0.5, 4, 0.5), lambda n: 0.5 * 0.5 ** (n // 4)),
    (lr.LambdaDecay(0.5, lambda n: 0.9**n), lambda n: 0.5 * 0.9**n),
    (lr.MultiplicativeDecay(0.5, lambda n: 0.9), lambda n: 0.5 * 0.9**n),
    (lr.CosineAnnealingDecay(0.5, 10, 0.1), lambda n: 0.1 + 0.4 * (1 + math.cos(math.pi * n / 10)) / 2),
    (lr.LinearWarmup(0.5, 4, 0.0, 0.4), lambda n: 0.1 * n if n < 4 else 0.5),
    (
        lr.LinearWarmup(lr.ExponentialDecay(0.5, 0.9), 4, 0.0, 0.4),
        lambda n: 0.1 * n if n < 4 else 0.5 * 0.9 ** (n - 4),
    ),
]


@pytest.mark.parametrize(("scheduler", "rate"), FORMULAS, ids=lambda x: type(x).__name__)
def test_every_rate_is_that_of_its_formula(scheduler, rate):
    assert walked(scheduler) == pytest.approx([rate(n) for n in range(N)], rel=1e-12)
    scheduler.step(6)
    assert scheduler.last_lr == pytest.approx(rate(6), rel=1e-12)


def test_a_product_asks_for_each_factor_once_however_many_steps_there_were():
    asked = []

    def factor(epoch):
        asked.append(epoch)
        return 1 - 1e-3 * epoch

    scheduler = lr.MultiplicativeDecay(0.5, factor)
    rates = walked(scheduler, 40)
    assert asked == list(range(1, 41))
    scheduler.step(5)  # back, and all at once to where it was
    assert scheduler.last_lr == rates[5]
    scheduler.step(39)
    assert scheduler.last_lr == rates[39]
    scheduler.base_lr = 1.0
    scheduler.step(3)
    assert scheduler.last_lr == pytest.approx(2 * rates[3], rel=1e-12)


def test_a_product_is_of_the_factors_that_it_has_now_in_double_precision():
    scheduler = lr.MultiplicativeDecay(0.5, lambda epoch: np.float32(0.9))
    factor = float(np.float32(0.9))
    assert walked(scheduler, 3)[2] == 0.5 * factor * factor
    scheduler.lr_lambda = lambda epoch: 0.25
    scheduler.step()
    assert scheduler.last_lr == 0.5 * 0.25**4


def test_cycles_that_are_halved_go_on_when_nothing_is_left_of_them():
    scheduler = lr.CyclicLR(0.125, 0.5, 1, mode="triangular2")
    assert walked(scheduler, 6) == [0.125, 0.5, 0.125, 0.3125, 0.125, 0.21875]
    scheduler.step(2 * 1100 + 1)
    assert scheduler.last_lr == 0.125


def test_a_schedule_goes_on_from_the_state_of_another():
    for make in (
        lambda: lr.CosineAnnealingDecay(0.5, 10),
        lambda: lr.LinearWarmup(lr.StepDecay(0.5, 3), 4, 0.0, 0.4),
        lambda: lr.MultiplicativeDecay(0.5, lambda n: 0.9),
    ):
        first, second = make(), make()
        walked(first, 7)
        second.set_state_dict(first.state_dict())
        assert walked(second) == walked(first)
    with pytest.raises(RuntimeError, match="last_lr"):
        lr.ExponentialDecay(0.5, 0.9).set_dict({"last_epoch": 3})


def test_a_plateau_is_left_after_patience_and_not_during_cooldown():
    scheduler = lr.ReduceOnPlateau(1.0, factor=0.5, patience=2, cooldown=1, threshold=0.0)
    rates = []
    for loss in (3.0, 2.0, 2.0, 2.0, 2.0, 9.0, 9.0, 9.0, 9.0):
        scheduler.step(loss)
        rates.append(scheduler())
    assert rates == [1.0, 1.0, 1.0, 1.0, 0.5, 0.5, 0.5, 0.5, 0.25]
    assert scheduler.state_dict()["best"] == 2.0


def test_a_schedule_of_ones_own_says_what_it_sets(capsys):
    class Halving(lr.LRScheduler):
        def get_lr(self):
            return self.base_lr / 2**self.last_epoch

    scheduler = Halving(1.0, verbose=True)
    scheduler.step()
    assert scheduler() == 0.5
    assert "Epoch 1: Halving set learning rate to 0.5." in capsys.readouterr().out


def test_what_cannot_be_says_so():
    for wrong in (
        lambda: lr.PiecewiseDecay([1], [0.1]),
        lambda: lr.StepDecay(0.1, 0),
        lambda: lr.MultiStepDecay(0.1, [3, 2]),
        lambda: lr.MultiStepDecay(0.1, [3], gamma=1.5),
        lambda: lr.LinearWarmup(0.1, 3, 0.2, 0.1),
        lambda: lr.ReduceOnPlateau(0.1, mode="least"),
    ):
        with pytest.raises(ValueError):
            wrong()
    with pytest.raises(TypeError):
        lr.ExponentialDecay("0.1", 0.9)
    with pytest.raises(TypeError):
        lr.LambdaDecay(0.1, 0.9)
