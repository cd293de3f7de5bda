"""Optimizers: what a program says becomes what the keeper of the parameters is told."""

import pytest

import paddle.v2 as paddle
from paddle._absent import NotInThisRelease
from paddle._engine.exchange import AverageSpec, ModeSpec, RuleSpec, ScheduleSpec, UpdateSpec

MADE = {
    "Momentum": ({"momentum": 0.9}, "momentum", {"momentum": 0.9, "sparse": 0.0}),
    "Adam": ({"beta1": 0.8}, "adam", {"beta1": 0.8, "beta2": 0.999, "epsilon": 1e-8}),
    "Adamax": ({}, "adamax", {"beta1": 0.9, "beta2": 0.999}),
    "AdaGrad": ({}, "adagrad", {}),
    "DecayedAdaGrad": ({"rho": 0.9}, "decayed_adagrad", {"rho": 0.9, "epsilon": 1e-6}),
    "AdaDelta": ({}, "adadelta", {"rho": 0.95, "epsilon": 1e-6}),
    "RMSProp": ({}, "rmsprop", {"rho": 0.95, "epsilon": 1e-6}),
}


@pytest.mark.parametrize("name", MADE)
def test_each_optimizer_names_its_rule(name):
    given, rule, options = MADE[name]
    update = getattr(paddle.optimizer, name)(**given).update
    assert update == UpdateSpec(
        rule=RuleSpec(name=rule, options=options), schedule=ScheduleSpec(name="poly", learning_rate=1e-3)
    )


def test_the_documents_asynchronous_adagrad():
    update = paddle.optimizer.AdaGrad(
        is_async=True,
        async_lagged_grad_discard_ratio=1.6,
        learning_rate=3e-3,
        regularization=paddle.optimizer.L2Regularization(8e-4),
    ).update
    assert update.mode == ModeSpec(name="async", discard_ratio=1.6)
    assert (update.schedule.learning_rate, update.l2_rate, update.reduce) == (3e-3, 8e-4, "sum")


@pytest.mark.parametrize(
    ("options", "mode"),
    [
        ({}, ModeSpec()),
        ({"async_lagged_grad_discard_ratio": 3.0}, ModeSpec()),
        ({"staleness": 3}, ModeSpec(name="ssp", staleness=3)),
        ({"num_batches_per_send_parameter": 1, "center_parameter_update_method": "average"}, ModeSpec()),
        ({"num_batches_per_send_parameter": 4}, ModeSpec(name="average", k_steps=4)),
        (
            {"num_batches_per_send_parameter": 4, "num_batches_per_get_parameter": 4, "is_async": True},
            ModeSpec(name="average", k_steps=4, is_async=True),
        ),
        (
            {
                "num_batches_per_send_parameter": 2,
                "center_parameter_update_method": "elastic_average",
                "delta_add_rate": 0.5,
            },
            ModeSpec(name="elastic_average", k_steps=2, delta_add_rate=0.5),
        ),
    ],
)
def test_each_mode_is_asked_for_by_its_options(options, mode):
    assert paddle.optimizer.Momentum(**options).update.mode == mode


def test_schedules_and_clipping():
    update = paddle.optimizer.Momentum(
        learning_rate=0.1,
        learning_rate_decay_a=0.5,
        learning_rate_decay_b=100,
        learning_rate_schedule="discexp",
        gradient_clipping_threshold=25,
        batch_size=128,
        regularization=[paddle.optimizer.L2Regularization(rate=0.5)],
    ).update
    assert update.schedule == ScheduleSpec(name="discexp", learning_rate=0.1, decay_a=0.5, decay_b=100.0)
    assert (update.gradient_clipping_threshold, update.l2_rate) == (25.0, 0.5)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"learning_rate_schedule": "cosine"}, "no learning_rate_schedule 'cosine'"),
        ({"learning_rate_schedule": "manual", "learning_rate_args": "x"}, "learning_rate_args"),
        ({"regularization": 0.5}, "regularization is one"),
        ({"regularization": []}, "regularization is one"),
        ({"model_average": 3}, "model_average is a paddle.optimizer.ModelAverage, not 3"),
        ({"leaning_rate": 0.1}, "leaning_rate"),
        ({"staleness": -1}, "staleness is a whole number, 0 or more, not -1"),
        ({"staleness": 1, "num_batches_per_send_parameter": 2}, "do not go together"),
        ({"num_batches_per_send_parameter": 0}, "num_batches_per_send_parameter is a whole number"),
        (
            {"num_batches_per_get_parameter": 7},
            "num_batches_per_get_parameter=7 is not in this release.* Leave it",
        ),
        ({"center_parameter_update_method": "median"}, "average or elastic_average, not 'median'"),
        ({"num_batches_per_send_parameter": 2, "delta_add_rate": 0}, "delta_add_rate is above 0"),
        ({"learning_rate": "0.1"}, "learning_rate is a number, not '0.1'"),
        ({"learning_rate": float("nan")}, "learning_rate is NaN"),
        ({"momentum": -0.1}, "momentum is from 0 to 1, not -0.1"),
        ({"momentum": "0.9"}, "momentum is a number"),
        ({"gradient_clipping_threshold": -1}, "gradient_clipping_threshold is 0 or more, not -1"),
    ],
)
def test_what_cannot_be_is_refused_when_it_is_made(options, error):
    with pytest.raises((ValueError, TypeError, NotInThisRelease), match=error):
        paddle.optimizer.Momentum(**options)


def test_other_numbers_that_cannot_be_are_refused_by_name():
    with pytest.raises(ValueError, match=r"beta2 is from 0 to 1, not 1.1"):
        paddle.optimizer.Adam(beta2=1.1)
    with pytest.raises(ValueError, match=r"rho is from 0 to 1, not 2"):
        paddle.optimizer.RMSProp(rho=2)
    with pytest.raises(TypeError, match=r"rate of L2Regularization is a number, not 'a'"):
        paddle.optimizer.L2Regularization("a")


def test_model_average_is_told_to_the_keeper_with_the_originals_bounds():
    def told(*given: float) -> AverageSpec | None:
        return paddle.optimizer.Adam(model_average=paddle.optimizer.ModelAverage(*given)).update.average

    assert told(0.5) == AverageSpec(window=0.5, min_window=10_000, max_window=1 << 62)
    assert told(0.5, 300) == AverageSpec(window=0.5, min_window=300, max_window=300)
    assert told(0) is None
    with pytest.raises(ValueError, match="max_average_window of ModelAverage is 0 or more, not -1"):
        paddle.optimizer.ModelAverage(average_window=0.5, max_average_window=-1)
